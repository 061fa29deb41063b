//! Files whose edits a session reverted, so that nothing of them is left.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tome_model::{Event, FileAction};

use crate::extract::commands::outcome::{ToolOutcome, read_outcome};
use crate::extract::files::touched_files::parse_touched_files;
use crate::extract::language::text::find_text_field;

/// Edits of one file that are compared.
const EDITS_MAX: usize = 400;

/// The edits of a file that are still in it: the text before, and the text now.
#[derive(Debug, Default)]
struct FileEdits {
    left: Vec<(String, String)>,
    edits: usize,
    /// Whether it was also changed in a way that does not show the text before.
    is_unclear: bool,
}

/// Returns the files of which every edit was undone by a later one, as the agent named them.
pub(crate) fn find_reverted(events: &[Event]) -> BTreeSet<&str> {
    let mut files: BTreeMap<&str, FileEdits> = BTreeMap::new();
    for event in events {
        let Some(tool) = &event.tool else { continue };
        if matches!(
            read_outcome(event, tool),
            ToolOutcome::Rejected | ToolOutcome::NotRun | ToolOutcome::NoResult
        ) {
            continue;
        }
        for touched in parse_touched_files(event, tool) {
            if touched.action == FileAction::Read {
                continue;
            }
            let file = files.entry(touched.path).or_default();
            match read_edits(&tool.input) {
                Some(edits) => edits.into_iter().for_each(|(old, new)| file.apply(old, new)),
                None => file.is_unclear = true,
            }
        }
    }
    let is_reverted = |file: &FileEdits| file.edits > 1 && file.left.is_empty() && !file.is_unclear;
    files.into_iter().filter(|(_, file)| is_reverted(file)).map(|(path, _)| path).collect()
}

/// The replacements of an edit; `None` if the call does not name the text before.
fn read_edits(input: &Value) -> Option<Vec<(&str, &str)>> {
    fn read_edit(value: &Value) -> Option<(&str, &str)> {
        let old = find_text_field(value, &["old_string", "oldString", "old_str"])?;
        let new = ["new_string", "newString", "new_str"].iter().find_map(|name| value.get(name))?;
        Some((old, new.as_str()?))
    }
    match input.get("edits").and_then(Value::as_array) {
        Some(edits) => edits.iter().map(read_edit).collect(),
        None => read_edit(input).map(|edit| vec![edit]),
    }
}

impl FileEdits {
    fn apply(&mut self, old: &str, new: &str) {
        self.edits += 1;
        self.is_unclear |= self.edits > EDITS_MAX;
        if self.is_unclear {
            return;
        }
        // An edit inside the text of an earlier one changes that one.
        let earlier = self.left.iter().rposition(|(_, now)| now.contains(old));
        let Some((before, now)) = earlier.and_then(|at| self.left.get_mut(at)) else {
            self.left.push((old.to_owned(), new.to_owned()));
            return;
        };
        *now = now.replacen(old, new, 1);
        if now == before {
            self.left.retain(|(before, now)| before != now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_that_undo_each_other_leave_nothing() {
        let mut file = FileEdits::default();
        file.apply("import a\n", "import a\nimport b\n");
        file.apply("run(x)", "run(y)");
        file.apply("import b\n", "");
        assert_eq!(file.left.len(), 1);
        file.apply("run(y)", "run(x)");
        assert!(file.left.is_empty());
    }
}
