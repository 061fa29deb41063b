//! Access to notebooks for commands: selects the notebook, calls the daemon, and maps its errors to
//! exit codes and hints.

use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tome_model::Scope;
use tome_proto::{Client, ClientError, v1};
use tome_terminal::{BOLD, RESET, format_counted};

use super::project_name::{absolute_path, resolve_given};
use super::session_lookup::complete_session;
use super::shell_word::quote_shell;
use super::{CommandContext, CommandError};
use crate::cli::memory::{NotebookArgs, ScopeName};
use crate::connect::ConnectError;

/// Cap on a file or standard input; far more than a note may hold.
const INPUT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The notebook that a command works on.
pub struct NotebookCommands<'a> {
    pub context: &'a CommandContext,
    scope: Scope,
    cwd: String,
    /// As typed, for hints.
    project: Option<PathBuf>,
    session: Option<String>,
    /// The command as recorded in the history, such as `tome memory write`.
    command: String,
}

impl<'a> NotebookCommands<'a> {
    /// Selects the notebook from the command line.
    pub fn new(context: &'a CommandContext, args: &NotebookArgs, command: &str) -> Result<Self> {
        let scope = match args.scope {
            Some(ScopeName::Session) => Scope::Session,
            Some(ScopeName::Project) => Scope::Project,
            Some(ScopeName::Coder) => Scope::Coder,
            None if args.session.is_some() => Scope::Session,
            None => Scope::Project,
        };
        if scope == Scope::Session && args.session.is_none() {
            let refusal = CommandError::bad_input("--scope session needs --session ID");
            return Err(refusal
                .with_hint("`tome show <event>` prints the session of an event")
                .into());
        }
        let folder = resolve_given(context, args.project.as_deref())?;
        let cwd = match absolute_folder(folder.as_deref()) {
            // The coder's notebook does not depend on the current folder.
            Err(_) if scope == Scope::Coder => String::new(),
            cwd => cwd?,
        };
        Ok(Self {
            context,
            scope,
            cwd,
            project: args.project.clone(),
            session: complete_session(context, args.session.as_deref())?,
            command: command.to_owned(),
        })
    }

    pub fn for_coder(context: &'a CommandContext, command: &str) -> Result<Self> {
        let args = NotebookArgs { scope: Some(ScopeName::Coder), session: None, project: None };
        Self::new(context, &args, command)
    }

    pub fn scope(&self) -> Scope {
        self.scope
    }

    pub fn notebook_ref(&self) -> v1::Whose {
        v1::Whose {
            scope: self.scope.as_str().to_owned(),
            cwd: self.cwd.clone(),
            session_id: self.session.clone().unwrap_or_default(),
        }
    }

    /// The author for the history: the person at the command line.
    pub fn author(&self) -> v1::Author {
        v1::Author { tool: self.command.clone(), ..v1::Author::default() }
    }

    /// Renders a command for the same notebook, for use in a hint.
    pub fn hint_command(&self, command: &str, path: Option<&str>) -> String {
        let path = path.map(|path| format!(" {}", quote_shell(path))).unwrap_or_default();
        let mut hinted = format!("tome memory {command}{path}");
        match (self.scope, &self.session) {
            (Scope::Project, _) => {}
            (Scope::Session, Some(session)) => {
                hinted += &format!(" --session {}", quote_shell(session));
            }
            (scope, _) => hinted += &format!(" --scope {}", scope.as_str()),
        }
        if let Some(project) = &self.project {
            hinted += &format!(" --project {}", quote_shell(&project.to_string_lossy()));
        }
        hinted
    }

    /// Calls a tool that changes something. Never retried, because the change may already have been made.
    pub fn call_tool(&self, tool: &str, arguments: Value) -> Result<v1::CallToolResponse> {
        let request = self.build_tool_request(tool, arguments);
        let answer = self.call_once(async |client| client.call_tool(request).await)?;
        check_tool_response(answer)
    }

    /// Calls a read-only tool, with retries.
    pub fn call_read_tool(&self, tool: &str, arguments: Value) -> Result<v1::CallToolResponse> {
        let request = self.build_tool_request(tool, arguments);
        check_tool_response(
            self.call_idempotent(async |client| client.call_tool(request.clone()).await)?,
        )
    }

    fn build_tool_request(&self, tool: &str, mut arguments: Value) -> v1::CallToolRequest {
        if let Some(map) = arguments.as_object_mut()
            && tool.starts_with("memory_")
        {
            map.insert("scope".into(), json!(self.scope.as_str()));
        }
        v1::CallToolRequest {
            name: tool.to_owned(),
            arguments_json: arguments.to_string(),
            cwd: self.cwd.clone(),
            session_id: self.session.clone().unwrap_or_default(),
            agent: String::new(),
            command: self.command.clone(),
        }
    }

    /// Sends an idempotent request, with retries.
    pub fn call_idempotent<T>(
        &self,
        question: impl AsyncFn(&Client) -> Result<T, ClientError>,
    ) -> Result<T> {
        self.context.connector.call_blocking(question).map_err(|error| self.map_error(error))
    }

