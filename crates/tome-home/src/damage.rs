//! A finding of damage.

/// Stored data that is damaged or lost, with the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file or store, and its problem.
    pub problem: String,
    /// The next step for the person.
    pub remedy: String,
}

impl Damage {
    /// A finding and its remedy.
    pub fn new(found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { problem: found.into(), remedy: remedy.into() }
    }
}
