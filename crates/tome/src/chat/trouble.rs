//! Errors of a chat as shown to the user, with a next step. After any error the prompt is recorded,
//! and the chat continues with the next one.

use tome_agent::{AgentError, ReflectCause};
use tome_llm::ModelFailure;

use crate::model::Sections;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    pub said: String,
    pub hint: String,
    /// Stable name for programs.
    pub kind: &'static str,
}

impl Trouble {
    /// The kind of an error caused by the user's own interruption.
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
            hint: "run `tome doctor` to find the cause, then ask again".to_owned(),
            kind: "memory",
        }
    }

    pub fn of_model(failure: &ModelFailure, sections: Sections) -> Self {
        let (kind, hint) = hint(failure);
        // Address, key and name may come from the summarizer's section; the rest is the chat's own.
        let hint = hint.replace("PLACE.", &format!("{}.", sections.place));
        let hint = hint.replace("MODEL.", &format!("{}.", sections.model));
        Self { said: failure.to_string(), hint, kind }
    }
}

/// For failures that may be transient, or may mean that the endpoint is not a model.
const NO_MODEL: &str = "ask again; if it persists, check that PLACE.base_url is a model endpoint";

/// Returns kind and hint; `PLACE.` and `MODEL.` stand for sections of the settings.
fn hint(failure: &ModelFailure) -> (&'static str, &'static str) {
    match failure {
        ModelFailure::Busy { .. } => ("busy", "wait a moment and ask again"),
        ModelFailure::Down { .. } => (
            "unreachable",
            "check that it is running and that PLACE.base_url is right, then ask again; `tome chat --offline` needs no model",
        ),
        ModelFailure::TimedOut { .. } => {
            ("timed_out", "ask again, or raise the timeout: `tome config set chat.timeout 5m`")
        }
        ModelFailure::Refused { .. } => ("refused", "rephrase the prompt"),
        ModelFailure::Truncated { .. } => ("cut", "say `go on`"),
        ModelFailure::BrokenOff { .. } => ("broken_off", NO_MODEL),
        ModelFailure::Malformed { .. } => ("malformed", NO_MODEL),
        ModelFailure::Unauthorized { .. } => (
            "unauthorized",
            "put a valid key into the variable named by PLACE.key_env, or into the file PLACE.key_file",
        ),
        ModelFailure::NotFound { .. } => (
            "not_found",
            "choose an existing model with `tome config set MODEL.model NAME` or --model NAME; the endpoint is PLACE.base_url",
        ),
        ModelFailure::Rejected { .. } => (
            "rejected",
            "another model (--model NAME) may accept it; the message above gives the reason",
        ),
        ModelFailure::ContextTooLong { .. } => (
            "context_too_long",
            "ask for less at once, start a new `tome chat` (recall finds this one), or lower chat.window_tokens to the model's limit",
        ),
        ModelFailure::OverBudget { .. } => (
            "over_budget",
            "continue tomorrow, or raise the limit: `tome config set summarizer.daily_tokens 1000000`",
        ),
        ModelFailure::Uncounted { .. } => (
            "uncounted",
            "run `tome doctor` to see why the daemon does not respond, or `tome start` to start it; then ask again",
        ),
        ModelFailure::CommandMissing { .. }
        | ModelFailure::CommandFailed { .. }
        | ModelFailure::Misconfigured(_) => {
            ("misconfigured", "`tome config` shows every setting and where it comes from")
        }
        ModelFailure::Stopped => (Trouble::STOPPED, "ask again at any time"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreachable_daemon_is_not_reported_as_a_model_failure() {
        let failure = ModelFailure::Uncounted { said: "no daemon".to_owned() };
        let trouble = Trouble::of_model(&failure, Sections { place: "chat", model: "chat" });
        assert!(trouble.hint.contains("`tome doctor`") && !trouble.hint.contains("base_url"));
    }
}
