//! The way back: the contents of one project, or one calendar over all of them.
//!
//! Over several projects the nodes of a period are put side by side under its id, each with its
//! project. A page ends with a node, and the next one goes on behind its id; since ids of one level
//! are in the order of time, that holds whatever happens in between.
//!
//! As with events, a store that cannot be read is left out and named when all are asked for.

use std::collections::BTreeMap;

use tome_ledger::{Head, Ledger};
use tome_model::{Agent, Level, Millis, ModelError, Node, NodeId, Period};

use super::limits::{LINES_MAX, VERSIONS_MAX};
use crate::{EngineError, Stores};

/// Reads contents.
pub struct ContentsReader<'a> {
    stores: &'a Stores,
    project: Option<&'a str>,
}

/// Which part of a list is asked for.
#[derive(Debug, Clone, Default)]
pub struct Browse {
    /// Only nodes to which one of these agents contributed; all when empty.
    pub agents: Vec<Agent>,
    /// Go on where an earlier answer ended: its `more_after`.
    pub after: Option<String>,
    /// The most lines to return; 0 for as many as there may be.
    pub lines_max: usize,
}

/// Nodes, each in a line, in the order of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The lines.
    pub lines: Vec<Line>,
    /// Where to go on, if there is more.
    pub more_after: Option<String>,
    /// Stores that could not be read, and why.
    pub skipped: Vec<String>,
}

/// A node in a line: in one project, or in several that have something of the same period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The node.
    pub id: NodeId,
    /// What each project says of it, in the order of their names; never empty.
    pub parts: Vec<Part>,
}

/// What a project says of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The project.
    pub project: String,
    /// The line itself.
    pub head: Head,
}

/// A node of a project.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The project.
    pub project: String,
    /// The node.
    pub node: Node,
}

impl Line {
    /// How many events, in all projects.
    pub fn events(&self) -> u64 {
        self.parts.iter().map(|part| part.head.events).sum()
    }

    /// How many tokens, in all projects, about.
    pub fn tokens(&self) -> u64 {
        self.parts.iter().map(|part| part.head.tokens).sum()
    }

    /// How many sessions' parts in projects.
    pub fn sessions(&self) -> u64 {
        self.parts.iter().map(|part| part.head.session_count).sum()
    }

    /// When the first event happened.
    pub fn first_at(&self) -> Millis {
        self.parts.iter().map(|part| part.head.first_at).min().unwrap_or_default()
    }

    /// When the last one did.
    pub fn last_at(&self) -> Millis {
        self.parts.iter().map(|part| part.head.last_at).max().unwrap_or_default()
    }

    /// Whether more may still come.
    pub fn is_open(&self) -> bool {
        self.parts.iter().any(|part| part.head.open)
    }
}

impl<'a> ContentsReader<'a> {
    /// The contents of one project.
    pub fn of_project(stores: &'a Stores, root: &'a str) -> Self {
        Self { stores, project: Some(root) }
    }

    /// One calendar over all projects.
    pub fn of_all(stores: &'a Stores) -> Self {
        Self { stores, project: None }
    }

    /// The years.
    pub fn root(&self, browse: &Browse) -> Result<Listing, EngineError> {
        self.list(browse, Some(Level::Year), |ledger, project, after, page| {
            page.scan(ledger, project, "toc:year:", after)
        })
    }

    /// The nodes right below a node; none below a segment.
    pub fn children(&self, id: &NodeId, browse: &Browse) -> Result<Listing, EngineError> {
        let Some(period) = id.period().filter(|_| id.level() != Level::Segment) else {
            return Ok(Listing::default());
        };
        if id.level() == Level::Day {
            let prefix = segments_of(id);
            return self.list(browse, Some(Level::Segment), |ledger, project, after, page| {
                page.scan(ledger, project, &prefix, after)
            });
        }
        let ids: Vec<NodeId> = period.children().iter().map(Period::id).collect();
        self.lines(&ids, browse)
    }

    /// These nodes, those of them that there are: the days of a month, say.
    pub fn lines(&self, ids: &[NodeId], browse: &Browse) -> Result<Listing, EngineError> {
        self.list(browse, None, |ledger, project, after, page| {
            for id in ids.iter().filter(|id| after.is_none_or(|after| *id > after)) {
                if let Some(head) = ledger.head(project, id)? {
                    page.add(project, head);
                }
            }
            Ok(())
        })
    }

    /// A node, at one of its versions or at its latest: one of each project that has it.
    pub fn node(&self, id: &NodeId, version: Option<u32>) -> Result<Vec<Found>, EngineError> {
        let mut found = Vec::new();
        self.each(|ledger, project| {
            if let Some(node) = ledger.node(project, id, version)? {
                found.push(Found { project: project.to_owned(), node });
            }
            Ok(())
        })?;
        if found.is_empty() {
            let at = version.map(|version| format!(" at version {version}")).unwrap_or_default();
            return Err(EngineError::NotFound(format!("there is no node {id}{at}")));
        }
        Ok(found)
    }

