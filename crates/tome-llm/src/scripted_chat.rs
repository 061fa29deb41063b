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
    requests: Mutex<Vec<ChatRequest>>,
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
    pub fn with_text_before_failure(mut self, text: &str) -> Self {
        text.clone_into(&mut self.text_before_failure);
        self
    }

    /// The requests received, in order.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn emit_text(
        &self,
        text: &str,
        on_event: &mut dyn FnMut(StreamEvent<'_>),
        stop: &CancelToken,
    ) -> Result<(), ModelFailure> {
        let chars: Vec<char> = text.chars().collect();
        for piece in chars.chunks(self.chunk_chars.unwrap_or(usize::MAX)) {
            if stop.is_cancelled() {
                return Err(ModelFailure::Cancelled);
            }
            on_event(StreamEvent::Text(&piece.iter().collect::<String>()));
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
        request: &ChatRequest,
        on_event: &mut dyn FnMut(StreamEvent<'_>),
        stop: &CancelToken,
    ) -> Result<ChatResponse, ModelFailure> {
        if stop.is_cancelled() {
            return Err(ModelFailure::Cancelled);
        }
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        let next = self.script.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let over = || Err(ModelFailure::Unreachable { message: "the script is over".to_owned() });
        let reply = match next.unwrap_or_else(over) {
            Ok(reply) => reply,
            Err(failure) => {
                self.emit_text(&self.text_before_failure, on_event, stop)?;
                return Err(failure);
            }
        };
        for part in &reply.parts {
            match part {
                ContentPart::Text(text) => self.emit_text(text, on_event, stop)?,
                ContentPart::ToolCall(call) => {
                    on_event(StreamEvent::ToolCallStart { name: &call.name });
                }
                ContentPart::ToolResult(_) => {}
            }
        }
        Ok(reply)
    }
}
