//! Errors of a chat as shown to the user, with a next step. After any error the prompt is recorded,
//! and the chat continues with the next one.

use tome_agent::{AgentError, ReflectionCause};
use tome_llm::ModelFailure;

use crate::setup::ModelSections;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserError {
    pub message: String,
    pub hint: String,
    /// Stable name for programs.
    pub kind: &'static str,
}

impl UserError {
    /// The kind of an error caused by the user's own interruption.
    pub const STOPPED: &str = "stopped";

    pub fn from_agent_error(error: &AgentError, sections: ModelSections) -> Self {
        match error {
            AgentError::Model(failure) => Self::from_model_failure(failure, sections),
            AgentError::Reflect(reflect) => match &reflect.cause {
                ReflectionCause::Model(failure) => Self::from_model_failure(failure, sections),
                ReflectionCause::Memory(error) => Self::from_memory_error(error),
            },
            AgentError::Memory(error) => Self::from_memory_error(error),
            AgentError::WindowTooSmall(_) => Self {
                message: error.to_string(),
                hint: "raise it: `tome config set chat.window_tokens 100000`".to_owned(),
                kind: "window_too_small",
            },
        }
    }

    fn from_memory_error(error: &tome_agent::MemoryError) -> Self {
        Self {
            message: error.to_string(),
            hint: "run `tome doctor` to find the cause, then ask again".to_owned(),
            kind: "memory",
        }
    }

    pub fn from_model_failure(failure: &ModelFailure, sections: ModelSections) -> Self {
        let (kind, hint) = failure_hint(failure);
        // Address, key and name may come from the summarizer's section; the rest is the chat's own.
        let hint = hint.replace("ENDPOINT.", &format!("{}.", sections.endpoint));
        let hint = hint.replace("MODEL.", &format!("{}.", sections.model));
        Self { message: failure.to_string(), hint, kind }
    }
}

/// For failures that may be transient, or may mean that the endpoint is not a model.
const NOT_A_MODEL_HINT: &str =
    "ask again; if it persists, check that ENDPOINT.base_url is a model endpoint";

/// Returns kind and hint; `ENDPOINT.` and `MODEL.` stand for sections of the settings.
fn failure_hint(failure: &ModelFailure) -> (&'static str, &'static str) {
    match failure {
        ModelFailure::Overloaded { .. } => ("busy", "wait a moment and ask again"),
        ModelFailure::Unreachable { .. } => (
            "unreachable",
            "check that it is running and that ENDPOINT.base_url is right, then ask again; `tome chat --offline` needs no model",
        ),
        ModelFailure::TimedOut { .. } => {
            ("timed_out", "ask again, or raise the timeout: `tome config set chat.timeout 5m`")
        }
        ModelFailure::Refused { .. } => ("refused", "rephrase the prompt"),
        ModelFailure::Truncated { .. } => ("cut", "say `go on`"),
        ModelFailure::Interrupted { .. } => ("broken_off", NOT_A_MODEL_HINT),
        ModelFailure::Malformed { .. } => ("malformed", NOT_A_MODEL_HINT),
        ModelFailure::Unauthorized { .. } => (
            "unauthorized",
            "put a valid key into the variable named by ENDPOINT.key_env, or into the file ENDPOINT.key_file",
        ),
        ModelFailure::NotFound { .. } => (
            "not_found",
            "choose an existing model with `tome config set MODEL.model NAME` or --model NAME; the endpoint is ENDPOINT.base_url",
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
        ModelFailure::BudgetUnavailable { .. } => (
            "uncounted",
            "run `tome doctor` to see why the daemon does not respond, or `tome start` to start it; then ask again",
        ),
        ModelFailure::SpawnFailed { .. }
        | ModelFailure::CommandFailed { .. }
        | ModelFailure::Misconfigured(_) => {
            ("misconfigured", "`tome config --all` shows every setting and where it comes from")
        }
        ModelFailure::Cancelled => (UserError::STOPPED, "ask again at any time"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreachable_daemon_is_not_reported_as_a_model_failure() {
        let failure = ModelFailure::BudgetUnavailable { message: "no daemon".to_owned() };
        let trouble = UserError::from_model_failure(
            &failure,
            ModelSections { endpoint: "chat", model: "chat" },
        );
        assert!(trouble.hint.contains("`tome doctor`") && !trouble.hint.contains("base_url"));
    }
}
