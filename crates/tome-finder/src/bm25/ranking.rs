//! Exact BM25 ranking of a snapshot's entries.
//!
//! This is MaxScore over windows of documents. Clauses that can lift an entry into the top k on
//! their own are summed over a window; the others are looked up only for entries that may still
//! qualify. As the minimum score rises, fewer clauses need summing.
//!
//! Scores are fixed-point integers (2^16 is one), so that their sum does not depend on the order of
//! addition, and results do not depend on how entries are distributed over segments.

use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tantivy::postings::BlockSegmentPostings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, TERMINATED};

use super::doc_filter::DocFilter;
use super::query::TermClause;
use super::schema::IndexFields;
use super::snapshot::{IndexSnapshot, SegmentSnapshot};
use super::term_weight::Bm25Weights;
use super::top_k::TopK;
use crate::{EntryFilter, IndexHit};

const WINDOW_DOCS: DocId = 4_096;
const WINDOW: usize = WINDOW_DOCS as usize;

/// One more thread per this many postings, up to a maximum. Low in tests.
const POSTINGS_PER_THREAD: u64 = if cfg!(test) { 500 } else { 200_000 };
const THREADS_MAX: usize = 4;

/// Smaller segments are not split between threads.
const SPLIT_DOCS_MIN: DocId = if cfg!(test) { 64 } else { 1 << 16 };

/// Returns the top `limit` entries.
pub(crate) fn rank_entries(
    clauses: &[TermClause],
    filter: &EntryFilter,
    fields: &IndexFields,
    snapshot: &IndexSnapshot,
    limit: usize,
) -> tantivy::Result<Vec<IndexHit>> {
    let (mut races, mut listed) = (Vec::new(), 0);
    for (ordinal, segment) in snapshot.segments.iter().enumerate() {
        let lanes = clause_cursors(clauses, segment, &snapshot.weights)?;
        if lanes.is_empty() {
            continue;
        }
        listed += lanes.iter().map(|lane| u64::from(lane.postings.doc_freq())).sum::<u64>();
        let allowed = Arc::new(DocFilter::new(filter, fields, segment)?);
        races.push(SegmentSearch {
            cursors: lanes,
            segment,
            allowed,
            ordinal,
            end: segment.reader.max_doc(),
        });
    }
    let min_score = AtomicU32::new(1);
    let best = || TopK::new(snapshot, limit, &min_score);
    match thread_count(listed) {
        1 => run_searches(&mut || races.pop(), best()),
        threads => run_in_parallel(races, threads, best),
    }?
    .into_hits()
}

/// Runs the searches that `next` hands out.
fn run_searches<'r, 'b>(
    next: &mut dyn FnMut() -> Option<SegmentSearch<'r>>,
    mut best: TopK<'b>,
) -> tantivy::Result<TopK<'b>> {
    while let Some(race) = next() {
        race.run(&mut best)?;
    }
    Ok(best)
}

/// Runs the searches on several threads, each over a range of documents.
fn run_in_parallel<'b>(
    races: Vec<SegmentSearch<'_>>,
    threads: usize,
    best: impl Fn() -> TopK<'b> + Sync,
) -> tantivy::Result<TopK<'b>> {
    let parts: Vec<SegmentSearch<'_>> =
        races.into_iter().flat_map(|race| race.split(threads)).collect();
    let queue = Mutex::new(parts);
    let work = || {
        let mut next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop();
        run_searches(&mut next, best())
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for other in others {
            // Propagate panics.
            let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            all = all.and_then(|mut all| {
                all.merge(other?);
                Ok(all)
            });
        }
        all
    })
}

fn thread_count(listed: u64) -> usize {
    let cores = crate::available_cores().min(THREADS_MAX);
    usize::try_from(listed / POSTINGS_PER_THREAD).map_or(cores, |threads| threads.clamp(1, cores))
}

/// Iterator over one clause's postings in a segment.
#[derive(Clone)]
struct ClauseCursor<'a> {
    postings: BlockSegmentPostings,
    /// Position within the current block.
    at: usize,
    score: ClauseScore<'a>,
    /// Upper bound on the clause's contribution.
    max_score: u32,
}

#[derive(Clone)]
enum ClauseScore<'a> {
    /// Independent of the document.
    Flat(u32),
    /// Depends on the term's frequency and the text's length.
    Text { clause_weight: f32, weights: &'a Bm25Weights, segment: &'a SegmentSnapshot },
}

/// The clauses that occur in a segment, by ascending upper bound.
fn clause_cursors<'a>(
    clauses: &[TermClause],
    segment: &'a SegmentSnapshot,
    weights: &'a Bm25Weights,
) -> tantivy::Result<Vec<ClauseCursor<'a>>> {
    let mut lanes = Vec::new();
    for clause in clauses {
        lanes.extend(ClauseCursor::new(clause, segment, weights)?);
    }
    lanes.sort_by_key(|lane| lane.max_score);
    Ok(lanes)
}

impl<'a> ClauseCursor<'a> {
    fn new(
        clause: &TermClause,
        segment: &'a SegmentSnapshot,
        weights: &'a Bm25Weights,
    ) -> tantivy::Result<Option<Self>> {
        let with =
            if clause.in_text { IndexRecordOption::WithFreqs } else { IndexRecordOption::Basic };
        let Some(postings) = segment.postings(&clause.term, with)? else { return Ok(None) };
        let (score, most) = if clause.in_text {
            let text = ClauseScore::Text { clause_weight: clause.weight, weights, segment };
            (text, weights.max_text_score(clause.weight))
        } else {
            let flat = weights.flat_score(clause.weight);
            (ClauseScore::Flat(flat), flat)
        };
        Ok(Some(Self { postings, at: 0, score, max_score: most }))
    }

