//! From pieces to one text within a room: first every piece gets what it is sure of, then what nobody
//! needed goes to those that were cut, in their order.

use tome_text::estimate_tokens;

use super::piece::{Fitted, Piece};
use super::room::{Left, Room};
use crate::quote;

/// An injected text, whole, between its marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composed {
    /// The text.
    pub text: String,
    /// What it costs, about.
    pub tokens: u64,
    /// What was left out or cut, by name.
    pub cut: Vec<String>,
}

/// What stands around the pieces.
pub(super) struct Frame {
    /// What kind of injection it is, for its mark.
    pub kind: &'static str,
    /// Said first.
    pub above: Vec<String>,
    /// Said last.
    pub below: Vec<String>,
}

/// A text of these pieces. `None` where there is nothing to say, or no room for anything of it.
pub(super) fn compose(frame: &Frame, pieces: &[Piece], room: Room) -> Option<Composed> {
    let pieces: Vec<&Piece> = pieces.iter().filter(|piece| !piece.blocks.is_empty()).collect();
    let mut left = Left::of(room);
    let mut above = vec![quote::open_injection(frame.kind)];
    above.extend(frame.above.iter().cloned());
    let mut below = frame.below.clone();
    below.push(quote::close_injection());
    let names: Vec<&str> = pieces.iter().map(|piece| piece.name).collect();
    // Set aside at its longest; what is not needed of it is not used.
    let notice = missing(&names);
    if !left.take(&above) || !left.take(&below) || !left.take(&notice) {
        return None;
    }
    let fitted = fit_all(&pieces, left);
    let is_there = |(_, fitted): &(&&Piece, &Fitted)| !fitted.lines.is_empty();
    let (there, gone): (Vec<_>, Vec<_>) = pieces.iter().zip(&fitted).partition(is_there);
    if there.is_empty() && !pieces.is_empty() {
        return None;
    }
    let gone: Vec<&str> = gone.iter().map(|(piece, _)| piece.name).collect();
    let cut = pieces.iter().zip(&fitted).filter(|(_, fitted)| fitted.cut > 0);
    let cut = cut.map(|(piece, _)| piece.name.to_lowercase()).collect();
    let lines = above.into_iter().chain(there.iter().flat_map(|(_, it)| it.lines.clone()));
    let text = lines.chain(missing(&gone)).chain(below).collect::<Vec<_>>().join("\n");
    let tokens = estimate_tokens(&text);
    (tokens <= room.tokens && text.len() <= room.bytes).then_some(Composed { text, tokens, cut })
}

/// What is said of pieces for which there was no room at all.
fn missing(names: &[&str]) -> Vec<String> {
    if names.is_empty() {
        return Vec::new();
    }
    let names = names.join(", ").to_lowercase();
    vec![String::new(), format!("[No room here for: {names}. recall_memory finds it.]")]
}

fn fit_all(pieces: &[&Piece], room: Left) -> Vec<Fitted> {
    let mut spare = room;
    let mut fitted = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let share = room.share(piece.share);
        let one = piece.fit(share);
        spare = spare.without(share.without(one.left));
        fitted.push(one);
    }
    for (piece, one) in pieces.iter().zip(&mut fitted).filter(|(_, one)| one.cut > 0) {
        let taken = room.share(piece.share).without(one.left);
        let again = piece.fit(taken.and(spare));
        // What is not there whole is never worth less with more room; but it may take other lines.
        if again.cut <= one.cut && again.lines.len() >= one.lines.len() {
            spare = again.left;
            *one = again;
        }
    }
    fitted
}
