//! The seam for summaries in other words: which closed nodes have none yet, what they are made of,
//! and the one way to put another summary in place.
//!
//! Such a version stands beside the one made from events alone and hides it, until what happened
//! changes. It is taken only if the node is still as it was when its source was read.

use tome_ledger::{Direction, EventRange, Ledger, LedgerError, NodeChange, NodeWrite, Work};
use tome_model::{Event, Level, Millis, Node, NodeId};

use super::limits::POLISH_LOOKED_AT_MAX;
use super::stitch::{Part, before};
use super::worker::CONTENTS;
use super::{
    ContentsSettings, RollupInput, SegmentInput, Summarizer, Summary, SummaryError, evidence,
};
use tome_home::HomeError;

/// The worker under whose name other summaries are written.
const POLISH: &str = "polish";

/// Levels from the bottom up: a period is worth other words when its children have theirs.
const PREFIXES: [&str; 5] = ["toc:segment:", "toc:day:", "toc:week:", "toc:month:", "toc:year:"];

/// A node of a project.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The project.
    pub project: String,
    /// The node.
    pub node: Node,
}

/// Closed nodes in the words of the built-in summarizer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Unpolished {
    /// The nodes: project by project, segments first and years last, of each the oldest first.
    pub nodes: Vec<Found>,
    /// Where to go on; none when all have been looked at.
    pub more_after: Option<String>,
}

/// What a node is made of.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// A segment: its events, and what came right before.
    Segment {
        /// The events.
        events: Vec<Event>,
        /// What came right before.
        overlap: Vec<Event>,
    },
    /// A period: what people call it, and its children as they read now.
    Period {
        /// How coarse it is.
        level: Level,
        /// What people call it.
        title: String,
        /// The nodes below it.
        children: Vec<Node>,
    },
}

/// What became of another summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaced {
    /// It is this version of the node now.
    As(u32),
    /// The node has changed since its source was read, or is open, or has gone: nothing was written.
    Stale,
}

impl Source {
    /// Has it summarised.
    pub fn summarise(&self, summarizer: &dyn Summarizer) -> Result<Summary, SummaryError> {
        match self {
            Self::Segment { events, overlap } => {
                summarizer.segment(&SegmentInput { events, overlap })
            }
            Self::Period { level, title, children } => {
                summarizer.rollup(&RollupInput { level: *level, period: title, children })
            }
        }
    }
}

/// Closed nodes that are in the words of the built-in summarizer, from behind an earlier answer's
/// `more_after`. One answer looks at a thousand nodes at most, so it may hold fewer than asked for.
pub fn unpolished(
    ledger: &Ledger,
    after: Option<&str>,
    nodes_max: usize,
) -> Result<Unpolished, HomeError> {
    // An id holds no space, so that a project may.
    let after = after.and_then(|after| after.split_once(' '));
    let after = after.and_then(|(id, project)| Some((NodeId::parse(id).ok()?, project)));
    let mut answer = Unpolished::default();
    let mut looked_at = 0;
    for project in ledger.contents_projects()? {
        let seen = after.as_ref().filter(|(_, seen)| *seen == project).map(|(id, _)| id);
        if after.as_ref().is_some_and(|(_, seen)| *seen > project.as_str()) {
            continue;
        }
        let skip = seen.map_or(0, |seen| place(seen.level()));
        for (n, prefix) in PREFIXES.iter().enumerate().skip(skip) {
            let behind = seen.filter(|_| n == skip);
            for head in ledger.heads(&project, prefix, behind) {
                let head = head?;
                looked_at += 1;
                if !head.removed
                    && !head.open
                    && head.version == head.base
                    && let Some(node) = ledger.node(&project, &head.id, Some(head.version))?
                {
                    answer.nodes.push(Found { project: project.clone(), node });
                }
                if answer.nodes.len() >= nodes_max || looked_at >= POLISH_LOOKED_AT_MAX {
                    answer.more_after = Some(format!("{} {project}", head.id));
                    return Ok(answer);
                }
            }
        }
    }
    Ok(answer)
}

