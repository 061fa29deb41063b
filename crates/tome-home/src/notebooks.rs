//! Locates and opens notebooks: the session's, the project's or the coder's.
//!
//! ```text
//! coder      $TOME_HOME/coder
//! project    <root>/.memory where that is a folder, else <project's folder>/memory
//! session    <project's folder>/sessions/<session>/working-memory
//! ```
//!
//! The history of a project's notebook is always `<project's folder>/memory/.history`, so that a
//! repository holds nothing but Markdown. The location is resolved at each opening, so a `.memory`
//! that appears or vanishes takes effect at once. Opening creates nothing: a project gets its
//! folder in the home at the first write.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tome_model::{Clock, InvalidInput, Millis, Scope, SessionId};
use tome_notebook::{Notebook, NotebookRules};

use crate::folder_path::is_foreign_path;
use crate::{Home, HomeError, Projects, layout, repo_notebook};

/// Soft limit of open notebooks: those in use stay open beyond it. An open notebook keeps its index
/// in memory, which makes the next call fast.
const OPEN_NOTEBOOKS_MAX: usize = 16;

/// The notebooks of one home, opened on demand.
pub struct Notebooks {
    home: Home,
    projects: Arc<Projects>,
    rules: NotebookRules,
    clock: Arc<dyn Clock>,
    /// Least recently used first.
    open: Mutex<Vec<OpenNotebook>>,
}

/// Identifies a notebook by its owner.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NotebookOwner {
    /// Session, project or coder.
    pub scope: Scope,
    /// An absolute working directory in the project; unused for the coder.
    pub cwd: Option<String>,
    /// Required for a session's notebook.
    pub session: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct NotebookLocation {
    scope: Scope,
    root: PathBuf,
    /// `None` if it is inside `root`.
    history: Option<PathBuf>,
    /// The root of its project, and the folder that the project has or would get in the home.
    project: Option<(String, PathBuf)>,
}

struct OpenNotebook {
    location: NotebookLocation,
    notebook: Arc<Notebook>,
    used: Millis,
}

/// The outcome of `move_into_repository`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedNotes {
    /// The folder in use from now on.
    pub folder: PathBuf,
    /// Whether the folder was created by this call.
    pub created: bool,
    /// Notes that were moved there.
    pub moved: Vec<String>,
    /// Notes that stayed because they are unreadable or a different note of that name is there.
    pub kept_back: Vec<String>,
}

impl Notebooks {
    /// Creates the notebooks of a home; opens none yet.
    pub fn new(
        home: Home,
        projects: Arc<Projects>,
        rules: NotebookRules,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { home, projects, rules, clock, open: Mutex::default() }
    }

    /// Opens a notebook, or returns the open one.
    pub fn open(&self, whose: &NotebookOwner) -> Result<Arc<Notebook>, HomeError> {
        let location = self.resolve_location(whose)?;
        let now = self.clock.now();
        let mut kept = self.lock_open();
        kept.retain(|one| !one.location.is_replaced_by(&location));
        let known = kept.iter().position(|one| one.location == location);
        let notebook = match known {
            Some(at) => kept.remove(at).notebook,
            None => Arc::new(self.build_notebook(&location, self.rules.clone())),
        };
        kept.push(OpenNotebook { location, notebook: Arc::clone(&notebook), used: now });
        close_surplus(&mut kept);
        Ok(notebook)
    }

    /// The folder of a notebook, which need not exist.
    pub fn folder(&self, whose: &NotebookOwner) -> Result<PathBuf, HomeError> {
        Ok(self.resolve_location(whose)?.root)
    }

    /// Whether a notebook has, or had, any files. Quicker than opening it.
    pub fn has_files(&self, whose: &NotebookOwner) -> Result<bool, HomeError> {
        let NotebookLocation { root, history, .. } = self.resolve_location(whose)?;
        Ok(root.exists() || history.is_some_and(|history| history.exists()))
    }

    /// Returns all open notebooks.
    pub fn open_notebooks(&self) -> Vec<Arc<Notebook>> {
        self.lock_open().iter().map(|one| Arc::clone(&one.notebook)).collect()
    }

    /// Closes notebooks that were idle for `idle_ms` and are not in use. Returns how many.
    pub fn close_idle(&self, idle_ms: u64) -> usize {
        let now = self.clock.now();
        let mut kept = self.lock_open();
        let before = kept.len();
        kept.retain(|one| one.is_in_use() || now.distance_ms(one.used) < idle_ms);
        before - kept.len()
    }

