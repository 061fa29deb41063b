//! The state of a scan: keeps the best matches up to a limit, however much is scanned.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use tome_finder::{ByteRange, EntryFilter, EntryKey, RecordKind};
use tome_model::Millis;
use tome_text::{LineBreaks, excerpt_around};

use super::limits::{MATCHES_MAX, SNIPPET_CHARS_MAX, STOP_CHECK_BYTES, UNREAD_MAX};
use super::{Matcher, TextMatch};

#[derive(Clone, Copy)]
pub(crate) struct ScanQuery<'a> {
    pub matcher: &'a Matcher,
    /// Records that may match.
    pub filter: &'a EntryFilter,
    /// Maximum number of matches to keep.
    pub limit: usize,
    /// Called regularly by every scanning thread; `true` ends the scan.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Scan {
    /// Best first; ties newest first.
    pub matches: Vec<ScanMatch>,
    /// Number of matches, including those beyond the limit.
    pub matched: u64,
    /// Number of records scanned.
    pub scanned: u64,
    /// Whether the scan was stopped early.
    pub was_stopped: bool,
    /// Records that could not be read, with the reason; only the first ones.
    pub unread: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScanMatch {
    /// An event by its sequence number, a transcript line by its event id if it has one, a note by
    /// its path, a node or source by its id.
    pub key: EntryKey,
    pub source: RecordKind,
    /// Time of the event, or of the last change; 0 if unknown.
    pub at: Millis,
    /// Line of the match in its file, counted from 1; 0 if there is no file.
    pub line: u32,
    /// Root folder of the project; empty for the coder's notebook.
    pub project: String,
    /// Empty if there is none.
    pub session: String,
    /// Empty if there is none.
    pub agent: String,
    /// Name of the event kind; empty for other records.
    pub kind: String,
    pub title: String,
    /// Byte range of the best window: in an event's text, a note's file, a node's joined bullets,
    /// or a source's excerpt.
    pub range: ByteRange,
    pub text_match: TextMatch,
    /// Empty for an event of the ledger, which is read again when shown.
    pub snippet: String,
}

/// Minimum score to be among the best, shared by the threads of a scan.
#[derive(Debug, Default)]
pub(super) struct SharedMinScore(AtomicU32);

impl SharedMinScore {
    fn get(&self) -> f32 {
        f32::from_bits(self.0.load(Relaxed))
    }

    /// Comparing bits works, because non-negative floats have the same order as their bits.
    fn raise(&self, score: f32) {
        self.0.fetch_max(score.max(0.0).to_bits(), Relaxed);
    }
}

/// A scan in progress, of everything or of one part.
pub(super) struct ScanState<'a> {
    pub query: ScanQuery<'a>,
    min_score: Option<&'a SharedMinScore>,
    scan: Scan,
    best: BinaryHeap<Reverse<RankedMatch>>,
    /// Bytes scanned since the last check for cancellation.
    unchecked_bytes: usize,
}

impl<'a> ScanState<'a> {
    pub fn new(scan_query: ScanQuery<'a>) -> Self {
        let scan_query = ScanQuery { limit: scan_query.limit.min(MATCHES_MAX), ..scan_query };
        let (scan, best) = (Scan::default(), BinaryHeap::new());
        Self { query: scan_query, min_score: None, scan, best, unchecked_bytes: usize::MAX }
    }

    pub fn for_part(scan_query: ScanQuery<'a>, min_score: &'a SharedMinScore) -> Self {
        Self { min_score: Some(min_score), ..Self::new(scan_query) }
    }

    /// Merges the scans of all parts, in order.
    pub fn merge(scan_query: ScanQuery<'a>, scans: Vec<Self>) -> Scan {
        let mut merged = Self::new(scan_query);
        for partial in scans {
            let before = merged.scan.matched;
            for Reverse(mut hit) in partial.best {
                hit.rank.2.0 += before;
                if merged.qualifies(&hit.rank) {
                    merged.insert(hit);
                }
            }
            merged.scan.matched += partial.scan.matched;
            merged.scan.scanned += partial.scan.scanned;
            merged.scan.was_stopped |= partial.scan.was_stopped;
            partial.scan.unread.into_iter().for_each(|what| merged.report_unread(what));
        }
        merged.finish()
    }

