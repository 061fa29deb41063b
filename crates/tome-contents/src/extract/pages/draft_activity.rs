//! The activity of a segment, turn by turn: files, renames by patches, commands, failures, issues.

use std::collections::BTreeSet;

use tome_model::{CommandOutcome, Event, FactKind, FileAction};
use tome_text::truncate_words;

use crate::extract::answers::answer::find_statement;
use crate::extract::commands::command_run::CommandRun;
use crate::extract::commands::failures::render_failure_message;
use crate::extract::commands::outcome::{ToolOutcome, read_outcome};
use crate::extract::facts::draft_fact::DraftFact;
use crate::extract::facts::segment_facts::{DOUBTFUL_WEIGHT, collect_facts};
use crate::extract::pages::segment_title::{add_titles, choose_title};
use crate::extract::pages::title_weight::FROM_FILES;
use crate::extract::turns::turn::{Turn, read_turns};

/// Characters of the message of a failure.
const MESSAGE_CHARS_MAX: usize = 160;
/// Characters of the reason for a turn.
const REASON_CHARS_MAX: usize = 120;

/// Turns and facts of a segment, as indexes into its events.
#[derive(Debug)]
pub(crate) struct EventActivity {
    pub(crate) branch: Option<String>,
    pub(crate) turns: Vec<DraftTurn>,
    pub(crate) facts: Vec<FactEvent>,
}

/// A turn of a segment.
#[derive(Debug)]
pub(crate) struct DraftTurn {
    /// Its prompt, or its first event.
    pub(crate) event: usize,
    pub(crate) title: Option<String>,
    pub(crate) files: Vec<DraftFile>,
    pub(crate) moves: Vec<DraftMove>,
    pub(crate) commands: Vec<CommandEvent>,
    pub(crate) issues: Vec<u64>,
}

#[derive(Debug)]
pub(crate) struct DraftFile {
    pub(crate) path: String,
    pub(crate) action: FileAction,
    pub(crate) times: u32,
    pub(crate) event: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DraftMove {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) event: usize,
}

#[derive(Debug)]
pub(crate) struct CommandEvent {
    pub(crate) name: String,
    pub(crate) outcome: CommandOutcome,
    /// The message, if it failed and the message explains why.
    pub(crate) message: Option<String>,
    pub(crate) event: usize,
}

#[derive(Debug)]
pub(crate) struct FactEvent {
    pub(crate) kind: FactKind,
    pub(crate) text: String,
    pub(crate) weight: u32,
    pub(crate) event: usize,
    /// Place of the turn that the event is in.
    pub(crate) turn: usize,
}

/// Reads the activity of a segment. Its first event may be the prompt of a turn that began in the
/// segment before.
pub(crate) fn read_activity(events: &[Event]) -> EventActivity {
    let mut segment = collect_facts(events, None, false);
    add_titles(&mut segment, events, None);
    let turns: Vec<DraftTurn> =
        segment.turns.iter().map(|turn| read_turn_activity(turn, events)).collect();
    let turn_of = |event: usize| {
        segment.turns.iter().position(|turn| turn.events.contains(&event)).unwrap_or_default()
    };
    let facts = segment.facts.iter().map(|fact: &DraftFact| FactEvent {
        kind: fact.kind,
        text: fact.text.clone(),
        weight: fact.weight,
        event: fact.event,
        turn: turn_of(fact.event),
    });
    EventActivity {
        branch: segment.branch.map(str::to_owned),
        facts: facts
            .filter(|fact| fact.kind != FactKind::Title)
            .filter(|fact| fact.kind != FactKind::Outcome || fact.weight > DOUBTFUL_WEIGHT)
            .collect(),
        turns,
    }
}

fn read_turn_activity(turn: &Turn<'_>, events: &[Event]) -> DraftTurn {
    let own = events.get(turn.events.clone()).unwrap_or_default();
    let title = choose_title(&read_turns(own), &[], own, None, None);
    let files = turn.files.iter().map(|file| DraftFile {
        path: file.path.to_owned(),
        action: file.action,
        times: file.times,
        event: file.event,
    });
    let majors = turn.runs.iter().filter(|run| run.is_major);
    let mut moves = Vec::new();
    for (offset, event) in own.iter().enumerate() {
        moves.extend(find_patch_moves(turn.events.start + offset, event));
    }
    DraftTurn {
        event: turn.prompt.unwrap_or(turn.events.start),
        // The names of its files are no reason to change them.
        title: title
            .filter(|title| title.weight > FROM_FILES)
            .map(|title| title.text)
            .or_else(|| describe_reason(turn, events)),
        files: files.collect(),
        moves,
        commands: majors.map(read_command).collect(),
        issues: find_issues(turn),
    }
}

/// The reason for a turn whose request names nothing, such as "Do it.": its result, or else its
/// prompt.
fn describe_reason(turn: &Turn<'_>, events: &[Event]) -> Option<String> {
    let conclusion = turn.conclusion.as_ref().map(|(_, found)| found.render(REASON_CHARS_MAX));
    conclusion
        .or_else(|| {
            Some(find_statement(&turn.answer_parts, turn.has_work())?.render(REASON_CHARS_MAX))
        })
        .or_else(|| {
            let prompt = events.get(turn.prompt?)?.text.split_whitespace();
            let line =
                truncate_words(&prompt.take(40).collect::<Vec<_>>().join(" "), REASON_CHARS_MAX);
            line.chars().any(char::is_alphanumeric).then_some(line)
        })
}

fn read_command(run: &CommandRun<'_>) -> CommandEvent {
    let line = run.line.filter(|_| run.outcome == CommandOutcome::Failed);
    let message = line.map(|line| truncate_words(&render_failure_message(line), MESSAGE_CHARS_MAX));
    CommandEvent { name: run.name.clone(), outcome: run.outcome, message, event: run.event }
}

/// Issues and pull requests that a turn worked on: from the hosting tool and from subjects of
/// commits.
fn find_issues(turn: &Turn<'_>) -> Vec<u64> {
    let mut found: BTreeSet<u64> = turn.pulls.iter().map(|pull| pull.number).collect();
    for commit in &turn.commits {
        for part in commit.subject.split('#').skip(1) {
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            let is_whole = !part
                .get(digits.len()..)
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric()));
            found.extend(digits.parse::<u64>().ok().filter(|number| is_whole && *number > 0));
        }
    }
    found.into_iter().collect()
}

/// Files that a patch renamed.
fn find_patch_moves(at: usize, event: &Event) -> Vec<DraftMove> {
    let Some(tool) = &event.tool else { return Vec::new() };
    let build = |from: &str, to: &str| {
        (from != to).then(|| DraftMove { from: from.to_owned(), to: to.to_owned(), event: at })
    };
    let texts = crate::extract::language::text::collect_strings(&tool.input);
    let mut found = Vec::new();
    if !matches!(read_outcome(event, tool), ToolOutcome::Exited(0) | ToolOutcome::Unknown) {
        return found;
    }
    for text in texts.iter().filter(|text| text.contains("*** Move to: ")) {
        let mut from = None;
        for line in text.lines() {
            if let Some(path) = line.strip_prefix("*** Update File: ") {
                from = Some(path.trim());
            } else if let (Some(to), Some(from)) = (line.strip_prefix("*** Move to: "), from) {
                found.extend(build(from, to.trim()));
            }
        }
    }
    found
}
