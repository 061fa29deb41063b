//! The last decision about a file, for an agent that is about to edit it.
//!
//! The agent did not ask, so a doubtful decision is left out: the decision must be about this file beyond doubt,
//! and nothing later may speak of the same subject, correct the work on the file, or delete it.

use std::collections::BTreeSet;

use tome_model::{FactKind, FileAction, Millis, SessionId};
use tome_text::{content_stems, stem};

use crate::builder::TopicMap;
use crate::named::TopicKind;
use crate::page::{PageFact, PageSubject, mentions_file, page_fact};
use crate::path::base_name;
use crate::record::{FactRecord, SegmentRecord, TurnRecord};

/// Weight of statements in the user's own words.
const USER_WEIGHT: u32 = 8;
/// Words that two statements share if they are about the same subject.
const SHARED_WORDS_MIN: usize = 3;
/// Words that later work shares with a decision if it may have taken it back.
const LATER_WORDS_MIN: usize = 2;
/// Segments of later work that are worth reading.
const LATER_MAX: usize = 12;
/// Characters of a word that says something about a subject.
const WORD_CHARS_MIN: usize = 4;
/// Stems of words that say that something was decided, not what.
const CHOICE_STEMS: [&str; 8] =
    ["decid", "decis", "chose", "chosen", "choos", "prefer", "because", "becaus"];
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
    /// Later work of other sessions that may have taken it back, the latest first: the session, and
    /// the time of its first and last event.
    pub later_work: Vec<(SessionId, Millis, Millis)>,
}

impl TopicMap {
    /// The last decision about a file, given by its path of today relative to the repository; `None`
    /// if there is none, or if it may not hold any more. A former name is another file by now.
    pub fn last_decision(&self, path: &str) -> Option<FileDecision> {
        let topic = self.find_named(&format!("file:{path}"))?;
        let name = topic.name.as_str();
        let subject = PageSubject::new(TopicKind::File, name, &self.renames);
        let segments: Vec<&SegmentRecord> = self.segments_at(&topic.segments).collect();
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
        if self.renames.is_doubtful(name, decision.at) {
            return None;
        }
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
            later_work: self.find_later_work(segment, decision, &subject),
        })
    }

    /// Later segments that speak of the subject of a decision, the latest first.
    fn find_later_work(
        &self,
        segment: &SegmentRecord,
        decision: &FactRecord,
        subject: &PageSubject<'_>,
    ) -> Vec<(SessionId, Millis, Millis)> {
        let words = subject_words(&decision.text, subject.names());
        let enough = words.len().min(LATER_WORDS_MIN);
        let mut later: Vec<&SegmentRecord> = self
            .segments
            .iter()
            .map(AsRef::as_ref)
            .filter(|other| other.last_at > decision.at && other.session != segment.session)
            .filter(|other| enough > 0 && count_mentioned(other, &words) >= enough)
            .collect();
        later.sort_by(|a, b| {
            b.last_at.cmp(&a.last_at).then_with(|| a.id.as_str().cmp(b.id.as_str()))
        });
        later.truncate(LATER_MAX);
        let work = later.into_iter();
        work.map(|one| (one.session.clone(), one.first_at, one.last_at)).collect()
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

/// The stems of a statement that say what it is about, without those of the paths of a file: they
/// occur in all work on it.
pub fn subject_words<'a>(text: &str, paths: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let mut words = content_stems(text);
    for path in paths {
        let parts = path.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
        for part in parts.chain([base_name(path)]) {
            words.remove(stem(&part.to_lowercase()).as_ref());
            words.remove(&part.to_lowercase());
        }
    }
    let is_telling = |word: &String| {
        word.chars().count() >= WORD_CHARS_MIN && !CHOICE_STEMS.contains(&word.as_str())
    };
    words.retain(is_telling);
    words
}

/// How many words a segment mentions in what is known of it.
fn count_mentioned(segment: &SegmentRecord, words: &BTreeSet<String>) -> usize {
    let mut text = segment.title.to_lowercase();
    let whys = segment.turns.iter().filter_map(|turn| turn.why.as_ref());
    let facts = segment.facts.iter().map(|fact| &fact.text);
    for part in whys.chain(facts).chain(&segment.terms) {
        text.push('\n');
        text.push_str(&part.to_lowercase());
    }
    words.iter().filter(|word| text.contains(word.as_str())).count()
}

/// The statements of the turns that changed a file.
fn facts_of<'a>(
    segments: &'a [&'a SegmentRecord],
    subject: &'a PageSubject<'_>,
) -> impl Iterator<Item = (&'a SegmentRecord, &'a TurnRecord, &'a FactRecord)> {
    segments.iter().flat_map(move |segment| {
        segment.facts.iter().filter_map(move |fact| {
            let turn = segment.turns.get(fact.turn)?;
            changes_file(turn, subject).then_some((*segment, turn, fact))
        })
    })
}

fn changes_file(turn: &TurnRecord, subject: &PageSubject<'_>) -> bool {
    subject.changes_in(turn).next().is_some()
}

fn is_deleted_after(
    segments: &[&SegmentRecord],
    subject: &PageSubject<'_>,
    decision: &FactRecord,
) -> bool {
    let turns = segments.iter().flat_map(|segment| &segment.turns);
    let mut changes = turns.flat_map(|turn| subject.changes_in(turn));
    changes.any(|file| file.action == FileAction::Deleted && file.number > decision.number)
}

/// Whether a decision names the file, or is the user's and its turn changed no other file.
fn is_surely_about(fact: &FactRecord, turn: &TurnRecord, subject: &PageSubject<'_>) -> bool {
    let is_named = subject
        .names()
        .any(|name| mentions_file(&fact.text, name) || mentions_stem(&fact.text, name));
    let paths: BTreeSet<&str> = turn.changed_files().map(|file| file.path.as_str()).collect();
    is_named || fact.weight >= USER_WEIGHT && paths.len() == 1
}

/// Whether a text names a file without its extension, if that is telling: `lexer` for `lexer.rs`.
fn mentions_stem(text: &str, path: &str) -> bool {
    let base = base_name(path).to_lowercase();
    let name = base.split('.').next().unwrap_or_default();
    let is_telling = name.chars().count() >= STEM_CHARS_MIN && !GENERIC_STEMS.contains(&name);
    is_telling && mentions_file(&text.to_lowercase(), name)
}
