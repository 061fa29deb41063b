//! Whose notebook a note belongs to.

/// Whose notebook a note belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Scope {
    /// One run of an agent: `overview.md` and `detail/`.
    Session,
    /// One code base: `MEMORY.md`, typed notes, `facts/`, `episodes/`.
    #[default]
    Project,
    /// The person, across projects: `episodic/`, `procedural/`, `semantic/`.
    Coder,
}

impl Scope {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Session, Self::Project, Self::Coder];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Project => "project",
            Self::Coder => "coder",
        }
    }

    /// Reads what `as_str` wrote.
    pub fn named(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text)
    }
}
