//! Which notebook is meant: the session's, the project's or the coder's, and where it lies.
//!
//! ```text
//! coder      $TOME_HOME/coder
//! project    <root>/.memory where that is a folder, else <project's folder>/memory
//! session    <project's folder>/sessions/<session>/working-memory
//! ```
//!
//! The history of a project's notebook is always `<project's folder>/memory/.history`, so that a
//! repository holds nothing but Markdown. Where a notebook lies is looked up at each opening: a
//! `.memory` that appears or vanishes counts at once. Opening for reading makes nothing.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tome_model::{Clock, Millis, ModelError, Scope, SessionId};
use tome_notebook::{Author, Notebook, NotebookError, Rules, Who};

use crate::durable::sync_folder;
use crate::{EngineError, Home, Projects, home};

/// The folder in a repository that is used when it is there.
const IN_REPOSITORY: &str = ".memory";

/// Notebooks that are kept open, about: those that somebody holds stay whatever their number. An
/// open one keeps its index in memory, which is what makes the next call quick.
const OPEN_MAX: usize = 16;

/// The notebooks of one home. They are opened when they are needed.
pub struct Notebooks {
    home: Home,
    projects: Arc<Projects>,
    rules: Rules,
    clock: Arc<dyn Clock>,
    /// The one used last comes last.
    kept: Mutex<Vec<Kept>>,
}

/// Whose notebook.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Whose {
    /// Session, project or coder.
    pub scope: Scope,
    /// A working directory of the project, absolute; not needed for the coder's.
    pub cwd: Option<String>,
    /// The session; needed for a session's.
    pub session: Option<String>,
}

/// What a notebook is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Nothing is created.
    Reading,
    /// The project's folder in Tome's home is made if it is not there.
    Writing,
}

/// Where a notebook lies.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    scope: Scope,
    root: PathBuf,
    /// `None`: inside.
    history: Option<PathBuf>,
}

struct Kept {
    place: Place,
    notebook: Arc<Notebook>,
    used: Millis,
}

/// What `move_into_repository` did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The folder that is used from now on.
    pub folder: PathBuf,
    /// Whether it was made now.
    pub created: bool,
    /// Notes that were moved there.
    pub moved: Vec<String>,
    /// Notes that stayed: others of the same name, with other content, are there, or they cannot be
    /// read.
    pub kept_back: Vec<String>,
}

impl Notebooks {
    /// The notebooks of a home.
    pub fn new(home: Home, projects: Arc<Projects>, rules: Rules, clock: Arc<dyn Clock>) -> Self {
        Self { home, projects, rules, clock, kept: Mutex::default() }
    }

    /// Opens a notebook, or hands out the one that is open.
    pub fn open(&self, whose: &Whose, purpose: Purpose) -> Result<Arc<Notebook>, EngineError> {
        let place = self.place(whose, purpose)?;
        let now = self.clock.now();
        let mut kept = self.kept();
        let known = kept.iter().position(|one| one.place == place);
        let notebook = match known {
            Some(at) => kept.remove(at).notebook,
            None => Arc::new(self.notebook_at(&place, self.rules.clone())),
        };
        kept.push(Kept { place, notebook: Arc::clone(&notebook), used: now });
        drop_surplus(&mut kept);
        Ok(notebook)
    }

    /// Whether opening for writing would make a project's folder.
    pub(crate) fn is_new(&self, whose: &Whose) -> Result<bool, EngineError> {
        if whose.scope == Scope::Coder {
            return Ok(false);
        }
        let root = self.root_of(whose)?;
        Ok(self.projects.known_folder(&root).is_none())
    }

    /// Every notebook that is open now.
    pub fn open_now(&self) -> Vec<Arc<Notebook>> {
        self.kept().iter().map(|one| Arc::clone(&one.notebook)).collect()
    }

    /// Closes the notebooks that nobody has used for a while; 0 closes all that nobody holds.
    pub fn close_idle(&self, idle_ms: u64) -> usize {
        let now = self.clock.now();
        let mut kept = self.kept();
        let before = kept.len();
        kept.retain(|one| one.is_held() || now.distance_ms(one.used) < idle_ms);
        before - kept.len()
    }

    /// Makes `.memory/` in the project's repository and moves the project's notes into it. What was
    /// cut short is finished by doing it again.
    pub fn move_into_repository(&self, cwd: &str) -> Result<Moved, EngineError> {
        let whose = Whose { scope: Scope::Project, cwd: Some(cwd.to_owned()), session: None };
        let root = self.root_of(&whose)?;
        let created = make_in_repository(Path::new(&root))?;
        let project = self.projects.folder(&root, self.clock.now())?;
        // What is moved was there before: the rules for new facts do not apply to it.
        let rules = Rules { facts_bytes_max: u64::MAX, facts_allowed: None };
        let place = |root: PathBuf| Place {
            scope: Scope::Project,
            root,
            history: Some(home::history_in(&project)),
        };
        let folder = Path::new(&root).join(IN_REPOSITORY);
        let from = self.notebook_at(&place(home::memory_in(&project)), rules.clone());
        let to = self.notebook_at(&place(folder.clone()), rules);
        let mut moved = Moved { folder, created, moved: Vec::new(), kept_back: Vec::new() };
        for note in from.list()? {
            if move_note(&from, &to, &note.path)? {
                moved.moved.push(note.path);
            } else {
                moved.kept_back.push(note.path);
            }
        }
        // Both share one history: let it end with what is there.
        to.refresh()?;
        Ok(moved)
    }

