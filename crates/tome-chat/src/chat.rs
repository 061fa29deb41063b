//! The loop of a chat: prompts and commands in, replies out.
//!
//! Prompts are recorded before the model request, and tool results before they are sent back, so
//! that a killed chat can be resumed with `--continue`.

use std::sync::Arc;

use anyhow::Result;
use serde_json::json;
use tome_agent::limits::RESUMED_EVENTS_MAX;
use tome_agent::{
    AgentError, AgentLoop, DaemonMemory, FinishReason, Reflection, SessionActivity,
    find_skip_reason,
};
use tome_model::EventKind;
use tome_terminal::{CommandError, Outcome, format_bytes, one_line};

use crate::args::ChatArgs;
use crate::input::{self, ChatInput, InputQueue};
use crate::model::{self, ChosenModel};
use crate::screen::{ChatOutput, OutputMode};
use crate::setup::{ChatSetup, ModelSections};
use crate::slash::{self, ChatCommand};
use crate::user_error::UserError;
use crate::{cost, session, settings};

/// Events searched for the last turn when a chat is resumed.
const RESUME_EVENTS_MAX: usize = 40;
const RESUME_CHARS_MAX: usize = 160;

/// Runs a chat until the user leaves, or until one prompt is answered.
pub fn run_chat(setup: &ChatSetup<'_>, args: &ChatArgs) -> Result<Outcome> {
    let chosen = model::choose_model(setup, args)?;
    let who = session::choose_session(setup, args)?;
    let mode = match (setup.json, args.print) {
        (true, _) => OutputMode::Json,
        (false, true) => OutputMode::Answer,
        (false, false) => OutputMode::Talk,
    };
    let mut screen = ChatOutput::new(mode);
    let settings = settings::agent_settings(setup, args, &chosen, &mut screen);
    let apart = args.offline.then(|| session::offline_project(setup));
    let memory = Arc::new(DaemonMemory::new(setup.connector.clone(), who)?.with_project(apart));
    let model = Arc::clone(&chosen.model);
    let agent = AgentLoop::new(model, memory, settings)
        .map_err(|error| to_refusal(&error, chosen.sections))?;
    // Read before Ctrl-C is handled differently from leaving.
    let first = match args.prompt.join(" ") {
        prompt if args.print && prompt.trim().is_empty() => Some(input::read_all_input()?),
        prompt => Some(ChatInput::Line(prompt)).filter(|_| !args.prompt.is_empty()),
    };
    let inputs = InputQueue::start(!args.print);
    let latest_prompt = LatestPrompt::Nothing;
    let mut chat =
        ChatLoop { setup, args, chosen, agent, screen, inputs, failed: false, latest_prompt };
    chat.show_header()?;
    let going = first.map_or(ChatFlow::Continue, |first| chat.handle_input(&first));
    if going == ChatFlow::Continue && !args.print {
        chat.read_inputs();
    }
    chat.finish()?;
    Ok(if chat.failed { Outcome::Failed } else { Outcome::Done })
}

fn to_refusal(error: &AgentError, sections: ModelSections) -> anyhow::Error {
    let trouble = UserError::from_agent_error(error, sections);
    CommandError::failed(trouble.message).with_hint(trouble.hint).into()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChatFlow {
    Continue,
    Leave,
}

struct ChatLoop<'a> {
    setup: &'a ChatSetup<'a>,
    args: &'a ChatArgs,
    chosen: ChosenModel,
    agent: AgentLoop,
    screen: ChatOutput,
    inputs: InputQueue,
    /// Whether a prompt failed.
    failed: bool,
    latest_prompt: LatestPrompt,
}

/// Outcome of the latest prompt in this run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LatestPrompt {
    /// No prompt yet.
    Nothing,
    Answered,
    Failed,
}

