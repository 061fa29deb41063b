//! What tokens cost in money, as whoever pays has told; nothing is known here of anybody's prices.

use serde::{Deserialize, Serialize};

use crate::Usage;

/// Prices of a million tokens, in one currency. A price that is not given is not known.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Prices {
    /// Read afresh.
    pub input: Option<f64>,
    /// Said.
    pub output: Option<f64>,
    /// Read from the cache; not given: as if read afresh, which is never less.
    pub cache_read: Option<f64>,
    /// Put into the cache; not given: as if read afresh.
    pub cache_write: Option<f64>,
}

impl Prices {
    /// What these tokens cost; none where a price that is needed is not known, or is no price.
    pub fn cost(&self, usage: &Usage) -> Option<f64> {
        let rows = [
            (usage.input, self.input),
            (usage.output, self.output),
            (usage.cache_read, self.cache_read.or(self.input)),
            (usage.cache_written, self.cache_write.or(self.input)),
        ];
        if self.input.is_none() && self.output.is_none() {
            return None;
        }
        rows.into_iter().filter(|(tokens, _)| *tokens > 0).try_fold(0.0, |sum, (tokens, price)| {
            let price = price.filter(|price| price.is_finite() && *price >= 0.0)?;
            #[expect(clippy::cast_precision_loss, reason = "nobody pays for 2^53 tokens")]
            Some(sum + tokens as f64 * price / 1_000_000.0)
        })
    }
}
