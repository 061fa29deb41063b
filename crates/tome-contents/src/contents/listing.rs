//! Lists entries of the contents: from the root, below a node, or in a time range given in words.

use tome_ledger::{Ledger, NodeHeader};
use tome_model::{Agent, InvalidInput, Level, Millis, NodeId, Period, Zone, truncate_to};

use crate::time_phrase::{TimeSpan, parse_time_phrase};

use super::entry::{merge_entries, sort_key};
use super::{Contents, ContentsEntry, Depth, ProjectShare};
use crate::build_periods::weeks_of_parts;
use tome_home::HomeError;

/// Id prefix of years.
pub(super) const YEAR_PREFIX: &str = "toc:year:";

/// More periods than a year has days: skip those before the first event.
const PERIODS_UNFILTERED_MAX: usize = 366;

/// Filters and limits of a listing.
#[derive(Debug, Clone)]
pub struct ContentsQuery {
    /// Only this project; `None` for all.
    pub project: Option<String>,
    /// Only nodes with one of these agents; empty for all.
    pub agents: Vec<Agent>,
    /// How deep to list.
    pub depth: Depth,
    /// Upper bound on the entries below one node; the latest are kept.
    pub below_max: usize,
}

/// A listing of the contents.
#[derive(Debug, Clone, Default)]
pub struct ContentsListing {
    /// In order of time.
    pub entries: Vec<ContentsEntry>,
    /// Number of entries, listed or not.
    pub total: u64,
    /// How a time given in words was interpreted.
    pub interpreted_as: Option<String>,
    /// The interpreted time range; the end is exclusive.
    pub range: Option<(Millis, Millis)>,
    /// Unreadable stores, with the reason.
    pub skipped: Vec<String>,
}

/// Selects a page of a listing.
#[derive(Debug, Clone, Default)]
pub struct PageRequest {
    /// Latest first.
    pub newest_first: bool,
    /// The last node of the previous page.
    pub after: Option<NodeId>,
    /// Upper bound on the entries of the page.
    pub entries_max: usize,
}

impl Contents {
    /// Lists the contents from the years down.
    pub fn list_root(&self, ask: &ContentsQuery) -> Result<ContentsListing, HomeError> {
        self.list_merged(ask, |store, project| list_children(store, project, None, ask, ask.depth))
    }

    /// Lists what is below a node.
    pub fn list_below(
        &self,
        id: &NodeId,
        ask: &ContentsQuery,
    ) -> Result<ContentsListing, HomeError> {
        if id.level() == Level::Segment {
            let hint = "is a segment and has no children: expand the grips of its bullets, or list its events by time";
            return Err(InvalidInput::invalid("node", hint).into());
        }
        let mut is_there = false;
        let listing = self.list_merged(ask, |store, project| {
            is_there |= store.node_header(project, id)?.is_some_and(|head| !head.removed);
            list_children(store, project, Some(id), ask, ask.depth)
        })?;
        if is_there {
            Ok(listing)
        } else {
            Err(node_not_found(id.as_str(), ask.project.as_deref()))
        }
    }

    /// Lists the nodes of a time range given in words.
    pub fn list_time(
        &self,
        words: &str,
        ask: &ContentsQuery,
    ) -> Result<ContentsListing, HomeError> {
        let span = self.parse_time(words)?;
        let zone = self.zone();
        let listing =
            self.list_merged(ask, |store, project| list_span(store, project, &span, zone, ask))?;
        Ok(ContentsListing {
            interpreted_as: Some(span.phrase),
            range: Some((span.from, span.to)),
            ..listing
        })
    }

    /// Parses a time range given in words.
    pub fn parse_time(&self, words: &str) -> Result<TimeSpan, HomeError> {
        let words = words.trim();
        let span = parse_time_phrase(words, self.clock.now(), self.zone());
        span.ok_or_else(|| {
            let words = truncate_to(words, 80);
            let hint = "is not a known time: try today, last week, in March, 2026-11-14";
            InvalidInput::invalid("time", format!("{words:?} {hint}")).into()
        })
    }

    /// Lists every selected project and merges the results.
    fn list_merged(
        &self,
        ask: &ContentsQuery,
        mut list: impl FnMut(&Ledger, &str) -> Result<Vec<ContentsEntry>, HomeError>,
    ) -> Result<ContentsListing, HomeError> {
        let mut lists = Vec::new();
        let skipped = self.for_each_project(ask.project.as_deref(), |store, project| {
            lists.push(list(store, project)?);
            Ok(())
        })?;
        let (mut entries, total) = merge_entries(lists, ask.depth, ask.below_max);
        self.close_past(&mut entries);
        Ok(ContentsListing { entries, total, skipped, ..ContentsListing::default() })
    }
}

impl ContentsListing {
    /// Cuts out one page. Also returns the node to continue after, if there is more.
    pub fn into_page(mut self, page: &PageRequest) -> (Self, Option<NodeId>) {
        if page.newest_first {
            self.entries.reverse();
        }
        if let Some(after) = &page.after {
            let seen = sort_key(after);
            self.entries.retain(|entry| {
                if page.newest_first {
                    sort_key(&entry.id) < seen
                } else {
                    sort_key(&entry.id) > seen
                }
            });
        }
        let has_more = self.entries.len() > page.entries_max;
        self.entries.truncate(page.entries_max);
        let last = self.entries.last().map(|entry| entry.id.clone());
        (self, last.filter(|_| has_more))
    }
}

