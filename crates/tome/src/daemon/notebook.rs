//! The notebooks, over the wire: listing, history, and the care of the coder's insights.

use std::sync::Arc;

use tome_home::{HomeError, NotebookOwner};
use tome_model::limits::{AGENT_BYTES_MAX, SESSION_ID_BYTES_MAX};
use tome_model::{ModelError, Scope, truncate_to};
use tome_notebook::{Actor, Author, NoteListing, NoteVersion, Notebook as Book, NotebookError};
use tome_proto::v1::notebook_server::Notebook;
use tome_proto::{limits, take_fitting, v1};
use tonic::{Request, Response, Status};

use super::calls::CallKind;
use super::grpc_status::status_of;
use super::state::Daemon;

/// A tool's or a command's name in the history.
const TOOL_BYTES_MAX: usize = 200;

/// The notebook service.
pub struct NotebookService(pub Arc<Daemon>);

type Answer<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl Notebook for NotebookService {
    async fn locate(&self, request: Request<v1::LocateRequest>) -> Answer<v1::LocateResponse> {
        let asked = request.into_inner();
        let home = self.0.settings.home.root().to_path_buf();
        self.with(asked.whose, move |book| {
            Ok(v1::LocateResponse {
                folder: book.root().to_string_lossy().into_owned(),
                in_repository: !book.root().starts_with(&home),
                exists: book.root().is_dir(),
                notes: u32::try_from(book.list_notes()?.len()).unwrap_or(u32::MAX),
            })
        })
        .await
    }

    async fn list_notes(
        &self,
        request: Request<v1::ListNotesRequest>,
    ) -> Answer<v1::ListNotesResponse> {
        self.with(request.into_inner().whose, |book| {
            let all = book.list_notes()?;
            let count = all.len();
            let notes = take_fitting(all.into_iter().map(listed_to_wire));
            let left_out = (count - notes.len()) as u64;
            Ok(v1::ListNotesResponse { notes, left_out })
        })
        .await
    }

    async fn get_log(&self, request: Request<v1::GetLogRequest>) -> Answer<v1::GetLogResponse> {
        let asked = request.into_inner();
        let limit = match asked.limit {
            0 => limits::LOG_VERSIONS_DEFAULT,
            limit => limit.min(limits::LOG_VERSIONS_MAX),
        };
        self.with(asked.whose, move |book| {
            let log = book.read_history(given(&asked.path))?;
            let total = log.len() as u64;
            let newest = log.into_iter().rev().take(limit as usize);
            Ok(v1::GetLogResponse { versions: take_fitting(newest.map(version_to_wire)), total })
        })
        .await
    }

    async fn get_version(
        &self,
        request: Request<v1::GetVersionRequest>,
    ) -> Answer<v1::GetVersionResponse> {
        let asked = request.into_inner();
        self.with(asked.whose, move |book| {
            let note = match given(&asked.version) {
                Some(version) => book.read_version(&asked.path, version)?,
                None => book.read_note(&asked.path)?,
            };
            Ok(v1::GetVersionResponse { path: note.path, text: note.text, version: note.version })
        })
        .await
    }

    async fn restore(&self, request: Request<v1::RestoreRequest>) -> Answer<v1::RestoreResponse> {
        let asked = request.into_inner();
        let by = author(asked.by, "restore");
        // What can be restored is in a folder that is there: a wrong path has to make none.
        self.with(asked.whose, move |book| {
            let written = book.restore_version(&by, &asked.path, given(&asked.version))?;
            Ok(v1::RestoreResponse {
                path: written.path,
                version: written.version,
                bytes: written.bytes,
            })
        })
        .await
    }

    async fn lint(&self, _: Request<v1::LintRequest>) -> Answer<v1::LintResponse> {
        self.with(Some(coders()), |book| {
            let findings = book.lint_insights()?.into_iter().map(|found| v1::Finding {
                path: found.path,
                line: u32::try_from(found.line).unwrap_or(u32::MAX),
                problem: found.problem,
            });
            Ok(v1::LintResponse { findings: findings.collect() })
        })
        .await
    }

    async fn tidy(&self, request: Request<v1::TidyRequest>) -> Answer<v1::TidyResponse> {
        let by = author(request.into_inner().by, "tidy");
        self.with(Some(coders()), move |book| {
            let tidied = book.tidy_insights(&by)?;
            Ok(v1::TidyResponse {
                entries_before: tidied.entries_before as u64,
                entries_after: tidied.entries_after as u64,
                steps: tidied.steps,
            })
        })
        .await
    }

    async fn move_into_repository(
        &self,
        request: Request<v1::MoveIntoRepositoryRequest>,
    ) -> Answer<v1::MoveIntoRepositoryResponse> {
        let cwd = request.into_inner().cwd;
        if cwd.is_empty() {
            return Err(Status::invalid_argument("cwd is missing: say which project is meant"));
        }
        let moving = self.0.run_blocking(CallKind::Notebook, move |daemon| {
            daemon.engine.notebooks().move_into_repository(&cwd)
        });
        let moved = moving.await?.map_err(|error| status_of(&error))?;
        Ok(Response::new(v1::MoveIntoRepositoryResponse {
            folder: moved.folder.to_string_lossy().into_owned(),
            created: moved.created,
            moved: moved.moved,
            kept_back: moved.kept_back,
        }))
    }
}

