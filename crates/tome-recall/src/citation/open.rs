//! Opens citations.
//!
//! Records are read from their source of truth: events from the ledger, notes through their
//! notebook and its path sandbox. A session transcript that is missing or too short is rebuilt
//! first.

use std::path::PathBuf;
use std::sync::Arc;

use tome_ledger::{EventRange, ScanDirection};
use tome_model::{Event, InvalidInput, Scope, SessionId};

use super::viewpoint::find_project_root;
use super::{Citation, CitationTarget, Viewpoint};
use crate::transcript::parse_session_folder;
use crate::{SessionTranscriptLine, Transcripts};
use tome_contents::{Contents, ExpandedGrip, LocatedNode, is_prompt};
use tome_home::{EventQuery, HomeError, NotebookOwner, Notebooks, Store};

/// Lines shown around the cited line of a note.
const LINES_BEFORE: u32 = 3;
const LINES_AFTER: u32 = 10;
/// Events shown before and after a source excerpt.
const GRIP_EVENTS: usize = 3;
/// Events read on either side of a cited one to find its turn.
const TURN_EVENTS_MAX: usize = 200;

/// Opens citations of events, notes and nodes.
pub struct Citations {
    notebooks: Arc<Notebooks>,
    contents: Arc<Contents>,
    transcripts: Arc<Transcripts>,
}

/// An opened citation.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenedCitation {
    /// Root folder of the project; empty for the coder's notebook.
    pub project: String,
    /// `None` if the record belongs to no session.
    pub session: Option<SessionId>,
    /// Whether the session was not specified, so that the newest of the project was used.
    pub session_assumed: bool,
    /// `None` if the record is not in a file.
    pub file: Option<PathBuf>,
    /// The cited line in that file.
    pub line: Option<u32>,
    /// The content.
    pub content: CitedContent,
}

/// Content of a cited record.
#[derive(Debug, Clone, PartialEq)]
pub enum CitedContent {
    /// An event.
    Event(Box<Event>),
    /// A line of a session's transcript that is not an event of the ledger.
    ForeignLine(String),
    /// The lines of a note around the cited one.
    Lines {
        /// Number of the first line, counted from 1.
        first: u32,
        /// Without line terminators.
        lines: Vec<String>,
        /// Number of lines in the note.
        total: u32,
    },
    /// A node: of the named or current project, otherwise of every project that has it.
    Nodes(Vec<LocatedNode>),
    /// A source excerpt with the events around it.
    Grip(Box<ExpandedGrip>),
}

/// A resolved session, and whether it was assumed to be the newest.
struct ResolvedSession {
    session: SessionId,
    assumed: bool,
}

impl Citations {
    /// Creates an opener over these notebooks, contents and transcripts.
    pub fn new(
        notebooks: Arc<Notebooks>,
        contents: Arc<Contents>,
        transcripts: Arc<Transcripts>,
    ) -> Self {
        Self { notebooks, contents, transcripts }
    }

    /// Opens a citation, relative to a viewpoint.
    pub fn open(&self, citation: &Citation, from: &Viewpoint) -> Result<OpenedCitation, HomeError> {
        match &citation.target {
            CitationTarget::Event(number) => {
                let root = self.resolve_project(citation, from)?;
                self.open_numbered(root, *number)
            }
            CitationTarget::Message { session, line } => {
                let root = self.resolve_project(citation, from)?;
                self.open_message(
                    &root,
                    self.resolve_session(&root, session.as_deref(), from)?,
                    *line,
                )
            }
            CitationTarget::Detail { session, path, line } => {
                let root = self.resolve_project(citation, from)?;
                let meant = self.resolve_session(&root, session.as_deref(), from)?;
                self.open_detail(root, meant, (path, *line))
            }
            CitationTarget::Note { path, line } => {
                let root = self.resolve_project(citation, from)?;
                let whose =
                    NotebookOwner { scope: Scope::Project, cwd: Some(root.clone()), session: None };
                self.open_note(root, &whose, (path, *line))
            }
            CitationTarget::Lesson { path, line } => {
                let whose = NotebookOwner { scope: Scope::Coder, cwd: None, session: None };
                self.open_note(String::new(), &whose, (path, *line))
            }
            CitationTarget::Node(id) => {
                let root = self.find_named_project(citation)?;
                let mut nodes = self.contents.find_node(id.as_str(), None, root.as_deref())?;
                if nodes.iter().any(|node| Some(&node.project) == from.project.as_ref()) {
                    nodes.retain(|node| Some(&node.project) == from.project.as_ref());
                }
                let project = nodes.first().map(|node| node.project.clone());
                Ok(OpenedCitation::without_file(
                    project.unwrap_or_default(),
                    CitedContent::Nodes(nodes),
                ))
            }
            CitationTarget::Grip(id) => {
                let root = self.find_named_project(citation)?;
                let around = (GRIP_EVENTS, GRIP_EVENTS);
                let grip = self.contents.find_grip(id.as_str(), around, root.as_deref())?;
                Ok(OpenedCitation::without_file(
                    grip.project.clone(),
                    CitedContent::Grip(Box::new(grip)),
                ))
            }
        }
    }

