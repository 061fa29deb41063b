//! Collects the requests, statements, file actions and commands of a segment in one pass.

use std::collections::{BTreeMap, BTreeSet};

use tome_model::{Event, EventKind, Role};
use tome_text::{count_words, is_han_or_kana, stem};

use super::commands::{CommandRun, find_command_line, parse_command_run, parse_commit_message};
use super::cues::{Cue, find_cue, is_announcement, is_filler};
use super::files::{FileTouchKind, find_text_field, parse_patch_files, parse_touched_files};
use super::prose::{SentenceShape, split_message};
use super::request::{UserRequest, is_harness_message, parse_request};
use super::terms::{TermKind, extract_terms, is_stop};
use super::text::plain_text;

/// Author of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatementAuthor {
    User,
    Agent,
    Subagent,
}

/// A sentence of a message.
#[derive(Debug, Clone)]
pub(super) struct Statement<'a> {
    pub(super) event: usize,
    pub(super) raw: &'a str,
    pub(super) text: String,
    pub(super) who: StatementAuthor,
    pub(super) cue: Option<(Cue, u32)>,
    /// Index of the sentence in its message.
    pub(super) place: usize,
    pub(super) shape: SentenceShape,
    pub(super) filler: bool,
    /// Whether its message ends a turn.
    pub(super) ends_turn: bool,
    /// Whether its turn changed or ran something before it.
    pub(super) after_work: bool,
    /// Whether no tool was called after it in its turn.
    pub(super) closes: bool,
    names: i32,
}

impl Statement<'_> {
    /// Scores it as a statement; below 0 it is not worth showing.
    pub(super) fn score(&self) -> i32 {
        let words = count_words(&self.text);
        let length = match words {
            0..=4 => -9,
            5..=6 => -4,
            7..=40 => 3,
            _ => -2,
        };
        let cue = self.cue.map_or(0, |(_, sure)| i32::try_from(sure).unwrap_or(0) * 2);
        let shape = match self.shape {
            SentenceShape::Running => 1,
            SentenceShape::Item => 0,
            SentenceShape::Heading => -6,
        };
        let lead_in = if self.text.ends_with([':', '：']) { -7 } else { 0 };
        let asks = if self.text.ends_with(['?', '？']) { -6 } else { 0 };
        length
            + cue
            + shape
            + lead_in
            + asks
            + self.names.min(2) * 2
            + i32::from(self.ends_turn) * 2
            + if self.place == 0 { 2 } else { 0 }
            - if self.filler { 9 } else { 0 }
    }
}

#[derive(Debug, Clone)]
pub(super) struct FileActivity<'a> {
    pub(super) path: &'a str,
    pub(super) raw: &'a str,
    pub(super) event: usize,
    pub(super) action: FileTouchKind,
    pub(super) times: u32,
}

/// A search or a minor command.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadAction<'a> {
    pub(super) event: usize,
    /// `Ran` or `Searched for`.
    pub(super) word: &'static str,
    /// The command or the pattern, verbatim.
    pub(super) what: &'a str,
}

/// Everything extracted from a segment's events.
#[derive(Debug, Default)]
pub(super) struct SegmentDigest<'a> {
    pub(super) requests: Vec<UserRequest<'a>>,
    pub(super) statements: Vec<Statement<'a>>,
    pub(super) files: Vec<FileActivity<'a>>,
    pub(super) runs: Vec<CommandRun<'a>>,
    pub(super) commits: Vec<(usize, &'a str)>,
    /// Searches and minor commands.
    pub(super) reads: Vec<ReadAction<'a>>,
    pub(super) kinds: BTreeMap<EventKind, usize>,
    worked: bool,
    by_path: BTreeMap<(&'a str, bool), usize>,
}

pub(super) fn build_digest(events: &[Event]) -> SegmentDigest<'_> {
    let mut story = SegmentDigest::default();
    for (at, event) in events.iter().enumerate() {
        *story.kinds.entry(event.kind).or_insert(0) += 1;
        match event.kind {
            EventKind::UserMessage => story.add_user_message(at, event),
            EventKind::AssistantMessage | EventKind::AssistantStop => {
                story.add_statements(at, event, StatementAuthor::Agent);
            }
            EventKind::SubagentStop => story.add_statements(at, event, StatementAuthor::Subagent),
            EventKind::ToolResult => story.add_tool_result(at, event),
            EventKind::Compaction if event.role != Role::User => {
                story.add_statements(at, event, StatementAuthor::Agent);
            }
            _ => {}
        }
    }
    story
}

impl<'a> SegmentDigest<'a> {
    fn add_user_message(&mut self, at: usize, event: &'a Event) {
        self.requests.extend(parse_request(at, &event.text));
        self.worked = false;
        if is_harness_message(&event.text) {
            return;
        }
        self.add_statements(at, event, StatementAuthor::User);
    }

