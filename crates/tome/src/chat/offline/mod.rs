//! The built-in script: a chat model that needs no language model. It recognizes a few phrases, but
//! its tool calls and their results are real. It never claims to be more than a script.

mod deeds;
mod intent;
mod reflecting;
mod turn;

use tome_llm::{ChatModel, Heard, ModelFailure, Part, Reply, Stop, Talk, Usage};

use turn::Turn;

pub struct Offline;

impl ChatModel for Offline {
    fn name(&self) -> &str {
        "offline"
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
        // A reflector offers few tools, and not recall_memory.
        let recalls = talk.tools.iter().any(|tool| tool.name == "recall_memory");
        let reply = match recalls {
            true => deeds::reply(&Turn::of(talk)),
            false => reflecting::reply(&Turn::of(talk)),
        };
        for part in &reply.parts {
            match part {
                Part::Text(text) => heard(Heard::Text(text)),
                Part::Call(call) => heard(Heard::Call { name: &call.name }),
                Part::Result(_) => {}
            }
        }
        // The script uses no tokens.
        Ok(Reply { usage: Usage::default(), ..reply })
    }
}
