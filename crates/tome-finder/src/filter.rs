//! Which entries may be found at all. The same for every index.

use tome_model::Millis;

use crate::Source;

/// What is asked for. Empty: everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Only these sources; empty: all.
    pub sources: Vec<Source>,
    /// Only of this project.
    pub project: Option<String>,
    /// Only of this session.
    pub session: Option<String>,
    /// Only of these agents; empty: all.
    pub agents: Vec<String>,
    /// Only events of these kinds; empty: all. Other things have no kind and are not found then.
    pub kinds: Vec<String>,
    /// From this moment on.
    pub since: Option<Millis>,
    /// Before this moment.
    pub until: Option<Millis>,
}
