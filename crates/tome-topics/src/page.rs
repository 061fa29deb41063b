//! The page of a topic.

use std::collections::{BTreeMap, BTreeSet};

use tome_model::{Agent, CommandOutcome, FactKind, Millis, NodeId, SessionId};
use tome_text::count_noun;

use crate::activity::{WeekActivity, count_weeks};
use crate::builder::{Topic, TopicMap};
use crate::limits::{COMMITS_MAX, STATEMENTS_MAX};
use crate::named::{TopicKind, error_signature};
use crate::page_subject::{OUTCOME, PageSubject};
use crate::record::{FactRecord, SegmentRecord, TurnRecord};
use crate::related::RelatedTopic;

/// The beginning of what fixed a problem, as the contents write it.
const FIXED: &str = " — passed";

/// Decisions on a page, and those that are compared with what was said later.
const DECISIONS_MAX: usize = 3;
const DECISIONS_COMPARED_MAX: usize = 12;

/// The page of a topic, newest first in every list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicPage {
    /// The topic.
    pub topic: Topic,
    /// The former id or name by which it was opened.
    pub forwarded_from: Option<String>,
    /// Former names of a file, the latest first.
    pub former_names: Vec<String>,
    /// Activity by week.
    pub weeks: Vec<WeekActivity>,
    /// Turns that worked on a named topic.
    pub entries: Vec<PageEntry>,
    /// Sessions.
    pub sessions: Vec<PageSession>,
    /// Commits made in those turns; of a file, the commits that followed its changes.
    pub commits: Vec<PageFact>,
    /// Changed files, those of most segments first.
    pub files: Vec<PageFile>,
    /// Decisions about it, those that were taken back last.
    pub decisions: Vec<PageFact>,
    /// Problems with it, and whether they were solved.
    pub problems: Vec<(PageFact, ProblemState)>,
    /// The most telling statements about it.
    pub statements: Vec<PageFact>,
    /// Related topics with reasons.
    pub related: Vec<RelatedTopic>,
}

/// A turn that worked on a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageEntry {
    /// When it began.
    pub at: Millis,
    /// The agent that did the work.
    pub agent: Agent,
    /// The session of the turn.
    pub session: SessionId,
    /// Its purpose, or the title of its segment.
    pub why: String,
    /// Its effect on the topic: "created", "3 edits".
    pub detail: String,
    /// Number of the event to open.
    pub number: u64,
}

/// A session that worked on a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageSession {
    /// Its id.
    pub id: SessionId,
    /// The agent that did the work.
    pub agent: Agent,
    /// Time of its last event here.
    pub last_at: Millis,
    /// The title of its work on the topic.
    pub title: String,
    /// Number of segments.
    pub segments: u64,
    /// Number of the event to open.
    pub number: u64,
}

/// A statement with its evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageFact {
    /// The kind of statement.
    pub kind: FactKind,
    /// One line.
    pub text: String,
    /// When it was said.
    pub at: Millis,
    /// Number of the event that shows it.
    pub number: u64,
}

/// A file that was changed for a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageFile {
    /// Its newest path.
    pub path: String,
    /// Number of segments that changed it.
    pub segments: u64,
}

/// Whether a problem was solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemState {
    /// The same command passed after a change; the text names it.
    Fixed,
    /// Another run of the command passed later, in the event of this number.
    PassedLater(u64),
    /// No later run of the command is known to have passed.
    Open,
}

impl TopicMap {
    /// The page of a topic, given its current or former id.
    pub fn page(&self, id: &str) -> Option<TopicPage> {
        let current = self.resolve(id)?;
        let topic = self.find(&current)?;
        let subject = PageSubject::new(topic.kind, &topic.label, &self.renames);
        let indexes = self.segment_indexes(&current);
        let mut segments: Vec<&SegmentRecord> = self.segments_at(indexes).collect();
        let known: BTreeSet<&NodeId> = segments.iter().map(|segment| &segment.id).collect();
        let deleting = self.segments.iter().map(AsRef::as_ref).filter(|segment| {
            let mut turns = segment.turns.iter();
            !known.contains(&segment.id)
                && turns.any(|turn| subject.deletions_in(turn).next().is_some())
        });
        segments.extend(deleting.collect::<Vec<_>>());
        segments.sort_by_key(|segment| segment.id.as_str());
        let page = self.build_page(&topic, &subject, &segments);
        let requested = id.trim();
        let is_forwarded = matches!(topic.kind, TopicKind::Group | TopicKind::File);
        let forwarded_from = (is_forwarded && requested != current).then(|| requested.to_owned());
        Some(TopicPage { forwarded_from, ..page })
    }

