//! Reads the sources of an injection: notebooks, contents, recall. A step may wait for the disk or
//! a lock; each publishes its result at once, so that a deadline only loses the steps not yet done.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use tome_contents::is_narration;
use tome_finder::RecordKind;
use tome_model::{EventKind, Millis, Scope, SessionId};
use tome_notebook::{NoteKind, NoteListing, Notebook, OVERVIEW_TEMPLATE};
use tome_topics::{TopicKind, TopicMap};

use super::Injector;
use super::known::KnownFacts;
use super::resume::ResumeParts;
use super::session_state::SessionState;
use super::start_text::{FactFile, NoteLine, StartParts};
use crate::lessons::{CODER_NOTEBOOK, LessonQuery, RecalledLesson, recall_lessons};
use tome_home::{HomeError, NotebookOwner};
use tome_recall::{
    Across, QueryOrigin, RecallError, RecallFilter, RecallHit, RecallLimits, RecallQuery,
};

/// Characters of a prompt or a plan used as a query: its beginning shows its topic.
const QUERY_CHARS_MAX: usize = 400;
/// A file of lessons up to this size has no entries yet: one entry alone is larger.
const HEADING_BYTES_MAX: u64 = 100;
/// Topics named at the start, and how long ago they were worked on at most.
const RECENT_MAX: usize = 3;
const RECENT_MS: u64 = 7 * 24 * 60 * 60 * 1_000;
/// Files named at the start, and those of the most days among which they are chosen.
const FILES_MAX: usize = 5;
const FILES_COMPARED_MAX: usize = 60;
/// Hits considered for hints.
const HITS_MAX: usize = 12;

/// The sources of the start text, in the order they are read.
pub(super) const START_SOURCES: [&str; 5] = [
    "notes",
    "overview",
    "lessons from all projects",
    "what the contents know",
    "where the last session stopped",
];

/// The session that starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartRequest {
    /// The project's root.
    pub project: String,
    /// The session; `None` for a preview.
    pub session: Option<String>,
    /// The kind of start.
    pub kind: StartKind,
}

/// The kind of start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StartKind {
    /// A new session.
    #[default]
    Fresh,
    /// A session continues after a compaction and needs its state repeated.
    Compacted,
}

type GatherStep<'s> = &'s dyn Fn(&mut StartParts) -> Result<(), HomeError>;

impl Injector {
    /// Reads the sources of the start text into `parts`, one by one. A source that cannot be read
    /// stays listed as late.
    pub fn gather_start(&self, starting: &StartRequest, parts: &Mutex<StartParts>) {
        // The last session on this branch, as the facts show it.
        let on_branch = RefCell::new(None);
        let steps: [GatherStep<'_>; START_SOURCES.len()] = [
            &|parts| self.read_notes(starting, parts),
            &|parts| self.read_overview(starting, parts),
            &|parts| self.read_lessons(parts),
            &|parts| {
                self.read_known_facts(starting, parts)?;
                on_branch.replace(parts.known.session.clone());
                Ok(())
            },
            &|parts| self.read_last_session(starting, on_branch.take(), parts),
        ];
        for (name, step) in START_SOURCES.iter().zip(steps) {
            let mut read = StartParts::default();
            let is_read = step(&mut read).is_ok();
            let mut parts = parts.lock().unwrap_or_else(PoisonError::into_inner);
            if is_read {
                parts.late.retain(|late| late != name);
                parts.merge(read);
            }
        }
        self.add_decisions(&starting.project, parts);
        // Not worth a notice if it is late.
        if let Ok(Some(topics)) = self.topics.load_if_quick(&starting.project) {
            let (recent, files) = (self.list_recent_topics(&topics), self.list_main_files(&topics));
            let mut parts = parts.lock().unwrap_or_else(PoisonError::into_inner);
            (parts.recent, parts.files) = (recent, files);
        }
    }

    /// Adds the decisions that still hold. Finding that out takes longer than the rest, so it comes last.
    fn add_decisions(&self, project: &str, parts: &Mutex<StartParts>) {
        let lock = || parts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = lock().known.clone();
        if self.check_decisions(project, &mut known).is_ok() {
            lock().known.decisions = known.decisions;
        }
    }

    fn list_recent_topics(&self, topics: &TopicMap) -> Vec<String> {
        let since = Millis(self.clock.now().0.saturating_sub(RECENT_MS));
        let recent = topics.recent_groups(since, RECENT_MAX).into_iter();
        recent.map(|topic| self.redact_text(&topic.label)).collect()
    }

    /// The files that several sessions changed.
    fn list_main_files(&self, topics: &TopicMap) -> Vec<String> {
        let mut files = topics.top(TopicKind::File, FILES_COMPARED_MAX);
        files.retain(|file| file.activity.sessions >= 2);
        files.sort_by_key(|file| Reverse((file.activity.sessions, file.activity.last_at)));
        let files = files.into_iter().take(FILES_MAX);
        files
            .map(|file| {
                format!("{} ({} sessions)", self.redact_text(&file.label), file.activity.sessions)
            })
            .collect()
    }

