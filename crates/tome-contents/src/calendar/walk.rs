//! Lists calendar entries: from the root, below a node, or in a time range given in words.

use tome_ledger::{Head, Ledger};
use tome_model::{Agent, Level, Millis, ModelError, NodeId, Period, Zone, truncate_to};

use crate::time_phrase::{Span, when};

use super::entry::{merge, place};
use super::{Calendar, Depth, Entry, Share};
use tome_home::HomeError;

/// Id prefix of years.
pub(super) const YEARS: &str = "toc:year:";

/// More periods than a year has days: skip those before the first event.
const PERIODS_MANY: usize = 366;

/// Filters and limits of a listing.
#[derive(Debug, Clone)]
pub struct Ask {
    /// Only this project; `None` for all.
    pub project: Option<String>,
    /// Only nodes with one of these agents; empty for all.
    pub agents: Vec<Agent>,
    /// How deep to list.
    pub depth: Depth,
    /// Upper bound on the entries below one node; the latest are kept.
    pub below_max: usize,
}

/// A listing of the calendar.
#[derive(Debug, Clone, Default)]
pub struct Entries {
    /// In order of time.
    pub entries: Vec<Entry>,
    /// Number of entries, listed or not.
    pub total: u64,
    /// How a time given in words was interpreted.
    pub said: Option<String>,
    /// The interpreted time range; the end is exclusive.
    pub range: Option<(Millis, Millis)>,
    /// Unreadable stores, with the reason.
    pub skipped: Vec<String>,
}

/// Selects a page of a listing.
#[derive(Debug, Clone, Default)]
pub struct EntriesPage {
    /// Latest first.
    pub newest_first: bool,
    /// The last node of the previous page.
    pub after: Option<NodeId>,
    /// Upper bound on the entries of the page.
    pub entries_max: usize,
}

impl Calendar {
    /// The calendar from the top.
    pub fn root(&self, ask: &Ask) -> Result<Entries, HomeError> {
        self.gather(ask, |store, project| below(store, project, None, ask, ask.depth))
    }

    /// What is below a node.
    pub fn below(&self, id: &NodeId, ask: &Ask) -> Result<Entries, HomeError> {
        if id.level() == Level::Segment {
            let hint = "is a segment and has no children: expand the grips of its bullets, or list its events by time";
            return Err(ModelError::invalid("node", hint).into());
        }
        let mut is_there = false;
        let listing = self.gather(ask, |store, project| {
            is_there |= store.head(project, id)?.is_some_and(|head| !head.removed);
            below(store, project, Some(id), ask, ask.depth)
        })?;
        if is_there { Ok(listing) } else { Err(no_node(id.as_str(), ask.project.as_deref())) }
    }

    /// The nodes of a time that is said in words, and only those.
    pub fn at(&self, words: &str, ask: &Ask) -> Result<Entries, HomeError> {
        let span = self.understand(words)?;
        let zone = self.zone();
        let listing =
            self.gather(ask, |store, project| entries_at(store, project, &span, zone, ask))?;
        Ok(Entries { said: Some(span.said), range: Some((span.from, span.to)), ..listing })
    }

    /// The time that somebody says in words.
    pub fn understand(&self, words: &str) -> Result<Span, HomeError> {
        let words = words.trim();
        let span = when(words, self.clock.now(), self.zone());
        span.ok_or_else(|| {
            let words = truncate_to(words, 80);
            let hint = "is not a known time: try today, last week, in March, 2026-11-14";
            ModelError::invalid("time", format!("{words:?} {hint}")).into()
        })
    }

    /// Lists every selected project and merges the results.
    fn gather(
        &self,
        ask: &Ask,
        mut list: impl FnMut(&Ledger, &str) -> Result<Vec<Entry>, HomeError>,
    ) -> Result<Entries, HomeError> {
        let mut lists = Vec::new();
        let skipped = self.each(ask.project.as_deref(), |store, project| {
            lists.push(list(store, project)?);
            Ok(())
        })?;
        let (entries, total) = merge(lists, ask.depth, ask.below_max);
        Ok(Entries { entries, total, skipped, ..Entries::default() })
    }
}

