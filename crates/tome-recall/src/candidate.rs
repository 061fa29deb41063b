//! Candidates: possible hits between the indexes and the ranking.

use std::borrow::Cow;

use tome_contents::authored_kind;
use tome_finder::{ByteRange, EntryKey, IndexHit, RecordKind, RecordMeta};
use tome_ledger::{EventRange, Ledger, OrderKey, ScanDirection};
use tome_model::{Event, EventId, GripId, Millis, Node, NodeId};

use super::indexer::{self, Indexer, NoteBody, NotePart, PageKey};
use super::literal::{ScanMatch, node_text};
use crate::RecallError;

/// Identity of a candidate: index set, record, and part of a page.
pub(super) type CandidateId = (usize, EntryKey, ByteRange);

/// A possible hit: an event, or a part of a page.
pub(super) struct RecallCandidate {
    /// Index of the searched index set.
    pub set_index: usize,
    pub key: EntryKey,
    pub source: RecordKind,
    /// The part of a page, or the best-matching chunk of an event.
    pub range: ByteRange,
    pub at: Millis,
    pub line: u32,
    /// Best BM25 score, as a share of the highest possible one.
    pub bm25_score: Option<f32>,
    /// Chunks that an index returned.
    pub chunks: Vec<ByteRange>,
    /// Cosine similarities of its closest chunks, in descending order: by deep vectors if it has
    /// any.
    pub similarities: Vec<f32>,
    /// Highest cosine similarity by static vectors, if it has deep ones, too.
    pub static_similarity: Option<f32>,
    /// Score of the text scan, if that found it.
    pub literal_score: Option<f32>,
    /// Set once the text has been read.
    pub body: Option<CandidateBody>,
}

pub(super) struct CandidateBody {
    pub text: String,
    pub title: String,
    pub keywords: String,
    pub project: String,
    pub session: Option<String>,
    pub agent: Option<String>,
    pub kind: String,
    /// Name of the tool that produced the event.
    pub tool: Option<String>,
    pub record: CandidateRecord,
}

/// Kinds of sources that are ranked separately.
#[derive(PartialEq, Eq, Hash, Clone, Copy, Debug)]
pub(super) enum SourceKind {
    Events,
    Files,
    Contents,
}

impl SourceKind {
    pub(super) const ALL: [Self; 3] = [Self::Events, Self::Files, Self::Contents];
}

pub(super) fn source_kind(source: RecordKind) -> SourceKind {
    match source {
        RecordKind::Event => SourceKind::Events,
        RecordKind::Node | RecordKind::Grip => SourceKind::Contents,
        RecordKind::Note | RecordKind::Detail | RecordKind::Lesson => SourceKind::Files,
    }
}

/// The record, as needed for the citation.
pub(super) enum CandidateRecord {
    Event {
        id: EventId,
        order_key: OrderKey,
    },
    /// A line of a session's transcript that Tome did not write.
    ForeignLine {
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
        page: PageKey,
    },
}

impl RecallCandidate {
    pub(super) fn from_hit(set_index: usize, found: &IndexHit) -> Self {
        Self {
            set_index,
            key: found.key.clone(),
            source: found.source,
            range: found.range,
            at: found.at,
            line: found.line,
            bm25_score: None,
            chunks: Vec::new(),
            similarities: Vec::new(),
            static_similarity: None,
            literal_score: None,
            body: None,
        }
    }

    pub(super) fn from_event(set_index: usize, order_key: OrderKey, event: &Event) -> Self {
        let body = CandidateBody::from_event(order_key, event);
        Self {
            set_index,
            key: EntryKey::Event(order_key.seq),
            source: RecordKind::Event,
            range: ByteRange::default(),
            at: event.at,
            line: 0,
            bm25_score: None,
            chunks: Vec::new(),
            similarities: Vec::new(),
            static_similarity: None,
            literal_score: None,
            body: Some(body),
        }
    }

    /// Whether it is one of the guides that Tome itself puts into the coder's notebook.
    pub(super) fn is_guide(&self) -> bool {
        let record = self.body.as_ref().map(|body| &body.record);
        matches!(
            record,
            Some(CandidateRecord::File { page: PageKey::Lesson { path, .. } })
                if path.ends_with("-guide.md")
        )
    }

    /// Length of the text; 0 before it is read.
    pub(super) fn text_bytes(&self) -> usize {
        self.body.as_ref().map_or(0, |body| body.text.len())
    }

    pub(super) fn from_match(set_index: usize, matched: &ScanMatch) -> Self {
        Self {
            set_index,
            key: match_page(matched)
                .map_or_else(|| matched.key.clone(), |page| EntryKey::Named(page.name())),
            source: matched.source,
            range: matched.range,
            at: matched.at,
            line: matched.line,
            bm25_score: None,
            chunks: Vec::new(),
            similarities: Vec::new(),
            static_similarity: None,
            literal_score: Some(matched.text_match.score()),
            body: None,
        }
    }

