//! Input of a chat: lines from standard input, read on a separate thread, and Ctrl-C while no reply
//! is in progress.
//!
//! A line that ends in a backslash continues on the next. Input typed during a reply is queued.

use std::io::{BufRead, IsTerminal, Read, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use tome_llm::CancelToken;

/// Longer text should be put into a file.
pub const PROMPT_BYTES_MAX: u64 = 1024 * 1024;
const QUEUED_LINES_MAX: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChatInput {
    Line(String),
    /// A prompt over the limit. It is rejected rather than truncated, which could change its
    /// meaning.
    TooLong,
    Interrupt,
    End,
}

pub struct InputQueue {
    waiting: Receiver<ChatInput>,
    interrupts: Arc<InterruptHandler>,
    /// Whether standard input is a terminal.
    pub is_terminal: bool,
}

impl InputQueue {
    /// Starts the threads. With `reads: false` only Ctrl-C is handled.
    pub fn start(reads: bool) -> Self {
        let (sender, waiting) = sync_channel(QUEUED_LINES_MAX);
        let is_terminal = std::io::stdin().is_terminal();
        let interrupts = Arc::new(InterruptHandler {
            running: Mutex::new(InterruptState::Idle),
            idle: sender.clone(),
        });
        let theirs = Arc::clone(&interrupts);
        std::thread::spawn(move || listen_to_signals(&theirs));
        if reads {
            drop(std::thread::spawn(move || read_prompts(&sender, is_terminal)));
        } else {
            drop(sender.try_send(ChatInput::End));
        }
        Self { waiting, interrupts, is_terminal }
    }

    pub fn next_input(&self) -> ChatInput {
        self.waiting.recv().unwrap_or(ChatInput::End)
    }

    /// Runs `work`, which Ctrl-C stops.
    pub fn run_interruptible<T>(&self, work: impl FnOnce(&CancelToken) -> T) -> T {
        let stop = CancelToken::default();
        *self.interrupts.lock() = InterruptState::Work(stop.clone());
        let done = work(&stop);
        let mut running = self.interrupts.lock();
        if matches!(*running, InterruptState::Work(_)) {
            *running = InterruptState::Idle;
        }
        done
    }

    /// Whether Ctrl-C was pressed a second time during a stop, which means that the user wants to
    /// leave.
    pub fn is_leaving(&self) -> bool {
        matches!(*self.interrupts.lock(), InterruptState::Leaving)
    }
}

struct InterruptHandler {
    running: Mutex<InterruptState>,
    idle: SyncSender<ChatInput>,
}

enum InterruptState {
    Idle,
    Work(CancelToken),
    Leaving,
}

impl InterruptHandler {
    fn lock(&self) -> std::sync::MutexGuard<'_, InterruptState> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn interrupt(&self) {
        let mut running = self.lock();
        match &*running {
            InterruptState::Work(stop) if !stop.is_cancelled() => stop.cancel(),
            InterruptState::Work(_) => *running = InterruptState::Leaving,
            // If the queue is full, there is work in a moment, and the next Ctrl-C stops that.
            InterruptState::Idle | InterruptState::Leaving => {
                drop(self.idle.try_send(ChatInput::Interrupt));
            }
        }
    }
}

fn listen_to_signals(interrupts: &InterruptHandler) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return;
    };
    runtime.block_on(async {
        while tokio::signal::ctrl_c().await.is_ok() {
            interrupts.interrupt();
        }
    });
}

/// Reads prompts until the input ends or the receiver is gone.
fn read_prompts(sender: &SyncSender<ChatInput>, is_terminal: bool) {
    let mut stdin = std::io::stdin().lock();
    while let Some(input) = next_prompt(&mut stdin, is_terminal) {
        if sender.send(input).is_err() {
            return;
        }
    }
    drop(sender.send(ChatInput::End));
}

/// Reads the next prompt of one or more lines.
fn next_prompt(stdin: &mut impl BufRead, is_terminal: bool) -> Option<ChatInput> {
    let mut prompt = String::new();
    loop {
        let mut line = Vec::new();
        let room = (PROMPT_BYTES_MAX + 1).saturating_sub(prompt.len() as u64);
        if stdin.take(room).read_until(b'\n', &mut line).ok()? == 0 {
            return (!prompt.is_empty()).then_some(ChatInput::Line(prompt));
        }
        prompt.push_str(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']));
        if prompt.len() as u64 > PROMPT_BYTES_MAX {
            if line.last() != Some(&b'\n') {
                stdin.skip_until(b'\n').ok()?;
            }
            return Some(ChatInput::TooLong);
        }
        match prompt.strip_suffix('\\') {
            Some(begun) => prompt = format!("{begun}\n"),
            None => return Some(ChatInput::Line(prompt)),
        }
        if is_terminal {
            // The continuation prompt is optional; errors are ignored.
            let _ = write!(tome_terminal::stderr(), "… ");
        }
    }
}

/// Reads all of standard input as one prompt.
pub fn read_all_input() -> std::io::Result<ChatInput> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(PROMPT_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok(if bytes.len() as u64 > PROMPT_BYTES_MAX {
        ChatInput::TooLong
    } else {
        ChatInput::Line(String::from_utf8_lossy(&bytes).into_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backslash_continues_a_prompt_and_an_oversized_one_is_rejected() {
        let long = "x".repeat(3 << 20);
        let text = format!("one\r\ntwo\\\nthree\n\n{long}\nlast");
        let mut stdin = text.as_bytes();
        let mut all = Vec::new();
        while let Some(input) = next_prompt(&mut stdin, false) {
            all.push(input);
        }
        let line = |text: &str| ChatInput::Line(text.to_owned());
        assert_eq!(
            all,
            [line("one"), line("two\nthree"), line(""), ChatInput::TooLong, line("last")]
        );
    }
}