    /// The versions of a node behind `after`, the oldest first, at most two hundred of a project;
    /// also of a node that has gone.
    pub fn versions(&self, id: &NodeId, after: u32) -> Result<Vec<Found>, EngineError> {
        let mut found = Vec::new();
        self.each(|ledger, project| {
            for node in ledger.node_versions(project, id, after).take(VERSIONS_MAX) {
                found.push(Found { project: project.to_owned(), node: node? });
            }
            Ok(())
        })?;
        if found.is_empty() && after == 0 {
            return Err(EngineError::NotFound(format!("there is no node {id}")));
        }
        Ok(found)
    }

    /// Visits every project that is asked for. What could not be read is returned, unless one
    /// project alone was asked for.
    pub(super) fn each(
        &self,
        mut visit: impl FnMut(&Ledger, &str) -> Result<(), EngineError>,
    ) -> Result<Vec<String>, EngineError> {
        if let Some(root) = self.project {
            if let Some(path) = self.stores.existing(root) {
                let store = self.stores.open(&path)?;
                visit(&store, root)?;
            }
            return Ok(Vec::new());
        }
        let (mut skipped, mut failed, mut read) = (Vec::new(), None, 0);
        let mut paths = self.stores.paths();
        paths.sort();
        for path in paths {
            let visited = self.stores.open(&path).and_then(|store| {
                for project in store.contents_projects()? {
                    visit(&store, &project)?;
                }
                Ok(())
            });
            match visited {
                Ok(()) => read += 1,
                Err(error) => {
                    skipped.push(format!("{}: {}", path.display(), error.explained()));
                    failed.get_or_insert(error);
                }
            }
        }
        match failed {
            Some(error) if read == 0 => Err(error),
            _ => Ok(skipped),
        }
    }

    fn list(
        &self,
        browse: &Browse,
        level: Option<Level>,
        mut read: impl FnMut(&Ledger, &str, Option<&NodeId>, &mut Page<'_>) -> Result<(), EngineError>,
    ) -> Result<Listing, EngineError> {
        let after = browse.after.as_deref().map(|after| continuation(after, level)).transpose()?;
        let lines_max = if browse.lines_max == 0 { LINES_MAX } else { browse.lines_max };
        let lines_max = lines_max.min(LINES_MAX);
        let mut page = Page { agents: &browse.agents, lines_max, lines: BTreeMap::new() };
        let skipped =
            self.each(|ledger, project| read(ledger, project, after.as_ref(), &mut page))?;
        Ok(page.end(skipped))
    }
}

/// What the ids of a day's segments begin with.
pub(super) fn segments_of(day: &NodeId) -> String {
    format!("{}:", day.as_str().replacen("toc:day:", "toc:segment:", 1))
}

fn continuation(after: &str, level: Option<Level>) -> Result<NodeId, ModelError> {
    NodeId::parse(after)
        .ok()
        .filter(|id| level.is_none_or(|level| id.level() == level))
        .ok_or_else(|| ModelError::invalid("continuation", "was not made by this list"))
}

/// A page in the making.
struct Page<'a> {
    agents: &'a [Agent],
    lines_max: usize,
    lines: BTreeMap<NodeId, Vec<Part>>,
}

impl Page<'_> {
    /// Adds one project's nodes behind `after`, no more than can be on the page and one.
    fn scan(
        &mut self,
        ledger: &Ledger,
        project: &str,
        prefix: &str,
        after: Option<&NodeId>,
    ) -> Result<(), EngineError> {
        let mut added = 0;
        for head in ledger.heads(project, prefix, after) {
            added += usize::from(self.add(project, head?));
            if added > self.lines_max {
                break;
            }
        }
        Ok(())
    }

    fn add(&mut self, project: &str, head: Head) -> bool {
        let wanted = !head.removed && head.is_of(self.agents);
        if wanted {
            let parts = self.lines.entry(head.id.clone()).or_default();
            parts.push(Part { project: project.to_owned(), head });
        }
        wanted
    }

    fn end(self, skipped: Vec<String>) -> Listing {
        let has_more = self.lines.len() > self.lines_max;
        let lines = self.lines.into_iter().take(self.lines_max);
        let mut lines: Vec<Line> = lines.map(|(id, parts)| Line { id, parts }).collect();
        for line in &mut lines {
            line.parts.sort_by(|a, b| a.project.cmp(&b.project));
        }
        let last = lines.last().filter(|_| has_more);
        let more_after = last.map(|line| line.id.as_str().to_owned());
        Listing { lines, more_after, skipped }
    }
}