    fn build_page(
        &self,
        topic: &Topic,
        subject: &PageSubject<'_>,
        segments: &[&SegmentRecord],
    ) -> TopicPage {
        let is_whole =
            matches!(subject.kind, TopicKind::Group | TopicKind::Branch | TopicKind::Symbol);
        let mut entries: Vec<PageEntry> = Vec::new();
        let mut facts: Vec<&FactRecord> = Vec::new();
        let mut sessions: BTreeMap<&SessionId, PageSession> = BTreeMap::new();
        for segment in segments {
            let mut is_in = vec![is_whole; segment.turns.len()];
            for (turn, is_in) in segment.turns.iter().zip(&mut is_in) {
                if let Some(detail) = subject.describe_turn(turn) {
                    *is_in = true;
                    add_entry(&mut entries, segment, turn, detail);
                }
            }
            facts.extend(
                segment
                    .facts
                    .iter()
                    .filter(|fact| is_whole || is_in.get(fact.turn).copied().unwrap_or(false)),
            );
            let session = sessions.entry(&segment.session).or_insert_with(|| PageSession {
                id: segment.session.clone(),
                agent: segment.agent.clone(),
                last_at: segment.last_at,
                title: segment.title.clone(),
                segments: 0,
                number: first_prompt(segment),
            });
            session.segments += 1;
            session.last_at = session.last_at.max(segment.last_at);
        }
        entries.sort_by_key(|entry| std::cmp::Reverse((entry.at, entry.number)));
        let mut sessions: Vec<PageSession> = sessions.into_values().collect();
        sessions.sort_by(|a, b| b.last_at.cmp(&a.last_at).then_with(|| a.id.cmp(&b.id)));
        let turn_of = |fact: &FactRecord| {
            let segment = segments
                .iter()
                .find(|segment| segment.facts.iter().any(|other| std::ptr::eq(other, fact)));
            segment.and_then(|segment| segment.turns.get(fact.turn))
        };
        let about: Vec<&FactRecord> =
            facts.iter().copied().filter(|fact| subject.concerns(fact, turn_of(fact))).collect();
        let commits = match subject.kind {
            TopicKind::File => self.list_file_commits(subject, segments),
            _ => list_facts(&facts, FactKind::Commit, COMMITS_MAX),
        };
        let decisions = self.list_decisions(segments, &about);
        let problems = self.list_problems(&about);
        let statements = choose_statements(&about, &decisions);
        TopicPage {
            topic: topic.clone(),
            forwarded_from: None,
            former_names: subject.names().skip(1).map(str::to_owned).collect(),
            weeks: count_weeks(segments.iter().copied()),
            entries,
            sessions,
            commits,
            files: if subject.kind == TopicKind::File {
                Vec::new()
            } else {
                self.count_files(segments)
            },
            decisions,
            problems,
            statements,
            related: self.related(&topic.id),
        }
    }

    /// The changed files of segments: those of most segments first.
    fn count_files(&self, segments: &[&SegmentRecord]) -> Vec<PageFile> {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for segment in segments {
            let paths: BTreeSet<String> = self.renames.names_changed_by(segment).collect();
            for path in paths {
                *counts.entry(path).or_insert(0) += 1;
            }
        }
        let mut files: Vec<PageFile> =
            counts.into_iter().map(|(path, segments)| PageFile { path, segments }).collect();
        files.sort_by(|a, b| b.segments.cmp(&a.segments).then_with(|| a.path.cmp(&b.path)));
        files
    }

