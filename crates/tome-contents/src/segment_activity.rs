//! The activity of a stored segment, with the numbers of the events that show it.

use std::ops::Range;

use tome_ledger::{EventRange, Ledger, ScanDirection};
use tome_model::{CommandOutcome, Event, FactKind, FileAction, Millis, Node, NodeId, truncate_to};

use super::extract::{
    cut_turns, find_deletions, find_packages, find_renames, is_prompt, prompt_text, read_activity,
};
use super::segment::{continues_previous, mark_before};
use tome_home::HomeError;

/// How many events before a segment to search for the prompt of its first turn.
const PROMPT_EVENTS_MAX: usize = 400;
/// Bytes of a prompt that are read; what follows is mostly pasted.
const PROMPT_BYTES_MAX: usize = 4_000;

/// A segment's activity, turn by turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentActivity {
    /// Number of the first event.
    pub number: u64,
    /// The branch, unless it is the main one.
    pub branch: Option<String>,
    /// The segment before it, if that one was cut for its size or at midnight.
    pub continues: Option<NodeId>,
    /// The turns, in order.
    pub turns: Vec<TurnActivity>,
    /// Statements, in order of time.
    pub facts: Vec<ActivityFact>,
}

/// A turn's activity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnActivity {
    /// Number of its prompt, or of its first event.
    pub number: u64,
    /// Time of that event.
    pub at: Millis,
    /// The agent's working directory.
    pub cwd: String,
    /// Its purpose in one line, if known.
    pub title: Option<String>,
    /// The user's words of its prompt.
    pub prompt: Option<String>,
    /// Files that it touched.
    pub files: Vec<FileActivity>,
    /// Files and folders that it renamed.
    pub moves: Vec<MoveActivity>,
    /// Files and folders that shell commands deleted.
    pub deletions: Vec<DeletionActivity>,
    /// Commands that build, test or ship.
    pub commands: Vec<CommandActivity>,
    /// Packages that it added.
    pub packages: Vec<String>,
    /// Numbers of issues and pull requests.
    pub issues: Vec<u64>,
}

/// A touched file; its path is as the agent named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileActivity {
    /// The path.
    pub path: String,
    /// The change, or that it was only read.
    pub action: FileAction,
    /// How often.
    pub times: u32,
    /// Number of the first event that shows it.
    pub number: u64,
}

/// A rename; the paths are as the agent named them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveActivity {
    /// The old path.
    pub from: String,
    /// The new path.
    pub to: String,
    /// Number of the event that shows it.
    pub number: u64,
    /// When it happened.
    pub at: Millis,
}

/// A deletion; the path is absolute if the folder is known to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletionActivity {
    /// The path of the file or folder.
    pub path: String,
    /// Number of the event that shows it.
    pub number: u64,
    /// When it happened.
    pub at: Millis,
}

/// A command that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandActivity {
    /// Its short name.
    pub name: String,
    /// How it ended.
    pub outcome: CommandOutcome,
    /// The message, if it failed and says why.
    pub message: Option<String>,
    /// Number of the event that shows it.
    pub number: u64,
    /// When it ran.
    pub at: Millis,
}

/// A statement and the event that shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityFact {
    /// The kind of statement.
    pub kind: FactKind,
    /// One line.
    pub text: String,
    /// Preference among statements of the same kind.
    pub weight: u32,
    /// Number of the event that shows it.
    pub number: u64,
    /// Time of that event.
    pub at: Millis,
    /// Place of its turn.
    pub turn: usize,
}

