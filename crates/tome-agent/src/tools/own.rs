//! Tools that an agent brings along.

use serde_json::Value;
use tome_llm::{OfferedTool, Stop};

/// A tool of the agent's own.
pub trait Tool: Send + Sync {
    /// How the model is told of it.
    fn offered(&self) -> OfferedTool;

    /// Does it. The arguments are a JSON object, not checked against the schema. What comes back is
    /// for the model, either way. A tool that takes long looks at `stop`.
    fn call(&self, arguments: &Value, stop: &Stop) -> Result<String, String>;
}

/// A tool that is a function.
pub struct FnTool<F> {
    offered: OfferedTool,
    run: F,
}

impl<F: Fn(&Value) -> Result<String, String> + Send + Sync> FnTool<F> {
    /// A function as a tool: its name, what it does, the JSON schema of its arguments.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: Value,
        run: F,
    ) -> Self {
        let (name, description) = (name.into(), description.into());
        Self { offered: OfferedTool { name, description, schema }, run }
    }
}

impl<F: Fn(&Value) -> Result<String, String> + Send + Sync> Tool for FnTool<F> {
    fn offered(&self) -> OfferedTool {
        self.offered.clone()
    }

    fn call(&self, arguments: &Value, _: &Stop) -> Result<String, String> {
        (self.run)(arguments)
    }
}
