//! Custom tools.

use serde_json::Value;
use tome_llm::{CancelToken, ToolDefinition};

/// A tool that a model can call.
pub trait CustomTool: Send + Sync {
    /// Returns the definition for the model.
    fn definition(&self) -> ToolDefinition;

    /// Runs the tool. `arguments` is a JSON object that is not validated against the schema. Both the
    /// output and the error are text for the model. Long-running tools should check `stop`.
    fn call(&self, arguments: &Value, stop: &CancelToken) -> Result<String, String>;
}

/// A [`CustomTool`] made from a function.
pub struct FnTool<F> {
    definition: ToolDefinition,
    run: F,
}

impl<F: Fn(&Value) -> Result<String, String> + Send + Sync> FnTool<F> {
    /// Creates a tool from its name, its description, the JSON schema of its arguments and a function.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: Value,
        run: F,
    ) -> Self {
        let (name, description) = (name.into(), description.into());
        Self { definition: ToolDefinition { name, description, schema }, run }
    }
}

impl<F: Fn(&Value) -> Result<String, String> + Send + Sync> CustomTool for FnTool<F> {
    fn definition(&self) -> ToolDefinition {
        self.definition.clone()
    }

    fn call(&self, arguments: &Value, _: &CancelToken) -> Result<String, String> {
        (self.run)(arguments)
    }
}
