//! The tools an agent's model may call: those of memory, as the engine has them, and the agent's own.
//!
//! Every call comes to a result that a model can read. Arguments that are no JSON object, a name that
//! nobody offers, a tool that fails or panics: each is told to the model, and the conversation goes on.

mod own;
mod plan;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde_json::{Map, Value};
use tome_engine::{Effect, ToolSpec};
use tome_llm::{OfferedTool, Stop, ToolCall, ToolResult};

use crate::MemoryTools;

pub use own::{FnTool, Tool};
pub use plan::PlanTool;

/// Which tools of memory are on offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MemorySet {
    /// None.
    Nothing,
    /// Those that only look.
    ReadOnly,
    /// All of them. (`memory`, another way to the same notes, is for models that are trained on it,
    /// and is offered by nobody here.)
    #[default]
    Full,
    /// Those of the reflector: read, write, patch and append notes.
    Reflection,
}

impl MemorySet {
    /// The tools of the reflector.
    const REFLECTION: [&str; 4] = ["memory_read", "memory_write", "memory_patch", "memory_append"];

    /// Whether a tool is among them.
    pub fn has(self, tool: &ToolSpec) -> bool {
        let is_usual = tool.toolset != "anthropic";
        match self {
            Self::Nothing => false,
            Self::ReadOnly => is_usual && tool.effect == Effect::Reads,
            Self::Full => is_usual,
            Self::Reflection => Self::REFLECTION.contains(&tool.name),
        }
    }
}

/// The tools on offer.
#[derive(Clone, Default)]
pub struct Toolbox {
    set: MemorySet,
    own: Vec<Arc<dyn Tool>>,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    /// What the model reads.
    pub result: ToolResult,
    /// The arguments as JSON; as text where they are none.
    pub input: Value,
}

impl Toolbox {
    /// A choice of memory's tools.
    pub fn new(set: MemorySet) -> Self {
        Self { set, own: Vec::new() }
    }

    /// The same with a tool of the agent's own. One that has the name of another takes its place.
    #[must_use]
    pub fn with(mut self, tool: impl Tool + 'static) -> Self {
        let name = tool.offered().name;
        self.own.retain(|one| one.offered().name != name);
        self.own.push(Arc::new(tool));
        self
    }

    /// The tools as a model is told of them, in an order that stays.
    pub fn offered(&self, memory: &dyn MemoryTools) -> Vec<OfferedTool> {
        let mut offered: Vec<OfferedTool> = self.own.iter().map(|tool| tool.offered()).collect();
        let taken: Vec<String> = offered.iter().map(|tool| tool.name.clone()).collect();
        let of_memory = memory.tools().into_iter().filter(|tool| self.set.has(tool));
        let of_memory = of_memory.filter(|tool| !taken.iter().any(|name| name == tool.name));
        offered.extend(of_memory.map(|tool| OfferedTool {
            name: tool.name.to_owned(),
            description: tool.description.to_owned(),
            schema: tool.schema,
        }));
        offered
    }

    /// Makes a call. There is always a result.
    pub fn run(&self, memory: &dyn MemoryTools, call: &ToolCall, stop: &Stop) -> Ran {
        let given = call.arguments.trim();
        let parsed = serde_json::from_str::<Map<String, Value>>(match given {
            // What models send to a tool that takes nothing.
            "" | "null" => "{}",
            given => given,
        });
        let (answer, input) = match parsed {
            Err(error) => {
                let said = format!(
                    "the arguments of {} are not a JSON object ({error}): nothing was done; call it again with one",
                    call.name
                );
                (Err(said), Value::String(call.arguments.clone()))
            }
            Ok(arguments) => {
                let input = Value::Object(arguments);
                (self.dispatch(memory, &call.name, &input, stop), input)
            }
        };
        let failed = answer.is_err();
        let text = answer.unwrap_or_else(|said| format!("Error: {said}"));
        let text = if text.is_empty() { "(nothing)".to_owned() } else { text };
        Ran { result: ToolResult { id: call.id.clone(), text, failed }, input }
    }

    fn dispatch(
        &self,
        memory: &dyn MemoryTools,
        name: &str,
        arguments: &Value,
        stop: &Stop,
    ) -> Result<String, String> {
        if let Some(own) = self.own.iter().find(|tool| tool.offered().name == name) {
            return caught(name, || own.call(arguments, stop));
        }
        if !memory.tools().iter().any(|tool| tool.name == name && self.set.has(tool)) {
            let known: Vec<String> =
                self.offered(memory).into_iter().map(|tool| tool.name).collect();
            return Err(format!("there is no tool {name:?}; there are {}", known.join(", ")));
        }
        caught(name, || {
            let answer = memory.call(name, &arguments.to_string());
            let answer = answer.map_err(|error| error.to_string())?;
            if answer.failure.is_some() { Err(answer.text) } else { Ok(answer.text) }
        })
    }
}

/// A tool that panics has failed; the agent has not.
fn caught(name: &str, run: impl FnOnce() -> Result<String, String>) -> Result<String, String> {
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|_| Err(format!("{name} broke down; what it was to do may be half done")))
}

/// What a call comes to that was not made because the person stopped the agent.
pub(crate) fn not_run(call: &ToolCall) -> Ran {
    let text = "Error: not run, the person stopped the agent".to_owned();
    let input = serde_json::from_str(&call.arguments)
        .unwrap_or_else(|_| Value::String(call.arguments.clone()));
    Ran { result: ToolResult { id: call.id.clone(), text, failed: true }, input }
}
