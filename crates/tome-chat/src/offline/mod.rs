//! The built-in script: a chat model that needs no language model. It recognizes a few phrases, but
//! its tool calls and their results are real. It never claims to be more than a script.

mod intent;
mod reflection;
mod replies;
mod turn;

use tome_llm::{
    CancelToken, ChatModel, ChatRequest, ChatResponse, ContentPart, ModelFailure, StreamEvent,
    Usage,
};

use turn::OfflineTurn;

pub struct OfflineModel;

impl ChatModel for OfflineModel {
    fn name(&self) -> &str {
        "offline"
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
        // A reflector offers few tools, and not recall_memory.
        let recalls = talk.tools.iter().any(|tool| tool.name == "recall_memory");
        let reply = match recalls {
            true => replies::next_reply(&OfflineTurn::from_request(talk)),
            false => reflection::next_reply(&OfflineTurn::from_request(talk)),
        };
        for part in &reply.parts {
            match part {
                ContentPart::Text(text) => heard(StreamEvent::Text(text)),
                ContentPart::ToolCall(call) => {
                    heard(StreamEvent::ToolCallStart { name: &call.name });
                }
                ContentPart::ToolResult(_) => {}
            }
        }
        // The script uses no tokens.
        Ok(ChatResponse { usage: Usage::default(), ..reply })
    }
}
