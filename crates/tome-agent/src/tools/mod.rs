//! The tools a model may call: the memory tools of the engine and custom ones.
//!
//! Every call produces a result that the model can read. Invalid arguments, unknown names, and tools
//! that fail or panic are reported to the model, and the conversation continues.

mod custom;
mod plan;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde_json::{Map, Value};
use tome_engine::{ToolEffect, ToolSpec};
use tome_llm::{CancelToken, ToolCall, ToolDefinition, ToolResult};

use crate::MemoryTools;

pub use custom::{CustomTool, FnTool};
pub use plan::PlanTool;

/// Selects which memory tools the model may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MemoryToolSet {
    /// No memory tools.
    None,
    /// Tools whose calls change nothing.
    ReadOnly,
    /// All of them except `memory`, an alternative interface that some models are trained on.
    #[default]
    Full,
    /// The tools for reflection: read, write, patch and append notes.
    Reflection,
}

impl MemoryToolSet {
    const REFLECTION: [&str; 4] = ["memory_read", "memory_write", "memory_patch", "memory_append"];

    /// Whether the set contains a tool.
    pub fn contains(self, tool: &ToolSpec) -> bool {
        let is_usual = tool.toolset != "anthropic";
        match self {
            Self::None => false,
            Self::ReadOnly => is_usual && tool.effect == ToolEffect::Reads,
            Self::Full => is_usual,
            Self::Reflection => Self::REFLECTION.contains(&tool.name),
        }
    }
}

/// The tools a model may call.
#[derive(Clone, Default)]
pub struct Toolbox {
    memory_set: MemoryToolSet,
    custom: Vec<Arc<dyn CustomTool>>,
}

/// The outcome of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedToolCall {
    /// The result for the model.
    pub result: ToolResult,
    /// The arguments as JSON, or as a string if they are not valid JSON.
    pub input: Value,
}

impl Toolbox {
    /// Creates a toolbox with a set of memory tools.
    pub fn new(set: MemoryToolSet) -> Self {
        Self { memory_set: set, custom: Vec::new() }
    }

    /// Adds a custom tool. It replaces a tool with the same name.
    #[must_use]
    pub fn with_tool(mut self, tool: impl CustomTool + 'static) -> Self {
        let name = tool.definition().name;
        self.custom.retain(|one| one.definition().name != name);
        self.custom.push(Arc::new(tool));
        self
    }

    /// Returns the tool definitions for the model, in a stable order.
    pub fn definitions(&self, memory: &dyn MemoryTools) -> Vec<ToolDefinition> {
        let mut offered: Vec<ToolDefinition> =
            self.custom.iter().map(|tool| tool.definition()).collect();
        let taken: Vec<String> = offered.iter().map(|tool| tool.name.clone()).collect();
        let memory_tools = memory.tools().into_iter().filter(|tool| self.memory_set.contains(tool));
        let memory_tools = memory_tools.filter(|tool| !taken.iter().any(|name| name == tool.name));
        offered.extend(memory_tools.map(|tool| ToolDefinition {
            name: tool.name.to_owned(),
            description: tool.description.to_owned(),
            schema: tool.schema,
        }));
        offered
    }

    /// Runs a call. Failures become results, too.
    pub fn run_call(
        &self,
        memory: &dyn MemoryTools,
        call: &ToolCall,
        stop: &CancelToken,
    ) -> FinishedToolCall {
        let raw = call.arguments.trim();
        let parsed = serde_json::from_str::<Map<String, Value>>(match raw {
            // Models send these to tools without parameters.
            "" | "null" => "{}",
            raw => raw,
        });
        let (answer, input) = match parsed {
            Err(error) => {
                let problem = format!(
                    "the arguments of {} are not a JSON object ({error}); it was not run: call it again with a JSON object",
                    call.name
                );
                (Err(problem), Value::String(call.arguments.clone()))
            }
            Ok(arguments) => {
                let input = Value::Object(arguments);
                (self.dispatch(memory, &call.name, &input, stop), input)
            }
        };
        let failed = answer.is_err();
        let text = answer.unwrap_or_else(|problem| format!("Error: {problem}"));
        let text = if text.is_empty() { "(no output)".to_owned() } else { text };
        FinishedToolCall { result: ToolResult { id: call.id.clone(), text, failed }, input }
    }

    fn dispatch(
        &self,
        memory: &dyn MemoryTools,
        name: &str,
        arguments: &Value,
        stop: &CancelToken,
    ) -> Result<String, String> {
        if let Some(custom) = self.custom.iter().find(|tool| tool.definition().name == name) {
            return catch_panic(name, || custom.call(arguments, stop));
        }
        if !memory.tools().iter().any(|tool| tool.name == name && self.memory_set.contains(tool)) {
            let known: Vec<String> =
                self.definitions(memory).into_iter().map(|tool| tool.name).collect();
            return Err(format!("there is no tool {name:?}; available: {}", known.join(", ")));
        }
        catch_panic(name, || {
            let answer = memory.call_tool(name, &arguments.to_string());
            let answer = answer.map_err(|error| error.to_string())?;
            if answer.failure.is_some() { Err(answer.text) } else { Ok(answer.text) }
        })
    }
}

/// Turns a panic of a tool into an error, so that the agent survives it.
fn catch_panic(name: &str, run: impl FnOnce() -> Result<String, String>) -> Result<String, String> {
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|_| Err(format!("{name} crashed; its work may be partly done")))
}

/// The outcome of a call that was skipped because the run was cancelled.
pub(crate) fn cancelled_outcome(call: &ToolCall) -> FinishedToolCall {
    let text = "Error: not run because the user stopped the agent".to_owned();
    let input = serde_json::from_str(&call.arguments)
        .unwrap_or_else(|_| Value::String(call.arguments.clone()));
    FinishedToolCall { result: ToolResult { id: call.id.clone(), text, failed: true }, input }
}
