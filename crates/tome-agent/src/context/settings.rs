//! Token budgets of a request.

/// Token budgets of a [`ContextWindow`](crate::ContextWindow). Each part is also limited to a fixed
/// share of the window, so that small windows work too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextSettings {
    /// Context window for request and reply together. Token counts are estimates that err on the high
    /// side, so the model's real limit is not exceeded.
    pub window_tokens: u64,
    /// Maximum tokens of a reply.
    pub reply_tokens_max: u32,
    /// Maximum turns in the window. Beyond it, half of them leave at once, so that the prefix stays the
    /// same for many requests and the provider's cache remains valid.
    pub turns_max: usize,
    /// Maximum tokens of one tool result.
    pub result_tokens_max: u64,
    /// Maximum tokens of the overview.
    pub overview_tokens_max: u64,
    /// Maximum tokens of the index of notes.
    pub index_tokens_max: u64,
}

impl Default for ContextSettings {
    fn default() -> Self {
        Self {
            window_tokens: 100_000,
            reply_tokens_max: 8_000,
            turns_max: 30,
            result_tokens_max: 8_000,
            overview_tokens_max: 2_500,
            index_tokens_max: 1_500,
        }
    }
}

impl ContextSettings {
    pub(crate) fn reply_budget(&self) -> u32 {
        let share = u32::try_from(self.window_tokens / 4).unwrap_or(u32::MAX);
        self.reply_tokens_max.min(share).max(1)
    }

    pub(crate) fn overview_budget(&self) -> u64 {
        self.overview_tokens_max.min(self.window_tokens / 10)
    }

    pub(crate) fn index_budget(&self) -> u64 {
        self.index_tokens_max.min(self.window_tokens / 16)
    }

    pub(crate) fn summary_budget(&self) -> u64 {
        crate::limits::SUMMARY_TOKENS_MAX.min(self.window_tokens / 24)
    }

    pub(crate) fn task_budget(&self) -> u64 {
        crate::limits::TASK_TOKENS_MAX.min(self.window_tokens / 24)
    }
}
