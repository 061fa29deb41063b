//! Collects the requests, statements, file actions and commands of a segment in one pass.

use std::collections::{BTreeMap, BTreeSet};

use tome_model::{Event, EventKind, Role};
use tome_text::{count_words, is_han_or_kana, stem};

use super::ask::{Ask, ask, is_harness};
use super::commands::{Ran, commit_message, ran, typed};
use super::cues::{Cue, announces, cue, is_filler};
use super::files::{Touch, in_patch, text_field, touched};
use super::prose::{Shape, parts};
use super::text::plain;
use super::words::{Sort, is_stop, terms};

/// Author of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Person,
    Agent,
    Subagent,
}

/// A sentence of a message.
#[derive(Debug, Clone)]
pub(super) struct Said<'a> {
    pub(super) event: usize,
    pub(super) raw: &'a str,
    pub(super) text: String,
    pub(super) who: Who,
    pub(super) cue: Option<(Cue, u32)>,
    /// Index of the sentence in its message.
    pub(super) place: usize,
    pub(super) shape: Shape,
    pub(super) filler: bool,
    /// Whether its message ends a turn.
    pub(super) last_words: bool,
    /// Whether its turn changed or ran something before it.
    pub(super) after_work: bool,
    /// Whether no tool was called after it in its turn.
    pub(super) closes: bool,
    names: i32,
}

impl Said<'_> {
    /// Scores it as a statement; below 0 it is not worth showing.
    pub(super) fn worth(&self) -> i32 {
        let words = count_words(&self.text);
        let length = match words {
            0..=4 => -9,
            5..=6 => -4,
            7..=40 => 3,
            _ => -2,
        };
        let cue = self.cue.map_or(0, |(_, sure)| i32::try_from(sure).unwrap_or(0) * 2);
        let shape = match self.shape {
            Shape::Running => 1,
            Shape::Item => 0,
            Shape::Heading => -6,
        };
        let lead_in = if self.text.ends_with([':', '：']) { -7 } else { 0 };
        let asks = if self.text.ends_with(['?', '？']) { -6 } else { 0 };
        length
            + cue
            + shape
            + lead_in
            + asks
            + self.names.min(2) * 2
            + i32::from(self.last_words) * 2
            + if self.place == 0 { 2 } else { 0 }
            - if self.filler { 9 } else { 0 }
    }
}

#[derive(Debug, Clone)]
pub(super) struct FileTouch<'a> {
    pub(super) path: &'a str,
    pub(super) raw: &'a str,
    pub(super) event: usize,
    pub(super) touch: Touch,
    pub(super) times: u32,
}

/// A search or a minor command.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look<'a> {
    pub(super) event: usize,
    /// `Ran` or `Searched for`.
    pub(super) word: &'static str,
    /// The command or the pattern, verbatim.
    pub(super) what: &'a str,
}

/// Everything extracted from a segment's events.
#[derive(Debug, Default)]
pub(super) struct Story<'a> {
    pub(super) asks: Vec<Ask<'a>>,
    pub(super) said: Vec<Said<'a>>,
    pub(super) files: Vec<FileTouch<'a>>,
    pub(super) ran: Vec<Ran<'a>>,
    pub(super) commits: Vec<(usize, &'a str)>,
    /// Searches and minor commands.
    pub(super) looks: Vec<Look<'a>>,
    pub(super) kinds: BTreeMap<EventKind, usize>,
    worked: bool,
    by_path: BTreeMap<(&'a str, bool), usize>,
}

pub(super) fn story(events: &[Event]) -> Story<'_> {
    let mut story = Story::default();
    for (at, event) in events.iter().enumerate() {
        *story.kinds.entry(event.kind).or_insert(0) += 1;
        match event.kind {
            EventKind::UserMessage => story.hear_person(at, event),
            EventKind::AssistantMessage | EventKind::AssistantStop => {
                story.hear(at, event, Who::Agent);
            }
            EventKind::SubagentStop => story.hear(at, event, Who::Subagent),
            EventKind::ToolResult => story.see(at, event),
            EventKind::Compaction if event.role != Role::User => story.hear(at, event, Who::Agent),
            _ => {}
        }
    }
    story
}

impl<'a> Story<'a> {
    fn hear_person(&mut self, at: usize, event: &'a Event) {
        self.asks.extend(ask(at, &event.text));
        self.worked = false;
        if is_harness(&event.text) {
            return;
        }
        self.hear(at, event, Who::Person);
    }

