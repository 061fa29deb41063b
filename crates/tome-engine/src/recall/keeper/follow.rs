//! Following: what has arrived or changed is put into the indexes, from where each of them has come.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use tome_finder::{Batch, Entry, FinderError, Meanings, Words};
use tome_ledger::Ledger;
use tome_model::Event;

use super::Keeper;
use super::desk::{Desk, DeskOf, Kept, Pair};
use super::entries;
use super::files::{FileFound, files_of};
use super::pages::Page;
use crate::EngineError;

/// Events that are put in together at most.
const EVENTS_AT_ONCE: usize = 5_000;
/// And bytes of their texts.
const BYTES_AT_ONCE: usize = 16 << 20;
/// Nodes that are put in together at most.
const NODES_AT_ONCE: usize = 1_000;
/// Files that are put in together at most.
const FILES_AT_ONCE: usize = 500;

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Followed {
    /// Events that were put into an index.
    pub events: u64,
    /// Nodes and files that were.
    pub pages: u64,
    /// Indexes that had to be made anew.
    pub made: u64,
}

impl Keeper {
    /// Brings the indexes of a desk up to date. One that breaks on the way, because somebody deletes it
    /// just now, is opened or made again at once.
    pub(crate) fn keep_up(
        &self,
        desk: &Desk,
        stop: &dyn Fn() -> bool,
    ) -> Result<Followed, EngineError> {
        match self.follow(desk, stop) {
            Err(EngineError::Finder(_)) if !stop() => {
                desk.close();
                self.follow(desk, stop)
            }
            done => done,
        }
    }

    /// Brings the indexes of a desk up to date; goes on until there is nothing more, or until told to
    /// stop. One at a time: whoever comes second waits, and finds little to do.
    fn follow(&self, desk: &Desk, stop: &dyn Fn() -> bool) -> Result<Followed, EngineError> {
        let mut kept = desk.keeping.lock().unwrap_or_else(PoisonError::into_inner);
        desk.wanting.store(false, Ordering::Relaxed);
        let mut done = Followed::default();
        for (pair, has_files) in [(&desk.events, false), (&desk.pages, true)] {
            let made = pair.open_or_make(&self.embedder)?;
            done.made += u64::from(made.words) + u64::from(made.meanings);
            if has_files && (made.words || made.meanings) {
                kept.files = None;
                // Nothing counts as read until the files were compared with both.
                let mut known = desk.known.write().unwrap_or_else(PoisonError::into_inner);
                *known = Some(Arc::default());
            }
        }
        let ledger = desk.ledger.as_ref().map(|path| self.stores.open(path)).transpose()?;
        if let Some(ledger) = &ledger {
            // An entry says which line of the copy it is.
            self.copies.catch_up(ledger)?;
            done.events = self.follow_events(&desk.events, ledger, stop)?;
            done.pages = self.follow_nodes(&desk.pages, ledger, stop)?;
        }
        done.pages += self.follow_files(desk, &mut kept, stop)?;
        if done != Followed::default() {
            rest(&desk.events);
            rest(&desk.pages);
        }
        Ok(done)
    }

    /// Whether there is something to bring up to date. Costs a look at the cursors: files are
    /// compared when something was stored, or when a question has seen that one has changed.
    pub(crate) fn is_behind(&self, desk: &Desk, ledger: Option<&Ledger>) -> bool {
        if desk.wanting.load(Ordering::Relaxed) {
            return true;
        }
        // Whether an index is whole is asked of the disk: once each, as this is asked again and again.
        let read_by = |pair: &Pair| -> Option<u64> {
            let words = number(&pair.words.get()?.cursor());
            Some(words.min(number(&pair.meanings.get()?.cursor())))
        };
        let (Some(events), Some(pages)) = (read_by(&desk.events), read_by(&desk.pages)) else {
            return true;
        };
        let Some(ledger) = ledger else { return false };
        let Ok(changes) = ledger.last_node_change() else { return true };
        events < ledger.last_seq() || pages < changes
    }

