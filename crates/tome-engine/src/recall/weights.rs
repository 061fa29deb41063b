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
/// How much an event of many pieces is held back: they have more chances to match.
pub(super) const MANY_PIECES: f32 = 1.5;
/// What a turn gets of the terms that only its neighbours say: the one before, the one after, and the
/// two beyond them.
pub(super) const NEIGHBOURS: [(isize, f32); 4] = [(-1, 0.6), (1, 0.4), (-2, 0.3), (2, 0.2)];
/// Turns of so many words need their neighbours most; longer ones in proportion less.
pub(super) const NEIGHBOURS_WORDS: f32 = 50.0;
/// A turn longer than this is not read together with its neighbours.
pub(super) const NEIGHBOURS_WORDS_MAX: usize = 400;

/// The constant of reciprocal rank fusion.
pub(super) const RRF_K: f64 = 60.0;
/// What each tier weighs in the fusion.
pub(super) const WORDS_WEIGHT: f64 = 1.0;
pub(super) const MEANINGS_WEIGHT: f64 = 0.5;
pub(super) const LITERAL_WEIGHT: f64 = 0.3;

/// Pieces that are taken from an index.
pub(super) const WORDS_DEPTH: usize = 200;
pub(super) const MEANINGS_DEPTH: usize = 100;
/// Candidates whose texts are read.
pub(super) const READ_MAX: usize = 100;
/// Candidates whose neighbours are read.
pub(super) const NEIGHBOURS_READ_MAX: usize = 40;
