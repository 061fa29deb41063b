//! Commands that go on after their call. Codex reads the rest of their output with `write_stdin`, whose calls name
//! the session of the command only.

use serde_json::Value;

use super::tool_call::HookCall;

/// Commands that are remembered; the oldest is forgotten.
const COMMANDS_MAX: usize = 64;
/// Bytes of the header before a command's output.
const HEADER_BYTES_MAX: usize = 400;
/// The line of the header that names the session.
const SESSION_LINE: &str = "Process running with session ID ";

#[derive(Default)]
pub(super) struct RunningCommands(Vec<RunningCommand>);

struct RunningCommand {
    session: i64,
    line: String,
    workdir: Option<String>,
}

impl RunningCommands {
    /// Notes a command that goes on, and adds the command to the calls that read the rest of its output. Keys
    /// that were typed into it are no command of their own.
    pub(super) fn read_call(&mut self, call: &mut HookCall, output: &Value) {
        let session = call.input.get("session_id").and_then(Value::as_i64);
        if let (Some(session), "write_stdin") = (session, call.name.as_str()) {
            let known = self.0.iter().find(|known| known.session == session);
            if let (Some(known), Some(input)) = (known, call.input.as_object_mut()) {
                input.insert("command".to_owned(), Value::String(known.line.clone()));
                call.workdir.clone_from(&known.workdir);
            }
            return;
        }
        let line = call.input.get("command").and_then(Value::as_str);
        if let (Some(line), Some(session)) = (line, output.as_str().and_then(find_session)) {
            self.0.retain(|known| known.session != session);
            if self.0.len() >= COMMANDS_MAX {
                self.0.remove(0);
            }
            let (line, workdir) = (line.to_owned(), call.workdir.clone());
            self.0.push(RunningCommand { session, line, workdir });
        }
    }
}

/// The session in the header of a command's output.
fn find_session(output: &str) -> Option<i64> {
    let head = tome_model::truncate_to(output, HEADER_BYTES_MAX);
    let head = head.split("Output:\n").next().unwrap_or_default();
    head.lines().find_map(|line| line.strip_prefix(SESSION_LINE)?.trim().parse().ok())
}