    /// Puts in the events that arrived since the last time.
    fn follow_events(
        &self,
        pair: &Pair,
        ledger: &Ledger,
        stop: &dyn Fn() -> bool,
    ) -> Result<u64, EngineError> {
        let (words, meanings) = open(pair)?;
        let mut put = 0;
        while !stop() {
            let cursors = (number(&words.cursor()), number(&meanings.cursor()));
            let from = cursors.0.min(cursors.1);
            // The one that is behind goes as far as the other is, so that they meet.
            let ahead = cursors.0.max(cursors.1);
            let upto_max = if ahead > from { ahead } else { u64::MAX };
            let Some(step) = self.events_step(ledger, from, upto_max)? else { break };
            put += step.count;
            let batch =
                Batch { gone: Vec::new(), put: step.entries, cursor: step.upto.to_string() };
            write(&words, &meanings, (cursors.0 == from, cursors.1 == from), batch)?;
        }
        Ok(put)
    }

    fn events_step(
        &self,
        ledger: &Ledger,
        from: u64,
        upto_max: u64,
    ) -> Result<Option<EventsStep>, EngineError> {
        let mut step = EventsStep { upto: from, count: 0, entries: Vec::new() };
        let (mut read, mut bytes) = (Vec::new(), 0);
        for entry in ledger.outbox(from, EVENTS_AT_ONCE)? {
            if bytes > BYTES_AT_ONCE || entry.seq > upto_max {
                break;
            }
            step.upto = entry.seq;
            step.count += 1;
            let Some(event) = ledger.event_at(&entry.position)? else { continue };
            bytes += event.text.len() + 256;
            read.push((entry.seq, event));
        }
        let events: Vec<&Event> = read.iter().map(|(_, event)| event).collect();
        let lines = self.lines_of(ledger, &events)?;
        for ((seq, event), line) in read.iter().zip(lines) {
            step.entries.extend(entries::of_event(event, *seq, line));
        }
        Ok((step.upto > from).then_some(step))
    }

    /// Puts in the nodes that changed since the last time; all of them at first.
    fn follow_nodes(
        &self,
        pair: &Pair,
        ledger: &Ledger,
        stop: &dyn Fn() -> bool,
    ) -> Result<u64, EngineError> {
        let (words, meanings) = open(pair)?;
        let mut put = 0;
        while !stop() {
            let said = (words.cursor(), meanings.cursor());
            // Two that have come differently far are brought together from the beginning of the one
            // behind: a node that is put in again replaces itself.
            let from = if number(&said.0) <= number(&said.1) { &said.0 } else { &said.1 };
            let step = match from.is_empty() {
                true => all_nodes(ledger)?,
                false => changed_nodes(ledger, number(from))?,
            };
            let Some((nodes, upto)) = step else { break };
            put += nodes.len() as u64;
            let mut batch = Batch { cursor: upto.to_string(), ..Batch::default() };
            for (project, id) in nodes {
                let page = Page::Node { project: project.clone(), id: id.clone() };
                batch.gone.push(page.name());
                let Some(node) = ledger.node(&project, &id, None)? else { continue };
                let grips = node.bullets.iter().flat_map(|bullet| &bullet.grips);
                let grips: Result<Vec<_>, _> =
                    grips.filter_map(|grip| ledger.grip(&project, grip).transpose()).collect();
                batch.put.extend(entries::of_node(&project, &node, &grips?));
            }
            write(&words, &meanings, (true, true), batch)?;
        }
        Ok(put)
    }

    /// Makes the indexes have the files that are there, as they are.
    fn follow_files(
        &self,
        desk: &Desk,
        kept: &mut Kept,
        stop: &dyn Fn() -> bool,
    ) -> Result<u64, EngineError> {
        let (words, meanings) = open(&desk.pages)?;
        if kept.files.is_none() {
            kept.files = Some(common_files(&words, &meanings)?);
        }
        let wanted = files_of(self, desk)?;
        let names: HashSet<String> = wanted.iter().map(|file| file.page.name()).collect();
        let known = kept.files.get_or_insert_default();
        let gone: Vec<String> = known.difference(&names).cloned().collect();
        let new: Vec<&FileFound> =
            wanted.iter().filter(|file| !known.contains(&file.page.name())).collect();
        let mut put = gone.len() as u64;
        let mut gone = Some(gone);
        let mut rest = new.as_slice();
        while !stop() && (!rest.is_empty() || gone.as_ref().is_some_and(|gone| !gone.is_empty())) {
            let (now, later) = rest.split_at(rest.len().min(FILES_AT_ONCE));
            rest = later;
            let mut batch = Batch { gone: gone.take().unwrap_or_default(), ..Batch::default() };
            for name in &batch.gone {
                known.remove(name);
            }
            for file in now {
                put += 1;
                known.insert(file.page.name());
                // An index that had it before, and one that did not, have it once.
                batch.gone.push(file.page.name());
                batch.put.extend(self.entries_of_file(file));
            }
            write_each(&words, &meanings, batch)?;
        }
        let mut shown = desk.known.write().unwrap_or_else(PoisonError::into_inner);
        if shown.as_ref().is_none_or(|shown| **shown != *known) {
            *shown = Some(Arc::new(known.clone()));
        }
        Ok(put)
    }
}

