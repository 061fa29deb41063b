//! How much of what a request may hold.

/// How a context is cut to size. Whatever is asked for, a part never takes more than its share of the
/// window, so that small windows work too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextSettings {
    /// What the model takes, request and reply together. Never gone over, by this library's estimate,
    /// which is rather too high than too low.
    pub window_tokens: u64,
    /// What a reply may have of it.
    pub reply_tokens_max: u32,
    /// Turns in the window. When there are more, half of them leave at once: so the beginning of a
    /// request stays the same for many requests, and a provider's cache with it.
    pub turns_max: usize,
    /// What one tool's result may have.
    pub result_tokens_max: u64,
    /// What the overview may have.
    pub overview_tokens_max: u64,
    /// What the index of notes may have.
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
    /// The room of a reply.
    pub(crate) fn reply(&self) -> u32 {
        let share = u32::try_from(self.window_tokens / 4).unwrap_or(u32::MAX);
        self.reply_tokens_max.min(share).max(1)
    }

    pub(crate) fn overview(&self) -> u64 {
        self.overview_tokens_max.min(self.window_tokens / 10)
    }

    pub(crate) fn index(&self) -> u64 {
        self.index_tokens_max.min(self.window_tokens / 16)
    }

    pub(crate) fn summary(&self) -> u64 {
        crate::limits::SUMMARY_TOKENS_MAX.min(self.window_tokens / 24)
    }

    pub(crate) fn task(&self) -> u64 {
        crate::limits::TASK_TOKENS_MAX.min(self.window_tokens / 24)
    }
}
