//! A tool call as the hooks report it: `exec_command` is `Bash`.

use serde_json::{Value, json};

use crate::agents::fields::PayloadFields;

/// A call with the name and input that hooks report.
pub(super) struct HookCall {
    pub(super) name: String,
    pub(super) input: Value,
    /// The folder of a command, if the call names one.
    pub(super) workdir: Option<String>,
}

impl HookCall {
    /// Converts a call, given the name and input that the model wrote.
    pub(super) fn from_model(name: String, input: Value) -> Self {
        let command = match name.as_str() {
            "exec_command" => input.get("cmd"),
            "shell" | "shell_command" | "container.exec" | "" => input.get("command"),
            _ => None,
        };
        let command = match command {
            Some(Value::String(command)) => Some(command.clone()),
            Some(Value::Array(words)) => Some(join_command_line(words)),
            _ => None,
        };
        let Some(command) = command else { return Self { name, input, workdir: None } };
        let workdir = input.get("workdir").and_then(Value::as_str).filter(|dir| !dir.is_empty());
        Self {
            name: "Bash".to_owned(),
            workdir: workdir.map(str::to_owned),
            input: json!({ "command": command }),
        }
    }

    /// Converts a call that a script made. Its patch is a text rather than an object.
    pub(super) fn from_script(name: String, input: Value) -> Self {
        match input {
            Value::String(patch) if name == "apply_patch" => {
                Self { name, input: json!({ "command": patch }), workdir: None }
            }
            input => Self::from_model(name, input),
        }
    }
}

/// The name and input of a call, as the model wrote them.
pub(super) fn parse_call(mut item: PayloadFields) -> (String, Value) {
    let action = item.take_object("action");
    let mut name = item.take_text("name");
    let space = item.take_text("namespace");
    if !space.is_empty() {
        name = format!("{space}__{name}");
    }
    let input = match item.take_value("arguments") {
        Value::Null => match item.take_value("input") {
            Value::Null => action.into_value(),
            input => input,
        },
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        input => input,
    };
    (name, input)
}

/// `["bash", "-lc", "ls"]` becomes `ls`; other commands are joined by spaces.
fn join_command_line(words: &[Value]) -> String {
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    match words.as_slice() {
        [_, "-c" | "-lc", script] => (*script).to_owned(),
        words => words.join(" "),
    }
}
