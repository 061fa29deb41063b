//! Opens citations.
//!
//! Records are read from their source of truth: events from the ledger, notes through their
//! notebook and its path sandbox. A session transcript that is missing or too short is rebuilt
//! first.

use std::path::PathBuf;
use std::sync::Arc;

use tome_model::{Event, ModelError, Scope, SessionId};

use super::view::root_of;
use super::{Citation, CitedPlace, Viewpoint};
use crate::transcript::session_of_folder;
use crate::{CopiedLine, SessionCopies};
use tome_contents::{Calendar, Expanded, NodeInPlace};
use tome_home::{HomeError, Notebooks, Question, Store, Whose};

/// Lines shown around the cited line of a note.
const LINES_BEFORE: u32 = 3;
const LINES_AFTER: u32 = 10;
/// Events shown before and after a source excerpt.
const GRIP_EVENTS: usize = 3;

/// Opens citations of events, notes and nodes.
pub struct Citations {
    notebooks: Arc<Notebooks>,
    calendar: Arc<Calendar>,
    copies: Arc<SessionCopies>,
}

/// An opened citation.
#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
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
    pub place: OpenedPlace,
}

/// Content of a cited record.
#[derive(Debug, Clone, PartialEq)]
pub enum OpenedPlace {
    /// An event.
    Event(Box<Event>),
    /// A line of a session's transcript that is not an event of the ledger.
    Foreign(String),
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
    Nodes(Vec<NodeInPlace>),
    /// A source excerpt with the events around it.
    Grip(Box<Expanded>),
}

/// A resolved session, and whether it was assumed to be the newest.
struct Meant {
    session: SessionId,
    assumed: bool,
}

impl Citations {
    /// Creates an opener over these notebooks, contents and transcripts.
    pub fn new(
        notebooks: Arc<Notebooks>,
        calendar: Arc<Calendar>,
        copies: Arc<SessionCopies>,
    ) -> Self {
        Self { notebooks, calendar, copies }
    }

    /// What is at a cited place, as seen from a viewpoint.
    pub fn open(&self, citation: &Citation, from: &Viewpoint) -> Result<Opened, HomeError> {
        match &citation.place {
            CitedPlace::Message { session, line } => {
                let root = self.root(citation, from)?;
                self.message(&root, self.session(&root, session.as_deref(), from)?, *line)
            }
            CitedPlace::Detail { session, path, line } => {
                let root = self.root(citation, from)?;
                let meant = self.session(&root, session.as_deref(), from)?;
                self.detail(root, meant, (path, *line))
            }
            CitedPlace::Note { path, line } => {
                let root = self.root(citation, from)?;
                let whose = Whose { scope: Scope::Project, cwd: Some(root.clone()), session: None };
                self.note(root, &whose, (path, *line))
            }
            CitedPlace::Insight { path, line } => {
                let whose = Whose { scope: Scope::Coder, cwd: None, session: None };
                self.note(String::new(), &whose, (path, *line))
            }
            CitedPlace::Node(id) => {
                let root = self.named_root(citation)?;
                let mut nodes = self.calendar.node(id.as_str(), None, root.as_deref())?;
                if nodes.iter().any(|node| Some(&node.project) == from.project.as_ref()) {
                    nodes.retain(|node| Some(&node.project) == from.project.as_ref());
                }
                let project = nodes.first().map(|node| node.project.clone());
                Ok(Opened::nowhere(project.unwrap_or_default(), OpenedPlace::Nodes(nodes)))
            }
            CitedPlace::Grip(id) => {
                let root = self.named_root(citation)?;
                let around = (GRIP_EVENTS, GRIP_EVENTS);
                let grip = self.calendar.grip(id.as_str(), around, root.as_deref())?;
                Ok(Opened::nowhere(grip.project.clone(), OpenedPlace::Grip(Box::new(grip))))
            }
        }
    }

    /// A line of a session's copy.
    fn message(&self, root: &str, meant: Meant, number: u32) -> Result<Opened, HomeError> {
        let Meant { session, assumed } = meant;
        let store = self.store(root)?;
        self.copies.write_new(&store)?;
        let place = match self.copies.line(&store, root, &session, number)? {
            CopiedLine::Event(event) => OpenedPlace::Event(event),
            CopiedLine::Foreign(text) => OpenedPlace::Foreign(text),
            CopiedLine::Missing { lines: 0 } => return Err(no_session(&session, root)),
            CopiedLine::Missing { lines } => {
                return Err(HomeError::NotFound(format!(
                    "messages.jsonl of session {session} has {lines} lines, not {number}"
                )));
            }
        };
        Ok(Opened {
            project: root.to_owned(),
            file: Some(self.copies.file(root, &session)),
            line: Some(number),
            session: Some(session),
            session_assumed: assumed,
            place,
        })
    }

