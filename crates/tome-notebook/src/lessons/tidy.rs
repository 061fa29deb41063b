//! Tidies the notebook: merges equal lessons, moves deep files up, splits oversized files and
//! writes entries in Tome's layout. No sentence, tag or loose text is lost, and a second run
//! changes nothing.

use std::collections::BTreeMap;

use super::combine::{MergeTarget, merge_into};
use super::entry::{ALSO_LABEL, LessonEntry};
use super::lesson_file::LessonFile;
use super::limits::NUMBERED_FILES_MAX;
use super::placement::{self, LocatedEntry};
use super::similarity::{LessonProfile, SimilarityIndex, is_contradiction};
use super::{LessonFileChange, LessonKind, LessonTree, TidyReport, diff_trees};
use crate::limits::{CODER_FOLDERS_MAX, NAME_BYTES_MAX};

/// Tidies a notebook. Returns the files to write and a report.
pub(crate) fn tidy_lessons(tree: &LessonTree) -> (Vec<LessonFileChange>, TidyReport) {
    let mut work = tree.clone();
    let mut tidied = TidyReport { entries_before: count_entries(tree), ..TidyReport::default() };
    tidied.steps.extend(move_deep_files_up(&mut work));
    rewrite_in_layout(&mut work);
    for kind in LessonKind::ALL {
        tidied.steps.extend(merge_duplicates(&mut work, kind));
    }
    for path in work.keys().cloned().collect::<Vec<_>>() {
        tidied.steps.extend(placement::split_file(&mut work, &path));
    }
    // Merging and splitting changed the files: restore the layout.
    rewrite_in_layout(&mut work);
    tidied.entries_after = count_entries(&work);
    let changes = diff_trees(tree, &work);
    if tidied.steps.is_empty() && !changes.is_empty() {
        tidied.steps.push(format!("reformatted {} files", changes.len()));
    }
    (changes, tidied)
}

fn count_entries(tree: &LessonTree) -> usize {
    LessonKind::ALL.into_iter().map(|kind| placement::collect_entries(tree, kind).len()).sum()
}

/// Moves files up to the deepest folder allowed; their names keep the removed folders.
fn move_deep_files_up(work: &mut LessonTree) -> Vec<String> {
    let is_deep = |path: &&String| {
        LessonKind::from_path(path).is_some() && path.matches('/').count() > CODER_FOLDERS_MAX
    };
    let deep: Vec<String> = work.keys().filter(is_deep).cloned().collect();
    let mut steps = Vec::new();
    for from in deep {
        let Some(to) = find_higher_path(work, &from) else { continue };
        if let Some(text) = work.remove(&from) {
            steps.push(format!("moved {from} up to {to}"));
            work.insert(to, text);
        }
    }
    steps
}

/// `a/b/c-d.md` for `a/b/c/d.md`, numbered if that exists.
fn find_higher_path(work: &LessonTree, from: &str) -> Option<String> {
    let parts: Vec<&str> = from.split('/').collect();
    let (folders, names) = parts.split_at_checked(CODER_FOLDERS_MAX)?;
    let joined = names.join("-");
    let short = joined.len() + 8 <= NAME_BYTES_MAX;
    let name = if short { joined.as_str() } else { names.last()? };
    let stem = name.strip_suffix(".md").unwrap_or(name);
    let free = |number: usize| {
        let stem = if number > 1 { format!("{stem}-{number}") } else { stem.to_owned() };
        let to = format!("{}/{stem}.md", folders.join("/"));
        (!work.contains_key(&to) && !placement::collides_ignoring_case(work, &to)).then_some(to)
    };
    (1..NUMBERED_FILES_MAX).find_map(free)
}

/// Rewrites every entry in Tome's layout, with the tag of its type.
fn rewrite_in_layout(work: &mut LessonTree) {
    for (path, text) in work.iter_mut() {
        let Some(kind) = LessonKind::from_path(path) else { continue };
        let mut page = LessonFile::parse(text);
        let entries: Vec<(usize, LessonEntry)> =
            page.entries().map(|(at, _, entry)| (at, entry.clone())).collect();
        if entries.is_empty() {
            continue;
        }
        for (at, mut entry) in entries {
            if !entry.has_multiline_block() {
                entry.add_kind_tag(kind);
                page.replace_entry(at, entry);
            }
        }
        *text = page.render_arranged();
    }
}

