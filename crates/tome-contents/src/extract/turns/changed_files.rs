//! Renders which files a segment changed.

use tome_model::FileAction;

use crate::extract::language::clause::capitalize;
use crate::extract::language::terms::base_name;
use crate::extract::turns::turn::{Turn, TurnFile};

const ACTION_WORDS: [(FileAction, &str); 3] = [
    (FileAction::Changed, "changed"),
    (FileAction::Created, "created"),
    (FileAction::Deleted, "deleted"),
];

/// Returns the changed files of all turns, most edited first.
pub(crate) fn changed_files<'a>(turns: &[Turn<'a>]) -> Vec<TurnFile<'a>> {
    let mut files: Vec<TurnFile<'a>> = Vec::new();
    for file in turns.iter().flat_map(|turn| &turn.files) {
        if file.action == FileAction::Read {
            continue;
        }
        match files.iter_mut().find(|known| known.path == file.path) {
            Some(known) => {
                known.times += file.times;
                // A file that was created and then edited counts as created.
                if file.action == FileAction::Deleted {
                    known.action = file.action;
                }
            }
            None => files.push(file.clone()),
        }
    }
    files.sort_by(|a, b| b.times.cmp(&a.times).then(a.event.cmp(&b.event)));
    files
}

/// Renders `Changed lexer.rs, parser.rs`.
pub(crate) fn render_changes_without_counts(
    files: &[TurnFile<'_>],
    shown_max: usize,
) -> Option<String> {
    let once: Vec<TurnFile<'_>> =
        files.iter().map(|file| TurnFile { times: 1, ..file.clone() }).collect();
    render_changes(&once, shown_max)
}

/// Renders `Changed lexer.rs (3 edits), parser.rs; created tests/unicode.rs`.
pub(crate) fn render_changes(files: &[TurnFile<'_>], shown_max: usize) -> Option<String> {
    let mut parts = Vec::new();
    for (action, word) in ACTION_WORDS {
        let of = files.iter().take(shown_max).filter(|file| file.action == action);
        let names: Vec<String> = of.map(|file| render_file_change(file, files)).collect();
        if !names.is_empty() {
            parts.push(format!("{word} {}", names.join(", ")));
        }
    }
    let hidden = files.len().saturating_sub(shown_max);
    let more = if hidden > 0 { format!(" and {hidden} more") } else { String::new() };
    (!parts.is_empty()).then(|| format!("{}{more}", capitalize(&parts.join("; "))))
}

fn render_file_change(file: &TurnFile<'_>, files: &[TurnFile<'_>]) -> String {
    let name = render_file_name(file.path, files);
    if file.times > 1 && file.action == FileAction::Changed {
        format!("{name} ({} edits)", file.times)
    } else {
        name
    }
}

/// Returns the base name, with its folder if the name is generic or ambiguous.
pub(crate) fn render_file_name(path: &str, files: &[TurnFile<'_>]) -> String {
    #[rustfmt::skip]
    const GENERIC: &[&str] = &[
        "mod.rs", "lib.rs", "main.rs", "index.ts", "index.js", "index.tsx", "__init__.py", "main.go",
        "Dockerfile", "README.md", "Cargo.toml", "package.json", "page.tsx", "route.ts",
        "values.yaml", "SKILL.md", "__main__.py", "conftest.py",
    ];
    let base = base_name(path);
    let is_twin = files.iter().any(|other| base_name(other.path) == base && other.path != path);
    let folder = base_name(path.trim_end_matches(base).trim_end_matches(['/', '\\']));
    if (GENERIC.contains(&base) || is_twin) && !folder.is_empty() && folder != "." {
        format!("{folder}/{base}")
    } else {
        base.to_owned()
    }
}
