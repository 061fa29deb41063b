//! Work that later turns replaced: they removed most of the lines that a turn wrote.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use tome_model::{Event, FileAction};

use crate::extract::files::touched_files::parse_touched_files;
use crate::extract::language::text::{collect_strings, find_text_field};
use crate::extract::turns::turn::Turn;

/// Lines of one turn, and of one call, that are read.
const LINES_MAX: usize = 4_000;
/// Shorter lines, such as a brace, are in every file.
const LINE_CHARS_MIN: usize = 9;

/// A line of a file, by the path that the agent named.
type FileLine<'a> = (&'a str, &'a str);

/// The lines that a turn wrote or removed.
#[derive(Default)]
struct TurnEdits<'a> {
    /// Whether a line was written; otherwise it was removed. The last call decides.
    written: HashMap<FileLine<'a>, bool>,
    /// Files whose edits were read.
    paths: HashSet<&'a str>,
    /// Whether there were too many lines to read.
    is_cut: bool,
}

/// Returns for each turn whether later ones removed at least half of the lines that it wrote. Turns whose
/// changes do not include their lines are left out.
pub(crate) fn find_replaced(turns: &[Turn<'_>], events: &[Event]) -> Vec<bool> {
    // Whether a line exists in the end, for the lines that later turns touched.
    let mut is_there: HashMap<FileLine<'_>, bool> = HashMap::new();
    let mut replaced = vec![false; turns.len()];
    for (turn, is_replaced) in turns.iter().zip(&mut replaced).rev() {
        let own = events.get(turn.events.clone()).unwrap_or_default();
        let edits = read_lines(own);
        let changed = turn.files.iter().filter(|file| file.action != FileAction::Read);
        let is_clear =
            !edits.is_cut && changed.into_iter().all(|file| edits.paths.contains(file.path));
        let written = || edits.written.iter().filter(|(_, is_written)| **is_written);
        let gone = written().filter(|(line, _)| is_there.get(*line) == Some(&false)).count();
        *is_replaced = is_clear && gone > 0 && gone * 2 >= written().count();
        for (line, is_written) in edits.written {
            is_there.entry(line).or_insert(is_written);
        }
    }
    replaced
}

/// Reads the lines that the calls of a turn wrote and removed.
fn read_lines(events: &[Event]) -> TurnEdits<'_> {
    let mut edits = TurnEdits::default();
    for event in events {
        let Some(tool) = &event.tool else { continue };
        let files = parse_touched_files(event, tool);
        if files.iter().all(|file| file.action == FileAction::Read) {
            continue;
        }
        if edits.written.len() >= LINES_MAX {
            edits.is_cut = true;
            break;
        }
        match files.as_slice() {
            [file] if !has_patch(&tool.input) => edits.read_call(&tool.input, file.path),
            _ => collect_strings(&tool.input).into_iter().for_each(|patch| edits.read_patch(patch)),
        }
    }
    edits
}

fn has_patch(input: &Value) -> bool {
    collect_strings(input).iter().any(|text| text.starts_with("*** Begin Patch"))
}

impl<'a> TurnEdits<'a> {
    /// Reads the lines of an edit, of several in one call, or of a new file.
    fn read_call(&mut self, input: &'a Value, path: &'a str) {
        const OLD: [&str; 3] = ["old_string", "oldString", "old_str"];
        const NEW: [&str; 7] = [
            "new_string",
            "newString",
            "new_str",
            "content",
            "file_text",
            "insert_text",
            "new_source",
        ];
        let edits = input.get("edits").and_then(Value::as_array);
        let edits = edits.map_or(std::slice::from_ref(input), Vec::as_slice);
        for edit in edits {
            let lines = |names: &[&str]| {
                let text = find_text_field(edit, names).unwrap_or_default();
                text.lines().take(LINES_MAX).map(str::trim).filter(|line| is_telling(line))
            };
            let old: HashSet<&str> = lines(&OLD).collect();
            let new: HashSet<&str> = lines(&NEW).collect();
            let has_text = [&OLD[..], &NEW[..]]
                .iter()
                .any(|names| names.iter().any(|name| edit.get(name).is_some_and(Value::is_string)));
            if has_text {
                self.paths.insert(path);
            }
            for line in old.difference(&new) {
                self.written.insert((path, line), false);
            }
            for line in new.difference(&old) {
                self.written.insert((path, line), true);
            }
        }
    }

    /// Reads the lines of a patch in the form of `apply_patch`.
    fn read_patch(&mut self, patch: &'a str) {
        const FILES: [&str; 3] = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];
        let mut path = None;
        for line in patch.lines().take(LINES_MAX) {
            if let Some(named) = FILES.iter().find_map(|mark| line.strip_prefix(mark)) {
                path = Some(named.trim());
                self.paths.extend(path);
            }
            let Some(path) = path else { continue };
            let (is_written, text) = match line.split_at_checked(1) {
                Some(("+", text)) => (true, text.trim()),
                Some(("-", text)) => (false, text.trim()),
                _ => continue,
            };
            if is_telling(text) {
                self.written.insert((path, text), is_written);
            }
        }
    }
}

fn is_telling(line: &str) -> bool {
    line.chars().nth(LINE_CHARS_MIN - 1).is_some()
}