impl ChatLoop<'_> {
    fn show_header(&mut self) -> Result<()> {
        let id = self.agent.memory().session().session.to_string();
        let (model, is_resumed) = (self.agent.model().name().to_owned(), self.agent.is_resumed());
        match self.screen.mode() {
            OutputMode::Answer => {}
            OutputMode::Json => self.screen.write_json(&json!({
                "type": "session", "session_id": id, "model": model, "resumed": is_resumed,
            })),
            OutputMode::Talk => {
                let short: String = id.chars().take(8).collect();
                let goes_on = if is_resumed { ", resumed" } else { "" };
                let ways = if self.inputs.is_terminal { " · /help · Ctrl-D leaves" } else { "" };
                self.screen.show_note(&format!("{model} · chat {short}{goes_on}{ways}"));
                if is_resumed {
                    self.show_last_turn()?;
                }
            }
        }
        Ok(())
    }

    /// Shows the last turn of the previous run as orientation.
    fn show_last_turn(&mut self) -> Result<()> {
        let events = self.agent.recent_events(RESUME_EVENTS_MAX)?;
        let latest =
            |kind| events.iter().rev().find(|event| event.kind == kind && !event.text.is_empty());
        for (mark, kind) in [(">", EventKind::UserMessage), (" ", EventKind::AssistantStop)] {
            if let Some(event) = latest(kind) {
                self.screen
                    .show_note(&format!("{mark} {}", one_line(&event.text, RESUME_CHARS_MAX)));
            }
        }
        Ok(())
    }

    /// Handles prompts until the user leaves.
    fn read_inputs(&mut self) {
        let mut is_warned = false;
        loop {
            if self.inputs.is_leaving() {
                return;
            }
            if self.inputs.is_terminal {
                self.screen.show_prompt_sign();
            }
            let input = self.inputs.next_input();
            is_warned = match (&input, is_warned) {
                (ChatInput::End, _) | (ChatInput::Interrupt, true) => {
                    if self.inputs.is_terminal {
                        self.screen.show_note("");
                    }
                    return;
                }
                (ChatInput::Interrupt, false) if !self.inputs.is_terminal => return,
                (ChatInput::Interrupt, false) => {
                    self.screen.show_note("\nPress Ctrl-C again to leave");
                    true
                }
                _ => false,
            };
            if self.handle_input(&input) == ChatFlow::Leave {
                return;
            }
        }
    }

    fn handle_input(&mut self, input: &ChatInput) -> ChatFlow {
        let line = match input {
            ChatInput::Line(line) if line.trim().is_empty() => {
                if self.args.print {
                    self.failed = true;
                    self.screen.show_error(&empty_prompt_error());
                }
                return ChatFlow::Continue;
            }
            ChatInput::Line(line) => line,
            ChatInput::TooLong => {
                self.failed = true;
                self.screen.show_error(&prompt_too_long_error());
                return ChatFlow::Continue;
            }
            ChatInput::Interrupt | ChatInput::End => return ChatFlow::Continue,
        };
        match ChatCommand::parse(line).filter(|_| !self.args.print) {
            Some(slash) => self.run_command(slash),
            None => self.run_prompt(line),
        }
    }

    fn run_prompt(&mut self, prompt: &str) -> ChatFlow {
        let Self { agent, screen, inputs, .. } = self;
        let ran = inputs.run_interruptible(|stop| {
            agent.run(prompt, &mut |event| screen.show_event(event), stop)
        });
        match ran {
            Ok(run) => {
                self.latest_prompt = LatestPrompt::Answered;
                self.failed |= matches!(
                    run.finish_reason,
                    FinishReason::Refusal | FinishReason::MaxRounds | FinishReason::Cancelled
                );
                self.screen.show_run(&run, self.args.rounds);
            }
            Err(error) => {
                (self.latest_prompt, self.failed) = (LatestPrompt::Failed, true);
                self.screen.show_error(&UserError::from_agent_error(&error, self.chosen.sections));
            }
        }
        if self.inputs.is_leaving() { ChatFlow::Leave } else { ChatFlow::Continue }
    }

    fn run_command(&mut self, slash: ChatCommand) -> ChatFlow {
        match slash {
            ChatCommand::Exit => return ChatFlow::Leave,
            ChatCommand::RunCli(words) => {
                slash::run_cli_command(self.setup, &mut self.screen, &words);
            }
            ChatCommand::Help => slash::show_help(&mut self.screen),
            ChatCommand::Hint(hint) => self.screen.show_note(&hint),
            ChatCommand::Cost => self.show_cost(),
            ChatCommand::Reflect => self.reflect(),
            ChatCommand::Overview => {
                if let Err(error) = slash::show_overview(&mut self.screen, &self.agent) {
                    self.screen.show_note(&error.to_string());
                }
            }
        }
        ChatFlow::Continue
    }

    fn show_cost(&mut self) {
        let (usage, prices) = (self.agent.usage(), &self.chosen.prices);
        let lines =
            cost::render_cost(&self.setup.connector, self.agent.model().name(), &usage, prices);
        for line in lines {
            self.screen.write_output(&format!("  {line}"));
        }
    }

    fn reflect(&mut self) {
        let events = self.agent.recent_events(RESUMED_EVENTS_MAX);
        let skipped =
            events.ok().and_then(|events| find_skip_reason(&SessionActivity::from_events(&events)));
        if skipped.is_some() {
            return self.screen.show_reflection(&Reflection { skipped, ..Reflection::default() });
        }
        self.screen.show_note("· reflecting on this chat … (Ctrl-C skips it)");
        let Self { agent, inputs, .. } = self;
        match inputs.run_interruptible(|stop| agent.reflect(stop)) {
            Ok(reflection) => self.screen.show_reflection(&reflection),
            Err(error) => {
                let UserError { message, hint, kind } =
                    UserError::from_agent_error(&error, self.chosen.sections);
                self.screen.show_note(&match kind {
                    UserError::STOPPED => "· skipped".to_owned(),
                    _ => format!("· no reflection: {message}; {hint}"),
                });
            }
        }
    }

    /// Reflects, ends the session, and tells the user how to resume it.
    fn finish(&mut self) -> Result<()> {
        let reflects = !self.args.no_reflect && !self.args.print && !self.inputs.is_leaving();
        match self.latest_prompt {
            LatestPrompt::Nothing => return Ok(()),
            LatestPrompt::Answered if reflects => self.reflect(),
            LatestPrompt::Failed if reflects => {
                self.screen.show_note(
                    "· skipped the reflection because the model failed; it will run when this chat next ends",
                );
            }
            LatestPrompt::Answered | LatestPrompt::Failed => {}
        }
        let reason = if self.inputs.is_leaving() { "interrupt" } else { "exit" };
        self.agent.finish(reason).map_err(|error| to_refusal(&error, self.chosen.sections))?;
        if self.inputs.is_terminal {
            let tokens = cost::render_tokens(&self.agent.usage());
            self.screen.show_note(&format!("{tokens}; resume with `tome chat --continue`"));
        }
        Ok(())
    }
}

fn empty_prompt_error() -> UserError {
    UserError {
        message: "the prompt is empty".to_owned(),
        hint: "`tome chat -p 'your question'`, or pipe it in".to_owned(),
        kind: "no_prompt",
    }
}

fn prompt_too_long_error() -> UserError {
    UserError {
        message: format!("a prompt may have at most {}", format_bytes(input::PROMPT_BYTES_MAX)),
        hint: "put the text into a file of the project and ask to read it".to_owned(),
        kind: "too_long",
    }
}