    fn place(&self, whose: &Whose, purpose: Purpose) -> Result<Place, EngineError> {
        if whose.scope == Scope::Coder {
            return Ok(Place { scope: Scope::Coder, root: self.home.coder(), history: None });
        }
        let root = self.root_of(whose)?;
        // What is refused is refused before the project's folder is made.
        if whose.scope == Scope::Session {
            let session = session_of(whose)?;
            let project = self.project_folder(&root, purpose)?;
            let root = home::session_in(&project, session.as_str()).join("working-memory");
            return Ok(Place { scope: Scope::Session, root, history: None });
        }
        let in_repository = in_repository(Path::new(&root))?;
        let project = self.project_folder(&root, purpose)?;
        Ok(Place {
            scope: Scope::Project,
            root: in_repository.unwrap_or_else(|| home::memory_in(&project)),
            history: Some(home::history_in(&project)),
        })
    }

    fn project_folder(&self, root: &str, purpose: Purpose) -> Result<PathBuf, EngineError> {
        match purpose {
            Purpose::Reading => Ok(self.projects.would_be_folder(root)),
            Purpose::Writing => self.projects.folder(root, self.clock.now()),
        }
    }

    fn root_of(&self, whose: &Whose) -> Result<String, EngineError> {
        let cwd = whose.cwd.as_deref().filter(|cwd| !cwd.is_empty()).ok_or_else(|| {
            ModelError::invalid(
                "cwd",
                "is missing: it says which project's notebook is meant; give it, or use scope coder",
            )
        })?;
        if !Path::new(cwd).is_absolute() {
            let said = tome_model::truncate_to(cwd, 200);
            let problem = format!("{said:?} is not an absolute path");
            return Err(ModelError::invalid("cwd", problem).into());
        }
        Ok(self.projects.root_of(cwd, None))
    }

    fn notebook_at(&self, place: &Place, rules: Rules) -> Notebook {
        let notebook = Notebook::at(place.scope, &place.root, Arc::clone(&self.clock));
        let notebook = notebook.with_rules(rules);
        match &place.history {
            Some(history) => notebook.with_history(history),
            None => notebook,
        }
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        // What is kept only saves time: a panic elsewhere leaves nothing wrong in it.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn is_held(&self) -> bool {
        Arc::strong_count(&self.notebook) > 1
    }
}

fn drop_surplus(kept: &mut Vec<Kept>) {
    let mut surplus = kept.len().saturating_sub(OPEN_MAX);
    kept.retain(|one| {
        let goes = surplus > 0 && !one.is_held();
        surplus -= usize::from(goes);
        !goes
    });
}

fn session_of(whose: &Whose) -> Result<SessionId, EngineError> {
    let session = whose.session.as_deref().ok_or_else(|| {
        ModelError::invalid("session_id", "is missing: it says which session's notebook is meant")
    })?;
    Ok(SessionId::parse(session)?)
}

/// The notebook in a repository, if there is one. Only a real folder is used: through a link, notes
/// would go where nobody who reads the repository expects them.
fn in_repository(root: &Path) -> Result<Option<PathBuf>, EngineError> {
    let folder = root.join(IN_REPOSITORY);
    match std::fs::symlink_metadata(&folder) {
        Ok(found) if found.is_dir() => Ok(Some(folder)),
        Ok(found) => {
            let what = if found.is_symlink() { "a symbolic link" } else { "a file" };
            let what = format!("it is {what}, not a folder: make it a folder or remove it");
            Err(EngineError::file("use", &folder)(std::io::Error::other(what)))
        }
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(EngineError::file("look at", &folder)(error)),
    }
}

fn is_absence(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | InvalidFilename | InvalidInput)
}

/// Makes `.memory/` where it is not. It belongs to the repository, so others may read it.
fn make_in_repository(root: &Path) -> Result<bool, EngineError> {
    if in_repository(root)?.is_some() {
        return Ok(false);
    }
    let folder = root.join(IN_REPOSITORY);
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o755);
    builder.create(&folder).map_err(EngineError::file("create", &folder))?;
    sync_folder(root).map_err(EngineError::file("sync", root))?;
    Ok(true)
}

/// Moves one note: first it is there, then it is gone here, so that there is always one. `false`
/// when it has to stay.
fn move_note(from: &Notebook, to: &Notebook, path: &str) -> Result<bool, EngineError> {
    let by = Author { who: Who::Person, tool: "tome init --in-repo".to_owned() };
    let note = match from.read(path) {
        Ok(note) => note,
        Err(NotebookError::Unreadable { .. }) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    match to.create(&by, path, &note.text) {
        Ok(_) => {}
        Err(NotebookError::Exists(_)) => match to.read(path) {
            Ok(there) if there.text == note.text => {}
            Ok(_) | Err(NotebookError::Unreadable { .. }) => return Ok(false),
            Err(error) => return Err(error.into()),
        },
        // Too large for a tool, by hand fine: it stays where it is.
        Err(NotebookError::Invalid(_)) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    from.delete(&by, path)?;
    Ok(true)
}