/// Lists the nodes of a time range in one project, reading only those and what is below them.
pub fn list_span(
    store: &Ledger,
    project: &str,
    span: &TimeSpan,
    zone: &Zone,
    ask: &ContentsQuery,
) -> Result<Vec<ContentsEntry>, HomeError> {
    let mut heads = Vec::new();
    for period in possible_periods(span, zone, store, project)? {
        heads.extend(store.node_header(project, &period.id())?);
    }
    build_entries(store, project, heads, ask, ask.depth)
}

/// Returns the periods of a range that can have nodes. `before March` begins in 1970, so for long
/// ranges the periods before the first event are skipped.
fn possible_periods(
    span: &TimeSpan,
    zone: &Zone,
    store: &Ledger,
    project: &str,
) -> Result<Vec<Period>, HomeError> {
    let periods = span.periods.clone();
    if periods.len() <= PERIODS_UNFILTERED_MAX {
        return Ok(periods);
    }
    let first = store.node_headers(project, YEAR_PREFIX, None).next().transpose()?;
    let Some(first) = first.map(|head| head.first_at) else { return Ok(Vec::new()) };
    let begins = |period: &Period| period.range(zone).1 > first;
    Ok(periods.into_iter().filter(begins).collect())
}

/// Lists what is below a node of a project, or its years.
fn list_children(
    store: &Ledger,
    project: &str,
    of: Option<&NodeId>,
    ask: &ContentsQuery,
    depth: Depth,
) -> Result<Vec<ContentsEntry>, HomeError> {
    let heads = match of {
        None => store.node_headers(project, YEAR_PREFIX, None).collect::<Result<_, _>>()?,
        Some(id) => load_child_heads(store, project, id, &ask.agents)?,
    };
    build_entries(store, project, heads, ask, depth)
}

/// Loads the heads below a node; reads only the keys where children can be. Those of a month are the weeks
/// in which one of the agents worked in that month.
pub(super) fn load_child_heads(
    store: &Ledger,
    project: &str,
    id: &NodeId,
    agents: &[Agent],
) -> Result<Vec<NodeHeader>, HomeError> {
    match (id.level(), id.period()) {
        (Level::Segment, _) | (_, None) => Ok(Vec::new()),
        (Level::Day, Some(_)) => {
            let day = id.as_str().rsplit(':').next().unwrap_or_default();
            let segments = store.node_headers(project, &format!("toc:segment:{day}:"), None);
            Ok(segments.collect::<Result<_, _>>()?)
        }
        (Level::Month, Some(month)) => {
            let mut parts = Vec::new();
            for part in month.parts() {
                let head = store.node_header(project, &part.id())?;
                let is_listed = |head: &NodeHeader| !head.removed && head.has_any_agent(agents);
                parts.extend(head.filter(is_listed).map(|head| head.id));
            }
            let weeks = weeks_of_parts(&parts).into_iter();
            weeks
                .filter_map(|week| store.node_header(project, &week).transpose())
                .map(|head| Ok(head?))
                .collect()
        }
        (_, Some(period)) => {
            let mut heads = Vec::new();
            for child in period.children() {
                heads.extend(store.node_header(project, &child.id())?);
            }
            Ok(heads)
        }
    }
}

/// Builds entries from heads, expanding the latest to the requested depth.
fn build_entries(
    store: &Ledger,
    project: &str,
    mut heads: Vec<NodeHeader>,
    ask: &ContentsQuery,
    depth: Depth,
) -> Result<Vec<ContentsEntry>, HomeError> {
    heads.retain(|head| !head.removed && head.has_any_agent(&ask.agents));
    let total = heads.len();
    let mut entries = Vec::with_capacity(total);
    for (index, head) in heads.into_iter().enumerate() {
        let opens = depth.expanded_count(head.id.level()).min(ask.below_max);
        let mut entry = ContentsEntry::from_head(head, project);
        if total - index <= opens {
            let depth = depth.next_level(index + 1 == total);
            entry.entries = list_children(store, project, Some(&entry.id), ask, depth)?;
        }
        entries.push(entry);
    }
    Ok(entries)
}

impl ContentsEntry {
    /// The entry of a project's node.
    pub(super) fn from_head(head: NodeHeader, project: &str) -> Self {
        let share = ProjectShare {
            project: project.to_owned(),
            title: head.title.clone(),
            events: head.events,
        };
        Self {
            id: head.id,
            title: head.title,
            first_at: head.first_at,
            last_at: head.last_at,
            events: head.events,
            tokens: head.tokens,
            sessions: head.session_count,
            agents: head.agents,
            open: head.open,
            shares: vec![share],
            entries: Vec::new(),
            children: head.children,
        }
    }
}

/// Error for a missing node.
pub(super) fn node_not_found(id: &str, project: Option<&str>) -> HomeError {
    let id = truncate_to(id, 120);
    let in_project = project.map(|root| format!(" in {root}")).unwrap_or_default();
    HomeError::NotFound(format!("no node {id}{in_project}: nothing was recorded then"))
}
