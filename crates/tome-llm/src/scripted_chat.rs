//! A scripted chat model, for tests and examples.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::{ChatModel, Heard, ModelFailure, Part, Reply, Stop, Talk};

/// Replies in the order of its script and records the requests.
#[derive(Debug, Default)]
pub struct ScriptedChat {
    script: Mutex<VecDeque<Result<Reply, ModelFailure>>>,
    asked: Mutex<Vec<Talk>>,
    piece_chars: Option<usize>,
    said_before_failing: String,
}

impl ScriptedChat {
    /// Creates a model with these replies. After the last one it is unreachable.
    pub fn new(replies: impl IntoIterator<Item = Result<Reply, ModelFailure>>) -> Self {
        Self { script: Mutex::new(replies.into_iter().collect()), ..Self::default() }
    }

    /// Streams text in pieces of this many characters instead of whole.
    #[must_use]
    pub fn in_pieces_of(mut self, chars: usize) -> Self {
        self.piece_chars = Some(chars.max(1));
        self
    }

    /// Streams this text before each scripted failure.
    #[must_use]
    pub fn failing_after(mut self, said: &str) -> Self {
        said.clone_into(&mut self.said_before_failing);
        self
    }

    /// Appends a reply to the script.
    pub fn then(&self, reply: Result<Reply, ModelFailure>) {
        self.script.lock().unwrap_or_else(PoisonError::into_inner).push_back(reply);
    }

    /// The requests received, in order.
    pub fn asked(&self) -> Vec<Talk> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn say(
        &self,
        text: &str,
        heard: &mut dyn FnMut(Heard<'_>),
        stop: &Stop,
    ) -> Result<(), ModelFailure> {
        let chars: Vec<char> = text.chars().collect();
        for piece in chars.chunks(self.piece_chars.unwrap_or(usize::MAX)) {
            if stop.is_stopped() {
                return Err(ModelFailure::Stopped);
            }
            heard(Heard::Text(&piece.iter().collect::<String>()));
        }
        Ok(())
    }
}

impl ChatModel for ScriptedChat {
    fn name(&self) -> &str {
        "scripted"
    }

    fn reply(
        &self,
        talk: &Talk,
        heard: &mut dyn FnMut(Heard<'_>),
        stop: &Stop,
    ) -> Result<Reply, ModelFailure> {
        if stop.is_stopped() {
            return Err(ModelFailure::Stopped);
        }
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(talk.clone());
        let next = self.script.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let over = || Err(ModelFailure::Down { said: "the script is over".to_owned() });
        let reply = match next.unwrap_or_else(over) {
            Ok(reply) => reply,
            Err(failure) => {
                self.say(&self.said_before_failing, heard, stop)?;
                return Err(failure);
            }
        };
        for part in &reply.parts {
            match part {
                Part::Text(text) => self.say(text, heard, stop)?,
                Part::Call(call) => heard(Heard::Call { name: &call.name }),
                Part::Result(_) => {}
            }
        }
        Ok(reply)
    }
}
