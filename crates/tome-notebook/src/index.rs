//! Renders the indexes: `MEMORY.md` of a project, the READMEs of the coder. They depend on the
//! inventory alone, so they always equal a rebuild.

use std::collections::BTreeMap;
use std::fmt::Write;

use tome_model::Scope;

use crate::inventory::{Inventory, NoteEntry};
use crate::path::{INDEX, NotePath, README};
use crate::{IndexExcerpt, NoteKind, NoteType, lessons};

const SECTIONS: [&str; 7] =
    ["User", "Feedback", "Project", "Reference", "Other", "Facts", "Episodes"];
const EMPTY: &str = "# Memory\n\n(empty)\n";

/// Renders every file that Tome builds for a notebook, by path.
pub(crate) fn render_built_files(
    scope: Scope,
    inventory: &Inventory,
) -> BTreeMap<NotePath, String> {
    let built = match scope {
        Scope::Project => {
            BTreeMap::from([(INDEX.to_owned(), render_project_index(inventory.iter()))])
        }
        Scope::Coder => render_readmes(inventory.iter()),
        Scope::Session => BTreeMap::new(),
    };
    let paths = built.into_iter();
    paths
        .filter_map(|(path, text)| Some((NotePath::parse_for_reading(&path).ok()?, text)))
        .collect()
}

/// Updates the text of `MEMORY.md` after one note has changed; `None` if it has to be rebuilt. The
/// result equals a rebuild and costs less.
pub(crate) fn splice_line(
    text: &str,
    inventory: &Inventory,
    path: &NotePath,
    old: Option<&NoteEntry>,
) -> Option<String> {
    let new = inventory.get(path);
    let (old_section, new_section) = (old.map(section_of), new.map(section_of));
    let mut text = text.to_owned();
    if let (Some(old), Some(new)) = (old, new)
        && old_section == new_section
    {
        replace_line(&mut text, &old.index_line, &new.index_line)?;
        return Some(text);
    }
    if let Some(old) = old {
        // Without neighbors the section's heading would have to go too: rebuild.
        find_neighbor(inventory, path, section_of(old))?;
        replace_line(&mut text, &old.index_line, "")?;
    }
    if let Some(new) = new {
        let both = match find_neighbor(inventory, path, section_of(new))? {
            Neighbor::Before(line) => (line, format!("{line}{}", new.index_line)),
            Neighbor::After(line) => (line, format!("{}{line}", new.index_line)),
        };
        replace_line(&mut text, both.0, &both.1)?;
    }
    Some(text)
}

enum Neighbor<'i> {
    Before(&'i str),
    After(&'i str),
}

/// Finds the line before or after a note's own in its section, among the nearest 256 notes.
fn find_neighbor<'i>(
    inventory: &'i Inventory,
    path: &NotePath,
    section: usize,
) -> Option<Neighbor<'i>> {
    const NEAR: usize = 256;
    let same = |(_, entry): &(&NotePath, &NoteEntry)| section_of(entry) == section;
    let before = inventory.range::<NotePath, _>(..path).rev().take(NEAR).find(same);
    if let Some((_, entry)) = before {
        return Some(Neighbor::Before(&entry.index_line));
    }
    // The following line is adjacent only if no line of the section comes before.
    if inventory.range::<NotePath, _>(..path).nth(NEAR).is_some() {
        return None;
    }
    let after = inventory
        .range::<NotePath, _>(path..)
        .filter(|(other, _)| *other != path)
        .take(NEAR)
        .find(same);
    after.map(|(_, entry)| Neighbor::After(&entry.index_line))
}

/// Replaces a line, given with its line ending. It is unique: it contains the note's path.
fn replace_line(text: &mut String, old: &str, new: &str) -> Option<()> {
    let wanted = format!("\n{old}");
    let at = memchr::memmem::find(text.as_bytes(), wanted.as_bytes())? + 1;
    text.replace_range(at..at + old.len(), new);
    Some(())
}

pub(crate) fn render_index(scope: Scope, inventory: &Inventory) -> String {
    render_entries(scope, inventory.iter())
}

