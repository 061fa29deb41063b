//! The conversation of a session: its turns, each with the prompt, the answers and the tool calls.

use std::ops::Range;

use tome_contents::{ToolOutcome, find_rejection_words, is_prompt, read_tool_call};
use tome_model::{Event, EventKind, Millis};
use tome_terminal::one_line;

use crate::command::file_diff::{FileDiff, read_edits};

/// Characters of a tool call.
const CALL_CHARS_MAX: usize = 400;
/// Characters of the reason why a tool call failed.
const REASON_CHARS_MAX: usize = 240;
/// Characters of a message that is neither a prompt nor an answer.
const NOTE_CHARS_MAX: usize = 200;

/// A prompt and everything up to the next one.
#[derive(Debug)]
pub struct ConversationTurn<'a> {
    /// Counted from 1.
    pub number: usize,
    pub at: Millis,
    /// The number of the event and its text.
    pub prompt: Option<(u64, &'a str)>,
    pub steps: Vec<TurnStep<'a>>,
    /// Numbers and ids of all events of the turn.
    pub events: Vec<(u64, &'a str)>,
}

#[derive(Debug)]
pub enum TurnStep<'a> {
    /// A message of the agent.
    Message { number: u64, text: &'a str },
    /// The user's words when they rejected the call before.
    Objected { number: u64, text: &'a str },
    /// A tool call in one line, with the edits that it made.
    Called {
        number: u64,
        line: String,
        outcome: ToolOutcome,
        reason: Option<String>,
        edits: Vec<FileDiff>,
    },
    /// Something else that happened.
    Note { number: u64, text: String },
    /// Steps of a subagent, which are not shown one by one.
    Subagent { number: u64, steps: usize },
}

impl TurnStep<'_> {
    /// The number of its first event.
    pub fn number(&self) -> u64 {
        match self {
            Self::Message { number, .. }
            | Self::Objected { number, .. }
            | Self::Called { number, .. }
            | Self::Note { number, .. }
            | Self::Subagent { number, .. } => *number,
        }
    }
}

/// Reads the turns of a session, given where its events are cut.
pub fn read_conversation<'a>(
    events: &'a [(u64, Event)],
    cuts: &[Range<usize>],
) -> Vec<ConversationTurn<'a>> {
    let mut turns: Vec<ConversationTurn<'a>> = Vec::new();
    for cut in cuts {
        let Some(part) = events.get(cut.clone()) else { continue };
        let turn = read_turn(turns.len() + 1, part);
        // The start of a session alone is no turn.
        if turn.prompt.is_some() || !turn.steps.is_empty() {
            turns.push(turn);
        }
    }
    turns
}

fn read_turn(number: usize, events: &[(u64, Event)]) -> ConversationTurn<'_> {
    let mut turn = ConversationTurn {
        number,
        at: events.first().map_or(Millis(0), |(_, event)| event.at),
        prompt: None,
        steps: Vec::new(),
        events: events.iter().map(|(number, event)| (*number, event.id.as_str())).collect(),
    };
    for (number, event) in events {
        turn.add_event(*number, event);
    }
    turn
}

impl<'a> ConversationTurn<'a> {
    fn add_event(&mut self, number: u64, event: &'a Event) {
        if event.is_from_subagent() {
            match self.steps.last_mut() {
                Some(TurnStep::Subagent { steps, .. }) => *steps += 1,
                _ => self.steps.push(TurnStep::Subagent { number, steps: 1 }),
            }
            return;
        }
        let text = event.text.trim();
        match event.kind {
            EventKind::UserMessage if is_prompt(event) && self.prompt.is_none() => {
                self.at = event.at;
                self.prompt = Some((number, text));
            }
            EventKind::UserMessage if !text.is_empty() => {
                self.steps.push(TurnStep::Note { number, text: one_line(text, NOTE_CHARS_MAX) });
            }
            EventKind::AssistantMessage | EventKind::AssistantStop if !text.is_empty() => {
                // The end of a turn repeats its last message.
                let is_same = |step: &TurnStep<'_>| matches!(step, TurnStep::Message { text: earlier, .. } if *earlier == text);
                let is_repeated = self.steps.iter().any(is_same);
                if !is_repeated {
                    self.steps.push(TurnStep::Message { number, text });
                }
            }
            EventKind::ToolResult => {
                self.add_call(number, event);
                let words = find_rejection_words(event);
                self.steps.extend(words.map(|text| TurnStep::Objected { number, text }));
            }
            EventKind::Compaction => {
                let text = "the context was compacted".to_owned();
                self.steps.push(TurnStep::Note { number, text });
            }
            _ => {}
        }
    }

    fn add_call(&mut self, number: u64, event: &Event) {
        let (Some(call), Some(tool)) = (read_tool_call(event), &event.tool) else { return };
        let edits = match call.outcome.has_passed() {
            Some(false) => Vec::new(),
            _ => read_edits(tool, &event.cwd),
        };
        let line = one_line(&call.line, CALL_CHARS_MAX);
        let reason = call.reason.map(|reason| one_line(&reason, REASON_CHARS_MAX));
        self.steps.push(TurnStep::Called { number, line, outcome: call.outcome, reason, edits });
    }
}
