//! Every number that ranking is made of, in one place. They were chosen on development sets of chats,
//! assistant sessions, coding sessions and Chinese messages, as values around which little changes;
//! none is for one kind of data only.

/// Saturation and length normalisation of a term's weight (BM25).
pub(super) const K1: f32 = 0.9;
pub(super) const B: f32 = 0.5;
/// What the second, third … best piece of an event add: this to the power of their number.
pub(super) const PIECE_SHARE: f32 = 0.3;
/// Pieces of an event that count.
pub(super) const PIECES_COUNTED: usize = 5;
/// How much an event of many pieces is held back: it has more chances to match. It must level off, or
/// long sessions are never found.
pub(super) const MANY_PIECES: f32 = 1.5;
/// What a person said is worth a little more than what was answered.
pub(super) const SAID_BY_USER: f32 = 1.3;
/// Where several questions are asked at once: what the best answer to one of them is worth, against how well it
/// matches all of them together.
pub(super) const ONE_OF_SEVERAL: f32 = 4.0;
/// What a turn gets of the terms that only its neighbours say: the one before, the one after, and the
/// two beyond them.
pub(super) const NEIGHBOURS: [(isize, f32); 4] = [(-1, 0.6), (1, 0.4), (-2, 0.3), (2, 0.2)];
/// What a turn gets of how near its neighbours are.
pub(super) const NEAR_NEIGHBOURS: [(isize, f32); 4] = [(-1, 0.2), (1, 0.12), (-2, 0.06), (2, 0.06)];
/// Turns of so many words need their neighbours most; longer ones in proportion less.
pub(super) const NEIGHBOURS_WORDS: f32 = 50.0;
/// A turn longer than this, in bytes, says enough for itself.
pub(super) const NEIGHBOURS_BYTES_MAX: usize = 2_400;
/// And one longer than this is no turn but a document: it tells nothing about those around it.
pub(super) const TELLING_BYTES_MAX: usize = 16_000;
/// The nearest pieces of an event that say how near it is.
pub(super) const NEAREST_PIECES: usize = 3;
/// How much an event of many pieces is held back among vectors.
pub(super) const MANY_NEAR_PIECES: f32 = 0.2;

/// The constant of reciprocal rank fusion.
pub(super) const RRF_K: f64 = 60.0;
/// What each tier weighs in the fusion. Vectors weigh little: with as much weight as words they put
/// what is merely alike above what was asked for.
pub(super) const WORDS_WEIGHT: f64 = 1.0;
pub(super) const MEANINGS_WEIGHT: f64 = 0.35;
pub(super) const LITERAL_WEIGHT: f64 = 0.1;
/// What a node or a grip weighs against the events it was made of.
pub(super) const CONTENTS_WEIGHT: f64 = 0.6;

/// Pieces that are taken from an index.
pub(super) const WORDS_DEPTH: usize = 150;
pub(super) const MEANINGS_DEPTH: usize = 100;
/// A proactive query searches for so many of its rarest words, takes so many pieces of events and of
/// pages, and reads so many texts of each: an agent waits for it, and three hits are all it gives.
pub(super) const PROACTIVE_WORDS_MAX: usize = 8;
pub(super) const PROACTIVE_DEPTH: usize = 24;
pub(super) const PROACTIVE_READ_MAX: usize = 12;
pub(super) const PROACTIVE_PAGES_MAX: usize = 6;
/// Pages that are taken from either.
pub(super) const PAGES_DEPTH: usize = 40;
/// Events whose texts are read: of those that words found (or a look at the texts), and of those that
/// vectors found; and pages.
pub(super) const READ_MAX: usize = 40;
pub(super) const NEAR_READ_MAX: usize = 20;
pub(super) const PAGES_READ_MAX: usize = 12;
/// Of what was read, the best ones, whose neighbours are read too.
pub(super) const NEIGHBOURS_READ_MAX: usize = 16;
