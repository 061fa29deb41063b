//! `tome chat`: an agent in the terminal, built on the agent library. Its memory is the daemon's;
//! its tools are the memory tools and read-only access to the project's files.
//!
//! Prompts are recorded before the model request, and tool results before they are sent back, so
//! that a killed chat can be resumed with `--continue`.

mod cost;
mod files;
mod input;
mod memory;
mod model;
mod offline;
mod screen;
mod session;
mod settings;
mod slash;
mod trouble;

use std::sync::Arc;

use anyhow::Result;
use serde_json::json;
use tome_agent::limits::RESUMED_EVENTS_MAX;
use tome_agent::{Activity, Agent, AgentError, Ended, Reflection, gate};
use tome_model::EventKind;

use crate::cli::chat::Chat;
use crate::command::{Context, Outcome, Refusal};
use crate::model::Sections;
use crate::render::one_line;
use input::{Input, Inputs};
use memory::DaemonMemory;
use model::Chosen;
use screen::{Mode, Screen};
use slash::Slash;
use trouble::Trouble;

/// Events searched for the last turn when a chat is resumed.
const SHOWN_AGAIN_MAX: usize = 40;
const SHOWN_CHARS_MAX: usize = 160;

pub fn run(context: &Context, asked: &Chat) -> Result<Outcome> {
    let chosen = model::choose(context, asked)?;
    let cwd = crate::command::folder_here()?;
    let who = session::choose(context, asked, &cwd)?;
    let mode = match (context.json, asked.print) {
        (true, _) => Mode::Json,
        (false, true) => Mode::Answer,
        (false, false) => Mode::Talk,
    };
    let mut screen = Screen::new(mode);
    let settings = settings::of_agent(context, asked, &chosen, &cwd, &mut screen);
    let apart = asked.offline.then(|| session::offline_project(context, &cwd));
    let memory = Arc::new(DaemonMemory::new(context.reach.clone(), who, apart)?);
    let model = Arc::clone(&chosen.model);
    let agent =
        Agent::new(model, memory, settings).map_err(|error| refused(&error, chosen.sections))?;
    // Read before Ctrl-C is handled differently from leaving.
    let first = match asked.prompt.join(" ") {
        prompt if asked.print && prompt.trim().is_empty() => Some(input::whole()?),
        prompt => Some(Input::Line(prompt)).filter(|_| !asked.prompt.is_empty()),
    };
    let inputs = Inputs::listen(!asked.print);
    let heard = Heard::Nothing;
    let mut chat = Talking { context, asked, chosen, agent, screen, inputs, failed: false, heard };
    chat.begin()?;
    let going = first.map_or(Going::On, |first| chat.take(&first));
    if going == Going::On && !asked.print {
        chat.listen();
    }
    chat.end()?;
    Ok(if chat.failed { Outcome::Failed } else { Outcome::Done })
}

fn refused(error: &AgentError, sections: Sections) -> anyhow::Error {
    let trouble = Trouble::of(error, sections);
    Refusal::failed(trouble.said).hint(trouble.hint).into()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Going {
    On,
    Out,
}

struct Talking<'a> {
    context: &'a Context,
    asked: &'a Chat,
    chosen: Chosen,
    agent: Agent,
    screen: Screen,
    inputs: Inputs,
    /// Whether a prompt failed.
    failed: bool,
    heard: Heard,
}

/// Outcome of the latest prompt in this run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heard {
    /// No prompt yet.
    Nothing,
    Answered,
    Failed,
}