impl NotebookService {
    /// Does something with a notebook, on a thread made for waiting.
    async fn with<T: Send + 'static>(
        &self,
        whose: Option<v1::Whose>,
        work: impl FnOnce(&Book) -> Result<T, NotebookError> + Send + 'static,
    ) -> Answer<T> {
        let whose = whose_from_wire(whose.unwrap_or_default())
            .map_err(|error| Status::invalid_argument(error.to_string()))?;
        let done = self.0.run_blocking(CallKind::Notebook, move |daemon| {
            let book = daemon.engine.notebooks().open(&whose)?;
            Ok(work(&book)?)
        });
        let answer: Result<T, HomeError> = done.await?;
        answer.map(Response::new).map_err(|error| status_of(&error))
    }
}

fn given(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn coders() -> v1::Whose {
    v1::Whose { scope: Scope::Coder.as_str().to_owned(), ..v1::Whose::default() }
}

fn whose_from_wire(whose: v1::Whose) -> Result<NotebookOwner, ModelError> {
    let scope = match given(&whose.scope) {
        None => Scope::default(),
        Some(name) => Scope::from_name(name).ok_or_else(|| {
            ModelError::invalid("scope", format!("{name:?} is not session, project or coder"))
        })?,
    };
    let given = |text: String| Some(text).filter(|text| !text.is_empty());
    Ok(NotebookOwner { scope, cwd: given(whose.cwd), session: given(whose.session_id) })
}

/// Whoever asks is an agent or a person: only Tome itself finds changes from outside.
fn author(by: Option<v1::Author>, doing: &str) -> Author {
    let by = by.unwrap_or_default();
    // It stays in the history for good, so it has a bound.
    let given = |text: &str, bytes_max| {
        Some(truncate_to(text, bytes_max).to_owned()).filter(|text| !text.is_empty())
    };
    let who = match given(&by.agent, AGENT_BYTES_MAX) {
        Some(agent) => Actor::Agent { agent, session: given(&by.session_id, SESSION_ID_BYTES_MAX) },
        None => Actor::Person,
    };
    let tool = given(&by.tool, TOOL_BYTES_MAX).unwrap_or_else(|| doing.to_owned());
    Author { who, tool }
}

fn author_to_wire(by: Author) -> v1::Author {
    let (who, agent, session) = match by.who {
        Actor::Agent { agent, session } => ("agent", agent, session.unwrap_or_default()),
        Actor::Person => ("person", String::new(), String::new()),
        Actor::Outside => ("outside", String::new(), String::new()),
    };
    v1::Author { who: who.to_owned(), agent, session_id: session, tool: by.tool }
}

fn version_to_wire(version: NoteVersion) -> v1::NoteVersion {
    v1::NoteVersion {
        number: version.number,
        at_ms: version.at.0,
        path: version.path,
        op: version.op.as_str().to_owned(),
        version: version.version,
        bytes: version.bytes,
        added: version.added,
        removed: version.removed,
        by: Some(author_to_wire(version.by)),
    }
}

fn listed_to_wire(note: NoteListing) -> v1::ListedNote {
    v1::ListedNote {
        path: note.path,
        kind: note.kind.as_str().to_owned(),
        name: note.name,
        summary: note.summary,
        note_type: note.note_type.map(|kind| kind.as_str().to_owned()).unwrap_or_default(),
        updated: note.updated.unwrap_or_default(),
        bytes: note.bytes,
        modified_ms: note.modified.0,
        version: note.version,
    }
}
