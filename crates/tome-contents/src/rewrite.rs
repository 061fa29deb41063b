//! Rewrites the built-in summaries of closed nodes with a model: lists the nodes that are left, loads
//! the input of each, and stores the new version.
//!
//! A model-written version hides the built-in one until the underlying events change. It is
//! rejected if the node changed after its source was read.

use tome_ledger::{
    EventRange, Ledger, LedgerError, NodeChange, NodeWrite, ProjectionCommit, ScanDirection,
    SegmentStartReason,
};
use tome_model::{Event, Level, Millis, Node, NodeId, Period};

use super::extract::names_request;
use super::limits::REWRITE_SCANNED_MAX;
use super::pending_changes::CONTENTS_PROJECTION;
use super::resegment::SessionReader;
use super::segment::mark_before;
use super::{
    ContentsSettings, RollupInput, SegmentInput, Summarizer, Summary, SummaryError, evidence,
};
use tome_home::HomeError;

/// Cursor of the commits that store rewritten summaries. The name is on disk.
const REWRITE_CURSOR: &str = "polish";

/// Bottom-up, so that the children of a period have a model's summary before the period does.
const LEVEL_PREFIXES: [&str; 5] =
    ["toc:segment:", "toc:day:", "toc:week:", "toc:month:", "toc:year:"];

/// A node with its project, which its id does not name.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectNode {
    /// Root folder of the project.
    pub project: String,
    /// The node as it was read.
    pub node: Node,
}

/// A page of closed nodes that only have a built-in summary.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RewritePage {
    /// Grouped by project, segments first and years last, oldest first within a level.
    pub nodes: Vec<ProjectNode>,
    /// Cursor for the next page; `None` at the end.
    pub more_after: Option<String>,
}

/// The input that a node summarizes.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeSource {
    /// A segment is summarized from its events.
    Segment {
        /// The events of the segment.
        events: Vec<Event>,
        /// Events right before the segment.
        overlap: Vec<Event>,
        /// The request that the segment continues, if it has none of its own.
        earlier_request: Option<Box<Event>>,
    },
    /// A period is summarized from its children.
    Period {
        /// The level of the period.
        level: Level,
        /// Human-readable name of the period.
        title: String,
        /// The latest version of each child.
        children: Vec<Node>,
    },
}

/// Result of [`rewrite_summary`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RewriteOutcome {
    /// The summary is stored as this version of the node.
    Version(u32),
    /// The node changed after its source was read, or is open or removed: nothing was written.
    Stale,
}

impl NodeSource {
    /// Runs a summarizer on this input.
    pub fn summarize(&self, summarizer: &dyn Summarizer) -> Result<Summary, SummaryError> {
        match self {
            Self::Segment { events, overlap, earlier_request } => {
                let earlier_request = earlier_request.as_deref();
                summarizer.summarize_segment(&SegmentInput {
                    events,
                    overlap,
                    earlier_request,
                    ..SegmentInput::default()
                })
            }
            Self::Period { level, title, children } => {
                summarizer.summarize_period(&RollupInput { level: *level, period: title, children })
            }
        }
    }
}

/// Lists closed nodes that only have a built-in summary, after an earlier page's `more_after`.
/// Scans at most a thousand nodes, so a page may hold fewer than `nodes_max`.
pub fn list_nodes_to_rewrite(
    ledger: &Ledger,
    after: Option<&str>,
    nodes_max: usize,
) -> Result<RewritePage, HomeError> {
    // The cursor is `<node id> <project>`: an id holds no space, a project may.
    let after = after.and_then(|after| after.split_once(' '));
    let after = after.and_then(|(id, project)| Some((NodeId::parse(id).ok()?, project)));
    let mut answer = RewritePage::default();
    let mut scanned = 0;
    for project in ledger.contents_projects()? {
        let seen = after.as_ref().filter(|(_, seen)| *seen == project).map(|(id, _)| id);
        if after.as_ref().is_some_and(|(_, seen)| *seen > project.as_str()) {
            continue;
        }
        let skip = seen.map_or(0, |seen| level_index(seen.level()));
        for (n, prefix) in LEVEL_PREFIXES.iter().enumerate().skip(skip) {
            let behind = seen.filter(|_| n == skip);
            for head in ledger.node_headers(&project, prefix, behind) {
                let head = head?;
                scanned += 1;
                if !head.removed
                    && !head.open
                    && head.version == head.base
                    && let Some(node) = ledger.node(&project, &head.id, Some(head.version))?
                {
                    answer.nodes.push(ProjectNode { project: project.clone(), node });
                }
                if answer.nodes.len() >= nodes_max || scanned >= REWRITE_SCANNED_MAX {
                    answer.more_after = Some(format!("{} {project}", head.id));
                    return Ok(answer);
                }
            }
        }
    }
    Ok(answer)
}

