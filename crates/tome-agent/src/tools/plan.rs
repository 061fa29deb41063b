//! The plan as a tool: what makes a longer task visible, to the person and to the triggers.

use serde_json::{Value, json};
use tome_llm::{OfferedTool, Stop};

use super::Tool;

/// Takes a plan and says that it was taken. The triggers know its name and its shape: a plan with many
/// steps has the lessons recalled that bear on it.
pub struct PlanTool;

impl PlanTool {
    /// Its name.
    pub const NAME: &str = "update_plan";
}

impl Tool for PlanTool {
    fn offered(&self) -> OfferedTool {
        OfferedTool {
            name: Self::NAME.to_owned(),
            description:
                "Write down the plan for a task of several steps, and again whenever a step \
                          is done or the plan changes. Always the whole plan."
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

    fn call(&self, arguments: &Value, _: &Stop) -> Result<String, String> {
        let steps = arguments.get("plan").and_then(Value::as_array);
        let steps = steps.ok_or("plan is missing: a list of {step, status}")?;
        let is_done = |step: &&Value| step.get("status") == Some(&Value::from("completed"));
        let done = steps.iter().filter(is_done).count();
        Ok(format!("Plan noted: {} steps, {done} done.", steps.len()))
    }
}
