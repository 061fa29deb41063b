//! Tidies the notebook: merges equal insights, moves deep files up, splits oversized files and
//! writes entries in Tome's layout. No sentence, tag or loose text is lost, and a second run
//! changes nothing.

use std::collections::BTreeMap;

use super::combine::{Into, absorb};
use super::entry::{ALSO, Entry};
use super::limits::PARTS_MAX;
use super::page::Page;
use super::place::{self, Known, kind_of};
use super::similar::{Neighbours, Profile, contradicts};
use super::{Change, InsightKind, Tidied, Tree, changes};
use crate::limits::{CODER_FOLDERS_MAX, NAME_BYTES_MAX};

/// Tidies a notebook. Returns the files to write and a report.
pub(crate) fn tidy(tree: &Tree) -> (Vec<Change>, Tidied) {
    let mut work = tree.clone();
    let mut tidied = Tidied { entries_before: count(tree), ..Tidied::default() };
    tidied.steps.extend(move_up(&mut work));
    lay_out(&mut work);
    for kind in InsightKind::ALL {
        tidied.steps.extend(merge(&mut work, kind));
    }
    for path in work.keys().cloned().collect::<Vec<_>>() {
        tidied.steps.extend(place::relieve(&mut work, &path));
    }
    // Merging and splitting changed the files: restore the layout.
    lay_out(&mut work);
    tidied.entries_after = count(&work);
    let changes = changes(tree, &work);
    if tidied.steps.is_empty() && !changes.is_empty() {
        tidied.steps.push(format!("reformatted {} files", changes.len()));
    }
    (changes, tidied)
}

fn count(tree: &Tree) -> usize {
    InsightKind::ALL.into_iter().map(|kind| place::entries(tree, kind).len()).sum()
}

/// Moves files up to the deepest folder allowed; their names keep the removed folders.
fn move_up(work: &mut Tree) -> Vec<String> {
    let is_deep =
        |path: &&String| kind_of(path).is_some() && path.matches('/').count() > CODER_FOLDERS_MAX;
    let deep: Vec<String> = work.keys().filter(is_deep).cloned().collect();
    let mut steps = Vec::new();
    for from in deep {
        let Some(to) = higher(work, &from) else { continue };
        if let Some(text) = work.remove(&from) {
            steps.push(format!("moved {from} up to {to}"));
            work.insert(to, text);
        }
    }
    steps
}

/// `a/b/c-d.md` for `a/b/c/d.md`, numbered if that exists.
fn higher(work: &Tree, from: &str) -> Option<String> {
    let parts: Vec<&str> = from.split('/').collect();
    let (folders, names) = parts.split_at_checked(CODER_FOLDERS_MAX)?;
    let joined = names.join("-");
    let short = joined.len() + 8 <= NAME_BYTES_MAX;
    let name = if short { joined.as_str() } else { names.last()? };
    let stem = name.strip_suffix(".md").unwrap_or(name);
    let free = |number: usize| {
        let stem = if number > 1 { format!("{stem}-{number}") } else { stem.to_owned() };
        let to = format!("{}/{stem}.md", folders.join("/"));
        (!work.contains_key(&to) && !place::is_taken(work, &to)).then_some(to)
    };
    (1..PARTS_MAX).find_map(free)
}

/// Rewrites every entry in Tome's layout, with the tag of its type.
fn lay_out(work: &mut Tree) {
    for (path, text) in work.iter_mut() {
        let Some(kind) = kind_of(path) else { continue };
        let mut page = Page::parse(text);
        let entries: Vec<(usize, Entry)> =
            page.entries().map(|(at, _, entry)| (at, entry.clone())).collect();
        if entries.is_empty() {
            continue;
        }
        for (at, mut entry) in entries {
            if !entry.opens_something() {
                entry.tag_kind(kind);
                page.replace(at, entry);
            }
        }
        *text = page.arranged();
    }
}

/// Merges equal insights of a type until none are left.
fn merge(work: &mut Tree, kind: InsightKind) -> Vec<String> {
    let mut steps = Vec::new();
    loop {
        let mut pass = Pass::over(place::entries(work, kind));
        (0..pass.known.len()).for_each(|number| pass.settle(number));
        if pass.steps.is_empty() {
            return steps;
        }
        pass.apply(work);
        steps.append(&mut pass.steps);
    }
}

/// One pass over all entries, comparing each with the remaining ones before it.
struct Pass {
    known: Vec<Known>,
    profiles: Vec<Profile>,
    neighbours: Neighbours,
    fates: Vec<Fate>,
    steps: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    Grew,
    Gone,
}

impl Pass {
    fn over(known: Vec<Known>) -> Self {
        let profiles: Vec<_> = known.iter().map(|known| Profile::of(&known.entry)).collect();
        let neighbours = Neighbours::among(&profiles);
        let fates = vec![Fate::Stays; known.len()];
        Self { known, profiles, neighbours, fates, steps: Vec::new() }
    }

    fn settle(&mut self, number: usize) {
        let (Some(own), Some(profile)) = (self.known.get(number), self.profiles.get(number)) else {
            return;
        };
        let near = self.neighbours.same_as(profile, &self.profiles);
        let is_same = |other: &usize| {
            self.known.get(*other).is_some_and(|other| {
                let stuck = own.entry.opens_something() || other.entry.opens_something();
                !stuck && !contradicts(&own.entry, &other.entry)
            })
        };
        match near.into_iter().find(is_same) {
            None => self.neighbours.add(number, profile),
            Some(into) => self.merge(number, into),
        }
    }

    fn merge(&mut self, number: usize, into: usize) {
        let Some(own) = self.known.get(number).cloned() else { return };
        let Some(target) = self.known.get_mut(into) else { return };
        self.steps.push(format!(
            "merged \"{}\" ({}) into \"{}\" ({})",
            own.entry.title, own.path, target.entry.title, target.path
        ));
        absorb(&mut target.entry, &own.entry, Into::Content, ALSO);
        let profile = Profile::of(&target.entry);
        self.neighbours.add(into, &profile);
        for (slot, fate) in [(number, Fate::Gone), (into, Fate::Grew)] {
            self.fates.get_mut(slot).into_iter().for_each(|known| *known = fate);
        }
        self.profiles.get_mut(into).into_iter().for_each(|known| *known = profile.clone());
    }

    fn apply(&self, work: &mut Tree) {
        let mut by_file: BTreeMap<&str, Vec<(&Known, Fate)>> = BTreeMap::new();
        for (known, fate) in self.known.iter().zip(&self.fates) {
            by_file.entry(&known.path).or_default().push((known, *fate));
        }
        for (path, entries) in by_file {
            let Some(text) = work.get(path) else { continue };
            let mut page = Page::parse(text);
            for (known, _) in entries.iter().filter(|(_, fate)| *fate == Fate::Grew) {
                page.replace(known.at, known.entry.clone());
            }
            let gone = entries.iter().filter(|(_, fate)| *fate == Fate::Gone);
            let gone: Vec<usize> = gone.map(|(known, _)| known.at).collect();
            page.take(&gone);
            match page.arranged() {
                left if left.is_empty() => drop(work.remove(path)),
                left => drop(work.insert(path.to_owned(), left)),
            }
        }
    }
}