struct EventsStep {
    upto: u64,
    count: u64,
    entries: Vec<Entry>,
}

type Nodes = (Vec<(String, tome_model::NodeId)>, u64);

/// Every node there is; the number of the last change before they were read.
fn all_nodes(ledger: &Ledger) -> Result<Option<Nodes>, EngineError> {
    let upto = ledger.last_node_change()?;
    let mut nodes = Vec::new();
    for project in ledger.contents_projects()? {
        for head in ledger.heads(&project, "", None) {
            nodes.push((project.clone(), head?.id));
        }
    }
    Ok(Some((nodes, upto)))
}

fn changed_nodes(ledger: &Ledger, from: u64) -> Result<Option<Nodes>, EngineError> {
    let changed = ledger.changed_nodes(from, NODES_AT_ONCE)?;
    let Some(upto) = changed.last().map(|change| change.seq) else { return Ok(None) };
    Ok(Some((changed.into_iter().map(|change| (change.project, change.id)).collect(), upto)))
}

/// The files that both indexes have: what one of them lacks is put into both again.
fn common_files(words: &Words, meanings: &Meanings) -> Result<HashSet<String>, FinderError> {
    let files = |named: Vec<(String, tome_model::Millis)>| {
        let names = named.into_iter().map(|(name, _)| name);
        names.filter(|name| Page::parse(name).is_none_or(|page| page.is_file())).collect()
    };
    let theirs: HashSet<String> = files(meanings.named());
    let mut ours: HashSet<String> = files(words.named()?);
    ours.retain(|name| theirs.contains(name));
    Ok(ours)
}

fn open(pair: &Pair) -> Result<(Arc<Words>, Arc<Meanings>), EngineError> {
    match (pair.words.get(), pair.meanings.get()) {
        (Some(words), Some(meanings)) => Ok((words, meanings)),
        // Deleted just now: the next visit makes it.
        (None, _) => Err(FinderError::Missing(pair.words.folder.clone()).into()),
        (_, None) => Err(FinderError::Missing(pair.meanings.folder.clone()).into()),
    }
}

fn write(
    words: &Words,
    meanings: &Meanings,
    (to_words, to_meanings): (bool, bool),
    batch: Batch,
) -> Result<(), FinderError> {
    if to_words && to_meanings {
        words.write(batch.clone())?;
        meanings.write(batch)
    } else if to_words {
        words.write(batch)
    } else {
        meanings.write(batch)
    }
}

/// Writes without moving the cursors.
fn write_each(words: &Words, meanings: &Meanings, batch: Batch) -> Result<(), FinderError> {
    words.write(Batch { cursor: words.cursor(), ..batch.clone() })?;
    meanings.write(Batch { cursor: meanings.cursor(), ..batch })
}

/// Lets go of what is only needed for writing.
fn rest(pair: &Pair) {
    if let Some(words) = pair.words.get() {
        // One that is still tidying up is asked again after the next batch.
        let _ = words.rest();
    }
}

/// The number in a cursor; 0 at the beginning.
pub(crate) fn number(cursor: &str) -> u64 {
    cursor.parse().unwrap_or(0)
}

/// Which projects' notebooks a desk has.
pub(super) fn projects_of(keeper: &Keeper, desk: &Desk) -> Vec<String> {
    match &desk.of {
        DeskOf::Project(root) => vec![root.clone()],
        DeskOf::Unified => {
            keeper.stores.projects().all().into_iter().map(|(root, _)| root).collect()
        }
        DeskOf::Coder => Vec::new(),
    }
}
