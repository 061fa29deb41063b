//! What went wrong, in plain words, and what to do about it. Whatever it is: what was said is recorded,
//! and the chat goes on with the next prompt.

use tome_agent::{AgentError, ReflectCause};
use tome_llm::ModelFailure;

use crate::model::Sections;

/// A failure as a person is told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    pub said: String,
    /// What to do next.
    pub hint: String,
    /// Its name, for programs.
    pub kind: &'static str,
}

impl Trouble {
    /// The kind of what the person stopped themselves.
    pub const STOPPED: &str = "stopped";

    pub fn of(error: &AgentError, sections: Sections) -> Self {
        match error {
            AgentError::Model(failure) => Self::of_model(failure, sections),
            AgentError::Reflect(reflect) => match &reflect.cause {
                ReflectCause::Model(failure) => Self::of_model(failure, sections),
                ReflectCause::Memory(error) => Self::of_memory(error),
            },
            AgentError::Memory(error) => Self::of_memory(error),
            AgentError::WindowTooSmall { .. } => Self {
                said: error.to_string(),
                hint: "raise it: `tome config set chat.window_tokens 100000`".to_owned(),
                kind: "window_too_small",
            },
        }
    }

    fn of_memory(error: &tome_agent::MemoryError) -> Self {
        Self {
            said: error.to_string(),
            hint: "`tome doctor` says what is wrong; ask again when it is mended".to_owned(),
            kind: "memory",
        }
    }

    pub fn of_model(failure: &ModelFailure, sections: Sections) -> Self {
        let (kind, hint) = hint(failure);
        // The address, the key and the name may be the summarizer's; the rest is the chat's own.
        let hint = hint.replace("PLACE.", &format!("{}.", sections.place));
        let hint = hint.replace("MODEL.", &format!("{}.", sections.model));
        Self { said: failure.to_string(), hint, kind }
    }
}

/// For what may pass, or may never have been a model.
const NO_MODEL: &str = "ask again; if it stays, PLACE.base_url may name something that is no model";

/// What to do; `PLACE.` and `MODEL.` stand for the sections of the settings.
fn hint(failure: &ModelFailure) -> (&'static str, &'static str) {
    match failure {
        ModelFailure::Busy { .. } => ("busy", "wait a moment and ask again"),
        ModelFailure::Down { .. } => (
            "unreachable",
            "look whether it runs and whether PLACE.base_url is right, then ask again; `tome chat --offline` needs none",
        ),
        ModelFailure::TimedOut { .. } => {
            ("timed_out", "ask again, or give it longer: `tome config set chat.timeout 5m`")
        }
        ModelFailure::Refused { .. } => ("refused", "ask in other words"),
        ModelFailure::Truncated { .. } => ("cut", "say `go on`"),
        ModelFailure::BrokenOff { .. } => ("broken_off", NO_MODEL),
        ModelFailure::Malformed { .. } => ("malformed", NO_MODEL),
        ModelFailure::Unauthorized { .. } => (
            "unauthorized",
            "put the right key into the variable that PLACE.key_env names, or into the file of PLACE.key_file",
        ),
        ModelFailure::NotFound { .. } => (
            "not_found",
            "name one that it has: `tome config set MODEL.model NAME`, or --model NAME; PLACE.base_url says where",
        ),
        ModelFailure::Rejected { .. } => (
            "rejected",
            "another model (--model NAME) may take it; its words above say what it did not like",
        ),
        ModelFailure::ContextTooLong { .. } => (
            "context_too_long",
            "ask for less at once, begin anew with `tome chat` (recall finds this chat), or lower chat.window_tokens to what the model takes",
        ),
        ModelFailure::OverBudget { .. } => (
            "over_budget",
            "go on tomorrow, or raise it: `tome config set summarizer.daily_tokens 1000000`",
        ),
        ModelFailure::Uncounted { .. } => (
            "uncounted",
            "`tome doctor` says why the daemon does not answer, `tome start` starts it; then ask again",
        ),
        ModelFailure::CommandMissing { .. }
        | ModelFailure::CommandFailed { .. }
        | ModelFailure::Misconfigured(_) => {
            ("misconfigured", "`tome config` shows every setting and where it comes from")
        }
        ModelFailure::Stopped => (Trouble::STOPPED, "ask again when you like"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_that_is_away_is_not_the_models_fault() {
        let failure = ModelFailure::Uncounted { said: "no daemon".to_owned() };
        let trouble = Trouble::of_model(&failure, Sections { place: "chat", model: "chat" });
        assert!(trouble.hint.contains("`tome doctor`") && !trouble.hint.contains("base_url"));
    }
}