/// Loads the activity of a segment; `None` if its events are no longer the ones it was built from.
pub fn load_activity(
    ledger: &Ledger,
    project: &str,
    node: &Node,
) -> Result<Option<SegmentActivity>, HomeError> {
    let (Some((first, last)), [session]) = (&node.source, node.sessions.as_slice()) else {
        return Ok(None);
    };
    let (Some(first), Some(last)) = (ledger.position(first)?, ledger.position(last)?) else {
        return Ok(None);
    };
    let own = EventRange {
        session: Some(session.clone()),
        after: Some(mark_before(first.order_key())),
        direction: ScanDirection::Forward,
        ..EventRange::default()
    };
    let mut events: Vec<(u64, Event)> = Vec::new();
    for position in ledger.positions(&own) {
        let position = position?;
        if position.order_key() > last.order_key() {
            break;
        }
        if let Some(event) = ledger.event_at(&position)?
            && event.project == project
        {
            events.push((position.seq, event));
        }
    }
    if !events.first().is_some_and(|(_, event)| is_prompt(event)) {
        let before = EventRange {
            session: Some(session.clone()),
            after: Some(first.order_key()),
            direction: ScanDirection::Backward,
            ..EventRange::default()
        };
        for position in ledger.positions(&before).take(PROMPT_EVENTS_MAX) {
            let position = position?;
            if let Some(event) = ledger.event_at(&position)?
                && event.project == project
                && is_prompt(&event)
            {
                events.insert(0, (position.seq, event));
                break;
            }
        }
    }
    let segment = ledger.segment_before(project, session, first.order_key())?;
    let began = segment.filter(|segment| segment.id == node.id).map(|segment| segment.began);
    let continues = if began.is_some_and(continues_previous) {
        ledger.segment_before(project, session, mark_before(first.order_key()))?
    } else {
        None
    };
    Ok(Some(number_events(events, first.seq, continues.map(|before| before.id))))
}

fn number_events(
    events: Vec<(u64, Event)>,
    number: u64,
    continues: Option<NodeId>,
) -> SegmentActivity {
    let (numbers, events): (Vec<u64>, Vec<Event>) = events.into_iter().unzip();
    let read = read_activity(&events);
    let number_of = |event: usize| numbers.get(event).copied().unwrap_or(number);
    let time_of = |event: usize| events.get(event).map_or(Millis(0), |event| event.at);
    let turns = read.turns.into_iter().zip(cut_turns(&events)).map(|(turn, range)| TurnActivity {
        number: number_of(turn.event),
        at: time_of(turn.event),
        cwd: events.get(turn.event).map(|event| event.cwd.clone()).unwrap_or_default(),
        title: turn.title,
        prompt: events
            .get(turn.event)
            .filter(|event| is_prompt(event))
            .map(|event| prompt_text(truncate_to(&event.text, PROMPT_BYTES_MAX))),
        files: turn
            .files
            .into_iter()
            .map(|file| FileActivity {
                number: number_of(file.event),
                path: file.path,
                action: file.action,
                times: file.times,
            })
            .collect(),
        moves: turn
            .moves
            .into_iter()
            .map(|one| (one.event, one.from, one.to))
            .chain(read_shell_renames(&events, range.clone()))
            .map(|(event, from, to)| MoveActivity {
                number: number_of(event),
                at: time_of(event),
                from,
                to,
            })
            .collect(),
        deletions: read_deletions(&events, range.clone())
            .map(|(event, path)| DeletionActivity {
                number: number_of(event),
                at: time_of(event),
                path,
            })
            .collect(),
        commands: turn
            .commands
            .into_iter()
            .map(|run| CommandActivity {
                number: number_of(run.event),
                at: time_of(run.event),
                name: run.name,
                outcome: run.outcome,
                message: run.message,
            })
            .collect(),
        packages: find_packages(events.get(range).unwrap_or_default()).into_iter().collect(),
        issues: turn.issues,
    });
    let facts = read.facts.into_iter().map(|fact| ActivityFact {
        number: number_of(fact.event),
        at: time_of(fact.event),
        kind: fact.kind,
        text: fact.text,
        weight: fact.weight,
        turn: fact.turn,
    });
    SegmentActivity {
        number,
        branch: read.branch,
        continues,
        turns: turns.collect(),
        facts: facts.collect(),
    }
}

/// The renames by shell commands, each with the index of its event.
fn read_shell_renames(
    events: &[Event],
    range: Range<usize>,
) -> impl Iterator<Item = (usize, String, String)> {
    let own = events.get(range.clone()).unwrap_or_default();
    own.iter().zip(range).flat_map(|(event, at)| {
        let tool = event.tool.as_ref();
        let renames = tool.map(|tool| find_renames(event, tool)).unwrap_or_default();
        renames.into_iter().map(move |(from, to)| (at, from, to))
    })
}

/// The paths that shell commands deleted, each with the index of its event.
fn read_deletions(events: &[Event], range: Range<usize>) -> impl Iterator<Item = (usize, String)> {
    let own = events.get(range.clone()).unwrap_or_default();
    own.iter().zip(range).flat_map(|(event, at)| {
        let tool = event.tool.as_ref();
        let paths = tool.map(|tool| find_deletions(event, tool)).unwrap_or_default();
        paths.into_iter().map(move |path| (at, path))
    })
}
