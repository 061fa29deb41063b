//! The best entries of a snapshot for the clauses of a question: BM25, exactly.
//!
//! Entries are gone through in windows. Clauses that can decide alone whether an entry is among the
//! best are added up over a window; the others are looked up for the entries that may still make it.
//! The better the worst of the best so far, the fewer clauses decide alone (the method is known as
//! MaxScore).
//!
//! Scores are whole numbers (2^16 is one), so that their sum is the same in whatever order it is made
//! up, and with it the answer, however the entries are spread over segments.

use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tantivy::postings::BlockSegmentPostings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, TERMINATED};

use super::allowed::Allowed;
use super::best::Best;
use super::question::Clause;
use super::schema::Fields;
use super::snapshot::{Segment, Snapshot};
use super::weight::Weights;
use crate::{Filter, Found};

/// Entries that are added up at a time.
const WINDOW_DOCS: DocId = 4_096;
const WINDOW: usize = WINDOW_DOCS as usize;

/// Entries of the clauses' lists that are worth a thread, and threads at most. Tests have few.
const LISTED_MIN: u64 = if cfg!(test) { 500 } else { 200_000 };
const THREADS_MAX: usize = 4;

/// A segment with fewer entries is gone through by one thread.
const PARTED_MIN: DocId = if cfg!(test) { 64 } else { 1 << 16 };

/// Finds the best.
pub(crate) fn rank(
    clauses: &[Clause],
    filter: &Filter,
    fields: &Fields,
    snapshot: &Snapshot,
    limit: usize,
) -> tantivy::Result<Vec<Found>> {
    let (mut races, mut listed) = (Vec::new(), 0);
    for (ordinal, segment) in snapshot.segments.iter().enumerate() {
        let lanes = lanes(clauses, segment, &snapshot.weights)?;
        if lanes.is_empty() {
            continue;
        }
        listed += lanes.iter().map(|lane| u64::from(lane.postings.doc_freq())).sum::<u64>();
        let allowed = Arc::new(Allowed::new(filter, fields, segment)?);
        races.push(Race { lanes, segment, allowed, ordinal, end: segment.reader.max_doc() });
    }
    let floor = AtomicU32::new(1);
    let best = || Best::new(snapshot, limit, &floor);
    match threads(listed) {
        1 => run(&mut || races.pop(), best()),
        threads => abreast(races, threads, best),
    }?
    .finish()
}

/// Runs races as long as there are any.
fn run<'r, 'b>(
    next: &mut dyn FnMut() -> Option<Race<'r>>,
    mut best: Best<'b>,
) -> tantivy::Result<Best<'b>> {
    while let Some(race) = next() {
        race.run(&mut best)?;
    }
    Ok(best)
}

/// Runs races on several threads, each over a part of the entries.
fn abreast<'b>(
    races: Vec<Race<'_>>,
    threads: usize,
    best: impl Fn() -> Best<'b> + Sync,
) -> tantivy::Result<Best<'b>> {
    let parts: Vec<Race<'_>> = races.into_iter().flat_map(|race| race.parted(threads)).collect();
    let queue = Mutex::new(parts);
    let work = || {
        let mut next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop();
        run(&mut next, best())
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for other in others {
            // A panic on another thread is one here.
            let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            all = all.and_then(|mut all| {
                all.join(other?);
                Ok(all)
            });
        }
        all
    })
}

/// How many threads so many entries are worth.
fn threads(listed: u64) -> usize {
    let cores = crate::cores().min(THREADS_MAX);
    usize::try_from(listed / LISTED_MIN).map_or(cores, |worth| worth.clamp(1, cores))
}

/// One clause's way through a segment.
#[derive(Clone)]
struct Lane<'a> {
    postings: BlockSegmentPostings,
    /// Where in the block it is.
    at: usize,
    worth: Worth<'a>,
    /// No entry gets more by this clause.
    most: u32,
}

/// What a match is worth.
#[derive(Clone)]
enum Worth<'a> {
    /// Always the same.
    Flat(u32),
    /// By the term's frequency and the text's length.
    Text { worth: f32, weights: &'a Weights, segment: &'a Segment },
}

/// The clauses that a segment has, those that count least first.
fn lanes<'a>(
    clauses: &[Clause],
    segment: &'a Segment,
    weights: &'a Weights,
) -> tantivy::Result<Vec<Lane<'a>>> {
    let mut lanes = Vec::new();
    for clause in clauses {
        lanes.extend(Lane::new(clause, segment, weights)?);
    }
    lanes.sort_by_key(|lane| lane.most);
    Ok(lanes)
}

impl<'a> Lane<'a> {
    fn new(
        clause: &Clause,
        segment: &'a Segment,
        weights: &'a Weights,
    ) -> tantivy::Result<Option<Self>> {
        let with =
            if clause.in_text { IndexRecordOption::WithFreqs } else { IndexRecordOption::Basic };
        let Some(postings) = segment.postings(&clause.term, with)? else { return Ok(None) };
        let (worth, most) = if clause.in_text {
            let worth = Worth::Text { worth: clause.worth, weights, segment };
            (worth, weights.most(clause.worth))
        } else {
            let flat = weights.flat(clause.worth);
            (Worth::Flat(flat), flat)
        };
        Ok(Some(Self { postings, at: 0, worth, most }))
    }

    fn doc(&self) -> DocId {
        self.postings.doc(self.at)
    }

    fn seek(&mut self, doc: DocId) {
        if self.doc() < doc {
            self.at = self.postings.seek(doc);
        }
    }

