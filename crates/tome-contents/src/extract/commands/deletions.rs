//! Files and folders that shell commands deleted: `rm a`, `cd web && git rm a`, `git -C web rm -r a`.

use tome_model::{Event, Tool};

use crate::extract::commands::chain::{split_chain, unquote};
use crate::extract::commands::command_environment::{enter_folder, read_folders};
use crate::extract::commands::command_name::strip_wrappers;
use crate::extract::commands::command_run::find_command_line;
use crate::extract::commands::outcome::{ToolOutcome, read_outcome};

/// Deletions of one command line that are read.
const DELETIONS_MAX: usize = 40;

/// The paths that a tool call deleted, absolute if the folder is known to be.
pub(crate) fn find_deletions(event: &Event, tool: &Tool) -> Vec<String> {
    let mut found = Vec::new();
    let Some(line) = find_command_line(tool).filter(|line| line.contains("rm ")) else {
        return found;
    };
    if !matches!(read_outcome(event, tool), ToolOutcome::Exited(0) | ToolOutcome::Unknown) {
        return found;
    }
    let chain = split_chain(line);
    for (part, folder) in chain.iter().zip(read_folders(&chain, event, tool)) {
        let words = part.stages.first().and_then(|stage| strip_wrappers(stage));
        let Some((folder, paths)) = words.and_then(|words| read_deletion(&words, folder)) else {
            continue;
        };
        let room = DELETIONS_MAX.saturating_sub(found.len());
        found.extend(paths.iter().filter_map(|path| enter_folder(Some(&folder), path)).take(room));
    }
    found
}

/// The folder and the operands of `rm` or `git rm`; `None` for other commands, for those that keep the file,
/// and where the shell decides what is deleted.
fn read_deletion<'a>(words: &[&'a str], folder: Option<String>) -> Option<(String, Vec<&'a str>)> {
    let words: Vec<&str> = words.iter().map(|word| unquote(word)).collect();
    let mut folder = folder?;
    let rest = match words.split_first()? {
        (&"rm", rest) => rest,
        (&"git", mut rest) => loop {
            match rest {
                ["-C", into, more @ ..] => {
                    (folder, rest) = (enter_folder(Some(&folder), into)?, more);
                }
                ["-c", _, more @ ..] => rest = more,
                ["rm", more @ ..] => break more,
                _ => return None,
            }
        },
        _ => return None,
    };
    let is_kept = |word: &&str| matches!(*word, "--cached" | "-n" | "--dry-run" | "--help");
    let is_unclear = |word: &&str| word.contains(['*', '?', '$', '{', '`', '~', '>', '<']);
    if rest.iter().any(is_kept) || rest.iter().any(is_unclear) {
        return None;
    }
    let paths = rest.iter().filter(|word| !word.starts_with('-')).copied();
    Some((folder, paths.map(|path| path.trim_end_matches('/')).collect()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::extract::commands::shell_event::build_shell_event;

    #[test]
    fn deletions_are_relative_to_the_folder_of_the_command() {
        for (command, deleted) in [
            ("rm src/a.rs", "/app/src/a.rs"),
            ("cd web && git rm -q app.ts main.ts", "/app/web/app.ts; /app/web/main.ts"),
            ("git -C web rm -r old/ && npm test", "/app/web/old"),
            ("rm -rf 'client'", "/app/client"),
            ("git rm --cached a.rs", ""),
            ("rm *.rs", ""),
            ("cd $DIR && rm a", ""),
            ("git status && echo rm a", ""),
        ] {
            let mut event = build_shell_event("/app", &json!({ "command": command }), 0);
            let tool = event.tool.take().unwrap();
            assert_eq!(find_deletions(&event, &tool).join("; "), deleted, "{command}");
        }
    }
}