    /// Creates `.memory/` in the project's repository and moves the project's notes into it.
    /// Calling it again completes an interrupted move.
    pub fn move_into_repository(&self, cwd: &str) -> Result<MovedNotes, HomeError> {
        let whose =
            NotebookOwner { scope: Scope::Project, cwd: Some(cwd.to_owned()), session: None };
        let root = self.resolve_project(&whose)?;
        let in_repository = self.projects.current_folder(&root);
        let created = repo_notebook::create_folder(&in_repository)?;
        let project = self.projects.ensure_folder(&root, self.clock.now())?;
        let folder = repo_notebook::notebook_folder(&in_repository);
        let from = self.build_for_move(layout::notebook_dir(&project), &project);
        let to = self.build_for_move(folder.clone(), &project);
        let mut moved = MovedNotes { folder, created, moved: Vec::new(), kept_back: Vec::new() };
        for note in from.list_notes()? {
            if repo_notebook::move_note(&from, &to, &note.path)? {
                moved.moved.push(note.path);
            } else {
                moved.kept_back.push(note.path);
            }
        }
        self.open(&whose)?.refresh()?;
        Ok(moved)
    }

    /// Opens a notebook for the move, with a separate history: in the notebook's own history a
    /// moved note does not change.
    fn build_for_move(&self, root: PathBuf, project: &Path) -> Notebook {
        // Existing notes are exempt from the rules for new facts.
        let rules = NotebookRules { facts_bytes_max: u64::MAX, facts_allowed: None };
        let history = Some(layout::moved_notes_dir(project));
        self.build_notebook(
            &NotebookLocation { scope: Scope::Project, root, history, project: None },
            rules,
        )
    }

    fn resolve_location(&self, whose: &NotebookOwner) -> Result<NotebookLocation, HomeError> {
        let scope = whose.scope;
        if scope == Scope::Coder {
            return Ok(NotebookLocation {
                scope,
                root: self.home.coder(),
                history: None,
                project: None,
            });
        }
        let root = self.resolve_project(whose)?;
        let folder = self.projects.planned_folder(&root);
        let project = Some((root.clone(), folder.clone()));
        if scope == Scope::Session {
            let session = require_session(whose)?;
            let root = layout::session_dir(&folder, session.as_str()).join("working-memory");
            return Ok(NotebookLocation { scope, root, history: None, project });
        }
        let inside = {
            let root = self.projects.current_folder(&root);
            let folder = root.to_string_lossy().into_owned();
            let is_foreign = is_foreign_path(&folder);
            let find =
                move || if is_foreign { Ok(None) } else { repo_notebook::find_folder(&root) };
            self.projects.run_with_timeout(&folder, find)??
        };
        let root = inside.unwrap_or_else(|| layout::notebook_dir(&folder));
        Ok(NotebookLocation { scope, root, history: Some(layout::history_dir(&folder)), project })
    }

    fn resolve_project(&self, whose: &NotebookOwner) -> Result<String, HomeError> {
        let cwd = whose.cwd.as_deref().filter(|cwd| !cwd.is_empty()).ok_or_else(|| {
            InvalidInput::invalid(
                "cwd",
                "is missing: give the project's working directory, or use scope coder",
            )
        })?;
        if !Path::new(cwd).is_absolute() && !is_foreign_path(cwd) {
            let shown = tome_model::truncate_to(cwd, 200);
            let problem = format!("{shown:?} is not an absolute path");
            return Err(InvalidInput::invalid("cwd", problem).into());
        }
        Ok(self.projects.resolve_project_or_guess(cwd, None))
    }

    fn build_notebook(&self, location: &NotebookLocation, rules: NotebookRules) -> Notebook {
        let notebook = Notebook::new(location.scope, &location.root, Arc::clone(&self.clock));
        let mut notebook = notebook.with_rules(rules);
        if let Some(history) = &location.history {
            notebook = notebook.with_history(history);
        }
        let Some((root, folder)) = location.project.clone() else { return notebook };
        let (projects, clock) = (Arc::clone(&self.projects), Arc::clone(&self.clock));
        notebook.with_preparation(move || {
            let made = projects.ensure_folder(&root, clock.now()).map_err(std::io::Error::other)?;
            if made == folder {
                return Ok(());
            }
            // Another project of the same folder name came first; the next opening chooses another
            // folder.
            Err(std::io::Error::other("another project took its folder just now; try again"))
        })
    }

    fn lock_open(&self) -> MutexGuard<'_, Vec<OpenNotebook>> {
        // This is only a cache: a panic elsewhere cannot leave it inconsistent.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl NotebookLocation {
    /// Whether the project's notebook is elsewhere now. Two open notebooks would share one history
    /// and record each other's notes as deleted.
    fn is_replaced_by(&self, now: &Self) -> bool {
        self.history.is_some() && self.history == now.history && self.root != now.root
    }
}

impl OpenNotebook {
    fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.notebook) > 1
    }
}

fn close_surplus(kept: &mut Vec<OpenNotebook>) {
    let mut surplus = kept.len().saturating_sub(OPEN_NOTEBOOKS_MAX);
    kept.retain(|one| {
        let goes = surplus > 0 && !one.is_in_use();
        surplus -= usize::from(goes);
        !goes
    });
}

fn require_session(whose: &NotebookOwner) -> Result<SessionId, HomeError> {
    let session = whose.session.as_deref().ok_or_else(|| {
        InvalidInput::invalid("session_id", "is missing: give the session whose notebook is meant")
    })?;
    Ok(SessionId::parse(session)?)
}
