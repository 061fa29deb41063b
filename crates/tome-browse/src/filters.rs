//! The filters of the list. A key goes from each value to the next.

/// Which projects are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProjectRange {
    /// The current project.
    #[default]
    Project,
    /// All projects.
    All,
}

/// Which time is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeFilter {
    /// No limit in time.
    #[default]
    Any,
    /// Since midnight.
    Today,
    /// The last 7 days.
    Week,
    /// The last 30 days.
    Month,
}

/// Which sources are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScopeFilter {
    /// All sources.
    #[default]
    All,
    /// The conversations.
    Sessions,
    /// The notes of the project.
    Notes,
    /// The lessons that apply to all projects.
    Lessons,
    /// The table of contents.
    Contents,
}

/// Whose words are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SpeakerFilter {
    /// Everybody's.
    #[default]
    Anyone,
    /// The user's.
    User,
    /// The agent's.
    Agent,
    /// The output of tools.
    Tool,
}

/// All filters together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filters {
    /// Which projects are searched.
    pub range: ProjectRange,
    /// Which time is searched.
    pub period: TimeFilter,
    /// Which sources are searched.
    pub scope: ScopeFilter,
    /// Whose words are searched.
    pub speaker: SpeakerFilter,
    /// Only this agent.
    pub agent: Option<String>,
}

impl TimeFilter {
    /// The next value.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Any => Self::Today,
            Self::Today => Self::Week,
            Self::Week => Self::Month,
            Self::Month => Self::Any,
        }
    }

    /// A few words for it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Any => "anytime",
            Self::Today => "today",
            Self::Week => "7 days",
            Self::Month => "30 days",
        }
    }
}

impl ScopeFilter {
    /// The next value.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::All => Self::Sessions,
            Self::Sessions => Self::Notes,
            Self::Notes => Self::Lessons,
            Self::Lessons => Self::Contents,
            Self::Contents => Self::All,
        }
    }

    /// A few words for it.
    pub fn label(self) -> &'static str {
        match self {
            Self::All => "all kinds",
            Self::Sessions => "sessions",
            Self::Notes => "notes",
            Self::Lessons => "lessons",
            Self::Contents => "contents",
        }
    }
}

impl SpeakerFilter {
    /// The next value.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Anyone => Self::User,
            Self::User => Self::Agent,
            Self::Agent => Self::Tool,
            Self::Tool => Self::Anyone,
        }
    }

    /// A few words for it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Anyone => "all speakers",
            Self::User => "user",
            Self::Agent => "agent",
            Self::Tool => "tools",
        }
    }
}

/// The agent after the current one, then none.
pub(crate) fn next_agent(known: &[String], current: Option<&str>) -> Option<String> {
    match current {
        None => known.first().cloned(),
        Some(current) => {
            let index = known.iter().position(|agent| agent == current);
            index.and_then(|index| known.get(index + 1)).cloned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_comes_back_to_its_first_value() {
        let count = |mut step: Box<dyn FnMut() -> bool>| (1..10).find(|_| step()).unwrap();
        let (mut period, mut scope, mut speaker) =
            (TimeFilter::Any, ScopeFilter::All, SpeakerFilter::Anyone);
        assert_eq!(
            count(Box::new(move || {
                period = period.next();
                period == TimeFilter::Any
            })),
            4
        );
        assert_eq!(
            count(Box::new(move || {
                scope = scope.next();
                scope == ScopeFilter::All
            })),
            5
        );
        assert_eq!(
            count(Box::new(move || {
                speaker = speaker.next();
                speaker == SpeakerFilter::Anyone
            })),
            4
        );
        let known = ["claude-code".to_owned(), "codex".to_owned()];
        assert_eq!(next_agent(&known, None).as_deref(), Some("claude-code"));
        assert_eq!(next_agent(&known, Some("claude-code")).as_deref(), Some("codex"));
        assert_eq!(next_agent(&known, Some("codex")), None);
        assert_eq!(next_agent(&[], None), None);
    }
}