    /// Reads the turn of an event, or a number of events of its session on either side, in order and with
    /// their numbers.
    pub fn load_around(
        &self,
        event: &Event,
        around: Option<usize>,
    ) -> Result<Vec<(u64, Event)>, HomeError> {
        let store = self.open_store(&event.project)?;
        let Some(position) = store.position(&event.id)? else { return Ok(Vec::new()) };
        let order_key = position.order_key();
        let most = around.unwrap_or(TURN_EVENTS_MAX);
        let scan = |direction| EventRange {
            session: Some(event.session.clone()),
            after: Some(order_key),
            direction,
            ..EventRange::default()
        };
        let mut before = Vec::new();
        let is_begun = around.is_none() && is_prompt(event);
        for pair in store.events(&scan(ScanDirection::Backward)).take(most).filter(|_| !is_begun) {
            let (position, earlier) = pair?;
            let is_first = around.is_none() && is_prompt(&earlier);
            before.push((position.order_key().seq, earlier));
            if is_first {
                break;
            }
        }
        before.reverse();
        before.push((order_key.seq, event.clone()));
        for pair in store.events(&scan(ScanDirection::Forward)).take(most) {
            let (position, later) = pair?;
            if around.is_none() && is_prompt(&later) {
                break;
            }
            before.push((position.order_key().seq, later));
        }
        // A message without an answer, as among people: its neighbors are its context.
        if around.is_none() && before.len() == 1 {
            return self.load_around(event, Some(1));
        }
        Ok(before)
    }

    fn open_numbered(&self, root: String, number: u64) -> Result<OpenedCitation, HomeError> {
        let store = self.open_store(&root)?;
        let entry = store.read_outbox(number.saturating_sub(1), 1)?.pop();
        let entry = entry.filter(|entry| entry.seq == number);
        let event = match entry {
            Some(entry) => store.event_at(&entry.position)?,
            None => None,
        };
        let event = event.ok_or_else(|| {
            HomeError::NotFound(format!("no event #{number} in {root}: `tome events` lists them"))
        })?;
        let session = Some(event.session.clone());
        let content = CitedContent::Event(Box::new(event));
        Ok(OpenedCitation { session, ..OpenedCitation::without_file(root, content) })
    }

    fn open_message(
        &self,
        root: &str,
        meant: ResolvedSession,
        number: u32,
    ) -> Result<OpenedCitation, HomeError> {
        let ResolvedSession { session, assumed } = meant;
        let store = self.open_store(root)?;
        self.transcripts.write_new(&store)?;
        let content = match self.transcripts.read_line(&store, root, &session, number)? {
            SessionTranscriptLine::Event(event) => CitedContent::Event(event),
            SessionTranscriptLine::Foreign(text) => CitedContent::ForeignLine(text),
            SessionTranscriptLine::Missing { lines: 0 } => {
                return Err(session_not_found(&session, root));
            }
            SessionTranscriptLine::Missing { lines } => {
                return Err(HomeError::NotFound(format!(
                    "messages.jsonl of session {session} has {lines} lines, not {number}"
                )));
            }
        };
        Ok(OpenedCitation {
            project: root.to_owned(),
            file: Some(self.transcripts.file_path(root, &session)),
            line: Some(number),
            session: Some(session),
            session_assumed: assumed,
            content,
        })
    }

    fn open_detail(
        &self,
        root: String,
        meant: ResolvedSession,
        path_and_line: (&str, Option<u32>),
    ) -> Result<OpenedCitation, HomeError> {
        let ResolvedSession { session, assumed } = meant;
        let name = Some(session.as_str().to_owned());
        let whose = NotebookOwner { scope: Scope::Session, cwd: Some(root.clone()), session: name };
        if !self.notebooks.open(&whose)?.root().is_dir() {
            // New events create the folder; a session that does not exist has no overview either.
            self.open_store(&root).and_then(|store| self.transcripts.write_new(&store))?;
            if !self.notebooks.open(&whose)?.root().is_dir() {
                return Err(session_not_found(&session, &root));
            }
        }
        let opened = self.open_note(root, &whose, path_and_line)?;
        Ok(OpenedCitation { session: Some(session), session_assumed: assumed, ..opened })
    }

