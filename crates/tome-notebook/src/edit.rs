//! Text edits and checks on notes: pure functions of the newest content.

use std::ops::Bound;

use tome_model::Scope;

use crate::inventory::Inventory;
use crate::limits::{NOTE_BYTES_MAX, PATCHES_MAX};
use crate::path::NotePath;
use crate::{NoteKind, NotebookError, NotebookRules, Result, TextPatch};

/// Rejects text that is too long or contains NUL.
pub(crate) fn check_text(what: &str, text: &str) -> Result<()> {
    if text.len() > NOTE_BYTES_MAX {
        let message = format!(
            "{what} would be {} bytes; the limit is {NOTE_BYTES_MAX}: split it",
            text.len()
        );
        return Err(NotebookError::Invalid(message));
    }
    if text.contains('\0') {
        return Err(NotebookError::Invalid(format!(
            "{what} contains a NUL byte: notes are plain text"
        )));
    }
    Ok(())
}

/// Rejects an empty or oversized list of patches, and empty search texts.
pub(crate) fn check_patches(patches: &[TextPatch]) -> Result<()> {
    if patches.is_empty() || patches.len() > PATCHES_MAX {
        let message = format!("a call takes 1 to {PATCHES_MAX} patches, not {}", patches.len());
        return Err(NotebookError::Invalid(message));
    }
    if patches.iter().any(|patch| patch.old.is_empty()) {
        let message = "the text to replace is empty: give it exactly as it appears in the note";
        return Err(NotebookError::Invalid(message.to_owned()));
    }
    patches.iter().try_for_each(|patch| check_text("the new text", &patch.new))
}

/// Rejects a fact file that the configured allow-list does not contain.
pub(crate) fn check_allowed(rules: &NotebookRules, scope: Scope, path: &NotePath) -> Result<()> {
    match &rules.facts_allowed {
        Some(allowed)
            if path.kind(scope) == NoteKind::Fact
                && !allowed.iter().any(|name| path.as_str() == format!("facts/{name}")) =>
        {
            Err(NotebookError::FactNotAllowed {
                file: path.as_str().trim_start_matches("facts/").to_owned(),
                allowed: allowed.clone(),
            })
        }
        _ => Ok(()),
    }
}

/// Rejects changes that would make `facts/` exceed its budget; shrinking it is always allowed.
/// `sizes` lists all changed notes with their new sizes, 0 for deleted ones.
pub(crate) fn check_budget(
    rules: &NotebookRules,
    scope: Scope,
    sizes: &[(&NotePath, usize)],
    inventory: &Inventory,
) -> Result<()> {
    let taken = |path: &NotePath| inventory.get(path).map_or(0, |entry| entry.stamp.bytes);
    let facts = || sizes.iter().filter(|(path, _)| path.kind(scope) == NoteKind::Fact);
    if facts().next().is_none() {
        return Ok(());
    }
    let from = (Bound::Included("facts/"), Bound::Unbounded);
    let all =
        inventory.range::<str, _>(from).take_while(|(path, _)| path.kind(scope) == NoteKind::Fact);
    let before: u64 = all.map(|(_, entry)| entry.stamp.bytes).sum();
    let freed: u64 = facts().map(|(path, _)| taken(path)).sum();
    let added: u64 = facts().map(|(_, bytes)| *bytes as u64).sum();
    let after = before.saturating_sub(freed) + added;
    if after > rules.facts_bytes_max && after >= before {
        return Err(NotebookError::FactsBudgetExceeded {
            bytes: after,
            bytes_max: rules.facts_bytes_max,
        });
    }
    Ok(())
}

/// Applies patches in order, all or none; each old text must occur exactly once.
pub(crate) fn apply_patches(path: &str, text: &str, patches: &[TextPatch]) -> Result<String> {
    let mut text = text.to_owned();
    for (number, patch) in patches.iter().enumerate() {
        let (old, new) = match_line_endings(&text, &patch.old, &patch.new);
        let mut starts = find_occurrences(&text, &old);
        let Some(start) = starts.next() else {
            return Err(NotebookError::TextNotFound { path: path.to_owned(), patch: number });
        };
        if starts.next().is_some() {
            let lines = find_occurrences(&text, &old)
                .take(20)
                .map(|at| line_number_at(&text, at))
                .collect();
            return Err(NotebookError::TextAmbiguous {
                path: path.to_owned(),
                patch: number,
                lines,
            });
        }
        drop(starts);
        text.replace_range(start..start + old.len(), &new);
    }
    Ok(text)
}

