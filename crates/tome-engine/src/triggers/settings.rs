//! Settings of the triggers.

/// Switches and thresholds of the triggers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriggerSettings {
    /// Enables lessons for plans.
    pub replan: bool,
    /// Plans with more steps than this count.
    pub plan_steps: usize,
    /// Enables the request to store at a stop.
    pub store: bool,
    /// Tool calls, with at least one edit, that make work significant.
    pub store_tool_calls: u32,
    /// Enables the overview reminder.
    pub overview: bool,
    /// Rounds without a write until the first reminder.
    pub overview_rounds: u32,
    /// Lower bound of the adaptive interval.
    pub overview_rounds_min: u32,
    /// Upper bound of the adaptive interval.
    pub overview_rounds_max: u32,
}

impl Default for TriggerSettings {
    fn default() -> Self {
        Self {
            replan: true,
            plan_steps: 5,
            store: true,
            store_tool_calls: 10,
            overview: true,
            overview_rounds: 10,
            overview_rounds_min: 5,
            overview_rounds_max: 30,
        }
    }
}
