//! The state of a scan: keeps the best matches up to a limit, however much is scanned.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use tome_finder::{Filter, Key, Part, Source};
use tome_model::Millis;
use tome_text::excerpt_around;

use super::limits::{ASK_EVERY_BYTES, SEEN_MAX, SNIPPET_CHARS_MAX, UNREAD_MAX};
use super::{Look, Needle};

/// Parameters of a scan.
#[derive(Clone, Copy)]
pub(crate) struct Hunt<'a> {
    pub needle: &'a Needle,
    /// Records that may match.
    pub filter: &'a Filter,
    /// Maximum number of matches to keep.
    pub limit: usize,
    /// Called regularly by every scanning thread; `true` ends the scan.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// Result of a scan.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Scan {
    /// Best first; ties newest first.
    pub seen: Vec<Seen>,
    /// Number of matches, including those beyond the limit.
    pub matched: u64,
    /// Number of records scanned.
    pub looked: u64,
    /// Whether the scan was stopped early.
    pub cut: bool,
    /// Records that could not be read, with the reason; only the first ones.
    pub unread: Vec<String>,
}

/// A record that matches.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    /// An event by its sequence number, a transcript line by its event id if it has one, a note by
    /// its path, a node or source by its id.
    pub key: Key,
    pub source: Source,
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
    pub part: Part,
    pub look: Look,
    /// Empty for an event of the ledger, which is read again when shown.
    pub snippet: String,
}

/// Metadata that a filter tests before a record is matched.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct About<'a> {
    pub at: Millis,
    pub project: &'a str,
    pub session: &'a str,
    pub agents: &'a [&'a str],
    pub kind: &'a str,
}

/// Returns whether a filter admits a record.
pub(super) fn allows(filter: &Filter, source: Source, about: &About<'_>) -> bool {
    let is_one =
        |wanted: &Option<String>, has: &str| wanted.as_deref().is_none_or(|one| one == has);
    let is_in = |wanted: &[String], has: &str| wanted.iter().any(|one| one == has);
    (filter.sources.is_empty() || filter.sources.contains(&source))
        && is_one(&filter.project, about.project)
        && is_one(&filter.session, about.session)
        && (filter.agents.is_empty()
            || about.agents.iter().any(|agent| is_in(&filter.agents, agent)))
        && (filter.kinds.is_empty() || is_in(&filter.kinds, about.kind))
        && filter.since.is_none_or(|since| about.at >= since)
        && filter.until.is_none_or(|until| about.at < until)
}

/// Minimum score to be among the best, shared by the threads of a scan.
#[derive(Debug, Default)]
pub(super) struct Floor(AtomicU32);

impl Floor {
    fn get(&self) -> f32 {
        f32::from_bits(self.0.load(Relaxed))
    }

    /// Comparing bits works, because non-negative floats have the same order as their bits.
    fn raise(&self, score: f32) {
        self.0.fetch_max(score.max(0.0).to_bits(), Relaxed);
    }
}

/// A scan in progress, of everything or of one part.
pub(super) struct Scanning<'a> {
    pub hunt: Hunt<'a>,
    floor: Option<&'a Floor>,
    scan: Scan,
    best: BinaryHeap<Reverse<Ranked>>,
    /// Bytes scanned since the last check for cancellation.
    unasked_bytes: usize,
}

impl<'a> Scanning<'a> {
    pub fn new(hunt: Hunt<'a>) -> Self {
        let hunt = Hunt { limit: hunt.limit.min(SEEN_MAX), ..hunt };
        let (scan, best) = (Scan::default(), BinaryHeap::new());
        Self { hunt, floor: None, scan, best, unasked_bytes: usize::MAX }
    }

    pub fn of_part(hunt: Hunt<'a>, floor: &'a Floor) -> Self {
        Self { floor: Some(floor), ..Self::new(hunt) }
    }

