//! A scripted chat model, for tests and examples.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::{
    CancelToken, ChatModel, ChatRequest, ChatResponse, ContentPart, ModelFailure, StreamEvent,
};

/// Replies in the order of its script and records the requests.
#[derive(Debug, Default)]
pub struct ScriptedChat {
    script: Mutex<VecDeque<Result<ChatResponse, ModelFailure>>>,
    asked: Mutex<Vec<ChatRequest>>,
    chunk_chars: Option<usize>,
    text_before_failure: String,
}

impl ScriptedChat {
    /// Creates a model with these replies. After the last one it is unreachable.
    pub fn new(replies: impl IntoIterator<Item = Result<ChatResponse, ModelFailure>>) -> Self {
        Self { script: Mutex::new(replies.into_iter().collect()), ..Self::default() }
    }

    /// Streams text in pieces of this many characters instead of whole.
    #[must_use]
    pub fn with_chunk_size(mut self, chars: usize) -> Self {
        self.chunk_chars = Some(chars.max(1));
        self
    }

    /// Streams this text before each scripted failure.
    #[must_use]
    pub fn with_text_before_failure(mut self, said: &str) -> Self {
        said.clone_into(&mut self.text_before_failure);
        self
    }

    /// The requests received, in order.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn emit_text(
        &self,
        text: &str,
        heard: &mut dyn FnMut(StreamEvent<'_>),
        stop: &CancelToken,
    ) -> Result<(), ModelFailure> {
        let chars: Vec<char> = text.chars().collect();
        for piece in chars.chunks(self.chunk_chars.unwrap_or(usize::MAX)) {
            if stop.is_cancelled() {
                return Err(ModelFailure::Cancelled);
            }
            heard(StreamEvent::Text(&piece.iter().collect::<String>()));
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
        talk: &ChatRequest,
        heard: &mut dyn FnMut(StreamEvent<'_>),
        stop: &CancelToken,
    ) -> Result<ChatResponse, ModelFailure> {
        if stop.is_cancelled() {
            return Err(ModelFailure::Cancelled);
        }
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(talk.clone());
        let next = self.script.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let over = || Err(ModelFailure::Unreachable { message: "the script is over".to_owned() });
        let reply = match next.unwrap_or_else(over) {
            Ok(reply) => reply,
            Err(failure) => {
                self.emit_text(&self.text_before_failure, heard, stop)?;
                return Err(failure);
            }
        };
        for part in &reply.parts {
            match part {
                ContentPart::Text(text) => self.emit_text(text, heard, stop)?,
                ContentPart::ToolCall(call) => {
                    heard(StreamEvent::ToolCallStart { name: &call.name });
                }
                ContentPart::ToolResult(_) => {}
            }
        }
        Ok(reply)
    }
}