/// Merges equal lessons of a type until none are left.
fn merge_duplicates(work: &mut LessonTree, kind: LessonKind) -> Vec<String> {
    let mut steps = Vec::new();
    loop {
        let mut pass = MergePass::new(placement::collect_entries(work, kind));
        (0..pass.known.len()).for_each(|number| pass.process_entry(number));
        if pass.steps.is_empty() {
            return steps;
        }
        pass.apply_merges(work);
        steps.append(&mut pass.steps);
    }
}

/// One pass over all entries, comparing each with the remaining ones before it.
struct MergePass {
    known: Vec<LocatedEntry>,
    profiles: Vec<LessonProfile>,
    neighbors: SimilarityIndex,
    fates: Vec<EntryFate>,
    steps: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryFate {
    Unchanged,
    Extended,
    Merged,
}

impl MergePass {
    fn new(known: Vec<LocatedEntry>) -> Self {
        let profiles: Vec<_> =
            known.iter().map(|known| LessonProfile::from_entry(&known.entry)).collect();
        let neighbors = SimilarityIndex::new(&profiles);
        let fates = vec![EntryFate::Unchanged; known.len()];
        Self { known, profiles, neighbors, fates, steps: Vec::new() }
    }

    fn process_entry(&mut self, number: usize) {
        let (Some(own), Some(profile)) = (self.known.get(number), self.profiles.get(number)) else {
            return;
        };
        let similar = self.neighbors.find_same(profile, &self.profiles);
        let is_same = |other: &usize| {
            self.known.get(*other).is_some_and(|other| {
                let stuck = own.entry.has_multiline_block() || other.entry.has_multiline_block();
                !stuck && !is_contradiction(&own.entry, &other.entry)
            })
        };
        match similar.into_iter().find(is_same) {
            None => self.neighbors.insert(number, profile),
            Some(into) => self.merge_entries(number, into),
        }
    }

    fn merge_entries(&mut self, number: usize, into: usize) {
        let Some(own) = self.known.get(number).cloned() else { return };
        let Some(target) = self.known.get_mut(into) else { return };
        self.steps.push(format!(
            "merged \"{}\" ({}) into \"{}\" ({})",
            own.entry.title, own.path, target.entry.title, target.path
        ));
        merge_into(&mut target.entry, &own.entry, MergeTarget::Content, ALSO_LABEL);
        let profile = LessonProfile::from_entry(&target.entry);
        self.neighbors.insert(into, &profile);
        for (slot, fate) in [(number, EntryFate::Merged), (into, EntryFate::Extended)] {
            self.fates.get_mut(slot).into_iter().for_each(|known| *known = fate);
        }
        self.profiles.get_mut(into).into_iter().for_each(|known| *known = profile.clone());
    }

    fn apply_merges(&self, work: &mut LessonTree) {
        let mut by_file: BTreeMap<&str, Vec<(&LocatedEntry, EntryFate)>> = BTreeMap::new();
        for (known, fate) in self.known.iter().zip(&self.fates) {
            by_file.entry(&known.path).or_default().push((known, *fate));
        }
        for (path, entries) in by_file {
            let Some(text) = work.get(path) else { continue };
            let mut page = LessonFile::parse(text);
            for (known, _) in entries.iter().filter(|(_, fate)| *fate == EntryFate::Extended) {
                page.replace_entry(known.block_index, known.entry.clone());
            }
            let gone = entries.iter().filter(|(_, fate)| *fate == EntryFate::Merged);
            let gone: Vec<usize> = gone.map(|(known, _)| known.block_index).collect();
            page.take_blocks(&gone);
            match page.render_arranged() {
                left if left.is_empty() => drop(work.remove(path)),
                left => drop(work.insert(path.to_owned(), left)),
            }
        }
    }
}