    /// A line of a session's transcript that is not an event of the ledger.
    pub(super) fn from_foreign_line(set_index: usize, matched: &ScanMatch, folder: &str) -> Self {
        let body = CandidateBody {
            text: matched.snippet.clone(),
            title: String::new(),
            keywords: String::new(),
            project: matched.project.clone(),
            session: Some(matched.session.clone()),
            agent: Some(matched.agent.clone()).filter(|agent| !agent.is_empty()),
            kind: matched.kind.clone(),
            tool: None,
            record: CandidateRecord::ForeignLine { folder: folder.to_owned() },
        };
        let key = EntryKey::Named(format!("line {folder} {}", matched.line));
        Self {
            key,
            range: ByteRange::default(),
            body: Some(body),
            ..Self::from_match(set_index, matched)
        }
    }

    /// The properties that a filter tests; `None` before the text is read.
    pub(super) fn meta(&self) -> Option<RecordMeta<'_, String>> {
        let body = self.body.as_ref()?;
        Some(RecordMeta {
            source: self.source,
            at: self.at,
            project: &body.project,
            session: body.session.as_deref().unwrap_or_default(),
            agents: body.agent.as_slice(),
            kind: &body.kind,
        })
    }

    /// Identity of a candidate: an event or a node as a whole, or a part of a file. An index may still have a
    /// node as it was, with another length; its excerpts are told apart by their numbers.
    pub(super) fn id(&self) -> CandidateId {
        let range = match self.source {
            RecordKind::Event => ByteRange::default(),
            RecordKind::Node => ByteRange { from: 0, to: u32::MAX },
            _ => self.range,
        };
        (self.set_index, self.key.clone(), range)
    }
}

/// A loaded record, from which the bodies of its candidates are built.
enum LoadedCandidate {
    Event(OrderKey, Event),
    Node { project: String, node: Node },
    Grip { project: String, id: GripId },
    File { page: PageKey, title: String, note: NoteBody },
}

/// Loads the bodies of candidates that belong to one record. They stay unset if the record no
/// longer exists.
pub(super) fn load_bodies(
    candidates: &mut [RecallCandidate],
    indexer: &Indexer,
    ledger: Option<&Ledger>,
) -> Result<(), RecallError> {
    let mut unread = candidates.iter_mut().filter(|one| one.body.is_none()).peekable();
    let Some(first) = unread.peek() else { return Ok(()) };
    let Some(record) = LoadedCandidate::load(first, indexer, ledger)? else { return Ok(()) };
    for candidate in unread {
        candidate.body = match &record {
            LoadedCandidate::Event(order_key, event) => {
                Some(CandidateBody::from_event(*order_key, event))
            }
            LoadedCandidate::Node { project, node } if candidate.source == RecordKind::Node => {
                Some(CandidateBody::from_node(project, node))
            }
            LoadedCandidate::Node { project, node } => {
                let mut grips = node.bullets.iter().flat_map(|bullet| &bullet.grips);
                match grips.nth(candidate.range.from as usize).zip(ledger) {
                    Some((id, ledger)) => build_grip_body(ledger, project, id, Some(node))?,
                    None => None,
                }
            }
            LoadedCandidate::Grip { project, id } => match ledger {
                Some(ledger) => build_grip_body(ledger, project, id, None)?,
                None => None,
            },
            LoadedCandidate::File { page, title, note } => {
                Some(CandidateBody::from_file(page, title, note, candidate.range))
            }
        };
    }
    Ok(())
}

impl LoadedCandidate {
    fn load(
        candidate: &RecallCandidate,
        indexer: &Indexer,
        ledger: Option<&Ledger>,
    ) -> Result<Option<Self>, RecallError> {
        let name = match (&candidate.key, ledger) {
            (EntryKey::Event(seq), Some(ledger)) => {
                let order_key = OrderKey { at: candidate.at, seq: *seq };
                return Ok(ledger
                    .event_by_order(order_key)?
                    .map(|event| Self::Event(order_key, event)));
            }
            (EntryKey::Event(_), None) => return Ok(None),
            (EntryKey::Named(name), _) => name,
        };
        Ok(match (PageKey::parse(name), ledger) {
            (Some(PageKey::Node { project, id }), Some(ledger)) => {
                ledger.node(&project, &id, None)?.map(|node| Self::Node { project, node })
            }
            (Some(PageKey::Grip { project, id }), Some(_)) => Some(Self::Grip { project, id }),
            (Some(PageKey::Node { .. } | PageKey::Grip { .. }) | None, _) => None,
            (Some(page), _) => indexer.read_file_text(&page).map(|text| Self::File {
                title: indexer.file_title(&page, &text),
                note: NoteBody::parse(&page, &text),
                page,
            }),
        })
    }
}

