//! Private parts: `<private>…</private>`, which must not be stored.
//!
//! Tags are case-insensitive and may have whitespace and attributes. They nest; the outermost pair
//! counts. An unclosed opening tag makes the rest of the text private. A closing tag without an
//! opening one, or inside an attribute, is ordinary text.

use memchr::memchr_iter;

use super::cut::{CutCertainty, RedactionCut, RedactionMark};
use super::haystack::Haystack;

/// Length limit of a tag's attributes.
const TAG_BYTES_MAX: usize = 4096;
const TAG_NAME: &str = "private";

/// Finds the private parts of a text.
pub(crate) fn find_private_parts(hay: Haystack<'_>) -> Vec<RedactionCut<'static>> {
    let mut cuts = Vec::new();
    let mut add = |start, end| {
        cuts.push(RedactionCut {
            start,
            end,
            mark: RedactionMark::Private,
            certainty: CutCertainty::UserMarked,
        });
    };
    let mut opened: Option<usize> = None;
    let mut depth = 0usize;
    let mut tag_end = 0;
    for at in memchr_iter(b'<', hay.0.as_bytes()) {
        // Inside the attributes of the previous tag.
        if at < tag_end {
            continue;
        }
        if let Some(end) = find_opening_tag_end(hay, at) {
            tag_end = end;
            opened.get_or_insert(at);
            depth += 1;
        } else if let Some(end) = find_closing_tag_end(hay, at)
            && let Some(start) = opened
        {
            depth -= 1;
            if depth == 0 {
                add(start, end);
                opened = None;
            }
        }
    }
    if let Some(start) = opened {
        add(start, hay.len());
    }
    cuts
}

/// The end of the opening tag that starts here: `<private>`, `<private reason="…">`.
fn find_opening_tag_end(hay: Haystack<'_>, at: usize) -> Option<usize> {
    if !hay.starts_with_ignore_case(at + 1, TAG_NAME) {
        return None;
    }
    let name_end = at + 1 + TAG_NAME.len();
    match hay.byte_at(name_end) {
        b'>' => return Some(name_end + 1),
        b if b.is_ascii_whitespace() => {}
        _ => return None,
    }
    let reach = (name_end + TAG_BYTES_MAX).min(hay.len());
    find_attributes_end(hay, name_end, reach, true)
        .or_else(|| find_attributes_end(hay, name_end, reach, false))
}

/// The position after the `>` that closes a tag. With `quotes`, brackets in quoted values are
/// ignored and an unclosed quote fails the match.
fn find_attributes_end(
    hay: Haystack<'_>,
    from: usize,
    reach: usize,
    quotes: bool,
) -> Option<usize> {
    let mut at = from;
    while at < reach {
        match hay.byte_at(at) {
            b'>' if hay.byte_before(at) == b'/' => return None,
            b'>' => return Some(at + 1),
            b'<' => return None,
            quote @ (b'"' | b'\'') if quotes => {
                let close = hay.skip_while_within(at + 1, reach - at - 1, |b| b != quote);
                if hay.byte_at(close) != quote {
                    return None;
                }
                at = close + 1;
            }
            _ => at += 1,
        }
    }
    None
}

fn find_closing_tag_end(hay: Haystack<'_>, at: usize) -> Option<usize> {
    if hay.byte_at(at + 1) != b'/' || !hay.starts_with_ignore_case(at + 2, TAG_NAME) {
        return None;
    }
    let end = hay.skip_while_within(at + 2 + TAG_NAME.len(), 64, |b| b.is_ascii_whitespace());
    (hay.byte_at(end) == b'>').then_some(end + 1)
}