/// Renders the index of the newest notes that fit, followed by the number of omitted ones.
pub(crate) fn render_excerpt(
    scope: Scope,
    inventory: &Inventory,
    lines_max: usize,
    bytes_max: usize,
) -> IndexExcerpt {
    let mut newest: Vec<(&NotePath, &NoteEntry)> = inventory.iter().collect();
    newest.sort_by(|one, other| {
        other.1.stamp.modified_ms.cmp(&one.1.stamp.modified_ms).then(one.0.cmp(other.0))
    });
    let fits = |count: usize| {
        let text = render_with_notice(scope, &newest, count);
        text.len() <= bytes_max && text.lines().count() <= lines_max
    };
    // Upper bound: every entry takes at least one line and eight bytes.
    let most = newest.len().min(lines_max).min(bytes_max / 8 + 1);
    let (mut low, mut high) = (0, most);
    if newest.len() == most && fits(most) {
        low = most;
    } else {
        while low < high {
            let middle = (low + high).div_ceil(2);
            if fits(middle) { low = middle } else { high = middle - 1 }
        }
    }
    IndexExcerpt { text: render_with_notice(scope, &newest, low), omitted: newest.len() - low }
}

fn render_with_notice(scope: Scope, newest: &[(&NotePath, &NoteEntry)], count: usize) -> String {
    let mut kept: Vec<(&NotePath, &NoteEntry)> = newest.iter().take(count).copied().collect();
    kept.sort_by(|one, other| one.0.cmp(other.0));
    let mut text = render_entries(scope, kept.into_iter());
    let left_out = newest.len() - count;
    if left_out > 0 {
        let entries = if left_out == 1 { "entry" } else { "entries" };
        let _ = writeln!(text, "\n... ({left_out} older {entries} omitted; MEMORY.md lists all)");
    }
    text
}

fn render_entries<'e>(
    scope: Scope,
    entries: impl Iterator<Item = (&'e NotePath, &'e NoteEntry)>,
) -> String {
    match scope {
        Scope::Project => render_project_index(entries),
        Scope::Coder => render_readmes(entries).remove(README).unwrap_or_default(),
        Scope::Session => render_session_index(entries),
    }
}

fn render_project_index<'e>(
    entries: impl Iterator<Item = (&'e NotePath, &'e NoteEntry)>,
) -> String {
    let mut sections: [String; 7] = std::array::from_fn(|_| String::new());
    for (_, entry) in entries {
        if let Some(section) = sections.get_mut(section_of(entry)) {
            section.push_str(&entry.index_line);
        }
    }
    if sections.iter().all(String::is_empty) {
        return EMPTY.to_owned();
    }
    let mut text = String::with_capacity(sections.iter().map(String::len).sum::<usize>() + 256);
    text.push_str("# Memory\n");
    for (title, lines) in SECTIONS.iter().zip(&sections).filter(|(_, lines)| !lines.is_empty()) {
        let _ = write!(text, "\n## {title}\n{lines}");
    }
    text
}

fn section_of(entry: &NoteEntry) -> usize {
    match (entry.kind, entry.note_type) {
        (NoteKind::Fact, _) => 5,
        (NoteKind::Episode, _) => 6,
        (_, Some(NoteType::User)) => 0,
        (_, Some(NoteType::Feedback)) => 1,
        (_, Some(NoteType::Project)) => 2,
        (_, Some(NoteType::Reference)) => 3,
        (_, None) => 4,
    }
}

fn render_readmes<'e>(
    entries: impl Iterator<Item = (&'e NotePath, &'e NoteEntry)>,
) -> BTreeMap<String, String> {
    let heads: BTreeMap<String, lessons::FileHead> =
        entries.filter_map(|(path, entry)| Some((path.to_string(), entry.head.clone()?))).collect();
    // Without lessons there is no index.
    if heads.is_empty() { BTreeMap::new() } else { lessons::render_readmes(&heads) }
}

fn render_session_index<'e>(
    entries: impl Iterator<Item = (&'e NotePath, &'e NoteEntry)>,
) -> String {
    let lines: String = entries.map(|(_, entry)| entry.index_line.as_str()).collect();
    format!("# Session\n\n{}", if lines.is_empty() { "(empty)\n" } else { &lines })
}
