//! The built-in script: a partner in conversation that needs no model. It knows a few ways of saying a
//! few things, and what it does with them is real: it calls the tools, reads what they answer, and says
//! what is in there. It never claims to be more than that.

mod deeds;
mod intent;
mod reflecting;
mod turn;

use tome_llm::{ChatModel, Heard, ModelFailure, Part, Reply, Stop, Talk, Usage};

use turn::Turn;

/// The script.
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
        // A reflector offers few tools, and none that recalls.
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
        // Nobody is paid.
        Ok(Reply { usage: Usage::default(), ..reply })
    }
}
