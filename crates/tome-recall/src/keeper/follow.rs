//! Updates the indexes with new and changed records, starting from each index's cursor.
//!
//! With a remote embedder, BM25 and vectors are updated in separate passes, so that a slow or
//! unreachable endpoint delays only its own vectors.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tome_finder::{Batch, Entry, FinderError};
use tome_ledger::Ledger;
use tome_model::Event;

use super::Keeper;
use super::desk::{Desk, DeskOf, Kept, Pair};
use super::entries;
use super::files::{FileFound, files_of, name_in, show_known};
use super::hands::{Hands, Pass};
use super::pages::Page;
use crate::COPY;
use crate::RecallError;

/// Maximum size of one batch. A batch is in memory several times: as events, entries, documents and
/// vectors.
struct Portion {
    events: usize,
    /// Total text of events or files.
    bytes: usize,
    nodes: usize,
    files: usize,
}

/// For local indexing.
const PORTION: Portion = Portion { events: 2_000, bytes: 4 << 20, nodes: 250, files: 500 };
/// For a remote embedder. Small, because a failure loses only the current batch.
const FAR_PORTION: Portion = Portion { events: 128, bytes: 128 << 10, nodes: 32, files: 16 };

/// Result of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Followed {
    /// Number of events indexed.
    pub events: u64,
    /// Number of nodes and files indexed or removed.
    pub pages: u64,
    /// Number of indexes created.
    pub made: u64,
}

impl Keeper {
    /// Updates the indexes of a set; the vectors only if the embedder is local.
    pub(crate) fn keep_up(
        &self,
        desk: &Desk,
        stop: &dyn Fn() -> bool,
    ) -> Result<Followed, RecallError> {
        let pass = if self.embedder.is_far() { Pass::Words } else { Pass::Both };
        let done = self.follow_twice(desk, pass, stop);
        desk.problems().indexes = done.as_ref().err().map(RecallError::explained);
        if done.as_ref().is_ok_and(|done| done.pages > 0) {
            desk.wanting_meanings.store(true, Ordering::Relaxed);
        }
        done
    }

    /// Updates the vectors of a set with a remote embedder.
    pub(crate) fn keep_up_meanings(
        &self,
        desk: &Desk,
        stop: &dyn Fn() -> bool,
    ) -> Result<Followed, RecallError> {
        let done = self.follow_twice(desk, Pass::Meanings, stop);
        desk.problems().meanings = done.as_ref().err().map(why);
        if done.is_err() || stop() {
            desk.wanting_meanings.store(true, Ordering::Relaxed);
        }
        done
    }

    /// Retries once with reopened indexes, in case an index was deleted during the update. A
    /// failing embedder is not retried at once.
    fn follow_twice(
        &self,
        desk: &Desk,
        pass: Pass,
        stop: &dyn Fn() -> bool,
    ) -> Result<Followed, RecallError> {
        match self.follow(desk, pass, stop) {
            Err(RecallError::Index(FinderError::Embed(error))) => {
                Err(FinderError::Embed(error).into())
            }
            Err(RecallError::Index(_)) if !stop() => {
                desk.close();
                self.follow(desk, pass, stop)
            }
            done => done,
        }
    }

    /// Updates the indexes until nothing is left to do or `stop` returns true. Only one update runs
    /// at a time; a second one waits and then has little to do.
    fn follow(
        &self,
        desk: &Desk,
        pass: Pass,
        stop: &dyn Fn() -> bool,
    ) -> Result<Followed, RecallError> {
        let mut kept = pass.has_words().then(|| lock(&desk.keeping));
        let mut kept_meanings = pass.has_meanings().then(|| lock(&desk.keeping_meanings));
        let Some(kept) = kept.as_mut().or(kept_meanings.as_mut()) else {
            return Ok(Followed::default());
        };
        let made = self.look(desk, |desk| self.open_all(desk, kept, pass))?;
        let mut done = Followed { made, ..Followed::default() };
        let ledger = desk.ledger.as_ref().map(|path| self.stores.open(path)).transpose()?;
        if let Some(ledger) = &ledger {
            done.events = self.follow_events(&desk.events, ledger, pass, stop)?;
            done.pages = self.follow_nodes(&desk.pages, ledger, pass, stop)?;
        }
        done.pages += self.follow_files(desk, kept, pass, stop)?;
        if done != Followed::default() && pass.has_words() {
            rest(&desk.events);
            rest(&desk.pages);
        }
        Ok(done)
    }

