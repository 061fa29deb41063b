//! A command as a model: it reads the prompt on stdin and writes the answer to stdout.
//!
//! The command runs in its own process group, which is killed when the timeout expires, the output is
//! too long, the call is cancelled, or the command has exited. It inherits the caller's environment.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use tome_model::truncate_to;
use tome_text::estimate_tokens_conservatively;

use crate::limits::{
    CANCEL_POLL_INTERVAL, MESSAGE_BYTES_MAX, OUTPUT_BYTES_MAX, OUTPUT_GRACE, STDERR_BYTES_MAX,
};
use crate::process_group::ProcessGroup;
use crate::{CancelToken, Completion, CompletionRequest, LanguageModel, ModelFailure};

/// The command to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLine {
    /// A program and its arguments, run without a shell.
    Program(Vec<String>),
    /// A line for `sh -c`.
    Shell(String),
}

/// Settings of a [`CommandModel`].
#[derive(Debug, Clone)]
pub struct CommandSettings {
    /// The command to run.
    pub line: CommandLine,
    /// Maximum run time.
    pub timeout: Duration,
    /// Working directory; `None` uses the caller's.
    pub dir: Option<PathBuf>,
    /// Environment variables in addition to the caller's.
    pub variables: Vec<(String, String)>,
}

/// A model that answers prompts by running a command.
#[derive(Debug)]
pub struct CommandModel {
    settings: CommandSettings,
    program: String,
    arguments: Vec<String>,
    name: String,
    stop: CancelToken,
}

/// A message from a thread that reads a pipe.
enum PipeOutput {
    Stdout(Vec<u8>),
    TooLong,
    /// The tail of stderr.
    Stderr(Vec<u8>),
}

impl CommandModel {
    /// Creates the model without running anything. `stop` cancels running commands.
    pub fn new(settings: CommandSettings, stop: CancelToken) -> Result<Self, ModelFailure> {
        let words = match &settings.line {
            CommandLine::Program(words) => words.clone(),
            CommandLine::Shell(line) if line.trim().is_empty() => Vec::new(),
            CommandLine::Shell(line) => vec!["sh".to_owned(), "-c".to_owned(), line.clone()],
        };
        let named = match &settings.line {
            CommandLine::Program(words) => words.first().map_or("", String::as_str),
            CommandLine::Shell(line) => line.split_whitespace().next().unwrap_or_default(),
        };
        let name = format!("command/{}", named.rsplit(['/', '\\']).next().unwrap_or(named));
        let mut words = words.into_iter();
        match words.next().filter(|program| !program.trim().is_empty()) {
            Some(program) => Ok(Self { settings, program, arguments: words.collect(), name, stop }),
            None => {
                Err(ModelFailure::Misconfigured("the command is empty: name a program".to_owned()))
            }
        }
    }

    fn spawn(&self) -> Result<ProcessGroup, ModelFailure> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).envs(self.settings.variables.iter().cloned());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(dir) = &self.settings.dir {
            command.current_dir(dir);
        }
        ProcessGroup::spawn(&mut command).map_err(|cause| ModelFailure::SpawnFailed {
            program: self.program.clone(),
            cause: cause.to_string(),
        })
    }

    /// Waits until the command exits, and collects its output.
    fn wait_for_exit(
        &self,
        group: &mut ProcessGroup,
        received: &Receiver<PipeOutput>,
        output: &mut CommandOutput,
    ) -> Result<(), ModelFailure> {
        let start = Instant::now();
        while group.is_running() {
            if self.stop.is_cancelled() {
                return Err(ModelFailure::Cancelled);
            }
            let left = self.settings.timeout.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Err(ModelFailure::TimedOut { after: self.settings.timeout });
            }
            if let Ok(received) = received.recv_timeout(left.min(CANCEL_POLL_INTERVAL)) {
                output.record(received)?;
            }
        }
        Ok(())
    }

    fn exit_failure(&self, status: ExitStatus, output: &CommandOutput) -> ModelFailure {
        // Some programs report errors on stdout.
        let errors = Some(output.stderr.as_deref().unwrap_or_default());
        let words = errors.filter(|words| !words.is_empty()).or(output.stdout.as_deref());
        ModelFailure::CommandFailed {
            program: self.program.clone(),
            status: status.to_string(),
            message: shorten_output(words.unwrap_or_default()),
        }
    }
}

