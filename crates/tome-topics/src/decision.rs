//! The last decision about a file, for an agent that is about to edit it.
//!
//! The agent did not ask, so a doubtful decision is left out: the decision must be about this file beyond doubt,
//! and nothing later may speak of the same subject, correct the work on the file, or delete it.

use std::collections::BTreeSet;

use tome_model::{FactKind, FileAction, SessionId};
use tome_text::content_stems;

use crate::builder::TopicMap;
use crate::named::TopicKind;
use crate::page::{PageFact, Subject, mentions_file, page_fact};
use crate::path::base_name;
use crate::record::{FactRecord, SegmentRecord, TurnRecord};

/// Weight of statements in the user's own words.
const USER_WEIGHT: u32 = 8;
/// Words that two statements share if they are about the same subject.
const SHARED_WORDS_MIN: usize = 3;
/// Characters of a file's name without its extension that make it telling.
const STEM_CHARS_MIN: usize = 4;

/// Names of files that many folders have.
#[rustfmt::skip]
const GENERIC_STEMS: [&str; 20] = [
    "main", "index", "init", "test", "tests", "util", "utils", "types", "config", "settings", "common",
    "helpers", "model", "models", "error", "errors", "page", "app", "setup", "readme",
];

/// The last decision about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDecision {
    /// The newest name of the file.
    pub path: String,
    /// The decision, with the event that shows it.
    pub fact: PageFact,
    /// Whether the user made it, not the agent.
    pub is_by_user: bool,
    /// The session in which it was made.
    pub session: SessionId,
    /// Later statements of turns that changed the file: one of them may take the decision back.
    pub later: Vec<String>,
}

impl TopicMap {
    /// The last decision about a file, given by its path relative to the repository or a former one;
    /// `None` if there is none, or if it may not hold any more.
    pub fn last_decision(&self, path: &str) -> Option<FileDecision> {
        let id = self.resolve(&format!("file:{path}"))?;
        let name = id.strip_prefix("file:")?;
        let names = self.renames.all_names(name);
        let subject = Subject { kind: TopicKind::File, name, names };
        let segments: Vec<&SegmentRecord> = self.segments_at(self.segment_indexes(&id)).collect();
        let mut best: Option<(&SegmentRecord, &FactRecord)> = None;
        for (segment, turn, fact) in facts_of(&segments, &subject) {
            if fact.kind == FactKind::Decision
                && is_surely_about(fact, turn, &subject)
                && best.is_none_or(|(_, known)| (fact.at, fact.number) > (known.at, known.number))
            {
                best = Some((segment, fact));
            }
        }
        let (segment, decision) = best?;
        if self.is_replaced(decision) || is_deleted_after(&segments, &subject, decision) {
            return None;
        }
        let later: Vec<&FactRecord> = facts_of(&segments, &subject)
            .map(|(_, _, fact)| fact)
            .filter(|fact| (fact.at, fact.number) > (decision.at, decision.number))
            .collect();
        if later.iter().any(|fact| fact.kind == FactKind::Correction) {
            return None;
        }
        Some(FileDecision {
            path: name.to_owned(),
            fact: page_fact(decision),
            is_by_user: decision.weight >= USER_WEIGHT,
            session: segment.session.clone(),
            later: later.into_iter().map(|fact| fact.text.clone()).collect(),
        })
    }

    /// Whether a later decision, correction or rule anywhere in the project is about the same subject.
    fn is_replaced(&self, decision: &FactRecord) -> bool {
        let words = content_stems(&decision.text);
        let later = self.segments.iter().flat_map(|segment| &segment.facts).filter(|fact| {
            use FactKind::{Convention, Correction, Decision};
            matches!(fact.kind, Decision | Correction | Convention)
                && (fact.at, fact.number) > (decision.at, decision.number)
                && fact.text != decision.text
        });
        later.into_iter().any(|fact| {
            let other = content_stems(&fact.text);
            let shared = words.intersection(&other).count();
            shared >= SHARED_WORDS_MIN && shared * 2 >= words.len().min(other.len())
        })
    }
}

/// The statements of the turns that changed a file.
fn facts_of<'a>(
    segments: &'a [&'a SegmentRecord],
    subject: &'a Subject<'_>,
) -> impl Iterator<Item = (&'a SegmentRecord, &'a TurnRecord, &'a FactRecord)> {
    segments.iter().flat_map(move |segment| {
        segment.facts.iter().filter_map(move |fact| {
            let turn = segment.turns.get(fact.turn)?;
            changes_file(turn, subject).then_some((*segment, turn, fact))
        })
    })
}

fn changes_file(turn: &TurnRecord, subject: &Subject<'_>) -> bool {
    let mut changed = turn.files.iter().filter(|file| file.action != FileAction::Read);
    changed.any(|file| subject.is_named(&file.path, turn.at, false))
}

fn is_deleted_after(
    segments: &[&SegmentRecord],
    subject: &Subject<'_>,
    decision: &FactRecord,
) -> bool {
    let turns = segments.iter().flat_map(|segment| &segment.turns);
    let mut deleted = turns
        .flat_map(|turn| turn.files.iter().map(move |file| (turn, file)))
        .filter(|(_, file)| file.action == FileAction::Deleted && file.number > decision.number);
    deleted.any(|(turn, file)| subject.is_named(&file.path, turn.at, false))
}

/// Whether a decision names the file, or is the user's and its turn changed no other file.
fn is_surely_about(fact: &FactRecord, turn: &TurnRecord, subject: &Subject<'_>) -> bool {
    let is_named = subject
        .names
        .iter()
        .any(|(name, _)| mentions_file(&fact.text, name) || mentions_stem(&fact.text, name));
    let changed = turn.files.iter().filter(|file| file.action != FileAction::Read);
    let paths: BTreeSet<&str> = changed.map(|file| file.path.as_str()).collect();
    is_named || fact.weight >= USER_WEIGHT && paths.len() == 1
}

/// Whether a text names a file without its extension, if that is telling: `lexer` for `lexer.rs`.
fn mentions_stem(text: &str, path: &str) -> bool {
    let base = base_name(path).to_lowercase();
    let name = base.split('.').next().unwrap_or_default();
    let is_telling = name.chars().count() >= STEM_CHARS_MIN && !GENERIC_STEMS.contains(&name);
    is_telling && mentions_file(&text.to_lowercase(), name)
}
