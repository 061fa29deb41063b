//! Scopes of notebooks.

/// The owner of a notebook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Scope {
    /// One session: `overview.md` and `detail/`.
    Session,
    /// One project: `MEMORY.md`, typed notes, `facts/`, `episodes/`.
    #[default]
    Project,
    /// The coder, across projects: `episodic/`, `procedural/`, `semantic/`.
    Coder,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 3] = [Self::Session, Self::Project, Self::Coder];

    /// The name used everywhere.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Project => "project",
            Self::Coder => "coder",
        }
    }

    /// Parses a name.
    pub fn from_name(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text)
    }
}
