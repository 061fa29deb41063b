//! The interface between an agent and its memory.
//!
//! A [`Memory`] belongs to one session: it identifies the caller of tools, where events are stored and
//! which overview applies. Its calls block. There are two implementations: [`LocalMemory`], over a home
//! folder, and one over the daemon's socket, in the `tome` binary.

mod local;
mod moment;
mod texts;

use serde_json::{Value, json};
use tome_engine::triggers::{Due, texts as words};
use tome_engine::{
    Caller, Composed, PLAN_TOKENS_MAX, Room, ToolAnswer, ToolSpec, Tools, plan_text,
};
use tome_model::{Event, Millis};
use tome_notebook::OVERVIEW;

use crate::MemoryError;

pub use local::{Local, LocalSettings};
pub use moment::{Moment, Who};
pub use texts::index_text;

/// The memory tools, callable by a model or by a program.
pub trait MemoryTools: Send + Sync {
    /// Calls a tool with a JSON object. A tool that rejects its arguments or fails returns an answer
    /// with the reason; an error means that the tool does not exist or that the memory is unavailable.
    fn call(&self, tool: &str, arguments: &str) -> Result<ToolAnswer, MemoryError>;

    /// Lists all memory tools.
    fn tools(&self) -> Vec<ToolSpec> {
        Tools::list()
    }
}

/// The memory of one session of an agent.
pub trait Memory: MemoryTools {
    /// The session this memory belongs to.
    fn who(&self) -> &Who;

    /// Current time, for event times and file names.
    fn now(&self) -> Millis;

    /// Records events in this order. All of them are durable when this returns. An event whose id is
    /// already stored is not stored again.
    fn record(&self, moments: &[Moment]) -> Result<(), MemoryError>;

    /// Returns the newest events of the session, at most `newest_max`, oldest first.
    fn events(&self, newest_max: usize) -> Result<Vec<Event>, MemoryError>;

    /// Returns the session's overview, or `None` while it is empty or still the template.
    fn overview(&self) -> Result<Option<String>, MemoryError> {
        let read = json!({ "path": "overview.md", "scope": "session" });
        let answer = self.call("memory_read", &read.to_string())?;
        let text = answer.json.get("content").and_then(Value::as_str).unwrap_or_default();
        let is_written = answer.failure.is_none() && text.trim() != OVERVIEW.trim();
        Ok(is_written.then(|| text.to_owned()).filter(|text| !text.trim().is_empty()))
    }

    /// Returns the index for the first message: one line per note of the project and of the coder.
    /// `None` if there are no notes.
    fn index(&self, tokens_max: u64) -> Result<Option<String>, MemoryError> {
        let project = self.call("memory_list", "{}")?;
        let coder = self.call("memory_list", r#"{"scope":"coder"}"#)?;
        Ok(index_text(&project.json, &coder.json, tokens_max))
    }

    /// Returns the lessons that are relevant to a plan, followed by the request to replan. `None` if
    /// there are none, because then there is no reason to replan.
    fn lessons(&self, plan: &str) -> Result<Option<Composed>, MemoryError> {
        let ask = json!({ "question": tome_model::truncate_to(plan, PLAN_BYTES_MAX) });
        let answer = self.call("coder_memory_recall", &ask.to_string())?;
        let room = Room { tokens: PLAN_TOKENS_MAX, bytes: usize::MAX };
        let request = words::of(&Due::Replan { about: String::new() });
        Ok(plan_text(&texts::insights(&answer.json), &request, room))
    }

    /// Records that text was injected without being asked for, for the list of injections. By default
    /// it does nothing.
    fn injected(&self, why: &str, said: &Composed) -> Result<(), MemoryError> {
        let _ = (why, said);
        Ok(())
    }

    /// Writes a note of the session, below `detail/`.
    fn write_detail(&self, path: &str, text: &str) -> Result<(), MemoryError> {
        let write = json!({ "path": path, "content": text, "scope": "session" });
        let answer = self.call("memory_write", &write.to_string())?;
        match answer.failure {
            None => Ok(()),
            Some(_) => Err(MemoryError::Refused { tool: "memory_write", said: answer.text }),
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
    fn call(&self, tool: &str, arguments: &str) -> Result<ToolAnswer, MemoryError> {
        let answer = self.tools.call(tool, arguments, &self.caller);
        answer.ok_or_else(|| MemoryError::NoSuchTool(tool.to_owned()))
    }
}

impl<M: MemoryTools + ?Sized> MemoryTools for std::sync::Arc<M> {
    fn call(&self, tool: &str, arguments: &str) -> Result<ToolAnswer, MemoryError> {
        (**self).call(tool, arguments)
    }

    fn tools(&self) -> Vec<ToolSpec> {
        (**self).tools()
    }
}
