//! One check of `tome doctor` and its result.

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CheckVerdict {
    Good,
    Warning,
    Bad,
}

#[derive(Debug, Serialize)]
pub(super) struct DoctorCheck {
    pub(super) what: &'static str,
    pub(super) verdict: CheckVerdict,
    pub(super) found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) advice: Option<String>,
}

pub(super) fn good(what: &'static str, found: impl Into<String>) -> DoctorCheck {
    DoctorCheck { what, verdict: CheckVerdict::Good, found: found.into(), advice: None }
}

pub(super) fn warning(what: &'static str, found: impl Into<String>, advice: &str) -> DoctorCheck {
    DoctorCheck {
        what,
        verdict: CheckVerdict::Warning,
        found: found.into(),
        advice: Some(advice.to_owned()),
    }
}

pub(super) fn bad(what: &'static str, found: impl Into<String>, advice: &str) -> DoctorCheck {
    DoctorCheck {
        what,
        verdict: CheckVerdict::Bad,
        found: found.into(),
        advice: Some(advice.to_owned()),
    }
}