    fn detail(
        &self,
        root: String,
        meant: Meant,
        place: (&str, Option<u32>),
    ) -> Result<Opened, HomeError> {
        let Meant { session, assumed } = meant;
        let name = Some(session.as_str().to_owned());
        let whose = Whose { scope: Scope::Session, cwd: Some(root.clone()), session: name };
        if !self.notebooks.open(&whose)?.root().is_dir() {
            // What has just come makes the folder; a session that never was has no overview either.
            self.store(&root).and_then(|store| self.copies.write_new(&store))?;
            if !self.notebooks.open(&whose)?.root().is_dir() {
                return Err(no_session(&session, &root));
            }
        }
        let opened = self.note(root, &whose, place)?;
        Ok(Opened { session: Some(session), session_assumed: assumed, ..opened })
    }

    fn note(
        &self,
        project: String,
        whose: &Whose,
        (path, line): (&str, Option<u32>),
    ) -> Result<Opened, HomeError> {
        let notebook = self.notebooks.open(whose)?;
        let note = notebook.read(path)?;
        let total = u32::try_from(note.text.lines().count()).unwrap_or(u32::MAX);
        if let Some(line) = line.filter(|line| *line > total.max(1)) {
            return Err(HomeError::NotFound(format!(
                "{} has {total} lines, not {line}: it was changed since",
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
        let place = OpenedPlace::Lines { first, lines, total };
        Ok(Opened { file, line, ..Opened::nowhere(project, place) })
    }

    /// The root of the project that a citation names.
    fn named_root(&self, citation: &Citation) -> Result<Option<String>, HomeError> {
        let Some(folder) = &citation.project else { return Ok(None) };
        let found = root_of(self.calendar.stores().projects(), folder);
        let missing = || HomeError::NotFound(format!("there is no project in projects/{folder}"));
        found.ok_or_else(missing).map(Some)
    }

    /// The root of the project that a citation means: the one it names, the one at hand, or that of
    /// the session at hand.
    fn root(&self, citation: &Citation, from: &Viewpoint) -> Result<String, HomeError> {
        if let Some(root) = self.named_root(citation)?.or_else(|| from.project.clone()) {
            return Ok(root);
        }
        let session = from.session.as_deref().map(SessionId::parse).transpose()?;
        let found = match session {
            Some(session) => self.newest(None, Some(session))?,
            None => None,
        };
        found.map(|event| event.project).ok_or_else(|| {
            let problem = format!(
                "{citation} is relative to a project: run this inside a known project, or pass --project"
            );
            ModelError::invalid("citation", problem).into()
        })
    }

    /// Returns the session that the citation names, the current session, or the newest one, in this
    /// order.
    fn session(
        &self,
        root: &str,
        folder: Option<&str>,
        from: &Viewpoint,
    ) -> Result<Meant, HomeError> {
        if let Some(folder) = folder {
            let session = match session_of_folder(folder) {
                Some(session) => Some(session),
                None => self.copies.session_named(&*self.store(root)?, folder)?,
            };
            let missing = || {
                HomeError::NotFound(format!("there is no session in sessions/{folder} of {root}"))
            };
            return Ok(Meant { session: session.ok_or_else(missing)?, assumed: false });
        }
        if let Some(session) = &from.session {
            return Ok(Meant { session: SessionId::parse(session)?, assumed: false });
        }
        let newest = self.newest(Some(root), None)?.map(|event| event.session);
        let session = newest.ok_or_else(|| {
            HomeError::NotFound(format!("there is no session of {root} yet: name one (--session)"))
        })?;
        Ok(Meant { session, assumed: true })
    }

    fn newest(
        &self,
        project: Option<&str>,
        session: Option<SessionId>,
    ) -> Result<Option<Event>, HomeError> {
        let question = Question {
            project: project.map(str::to_owned),
            session,
            newest_first: true,
            events_max: 1,
            bytes_max: usize::MAX,
            ..Question::default()
        };
        Ok(self.calendar.stores().read(&question)?.events.pop())
    }

    fn store(&self, root: &str) -> Result<Store, HomeError> {
        let stores = self.calendar.stores();
        let missing = || HomeError::NotFound(format!("nothing has been recorded of {root} yet"));
        stores.open(&stores.existing(root).ok_or_else(missing)?)
    }
}

impl Opened {
    /// Something that is in no file.
    pub fn nowhere(project: String, place: OpenedPlace) -> Self {
        Self { project, session: None, session_assumed: false, file: None, line: None, place }
    }
}

fn no_session(session: &SessionId, root: &str) -> HomeError {
    HomeError::NotFound(format!(
        "there is no session {session} of {root}: `tome events` lists events with their sessions"
    ))
}
