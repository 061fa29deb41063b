//! What the person types: lines from standard input, read on a thread of their own, and Ctrl-C, which
//! comes the same way while nothing is being answered.
//!
//! A line that ends in a backslash goes on with the next. Words that were typed while a reply was on
//! its way wait until it is over.

use std::io::{BufRead, IsTerminal, Read, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use tome_llm::Stop;

/// The longest prompt. What is longer is a file, and belongs into one.
pub const PROMPT_BYTES_MAX: u64 = 1024 * 1024;
/// Lines that wait.
const WAITING_MAX: usize = 64;

/// Something to react to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    Line(String),
    /// A prompt that is longer than is taken; it is not cut, because half of it may mean another thing.
    TooLong,
    Interrupt,
    End,
}

/// Where input comes from.
pub struct Inputs {
    waiting: Receiver<Input>,
    interrupts: Arc<Interrupts>,
    /// Whether a person sits at it.
    pub is_terminal: bool,
}

impl Inputs {
    /// Begins to listen. Where nothing is to be read, Ctrl-C is still heard.
    pub fn listen(reads: bool) -> Self {
        let (sender, waiting) = sync_channel(WAITING_MAX);
        let is_terminal = std::io::stdin().is_terminal();
        let interrupts =
            Arc::new(Interrupts { running: Mutex::new(Running::Nothing), idle: sender.clone() });
        let theirs = Arc::clone(&interrupts);
        std::thread::spawn(move || listen_to_signals(&theirs));
        match reads {
            true => drop(std::thread::spawn(move || read(&sender, is_terminal))),
            false => drop(sender.try_send(Input::End)),
        }
        Self { waiting, interrupts, is_terminal }
    }

    /// Waits for the next.
    pub fn next(&self) -> Input {
        self.waiting.recv().unwrap_or(Input::End)
    }

    /// Does something that Ctrl-C stops.
    pub fn during<T>(&self, work: impl FnOnce(&Stop) -> T) -> T {
        let stop = Stop::default();
        *self.interrupts.lock() = Running::Work(stop.clone());
        let done = work(&stop);
        let mut running = self.interrupts.lock();
        if matches!(*running, Running::Work(_)) {
            *running = Running::Nothing;
        }
        done
    }

    /// Whether Ctrl-C was pressed again while something was being stopped: the person wants to leave.
    pub fn is_leaving(&self) -> bool {
        matches!(*self.interrupts.lock(), Running::Leaving)
    }
}

struct Interrupts {
    running: Mutex<Running>,
    idle: SyncSender<Input>,
}

enum Running {
    Nothing,
    Work(Stop),
    Leaving,
}

impl Interrupts {
    fn lock(&self) -> std::sync::MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn interrupt(&self) {
        let mut running = self.lock();
        match &*running {
            Running::Work(stop) if !stop.is_stopped() => stop.stop(),
            Running::Work(_) => *running = Running::Leaving,
            // Where so many lines wait that there is no room, there is work in a moment.
            Running::Nothing | Running::Leaving => drop(self.idle.try_send(Input::Interrupt)),
        }
    }
}

fn listen_to_signals(interrupts: &Interrupts) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return;
    };
    runtime.block_on(async {
        while tokio::signal::ctrl_c().await.is_ok() {
            interrupts.interrupt();
        }
    });
}

/// Reads lines until there are no more, or nobody listens.
fn read(sender: &SyncSender<Input>, is_terminal: bool) {
    let mut stdin = std::io::stdin().lock();
    while let Some(input) = next_prompt(&mut stdin, is_terminal) {
        if sender.send(input).is_err() {
            return;
        }
    }
    drop(sender.send(Input::End));
}

/// The next prompt, of one line or of several.
fn next_prompt(stdin: &mut impl BufRead, is_terminal: bool) -> Option<Input> {
    let mut prompt = String::new();
    loop {
        let mut line = Vec::new();
        let room = (PROMPT_BYTES_MAX + 1).saturating_sub(prompt.len() as u64);
        if stdin.take(room).read_until(b'\n', &mut line).ok()? == 0 {
            return (!prompt.is_empty()).then_some(Input::Line(prompt));
        }
        prompt.push_str(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']));
        if prompt.len() as u64 > PROMPT_BYTES_MAX {
            if line.last() != Some(&b'\n') {
                stdin.skip_until(b'\n').ok()?;
            }
            return Some(Input::TooLong);
        }
        match prompt.strip_suffix('\\') {
            Some(begun) => prompt = format!("{begun}\n"),
            None => return Some(Input::Line(prompt)),
        }
        if is_terminal {
            // Nothing is lost if it cannot be shown.
            let _ = write!(crate::terminal::stderr(), "… ");
        }
    }
}

/// All of standard input as one prompt.
pub fn whole() -> std::io::Result<Input> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(PROMPT_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok(match bytes.len() as u64 > PROMPT_BYTES_MAX {
        true => Input::TooLong,
        false => Input::Line(String::from_utf8_lossy(&bytes).into_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backslash_goes_on_and_a_flood_is_refused() {
        let long = "x".repeat(3 << 20);
        let text = format!("one\r\ntwo\\\nthree\n\n{long}\nlast");
        let mut stdin = text.as_bytes();
        let mut all = Vec::new();
        while let Some(input) = next_prompt(&mut stdin, false) {
            all.push(input);
        }
        let line = |text: &str| Input::Line(text.to_owned());
        assert_eq!(all, [line("one"), line("two\nthree"), line(""), Input::TooLong, line("last")]);
    }
}
