//! The event loop of a browser at a terminal: reads keys, draws, sends requests, and leaves the terminal as
//! it was.

use std::io::{self, BufWriter, Stdout, Write};
use std::sync::{Arc, mpsc};

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste, Event};
use ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute};
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};

use crate::item::Item;
use crate::mailbox::Mailbox;
use crate::source::{BrowseSource, RequestKind};
use crate::state::{BrowseExit, Browser, BrowserSetup, Effect, Input};
use crate::view::draw;

/// Work that needs the whole terminal.
pub trait BrowseActions {
    /// Opens an item in the reader and waits until it is closed.
    fn read(&mut self, item: &Item);
    /// Opens a note in the editor and waits until it is closed.
    fn edit(&mut self, item: &Item);
}

type BrowserTerminal = Terminal<CrosstermBackend<BufWriter<Stdout>>>;

/// Runs a browser until the user leaves. `wait_for_stop` returns when the process is told to end.
pub fn run(
    mut setup: BrowserSetup,
    source: &Arc<dyn BrowseSource>,
    actions: &mut dyn BrowseActions,
    wait_for_stop: impl FnOnce() + Send + 'static,
) -> io::Result<BrowseExit> {
    setup.size = ratatui::crossterm::terminal::size()?;
    restore_on_panic();
    let guard = TerminalGuard::enter()?;
    let mut screen = open_screen(setup.size)?;
    let (inbox, inputs) = mpsc::channel::<Input>();
    let (lists, previews) = (Mailbox::default(), Mailbox::default());
    let (mut browser, effects) = Browser::new(setup);
    screen.draw(|frame| draw(frame, &browser))?;
    for (mailbox, name) in [(&lists, "lists"), (&previews, "previews")] {
        let inbox = inbox.clone();
        mailbox.serve(name, Arc::clone(source), move |request, answer| {
            inbox.send(Input::Answer(request, answer)).is_ok()
        })?;
    }
    let permits = read_keys(inbox.clone())?;
    let stopped = inbox;
    std::thread::Builder::new().name("stop".into()).spawn(move || {
        wait_for_stop();
        let _ = stopped.send(Input::Stop);
    })?;
    let mut event_loop = EventLoop { guard, actions, lists, previews, screen, exit: None, inputs };
    event_loop.run_effects(effects, &mut browser)?;
    // The thread that reads keys has its first permit.
    while event_loop.exit.is_none() {
        event_loop.step(&mut browser, &permits)?;
    }
    Ok(event_loop.exit.unwrap_or(BrowseExit::Quit))
}

/// Clears the screen and creates a terminal of fixed size; after a resize, create a new one. A viewport that
/// resizes itself would query the cursor position, which some terminals do not report and whose reply the
/// thread that reads keys would swallow.
fn open_screen((columns, rows): (u16, u16)) -> io::Result<BrowserTerminal> {
    execute!(io::stdout(), Clear(ClearType::All))?;
    let viewport = Viewport::Fixed(Rect::new(0, 0, columns, rows));
    let backend = CrosstermBackend::new(BufWriter::new(io::stdout()));
    Terminal::with_options(backend, TerminalOptions { viewport })
}

