//! Document frequencies of tokens, used to weight a query toward its rare tokens. In a chat between
//! two people, their names occur in every line and do not help to find one line among them.
//!
//! Measured against uniform weights: vector-only R@5 rises by 2 points for long texts and by 14 for
//! short ones. Weighting the entries as well did not help.

/// Counts every event up to this sequence number and a sample after it; a sample is enough to
/// estimate shares.
const COUNTED_EVENTS: u64 = 4_096;
const SAMPLE_ONE_IN: u64 = 64;

/// Smoothing: pretends that this many rows contain no token, because the first few rows do not show
/// what is common.
const SMOOTHING_ROWS: f32 = 30.0;

/// Weight lost by a token that occurs in every row, before squaring. Below 1, because the query may
/// be about that token.
const COMMON_PENALTY: f32 = 0.8;

/// Returns whether an event's rows are counted. Depends only on the event, so that a rebuilt index
/// counts the same ones.
pub(super) fn is_event_counted(seq: u64) -> bool {
    seq < COUNTED_EVENTS || seq.is_multiple_of(SAMPLE_ONE_IN)
}

/// Number of counted rows that contain each token.
#[derive(Debug, Default)]
pub(super) struct TokenCounts {
    rows: u32,
    by_token: Vec<u32>,
}

impl TokenCounts {
    pub(super) fn add_row(&mut self, tokens: &[u32]) {
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

    pub(super) fn remove_row(&mut self, tokens: &[u32]) {
        self.rows = self.rows.saturating_sub(1);
        for token in tokens {
            let count = usize::try_from(*token).ok().and_then(|it| self.by_token.get_mut(it));
            if let Some(count) = count {
                *count = count.saturating_sub(1);
            }
        }
    }

    /// Weights of a query's tokens, which must be sorted.
    pub(super) fn query_weights(&self, tokens: Vec<u32>) -> TokenWeights {
        TokenWeights(tokens.into_iter().map(|token| (token, self.token_weight(token))).collect())
    }

    /// Weight of a token in a query: 1 if it is rare, close to 0 if it is everywhere.
    fn token_weight(&self, token: u32) -> f32 {
        let count = usize::try_from(token).ok().and_then(|it| self.by_token.get(it));
        let share = count.copied().unwrap_or(0) as f32 / (self.rows as f32 + SMOOTHING_ROWS);
        let rare = 1.0 - COMMON_PENALTY * share;
        rare * rare
    }
}

/// Weights of a query's tokens, sorted by token.
#[derive(Debug)]
pub(super) struct TokenWeights(Vec<(u32, f32)>);

impl TokenWeights {
    pub(super) fn weight(&self, token: u32) -> f32 {
        let index = self.0.binary_search_by_key(&token, |(token, _)| *token);
        index.ok().and_then(|index| self.0.get(index)).map_or(1.0, |(_, weight)| *weight)
    }
}