    fn read_notes(&self, starting: &StartRequest, parts: &mut StartParts) -> Result<(), HomeError> {
        let notebook = self.notebooks.open(&notebook_owner(Scope::Project, starting))?;
        let root = notebook.root();
        if root.starts_with(Path::new(&starting.project)) {
            parts.notes_from = Some(IN_REPOSITORY.to_owned());
        }
        let (facts, notes): (Vec<NoteListing>, Vec<NoteListing>) =
            list_newest_first(&notebook)?.into_iter().partition(|note| note.kind == NoteKind::Fact);
        for fact in facts {
            // A fact that vanished or is not text is still listed in the index.
            if let Ok(note) = notebook.read_note(&fact.path) {
                parts.facts.push(FactFile { path: fact.path, text: self.redact_text(&note.text) });
            }
        }
        parts.notes = notes.into_iter().map(|note| self.note_line(note)).collect();
        Ok(())
    }

    fn read_overview(
        &self,
        starting: &StartRequest,
        parts: &mut StartParts,
    ) -> Result<(), HomeError> {
        if starting.session.is_none() {
            return Ok(());
        }
        let notebook = self.notebooks.open(&notebook_owner(Scope::Session, starting))?;
        // An overview that was never written reads as the template.
        let text = notebook.read_note("overview.md")?.text;
        let text = Some(text).filter(|text| text.trim() != OVERVIEW_TEMPLATE.trim());
        parts.overview = text.map(|text| self.redact_text(&text));
        Ok(())
    }

    fn read_lessons(&self, parts: &mut StartParts) -> Result<(), HomeError> {
        let files = list_newest_first(&*self.notebooks.open(&CODER_NOTEBOOK)?)?;
        let lessons = files.into_iter().filter(|file| file.kind == NoteKind::Lesson);
        // A file with only its heading has no lessons.
        let lessons = lessons.filter(|file| file.bytes > HEADING_BYTES_MAX);
        parts.lessons = lessons.map(|file| self.note_line(file)).collect();
        Ok(())
    }

    fn read_known_facts(
        &self,
        starting: &StartRequest,
        parts: &mut StartParts,
    ) -> Result<(), HomeError> {
        let current = starting.session.as_deref().and_then(|id| SessionId::parse(id).ok());
        parts.known = self.load_known_facts(&starting.project, current.as_ref())?;
        Ok(())
    }

    fn read_last_session(
        &self,
        starting: &StartRequest,
        on_branch: Option<SessionId>,
        parts: &mut StartParts,
    ) -> Result<(), HomeError> {
        let current = starting.session.as_deref().and_then(|id| SessionId::parse(id).ok());
        parts.last = match (starting.kind, current) {
            (StartKind::Compacted, Some(current)) => {
                let state = match self.stores.find_store_path(&starting.project) {
                    Some(path) => self.load_session_state(
                        &*self.stores.open(&path)?,
                        &starting.project,
                        &current,
                    )?,
                    None => None,
                };
                state.map(|state| SessionState { is_own: true, ..state })
            }
            (_, current) => {
                self.load_last_session_here(&starting.project, current.as_ref(), on_branch)?
            }
        };
        if let Some(state) = &mut parts.last {
            self.redact_state(state);
        }
        Ok(())
    }

    /// The last session on the branch that the project's folder is on, or else the last one.
    fn load_last_session_here(
        &self,
        project: &str,
        current: Option<&SessionId>,
        on_branch: Option<SessionId>,
    ) -> Result<Option<SessionState>, HomeError> {
        if let (Some(session), Some(path)) = (on_branch, self.stores.find_store_path(project))
            && let Some(state) =
                self.load_session_state(&*self.stores.open(&path)?, project, &session)?
        {
            return Ok(Some(state));
        }
        self.load_last_session(project, current)
    }

    /// Collects the changes since a session was last active; `None` if it was never active before
    /// or never got a start text: then it gets the full one.
    pub fn gather_resume(
        &self,
        project: &str,
        session: &SessionId,
    ) -> Result<Option<ResumeParts>, HomeError> {
        let Some(since) = self.find_last_activity(project, session)? else { return Ok(None) };
        if !self.load_hints(project, session.as_str()).started {
            return Ok(None);
        }
        let starting = StartRequest {
            project: project.to_owned(),
            session: Some(session.as_str().to_owned()),
            kind: StartKind::Fresh,
        };
        let notebook = self.notebooks.open(&notebook_owner(Scope::Project, &starting))?;
        let is_new = |note: &NoteListing| note.modified > since;
        let notes = list_newest_first(&notebook)?.into_iter().filter(is_new);
        let in_repository = notebook.root().starts_with(Path::new(project));
        let mut sessions =
            self.load_sessions_since(project, Some(session), since, SESSIONS_SINCE_MAX)?;
        sessions.iter_mut().for_each(|state| self.redact_state(state));
        Ok(Some(ResumeParts {
            since,
            notes: notes.map(|note| self.note_line(note)).collect(),
            notes_from: in_repository.then(|| IN_REPOSITORY.to_owned()),
            sessions,
        }))
    }

