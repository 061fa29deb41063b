//! The message of a commit, from the command that makes it: agents write there why they changed
//! something, often at greater length than in their answers.

use std::sync::LazyLock;

use regex::Regex;
use tome_text::truncate_words;

use crate::extract::commands::chain::split_chain;
use crate::extract::commands::command_name::{find_git_verb, strip_wrappers};

/// Bytes of a command that are read.
const COMMAND_BYTES_MAX: usize = 32 * 1024;
const SUBJECT_CHARS_MAX: usize = 200;

/// Lines at the end of a message that name authors and tools.
const TRAILERS: [&str; 4] = ["co-authored-by:", "signed-off-by:", "claude-session:", "change-id:"];

/// The message of a commit, as a command line gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitMessage {
    /// The first line.
    pub subject: String,
    /// Without trailers; empty if there is none.
    pub body: String,
    /// Whether the command does nothing else, except for staging files.
    pub is_alone: bool,
}

/// Reads the message of the commit that a command line makes.
pub(crate) fn read_commit_message(command: &str) -> Option<CommitMessage> {
    if !command.contains("commit") || command.len() > COMMAND_BYTES_MAX {
        return None;
    }
    let chain = split_chain(command);
    let stage = chain.iter().flat_map(|part| &part.stages).find(|stage| is_commit(stage))?;
    let from_input =
        ["-F -", "-F-", "--file=-", "--file -"].iter().any(|flag| stage.contains(flag));
    let text = match read_message_flags(stage) {
        None if from_input => read_here_document(stage)?.0,
        text => text?,
    };
    let is_trailer = |line: &&str| {
        let line = line.trim().to_lowercase();
        TRAILERS.iter().any(|mark| line.starts_with(mark)) || line.contains("generated with [")
    };
    let mut lines = text.trim().lines().filter(|line| !is_trailer(line));
    let subject = lines.next().map(str::trim).filter(|line| line.chars().count() >= 3)?;
    let body: Vec<&str> = lines.map(str::trim_end).collect();
    let others = chain.iter().flat_map(|part| &part.stages).filter(|other| other != &stage);
    let stages_files = |other: &&str| {
        let other = other.trim_start();
        other.starts_with("cd ") || other.starts_with("git add")
    };
    Some(CommitMessage {
        subject: truncate_words(subject, SUBJECT_CHARS_MAX),
        body: body.join("\n").trim().to_owned(),
        is_alone: others.copied().all(|other| stages_files(&other)),
    })
}

fn is_commit(stage: &str) -> bool {
    strip_wrappers(stage).is_some_and(|words| {
        let (program, arguments) = words.split_first().unwrap_or((&"", &[]));
        program.rsplit('/').next() == Some("git") && find_git_verb(arguments) == Some("commit")
    })
}

/// The text of `<<'EOF' … EOF`, and what follows it.
fn read_here_document(text: &str) -> Option<(String, &str)> {
    static BEGIN: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"(?:^|[^<])<<-?[ \t]*\\?['"]?(\w+)['"]?[^\n<]*\n"#).ok());
    let groups = BEGIN.as_ref()?.captures(text)?;
    let (begin, word) = (groups.get(0)?, groups.get(1)?.as_str());
    let mut rest = text.get(begin.end()..)?;
    let mut lines = Vec::new();
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        rest = after;
        if line.trim() == word {
            return Some((lines.join("\n"), rest));
        }
        lines.push(line);
    }
    Some((lines.join("\n"), ""))
}

/// The texts of `-m`, each a paragraph; `None` if one is not given literally.
fn read_message_flags(stage: &str) -> Option<String> {
    static FLAG: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\s(?:-[a-zA-Z]*m|--message)(?:=|\s+)?").ok());
    let mut paragraphs = Vec::new();
    let mut rest = stage;
    while let Some(flag) = FLAG.as_ref()?.find(rest) {
        let value = rest.get(flag.end()..)?;
        let (text, after) = if value.starts_with("\"$(cat <<") {
            read_here_document(value)?
        } else if let Some(text) = value.strip_prefix('\'') {
            let (text, after) = text.split_once('\'')?;
            (text.to_owned(), after)
        } else {
            read_double_quoted(value.strip_prefix('"')?)?
        };
        // Quoted parts may be joined: `'don'\''t'`.
        if after.starts_with(['\\', '\'']) {
            return None;
        }
        paragraphs.push(text);
        rest = after;
    }
    (!paragraphs.is_empty()).then(|| paragraphs.join("\n\n"))
}

/// The text up to the closing quote, and what follows; `None` if the shell would expand it.
fn read_double_quoted(text: &str) -> Option<(String, &str)> {
    let (mut read, mut chars) = (String::new(), text.char_indices());
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((read, text.get(at + 1..)?)),
            '\\' => read.push(chars.next()?.1),
            '$' => return None,
            c => read.push(c),
        }
    }
    None
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
        let command = "git commit -m \"One\" -m \"$(cat <<'EOF'\nIt says \"why\".\nEOF\n)\"";
        assert_eq!(read(command), Some(("One".into(), "It says \"why\".".into())));
        let command = "git commit -m 'Use 1 << shift here\n\nBody'";
        assert_eq!(read(command), Some(("Use 1 << shift here".into(), "Body".into())));
    }

    #[test]
    fn other_commands_have_none() {
        for command in [
            "git log --oneline",
            "git commit --amend --no-edit",
            "echo 'git commit -m \"no\"'",
            "git commit -m \"$(cat message)\"",
            "git commit -m wip -m \"long text\"",
            "git commit -m 'don'\\''t crash'",
            "git commit -F - <<< \"fix: a\n\nbody\"",
            "cat > commit.txt <<EOF\ntext\nEOF",
        ] {
            assert_eq!(read(command), None, "{command}");
        }
    }
}
