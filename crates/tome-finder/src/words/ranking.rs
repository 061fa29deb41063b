//! The best entries of a snapshot for the clauses of a question: BM25, exactly.
//!
//! Entries are gone through in windows. Clauses that can decide alone whether an entry is among the
//! best are added up over a window; the others are looked up for the entries that may still make it.
//! The better the worst of the best so far, the fewer clauses decide alone (the method is known as
//! MaxScore).
//!
//! Scores are whole numbers (2^16 is one), so that their sum is the same in whatever order it is made
//! up, and with it the answer, however the entries are spread over segments.

use tantivy::postings::BlockSegmentPostings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, TERMINATED};

use super::allowed::Allowed;
use super::best::Best;
use super::question::Clause;
use super::schema::Fields;
use super::snapshot::{Segment, Snapshot};
use super::weight::Weights;
use crate::Filter;

/// Entries that are added up at a time.
const WINDOW_DOCS: DocId = 4_096;
const WINDOW: usize = WINDOW_DOCS as usize;

/// Finds the best.
pub(crate) fn rank(
    clauses: &[Clause],
    filter: &Filter,
    fields: &Fields,
    snapshot: &Snapshot,
    best: &mut Best<'_>,
) -> tantivy::Result<()> {
    for (ordinal, segment) in snapshot.segments.iter().enumerate() {
        let lanes = lanes(clauses, segment, &snapshot.weights)?;
        if lanes.is_empty() {
            continue;
        }
        let allowed = Allowed::new(filter, fields, segment)?;
        Race { lanes, segment, allowed, ordinal }.run(best)?;
    }
    Ok(())
}

/// One clause's way through a segment.
struct Lane<'a> {
    postings: BlockSegmentPostings,
    /// Where in the block it is.
    at: usize,
    worth: Worth<'a>,
    /// No entry gets more by this clause.
    most: u32,
}

/// What a match is worth.
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
struct Race<'a> {
    lanes: Vec<Lane<'a>>,
    segment: &'a Segment,
    allowed: Allowed,
    ordinal: usize,
}

impl Race<'_> {
    fn run(mut self, best: &mut Best<'_>) -> tantivy::Result<()> {
        let mut window =
            Window { from: 0, end: 0, sums: Box::new([0; WINDOW]), touched: [0; WINDOW / 64] };
        loop {
            let (rest, deciding, reach) = split(&mut self.lanes, best.floor());
            let next = deciding.iter().map(Lane::doc).min().unwrap_or(TERMINATED);
            if next >= self.segment.reader.max_doc() {
                return Ok(());
            }
            let Some(from) = self.allowed.next(next) else { return Ok(()) };
            window.from = from;
            window.end = from.saturating_add(WINDOW_DOCS);
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