/// Reads one event per permit, so that nothing is read from the terminal while a reader or an editor
/// has it.
fn read_keys(inbox: mpsc::Sender<Input>) -> io::Result<mpsc::Sender<()>> {
    let (permits, permitted) = mpsc::channel::<()>();
    let _ = permits.send(());
    let read = move || {
        while permitted.recv().is_ok() {
            let input = loop {
                match event::read() {
                    Ok(Event::Key(key)) => break Input::Key(key),
                    Ok(Event::Paste(text)) => break Input::Paste(text),
                    Ok(Event::Resize(columns, rows)) => break Input::Resize(columns, rows),
                    Ok(_) => {}
                    // The terminal is gone.
                    Err(_) => break Input::Stop,
                }
            };
            if inbox.send(input).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("keys".into()).spawn(read)?;
    Ok(permits)
}

struct EventLoop<'a> {
    guard: TerminalGuard,
    actions: &'a mut dyn BrowseActions,
    lists: Mailbox,
    previews: Mailbox,
    screen: BrowserTerminal,
    exit: Option<BrowseExit>,
    inputs: mpsc::Receiver<Input>,
}

impl EventLoop<'_> {
    /// Takes the next input, and those that have arrived meanwhile, and draws.
    fn step(&mut self, browser: &mut Browser, permits: &mpsc::Sender<()>) -> io::Result<()> {
        let first = match browser.refresh_delay() {
            Some(delay) => match self.inputs.recv_timeout(delay) {
                Err(mpsc::RecvTimeoutError::Timeout) => Ok(Input::Refresh),
                Err(mpsc::RecvTimeoutError::Disconnected) => Err(mpsc::RecvError),
                Ok(input) => Ok(input),
            },
            None => self.inputs.recv(),
        };
        let Ok(first) = first else {
            self.exit = Some(BrowseExit::Stopped);
            return Ok(());
        };
        let mut next = Some(first);
        while let Some(input) = next {
            let is_event = matches!(input, Input::Key(_) | Input::Paste(_) | Input::Resize(..));
            if let Input::Resize(columns, rows) = input {
                self.screen = open_screen((columns, rows))?;
            }
            let effects = browser.update(input);
            self.run_effects(effects, browser)?;
            if self.exit.is_some() {
                return Ok(());
            }
            if is_event {
                let _ = permits.send(());
            }
            next = self.inputs.try_recv().ok();
        }
        self.screen.draw(|frame| draw(frame, browser))?;
        Ok(())
    }

    fn run_effects(&mut self, effects: Vec<Effect>, browser: &mut Browser) -> io::Result<()> {
        for effect in effects {
            match effect {
                Effect::Request(request) => match request.kind {
                    RequestKind::List(_) | RequestKind::Contents { .. } => self.lists.post(request),
                    RequestKind::Preview { .. } | RequestKind::Resume(_) => {
                        self.previews.post(request);
                    }
                },
                Effect::Read(item) => {
                    self.lend_terminal(browser, false, |actions| actions.read(&item))?;
                }
                Effect::Edit(item) => {
                    self.lend_terminal(browser, true, |actions| actions.edit(&item))?;
                }
                Effect::Copy(text) => copy_to_clipboard(&text)?,
                Effect::Exit(exit) => self.exit = Some(exit),
            }
        }
        Ok(())
    }

    /// Lends the terminal to another program until it returns.
    fn lend_terminal(
        &mut self,
        browser: &mut Browser,
        is_changed: bool,
        work: impl FnOnce(&mut dyn BrowseActions),
    ) -> io::Result<()> {
        self.guard.suspend()?;
        work(self.actions);
        self.guard.resume()?;
        let (columns, rows) = ratatui::crossterm::terminal::size()?;
        self.screen = open_screen((columns, rows))?;
        let mut effects = browser.update(Input::Resize(columns, rows));
        effects.extend(browser.update(Input::Returned { is_changed }));
        self.run_effects(effects, browser)
    }
}

/// Copies a text through the terminal (OSC 52), which works over ssh too.
fn copy_to_clipboard(text: &str) -> io::Result<()> {
    let mut out = io::stdout();
    write!(out, "\u{1b}]52;c;{}\u{7}", encode_base64(text.as_bytes()))?;
    out.flush()
}

fn encode_base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for part in bytes.chunks(3) {
        let bits =
            (0..3).fold(0_u32, |bits, i| bits << 8 | u32::from(part.get(i).copied().unwrap_or(0)));
        for i in 0..4 {
            let index = (bits >> (18 - 6 * i)) & 63;
            let letter = ALPHABET.get(index as usize).copied().map_or('=', char::from);
            text.push(if i <= part.len() { letter } else { '=' });
        }
    }
    text
}

/// Keeps the terminal in raw mode and on its alternate screen; puts it back when dropped.
struct TerminalGuard;

impl TerminalGuard {
    fn enter() -> io::Result<Self> {
        let guard = Self;
        guard.resume()?;
        Ok(guard)
    }

    fn resume(&self) -> io::Result<()> {
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste)
    }

    fn suspend(&self) -> io::Result<()> {
        restore_terminal()
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        let _ = restore_terminal();
    }
}

fn restore_terminal() -> io::Result<()> {
    let restored =
        execute!(io::stdout(), DisableBracketedPaste, LeaveAlternateScreen, cursor::Show);
    disable_raw_mode()?;
    restored
}

/// Puts the terminal back before a panic is reported.
fn restore_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let _ = restore_terminal();
        report(info);
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_terminals_read_it() {
        for (text, encoded) in
            [("", ""), ("h", "aA=="), ("hi", "aGk="), ("#12", "IzEy"), ("toc:day", "dG9jOmRheQ==")]
        {
            assert_eq!(encode_base64(text.as_bytes()), encoded);
        }
    }
}