    /// Merges the scans of all parts, in order.
    pub fn joined(hunt: Hunt<'a>, parts: Vec<Self>) -> Scan {
        let mut whole = Self::new(hunt);
        for part in parts {
            let before = whole.scan.matched;
            for Reverse(mut one) in part.best {
                one.ranked.2.0 += before;
                if whole.has_room_for(&one.ranked) {
                    whole.keep(one);
                }
            }
            whole.scan.matched += part.scan.matched;
            whole.scan.looked += part.scan.looked;
            whole.scan.cut |= part.scan.cut;
            part.scan.unread.into_iter().for_each(|what| whole.unread(what));
        }
        whole.done()
    }

    /// Minimum score to be among the best.
    pub fn least(&self) -> f32 {
        let own = match self.best.peek() {
            Some(Reverse(last)) if self.best.len() >= self.hunt.limit => last.ranked.0,
            _ => 0.0,
        };
        self.floor.map_or(own, |floor| own.max(floor.get()))
    }

    /// Returns whether to scan one more record of this size.
    pub fn goes_on(&mut self, bytes: usize) -> bool {
        // Charge a fixed cost per record, even for empty ones.
        self.unasked_bytes = self.unasked_bytes.saturating_add(bytes).saturating_add(1_024);
        if self.unasked_bytes >= ASK_EVERY_BYTES {
            self.unasked_bytes = 0;
            self.scan.cut = self.scan.cut || (self.hunt.stop)();
        }
        !self.scan.cut
    }

    pub fn looked(&mut self) {
        self.scan.looked += 1;
    }

    pub fn unread(&mut self, what: String) {
        if self.scan.unread.len() < UNREAD_MAX {
            self.scan.unread.push(what);
        }
    }

    /// Adds a match. Builds it only if it is among the best.
    pub fn found(&mut self, at: Millis, look: Look, make: impl FnOnce(Look) -> Seen) {
        self.scan.matched += 1;
        let ranked = (look.score(), at, Reverse(self.scan.matched));
        if self.has_room_for(&ranked) {
            self.keep(Ranked { ranked, seen: make(look) });
        }
    }

    /// Counts a match that is not among the best.
    pub fn found_below(&mut self) {
        self.scan.matched += 1;
    }

    fn has_room_for(&self, ranked: &Rank) -> bool {
        let is_worse = |last: &Reverse<Ranked>| last.0.order(ranked).is_lt();
        self.best.len() < self.hunt.limit || self.best.peek().is_some_and(is_worse)
    }

    fn keep(&mut self, one: Ranked) {
        if self.best.len() >= self.hunt.limit {
            self.best.pop();
        }
        self.best.push(Reverse(one));
        if let Some(floor) = self.floor.filter(|_| self.best.len() >= self.hunt.limit)
            && let Some(Reverse(last)) = self.best.peek()
        {
            floor.raise(last.ranked.0);
        }
    }

    pub fn done(mut self) -> Scan {
        // Reversed, so the best come first.
        self.scan.seen =
            self.best.into_sorted_vec().into_iter().map(|Reverse(one)| one.seen).collect();
        self.scan
    }
}

/// Score, time and order of arrival.
type Rank = (f32, Millis, Reverse<u64>);

struct Ranked {
    ranked: Rank,
    seen: Seen,
}

impl Ranked {
    fn order(&self, (score, at, nth): &Rank) -> Ordering {
        let (own_score, own_at, own_nth) = &self.ranked;
        own_score.total_cmp(score).then(own_at.cmp(at)).then(own_nth.cmp(nth))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order(&other.ranked)
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

/// Byte range of a match in a text that starts at offset `from` of a larger one.
pub(super) fn part_of(look: &Look, from: usize) -> Part {
    let byte = |at: usize| u32::try_from(from.saturating_add(at)).unwrap_or(u32::MAX);
    Part { from: byte(look.range.start), to: byte(look.range.end) }
}

pub(super) fn shown(text: &str, look: &Look) -> String {
    excerpt_around(text, &look.range, SNIPPET_CHARS_MAX)
}
