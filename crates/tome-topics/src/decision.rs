//! The last decision about a file, for an agent that is about to edit it.
//!
//! The agent did not ask, so a doubtful decision is left out: the decision must be about this file beyond doubt,
//! and nothing later may speak of the same subject, correct the work on the file, or delete it.

use std::collections::BTreeSet;

use tome_model::{FactKind, FileAction, Millis, SessionId};

use crate::builder::TopicMap;
use crate::named::TopicKind;
use crate::page::{PageFact, page_fact};
use crate::page_subject::{PageSubject, mentions_file};
use crate::path::base_name;
use crate::record::{FactRecord, SegmentRecord, TurnRecord};
use crate::reversal::{Choice, subject_words};

/// Weight of statements in the user's own words.
const USER_WEIGHT: u32 = 8;
/// Words that later work shares with a decision if it may have taken it back.
const LATER_WORDS_MIN: usize = 2;
/// Segments of later work that are worth reading.
const LATER_MAX: usize = 12;
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
    /// The decision, for comparing it with later messages.
    pub choice: Choice,
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
        let mut later = facts_of(&segments, &subject).map(|(_, _, fact)| fact);
        let is_corrected = later.any(|fact| {
            fact.kind == FactKind::Correction
                && (fact.at, fact.number) > (decision.at, decision.number)
        });
        if is_corrected
            || self.find_reversal_of(segment, decision).is_some()
            || self.is_deleted_after(&segments, &subject, decision)
        {
            return None;
        }
        Some(FileDecision {
            path: name.to_owned(),
            fact: page_fact(decision),
            is_by_user: decision.weight >= USER_WEIGHT,
            session: segment.session.clone(),
            choice: Choice::new(&decision.text, subject.names()),
            later_work: self.find_later_work(segment, decision, &subject),
        })
    }

    /// Whether the file was deleted after a decision. Numbers alone are in the order of arrival.
    fn is_deleted_after(
        &self,
        segments: &[&SegmentRecord],
        subject: &PageSubject<'_>,
        decision: &FactRecord,
    ) -> bool {
        let since = (decision.at, decision.number);
        let turns = segments.iter().flat_map(|segment| &segment.turns);
        let mut changes =
            turns.flat_map(|turn| subject.changes_in(turn).map(move |file| (turn, file)));
        let all = self.segments.iter().flat_map(|segment| &segment.turns);
        let mut deletions = all.flat_map(|turn| subject.deletions_in(turn));
        changes
            .any(|(turn, file)| file.action == FileAction::Deleted && turn.moment_of(file) > since)
            || deletions.any(|one| (one.at, one.number) > since)
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
}

/// Whether the answer of a choice leaves the choice open: "Which lexer? Let me pick".
pub fn defers_choice(text: &str) -> bool {
    #[rustfmt::skip]
    const DEFERRING: [&str; 16] = [
        "let me pick", "let me choose", "let me decide", "let me think", "i'll pick", "i'll decide", "i will decide",
        "you decide", "you choose", "decide later", "not sure", "not decided", "no preference", "something else",
        "none of these", "skip",
    ];
    let ends =
        ["? ", "？ ", "… ", ": "].iter().filter_map(|end| Some(text.rfind(end)? + end.len()));
    let answer = ends.max().and_then(|end| text.get(end..)).unwrap_or_default().to_lowercase();
    DEFERRING.iter().any(|start| {
        let rest = answer.strip_prefix(start);
        rest.is_some_and(|rest| {
            !rest.starts_with(char::is_alphanumeric) && rest.chars().count() < 20
        })
    })
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