    fn add_statements(&mut self, at: usize, event: &'a Event, who: StatementAuthor) {
        for (place, sentence) in split_message(&event.text).sentences.into_iter().enumerate() {
            let text = plain_text(sentence.raw);
            let names =
                extract_terms(&text).iter().filter(|term| term.kind != TermKind::Word).count();
            let cue = find_cue(&text);
            // "I see the problem: …" is more than filler.
            let strong = cue.is_some_and(|(of, sure)| of == Cue::Cause && sure >= 4);
            self.statements.push(Statement {
                event: at,
                raw: sentence.raw,
                who,
                cue,
                closes: true,
                after_work: self.worked,
                place,
                shape: sentence.shape,
                filler: who != StatementAuthor::User
                    && (is_announcement(&text) || !strong && is_filler(&text)),
                ends_turn: matches!(event.kind, EventKind::AssistantStop | EventKind::SubagentStop),
                names: i32::try_from(names).unwrap_or(i32::MAX),
                text,
            });
        }
    }

    fn add_tool_result(&mut self, at: usize, event: &'a Event) {
        let Some(tool) = &event.tool else { return };
        for said in self
            .statements
            .iter_mut()
            .rev()
            .take_while(|said| said.who == StatementAuthor::Agent && said.closes)
        {
            said.closes = false;
        }
        for one in parse_touched_files(event, tool) {
            self.worked |= one.action != FileTouchKind::Read;
            self.add_file(at, one.path, one.raw, one.action);
        }
        if let Some(ran) = parse_command_run(at, event, tool) {
            if ran.command_line.contains("*** Begin Patch") {
                for one in parse_patch_files(ran.command_line) {
                    self.add_file(at, one.path, one.raw, one.action);
                }
                return;
            }
            self.commits
                .extend(parse_commit_message(ran.command_line).map(|message| (at, message)));
            self.worked |= ran.is_major;
            self.runs.push(ran);
        } else if let Some(what) = find_command_line(tool) {
            self.reads.push(ReadAction { event: at, word: "Ran", what });
        } else if let Some(what) = find_text_field(&tool.input, &["pattern", "query", "url"]) {
            self.reads.push(ReadAction { event: at, word: "Searched for", what });
        }
    }

    fn add_file(&mut self, at: usize, path: &'a str, raw: &'a str, touch: FileTouchKind) {
        let key = (path, touch == FileTouchKind::Read);
        match self.by_path.get(&key).and_then(|place| self.files.get_mut(*place)) {
            Some(file) => {
                file.times += 1;
                if touch == FileTouchKind::Deleted {
                    file.action = touch;
                }
            }
            None => {
                self.by_path.insert(key, self.files.len());
                self.files.push(FileActivity { path, raw, event: at, action: touch, times: 1 });
            }
        }
    }

    /// Returns the changed files, most edited first.
    pub(super) fn changed_files(&self) -> Vec<&FileActivity<'a>> {
        let mut files: Vec<_> =
            self.files.iter().filter(|file| file.action != FileTouchKind::Read).collect();
        files.sort_by(|a, b| b.times.cmp(&a.times).then(a.event.cmp(&b.event)));
        files
    }

    /// Whether nothing was changed and no major command was run.
    pub(super) fn is_conversation(&self) -> bool {
        self.files.iter().all(|file| file.action == FileTouchKind::Read)
            && !self.runs.iter().any(|ran| ran.is_major)
            && self.commits.is_empty()
    }

    /// Chooses the request that most of the segment was about, by its weight and how much followed
    /// it.
    pub(super) fn main_request(&self, events: usize) -> Option<&UserRequest<'a>> {
        let mut best: Option<(u32, &UserRequest<'a>)> = None;
        for (place, one) in self.requests.iter().enumerate() {
            let end = self.requests.get(place + 1).map_or(events, |next| next.event);
            let followed = u32::try_from(end.saturating_sub(one.event)).unwrap_or(0).min(16);
            let wondered = one.text.ends_with(['?', '？']) && !one.is_order;
            // "3, but …" answers a list of options and says little by itself.
            let listed = one.text.starts_with(|c: char| c.is_ascii_digit());
            let score = (one.weight.min(9) * 2
                + followed
                + u32::from(one.is_order) * 6
                + if place == 0 { 8 } else { 0 })
            .saturating_sub(u32::from(wondered) * 6 + u32::from(listed) * 16);
            if one.weight > 1 && best.is_none_or(|(so_far, _)| score > so_far) {
                best = Some((score, one));
            }
        }
        best.map(|(_, ask)| ask).or_else(|| self.requests.first())
    }
}

/// Returns the content terms of a text: stems without stop words, and pairs of adjacent CJK
/// characters.
pub(super) fn content_terms(text: &str) -> BTreeSet<String> {
    let mut set = BTreeSet::new();
    for word in
        text.split(|c: char| !c.is_alphanumeric() && c != '_' || is_han_or_kana(c)).take(400)
    {
        let lower = word.to_lowercase();
        if lower.chars().count() >= 3 && (!is_stop(&lower) || lower.len() > 7) {
            set.insert(stem(&lower).into_owned());
        }
    }
    let wide: Vec<char> = text.chars().filter(|c| is_han_or_kana(*c)).take(400).collect();
    set.extend(wide.windows(2).map(|pair| pair.iter().collect::<String>()));
    set
}

/// Percentage of the smaller set that is in the larger one. The divisor is at least the larger set's
/// size, up to five, so that a few common words do not make two texts the same.
pub(super) fn overlap_percent(a: &BTreeSet<String>, b: &BTreeSet<String>) -> usize {
    let smaller = a.len().min(b.len());
    let larger = a.len().max(b.len());
    a.intersection(b).count() * 100 / smaller.max(larger.min(5)).max(1)
}