/// Builds the body of a source excerpt. `read` is its node, if already loaded.
fn build_grip_body(
    ledger: &Ledger,
    project: &str,
    id: &GripId,
    read: Option<&Node>,
) -> Result<Option<CandidateBody>, RecallError> {
    let Some(grip) = ledger.grip(project, id)? else { return Ok(None) };
    let node = match read.filter(|node| node.id == grip.node) {
        Some(node) => Some(Cow::Borrowed(node)),
        None => ledger.node(project, &grip.node, None)?.map(Cow::Owned),
    };
    let only_name = |names: Vec<&str>| match names.as_slice() {
        [name] => Some((*name).to_owned()),
        _ => None,
    };
    Ok(Some(CandidateBody {
        text: grip.excerpt,
        title: node.as_ref().map(|node| node.title.clone()).unwrap_or_default(),
        keywords: String::new(),
        project: project.to_owned(),
        session: only_name(
            node.iter()
                .flat_map(|node| &node.sessions)
                .map(tome_model::SessionId::as_str)
                .collect(),
        ),
        agent: only_name(
            node.iter().flat_map(|node| &node.agents).map(tome_model::Agent::as_str).collect(),
        ),
        kind: grip.kind.as_str().to_owned(),
        tool: None,
        record: CandidateRecord::Grip { id: grip.id },
    }))
}

/// Returns the page of a match in the contents.
fn match_page(matched: &ScanMatch) -> Option<PageKey> {
    let EntryKey::Named(id) = &matched.key else { return None };
    let project = matched.project.clone();
    match matched.source {
        RecordKind::Node => Some(PageKey::Node { project, id: NodeId::parse(id).ok()? }),
        RecordKind::Grip => Some(PageKey::Grip { project, id: GripId::parse(id).ok()? }),
        _ => None,
    }
}

impl CandidateBody {
    pub(super) fn from_event(order_key: OrderKey, event: &Event) -> Self {
        Self {
            text: indexer::event_text(event),
            title: String::new(),
            keywords: indexer::event_keywords(event),
            project: event.project.clone(),
            session: Some(event.session.as_str().to_owned()),
            agent: Some(event.agent.as_str().to_owned()),
            kind: authored_kind(event).as_str().to_owned(),
            tool: event.tool.as_ref().map(|tool| tool.name.clone()),
            record: CandidateRecord::Event { id: event.id.clone(), order_key },
        }
    }

    fn from_node(project: &str, node: &Node) -> Self {
        Self {
            text: node_text(node),
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
            record: CandidateRecord::Node { id: node.id.clone() },
        }
    }

    fn from_file(page: &PageKey, title: &str, note: &NoteBody, range: ByteRange) -> Self {
        let (project, session) = match page {
            PageKey::Detail { project, folder, .. } => (project.clone(), Some(folder.clone())),
            PageKey::Note { project, .. } => (project.clone(), None),
            _ => (String::new(), None),
        };
        let text = indexer::slice_text(&note.text, range).to_owned();
        let part = note.part_at(range);
        let lesson = part.and_then(|part| part.lesson.as_ref());
        Self {
            text,
            title: lesson.map_or(title, |(_, title)| title).to_owned(),
            keywords: part.map(|part| part.keywords.clone()).unwrap_or_default(),
            project,
            session,
            agent: None,
            kind: part.map_or("", NotePart::kind).to_owned(),
            tool: None,
            record: CandidateRecord::File { page: page.clone() },
        }
    }

    pub(super) fn order_key(&self) -> Option<OrderKey> {
        match &self.record {
            CandidateRecord::Event { order_key, .. } => Some(*order_key),
            _ => None,
        }
    }
}

/// Neighboring events, closest first.
pub(super) type NeighborEvents = Vec<(OrderKey, Event)>;

/// Loads up to `count` events of the same session and project before and after an event, closest
/// first.
pub(super) fn load_neighbors(
    ledger: &Ledger,
    event: &CandidateBody,
    order_key: OrderKey,
    count: usize,
) -> Result<(NeighborEvents, NeighborEvents), RecallError> {
    let Some(session) = &event.session else { return Ok((Vec::new(), Vec::new())) };
    let session = tome_model::SessionId::parse(session)?;
    let side = |direction: ScanDirection| -> Result<Vec<(OrderKey, Event)>, RecallError> {
        let range = EventRange {
            session: Some(session.clone()),
            after: Some(order_key),
            direction,
            ..EventRange::default()
        };
        let mut side = Vec::new();
        for pair in ledger.events(&range).take(count) {
            let (position, other) = pair?;
            if other.project == event.project {
                side.push((position.order_key(), other));
            }
        }
        Ok(side)
    };
    Ok((side(ScanDirection::Backward)?, side(ScanDirection::Forward)?))
}
