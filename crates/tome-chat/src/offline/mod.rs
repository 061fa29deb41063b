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
        request: &ChatRequest,
        on_event: &mut dyn FnMut(StreamEvent<'_>),
        stop: &CancelToken,
    ) -> Result<ChatResponse, ModelFailure> {
        if stop.is_cancelled() {
            return Err(ModelFailure::Cancelled);
        }
        // A reflector offers few tools, and not recall_memory.
        let recalls = request.tools.iter().any(|tool| tool.name == "recall_memory");
        let reply = if recalls {
            replies::next_reply(&OfflineTurn::from_request(request))
        } else {
            reflection::next_reply(&OfflineTurn::from_request(request))
        };
        for part in &reply.parts {
            match part {
                ContentPart::Text(text) => on_event(StreamEvent::Text(text)),
                ContentPart::ToolCall(call) => {
                    on_event(StreamEvent::ToolCallStart { name: &call.name });
                }
                ContentPart::ToolResult(_) => {}
            }
        }
        // The script uses no tokens.
        Ok(ChatResponse { usage: Usage::default(), ..reply })
    }
}
