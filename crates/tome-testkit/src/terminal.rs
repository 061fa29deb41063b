//! A program at a terminal of its own: keys go in, the screen is read as a person sees it.
//!
//! The terminal comes from `script` of util-linux, which makes it the controlling terminal of the
//! program, so that a pager reads its keys from there and not from the terminal of the person who runs
//! the tests.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use crate::{eventually, eventually_within};

/// Bytes read at once.
const READ_BYTES: usize = 64 * 1024;

/// A program at a terminal. Dropping it ends the program.
pub struct TestTerminal {
    child: Child,
    keyboard: Option<ChildStdin>,
    screen: Arc<Mutex<vt100::Parser>>,
}

impl TestTerminal {
    /// Whether this machine can provide a terminal.
    pub fn is_available() -> bool {
        let ran = Command::new("script").arg("--version").output();
        ran.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("util-linux"))
    }

    /// Runs a command, of which only the program, arguments, folder and set variables count.
    ///
    /// # Panics
    /// If `script` cannot be run.
    #[expect(clippy::expect_used, reason = "a test needs the program to run")]
    pub fn run(command: &Command, columns: u16, rows: u16) -> Self {
        let mut line = format!("stty cols {columns} rows {rows}; exec");
        for word in std::iter::once(command.get_program()).chain(command.get_args()) {
            // Writing to a string cannot fail.
            let _ = write!(line, " '{}'", word.to_string_lossy().replace('\'', r"'\''"));
        }
        let mut script = Command::new("script");
        script.args(["--quiet", "--flush", "--return", "--command", &line, "/dev/null"]);
        script.env_clear().env("SHELL", "/bin/sh").env("TERM", "xterm-256color");
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => script.env(name, value),
                None => script.env_remove(name),
            };
        }
        if let Some(folder) = command.get_current_dir() {
            script.current_dir(folder);
        }
        script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = script.spawn().expect("script runs");
        let screen =
            Arc::new(Mutex::new(vt100::Parser::new(at_least_one(rows), at_least_one(columns), 0)));
        let (keyboard, output) = (child.stdin.take(), child.stdout.take());
        let shown = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut output = output.expect("a pipe");
            let mut bytes = vec![0; READ_BYTES];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                let read = bytes.get(..count).unwrap_or_default();
                shown.lock().unwrap_or_else(PoisonError::into_inner).process(read);
            }
        });
        Self { child, keyboard, screen }
    }

    /// Types keys.
    ///
    /// # Panics
    /// If the program has ended.
    #[expect(clippy::expect_used, reason = "a test needs the program to run")]
    pub fn press(&mut self, keys: &str) {
        let keyboard = self.keyboard.as_mut().expect("a keyboard");
        keyboard.write_all(keys.as_bytes()).expect("a program that reads keys");
        keyboard.flush().expect("a program that reads keys");
    }

    /// The text on the screen.
    pub fn text(&self) -> String {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner).screen().contents()
    }

    /// Whether the program draws on the alternate screen, as full-screen programs do.
    pub fn is_full_screen(&self) -> bool {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner).screen().alternate_screen()
    }

    /// Waits until a text is on the screen.
    ///
    /// # Panics
    /// If it does not appear.
    pub fn wait_for(&self, text: &str) {
        self.wait_until(text, |screen| screen.contains(text));
    }

    /// Waits until the screen is as wanted.
    ///
    /// # Panics
    /// If that does not happen; the message has the screen.
    pub fn wait_until(&self, what: &str, is_met: impl Fn(&str) -> bool) {
        let patience = std::time::Duration::from_secs(30);
        let met = eventually_within(patience, || is_met(&self.text()).then_some(()));
        assert!(met.is_some(), "no {what:?} on the screen:\n{}", self.text());
    }

    /// The process id of the program.
    ///
    /// # Panics
    /// If it has ended.
    pub fn pid(&self) -> u32 {
        let script = self.child.id();
        let list = format!("/proc/{script}/task/{script}/children");
        eventually("the process of the program", || {
            std::fs::read_to_string(&list).ok()?.split_whitespace().next()?.parse().ok()
        })
    }

    /// Waits for the end of the program and returns its exit code.
    pub fn wait_for_end(&mut self) -> i32 {
        let status = eventually("the end of the program", || self.child.try_wait().ok().flatten());
        status.code().unwrap_or(-1)
    }
}

fn at_least_one(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap_or(NonZeroU16::MIN)
}

impl Drop for TestTerminal {
    fn drop(&mut self) {
        // Closing the terminal ends the program.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
