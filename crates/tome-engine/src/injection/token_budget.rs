//! The token budget of an injected text, counted exactly, line by line.
//!
//! The token estimate restarts at every line break, so the cost of a line does not depend on the
//! lines before it: costs add up exactly, and rounding never exceeds the budget.

use tome_text::{token_units, tokens_to_units};

/// The size limit of a text. Both bounds are hard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenBudget {
    /// Estimated tokens, see `tome_text`.
    pub tokens: u64,
    /// Bytes; agents truncate or discard longer texts, whatever their tokens.
    pub bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RemainingBudget {
    units: u64,
    bytes: usize,
}

impl RemainingBudget {
    pub(super) fn new(budget: TokenBudget) -> Self {
        Self { units: tokens_to_units(budget.tokens), bytes: budget.bytes }
    }

    /// A share of it, in percent.
    pub(super) fn percent(self, percent: u64) -> Self {
        let bytes = (self.bytes as u64).saturating_mul(percent) / 100;
        Self {
            units: self.units.saturating_mul(percent) / 100,
            bytes: usize::try_from(bytes).unwrap_or(self.bytes),
        }
    }

    /// Takes the cost of some lines; if they do not fit, takes nothing and returns `false`.
    pub(super) fn try_take<L: AsRef<str>>(&mut self, lines: &[L]) -> bool {
        let (mut units, mut bytes) = (0_u64, 0_usize);
        for line in lines {
            let line = line.as_ref();
            units = units.saturating_add(token_units(&format!("{line}\n")));
            bytes = bytes.saturating_add(line.len() + 1);
        }
        let (Some(units), Some(bytes)) =
            (self.units.checked_sub(units), self.bytes.checked_sub(bytes))
        else {
            return false;
        };
        *self = Self { units, bytes };
        true
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            units: self.units.saturating_add(other.units),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self {
            units: self.units.saturating_sub(other.units),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tome_text::estimate_tokens;

    use super::*;

    proptest! {
        #[test]
        fn lines_taken_one_by_one_fit_the_budget_together(
            lines in proptest::collection::vec("[a-zA-Z0-9 .,é日я🎈-]{0,60}", 0..20),
            tokens in 0_u64..300, bytes in 0_usize..2_000,
        ) {
            let mut left = RemainingBudget::new(TokenBudget { tokens, bytes });
            let taken: Vec<&String> = lines.iter().filter(|line| left.try_take(&[line])).collect();
            let text: String = taken.iter().map(|line| format!("{line}\n")).collect();
            prop_assert!(estimate_tokens(&text) <= tokens && text.len() <= bytes);
        }
    }
}