impl LanguageModel for CommandModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn complete(&self, prompt: &CompletionRequest) -> Result<Completion, ModelFailure> {
        let mut group = self.spawn()?;
        let (sender, receiver) = channel();
        spawn_pipe_threads(&mut group, render_prompt(prompt), &sender);
        let mut output = CommandOutput::default();
        let attended = self.wait_for_exit(&mut group, &receiver, &mut output);
        // Killing the group closes the pipes and ends the threads that read them.
        let status = group.kill_and_wait();
        attended?;
        output.wait_for_rest(&receiver)?;
        let status =
            status.map_err(|cause| ModelFailure::Unreachable { message: cause.to_string() })?;
        if !status.success() {
            return Err(self.exit_failure(status, &output));
        }
        let text = String::from_utf8_lossy(&output.stdout.unwrap_or_default()).trim().to_owned();
        if text.is_empty() {
            let message = format!("{} wrote nothing to stdout", self.program);
            return Err(ModelFailure::Malformed { message });
        }
        Ok(Completion {
            input_tokens: estimate_tokens_conservatively(&prompt.system)
                + estimate_tokens_conservatively(&prompt.user),
            output_tokens: estimate_tokens_conservatively(&text),
            text,
        })
    }
}

#[derive(Default)]
struct CommandOutput {
    stdout: Option<Vec<u8>>,
    stderr: Option<Vec<u8>>,
}

impl CommandOutput {
    fn record(&mut self, received: PipeOutput) -> Result<(), ModelFailure> {
        match received {
            PipeOutput::Stdout(bytes) => self.stdout = Some(bytes),
            PipeOutput::Stderr(bytes) => self.stderr = Some(bytes),
            PipeOutput::TooLong => {
                let message = format!("longer than {OUTPUT_BYTES_MAX} bytes");
                return Err(ModelFailure::Malformed { message });
            }
        }
        Ok(())
    }

    /// Reads the rest of the output after the command has exited. A process that left the group may
    /// hold the pipes open, so this gives up after a grace period.
    fn wait_for_rest(&mut self, receiver: &Receiver<PipeOutput>) -> Result<(), ModelFailure> {
        while self.stdout.is_none() || self.stderr.is_none() {
            let Ok(more) = receiver.recv_timeout(OUTPUT_GRACE) else { break };
            self.record(more)?;
        }
        Ok(())
    }
}

/// Joins both parts of the prompt, because a command has a single input.
fn render_prompt(prompt: &CompletionRequest) -> String {
    let mut text = prompt.system.clone();
    let _ = write!(text, "\n\n{}\n", prompt.user);
    text
}

/// Starts one thread per pipe, so that none blocks the others.
fn spawn_pipe_threads(group: &mut ProcessGroup, prompt: String, sender: &Sender<PipeOutput>) {
    let child = group.child();
    if let Some(mut stdin) = child.stdin.take() {
        // A command may exit without reading all input; its exit status shows whether it failed.
        std::thread::spawn(move || stdin.write_all(prompt.as_bytes()));
    }
    if let Some(stdout) = child.stdout.take() {
        let sender = sender.clone();
        std::thread::spawn(move || sender.send(read_stdout(stdout)));
    }
    if let Some(stderr) = child.stderr.take() {
        let sender = sender.clone();
        std::thread::spawn(move || sender.send(PipeOutput::Stderr(read_stderr_tail(stderr))));
    }
}

fn read_stdout(stdout: impl Read) -> PipeOutput {
    let mut bytes = Vec::new();
    let most = u64::try_from(OUTPUT_BYTES_MAX).unwrap_or(u64::MAX);
    // Use what was read before an error.
    let _ = stdout.take(most.saturating_add(1)).read_to_end(&mut bytes);
    if bytes.len() > OUTPUT_BYTES_MAX { PipeOutput::TooLong } else { PipeOutput::Stdout(bytes) }
}

fn read_stderr_tail(mut stderr: impl Read) -> Vec<u8> {
    let mut end = Vec::new();
    let mut part = [0; STDERR_BYTES_MAX];
    while let Ok(read @ 1..) = stderr.read(&mut part) {
        end.extend_from_slice(part.get(..read).unwrap_or_default());
        end.drain(..end.len().saturating_sub(STDERR_BYTES_MAX));
    }
    end
}

/// Returns the end of the output as one short line.
fn shorten_output(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(
        bytes.get(bytes.len().saturating_sub(MESSAGE_BYTES_MAX)..).unwrap_or(bytes),
    )
    .into_owned();
    truncate_to(&tome_text::collapse_whitespace(&text), MESSAGE_BYTES_MAX).to_owned()
}
