//! Cuts: byte ranges and the marks that replace them.
//!
//! `[redacted:kind]` replaces a secret, `[private]` a private part. A mark that is already in the
//! text is never split or replaced, which makes redaction idempotent.

use super::haystack::Haystack;

/// Longest kind in a mark.
pub(crate) const KIND_BYTES_MAX: usize = 32;
const SECRET_OPEN: &str = "[redacted:";
const PRIVATE_MARK: &str = "[private]";

/// The replacement text of a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedactionMark<'r> {
    /// `[private]`
    Private,
    /// `[redacted:kind]`
    Secret(&'r str),
}

#[expect(clippy::len_without_is_empty, reason = "a mark is never empty")]
impl RedactionMark<'_> {
    /// Length in bytes.
    pub fn len(self) -> usize {
        match self {
            Self::Private => PRIVATE_MARK.len(),
            Self::Secret(kind) => SECRET_OPEN.len() + kind.len() + 1,
        }
    }

    /// Appends the mark to a text.
    pub fn push_to(self, out: &mut String) {
        match self {
            Self::Private => out.push_str(PRIVATE_MARK),
            Self::Secret(kind) => {
                out.push_str(SECRET_OPEN);
                out.push_str(kind);
                out.push(']');
            }
        }
    }
}

/// How certain a matcher is of the kind. The most certain of several overlapping cuts determines
/// the mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CutCertainty {
    /// Private tags and patterns that the user configured.
    UserMarked,
    /// The token has the prefix of its issuer.
    KnownPrefix,
    /// The value is in a position where only a secret occurs.
    SecretPosition,
    LooksRandom,
}

/// A byte range to replace with a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RedactionCut<'r> {
    /// First byte of the range.
    pub start: usize,
    /// End of the range.
    pub end: usize,
    /// The replacement text.
    pub mark: RedactionMark<'r>,
    pub(crate) certainty: CutCertainty,
}

impl<'r> RedactionCut<'r> {
    pub(crate) fn secret(start: usize, end: usize, kind: &'r str, certainty: CutCertainty) -> Self {
        Self { start, end, mark: RedactionMark::Secret(kind), certainty }
    }
}

/// The end of the mark that starts here.
pub(crate) fn find_mark_end(hay: Haystack<'_>, at: usize) -> Option<usize> {
    if hay.starts_with(at, PRIVATE_MARK) {
        return Some(at + PRIVATE_MARK.len());
    }
    if !hay.starts_with(at, SECRET_OPEN) {
        return None;
    }
    let kind = at + SECRET_OPEN.len();
    let end = hay.skip_while(kind, is_kind_byte);
    let fits = end > kind && end - kind <= KIND_BYTES_MAX;
    (fits && hay.byte_at(end) == b']').then_some(end + 1)
}

/// The range of the mark around a position, if there is one.
pub fn find_mark_around(text: &str, at: usize) -> Option<(usize, usize)> {
    find_mark_range(Haystack(text), at)
}

pub(crate) fn find_mark_range(hay: Haystack<'_>, at: usize) -> Option<(usize, usize)> {
    let longest = SECRET_OPEN.len() + KIND_BYTES_MAX + 1;
    let start = hay.skip_back_while(at, longest, |b| b != b'[').checked_sub(1)?;
    let end = find_mark_end(hay, start)?;
    (end > at).then_some((start, end))
}

/// Whether a byte may occur in a kind.
pub(crate) fn is_kind_byte(b: u8) -> bool {
    b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'
}

/// Sorts cuts, excludes marks at their edges, and joins overlapping ones. The result is disjoint
/// and ordered, and every cut contains at least one byte outside a mark.
pub(crate) fn normalize_cuts<'r>(cuts: &mut Vec<RedactionCut<'r>>, hay: Haystack<'_>) {
    for cut in cuts.iter_mut() {
        exclude_marks(cut, hay);
    }
    cuts.retain(|cut| cut.start < cut.end);
    join_cuts(cuts);
}

/// Joins cuts that overlap, or that touch and have the same mark.
pub(crate) fn join_cuts(cuts: &mut Vec<RedactionCut<'_>>) {
    cuts.sort_by_key(|cut| (cut.start, cut.end));
    cuts.dedup_by(|next, kept| {
        let touch = next.start == kept.end && next.mark == kept.mark;
        if next.start >= kept.end && !touch {
            return false;
        }
        kept.end = kept.end.max(next.end);
        if next.certainty < kept.certainty {
            kept.certainty = next.certainty;
            kept.mark = next.mark;
        }
        true
    });
}

fn exclude_marks(cut: &mut RedactionCut<'_>, hay: Haystack<'_>) {
    if let Some((_, end)) = find_mark_range(hay, cut.start) {
        cut.start = end;
    }
    while let Some(end) = find_mark_end(hay, cut.start) {
        cut.start = end;
    }
    while cut.start < cut.end {
        // A mark that reaches or crosses the end of the cut.
        match find_mark_range(hay, cut.end - 1) {
            Some((start, _)) => cut.end = start,
            None => match find_mark_end(hay, cut.end - 1) {
                Some(_) => cut.end -= 1,
                None => return,
            },
        }
    }
}

/// Replaces the cuts of a text with their marks. Cuts must be disjoint and ordered.
pub fn apply_cuts(text: &str, cuts: &[RedactionCut<'_>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for cut in cuts {
        out.push_str(Haystack(text).slice(from, cut.start));
        cut.mark.push_to(&mut out);
        from = cut.end;
    }
    out.push_str(Haystack(text).slice(from, text.len()));
    out
}

/// Adds cuts found in the text after the first cuts were applied, mapped back to the source.
pub(crate) fn add_rendered_cuts<'r>(
    cuts: &mut Vec<RedactionCut<'r>>,
    found: Vec<RedactionCut<'r>>,
) {
    let mut applied = cuts.clone().into_iter().peekable();
    // Positions after the last mark passed, in the source and in the rendered text.
    let (mut source, mut rendered) = (0usize, 0usize);
    let mut to_source = |at: usize| {
        while let Some(cut) = applied.next_if(|cut| {
            let mark_start = rendered + (cut.start - source);
            mark_start + cut.mark.len() <= at
        }) {
            rendered += cut.start - source + cut.mark.len();
            source = cut.end;
        }
        source + (at - rendered)
    };
    for cut in found {
        let (start, end) = (to_source(cut.start), to_source(cut.end));
        cuts.push(RedactionCut { start, end, ..cut });
    }
    join_cuts(cuts);
}