    /// Sends a change request without retries.
    pub fn call_once<T>(
        &self,
        change: impl AsyncFnOnce(&Client) -> Result<T, ClientError>,
    ) -> Result<T> {
        self.context.connector.call_once_blocking(change).map_err(|error| {
            let is_unsure = matches!(
                error,
                ConnectError::Client(ClientError::Unreachable(_) | ClientError::TimedOut(_))
            );
            let error = self.map_error(error);
            if is_unsure {
                let log = self.hint_command("log", None);
                error.context(format!(
                    "no reply from the daemon; `{log}` shows whether the change was made"
                ))
            } else {
                error
            }
        })
    }

    /// Maps errors of the daemon to this command's errors, with hints.
    fn map_error(&self, error: ConnectError) -> anyhow::Error {
        match error {
            // A message with a command in backticks already contains a hint.
            ConnectError::Client(ClientError::NotFound(message)) if message.contains('`') => {
                CommandError::not_found(message).into()
            }
            ConnectError::Client(ClientError::NotFound(message)) => {
                let hint = format!("`{}` lists the notes", self.hint_command("list", None));
                CommandError::not_found(message).with_hint(hint).into()
            }
            ConnectError::Client(ClientError::Conflict(message)) => {
                CommandError::failed(message).into()
            }
            error => error.into(),
        }
    }
}

/// Returns the tool's response, or its error with the matching exit code.
pub fn check_tool_response(answer: v1::CallToolResponse) -> Result<v1::CallToolResponse> {
    if answer.secrets_cut > 0 {
        let cut = format_counted(u64::from(answer.secrets_cut), "text", "texts");
        writeln!(tome_terminal::stderr(), "{BOLD}note:{RESET} secrets were redacted in {cut}")?;
    }
    if !answer.is_error {
        return Ok(answer);
    }
    let message = tool_error_message(&answer);
    let mut refusal = match answer.error_kind.as_str() {
        "invalid" => CommandError::bad_input(message),
        "not_found" => CommandError::not_found(message),
        _ => CommandError::failed(message),
    };
    refusal.hint =
        parse_tool_result(&answer).get("hint").and_then(Value::as_str).map(str::to_owned);
    Err(refusal.into())
}

/// Returns a tool's error message without the `Error:` prefix, which the command line adds itself.
fn tool_error_message(answer: &v1::CallToolResponse) -> String {
    let message = parse_tool_result(answer).get("error").and_then(Value::as_str).map(str::to_owned);
    let message = message.unwrap_or_else(|| answer.text.clone());
    message.strip_prefix("Error: ").map(str::to_owned).unwrap_or(message)
}

/// Parses the JSON result of a tool.
pub fn parse_tool_result(answer: &v1::CallToolResponse) -> Value {
    serde_json::from_str(&answer.result_json).unwrap_or(Value::Null)
}

/// Returns the given folder, or the current one, as an absolute path.
pub fn absolute_folder(given: Option<&Path>) -> Result<String> {
    let path = match given {
        Some(path) => absolute_path(path)?,
        None => {
            std::env::current_dir().context("cannot determine the current folder; use --project")?
        }
    };
    Ok(path.to_string_lossy().into_owned())
}

/// Returns the typed text, or reads the file, or standard input.
pub fn read_input(typed: Option<&str>, file: Option<&PathBuf>, flag: &str) -> Result<String> {
    match (typed, file) {
        (Some(text), _) => Ok(text.to_owned()),
        (None, Some(path)) if path.as_os_str() != "-" => {
            let opened = std::fs::File::open(path);
            let opened = opened.with_context(|| format!("cannot read {}", path.display()))?;
            read_capped(opened, &path.display().to_string())
        }
        (None, _) => {
            if std::io::stdin().is_terminal() {
                writeln!(
                    tome_terminal::stderr(),
                    "reading from the terminal; finish with Ctrl-D (or use {flag})"
                )?;
            }
            read_capped(std::io::stdin(), "standard input")
        }
    }
}

fn read_capped(from: impl Read, name: &str) -> Result<String> {
    let mut bytes = Vec::new();
    from.take(INPUT_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read {name}"))?;
    if bytes.len() as u64 > INPUT_BYTES_MAX {
        return Err(CommandError::bad_input(format!("{name} is too large for a note")).into());
    }
    String::from_utf8(bytes)
        .map_err(|_| CommandError::bad_input(format!("{name} is not UTF-8 text")).into())
}

/// Prints a text unchanged if piped; on a terminal, control sequences are neutralized.
pub fn print_text(text: &str) -> Result<()> {
    if !tome_terminal::is_stdout_terminal() {
        return Ok(tome_terminal::write_raw(text.as_bytes())?);
    }
    let mut out = tome_terminal::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    write!(out, "{text}{end}")?;
    Ok(out.flush()?)
}

/// Prints a tool's text, with a final newline.
pub fn print_with_newline(text: &str) -> Result<()> {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    print_text(&format!("{text}{end}"))
}