impl Talking<'_> {
    fn begin(&mut self) -> Result<()> {
        let id = self.agent.memory().who().session.to_string();
        let (model, is_resumed) = (self.agent.model().name().to_owned(), self.agent.is_resumed());
        match self.screen.mode() {
            Mode::Answer => {}
            Mode::Json => self.screen.json(&json!({
                "type": "session", "session_id": id, "model": model, "resumed": is_resumed,
            })),
            Mode::Talk => {
                let short: String = id.chars().take(8).collect();
                let goes_on = if is_resumed { ", resumed" } else { "" };
                let ways = if self.inputs.is_terminal { " · /help · Ctrl-D leaves" } else { "" };
                self.screen.note(&format!("{model} · chat {short}{goes_on}{ways}"));
                if is_resumed {
                    self.show_again()?;
                }
            }
        }
        Ok(())
    }

    /// Shows the last turn of the previous run as orientation.
    fn show_again(&mut self) -> Result<()> {
        let events = self.agent.events(SHOWN_AGAIN_MAX)?;
        let latest =
            |kind| events.iter().rev().find(|event| event.kind == kind && !event.text.is_empty());
        for (mark, kind) in [(">", EventKind::UserMessage), (" ", EventKind::AssistantStop)] {
            if let Some(event) = latest(kind) {
                self.screen.note(&format!("{mark} {}", one_line(&event.text, SHOWN_CHARS_MAX)));
            }
        }
        Ok(())
    }

    /// Handles prompts until the user leaves.
    fn listen(&mut self) {
        let mut is_warned = false;
        loop {
            if self.inputs.is_leaving() {
                return;
            }
            if self.inputs.is_terminal {
                self.screen.ask();
            }
            let input = self.inputs.next();
            is_warned = match (&input, is_warned) {
                (Input::End, _) | (Input::Interrupt, true) => {
                    if self.inputs.is_terminal {
                        self.screen.note("");
                    }
                    return;
                }
                (Input::Interrupt, false) if !self.inputs.is_terminal => return,
                (Input::Interrupt, false) => {
                    self.screen.note("\nPress Ctrl-C again to leave");
                    true
                }
                _ => false,
            };
            if self.take(&input) == Going::Out {
                return;
            }
        }
    }

    fn take(&mut self, input: &Input) -> Going {
        let line = match input {
            Input::Line(line) if line.trim().is_empty() => {
                if self.asked.print {
                    self.failed = true;
                    self.screen.trouble(&empty_prompt());
                }
                return Going::On;
            }
            Input::Line(line) => line,
            Input::TooLong => {
                self.failed = true;
                self.screen.trouble(&too_long());
                return Going::On;
            }
            Input::Interrupt | Input::End => return Going::On,
        };
        match Slash::read(line).filter(|_| !self.asked.print) {
            Some(slash) => self.command(slash),
            None => self.prompt(line),
        }
    }

    fn prompt(&mut self, prompt: &str) -> Going {
        let Self { agent, screen, inputs, .. } = self;
        let ran = inputs.during(|stop| agent.run(prompt, &mut |said| screen.said(said), stop));
        match ran {
            Ok(run) => {
                self.heard = Heard::Answered;
                self.failed |=
                    matches!(run.ended, Ended::Refused | Ended::RoundsSpent | Ended::Stopped);
                self.screen.ran(&run, self.asked.rounds);
            }
            Err(error) => {
                (self.heard, self.failed) = (Heard::Failed, true);
                self.screen.trouble(&Trouble::of(&error, self.chosen.sections));
            }
        }
        if self.inputs.is_leaving() { Going::Out } else { Going::On }
    }

    fn command(&mut self, slash: Slash) -> Going {
        match slash {
            Slash::Exit => return Going::Out,
            Slash::Shown(words) => slash::show(self.context, &mut self.screen, &words),
            Slash::Help => slash::help(&mut self.screen),
            Slash::Hint(hint) => self.screen.note(&hint),
            Slash::Cost => self.cost(),
            Slash::Reflect => self.reflect(),
            Slash::Overview => {
                if let Err(error) = slash::overview(&mut self.screen, &self.agent) {
                    self.screen.note(&error.to_string());
                }
            }
        }
        Going::On
    }

    fn cost(&mut self) {
        let (usage, prices) = (self.agent.usage(), &self.chosen.prices);
        let lines = cost::lines(self.context, self.agent.model().name(), &usage, prices);
        for line in lines {
            self.screen.plain(&format!("  {line}"));
        }
    }

    fn reflect(&mut self) {
        let events = self.agent.events(RESUMED_EVENTS_MAX);
        let skipped = events.ok().and_then(|events| gate(&Activity::of(&events)));
        if skipped.is_some() {
            return self.screen.reflected(&Reflection { skipped, ..Reflection::default() });
        }
        self.screen.note("· reflecting on this chat … (Ctrl-C skips it)");
        let Self { agent, inputs, .. } = self;
        match inputs.during(|stop| agent.reflect(stop)) {
            Ok(reflection) => self.screen.reflected(&reflection),
            Err(error) => {
                let Trouble { said, hint, kind } = Trouble::of(&error, self.chosen.sections);
                self.screen.note(&match kind {
                    Trouble::STOPPED => "· skipped".to_owned(),
                    _ => format!("· no reflection: {said}; {hint}"),
                });
            }
        }
    }

    /// Reflects, ends the session, and tells the user how to resume it.
    fn end(&mut self) -> Result<()> {
        let reflects = !self.asked.no_reflect && !self.asked.print && !self.inputs.is_leaving();
        match self.heard {
            Heard::Nothing => return Ok(()),
            Heard::Answered if reflects => self.reflect(),
            Heard::Failed if reflects => {
                self.screen.note(
                    "· no reflection, because the model failed; the chat is reflected on when it ends the next time",
                );
            }
            Heard::Answered | Heard::Failed => {}
        }
        let reason = if self.inputs.is_leaving() { "interrupt" } else { "exit" };
        self.agent.finish(reason).map_err(|error| refused(&error, self.chosen.sections))?;
        if self.inputs.is_terminal {
            let tokens = cost::tokens(&self.agent.usage());
            self.screen.note(&format!("{tokens}; resume with `tome chat --continue`"));
        }
        Ok(())
    }
}

fn empty_prompt() -> Trouble {
    Trouble {
        said: "the prompt is empty".to_owned(),
        hint: "`tome chat -p 'your question'`, or pipe it in".to_owned(),
        kind: "no_prompt",
    }
}

fn too_long() -> Trouble {
    Trouble {
        said: format!(
            "a prompt may have at most {}",
            crate::render::bytes(input::PROMPT_BYTES_MAX)
        ),
        hint: "put the text into a file of the project and ask to read it".to_owned(),
        kind: "too_long",
    }
}