    fn open_note(
        &self,
        project: String,
        whose: &NotebookOwner,
        (path, line): (&str, Option<u32>),
    ) -> Result<OpenedCitation, HomeError> {
        let notebook = self.notebooks.open(whose)?;
        let note = notebook.read_note(path)?;
        let total = u32::try_from(note.text.lines().count()).unwrap_or(u32::MAX);
        if let Some(line) = line.filter(|line| *line > total.max(1)) {
            return Err(HomeError::NotFound(format!(
                "{} has {total} lines, not {line}: the note has changed",
                note.path
            )));
        }
        let cited = line.unwrap_or(1);
        let first = cited.saturating_sub(LINES_BEFORE).max(1);
        let count = (cited - first).saturating_add(LINES_AFTER + 1);
        let from = usize::try_from(first - 1).unwrap_or(usize::MAX);
        let lines = note.text.lines().skip(from).take(usize::try_from(count).unwrap_or(0));
        let lines = lines.map(str::to_owned).collect();
        let file = Some(notebook.root().join(&note.path));
        let content = CitedContent::Lines { first, lines, total };
        Ok(OpenedCitation { file, line, ..OpenedCitation::without_file(project, content) })
    }

    /// Returns the root of the project that the citation names, if it names one.
    fn find_named_project(&self, citation: &Citation) -> Result<Option<String>, HomeError> {
        let Some(folder) = &citation.project else { return Ok(None) };
        let found = find_project_root(self.contents.stores().projects(), folder);
        let missing = || HomeError::NotFound(format!("no project in projects/{folder}"));
        found.ok_or_else(missing).map(Some)
    }

    /// Returns the root of the project that the citation names, of the current project, or of the
    /// current session's project, in this order.
    fn resolve_project(&self, citation: &Citation, from: &Viewpoint) -> Result<String, HomeError> {
        if let Some(root) = self.find_named_project(citation)?.or_else(|| from.project.clone()) {
            return Ok(root);
        }
        let session = from.session.as_deref().map(SessionId::parse).transpose()?;
        let found = match session {
            Some(session) => self.find_newest_event(None, Some(session))?,
            None => None,
        };
        found.map(|event| event.project).ok_or_else(|| {
            let problem = format!(
                "{citation} is relative to a project: run this inside a known project, or pass --project"
            );
            InvalidInput::invalid("citation", problem).into()
        })
    }

    /// Returns the session that the citation names, the current session, or the newest one, in this
    /// order.
    fn resolve_session(
        &self,
        root: &str,
        folder: Option<&str>,
        from: &Viewpoint,
    ) -> Result<ResolvedSession, HomeError> {
        if let Some(folder) = folder {
            let session = match parse_session_folder(folder) {
                Some(session) => Some(session),
                None => self.transcripts.find_session(&*self.open_store(root)?, folder)?,
            };
            let missing =
                || HomeError::NotFound(format!("no session in sessions/{folder} of {root}"));
            return Ok(ResolvedSession { session: session.ok_or_else(missing)?, assumed: false });
        }
        if let Some(session) = &from.session {
            return Ok(ResolvedSession { session: SessionId::parse(session)?, assumed: false });
        }
        let newest = self.find_newest_event(Some(root), None)?.map(|event| event.session);
        let session = newest.ok_or_else(|| {
            HomeError::NotFound(format!("there is no session of {root} yet: name one (--session)"))
        })?;
        Ok(ResolvedSession { session, assumed: true })
    }

    fn find_newest_event(
        &self,
        project: Option<&str>,
        session: Option<SessionId>,
    ) -> Result<Option<Event>, HomeError> {
        let query = EventQuery {
            project: project.map(str::to_owned),
            session,
            newest_first: true,
            events_max: 1,
            bytes_max: usize::MAX,
            ..EventQuery::default()
        };
        Ok(self.contents.stores().query_events(&query)?.events.pop())
    }

    fn open_store(&self, root: &str) -> Result<Store, HomeError> {
        let stores = self.contents.stores();
        let missing = || HomeError::NotFound(format!("nothing recorded for {root} yet"));
        stores.open(&stores.find_store_path(root).ok_or_else(missing)?)
    }
}

impl OpenedCitation {
    /// Something that is in no file.
    pub fn without_file(project: String, content: CitedContent) -> Self {
        Self { project, session: None, session_assumed: false, file: None, line: None, content }
    }
}

fn session_not_found(session: &SessionId, root: &str) -> HomeError {
    HomeError::NotFound(format!(
        "no session {session} in {root}: `tome events` lists events with their sessions"
    ))
}