    /// Opens the indexes of a pass, or makes them anew. Says how many were made.
    fn open_all(&self, desk: &Desk, kept: &mut Kept, pass: Pass) -> Result<u64, RecallError> {
        // Whatever is seen to be missing from now on is for the next visit.
        if pass.has_words() {
            desk.wanting.store(false, Ordering::Relaxed);
        }
        if pass.has_meanings() {
            desk.wanting_meanings.store(false, Ordering::Relaxed);
        }
        let mut count = 0;
        for (pair, has_files) in [(&desk.events, false), (&desk.pages, true)] {
            let made = pair.open_or_make(pass, &self.embedder)?;
            count += u64::from(made.words) + u64::from(made.meanings);
            if has_files && (made.words || made.meanings) {
                kept.files = None;
            }
        }
        Ok(count)
    }

    /// Returns whether an update is due. Only compares cursors: files are compared once something
    /// was stored, or once a query has noticed a changed file.
    pub(crate) fn is_behind(&self, desk: &Desk, ledger: Option<&Ledger>) -> bool {
        let far = self.embedder.is_far();
        desk.wanting.load(Ordering::Relaxed)
            || is_short(desk, ledger, |pair| pair.words.get().map(|it| it.cursor()))
            || (!far && is_short(desk, ledger, |pair| pair.meanings.get().map(|it| it.cursor())))
    }

    /// The same for vectors of a remote embedder.
    pub(crate) fn are_meanings_behind(&self, desk: &Desk, ledger: Option<&Ledger>) -> bool {
        desk.wanting_meanings.load(Ordering::Relaxed)
            || is_short(desk, ledger, |pair| pair.meanings.get().map(|it| it.cursor()))
    }