    /// Minimum score to be among the best.
    pub fn min_score(&self) -> f32 {
        let local = match self.best.peek() {
            Some(Reverse(last)) if self.best.len() >= self.query.limit => last.rank.0,
            _ => 0.0,
        };
        self.min_score.map_or(local, |shared| local.max(shared.get()))
    }

    /// Returns whether to scan one more record of this size.
    pub fn should_continue(&mut self, bytes: usize) -> bool {
        // Charge a fixed cost per record, even for empty ones.
        self.unchecked_bytes = self.unchecked_bytes.saturating_add(bytes).saturating_add(1_024);
        if self.unchecked_bytes >= STOP_CHECK_BYTES {
            self.unchecked_bytes = 0;
            self.scan.was_stopped = self.scan.was_stopped || (self.query.stop)();
        }
        !self.scan.was_stopped
    }

    pub fn count_scanned(&mut self) {
        self.scan.scanned += 1;
    }

    pub fn report_unread(&mut self, what: String) {
        if self.scan.unread.len() < UNREAD_MAX {
            self.scan.unread.push(what);
        }
    }

    /// Adds a match. Builds it only if it is among the best.
    pub fn add_match(
        &mut self,
        at: Millis,
        text_match: TextMatch,
        make: impl FnOnce(TextMatch) -> ScanMatch,
    ) {
        self.scan.matched += 1;
        let ranked = (text_match.score(), at, Reverse(self.scan.matched));
        if self.qualifies(&ranked) {
            self.insert(RankedMatch { rank: ranked, scan_match: make(text_match) });
        }
    }

    /// Counts a match that is not among the best.
    pub fn count_match(&mut self) {
        self.scan.matched += 1;
    }

    fn qualifies(&self, ranked: &MatchRank) -> bool {
        let is_worse = |last: &Reverse<RankedMatch>| last.0.compare_rank(ranked).is_lt();
        self.best.len() < self.query.limit || self.best.peek().is_some_and(is_worse)
    }

    fn insert(&mut self, one: RankedMatch) {
        if self.best.len() >= self.query.limit {
            self.best.pop();
        }
        self.best.push(Reverse(one));
        if let Some(min_score) = self.min_score.filter(|_| self.best.len() >= self.query.limit)
            && let Some(Reverse(last)) = self.best.peek()
        {
            min_score.raise(last.rank.0);
        }
    }

    pub fn finish(mut self) -> Scan {
        // Reversed, so the best come first.
        self.scan.matches =
            self.best.into_sorted_vec().into_iter().map(|Reverse(one)| one.scan_match).collect();
        self.scan
    }
}

/// Score, time and order of arrival.
type MatchRank = (f32, Millis, Reverse<u64>);

struct RankedMatch {
    rank: MatchRank,
    scan_match: ScanMatch,
}

impl RankedMatch {
    fn compare_rank(&self, (score, at, nth): &MatchRank) -> Ordering {
        let (own_score, own_at, own_nth) = &self.rank;
        own_score.total_cmp(score).then(own_at.cmp(at)).then(own_nth.cmp(nth))
    }
}

impl Ord for RankedMatch {
    fn cmp(&self, other: &Self) -> Ordering {
        self.compare_rank(&other.rank)
    }
}

impl PartialOrd for RankedMatch {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RankedMatch {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for RankedMatch {}

/// Byte range of a match in a text that starts at offset `from` of a larger one.
pub(super) fn match_range(text_match: &TextMatch, from: usize) -> ByteRange {
    let byte = |at: usize| u32::try_from(from.saturating_add(at)).unwrap_or(u32::MAX);
    ByteRange { from: byte(text_match.range.start), to: byte(text_match.range.end) }
}

pub(super) fn build_snippet(text: &str, text_match: &TextMatch) -> String {
    excerpt_around(text, &text_match.range, SNIPPET_CHARS_MAX, LineBreaks::Join)
}
