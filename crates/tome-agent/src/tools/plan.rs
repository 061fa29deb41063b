//! The plan tool: makes a longer task visible to the user and to the triggers.

use serde_json::{Value, json};
use tome_llm::{CancelToken, ToolDefinition};

use super::CustomTool;

/// Accepts a plan and acknowledges it. The triggers recognize its name and format: a plan with many
/// steps makes memory recall relevant lessons.
pub struct PlanTool;

impl PlanTool {
    /// The tool's name.
    pub const NAME: &str = "update_plan";
}

impl CustomTool for PlanTool {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: Self::NAME.to_owned(),
            description:
                "Record the plan for a task of several steps. Call it again whenever a step is done or the \
                          plan changes, always with the whole plan."
                    .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "plan": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "step": { "type": "string" },
                                "status": {
                                    "type": "string",
                                    "enum": ["pending", "in_progress", "completed"],
                                },
                            },
                            "required": ["step", "status"],
                        },
                    },
                },
                "required": ["plan"],
            }),
        }
    }

    fn call(&self, arguments: &Value, _: &CancelToken) -> Result<String, String> {
        let steps = arguments.get("plan").and_then(Value::as_array);
        let steps = steps.ok_or("plan is missing: pass a list of {step, status}")?;
        let is_done = |step: &&Value| step.get("status") == Some(&Value::from("completed"));
        let done = steps.iter().filter(is_done).count();
        Ok(format!("Plan noted: {} steps, {done} done.", steps.len()))
    }
}
