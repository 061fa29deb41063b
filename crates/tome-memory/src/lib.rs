//! The interface between an agent and its memory.
//!
//! A [`Memory`] belongs to one session: it identifies the caller of tools, where events are stored and
//! which overview applies. Its calls block. [`LocalMemory`] implements it in this process, over a home
//! folder; `tome-client` implements it over the daemon's socket.

mod error;
pub mod limits;
mod local;
mod render;
mod session;

use serde_json::{Value, json};
use tome_engine::triggers::{DueInjection, texts as words};
use tome_engine::{
    Caller, InjectionText, PLAN_TOKENS_MAX, TokenBudget, ToolAnswer, ToolSpec, Tools,
    render_plan_lessons,
};
use tome_model::{Event, Millis};
use tome_notebook::OVERVIEW_TEMPLATE;

pub use error::MemoryError;
pub use local::{LocalMemory, LocalMemorySettings};
pub use render::render_notes_index;
pub use session::{SessionEvent, SessionInfo};

/// The memory tools, callable by a model or by a program.
pub trait MemoryTools: Send + Sync {
    /// Calls a tool with a JSON object. A tool that rejects its arguments or fails returns an answer
    /// with the reason; an error means that the tool does not exist or that the memory is unavailable.
    fn call_tool(&self, tool: &str, arguments: &str) -> Result<ToolAnswer, MemoryError>;

    /// Lists all memory tools.
    fn tools(&self) -> Vec<ToolSpec> {
        Tools::specs()
    }
}

/// The memory of one session of an agent.
pub trait Memory: MemoryTools {
    /// The session this memory belongs to.
    fn session(&self) -> &SessionInfo;

    /// Current time, for event times and file names.
    fn now(&self) -> Millis;

    /// Records events in this order. All of them are durable when this returns. An event whose id is
    /// already stored is not stored again.
    fn record_events(&self, events: &[SessionEvent]) -> Result<(), MemoryError>;

    /// Returns the newest events of the session, at most `newest_max`, oldest first.
    fn recent_events(&self, newest_max: usize) -> Result<Vec<Event>, MemoryError>;

    /// Returns the session's overview, or `None` while it is empty or still the template.
    fn overview(&self) -> Result<Option<String>, MemoryError> {
        let read = json!({ "path": "overview.md", "scope": "session" });
        let answer = self.call_tool("memory_read", &read.to_string())?;
        let text = answer.json.get("content").and_then(Value::as_str).unwrap_or_default();
        let is_written = answer.failure.is_none() && text.trim() != OVERVIEW_TEMPLATE.trim();
        Ok(is_written.then(|| text.to_owned()).filter(|text| !text.trim().is_empty()))
    }

    /// Returns the index for the first message: one line per note of the project and of the coder.
    /// `None` if there are no notes.
    fn notes_index(&self, tokens_max: u64) -> Result<Option<String>, MemoryError> {
        let project = self.call_tool("memory_list", "{}")?;
        let coder = self.call_tool("memory_list", r#"{"scope":"coder"}"#)?;
        Ok(render_notes_index(&project.json, &coder.json, tokens_max))
    }

    /// Returns the lessons that are relevant to a plan, followed by the request to replan. `None` if
    /// there are none, because then there is no reason to replan.
    fn recall_lessons(&self, plan: &str) -> Result<Option<InjectionText>, MemoryError> {
        let ask = json!({ "question": tome_model::truncate_to(plan, PLAN_BYTES_MAX) });
        let answer = self.call_tool("coder_memory_recall", &ask.to_string())?;
        let room = TokenBudget { tokens: PLAN_TOKENS_MAX, bytes: usize::MAX };
        let request = words::render_due(&DueInjection::Replan { about: String::new() });
        Ok(render_plan_lessons(&render::parse_lessons(&answer.json), &request, room))
    }

    /// Records that text was injected without being asked for, for the list of injections. By default
    /// it does nothing.
    fn record_injection(&self, why: &str, injection: &InjectionText) -> Result<(), MemoryError> {
        let _ = (why, injection);
        Ok(())
    }

    /// Writes a note of the session, below `detail/`.
    fn write_detail(&self, path: &str, text: &str) -> Result<(), MemoryError> {
        let write = json!({ "path": path, "content": text, "scope": "session" });
        let answer = self.call_tool("memory_write", &write.to_string())?;
        match answer.failure {
            None => Ok(()),
            Some(_) => Err(MemoryError::Refused { tool: "memory_write", message: answer.text }),
        }
    }
}

/// Bytes of a plan used as the query; the tool accepts no more.
const PLAN_BYTES_MAX: usize = 4_000;

/// Exposes the engine's tools of this process to one caller.
pub struct EngineTools<'t> {
    /// The tools.
    pub tools: &'t Tools,
    /// The caller: working directory, agent and session.
    pub caller: Caller,
}

impl MemoryTools for EngineTools<'_> {
    fn call_tool(&self, tool: &str, arguments: &str) -> Result<ToolAnswer, MemoryError> {
        let answer = self.tools.call(tool, arguments, &self.caller);
        answer.ok_or_else(|| MemoryError::UnknownTool(tool.to_owned()))
    }
}

impl<M: MemoryTools + ?Sized> MemoryTools for std::sync::Arc<M> {
    fn call_tool(&self, tool: &str, arguments: &str) -> Result<ToolAnswer, MemoryError> {
        (**self).call_tool(tool, arguments)
    }

    fn tools(&self) -> Vec<ToolSpec> {
        (**self).tools()
    }
}
