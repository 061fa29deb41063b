//! `<private>…</private>`: what the person wants nobody to keep.
//!
//! Tags may be in any case and may nest: the outermost pair is cut. An opening tag that is never
//! closed is somebody writing about the tag and stays, and so does a closing one that was never
//! opened, unless the text is a window on a longer one and the other tag may lie outside it.

use super::cut::{Cut, Mark, Sure};

/// Which edges of a text are not its real ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edges {
    /// The text is whole.
    Whole,
    /// The start of a longer text.
    Head,
    /// The end of a longer text.
    Tail,
}

/// A tag, by where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tag {
    Open(usize),
    Close(usize),
}

/// Pairs the tags of a text, given in order.
pub(super) fn pair<'r>(tags: &[Tag], edges: Edges, text_len: usize, cuts: &mut Vec<Cut<'r>>) {
    let mut cut = |start, end| {
        cuts.push(Cut { start, end, mark: Mark::Private, sure: Sure::Said });
    };
    let mut opened: Option<usize> = None;
    let mut depth = 0usize;
    // The last close seen since `opened`: an inner pair still ends something when the outer one
    // is never closed.
    let mut closed_at = None;
    for tag in tags {
        match (*tag, opened) {
            (Tag::Open(start), None) => {
                opened = Some(start);
                depth = 1;
                closed_at = None;
            }
            (Tag::Open(_), Some(_)) => depth += 1,
            (Tag::Close(end), Some(start)) => {
                depth -= 1;
                closed_at = Some(end);
                if depth == 0 {
                    cut(start, end);
                    opened = None;
                }
            }
            (Tag::Close(end), None) if edges == Edges::Tail => cut(0, end),
            (Tag::Close(_), None) => {}
        }
    }
    if let Some(start) = opened {
        if edges == Edges::Head {
            cut(start, text_len);
        } else if let Some(end) = closed_at {
            cut(start, end);
        }
    }
}
