//! The message of a commit, from the command that makes it: agents write there why they changed
//! something, often at greater length than in their answers.

use std::sync::LazyLock;

use regex::Regex;

use super::chain::split_chain;
use super::command_name::strip_wrappers;
use super::commits::find_git_verb;

/// Bytes of a command that are read.
const COMMAND_BYTES_MAX: usize = 64 * 1024;

/// Lines at the end of a message that name authors and tools.
const TRAILERS: [&str; 5] =
    ["co-authored-by:", "signed-off-by:", "generated with", "claude-session:", "change-id:"];

/// The message of a commit, as a command line gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitMessage {
    /// The first line.
    pub subject: String,
    /// Without trailers; empty if there is none.
    pub body: String,
}

/// Reads the message of the commit that a command line makes.
pub(super) fn read_commit_message(command: &str) -> Option<CommitMessage> {
    if !command.contains("commit") || command.len() > COMMAND_BYTES_MAX {
        return None;
    }
    let chain = split_chain(command);
    let stage = chain.iter().flat_map(|part| &part.stages).find(|stage| is_commit(stage))?;
    let text = read_here_document(stage).or_else(|| read_message_flags(stage))?;
    let is_trailer = |line: &&str| {
        let line = line.trim().to_lowercase();
        TRAILERS.iter().any(|mark| line.starts_with(mark) || line.contains("generated with ["))
    };
    let mut lines = text.trim().lines().filter(|line| !is_trailer(line));
    let subject = lines.next().map(str::trim).filter(|line| line.chars().count() >= 3)?;
    let body: Vec<&str> = lines.map(str::trim_end).collect();
    Some(CommitMessage { subject: subject.to_owned(), body: body.join("\n").trim().to_owned() })
}

fn is_commit(stage: &str) -> bool {
    strip_wrappers(stage).is_some_and(|words| {
        let (program, arguments) = words.split_first().unwrap_or((&"", &[]));
        program.rsplit('/').next() == Some("git") && find_git_verb(arguments) == Some("commit")
    })
}

/// The text of `<<'EOF' … EOF`.
fn read_here_document(stage: &str) -> Option<String> {
    static BEGIN: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"<<-?[ \t]*\\?['"]?(\w+)['"]?[^\n]*\n"#).ok());
    let groups = BEGIN.as_ref()?.captures(stage)?;
    let (begin, word) = (groups.get(0)?, groups.get(1)?.as_str());
    let lines = stage.get(begin.end()..)?.lines();
    Some(lines.take_while(|line| line.trim() != word).collect::<Vec<_>>().join("\n"))
}

/// The texts of `-m`, each a paragraph.
fn read_message_flags(stage: &str) -> Option<String> {
    static FLAG: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r#"(?s)\s(?:-[a-zA-Z]*m|--message)(?:[ =]\s*)?(?:"((?:[^"\\]|\\.)+)"|'([^']+)')"#,
        )
        .ok()
    });
    let flags = FLAG.as_ref()?.captures_iter(stage);
    let texts = flags.filter_map(|groups| {
        let text = groups.get(1).or_else(|| groups.get(2))?.as_str();
        Some(text.replace("\\\"", "\"").replace("\\`", "`"))
    });
    let text = texts.collect::<Vec<_>>().join("\n\n");
    (!text.is_empty() && !text.starts_with("$(")).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(command: &str) -> Option<(String, String)> {
        read_commit_message(command).map(|message| (message.subject, message.body))
    }

    #[test]
    fn a_message_is_read_from_a_here_document() {
        let command = "git add -A && git commit -m \"$(cat <<'EOF'\nlexer: accept emoji\n\nThey are letters, \
            too: Unicode says so.\n\nCo-Authored-By: A <a@b.c>\nEOF\n)\" && git push";
        let expected =
            ("lexer: accept emoji".into(), "They are letters, too: Unicode says so.".into());
        assert_eq!(read(command), Some(expected));
        let command = "cd app; git -C lib commit -F - <<MESSAGE\nfix: one\nMESSAGE";
        assert_eq!(read(command), Some(("fix: one".into(), String::new())));
    }

    #[test]
    fn a_message_is_read_from_flags() {
        let command = "git commit -am \"Say \\\"no\\\"\" -m 'Because it was unsafe.'";
        assert_eq!(read(command), Some(("Say \"no\"".into(), "Because it was unsafe.".into())));
    }

    #[test]
    fn other_commands_have_none() {
        for command in [
            "git log --oneline",
            "git commit --amend --no-edit",
            "echo 'git commit -m \"no\"'",
            "git commit -m \"$(cat message)\"",
            "cat > commit.txt <<EOF\ntext\nEOF",
        ] {
            assert_eq!(read(command), None, "{command}");
        }
    }
}
