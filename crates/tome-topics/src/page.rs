//! The page of a topic.

use std::collections::{BTreeMap, BTreeSet};

use tome_model::{Agent, CommandOutcome, FactKind, FileAction, Millis, SessionId};

use crate::activity::{WeekActivity, count_weeks};
use crate::builder::{Topic, TopicMap};
use crate::limits::{ENTRIES_MAX, STATEMENTS_MAX};
use crate::named::{TopicKind, error_signature};
use crate::path::base_name;
use crate::record::{FactRecord, SegmentRecord, TurnRecord};
use crate::related::{RelatedTopic, format_counted};

/// The separator of a problem and what fixed it, as the contents write it.
const FIXED: &str = " — passed";

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
    /// Turns that worked on a named topic; of many the latest.
    pub entries: Vec<PageEntry>,
    /// Number of those turns.
    pub entries_total: u64,
    /// Sessions; of many the latest.
    pub sessions: Vec<PageSession>,
    /// Commits made in those turns.
    pub commits: Vec<PageFact>,
    /// Changed files, those of most segments first.
    pub files: Vec<PageFile>,
    /// Decisions about it.
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
    /// The same command passed later, in the event of this number.
    PassedLater(u64),
    /// The command has not passed since.
    Open,
}

/// The subject of a page, and the parts of segments that belong to it.
pub(crate) struct Subject<'a> {
    pub(crate) kind: TopicKind,
    pub(crate) name: &'a str,
    /// All names of a file, with the time from which they were no longer used.
    pub(crate) names: Vec<(String, Option<Millis>)>,
}

impl Subject<'_> {
    /// Describes the effect of a turn on the subject; `None` if there is none.
    fn describe_turn(&self, turn: &TurnRecord) -> Option<String> {
        match self.kind {
            TopicKind::Group | TopicKind::Branch | TopicKind::Symbol => None,
            TopicKind::File => self.describe_file(turn),
            TopicKind::Folder => {
                let files: BTreeSet<&str> = turn
                    .files
                    .iter()
                    .filter(|file| file.action != FileAction::Read && turn.is_focused())
                    .filter(|file| crate::path::folder_of(&file.path) == Some(self.name))
                    .map(|file| file.path.as_str())
                    .collect();
                let names: Vec<&str> = files.iter().take(2).map(|path| base_name(path)).collect();
                match files.len() {
                    0 => None,
                    1 | 2 => Some(names.join(", ")),
                    many => Some(format!("{} and {} more", names.join(", "), many - 2)),
                }
            }
            TopicKind::Command => {
                let runs: Vec<CommandOutcome> = turn
                    .commands
                    .iter()
                    .filter(|run| run.name == self.name)
                    .map(|run| run.outcome)
                    .collect();
                let with = |outcome| runs.iter().filter(|one| **one == outcome).count();
                let parts = [
                    (with(CommandOutcome::Failed), "failed"),
                    (with(CommandOutcome::Passed), "passed"),
                ];
                let counts = parts.iter().filter(|(times, _)| *times > 0).map(|(times, word)| {
                    if *times == 1 { (*word).to_owned() } else { format!("{word} {times} times") }
                });
                (!runs.is_empty()).then(|| counts.collect::<Vec<_>>().join(", "))
            }
            TopicKind::Error => {
                let signature = error_signature(self.name);
                let error =
                    turn.errors.iter().find(|error| error_signature(&error.text) == signature)?;
                Some(format!("`{}` failed", error.command))
            }
            TopicKind::Package => {
                turn.packages.iter().any(|name| name == self.name).then(|| "added".to_owned())
            }
            TopicKind::Issue => {
                let is_it = |number: &u64| format!("#{number}") == self.name;
                turn.issues.iter().any(is_it).then(String::new)
            }
        }
    }

    fn describe_file(&self, turn: &TurnRecord) -> Option<String> {
        let moved = turn.moves.iter().find(|one| self.is_named(&one.to, one.at, true));
        let mut edits = 0;
        let mut words: Vec<String> = Vec::new();
        for file in turn.files.iter().filter(|file| self.is_named(&file.path, turn.at, false)) {
            match file.action {
                FileAction::Changed => edits += file.times,
                FileAction::Created | FileAction::Deleted => {
                    words.push(file.action.as_str().to_owned());
                }
                FileAction::Read => {}
            }
        }
        match edits {
            0 => {}
            1 => words.push("1 edit".to_owned()),
            many => words.push(format!("{many} edits")),
        }
        words.extend(moved.map(|one| format!("renamed from {}", one.from)));
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// Whether a path named the file at that time.
    pub(crate) fn is_named(&self, path: &str, at: Millis, is_new: bool) -> bool {
        self.names.iter().any(|(name, until)| {
            name == path && until.is_none_or(|until| at <= until || is_new && at == until)
        })
    }

    /// Whether a statement is about the subject, not only made at the same time.
    fn concerns(&self, fact: &FactRecord, turn: Option<&TurnRecord>) -> bool {
        match self.kind {
            TopicKind::File => {}
            // A turn that runs a command is seldom about the command.
            TopicKind::Command => {
                return fact.kind == FactKind::Problem
                    && fact.text.starts_with(&format!("`{}`", self.name));
            }
            _ => return true,
        }
        let is_named = self.names.iter().any(|(name, _)| mentions_file(&fact.text, name));
        let is_only = turn.is_some_and(|turn| {
            let changed = turn.files.iter().filter(|file| file.action != FileAction::Read);
            let paths: BTreeSet<&str> = changed.map(|file| file.path.as_str()).collect();
            paths.len() == 1 && paths.iter().all(|path| self.is_named(path, turn.at, false))
        });
        is_named || is_only
    }
}