    fn worth(&self, doc: DocId, at: usize) -> u32 {
        match &self.worth {
            Worth::Flat(flat) => *flat,
            Worth::Text { worth, weights, segment } => {
                weights.text(*worth, self.postings.freq(at), segment.lengths.fieldnorm_id(doc))
            }
        }
    }

    /// Adds what it has in a window to the sums.
    fn pour(&mut self, window: &mut Window) {
        self.seek(window.from);
        while self.doc() < window.end {
            let docs = self.postings.docs();
            let end = docs.partition_point(|doc| *doc < window.end);
            let here = docs.get(self.at..end).unwrap_or_default();
            match &self.worth {
                Worth::Flat(flat) => here.iter().for_each(|doc| window.add(*doc, *flat)),
                Worth::Text { worth, weights, segment } => {
                    let frequencies = self.postings.freqs().get(self.at..end).unwrap_or_default();
                    for (doc, frequency) in here.iter().zip(frequencies) {
                        let length = segment.lengths.fieldnorm_id(*doc);
                        window.add(*doc, weights.text(*worth, *frequency, length));
                    }
                }
            }
            if end < docs.len() {
                self.at = end;
                return;
            }
            self.postings.advance();
            self.at = 0;
        }
    }
}

/// The sums of some entries that follow each other.
struct Window {
    from: DocId,
    end: DocId,
    sums: Box<[u32; WINDOW]>,
    touched: [u64; WINDOW / 64],
}

impl Window {
    fn add(&mut self, doc: DocId, worth: u32) {
        let offset = (doc - self.from) as usize;
        if let Some(sum) = self.sums.get_mut(offset) {
            *sum = sum.saturating_add(worth);
        }
        if let Some(bits) = self.touched.get_mut(offset / 64) {
            *bits |= 1 << (offset % 64);
        }
    }

    /// Hands over the entries that got something, in order, and forgets them.
    fn drain(
        &mut self,
        mut take: impl FnMut(DocId, u32) -> tantivy::Result<()>,
    ) -> tantivy::Result<()> {
        let from = self.from;
        for ((base, bits), sums) in
            (from..).step_by(64).zip(&mut self.touched).zip(self.sums.chunks_mut(64))
        {
            while *bits != 0 {
                let offset = bits.trailing_zeros();
                *bits &= *bits - 1;
                if let Some(sum) = sums.get_mut(offset as usize) {
                    take(base + offset, std::mem::take(sum))?;
                }
            }
        }
        Ok(())
    }
}

/// One segment's part of the search.
#[derive(Clone)]
struct Race<'a> {
    lanes: Vec<Lane<'a>>,
    segment: &'a Segment,
    allowed: Arc<Allowed>,
    ordinal: usize,
    /// It ends before this entry.
    end: DocId,
}

impl Race<'_> {
    /// The same in several parts, one after the other.
    fn parted(self, parts: usize) -> Vec<Self> {
        let whole = self.end;
        if whole < PARTED_MIN {
            return vec![self];
        }
        let share = whole.div_ceil(DocId::try_from(parts).unwrap_or(1).max(1));
        let part = |from: DocId| {
            let mut part = Self { end: whole.min(from + share), ..self.clone() };
            part.lanes.iter_mut().for_each(|lane| lane.seek(from));
            part
        };
        (0..whole).step_by(share as usize).map(part).collect()
    }

    fn run(mut self, best: &mut Best<'_>) -> tantivy::Result<()> {
        let mut window =
            Window { from: 0, end: 0, sums: Box::new([0; WINDOW]), touched: [0; WINDOW / 64] };
        loop {
            let (rest, deciding, reach) = split(&mut self.lanes, best.floor());
            let next = deciding.iter().map(Lane::doc).min().unwrap_or(TERMINATED);
            if next >= self.end {
                return Ok(());
            }
            let Some(from) = self.allowed.next(next).filter(|from| *from < self.end) else {
                return Ok(());
            };
            window.from = from;
            window.end = from.saturating_add(WINDOW_DOCS).min(self.end);
            for lane in deciding {
                lane.pour(&mut window);
            }
            let (segment, allowed, ordinal) = (self.segment, &self.allowed, self.ordinal);
            window.drain(|doc, sum| {
                let may = sum.saturating_add(reach) >= best.floor();
                if may && allowed.has(doc) && segment.is_alive(doc) {
                    let score = completed(doc, sum, reach, rest, best.floor());
                    best.offer(score, ordinal, doc)?;
                }
                Ok(())
            })?;
        }
    }
}

/// The clauses that cannot lift an entry to the floor together, the others, and how far the former reach.
fn split<'l, 'a>(
    lanes: &'l mut [Lane<'a>],
    floor: u32,
) -> (&'l mut [Lane<'a>], &'l mut [Lane<'a>], u32) {
    let mut reach = 0_u32;
    let mut count = 0;
    for lane in lanes.iter() {
        let further = reach.saturating_add(lane.most);
        if further >= floor {
            break;
        }
        reach = further;
        count += 1;
    }
    let (rest, deciding) = lanes.split_at_mut(count);
    (rest, deciding, reach)
}

/// The whole score of an entry, or as much of it as shows that it is below the floor.
fn completed(doc: DocId, sum: u32, reach: u32, rest: &mut [Lane<'_>], floor: u32) -> u32 {
    let (mut score, mut reach) = (sum, reach);
    for lane in rest.iter_mut().rev() {
        if score.saturating_add(reach) < floor {
            return score;
        }
        lane.seek(doc);
        if lane.doc() == doc {
            score = score.saturating_add(lane.worth(doc, lane.at));
        }
        reach = reach.saturating_sub(lane.most);
    }
    score
}