    fn hear(&mut self, at: usize, event: &'a Event, who: Who) {
        for (place, sentence) in parts(&event.text).sentences.into_iter().enumerate() {
            let text = plain(sentence.raw);
            let names = terms(&text).iter().filter(|term| term.sort != Sort::Word).count();
            let cue = cue(&text);
            // "I see the problem: …" is more than filler.
            let strong = cue.is_some_and(|(of, sure)| of == Cue::Cause && sure >= 4);
            self.said.push(Said {
                event: at,
                raw: sentence.raw,
                who,
                cue,
                closes: true,
                after_work: self.worked,
                place,
                shape: sentence.shape,
                filler: who != Who::Person && (announces(&text) || !strong && is_filler(&text)),
                last_words: matches!(
                    event.kind,
                    EventKind::AssistantStop | EventKind::SubagentStop
                ),
                names: i32::try_from(names).unwrap_or(i32::MAX),
                text,
            });
        }
    }

    fn see(&mut self, at: usize, event: &'a Event) {
        let Some(tool) = &event.tool else { return };
        for said in
            self.said.iter_mut().rev().take_while(|said| said.who == Who::Agent && said.closes)
        {
            said.closes = false;
        }
        for one in touched(event, tool) {
            self.worked |= one.touch != Touch::Read;
            self.touch(at, one.path, one.raw, one.touch);
        }
        if let Some(ran) = ran(at, event, tool) {
            if ran.typed.contains("*** Begin Patch") {
                for one in in_patch(ran.typed) {
                    self.touch(at, one.path, one.raw, one.touch);
                }
                return;
            }
            self.commits.extend(commit_message(ran.typed).map(|message| (at, message)));
            self.worked |= ran.weighty;
            self.ran.push(ran);
        } else if let Some(what) = typed(tool) {
            self.looks.push(Look { event: at, word: "Ran", what });
        } else if let Some(what) = text_field(&tool.input, &["pattern", "query", "url"]) {
            self.looks.push(Look { event: at, word: "Searched for", what });
        }
    }

    fn touch(&mut self, at: usize, path: &'a str, raw: &'a str, touch: Touch) {
        let key = (path, touch == Touch::Read);
        match self.by_path.get(&key).and_then(|place| self.files.get_mut(*place)) {
            Some(file) => {
                file.times += 1;
                if touch == Touch::Deleted {
                    file.touch = touch;
                }
            }
            None => {
                self.by_path.insert(key, self.files.len());
                self.files.push(FileTouch { path, raw, event: at, touch, times: 1 });
            }
        }
    }

    /// Returns the changed files, most edited first.
    pub(super) fn changed(&self) -> Vec<&FileTouch<'a>> {
        let mut files: Vec<_> =
            self.files.iter().filter(|file| file.touch != Touch::Read).collect();
        files.sort_by(|a, b| b.times.cmp(&a.times).then(a.event.cmp(&b.event)));
        files
    }

    /// Whether nothing was changed and no major command was run.
    pub(super) fn is_chat(&self) -> bool {
        self.files.iter().all(|file| file.touch == Touch::Read)
            && !self.ran.iter().any(|ran| ran.weighty)
            && self.commits.is_empty()
    }

    /// Chooses the request that most of the segment was about, by its weight and how much followed
    /// it.
    pub(super) fn main_ask(&self, events: usize) -> Option<&Ask<'a>> {
        let mut best: Option<(u32, &Ask<'a>)> = None;
        for (place, one) in self.asks.iter().enumerate() {
            let end = self.asks.get(place + 1).map_or(events, |next| next.event);
            let followed = u32::try_from(end.saturating_sub(one.event)).unwrap_or(0).min(16);
            let wondered = one.text.ends_with(['?', '？']) && !one.orders;
            // "3, but …" answers a list of options and says little by itself.
            let listed = one.text.starts_with(|c: char| c.is_ascii_digit());
            let score = (one.weight.min(9) * 2
                + followed
                + u32::from(one.orders) * 6
                + if place == 0 { 8 } else { 0 })
            .saturating_sub(u32::from(wondered) * 6 + u32::from(listed) * 16);
            if one.weight > 1 && best.is_none_or(|(so_far, _)| score > so_far) {
                best = Some((score, one));
            }
        }
        best.map(|(_, ask)| ask).or_else(|| self.asks.first())
    }
}

/// Returns the content terms of a text: stems without stop words, and pairs of adjacent CJK
/// characters.
pub(super) fn gist(text: &str) -> BTreeSet<String> {
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
pub(super) fn alike(a: &BTreeSet<String>, b: &BTreeSet<String>) -> usize {
    let smaller = a.len().min(b.len());
    let larger = a.len().max(b.len());
    a.intersection(b).count() * 100 / smaller.max(larger.min(5)).max(1)
}