/// Whether a text names a file by its base name, as a whole word.
pub(crate) fn mentions_file(text: &str, path: &str) -> bool {
    let base = base_name(path);
    text.match_indices(base).any(|(at, _)| {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(at + base.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

impl TopicMap {
    /// The page of a topic, given its current or former id.
    pub fn page(&self, id: &str) -> Option<TopicPage> {
        let current = self.resolve(id)?;
        let topic = self.find(&current)?;
        let names = match topic.kind {
            TopicKind::File => self.renames.all_names(&topic.label),
            _ => Vec::new(),
        };
        let subject = Subject { kind: topic.kind, name: &topic.label, names };
        let indexes = self.segment_indexes(&current);
        let segments: Vec<&SegmentRecord> = self.segments_at(indexes).collect();
        let page = self.build_page(&topic, &subject, &segments);
        let requested = id.trim();
        let is_forwarded = matches!(topic.kind, TopicKind::Group | TopicKind::File);
        let forwarded_from = (is_forwarded && requested != current).then(|| requested.to_owned());
        Some(TopicPage { forwarded_from, ..page })
    }

    fn build_page(
        &self,
        topic: &Topic,
        subject: &Subject<'_>,
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
        let entries_total = entries.len() as u64;
        entries.truncate(ENTRIES_MAX);
        let mut sessions: Vec<PageSession> = sessions.into_values().collect();
        sessions.sort_by(|a, b| b.last_at.cmp(&a.last_at).then_with(|| a.id.cmp(&b.id)));
        sessions.truncate(ENTRIES_MAX);
        let turn_of = |fact: &FactRecord| {
            let segment = segments
                .iter()
                .find(|segment| segment.facts.iter().any(|other| std::ptr::eq(other, fact)));
            segment.and_then(|segment| segment.turns.get(fact.turn))
        };
        let about: Vec<&FactRecord> =
            facts.iter().copied().filter(|fact| subject.concerns(fact, turn_of(fact))).collect();
        let commits = list_facts(&facts, FactKind::Commit, 8);
        let decisions = list_facts(&about, FactKind::Decision, 3);
        let problems = self.list_problems(&about);
        let statements = choose_statements(&about, &decisions);
        TopicPage {
            topic: topic.clone(),
            forwarded_from: None,
            former_names: subject.names.iter().skip(1).map(|(name, _)| name.clone()).collect(),
            weeks: count_weeks(segments.iter().copied()),
            entries,
            entries_total,
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
            let paths: BTreeSet<String> =
                segment.changed_files().map(|file| self.renames.newest_name(&file.path)).collect();
            for path in paths {
                *counts.entry(path).or_insert(0) += 1;
            }
        }
        let mut files: Vec<PageFile> =
            counts.into_iter().map(|(path, segments)| PageFile { path, segments }).collect();
        files.sort_by(|a, b| b.segments.cmp(&a.segments).then_with(|| a.path.cmp(&b.path)));
        files.truncate(ENTRIES_MAX);
        files
    }

    /// Problems, open ones first, then the newest.
    fn list_problems(&self, facts: &[&FactRecord]) -> Vec<(PageFact, ProblemState)> {
        let mut problems: Vec<(PageFact, ProblemState)> = Vec::new();
        for fact in facts.iter().filter(|fact| fact.kind == FactKind::Problem) {
            let state = if fact.text.contains(FIXED) {
                ProblemState::Fixed
            } else {
                let command = fact.text.split('`').nth(1).unwrap_or_default();
                self.passed_after(command, fact.at)
                    .map_or(ProblemState::Open, ProblemState::PassedLater)
            };
            let page = page_fact(fact);
            let signature = error_signature(&page.text);
            if !problems.iter().any(|(known, _)| error_signature(&known.text) == signature) {
                problems.push((page, state));
            }
        }
        problems.sort_by_key(|(fact, state)| {
            (*state != ProblemState::Open, std::cmp::Reverse((fact.at, fact.number)))
        });
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
        words.push(format_counted(usize::try_from(total).unwrap_or(usize::MAX), "edit", "edits"));
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
