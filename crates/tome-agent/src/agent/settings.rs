//! Settings of an agent.

use tome_engine::triggers;

use crate::context::ContextSettings;
use crate::{CompactionStrategy, MemoryToolSet, ReflectionSettings, Toolbox};

/// Configures an [`AgentLoop`](crate::AgentLoop).
#[derive(Clone)]
pub struct AgentSettings {
    /// The system prompt. The memory instructions are appended to it.
    pub system_prompt: String,
    /// Token budgets of the context window.
    pub context: ContextSettings,
    /// Maximum rounds of tool calls in one run.
    pub rounds_max: u32,
    /// When memory injects text on its own.
    pub triggers: triggers::TriggerSettings,
    /// The tools the model may call.
    pub tools: Toolbox,
    /// Who summarizes turns that leave the window.
    pub compaction: CompactionStrategy,
    /// Whether to reflect on turns that leave the window.
    pub reflect_on_compaction: bool,
    /// Settings for reflection. Its window is replaced by that of `context`.
    pub reflection: ReflectionSettings,
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self {
            system_prompt: "You are a careful assistant with long-term memory.".to_owned(),
            context: ContextSettings::default(),
            rounds_max: 50,
            triggers: triggers::TriggerSettings::default(),
            tools: Toolbox::new(MemoryToolSet::Full).with_tool(crate::PlanTool),
            compaction: CompactionStrategy::default(),
            reflect_on_compaction: false,
            reflection: ReflectionSettings::default(),
        }
    }
}