/// Loads the input that a node summarizes; `None` if the node is stale.
pub fn load_source(
    ledger: &Ledger,
    settings: &ContentsSettings,
    project_node: &ProjectNode,
) -> Result<Option<NodeSource>, HomeError> {
    let ProjectNode { project, node } = project_node;
    if let Some(period) = node.id.period().filter(|_| node.id.level() != Level::Segment) {
        let mut children = Vec::with_capacity(node.children.len());
        // A week that lies in two months is no part of either.
        let parts: Vec<NodeId> = match period.level() {
            Level::Month => period.parts().iter().map(Period::id).collect(),
            _ => node.children.clone(),
        };
        for part in &parts {
            match ledger.node(project, part, None)? {
                Some(child) => children.push(child),
                None if period.level() == Level::Month => {}
                None => return Ok(None),
            }
        }
        let (level, title) = (period.level(), period.title());
        return Ok(Some(NodeSource::Period { level, title, children }));
    }
    load_segment_source(ledger, settings, project, node)
}

/// Stores the summary of a model as the new version of a closed node.
pub fn rewrite_summary(
    ledger: &Ledger,
    found: &ProjectNode,
    source: &NodeSource,
    summary: Summary,
    summarizer: &str,
    now: Millis,
) -> Result<RewriteOutcome, HomeError> {
    let ProjectNode { project, node: seen } = found;
    let head = ledger.node_header(project, &seen.id)?;
    let is_seen = |version| version == seen.version;
    let Some(head) = head.filter(|head| !head.open && !head.removed && is_seen(head.version))
    else {
        return Ok(RewriteOutcome::Stale);
    };
    let checked = match source {
        NodeSource::Segment { events, .. } => {
            evidence::check_segment_summary(summary, summarizer, &seen.id, events)
        }
        NodeSource::Period { children, .. } => {
            evidence::check_period_summary(summary, summarizer, children)
        }
    };
    let node = Node {
        version: head.version + 1,
        title: checked.title,
        bullets: checked.bullets,
        keywords: checked.keywords,
        summarizer: summarizer.to_owned(),
        made_at: now,
        ..seen.clone()
    };
    let version = node.version;
    let change = NodeChange::Put { node: Box::new(node), base: head.base, firsts: head.firsts };
    let put = |grip| tome_ledger::GripWrite::Put { project: project.clone(), grip, closed: true };
    let seq = ledger.cursor(REWRITE_CURSOR)?;
    let work = ProjectionCommit {
        projection: REWRITE_CURSOR.to_owned(),
        from_seq: seq,
        upto_seq: seq,
        nodes: vec![NodeWrite {
            project: project.clone(),
            id: seen.id.clone(),
            seen: head.version,
            change,
        }],
        grips: checked.grips.into_iter().map(put).collect(),
        ..ProjectionCommit::default()
    };
    match ledger.commit(work) {
        Ok(()) => Ok(RewriteOutcome::Version(version)),
        Err(LedgerError::VersionConflict { .. }) => Ok(RewriteOutcome::Stale),
        Err(error) => Err(error.into()),
    }
}

/// Loads the events of a segment and its overlap, if they are still the ones it was built from.
pub(super) fn load_segment_source(
    ledger: &Ledger,
    settings: &ContentsSettings,
    project: &str,
    node: &Node,
) -> Result<Option<NodeSource>, HomeError> {
    let (Some((first, last)), [session]) = (&node.source, node.sessions.as_slice()) else {
        return Ok(None);
    };
    let (Some(first), Some(last)) = (ledger.position(first)?, ledger.position(last)?) else {
        return Ok(None);
    };
    let upto_seq = ledger.cursor(CONTENTS_PROJECTION)?;
    let range = EventRange {
        session: Some(session.clone()),
        after: Some(mark_before(first.order_key())),
        direction: ScanDirection::Forward,
        ..EventRange::default()
    };
    let mut events = Vec::new();
    for position in ledger.positions(&range) {
        let position = position?;
        if position.order_key() > last.order_key() {
            break;
        }
        if position.seq <= upto_seq
            && let Some(event) = ledger.event_at(&position)?
            && event.project == project
        {
            events.push(event);
        }
    }
    let segment = ledger.segment_before(project, session, first.order_key())?;
    let Some(segment) = segment.filter(|segment| segment.id == node.id) else {
        return Ok(None);
    };
    let part = SessionReader { ledger, settings, project, session, upto_seq };
    let earlier = ledger.segment_before(project, session, mark_before(first.order_key()))?;
    let overlap = part.load_overlap(segment.began, first.order_key(), earlier.as_ref())?;
    let continues = segment.began != SegmentStartReason::Gap && !events.iter().any(names_request);
    let earlier_request = if continues { part.load_request(earlier.as_ref())? } else { None };
    let is_unchanged = events.len() as u64 == node.events;
    let earlier_request = earlier_request.map(Box::new);
    let source = NodeSource::Segment { events, overlap, earlier_request };
    Ok(is_unchanged.then_some(source))
}

fn level_index(level: Level) -> usize {
    match level {
        Level::Segment => 0,
        Level::Day => 1,
        Level::Week => 2,
        Level::Month => 3,
        Level::Year => 4,
    }
}
