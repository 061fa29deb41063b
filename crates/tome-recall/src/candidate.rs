//! Candidates: possible hits between the indexes and the ranking.

use std::borrow::Cow;

use tome_finder::{Found, Key, Part, Source};
use tome_ledger::{Direction, EventRange, Ledger, Mark};
use tome_model::{Event, EventId, GripId, Millis, Node, NodeId};

use super::keeper::{self, Keeper, Page};
use super::literal::{Seen, text_of_node};
use crate::RecallError;

/// A possible hit: an event, or a part of a page.
pub(super) struct Candidate {
    /// Index of the searched index set.
    pub desk: usize,
    pub key: Key,
    pub source: Source,
    /// The part of a page, or the best-matching chunk of an event.
    pub part: Part,
    pub at: Millis,
    pub line: u32,
    /// Best BM25 score.
    pub words: Option<f32>,
    /// Chunks that an index returned.
    pub pieces: Vec<Part>,
    /// Cosine similarities of its closest chunks, in descending order.
    pub cosines: Vec<f32>,
    /// Score of the text scan, if that found it.
    pub looked: Option<f32>,
    /// Set once the text has been read.
    pub body: Option<Body>,
}

pub(super) struct Body {
    pub text: String,
    pub title: String,
    pub keywords: String,
    pub project: String,
    pub session: Option<String>,
    pub agent: Option<String>,
    pub kind: String,
    /// Name of the tool that produced the event.
    pub tool: Option<String>,
    pub what: What,
}

/// The record, as needed for the citation.
pub(super) enum What {
    Event {
        id: EventId,
        mark: Mark,
    },
    /// A line of a session's transcript that Tome did not write.
    Line {
        folder: String,
    },
    Node {
        id: NodeId,
    },
    Grip {
        id: GripId,
    },
    /// A file of the project's, the coder's or a session's notebook.
    File {
        page: Page,
    },
}

impl Candidate {
    pub(super) fn of(desk: usize, found: &Found) -> Self {
        Self {
            desk,
            key: found.key.clone(),
            source: found.source,
            part: found.part,
            at: found.at,
            line: found.line,
            words: None,
            pieces: Vec::new(),
            cosines: Vec::new(),
            looked: None,
            body: None,
        }
    }

    pub(super) fn of_event(desk: usize, mark: Mark, event: &Event) -> Self {
        let body = Body::of_event(mark, event);
        Self {
            desk,
            key: Key::Event(mark.seq),
            source: Source::Event,
            part: Part::default(),
            at: event.at,
            line: 0,
            words: None,
            pieces: Vec::new(),
            cosines: Vec::new(),
            looked: None,
            body: Some(body),
        }
    }

    /// Length of the text; 0 before it is read.
    pub(super) fn bytes(&self) -> usize {
        self.body.as_ref().map_or(0, |body| body.text.len())
    }

    pub(super) fn of_seen(desk: usize, seen: &Seen) -> Self {
        Self {
            desk,
            key: page_of(seen).map_or_else(|| seen.key.clone(), |page| Key::Named(page.name())),
            source: seen.source,
            part: seen.part,
            at: seen.at,
            line: seen.line,
            words: None,
            pieces: Vec::new(),
            cosines: Vec::new(),
            looked: Some(seen.look.score()),
            body: None,
        }
    }

    /// A line of a session's transcript that is not an event of the ledger.
    pub(super) fn of_line(desk: usize, seen: &Seen, folder: &str) -> Self {
        let body = Body {
            text: seen.snippet.clone(),
            title: String::new(),
            keywords: String::new(),
            project: seen.project.clone(),
            session: Some(seen.session.clone()),
            agent: Some(seen.agent.clone()).filter(|agent| !agent.is_empty()),
            kind: seen.kind.clone(),
            tool: None,
            what: What::Line { folder: folder.to_owned() },
        };
        let key = Key::Named(format!("line {folder} {}", seen.line));
        Self { key, part: Part::default(), body: Some(body), ..Self::of_seen(desk, seen) }
    }

