//! What a scan has seen: the best of it, so many at most, whatever the size of what was scanned.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use tome_finder::{Filter, Key, Part, Source};
use tome_model::Millis;
use tome_text::excerpt_around;

use super::limits::{ASK_EVERY_BYTES, SEEN_MAX, SNIPPET_CHARS_MAX, UNREAD_MAX};
use super::{Look, Needle};

/// What to scan for.
#[derive(Clone, Copy)]
pub(crate) struct Hunt<'a> {
    /// What is looked for.
    pub needle: &'a Needle,
    /// What may be seen at all.
    pub filter: &'a Filter,
    /// At most so many, the best.
    pub limit: usize,
    /// Asked now and then, by every thread that scans: true ends the scan.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// What a scan has seen.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Scan {
    /// The best first; of equal ones the newest.
    pub seen: Vec<Seen>,
    /// How many matched, those beyond the limit among them.
    pub matched: u64,
    /// How many were looked at.
    pub looked: u64,
    /// Whether it was stopped before everything was looked at.
    pub cut: bool,
    /// What could not be read, and why; of very many only the first.
    pub unread: Vec<String>,
}

/// Something that matches.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    /// An event by its number in the outbox; a line of a file by the id of its event, where it has
    /// one; a note by its path in its notebook; a node or a grip by its id.
    pub key: Key,
    /// What kind of thing it is.
    pub source: Source,
    /// When it happened or was last changed; 0 where nothing says it.
    pub at: Millis,
    /// The line of the match in a file, from 1; 0 where there is no file.
    pub line: u32,
    /// The root of its project; empty for the coder's.
    pub project: String,
    /// Its session; empty where there is none.
    pub session: String,
    /// Its agent; empty where there is none.
    pub agent: String,
    /// The kind of event; empty for other things.
    pub kind: String,
    /// What it is called.
    pub title: String,
    /// The best place: bytes of what an event says, of a note's file, of a node's bullets on lines of
    /// their own, of a grip's excerpt.
    pub part: Part,
    /// How well it matches.
    pub look: Look,
    /// What is there to see; empty for an event of the ledger, which is read again to be shown.
    pub snippet: String,
}

/// What is known of a thing before it is looked at.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct About<'a> {
    pub at: Millis,
    pub project: &'a str,
    pub session: &'a str,
    pub agents: &'a [&'a str],
    pub kind: &'a str,
}

/// Whether a filter lets a thing be seen.
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

/// What something has to score to be among the best, as far as those know who scan parts of one whole.
#[derive(Debug, Default)]
pub(super) struct Floor(AtomicU32);

impl Floor {
    fn get(&self) -> f32 {
        f32::from_bits(self.0.load(Relaxed))
    }

    /// The bits of numbers that are not negative are in the order of the numbers.
    fn raise(&self, score: f32) {
        self.0.fetch_max(score.max(0.0).to_bits(), Relaxed);
    }
}

/// A scan under way, of a whole or of one of its parts.
pub(super) struct Scanning<'a> {
    pub hunt: Hunt<'a>,
    floor: Option<&'a Floor>,
    scan: Scan,
    best: BinaryHeap<Reverse<Ranked>>,
    /// What was looked at since it was last asked whether to stop.
    unasked_bytes: usize,
}

impl<'a> Scanning<'a> {
    pub fn new(hunt: Hunt<'a>) -> Self {
        let hunt = Hunt { limit: hunt.limit.min(SEEN_MAX), ..hunt };
        let (scan, best) = (Scan::default(), BinaryHeap::new());
        Self { hunt, floor: None, scan, best, unasked_bytes: usize::MAX }
    }

    /// A scan of one part.
    pub fn of_part(hunt: Hunt<'a>, floor: &'a Floor) -> Self {
        Self { floor: Some(floor), ..Self::new(hunt) }
    }

    /// The scans of all parts, in their order, as the scan of the whole that they are.
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

    /// What scores less than this is not among the best.
    pub fn least(&self) -> f32 {
        let own = match self.best.peek() {
            Some(Reverse(last)) if self.best.len() >= self.hunt.limit => last.ranked.0,
            _ => 0.0,
        };
        self.floor.map_or(own, |floor| own.max(floor.get()))
    }

    /// Whether to look at one more thing of this size.
    pub fn goes_on(&mut self, bytes: usize) -> bool {
        // Reading costs something even where there is nothing to read.
        self.unasked_bytes = self.unasked_bytes.saturating_add(bytes).saturating_add(1_024);
        if self.unasked_bytes >= ASK_EVERY_BYTES {
            self.unasked_bytes = 0;
            self.scan.cut = self.scan.cut || (self.hunt.stop)();
        }
        !self.scan.cut
    }

    /// One more was looked at.
    pub fn looked(&mut self) {
        self.scan.looked += 1;
    }

    pub fn unread(&mut self, what: String) {
        if self.scan.unread.len() < UNREAD_MAX {
            self.scan.unread.push(what);
        }
    }

    /// One more matches. It is made only if it is among the best.
    pub fn found(&mut self, at: Millis, look: Look, make: impl FnOnce(Look) -> Seen) {
        self.scan.matched += 1;
        let ranked = (look.score(), at, Reverse(self.scan.matched));
        if self.has_room_for(&ranked) {
            self.keep(Ranked { ranked, seen: make(look) });
        }
    }

    /// One more matches, and is not among the best.
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

/// Score, age, and the order in which they came.
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

/// The place of a look, as a part of a text that begins at a byte of a larger one.
pub(super) fn part_of(look: &Look, from: usize) -> Part {
    let byte = |at: usize| u32::try_from(from.saturating_add(at)).unwrap_or(u32::MAX);
    Part { from: byte(look.range.start), to: byte(look.range.end) }
}

/// What is shown of a text.
pub(super) fn shown(text: &str, look: &Look) -> String {
    excerpt_around(text, &look.range, SNIPPET_CHARS_MAX)
}