    fn doc(&self) -> DocId {
        self.postings.doc(self.at)
    }

    fn seek(&mut self, doc: DocId) {
        if self.doc() < doc {
            self.at = self.postings.seek(doc);
        }
    }

    fn score_at(&self, doc: DocId, at: usize) -> u32 {
        match &self.score {
            ClauseScore::Flat(flat) => *flat,
            ClauseScore::Text { clause_weight, weights, segment } => weights.text_score(
                *clause_weight,
                self.postings.freq(at),
                segment.lengths.fieldnorm_id(doc),
            ),
        }
    }

    /// Adds the clause's contributions within a window.
    fn add_to_window(&mut self, window: &mut ScoreWindow) {
        self.seek(window.from);
        while self.doc() < window.end {
            let docs = self.postings.docs();
            let end = docs.partition_point(|doc| *doc < window.end);
            let here = docs.get(self.at..end).unwrap_or_default();
            match &self.score {
                ClauseScore::Flat(flat) => here.iter().for_each(|doc| window.add(*doc, *flat)),
                ClauseScore::Text { clause_weight, weights, segment } => {
                    let frequencies = self.postings.freqs().get(self.at..end).unwrap_or_default();
                    for (doc, frequency) in here.iter().zip(frequencies) {
                        let length = segment.lengths.fieldnorm_id(*doc);
                        window.add(*doc, weights.text_score(*clause_weight, *frequency, length));
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

/// Partial scores of consecutive documents.
struct ScoreWindow {
    from: DocId,
    end: DocId,
    sums: Box<[u32; WINDOW]>,
    touched: [u64; WINDOW / 64],
}

impl ScoreWindow {
    fn add(&mut self, doc: DocId, score: u32) {
        let offset = (doc - self.from) as usize;
        if let Some(sum) = self.sums.get_mut(offset) {
            *sum = sum.saturating_add(score);
        }
        if let Some(bits) = self.touched.get_mut(offset / 64) {
            *bits |= 1 << (offset % 64);
        }
    }

    /// Passes the documents with a score to `take`, in order, and resets them.
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

/// The search of one segment, or of a range of its documents.
#[derive(Clone)]
struct SegmentSearch<'a> {
    cursors: Vec<ClauseCursor<'a>>,
    segment: &'a SegmentSnapshot,
    allowed: Arc<DocFilter>,
    ordinal: usize,
    /// Exclusive.
    end: DocId,
}

impl SegmentSearch<'_> {
    /// Splits the search into consecutive document ranges.
    fn split(self, parts: usize) -> Vec<Self> {
        let whole = self.end;
        if whole < SPLIT_DOCS_MIN {
            return vec![self];
        }
        let share = whole.div_ceil(DocId::try_from(parts).unwrap_or(1).max(1));
        let part = |from: DocId| {
            let mut part = Self { end: whole.min(from + share), ..self.clone() };
            part.cursors.iter_mut().for_each(|lane| lane.seek(from));
            part
        };
        (0..whole).step_by(share as usize).map(part).collect()
    }

    fn run(mut self, best: &mut TopK<'_>) -> tantivy::Result<()> {
        let mut window =
            ScoreWindow { from: 0, end: 0, sums: Box::new([0; WINDOW]), touched: [0; WINDOW / 64] };
        loop {
            let (rest, deciding, reach) = split_clauses(&mut self.cursors, best.min_score());
            let next = deciding.iter().map(ClauseCursor::doc).min().unwrap_or(TERMINATED);
            if next >= self.end {
                return Ok(());
            }
            let Some(from) = self.allowed.next_candidate(next).filter(|from| *from < self.end)
            else {
                return Ok(());
            };
            window.from = from;
            window.end = from.saturating_add(WINDOW_DOCS).min(self.end);
            for lane in deciding {
                lane.add_to_window(&mut window);
            }
            let (segment, allowed, ordinal) = (self.segment, &self.allowed, self.ordinal);
            window.drain(|doc, sum| {
                let may = sum.saturating_add(reach) >= best.min_score();
                if may && allowed.contains(doc) && segment.is_alive(doc) {
                    let score = complete_score(doc, sum, reach, rest, best.min_score());
                    best.push(score, ordinal, doc)?;
                }
                Ok(())
            })?;
        }
    }
}

/// Splits the clauses into those whose combined upper bound stays below the minimum score, and the
/// others. Also returns that bound.
fn split_clauses<'l, 'a>(
    lanes: &'l mut [ClauseCursor<'a>],
    min_score: u32,
) -> (&'l mut [ClauseCursor<'a>], &'l mut [ClauseCursor<'a>], u32) {
    let mut reach = 0_u32;
    let mut count = 0;
    for lane in lanes.iter() {
        let further = reach.saturating_add(lane.max_score);
        if further >= min_score {
            break;
        }
        reach = further;
        count += 1;
    }
    let (rest, deciding) = lanes.split_at_mut(count);
    (rest, deciding, reach)
}

/// Completes a document's score, or stops once it is certain to stay below the minimum.
fn complete_score(
    doc: DocId,
    sum: u32,
    reach: u32,
    rest: &mut [ClauseCursor<'_>],
    min_score: u32,
) -> u32 {
    let (mut score, mut reach) = (sum, reach);
    for lane in rest.iter_mut().rev() {
        if score.saturating_add(reach) < min_score {
            return score;
        }
        lane.seek(doc);
        if lane.doc() == doc {
            score = score.saturating_add(lane.score_at(doc, lane.at));
        }
        reach = reach.saturating_sub(lane.max_score);
    }
    score
}
