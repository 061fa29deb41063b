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
use tome_text::budget_tokens;

use crate::group::Group;
use crate::limits::{OUTPUT_BYTES_MAX, OUTPUT_GRACE, SAID_BYTES_MAX, STDERR_BYTES_MAX, STOP_LOOK};
use crate::{Completion, LanguageModel, ModelFailure, Prompt, Stop};

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
    stop: Stop,
}

/// A message from a thread that reads a pipe.
enum Heard {
    Output(Vec<u8>),
    TooMuch,
    /// The tail of stderr.
    Errors(Vec<u8>),
}

impl CommandModel {
    /// Creates the model without running anything. `stop` cancels running commands.
    pub fn new(settings: CommandSettings, stop: Stop) -> Result<Self, ModelFailure> {
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

    fn start(&self) -> Result<Group, ModelFailure> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).envs(self.settings.variables.iter().cloned());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(dir) = &self.settings.dir {
            command.current_dir(dir);
        }
        Group::start(&mut command).map_err(|cause| ModelFailure::CommandMissing {
            program: self.program.clone(),
            cause: cause.to_string(),
        })
    }

    /// Waits until the command exits, and collects its output.
    fn attend(
        &self,
        group: &mut Group,
        heard: &Receiver<Heard>,
        said: &mut Said,
    ) -> Result<(), ModelFailure> {
        let start = Instant::now();
        while group.runs() {
            if self.stop.is_stopped() {
                return Err(ModelFailure::Stopped);
            }
            let left = self.settings.timeout.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Err(ModelFailure::TimedOut { after: self.settings.timeout });
            }
            if let Ok(heard) = heard.recv_timeout(left.min(STOP_LOOK)) {
                said.note(heard)?;
            }
        }
        Ok(())
    }

    fn failed(&self, status: ExitStatus, said: &Said) -> ModelFailure {
        // Some programs report errors on stdout.
        let errors = Some(said.errors.as_deref().unwrap_or_default());
        let words = errors.filter(|words| !words.is_empty()).or(said.output.as_deref());
        ModelFailure::CommandFailed {
            program: self.program.clone(),
            status: status.to_string(),
            said: short(words.unwrap_or_default()),
        }
    }
}

impl LanguageModel for CommandModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn complete(&self, prompt: &Prompt) -> Result<Completion, ModelFailure> {
        let mut group = self.start()?;
        let (hear, heard) = channel();
        open_pipes(&mut group, whole(prompt), &hear);
        let mut said = Said::default();
        let attended = self.attend(&mut group, &heard, &mut said);
        // Killing the group closes the pipes and ends the threads that read them.
        let status = group.end();
        attended?;
        said.wait_for_rest(&heard)?;
        let status = status.map_err(|cause| ModelFailure::Down { said: cause.to_string() })?;
        if !status.success() {
            return Err(self.failed(status, &said));
        }
        let text = String::from_utf8_lossy(&said.output.unwrap_or_default()).trim().to_owned();
        if text.is_empty() {
            let said = format!("{} wrote nothing to stdout", self.program);
            return Err(ModelFailure::Malformed { said });
        }
        Ok(Completion {
            input_tokens: budget_tokens(&prompt.system) + budget_tokens(&prompt.user),
            output_tokens: budget_tokens(&text),
            text,
        })
    }
}

#[derive(Default)]
struct Said {
    output: Option<Vec<u8>>,
    errors: Option<Vec<u8>>,
}

impl Said {
    fn note(&mut self, heard: Heard) -> Result<(), ModelFailure> {
        match heard {
            Heard::Output(bytes) => self.output = Some(bytes),
            Heard::Errors(bytes) => self.errors = Some(bytes),
            Heard::TooMuch => {
                let said = format!("longer than {OUTPUT_BYTES_MAX} bytes");
                return Err(ModelFailure::Malformed { said });
            }
        }
        Ok(())
    }

    /// Reads the rest of the output after the command has exited. A process that left the group may
    /// hold the pipes open, so this gives up after a grace period.
    fn wait_for_rest(&mut self, heard: &Receiver<Heard>) -> Result<(), ModelFailure> {
        while self.output.is_none() || self.errors.is_none() {
            let Ok(more) = heard.recv_timeout(OUTPUT_GRACE) else { break };
            self.note(more)?;
        }
        Ok(())
    }
}

/// Joins both parts of the prompt, because a command has a single input.
fn whole(prompt: &Prompt) -> String {
    let mut text = prompt.system.clone();
    let _ = write!(text, "\n\n{}\n", prompt.user);
    text
}

/// Starts one thread per pipe, so that none blocks the others.
fn open_pipes(group: &mut Group, prompt: String, hear: &Sender<Heard>) {
    let child = group.child();
    if let Some(mut stdin) = child.stdin.take() {
        // A command may exit without reading all input; its exit status tells whether it failed.
        std::thread::spawn(move || stdin.write_all(prompt.as_bytes()));
    }
    if let Some(stdout) = child.stdout.take() {
        let hear = hear.clone();
        std::thread::spawn(move || hear.send(read_output(stdout)));
    }
    if let Some(stderr) = child.stderr.take() {
        let hear = hear.clone();
        std::thread::spawn(move || hear.send(Heard::Errors(read_end(stderr))));
    }
}

fn read_output(stdout: impl Read) -> Heard {
    let mut bytes = Vec::new();
    let most = u64::try_from(OUTPUT_BYTES_MAX).unwrap_or(u64::MAX);
    // Use what was read before an error.
    let _ = stdout.take(most.saturating_add(1)).read_to_end(&mut bytes);
    if bytes.len() > OUTPUT_BYTES_MAX { Heard::TooMuch } else { Heard::Output(bytes) }
}

fn read_end(mut stderr: impl Read) -> Vec<u8> {
    let mut end = Vec::new();
    let mut part = [0; STDERR_BYTES_MAX];
    while let Ok(read @ 1..) = stderr.read(&mut part) {
        end.extend_from_slice(part.get(..read).unwrap_or_default());
        end.drain(..end.len().saturating_sub(STDERR_BYTES_MAX));
    }
    end
}

/// Returns the end of the output as one short line.
fn short(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(
        bytes.get(bytes.len().saturating_sub(SAID_BYTES_MAX)..).unwrap_or(bytes),
    )
    .into_owned();
    truncate_to(&tome_text::collapse_whitespace(&text), SAID_BYTES_MAX).to_owned()
}