    fn portion(&self, pass: Pass) -> &'static Portion {
        if pass == Pass::Meanings { &FAR_PORTION } else { &PORTION }
    }

    fn follow_events(
        &self,
        pair: &Pair,
        ledger: &Ledger,
        pass: Pass,
        stop: &dyn Fn() -> bool,
    ) -> Result<u64, RecallError> {
        let hands = Hands::of(pair, pass)?;
        let mut put = 0;
        while !stop() {
            let _one_portion = self.portion_turn();
            let from = number(&hands.least());
            let upto_max = hands.meet_at().unwrap_or(u64::MAX);
            let step = self.events_step(ledger, from, upto_max, self.portion(pass))?;
            let Some(step) = step else { break };
            put += step.count;
            let batch =
                Batch { gone: Vec::new(), put: step.entries, cursor: step.upto.to_string() };
            hands.at(from).write(batch)?;
        }
        Ok(put)
    }

    fn events_step(
        &self,
        ledger: &Ledger,
        from: u64,
        upto_max: u64,
        portion: &Portion,
    ) -> Result<Option<EventsStep>, RecallError> {
        let mut step = EventsStep { upto: from, count: 0, entries: Vec::new() };
        let (mut read, mut bytes) = (Vec::new(), 0);
        for entry in ledger.outbox(from, portion.events)? {
            if bytes > portion.bytes || entry.seq > upto_max {
                break;
            }
            step.upto = entry.seq;
            step.count += 1;
            let Some(event) = ledger.event_at(&entry.position)? else { continue };
            bytes += event.text.len() + 256;
            read.push((entry.seq, event));
        }
        // Entries contain the line in the transcript, so the transcript has to be up to date first.
        if ledger.cursor(COPY)? < step.upto {
            self.copies.write_new(ledger)?;
        }
        let events: Vec<&Event> = read.iter().map(|(_, event)| event).collect();
        let lines = self.lines_of(ledger, &events)?;
        for ((seq, event), line) in read.iter().zip(lines) {
            step.entries.extend(entries::of_event(event, *seq, line));
        }
        Ok((step.upto > from).then_some(step))
    }

    /// Indexes the nodes that changed; all nodes at first.
    fn follow_nodes(
        &self,
        pair: &Pair,
        ledger: &Ledger,
        pass: Pass,
        stop: &dyn Fn() -> bool,
    ) -> Result<u64, RecallError> {
        let hands = Hands::of(pair, pass)?;
        let nodes_max = self.portion(pass).nodes;
        let mut put = 0;
        while !stop() {
            // If the cursors differ, start from the lower one: indexing a node again replaces it.
            let from = hands.least();
            if from.is_empty() && pass != Pass::Meanings {
                put += self.put_all_nodes(&hands, ledger, nodes_max)?;
                continue;
            }
            // In order of changes, so that a remote embedder can resume after a failure.
            let _one_portion = self.portion_turn();
            let step = changed_nodes(ledger, number(&from), nodes_max)?;
            let Some((nodes, upto)) = step else { break };
            put += nodes.len() as u64;
            let batch = nodes_batch(ledger, &nodes)?;
            hands.write(Batch { cursor: upto.to_string(), ..batch })?;
        }
        Ok(put)
    }

    /// Indexes all nodes in batches. The cursor advances only with the last batch: an interrupted
    /// run starts again and replaces what is there.
    fn put_all_nodes(
        &self,
        hands: &Hands,
        ledger: &Ledger,
        nodes_max: usize,
    ) -> Result<u64, RecallError> {
        // Nodes that change during this pass are indexed again afterwards.
        let upto = ledger.last_node_change()?;
        let (mut put, mut nodes) = (0, Vec::new());
        for project in ledger.contents_projects()? {
            for head in ledger.heads(&project, "", None) {
                nodes.push((project.clone(), head?.id));
                put += 1;
                if nodes.len() >= nodes_max {
                    let _one_portion = self.portion_turn();
                    hands.write_in_place(nodes_batch(ledger, &nodes)?)?;
                    nodes.clear();
                }
            }
        }
        let _one_portion = self.portion_turn();
        let batch = nodes_batch(ledger, &nodes)?;
        hands.write(Batch { cursor: upto.to_string(), ..batch })?;
        Ok(put)
    }

    /// Waits until no other index set is being updated, so that several rebuilds need the memory of
    /// one.
    fn portion_turn(&self) -> MutexGuard<'_, ()> {
        self.portions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings the indexes in line with the files on disk.
    fn follow_files(
        &self,
        desk: &Desk,
        kept: &mut Kept,
        pass: Pass,
        stop: &dyn Fn() -> bool,
    ) -> Result<u64, RecallError> {
        let hands = Hands::of(&desk.pages, pass)?;
        let mut strays = HashSet::new();
        if kept.files.is_none() {
            let had = hands.files()?;
            (kept.files, strays) = (Some(had.by_all), had.by_some);
        }
        let wanted = files_of(self, desk)?;
        let stamps: HashSet<String> = wanted.iter().map(FileFound::stamp).collect();
        let known = kept.files.get_or_insert_default();
        let gone: Vec<String> =
            known.union(&strays).filter(|stamp| !stamps.contains(*stamp)).cloned().collect();
        let new: Vec<&FileFound> =
            wanted.iter().filter(|file| !known.contains(&file.stamp())).collect();
        let mut put = gone.len() as u64;
        let mut gone = Some(gone);
        let mut rest = new.as_slice();
        while !stop() && (!rest.is_empty() || gone.as_ref().is_some_and(|gone| !gone.is_empty())) {
            let _one_portion = self.portion_turn();
            let left = gone.take().unwrap_or_default();
            let names = left.iter().map(|stamp| name_in(stamp).to_owned()).collect();
            let mut batch = Batch { gone: names, ..Batch::default() };
            let (mut taken, mut bytes) = (0, 0);
            for file in rest.iter().take(self.portion(pass).files) {
                taken += 1;
                // Remove first, because one of the two indexes may already have it.
                batch.gone.push(file.page.name());
                let entries = self.entries_of_file(file);
                bytes += entries.iter().map(|entry| entry.text.len()).sum::<usize>();
                batch.put.extend(entries);
                if bytes > self.portion(pass).bytes {
                    break;
                }
            }
            put += taken as u64;
            let (now, later) = rest.split_at(taken);
            rest = later;
            hands.write_in_place(batch)?;
            for stamp in &left {
                known.remove(stamp);
            }
            known.extend(now.iter().map(|file| file.stamp()));
        }
        show_known(&desk.known, hands.words(), known);
        show_known(&desk.known_meanings, hands.meanings(), known);
        Ok(put)
    }
}