    fn redact_state(&self, state: &mut SessionState) {
        let SessionState {
            first_request,
            latest_requests,
            last_words,
            closing,
            open,
            unanswered,
            last_calls,
            edited,
            commits,
            ..
        } = state;
        let texts = latest_requests.iter_mut().chain(open).chain(unanswered).chain(last_words);
        let texts = texts.chain(last_calls).chain(edited).chain(commits);
        for text in texts.chain([first_request, closing]) {
            *text = self.redact_text(text);
        }
    }

    /// Opens what hints for the prompts of a session are looked up in.
    pub fn warm_indexes(&self, project: &str) -> Result<(), RecallError> {
        self.recall.warm_up(project)
    }

    /// Searches hits for a prompt, as a proactive query.
    pub fn find_hits(
        &self,
        project: &str,
        session: &str,
        prompt: &str,
    ) -> Result<Vec<RecallHit>, RecallError> {
        let query: String = prompt.chars().take(QUERY_CHARS_MAX).collect();
        let recall_query = RecallQuery {
            text: query,
            origin: QueryOrigin::Proactive { prompt: prompt.to_owned() },
            filter: RecallFilter {
                across: Across::Project,
                project: Some(project.to_owned()),
                session: Some(session.to_owned()),
                ..RecallFilter::default()
            },
            limits: RecallLimits { hits: HITS_MAX, ..RecallLimits::default() },
            ..RecallQuery::default()
        };
        let mut hits = self.recall.search(&recall_query)?.hits;
        hits.retain(is_useful_hint);
        for hit in &mut hits {
            hit.text = self.redact_text(&hit.text);
            if let Some(answer) = &mut hit.turn.answer {
                answer.text = self.redact_text(&answer.text);
            }
        }
        Ok(hits)
    }

    /// Returns at most three lessons for a plan, the best first.
    pub fn find_lessons(&self, plan: &str) -> Result<Vec<RecalledLesson>, HomeError> {
        let query = LessonQuery { question: Some(plan.to_owned()), ..LessonQuery::default() };
        let mut lessons = recall_lessons(&self.recall, &self.notebooks, &query)?.lessons;
        lessons.iter_mut().for_each(|one| one.text = self.redact_text(&one.text));
        Ok(lessons)
    }

    fn note_line(&self, note: NoteListing) -> NoteLine {
        NoteLine { path: note.path, name: note.name, summary: self.redact_text(&note.summary) }
    }
}

impl StartParts {
    /// Creates parts of which nothing has been read.
    pub fn unread() -> Self {
        Self { late: START_SOURCES.to_vec(), ..Self::default() }
    }

    /// Merges the result of one step.
    fn merge(&mut self, read: Self) {
        let Self { facts, notes, notes_from, overview, lessons, known, last, .. } = read;
        self.facts.extend(facts);
        self.notes.extend(notes);
        self.lessons.extend(lessons);
        self.notes_from = notes_from.or(self.notes_from.take());
        self.overview = overview.or(self.overview.take());
        if known != KnownFacts::default() {
            self.known = known;
        }
        self.last = last.or(self.last.take());
    }
}

/// Whether a hit is useful by itself: not a whole period, nor a guide to using memory.
fn is_useful_hint(hit: &RecallHit) -> bool {
    let is_period = hit.source == RecordKind::Node && hit.kind != "segment";
    let is_guide = hit.source == RecordKind::Lesson
        && hit.file.as_deref().is_some_and(|file| file.ends_with("-guide.md"));
    // "Let me look at the lexer first" says nothing, nor does a question without its answer.
    let is_step = hit.kind == EventKind::AssistantMessage.as_str() && is_narration(&hit.text);
    let is_open_question = hit.kind == EventKind::UserMessage.as_str()
        && hit.turn.answer.is_none()
        && hit.text.trim_end().ends_with(['?', '？']);
    !is_period && !is_guide && !is_step && !is_open_question
}

/// The source named when quoting notes in the repository: anyone may have written them.
const IN_REPOSITORY: &str = "notes in the repository";
/// Sessions listed in a resume text.
const SESSIONS_SINCE_MAX: usize = 3;

fn notebook_owner(scope: Scope, starting: &StartRequest) -> NotebookOwner {
    NotebookOwner { scope, cwd: Some(starting.project.clone()), session: starting.session.clone() }
}

fn list_newest_first(notebook: &Notebook) -> Result<Vec<NoteListing>, HomeError> {
    let mut notes = notebook.list_notes()?;
    notes.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    Ok(notes)
}
