//! A command as a model: the prompt on its stdin, the answer on its stdout.
//!
//! It runs in a process group of its own and is ended with everything it started when its time is
//! up, when it says too much, when the caller stops, and when it is done. Its environment is the
//! caller's.

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

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLine {
    /// A program and its arguments; no shell reads them.
    Program(Vec<String>),
    /// A line for `sh -c`.
    Shell(String),
}

/// How a command is run.
#[derive(Debug, Clone)]
pub struct CommandSettings {
    /// What is run.
    pub line: CommandLine,
    /// How long it may take.
    pub timeout: Duration,
    /// Where it runs; none: where the caller is.
    pub dir: Option<PathBuf>,
    /// Variables it gets besides the caller's own.
    pub variables: Vec<(String, String)>,
}

/// A command that answers prompts.
#[derive(Debug)]
pub struct CommandModel {
    settings: CommandSettings,
    program: String,
    arguments: Vec<String>,
    name: String,
    stop: Stop,
}

/// What the threads at the pipes report.
enum Heard {
    /// All of stdout.
    Output(Vec<u8>),
    /// More than may be said.
    TooMuch,
    /// The end of stderr.
    Errors(Vec<u8>),
}

impl CommandModel {
    /// Runs nothing yet. `stop` ends what is running.
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

    /// Waits for the command's end, and notes what was heard on the way.
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
        // Some programs complain on stdout.
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
        // What it started ends with it; so do the pipes, and the threads that read them.
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

/// What was heard of a command so far.
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

    /// Takes what was in the pipes when the command ended. A process that left the group may hold
    /// them open for ever, so this gives up after a while.
    fn wait_for_rest(&mut self, heard: &Receiver<Heard>) -> Result<(), ModelFailure> {
        while self.output.is_none() || self.errors.is_none() {
            let Ok(more) = heard.recv_timeout(OUTPUT_GRACE) else { break };
            self.note(more)?;
        }
        Ok(())
    }
}

/// A command has one input, so both parts of the prompt go there.
fn whole(prompt: &Prompt) -> String {
    let mut text = prompt.system.clone();
    let _ = write!(text, "\n\n{}\n", prompt.user);
    text
}

/// A thread at each pipe, so that none of them can block the others.
fn open_pipes(group: &mut Group, prompt: String, hear: &Sender<Heard>) {
    let child = group.child();
    if let Some(mut stdin) = child.stdin.take() {
        // A command that does not read to the end has its reasons; how it ends says whether it failed.
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
    // An output that breaks off is taken as far as it goes.
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

/// The last words, in one short line.
fn short(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(
        bytes.get(bytes.len().saturating_sub(SAID_BYTES_MAX)..).unwrap_or(bytes),
    )
    .into_owned();
    truncate_to(&tome_text::collapse_whitespace(&text), SAID_BYTES_MAX).to_owned()
}
