//! Facts: what a page of the contents is written from. Each has verbatim evidence.

use serde::{Deserialize, Serialize};

use crate::{GripId, Millis, SessionId};

/// The kind of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactKind {
    /// The subject of the work.
    Title,
    /// A commit that was made.
    Commit,
    /// A pull request that was opened or worked on.
    PullRequest,
    /// A choice of the user, or of the agent with its reason.
    Decision,
    /// A command that failed, and whether it passed later.
    Problem,
    /// A request with the agent's conclusion, or the conclusion alone.
    Outcome,
    /// A question or failure at the end of the work.
    Open,
    /// A command that builds, tests or checks, and passed.
    Check,
    /// A rule that the user stated: always, never, we use.
    Convention,
    /// A correction by the user.
    Correction,
    /// A request without a conclusion.
    Request,
    /// Files that were created, changed or deleted.
    Change,
    /// An issue that a commit, a pull request, a branch or a prompt names.
    Issue,
    /// A commit of an earlier segment that was amended, reset or reverted.
    UndoneCommit,
}

impl FactKind {
    /// All kinds, in the order of their codes.
    pub const ALL: [Self; 14] = [
        Self::Title,
        Self::Commit,
        Self::PullRequest,
        Self::Decision,
        Self::Problem,
        Self::Outcome,
        Self::Open,
        Self::Check,
        Self::Convention,
        Self::Correction,
        Self::Request,
        Self::Change,
        Self::Issue,
        Self::UndoneCommit,
    ];

    /// The name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Commit => "commit",
            Self::PullRequest => "pull_request",
            Self::Decision => "decision",
            Self::Problem => "problem",
            Self::Outcome => "outcome",
            Self::Open => "open",
            Self::Check => "check",
            Self::Convention => "convention",
            Self::Correction => "correction",
            Self::Request => "request",
            Self::Change => "change",
            Self::Issue => "issue",
            Self::UndoneCommit => "undone_commit",
        }
    }

    /// The code on disk. Never reused.
    pub const fn code(self) -> u8 {
        match self {
            Self::Title => 0,
            Self::Commit => 1,
            Self::PullRequest => 2,
            Self::Decision => 3,
            Self::Problem => 4,
            Self::Outcome => 5,
            Self::Open => 6,
            Self::Check => 7,
            Self::Convention => 8,
            Self::Correction => 9,
            Self::Request => 10,
            Self::Change => 11,
            Self::Issue => 12,
            Self::UndoneCommit => 13,
        }
    }

    /// The kind of a code on disk.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

/// A statement with its evidence. It cannot be constructed without any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "FactFields", into = "FactFields")]
pub struct Fact {
    /// The kind of fact.
    pub kind: FactKind,
    /// One line.
    pub text: String,
    /// Time of the event that shows it.
    pub at: Millis,
    /// Preference among facts of the same kind: higher is better.
    pub weight: u32,
    grips: Vec<GripId>,
}

impl Fact {
    /// Creates a fact. `None` without evidence.
    pub fn new(
        kind: FactKind,
        text: String,
        at: Millis,
        weight: u32,
        grips: Vec<GripId>,
    ) -> Option<Self> {
        (!grips.is_empty()).then_some(Self { kind, text, at, weight, grips })
    }

    /// The excerpts that support it; at least one.
    pub fn grips(&self) -> &[GripId] {
        &self.grips
    }
}

#[derive(Serialize, Deserialize)]
struct FactFields {
    kind: FactKind,
    text: String,
    at: Millis,
    weight: u32,
    grips: Vec<GripId>,
}

impl TryFrom<FactFields> for Fact {
    type Error = &'static str;

    fn try_from(fields: FactFields) -> Result<Self, Self::Error> {
        let FactFields { kind, text, at, weight, grips } = fields;
        Self::new(kind, text, at, weight, grips).ok_or("a fact needs evidence")
    }
}

impl From<Fact> for FactFields {
    fn from(fact: Fact) -> Self {
        let Fact { kind, text, at, weight, grips } = fact;
        Self { kind, text, at, weight, grips }
    }
}

/// A piece of work: everything on one branch, or one session where no branch tells work apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// The branch, if known and not the main branch.
    pub branch: Option<String>,
    /// Its latest sessions, in order.
    pub sessions: Vec<SessionId>,
    /// Number of turns.
    pub turns: u64,
    /// Number of commits, including those not among the facts.
    pub commits: u64,
    /// How much happened, for ranking.
    pub weight: u64,
    /// The facts, in order of time.
    pub facts: Vec<Fact>,
}

impl Work {
    /// The facts of one kind, in order of time.
    pub fn facts_of(&self, kind: FactKind) -> impl DoubleEndedIterator<Item = &Fact> {
        self.facts.iter().filter(move |fact| fact.kind == kind)
    }
}