    /// The commits that followed changes of a file: people often commit in a later turn.
    fn list_file_commits(
        &self,
        subject: &PageSubject<'_>,
        segments: &[&SegmentRecord],
    ) -> Vec<PageFact> {
        let ids: BTreeSet<&SessionId> = segments.iter().map(|segment| &segment.session).collect();
        let mut sessions: BTreeMap<&SessionId, Vec<&SegmentRecord>> = BTreeMap::new();
        for segment in self.segments.iter().filter(|segment| ids.contains(&segment.session)) {
            sessions.entry(&segment.session).or_default().push(segment);
        }
        let mut commits: Vec<&FactRecord> = Vec::new();
        for mut segments in sessions.into_values() {
            segments.sort_by_key(|segment| (segment.first_at, segment.number));
            let mut is_pending = false;
            for segment in segments {
                for (index, turn) in segment.turns.iter().enumerate() {
                    let changed = subject.changes_in(turn).map(|file| file.number).min();
                    let made = segment.facts.iter().filter(|fact| {
                        fact.kind == FactKind::Commit
                            && fact.turn == index
                            && (is_pending || changed.is_some_and(|first| first <= fact.number))
                    });
                    let before = commits.len();
                    commits.extend(made);
                    is_pending = (is_pending || changed.is_some()) && commits.len() == before;
                }
            }
        }
        list_facts(&commits, FactKind::Commit, COMMITS_MAX)
    }

    /// The latest decisions, those that hold before those that were taken back.
    fn list_decisions(&self, segments: &[&SegmentRecord], about: &[&FactRecord]) -> Vec<PageFact> {
        let mut decisions: Vec<(&SegmentRecord, &FactRecord)> = Vec::new();
        for segment in segments {
            let own = segment.facts.iter().filter(|fact| fact.kind == FactKind::Decision);
            let own = own.filter(|fact| about.iter().any(|one| std::ptr::eq(*one, *fact)));
            decisions.extend(own.map(|fact| (*segment, fact)));
        }
        decisions.sort_by_key(|(_, fact)| std::cmp::Reverse((fact.at, fact.number)));
        let mut seen = BTreeSet::new();
        decisions.retain(|(_, fact)| seen.insert(fact.text.as_str()));
        let (mut holding, mut taken_back) = (Vec::new(), Vec::new());
        for (segment, fact) in decisions.into_iter().take(DECISIONS_COMPARED_MAX) {
            if holding.len() == DECISIONS_MAX {
                break;
            }
            match self.find_reversal_of(segment, fact) {
                None => holding.push(page_fact(fact)),
                Some(number) => taken_back.push(PageFact {
                    text: format!("Taken back later (#{number}): {}", fact.text),
                    ..page_fact(fact)
                }),
            }
        }
        taken_back.truncate(DECISIONS_MAX - holding.len());
        holding.extend(taken_back);
        holding
    }

    /// Problems, open ones first, then the newest. Of a problem that came back the latest counts.
    fn list_problems(&self, facts: &[&FactRecord]) -> Vec<(PageFact, ProblemState)> {
        let mut latest: Vec<&FactRecord> =
            facts.iter().copied().filter(|fact| fact.kind == FactKind::Problem).collect();
        latest.sort_by_key(|fact| std::cmp::Reverse((fact.at, fact.number)));
        let mut seen = BTreeSet::new();
        // How it ended is no part of the problem.
        latest.retain(|fact| {
            seen.insert(error_signature(fact.text.split(OUTCOME).next().unwrap_or_default()))
        });
        let state = |fact: &FactRecord| {
            if fact.text.contains(FIXED) {
                return ProblemState::Fixed;
            }
            let command = fact.text.split('`').nth(1).unwrap_or_default();
            self.passed_after(command, fact.at)
                .map_or(ProblemState::Open, ProblemState::PassedLater)
        };
        let mut problems: Vec<(PageFact, ProblemState)> =
            latest.into_iter().map(|fact| (page_fact(fact), state(fact))).collect();
        problems.sort_by_key(|(_, state)| *state != ProblemState::Open);
        problems.truncate(STATEMENTS_MAX);
        problems
    }

    /// The first event after a time in which a command passed.
    fn passed_after(&self, command: &str, at: Millis) -> Option<u64> {
        let turns = self.segments.iter().flat_map(|segment| &segment.turns);
        let runs = turns.flat_map(|turn| &turn.commands).filter(|run| {
            run.outcome == CommandOutcome::Passed && run.name == command && run.at > at
        });
        runs.min_by_key(|run| (run.at, run.number)).map(|run| run.number)
    }
}

