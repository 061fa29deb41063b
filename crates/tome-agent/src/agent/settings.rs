//! What can be set of an agent.

use tome_engine::triggers;

use crate::context::ContextSettings;
use crate::{CompactBy, MemorySet, ReflectSettings, Toolbox};

/// How an agent works.
#[derive(Clone)]
pub struct AgentSettings {
    /// What it is and does. The protocol of memory is put behind it.
    pub system: String,
    /// How its context is cut to size.
    pub context: ContextSettings,
    /// Rounds of tool calls in one run, at most.
    pub rounds_max: u32,
    /// When memory speaks up on its own.
    pub triggers: triggers::Settings,
    /// The tools on offer.
    pub tools: Toolbox,
    /// Who summarises turns that leave the window.
    pub compact_by: CompactBy,
    /// Whether turns that leave the window are reflected on.
    pub reflect_on_compaction: bool,
    /// How this agent reflects. The window is that of its context.
    pub reflect: ReflectSettings,
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self {
            system: "You are a careful assistant with a lasting memory.".to_owned(),
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
