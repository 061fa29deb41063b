//! Errors for programs: with `--json`, an error is an object on standard error.

use std::io::Write;
use std::process::ExitCode;

use serde_json::json;

/// Whether the command line asks for JSON, although it could not be parsed.
pub fn is_wanted() -> bool {
    std::env::args_os().skip(1).take_while(|arg| arg != "--").any(|arg| arg == "--json")
}

/// Reports an invalid command line.
pub fn report_usage(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    let message = text.lines().next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(message);
    write(&json!({"error": message, "code": 2, "hint": "run `tome --help`"}));
    ExitCode::from(2)
}

/// Reports an error of a command with its causes.
pub fn report(error: &anyhow::Error, code: u8, hint: Option<&str>) -> ExitCode {
    let because: Vec<String> = error.chain().skip(1).map(ToString::to_string).collect();
    write(&json!({
        "error": error.to_string(), "because": because, "code": code, "hint": hint,
    }));
    ExitCode::from(code)
}

fn write(value: &serde_json::Value) {
    let text = tome_terminal::render_json(value).unwrap_or_default();
    // Without standard error there is nowhere to report to.
    let _ = writeln!(tome_terminal::stderr(), "{text}");
}