/// What a node is made of, as it reads now. None if it is not there as it was.
pub fn source_of(
    ledger: &Ledger,
    settings: &ContentsSettings,
    found: &Found,
) -> Result<Option<Source>, HomeError> {
    let Found { project, node } = found;
    if let Some(period) = node.id.period().filter(|_| node.id.level() != Level::Segment) {
        let mut children = Vec::with_capacity(node.children.len());
        for child in &node.children {
            let Some(child) = ledger.node(project, child, None)? else {
                return Ok(None);
            };
            children.push(child);
        }
        let (level, title) = (period.level(), period.title());
        return Ok(Some(Source::Period { level, title, children }));
    }
    segment_source(ledger, settings, project, node)
}

/// Puts another summary in place of a closed node's own.
pub fn replace_summary(
    ledger: &Ledger,
    found: &Found,
    source: &Source,
    summary: Summary,
    summarizer: &str,
    now: Millis,
) -> Result<Replaced, HomeError> {
    let Found { project, node: seen } = found;
    let head = ledger.head(project, &seen.id)?;
    let is_seen = |version| version == seen.version;
    let Some(head) = head.filter(|head| !head.open && !head.removed && is_seen(head.version))
    else {
        return Ok(Replaced::Stale);
    };
    let told = match source {
        Source::Segment { events, .. } => {
            evidence::of_segment(summary, summarizer, &seen.id, events)
        }
        Source::Period { children, .. } => evidence::of_period(summary, summarizer, children),
    };
    let node = Node {
        version: head.version + 1,
        title: told.title,
        bullets: told.bullets,
        keywords: told.keywords,
        summarizer: summarizer.to_owned(),
        made_at: now,
        ..seen.clone()
    };
    let version = node.version;
    let change = NodeChange::Put { node: Box::new(node), base: head.base, firsts: head.firsts };
    let put = |grip| tome_ledger::GripWrite::Put { project: project.clone(), grip, closed: true };
    let seq = ledger.cursor(POLISH)?;
    let work = Work {
        worker: POLISH.to_owned(),
        from_seq: seq,
        upto_seq: seq,
        nodes: vec![NodeWrite {
            project: project.clone(),
            id: seen.id.clone(),
            seen: head.version,
            change,
        }],
        grips: told.grips.into_iter().map(put).collect(),
        ..Work::default()
    };
    match ledger.commit(work) {
        Ok(()) => Ok(Replaced::As(version)),
        Err(LedgerError::Changed { .. }) => Ok(Replaced::Stale),
        Err(error) => Err(error.into()),
    }
}

/// The events of a segment and those before it, if they are still those that it was made of.
pub(super) fn segment_source(
    ledger: &Ledger,
    settings: &ContentsSettings,
    project: &str,
    node: &Node,
) -> Result<Option<Source>, HomeError> {
    let (Some((first, last)), [session]) = (&node.source, node.sessions.as_slice()) else {
        return Ok(None);
    };
    let (Some(first), Some(last)) = (ledger.position(first)?, ledger.position(last)?) else {
        return Ok(None);
    };
    let upto_seq = ledger.cursor(CONTENTS)?;
    let range = EventRange {
        session: Some(session.clone()),
        after: Some(before(first.mark())),
        direction: Direction::Forward,
        ..EventRange::default()
    };
    let mut events = Vec::new();
    for position in ledger.positions(&range) {
        let position = position?;
        if position.mark() > last.mark() {
            break;
        }
        if position.seq <= upto_seq
            && let Some(event) = ledger.event_at(&position)?
            && event.project == project
        {
            events.push(event);
        }
    }
    let stretch = ledger.stretch_before(project, session, first.mark())?;
    let Some(stretch) = stretch.filter(|stretch| stretch.id == node.id) else {
        return Ok(None);
    };
    let part = Part { ledger, settings, project, session, upto_seq };
    let earlier = ledger.stretch_before(project, session, before(first.mark()))?;
    let overlap = part.overlap(stretch.began, first.mark(), earlier.as_ref())?;
    Ok((events.len() as u64 == node.events).then_some(Source::Segment { events, overlap }))
}

fn place(level: Level) -> usize {
    match level {
        Level::Segment => 0,
        Level::Day => 1,
        Level::Week => 2,
        Level::Month => 3,
        Level::Year => 4,
    }
}
