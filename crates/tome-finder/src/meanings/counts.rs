//! How common each token is in an index, so that a question is about what is rare in it. In a chat
//! between two people their names are in every line: they say nothing about which line is meant.
//!
//! Measured: against weights of 1, this lifts R@5 of the vectors alone by two points where texts are long and
//! by fourteen where they are short. Weights of the entries themselves did not help.

/// Rows are counted up to this event; after that one in so many is enough for shares.
const COUNTED_EVENTS: u64 = 4_096;
const COUNTED_ONE_IN: u64 = 64;

/// As if there were so many rows without any token: the first few rows do not say what is common.
const ROWS_BEFORE: f32 = 30.0;

/// How much less a token that is in every row counts, before the square. Not all: it may be what was asked.
const COMMON_COSTS: f32 = 0.8;

/// Whether the rows of an event are counted. It depends on the event alone, so that an index made
/// again counts the same ones.
pub(super) fn counts_event(seq: u64) -> bool {
    seq < COUNTED_EVENTS || seq.is_multiple_of(COUNTED_ONE_IN)
}

/// In how many of the counted rows each token is.
#[derive(Debug, Default)]
pub(super) struct Counts {
    rows: u32,
    by_token: Vec<u32>,
}

impl Counts {
    /// One row more.
    pub(super) fn add(&mut self, tokens: &[u32]) {
        self.rows = self.rows.saturating_add(1);
        for token in tokens {
            let Ok(token) = usize::try_from(*token) else { continue };
            if self.by_token.len() <= token {
                self.by_token.resize(token + 1, 0);
            }
            if let Some(count) = self.by_token.get_mut(token) {
                *count = count.saturating_add(1);
            }
        }
    }

    /// One row fewer.
    pub(super) fn remove(&mut self, tokens: &[u32]) {
        self.rows = self.rows.saturating_sub(1);
        for token in tokens {
            let count = usize::try_from(*token).ok().and_then(|it| self.by_token.get_mut(it));
            if let Some(count) = count {
                *count = count.saturating_sub(1);
            }
        }
    }

    /// The weights of a question's tokens, which are in order.
    pub(super) fn weights(&self, tokens: Vec<u32>) -> Weights {
        Weights(tokens.into_iter().map(|token| (token, self.weight(token))).collect())
    }

    /// What a token counts for in a question: 1 if it is rare, next to nothing if it is everywhere.
    fn weight(&self, token: u32) -> f32 {
        let count = usize::try_from(token).ok().and_then(|it| self.by_token.get(it));
        let share = count.copied().unwrap_or(0) as f32 / (self.rows as f32 + ROWS_BEFORE);
        let rare = 1.0 - COMMON_COSTS * share;
        rare * rare
    }
}

/// What each token of a question counts for.
#[derive(Debug)]
pub(super) struct Weights(Vec<(u32, f32)>);

impl Weights {
    pub(super) fn of(&self, token: u32) -> f32 {
        let place = self.0.binary_search_by_key(&token, |(token, _)| *token);
        place.ok().and_then(|place| self.0.get(place)).map_or(1.0, |(_, weight)| *weight)
    }
}
