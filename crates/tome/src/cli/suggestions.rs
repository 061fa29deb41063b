//! Suggestions for an unknown command.

use std::collections::BTreeSet;

use clap::error::{ContextKind, ContextValue};

/// Keeps the suggestions that the help lists and that differ by few letters, the nearest first. clap also
/// suggests hidden aliases, and names that merely share letters.
pub fn filter_suggestions(mut error: clap::Error, command: &clap::Command) -> clap::Error {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand).cloned()
    else {
        return error;
    };
    let suggested = match error.get(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::Strings(names)) => names.clone(),
        Some(ContextValue::String(name)) => vec![name.clone()],
        _ => return error,
    };
    let mut visible = BTreeSet::new();
    collect_visible(command, &mut visible);
    let most = 1 + typed.chars().count() / 4;
    let mut near: Vec<(usize, String)> = suggested
        .into_iter()
        .filter(|name| visible.contains(name))
        .map(|name| (count_edits(&typed, &name), name))
        .filter(|(edits, _)| *edits <= most)
        .collect();
    near.sort();
    near.dedup();
    if near.is_empty() {
        error.remove(ContextKind::SuggestedSubcommand);
        return error;
    }
    let names = near.into_iter().map(|(_, name)| name).collect();
    error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(names));
    error
}

/// The names and visible aliases of all commands that help shows.
fn collect_visible(command: &clap::Command, names: &mut BTreeSet<String>) {
    for found in command.get_subcommands().filter(|found| !found.is_hide_set()) {
        names.insert(found.get_name().to_owned());
        names.extend(found.get_visible_aliases().map(str::to_owned));
        collect_visible(found, names);
    }
}

/// Letters to insert, delete, replace or swap with their neighbor to turn one word into the other.
fn count_edits(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    let cell = |rows: &[Vec<usize>], row: usize, column: usize| {
        rows.get(row).and_then(|row| row.get(column)).copied().unwrap_or(usize::MAX / 2)
    };
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let replaced = cell(&rows, i, j) + usize::from(a != b);
            let inserted = row.last().copied().unwrap_or(usize::MAX / 2) + 1;
            let mut least = replaced.min(inserted).min(cell(&rows, i, j + 1) + 1);
            let is_swapped =
                i > 0 && j > 0 && from.get(i - 1) == Some(b) && to.get(j - 1) == Some(a);
            if is_swapped {
                least = least.min(cell(&rows, i - 1, j - 1) + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    cell(&rows, from.len(), to.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_count_swapped_letters_once() {
        for (from, to, edits) in [
            ("serach", "search", 1),
            ("reprot", "report", 1),
            ("", "ab", 2),
            ("bench", "search", 3),
        ] {
            assert_eq!(count_edits(from, to), edits, "{from} {to}");
        }
    }
}
