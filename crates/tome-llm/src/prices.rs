//! The price of tokens, as configured; no provider's prices are built in.

use serde::{Deserialize, Serialize};

use crate::Usage;

/// Prices per million tokens, in one currency. `None` means unknown.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Prices {
    /// Uncached input.
    pub input: Option<f64>,
    /// Output.
    pub output: Option<f64>,
    /// Input read from the cache. Defaults to `input`, an upper bound.
    pub cache_read: Option<f64>,
    /// Input written to the cache. Defaults to `input`.
    pub cache_write: Option<f64>,
}

impl Prices {
    /// Returns the cost of the usage, or `None` if a required price is unknown or invalid.
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
            #[expect(clippy::cast_precision_loss, reason = "token counts stay below 2^53")]
            Some(sum + tokens as f64 * price / 1_000_000.0)
        })
    }
}