    /// Identity of a candidate: an event as a whole, or a part of a page.
    pub(super) fn id(&self) -> (usize, Key, Part) {
        match self.source {
            Source::Event => (self.desk, self.key.clone(), Part::default()),
            _ => (self.desk, self.key.clone(), self.part),
        }
    }
}

/// A loaded record, from which the bodies of its candidates are built.
enum Whole {
    Event(Mark, Event),
    Node { project: String, node: Node },
    Grip { project: String, id: GripId },
    File { page: Page, text: String },
}

/// Loads the bodies of candidates that belong to one record. They stay unset if the record no
/// longer exists.
pub(super) fn read_together(
    candidates: &mut [Candidate],
    keeper: &Keeper,
    ledger: Option<&Ledger>,
) -> Result<(), RecallError> {
    let mut unread = candidates.iter_mut().filter(|one| one.body.is_none()).peekable();
    let Some(first) = unread.peek() else { return Ok(()) };
    let Some(whole) = Whole::of(first, keeper, ledger)? else { return Ok(()) };
    for one in unread {
        one.body = match &whole {
            Whole::Event(mark, event) => Some(Body::of_event(*mark, event)),
            Whole::Node { project, node } if one.source == Source::Node => {
                Some(Body::of_node(project, node))
            }
            Whole::Node { project, node } => {
                let mut grips = node.bullets.iter().flat_map(|bullet| &bullet.grips);
                match grips.nth(one.part.from as usize).zip(ledger) {
                    Some((id, ledger)) => of_grip(ledger, project, id, Some(node))?,
                    None => None,
                }
            }
            Whole::Grip { project, id } => match ledger {
                Some(ledger) => of_grip(ledger, project, id, None)?,
                None => None,
            },
            Whole::File { page, text } => Some(Body::of_file(keeper, page, text, one.part)),
        };
    }
    Ok(())
}

impl Whole {
    fn of(
        one: &Candidate,
        keeper: &Keeper,
        ledger: Option<&Ledger>,
    ) -> Result<Option<Self>, RecallError> {
        let name = match (&one.key, ledger) {
            (Key::Event(seq), Some(ledger)) => {
                let mark = Mark { at: one.at, seq: *seq };
                return Ok(ledger.event_of(mark)?.map(|event| Self::Event(mark, event)));
            }
            (Key::Event(_), None) => return Ok(None),
            (Key::Named(name), _) => name,
        };
        Ok(match (Page::parse(name), ledger) {
            (Some(Page::Node { project, id }), Some(ledger)) => {
                ledger.node(&project, &id, None)?.map(|node| Self::Node { project, node })
            }
            (Some(Page::Grip { project, id }), Some(_)) => Some(Self::Grip { project, id }),
            (Some(Page::Node { .. } | Page::Grip { .. }) | None, _) => None,
            (Some(page), _) => keeper.text_of_file(&page).map(|text| Self::File { page, text }),
        })
    }
}

/// Builds the body of a source excerpt. `read` is its node, if already loaded.
fn of_grip(
    ledger: &Ledger,
    project: &str,
    id: &GripId,
    read: Option<&Node>,
) -> Result<Option<Body>, RecallError> {
    let Some(grip) = ledger.grip(project, id)? else { return Ok(None) };
    let node = match read.filter(|node| node.id == grip.node) {
        Some(node) => Some(Cow::Borrowed(node)),
        None => ledger.node(project, &grip.node, None)?.map(Cow::Owned),
    };
    let one = |names: Vec<&str>| match names.as_slice() {
        [one] => Some((*one).to_owned()),
        _ => None,
    };
    Ok(Some(Body {
        text: grip.excerpt,
        title: node.as_ref().map(|node| node.title.clone()).unwrap_or_default(),
        keywords: String::new(),
        project: project.to_owned(),
        session: one(node
            .iter()
            .flat_map(|node| &node.sessions)
            .map(tome_model::SessionId::as_str)
            .collect()),
        agent: one(node
            .iter()
            .flat_map(|node| &node.agents)
            .map(tome_model::Agent::as_str)
            .collect()),
        kind: grip.kind.as_str().to_owned(),
        tool: None,
        what: What::Grip { id: grip.id },
    }))
}

