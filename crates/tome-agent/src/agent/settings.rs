//! Settings of an agent.

use tome_engine::triggers;

use crate::context::ContextSettings;
use crate::{CompactBy, MemorySet, ReflectSettings, Toolbox};

/// Configures an [`Agent`](crate::Agent).
#[derive(Clone)]
pub struct AgentSettings {
    /// The system prompt. The memory instructions are appended to it.
    pub system: String,
    /// Token budgets of the context window.
    pub context: ContextSettings,
    /// Maximum rounds of tool calls in one run.
    pub rounds_max: u32,
    /// When memory injects text on its own.
    pub triggers: triggers::Settings,
    /// The tools the model may call.
    pub tools: Toolbox,
    /// Who summarizes turns that leave the window.
    pub compact_by: CompactBy,
    /// Whether to reflect on turns that leave the window.
    pub reflect_on_compaction: bool,
    /// Settings for reflection. Its window is replaced by that of `context`.
    pub reflect: ReflectSettings,
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self {
            system: "You are a careful assistant with long-term memory.".to_owned(),
            context: ContextSettings::default(),
            rounds_max: 50,
            triggers: triggers::Settings::default(),
            tools: Toolbox::new(MemorySet::Full).with(crate::PlanTool),
            compact_by: CompactBy::default(),
            reflect_on_compaction: false,
            reflect: ReflectSettings::default(),
        }
    }
}
