//! Answer types of recall.

use std::time::Duration;

use tome_finder::RecordKind;
use tome_model::Millis;

use super::confidence::Confidence;
use super::{HitTurn, OtherStatement, Tier};

/// The result of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallAnswer {
    /// Lowest tier that was used.
    pub tier: Tier,
    /// Number of records that an index has not read yet. They were scanned directly, except for
    /// those in `unread`.
    pub behind: u64,
    /// Descriptions of records that could not be searched.
    pub unread: Vec<String>,
    /// Best first.
    pub hits: Vec<RecallHit>,
    /// How likely the answer is among the hits; `None` without hits.
    pub confidence: Option<Confidence>,
    /// Number of further relevant hits or turns beyond the limit or the token budget.
    pub more: usize,
    /// The `skip` that continues the list.
    pub next: usize,
    /// Other projects with hits, if this one has none.
    pub other_projects: Vec<OtherProjectHits>,
    /// The words of the query that name a time span.
    pub time: Option<String>,
    /// Steps performed, for `--explain`.
    pub stages: Vec<SearchStage>,
}

/// A hit.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallHit {
    /// Short name: the number of an event such as `#123`, or else the citation. Opens with `tome show`.
    pub id: String,
    /// The turn around a hit in messages.
    pub turn: HitTurn,
    /// Statements about the same subject at other times.
    pub others: Vec<OtherStatement>,
    /// Kind of record.
    pub source: RecordKind,
    /// Opens with `tome show`.
    pub citation: String,
    /// File part of the citation, for notes and details.
    pub file: Option<String>,
    /// Line in that file or in `messages.jsonl`.
    pub line: Option<u32>,
    /// Excerpt around the match: at most 400 characters, white space collapsed.
    pub text: String,
    /// A node's title, or a note's name.
    pub title: String,
    /// Time of the event, or of the last change.
    pub at: Option<Millis>,
    /// Root folder of the project; empty for the coder's notebook.
    pub project: String,
    /// Session id.
    pub session: Option<String>,
    /// Name of the agent.
    pub agent: Option<String>,
    /// Event kind, or level of a node.
    pub kind: String,
    /// Name of the tool that produced the event.
    pub tool: Option<String>,
    /// Fused score.
    pub score: f64,
    /// How likely it is relevant.
    pub confidence: Confidence,
    /// Share of the query's words that it has, weighted by IDF.
    pub coverage: f32,
    /// Its place, or that of its turn, in the list of all pages, from 0.
    pub position: usize,
    /// Tier, rank (from 1) and score for each tier that found it.
    pub ranks: Vec<(Tier, usize, f32)>,
    /// Citations of further hits in the same session or file.
    pub also: Vec<String>,
}

impl RecallAnswer {
    /// The hits by their turns, in the order of the first hit of each. A hit without a turn stands alone.
    pub fn turns(&self) -> Vec<Vec<&RecallHit>> {
        let mut turns: Vec<Vec<&RecallHit>> = Vec::new();
        for hit in &self.hits {
            let same = |turn: &&mut Vec<&RecallHit>| {
                turn.first().is_some_and(|first| first.is_in_same_turn(hit))
            };
            match turns.iter_mut().find(same) {
                Some(turn) => turn.push(hit),
                None => turns.push(vec![hit]),
            }
        }
        turns
    }

    /// The texts that it shows: excerpts, and the turns around them.
    pub fn texts(&self) -> Vec<&str> {
        let turns = self.hits.iter().map(|hit| &hit.turn);
        let parts = turns.flat_map(|turn| turn.prompt.iter().chain(&turn.answer));
        let turn_texts = parts.map(|part| part.text.as_str());
        self.hits.iter().map(|hit| hit.text.as_str()).chain(turn_texts).collect()
    }
}

impl RecallHit {
    /// Whether two hits belong to the same turn.
    pub fn is_in_same_turn(&self, other: &Self) -> bool {
        self.turn.prompt_number.is_some()
            && self.turn.prompt_number == other.turn.prompt_number
            && self.project == other.project
            && self.session == other.session
    }
}

/// Another project with hits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherProjectHits {
    /// Root folder.
    pub project: String,
    /// Lower bound on the number of hits.
    pub hits: usize,
}

/// A step of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchStage {
    /// Name of the step.
    pub name: String,
    /// Short summary of its result.
    pub found: String,
    /// Duration.
    pub took: Duration,
}

/// Name of a source in answers.
pub fn source_name(source: RecordKind) -> &'static str {
    match source {
        RecordKind::Event => "messages",
        RecordKind::Node => "contents",
        RecordKind::Grip => "grips",
        RecordKind::Note => "notes",
        RecordKind::Detail => "detail",
        RecordKind::Lesson => "coder",
    }
}