impl Entries {
    /// Cuts out one page. Also returns the node to continue after, if there is more.
    pub fn page(mut self, page: &EntriesPage) -> (Self, Option<NodeId>) {
        if page.newest_first {
            self.entries.reverse();
        }
        if let Some(after) = &page.after {
            let seen = place(after);
            self.entries.retain(|entry| match page.newest_first {
                true => place(&entry.id) < seen,
                false => place(&entry.id) > seen,
            });
        }
        let has_more = self.entries.len() > page.entries_max;
        self.entries.truncate(page.entries_max);
        let last = self.entries.last().map(|entry| entry.id.clone());
        (self, last.filter(|_| has_more))
    }
}

/// Lists the nodes of a time range in one project, reading only those and what is below them.
pub fn entries_at(
    store: &Ledger,
    project: &str,
    span: &Span,
    zone: &Zone,
    ask: &Ask,
) -> Result<Vec<Entry>, HomeError> {
    let mut heads = Vec::new();
    for period in periods(span, zone, store, project)? {
        heads.extend(store.head(project, &period.id())?);
    }
    entries(store, project, heads, ask, ask.depth)
}

/// Returns the periods of a range that can have nodes. `before March` begins in 1970, so for long
/// ranges the periods before the first event are skipped.
fn periods(
    span: &Span,
    zone: &Zone,
    store: &Ledger,
    project: &str,
) -> Result<Vec<Period>, HomeError> {
    let periods = span.periods.clone();
    if periods.len() <= PERIODS_MANY {
        return Ok(periods);
    }
    let first = store.heads(project, YEARS, None).next().transpose()?;
    let Some(first) = first.map(|head| head.first_at) else { return Ok(Vec::new()) };
    let begins = |period: &Period| period.range(zone).1 > first;
    Ok(periods.into_iter().filter(begins).collect())
}

/// Lists what is below a node of a project, or its years.
fn below(
    store: &Ledger,
    project: &str,
    of: Option<&NodeId>,
    ask: &Ask,
    depth: Depth,
) -> Result<Vec<Entry>, HomeError> {
    let heads = match of {
        None => store.heads(project, YEARS, None).collect::<Result<_, _>>()?,
        Some(id) => heads_below(store, project, id)?,
    };
    entries(store, project, heads, ask, depth)
}

/// Loads the heads below a node; reads only the keys where children can be.
pub(super) fn heads_below(
    store: &Ledger,
    project: &str,
    id: &NodeId,
) -> Result<Vec<Head>, HomeError> {
    match (id.level(), id.period()) {
        (Level::Segment, _) | (_, None) => Ok(Vec::new()),
        (Level::Day, Some(_)) => {
            let day = id.as_str().rsplit(':').next().unwrap_or_default();
            let segments = store.heads(project, &format!("toc:segment:{day}:"), None);
            Ok(segments.collect::<Result<_, _>>()?)
        }
        (_, Some(period)) => {
            let mut heads = Vec::new();
            for child in period.children() {
                heads.extend(store.head(project, &child.id())?);
            }
            Ok(heads)
        }
    }
}

/// Builds entries from heads, expanding the latest to the requested depth.
fn entries(
    store: &Ledger,
    project: &str,
    mut heads: Vec<Head>,
    ask: &Ask,
    depth: Depth,
) -> Result<Vec<Entry>, HomeError> {
    heads.retain(|head| !head.removed && head.is_of(&ask.agents));
    let total = heads.len();
    let mut entries = Vec::with_capacity(total);
    for (place, head) in heads.into_iter().enumerate() {
        let opens = depth.opens(head.id.level()).min(ask.below_max);
        let mut entry = Entry::of(head, project);
        if total - place <= opens {
            let depth = depth.below(place + 1 == total);
            entry.entries = below(store, project, Some(&entry.id), ask, depth)?;
        }
        entries.push(entry);
    }
    Ok(entries)
}

impl Entry {
    /// The entry of a project's node.
    pub(super) fn of(head: Head, project: &str) -> Self {
        let share =
            Share { project: project.to_owned(), title: head.title.clone(), events: head.events };
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

/// What is said of a node that is not there.
pub(super) fn no_node(id: &str, project: Option<&str>) -> HomeError {
    let id = truncate_to(id, 120);
    let place = project.map(|root| format!(" in {root}")).unwrap_or_default();
    HomeError::NotFound(format!(
        "there is no node {id}{place}: nothing happened then, or nothing is known of it"
    ))
}
