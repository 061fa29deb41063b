//! What an agent asks of its memory, and one memory that answers in this process.
//!
//! A [`Memory`] is one session's: it knows whose tools are called, where events go, which overview is
//! meant. Its calls block. Two kinds exist: [`Local`], over a home folder, and one over the daemon's
//! socket, in the program `tome`.

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

/// The tools of memory, for a model or a program to call.
pub trait MemoryTools: Send + Sync {
    /// Calls a tool with a JSON object. A tool that refuses or fails answers with a text that says
    /// why; an error is that there is no such tool, or no memory at present.
    fn call(&self, tool: &str, arguments: &str) -> Result<ToolAnswer, MemoryError>;

    /// Every tool there is.
    fn tools(&self) -> Vec<ToolSpec> {
        Tools::list()
    }
}

/// The memory of one session of an agent.
pub trait Memory: MemoryTools {
    /// Whose session it is.
    fn who(&self) -> &Who;

    /// What time it is for events and for names of files.
    fn now(&self) -> Millis;

    /// Records what happened, in this order. When it returns, all of it is safe on disk; one that
    /// was recorded before under the same name is not recorded twice.
    fn record(&self, moments: &[Moment]) -> Result<(), MemoryError>;

    /// The latest so many events of the session, oldest first.
    fn events(&self, newest_max: usize) -> Result<Vec<Event>, MemoryError>;

    /// The session's overview; `None` while nobody has written anything into it.
    fn overview(&self) -> Result<Option<String>, MemoryError> {
        let read = json!({ "path": "overview.md", "scope": "session" });
        let answer = self.call("memory_read", &read.to_string())?;
        let text = answer.json.get("content").and_then(Value::as_str).unwrap_or_default();
        let is_written = answer.failure.is_none() && text.trim() != OVERVIEW.trim();
        Ok(is_written.then(|| text.to_owned()).filter(|text| !text.trim().is_empty()))
    }

    /// What a first message says is known: the notes of the project and the coder's lessons, a line
    /// each. `None` where there are none.
    fn index(&self, tokens_max: u64) -> Result<Option<String>, MemoryError> {
        let project = self.call("memory_list", "{}")?;
        let coder = self.call("memory_list", r#"{"scope":"coder"}"#)?;
        Ok(index_text(&project.json, &coder.json, tokens_max))
    }

    /// The lessons that bear on a plan, with the request to replan behind them; `None` where there
    /// are none, for then there is nothing to replan for.
    fn lessons(&self, plan: &str) -> Result<Option<Composed>, MemoryError> {
        let ask = json!({ "question": tome_model::truncate_to(plan, PLAN_BYTES_MAX) });
        let answer = self.call("coder_memory_recall", &ask.to_string())?;
        let room = Room { tokens: PLAN_TOKENS_MAX, bytes: usize::MAX };
        let request = words::of(&Due::Replan { about: String::new() });
        Ok(plan_text(&texts::insights(&answer.json), &request, room))
    }

    /// Takes note that the agent was told something unasked, for lists of what was injected. A memory
    /// that keeps no such list does nothing.
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

/// So much of a plan is asked with: the tool takes no more.
const PLAN_BYTES_MAX: usize = 4_000;

/// The engine's tools as one caller's, for whoever has them in this process.
pub struct EngineTools<'t> {
    /// The tools.
    pub tools: &'t Tools,
    /// Who calls them.
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
