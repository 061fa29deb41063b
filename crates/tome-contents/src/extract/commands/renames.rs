//! Files and folders that shell commands renamed: `mv a b`, `cd web && git mv a b`, `git -C web mv a b`.

use tome_model::{Event, Tool};

use crate::extract::commands::chain::{split_chain, unquote};
use crate::extract::commands::command_environment::{enter_folder, read_folders};
use crate::extract::commands::command_name::strip_wrappers;
use crate::extract::commands::command_run::find_command_line;
use crate::extract::commands::outcome::{ToolOutcome, read_outcome};
use crate::extract::language::terms::base_name;

/// Renames of one command line that are read.
const RENAMES_MAX: usize = 40;

/// The old and the new path of each rename of a tool call, absolute if the folder is known to be.
pub(crate) fn find_renames(event: &Event, tool: &Tool) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let Some(line) = find_command_line(tool).filter(|line| line.contains("mv ")) else {
        return found;
    };
    if !matches!(read_outcome(event, tool), ToolOutcome::Exited(0) | ToolOutcome::Unknown) {
        return found;
    }
    let chain = split_chain(line);
    for (part, folder) in chain.iter().zip(read_folders(&chain, event, tool)) {
        let words = part.stages.first().and_then(|stage| strip_wrappers(stage));
        let Some((folder, operands)) = words.and_then(|words| read_move(&words, folder)) else {
            continue;
        };
        let place = |path: &str| enter_folder(Some(&folder), path);
        for (from, to) in pair_operands(&operands) {
            if let (Some(from), Some(to)) = (place(from), place(&to))
                && from != to
                && found.len() < RENAMES_MAX
            {
                found.push((from, to));
            }
        }
    }
    found
}

/// The folder and the operands of `mv` or `git mv`; `None` for other commands, and where the shell or
/// a flag decides what is moved.
fn read_move<'a>(words: &[&'a str], folder: Option<String>) -> Option<(String, Vec<&'a str>)> {
    let words: Vec<&str> = words.iter().map(|word| unquote(word)).collect();
    let mut folder = folder?;
    let mut rest = match words.split_first()? {
        (&"mv", rest) => rest,
        (&"git", mut rest) => loop {
            match rest {
                ["-C", into, more @ ..] => {
                    (folder, rest) = (enter_folder(Some(&folder), into)?, more);
                }
                ["-c", _, more @ ..] => rest = more,
                ["mv", more @ ..] => break more,
                [flag, more @ ..] if flag.starts_with('-') => rest = more,
                _ => return None,
            }
        },
        _ => return None,
    };
    let mut operands = Vec::new();
    while let Some((word, more)) = rest.split_first() {
        rest = more;
        match *word {
            "-t" | "--target-directory" => return None,
            flag if flag.starts_with('-') => {}
            path if path.contains(['*', '?', '$', '{', '`', '~', '>']) => return None,
            path => operands.push(path),
        }
    }
    Some((folder, operands))
}

fn pair_operands<'a>(operands: &[&'a str]) -> Vec<(&'a str, String)> {
    match operands {
        [from, to] if !to.ends_with('/') && *to != "." => vec![(*from, (*to).to_owned())],
        [from @ .., folder] => {
            let folder = folder.trim_end_matches('/');
            from.iter().map(|from| (*from, format!("{folder}/{}", base_name(from)))).collect()
        }
        [] => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::extract::commands::shell_event::build_shell_event;

    fn renamed(command: &str) -> String {
        let mut event = build_shell_event("/app", &json!({ "command": command }), 0);
        let tool = event.tool.take().unwrap();
        let found = find_renames(&event, &tool).into_iter();
        found.map(|(from, to)| format!("{from} {to}")).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn renames_are_relative_to_the_folder_of_the_command() {
        for (command, renames) in [
            ("git mv src/a.rs src/b.rs", "/app/src/a.rs /app/src/b.rs"),
            ("cd web && git mv app.ts main.ts", "/app/web/app.ts /app/web/main.ts"),
            ("git -C web mv app.ts main.ts", "/app/web/app.ts /app/web/main.ts"),
            ("git -c core.x=y -C web mv -f a b", "/app/web/a /app/web/b"),
            (
                "mkdir -p core && git mv a.py b.py core/",
                "/app/a.py /app/core/a.py; /app/b.py /app/core/b.py",
            ),
            ("git mv a.py b.py core", "/app/a.py /app/core/a.py; /app/b.py /app/core/b.py"),
            ("cd core && mv ../a.py .", "/app/a.py /app/core/a.py"),
            ("mv /app/x.rs /app/y.rs", "/app/x.rs /app/y.rs"),
            ("cd $DIR && mv a b", ""),
            ("mv *.rs src/", ""),
            ("git status mv a", ""),
            ("mv a", ""),
        ] {
            assert_eq!(renamed(command), renames, "{command}");
        }
    }
}
