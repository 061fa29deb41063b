//! What a person can set.

/// When each trigger goes off, and whether at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Whether a plan asks for recall.
    pub replan: bool,
    /// A plan with more steps than this counts.
    pub plan_steps: usize,
    /// Whether a stop asks for storing.
    pub store: bool,
    /// So many tool calls, with at least one edit, are meaningful work.
    pub store_tool_calls: u32,
    /// Whether the overview is reminded of.
    pub overview: bool,
    /// Rounds without a write until the first reminder.
    pub overview_rounds: u32,
    /// The fewest rounds that the adaptive reminder comes down to.
    pub overview_rounds_min: u32,
    /// The most rounds that it goes up to.
    pub overview_rounds_max: u32,
}

impl Default for Settings {
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