/// Adds a turn; parts of one turn in several segments are one entry.
fn add_entry(
    entries: &mut Vec<PageEntry>,
    segment: &SegmentRecord,
    turn: &TurnRecord,
    detail: String,
) {
    let existing = entries
        .iter_mut()
        .find(|entry| entry.number == turn.number && entry.session == segment.session);
    if let Some(entry) = existing {
        entry.detail = join_details(&entry.detail, &detail);
        return;
    }
    entries.push(PageEntry {
        at: turn.at,
        agent: segment.agent.clone(),
        session: segment.session.clone(),
        why: turn.why.clone().unwrap_or_else(|| segment.title.clone()),
        detail,
        number: turn.number,
    });
}

/// Number of the first prompt of a segment, or of its first event.
fn first_prompt(segment: &SegmentRecord) -> u64 {
    let prompt = segment.turns.iter().find(|turn| turn.why.is_some());
    prompt.map_or(segment.number, |turn| turn.number)
}

/// Joins "2 edits" and "3 edits" to "5 edits"; other words are listed once.
fn join_details(first: &str, second: &str) -> String {
    let edits = |text: &str| -> u64 {
        let parts =
            text.split(", ").filter(|part| part.ends_with(" edit") || part.ends_with(" edits"));
        parts.filter_map(|part| part.split(' ').next()?.parse::<u64>().ok()).sum()
    };
    let total = edits(first) + edits(second);
    let mut words: Vec<String> = Vec::new();
    for part in first.split(", ").chain(second.split(", ")) {
        if !part.ends_with(" edit")
            && !part.ends_with(" edits")
            && !words.iter().any(|one| one == part)
        {
            words.push(part.to_owned());
        }
    }
    if total > 0 {
        words.push(count_noun(total, "edit", "edits"));
    }
    words.retain(|word| !word.is_empty());
    words.join(", ")
}

pub(crate) fn page_fact(fact: &FactRecord) -> PageFact {
    PageFact { kind: fact.kind, text: fact.text.clone(), at: fact.at, number: fact.number }
}

/// Statements of one kind, the newest first, each once.
fn list_facts(facts: &[&FactRecord], kind: FactKind, facts_max: usize) -> Vec<PageFact> {
    let mut found: Vec<PageFact> =
        facts.iter().filter(|fact| fact.kind == kind).map(|fact| page_fact(fact)).collect();
    found.sort_by_key(|fact| std::cmp::Reverse((fact.at, fact.number)));
    let mut seen = BTreeSet::new();
    found.retain(|fact| seen.insert(fact.text.clone()));
    found.truncate(facts_max);
    found
}

/// The most telling statements: outcomes, pull requests, corrections and conventions of most weight,
/// the newest first. Commits, decisions and problems have lists of their own.
fn choose_statements(facts: &[&FactRecord], decisions: &[PageFact]) -> Vec<PageFact> {
    let weight = |fact: &FactRecord| match fact.kind {
        FactKind::Outcome => Some(fact.weight),
        FactKind::PullRequest => Some(fact.weight + 10),
        FactKind::Correction | FactKind::Convention => Some(fact.weight + 6),
        _ => None,
    };
    let mut rated: Vec<(u32, &FactRecord)> =
        facts.iter().filter_map(|fact| Some((weight(fact)?, *fact))).collect();
    // A rebase concerns a branch only.
    rated.retain(|(_, fact)| !fact.text.starts_with("Rebased the branch"));
    rated.sort_by(|a, b| b.0.cmp(&a.0).then((b.1.at, b.1.number).cmp(&(a.1.at, a.1.number))));
    let mut chosen: Vec<PageFact> = Vec::new();
    for (_, fact) in rated {
        let is_covered = |other: &PageFact| {
            other.number == fact.number && other.text == fact.text
                || is_alike(&other.text, &fact.text)
        };
        if chosen.len() < STATEMENTS_MAX && !chosen.iter().chain(decisions).any(is_covered) {
            chosen.push(page_fact(fact));
        }
    }
    chosen.sort_by_key(|fact| std::cmp::Reverse((fact.at, fact.number)));
    chosen
}

/// Whether two texts answer the same request, or most words of the shorter one are in the other.
fn is_alike(a: &str, b: &str) -> bool {
    let request = |text: &str| text.split_once(" → ").map(|(request, _)| request.to_owned());
    if request(a).is_some_and(|own| request(b).is_some_and(|other| own == other)) {
        return true;
    }
    let words = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
        words.map(str::to_lowercase).collect()
    };
    let (a, b) = (words(a), words(b));
    let shared = a.intersection(&b).count();
    shared * 10 >= a.len().min(b.len()).max(1) * 7
}