/// Returns the page of a match in the contents.
fn page_of(seen: &Seen) -> Option<Page> {
    let Key::Named(id) = &seen.key else { return None };
    let project = seen.project.clone();
    match seen.source {
        Source::Node => Some(Page::Node { project, id: NodeId::parse(id).ok()? }),
        Source::Grip => Some(Page::Grip { project, id: GripId::parse(id).ok()? }),
        _ => None,
    }
}

impl Body {
    pub(super) fn of_event(mark: Mark, event: &Event) -> Self {
        Self {
            text: keeper::joined(event),
            title: String::new(),
            keywords: keeper::beside(event),
            project: event.project.clone(),
            session: Some(event.session.as_str().to_owned()),
            agent: Some(event.agent.as_str().to_owned()),
            kind: event.kind.as_str().to_owned(),
            tool: event.tool.as_ref().map(|tool| tool.name.clone()),
            what: What::Event { id: event.id.clone(), mark },
        }
    }

    fn of_node(project: &str, node: &Node) -> Self {
        Self {
            text: text_of_node(node),
            title: node.title.clone(),
            keywords: node.keywords.join(" "),
            project: project.to_owned(),
            session: match node.sessions.as_slice() {
                [one] => Some(one.as_str().to_owned()),
                _ => None,
            },
            agent: match node.agents.as_slice() {
                [one] => Some(one.as_str().to_owned()),
                _ => None,
            },
            kind: format!("{:?}", node.id.level()).to_lowercase(),
            tool: None,
            what: What::Node { id: node.id.clone() },
        }
    }

    fn of_file(keeper: &Keeper, page: &Page, text: &str, part: Part) -> Self {
        let (project, session) = match page {
            Page::Detail { project, folder, .. } => (project.clone(), Some(folder.clone())),
            Page::Note { project, .. } => (project.clone(), None),
            _ => (String::new(), None),
        };
        Self {
            text: keeper::cut(text, part).to_owned(),
            title: keeper.title_of_file(page, text),
            keywords: String::new(),
            project,
            session,
            agent: None,
            kind: String::new(),
            tool: None,
            what: What::File { page: page.clone() },
        }
    }

    /// Position of the event in the ledger, if it is one.
    pub(super) fn mark(&self) -> Option<Mark> {
        match &self.what {
            What::Event { mark, .. } => Some(*mark),
            _ => None,
        }
    }
}

/// Neighboring events, closest first.
pub(super) type Side = Vec<(Mark, Event)>;

/// Loads up to `count` events of the same session and project before and after an event, closest
/// first.
pub(super) fn around(
    ledger: &Ledger,
    event: &Body,
    mark: Mark,
    count: usize,
) -> Result<(Side, Side), RecallError> {
    let Some(session) = &event.session else { return Ok((Vec::new(), Vec::new())) };
    let session = tome_model::SessionId::parse(session)?;
    let side = |direction: Direction| -> Result<Vec<(Mark, Event)>, RecallError> {
        let range = EventRange {
            session: Some(session.clone()),
            after: Some(mark),
            direction,
            ..EventRange::default()
        };
        let mut side = Vec::new();
        for pair in ledger.events(&range).take(count) {
            let (position, other) = pair?;
            if other.project == event.project {
                side.push((position.mark(), other));
            }
        }
        Ok(side)
    };
    Ok((side(Direction::Backward)?, side(Direction::Forward)?))
}