struct EventsStep {
    upto: u64,
    count: u64,
    entries: Vec<Entry>,
}

type Nodes = (Vec<(String, tome_model::NodeId)>, u64);

/// Builds a batch that replaces the entries of nodes and of their sources.
fn nodes_batch(
    ledger: &Ledger,
    nodes: &[(String, tome_model::NodeId)],
) -> Result<Batch, RecallError> {
    let mut batch = Batch::default();
    for (project, id) in nodes {
        let page = Page::Node { project: project.clone(), id: id.clone() };
        batch.gone.push(page.name());
        let Some(node) = ledger.node(project, id, None)? else { continue };
        let grips = node.bullets.iter().flat_map(|bullet| &bullet.grips);
        let grips: Result<Vec<_>, _> =
            grips.filter_map(|grip| ledger.grip(project, grip).transpose()).collect();
        batch.put.extend(entries::of_node(project, &node, &grips?));
    }
    Ok(batch)
}

fn changed_nodes(
    ledger: &Ledger,
    from: u64,
    nodes_max: usize,
) -> Result<Option<Nodes>, RecallError> {
    let changed = ledger.changed_nodes(from, nodes_max)?;
    let Some(upto) = changed.last().map(|change| change.seq) else { return Ok(None) };
    Ok(Some((changed.into_iter().map(|change| (change.project, change.id)).collect(), upto)))
}

/// What is wrong, in a line. What an endpoint said is no fault of an index.
fn why(error: &RecallError) -> String {
    match error {
        RecallError::Index(FinderError::Embed(error)) => error.to_string(),
        other => other.explained(),
    }
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether an index is missing or behind the ledger.
fn is_short(
    desk: &Desk,
    ledger: Option<&Ledger>,
    cursor: impl Fn(&Pair) -> Option<String>,
) -> bool {
    let (Some(events), Some(pages)) = (cursor(&desk.events), cursor(&desk.pages)) else {
        return true;
    };
    let Some(ledger) = ledger else { return false };
    let Ok(changes) = ledger.last_node_change() else { return true };
    number(&events) < ledger.last_seq() || number(&pages) < changes
}

/// Releases the writer.
fn rest(pair: &Pair) {
    if let Some(words) = pair.words.get() {
        // If merges are still running, the next update tries again.
        let _ = words.rest();
    }
}

/// Parses a cursor; 0 if it is empty.
pub(crate) fn number(cursor: &str) -> u64 {
    cursor.parse().unwrap_or(0)
}

pub(super) fn projects_of(keeper: &Keeper, desk: &Desk) -> Vec<String> {
    match &desk.of {
        DeskOf::Project(root) => vec![root.clone()],
        DeskOf::Unified => {
            keeper.stores.projects().all().into_iter().map(|(root, _)| root).collect()
        }
        DeskOf::Coder => Vec::new(),
    }
}
