//! The gRPC service for notebooks: listing, history, and maintenance of the coder's lessons.

use std::sync::Arc;

use tome_home::{HomeError, NotebookOwner};
use tome_model::limits::{AGENT_BYTES_MAX, SESSION_ID_BYTES_MAX};
use tome_model::{InvalidInput, Scope, truncate_to};
use tome_notebook::{
    Actor, Author, NoteListing, NoteVersion, Notebook as OpenNotebook, NotebookError,
};
use tome_proto::v1::notebook_server::Notebook;
use tome_proto::{limits, take_fitting, v1};
use tonic::{Request, Response, Status};

use super::calls::CallKind;
use super::grpc_status::{invalid_argument, status_of};
use super::request_fields::{non_empty, non_empty_owned};
use super::state::Daemon;

/// Size of a tool's or command's name in the history.
const TOOL_BYTES_MAX: usize = 200;

pub struct NotebookService(pub Arc<Daemon>);

type RpcResult<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl Notebook for NotebookService {
    async fn locate(&self, request: Request<v1::LocateRequest>) -> RpcResult<v1::LocateResponse> {
        let request = request.into_inner();
        let home = self.0.settings.home.root().to_path_buf();
        self.with_notebook(request.whose, move |notebook| {
            Ok(v1::LocateResponse {
                folder: notebook.root().to_string_lossy().into_owned(),
                in_repository: !notebook.root().starts_with(&home),
                exists: notebook.root().is_dir(),
                notes: u32::try_from(notebook.list_notes()?.len()).unwrap_or(u32::MAX),
            })
        })
        .await
    }

    async fn list_notes(
        &self,
        request: Request<v1::ListNotesRequest>,
    ) -> RpcResult<v1::ListNotesResponse> {
        self.with_notebook(request.into_inner().whose, |notebook| {
            let all = notebook.list_notes()?;
            let count = all.len();
            let notes = take_fitting(all.into_iter().map(listing_to_wire));
            let left_out = (count - notes.len()) as u64;
            Ok(v1::ListNotesResponse { notes, left_out })
        })
        .await
    }

    async fn get_log(&self, request: Request<v1::GetLogRequest>) -> RpcResult<v1::GetLogResponse> {
        let request = request.into_inner();
        let limit = match request.limit {
            0 => limits::LOG_VERSIONS_DEFAULT,
            limit => limit.min(limits::LOG_VERSIONS_MAX),
        };
        self.with_notebook(request.whose, move |notebook| {
            let log = notebook.read_history(non_empty(&request.path))?;
            let total = log.len() as u64;
            let newest = log.into_iter().rev().take(limit as usize);
            Ok(v1::GetLogResponse { versions: take_fitting(newest.map(version_to_wire)), total })
        })
        .await
    }

    async fn get_version(
        &self,
        request: Request<v1::GetVersionRequest>,
    ) -> RpcResult<v1::GetVersionResponse> {
        let request = request.into_inner();
        self.with_notebook(request.whose, move |notebook| {
            let note = match non_empty(&request.version) {
                Some(version) => notebook.read_version(&request.path, version)?,
                None => notebook.read_note(&request.path)?,
            };
            Ok(v1::GetVersionResponse { path: note.path, text: note.text, version: note.version })
        })
        .await
    }

    async fn restore(
        &self,
        request: Request<v1::RestoreRequest>,
    ) -> RpcResult<v1::RestoreResponse> {
        let request = request.into_inner();
        let by = author_from_wire(request.by, "restore");
        // Opens without creating: a wrong path must not leave a new folder.
        self.with_notebook(request.whose, move |notebook| {
            let written =
                notebook.restore_version(&by, &request.path, non_empty(&request.version))?;
            Ok(v1::RestoreResponse {
                path: written.path,
                version: written.version,
                bytes: written.bytes,
            })
        })
        .await
    }

    async fn lint(&self, _: Request<v1::LintRequest>) -> RpcResult<v1::LintResponse> {
        self.with_notebook(Some(coder_owner()), |notebook| {
            let findings = notebook.lint_lessons()?.into_iter().map(|found| v1::Finding {
                path: found.path,
                line: u32::try_from(found.line).unwrap_or(u32::MAX),
                problem: found.problem,
            });
            Ok(v1::LintResponse { findings: findings.collect() })
        })
        .await
    }

    async fn tidy(&self, request: Request<v1::TidyRequest>) -> RpcResult<v1::TidyResponse> {
        let by = author_from_wire(request.into_inner().by, "tidy");
        self.with_notebook(Some(coder_owner()), move |notebook| {
            let tidied = notebook.tidy_lessons(&by)?;
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
    ) -> RpcResult<v1::MoveIntoRepositoryResponse> {
        let cwd = request.into_inner().cwd;
        if cwd.is_empty() {
            return Err(Status::invalid_argument("cwd is missing: it selects the project"));
        }
        let work = self.0.run_blocking(CallKind::Notebook, move |daemon| {
            daemon.engine.notebooks().move_into_repository(&cwd)
        });
        let moved = work.await?.map_err(|error| status_of(&error))?;
        Ok(Response::new(v1::MoveIntoRepositoryResponse {
            folder: moved.folder.to_string_lossy().into_owned(),
            created: moved.created,
            moved: moved.moved,
            kept_back: moved.kept_back,
        }))
    }
}

impl NotebookService {
    /// Opens a notebook and calls `read` on a blocking thread.
    async fn with_notebook<T: Send + 'static>(
        &self,
        owner: Option<v1::Whose>,
        read: impl FnOnce(&OpenNotebook) -> Result<T, NotebookError> + Send + 'static,
    ) -> RpcResult<T> {
        let owner =
            owner_from_wire(owner.unwrap_or_default()).map_err(|error| invalid_argument(&error))?;
        let work = self.0.run_blocking(CallKind::Notebook, move |daemon| {
            let notebook = daemon.engine.notebooks().open(&owner)?;
            Ok(read(&notebook)?)
        });
        let outcome: Result<T, HomeError> = work.await?;
        outcome.map(Response::new).map_err(|error| status_of(&error))
    }
}

fn coder_owner() -> v1::Whose {
    v1::Whose { scope: Scope::Coder.as_str().to_owned(), ..v1::Whose::default() }
}

fn owner_from_wire(owner: v1::Whose) -> Result<NotebookOwner, InvalidInput> {
    let scope = match non_empty(&owner.scope) {
        None => Scope::default(),
        Some(name) => Scope::from_name(name).ok_or_else(|| {
            InvalidInput::invalid("scope", format!("{name:?} is not session, project or coder"))
        })?,
    };
    Ok(NotebookOwner {
        scope,
        cwd: non_empty_owned(owner.cwd),
        session: non_empty_owned(owner.session_id),
    })
}

/// Builds an author from a request. Clients are agents or people; only Tome records outside
/// changes.
fn author_from_wire(by: Option<v1::Author>, default_tool: &str) -> Author {
    let by = by.unwrap_or_default();
    // The history is permanent, so its fields are bounded.
    let bounded =
        |text: &str, bytes_max| non_empty(truncate_to(text, bytes_max)).map(str::to_owned);
    let who = match bounded(&by.agent, AGENT_BYTES_MAX) {
        Some(agent) => {
            Actor::Agent { agent, session: bounded(&by.session_id, SESSION_ID_BYTES_MAX) }
        }
        None => Actor::Person,
    };
    let tool = bounded(&by.tool, TOOL_BYTES_MAX).unwrap_or_else(|| default_tool.to_owned());
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

fn listing_to_wire(note: NoteListing) -> v1::ListedNote {
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