pub(crate) fn replace_first(path: &str, text: &str, old: &str, new: &str) -> Result<String> {
    let (old, new) = match_line_endings(text, old, new);
    let Some(start) = text.find(old.as_str()) else {
        return Err(NotebookError::TextNotFound { path: path.to_owned(), patch: 0 });
    };
    let mut text = text.to_owned();
    text.replace_range(start..start + old.len(), &new);
    Ok(text)
}

/// Appends an entry after a blank line, ending with one line break.
pub(crate) fn append_entry(text: &str, entry: &str) -> String {
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let (text, entry) = (text.trim_end(), entry.trim_end());
    if text.is_empty() {
        return format!("{entry}{ending}");
    }
    format!("{text}{ending}{ending}{}{ending}", entry.trim_start_matches(['\n', '\r']))
}

/// Converts a patch to the file's CRLF line endings if it does not match as given: callers rarely
/// write CRLF.
fn match_line_endings(text: &str, old: &str, new: &str) -> (String, String) {
    if text.contains("\r\n") && !old.contains("\r\n") && !text.contains(old) {
        let windows = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
        let old = windows(old);
        if text.contains(&old) {
            return (old, windows(new));
        }
    }
    (old.to_owned(), new.to_owned())
}

/// Yields the offsets of a text, overlaps included: `aa` occurs twice in `aaa`.
fn find_occurrences<'t>(text: &'t str, old: &'t str) -> impl Iterator<Item = usize> + 't {
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + text.get(from..)?.find(old)?;
        from = at + text.get(at..)?.chars().next().map_or(1, char::len_utf8);
        Some(at)
    })
}

fn line_number_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn patch(old: &str, new: &str) -> TextPatch {
        TextPatch { old: old.to_owned(), new: new.to_owned() }
    }

    #[test]
    fn a_patch_is_literal_and_applies_once() {
        let patched = |text, old, new| apply_patches("a.md", text, &[patch(old, new)]);
        assert_eq!(patched("costs x", "x", "$& $1 $$ \\0").expect("applied"), "costs $& $1 $$ \\0");
        assert!(
            matches!(patched("aaa", "aa", "b"), Err(NotebookError::TextAmbiguous { lines, .. }) if lines == [1, 1])
        );
        assert!(matches!(patched("abc", "x", "b"), Err(NotebookError::TextNotFound { .. })));
        assert_eq!(patched("a\r\nb\r\nc", "a\nb", "x\ny\nz").expect("applied"), "x\r\ny\r\nz\r\nc");
    }

    #[test]
    fn patches_are_applied_all_or_none_and_in_order() {
        let both = [patch("one", "two"), patch("two!", "three")];
        assert_eq!(apply_patches("a.md", "one!", &both).expect("applied"), "three");
        let refused = apply_patches("a.md", "one", &[patch("one", "two"), patch("missing", "x")]);
        assert!(matches!(refused, Err(NotebookError::TextNotFound { patch: 1, .. })));
    }

    proptest! {
        #[test]
        fn text_around_a_patch_is_kept(head in "\\PC{0,20}", old in "[xyz]{3,8}", new in "\\PC{0,20}", tail in "\\PC{0,20}") {
            let text = format!("{head}{old}{tail}");
            match apply_patches("a.md", &text, &[patch(&old, &new)]) {
                Ok(patched) => {
                    prop_assert_eq!(patched, text.replacen(&old, &new, 1));
                }
                Err(NotebookError::TextAmbiguous { lines, .. }) => prop_assert!(lines.len() > 1),
                Err(other) => prop_assert!(false, "{other}"),
            }
        }

        #[test]
        fn any_patch_of_any_text_terminates(text in ".{0,80}", old in ".{1,4}", new in ".{0,8}") {
            let _ = apply_patches("a.md", &text, &[patch(&old, &new)]);
            let _ = replace_first("a.md", &text, &old, &new);
        }
    }
}
