//! Cuts: which bytes go, and the mark that stands in their place.
//!
//! `[redacted:kind]` for a secret, `[private]` for a private part. A mark that a text already holds
//! is never cut in two and never replaced by itself: that is what makes redaction idempotent.

use super::scan::Scan;

/// The longest kind in a mark.
pub(super) const KIND_BYTES_MAX: usize = 32;
const OPEN: &str = "[redacted:";
const PRIVATE: &str = "[private]";

/// What stands where something was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark<'r> {
    Private,
    Secret(&'r str),
}

impl Mark<'_> {
    pub fn len(self) -> usize {
        match self {
            Self::Private => PRIVATE.len(),
            Self::Secret(kind) => OPEN.len() + kind.len() + 1,
        }
    }

    pub fn push_to(self, out: &mut String) {
        match self {
            Self::Private => out.push_str(PRIVATE),
            Self::Secret(kind) => {
                out.push_str(OPEN);
                out.push_str(kind);
                out.push(']');
            }
        }
    }
}

/// How sure a matcher is of the kind. Where cuts meet, the surer one names the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sure {
    /// Its own words say so: private tags, the user's patterns.
    Said,
    /// The token carries its issuer's prefix.
    Prefixed,
    /// It stands where only a secret stands.
    Placed,
    /// It looks like one.
    Guessed,
}

/// Bytes to cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut<'r> {
    pub start: usize,
    pub end: usize,
    pub mark: Mark<'r>,
    pub sure: Sure,
}

impl<'r> Cut<'r> {
    pub fn secret(start: usize, end: usize, kind: &'r str, sure: Sure) -> Self {
        Self { start, end, mark: Mark::Secret(kind), sure }
    }
}

/// Where the mark that starts here ends.
pub(super) fn mark_end(scan: Scan<'_>, at: usize) -> Option<usize> {
    if scan.starts(at, PRIVATE) {
        return Some(at + PRIVATE.len());
    }
    if !scan.starts(at, OPEN) {
        return None;
    }
    let kind = at + OPEN.len();
    let end = scan.run(kind, is_kind);
    let fits = end > kind && end - kind <= KIND_BYTES_MAX;
    (fits && scan.byte(end) == b']').then_some(end + 1)
}

/// The mark around a place, if the place is inside one.
pub(super) fn mark_around(scan: Scan<'_>, at: usize) -> Option<(usize, usize)> {
    let longest = OPEN.len() + KIND_BYTES_MAX + 1;
    let start = scan.run_back(at, longest, |b| b != b'[').checked_sub(1)?;
    let end = mark_end(scan, start)?;
    (end > at).then_some((start, end))
}

/// Letters of a kind.
pub(super) fn is_kind(b: u8) -> bool {
    b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'
}

/// Sorts cuts, frees the marks at their edges, and joins those that meet. What is left is disjoint,
/// in order, and each holds at least one byte that is no mark.
pub(super) fn settle<'r>(cuts: &mut Vec<Cut<'r>>, scan: Scan<'_>) {
    for cut in cuts.iter_mut() {
        free_marks(cut, scan);
    }
    cuts.retain(|cut| cut.start < cut.end);
    join(cuts);
}

/// Joins cuts that overlap, and those that touch and have the same mark.
pub(super) fn join(cuts: &mut Vec<Cut<'_>>) {
    cuts.sort_by_key(|cut| (cut.start, cut.end));
    cuts.dedup_by(|next, kept| {
        let touch = next.start == kept.end && next.mark == kept.mark;
        if next.start >= kept.end && !touch {
            return false;
        }
        kept.end = kept.end.max(next.end);
        if next.sure < kept.sure {
            kept.sure = next.sure;
            kept.mark = next.mark;
        }
        true
    });
}

fn free_marks(cut: &mut Cut<'_>, scan: Scan<'_>) {
    if let Some((_, end)) = mark_around(scan, cut.start) {
        cut.start = end;
    }
    while let Some(end) = mark_end(scan, cut.start) {
        cut.start = end;
    }
    while cut.start < cut.end {
        // A mark that reaches to or over the end of the cut.
        match mark_around(scan, cut.end - 1) {
            Some((start, _)) => cut.end = start,
            None => match mark_end(scan, cut.end - 1) {
                Some(_) => cut.end -= 1,
                None => return,
            },
        }
    }
}

/// The text with its cuts made.
pub(super) fn render(text: &str, cuts: &[Cut<'_>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for cut in cuts {
        out.push_str(Scan(text).part(from, cut.start));
        cut.mark.push_to(&mut out);
        from = cut.end;
    }
    out.push_str(Scan(text).part(from, text.len()));
    out
}

/// Takes cuts found in the rendered text back to the source and adds them to those already made.
pub(super) fn add_rendered<'r>(cuts: &mut Vec<Cut<'r>>, found: Vec<Cut<'r>>) {
    let mut made = cuts.clone().into_iter().peekable();
    // What to add to a rendered place to get the source's: grows with each mark that is passed.
    let (mut source, mut rendered) = (0usize, 0usize);
    let mut place = |at: usize| {
        while let Some(cut) = made.next_if(|cut| {
            let mark_start = rendered + (cut.start - source);
            mark_start + cut.mark.len() <= at
        }) {
            rendered += cut.start - source + cut.mark.len();
            source = cut.end;
        }
        source + (at - rendered)
    };
    for cut in found {
        let (start, end) = (place(cut.start), place(cut.end));
        cuts.push(Cut { start, end, ..cut });
    }
    join(cuts);
}
