//! Which notebook is meant: the session's, the project's or the coder's, and where it lies.

use std::sync::Arc;

use tome_model::{Clock, Scope};
use tome_notebook::{Notebook, Rules};

use crate::{EngineError, Home, Projects};

/// The notebooks of one home. They are opened when they are needed.
#[allow(dead_code)]
pub struct Notebooks {
    home: Home,
    projects: Arc<Projects>,
    rules: Rules,
    clock: Arc<dyn Clock>,
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

#[allow(unused_variables, clippy::todo)]
impl Notebooks {
    /// The notebooks of a home.
    pub fn new(home: Home, projects: Arc<Projects>, rules: Rules, clock: Arc<dyn Clock>) -> Self {
        Self { home, projects, rules, clock }
    }

    /// Opens a notebook.
    pub fn open(&self, whose: &Whose, purpose: Purpose) -> Result<Arc<Notebook>, EngineError> {
        todo!()
    }

    /// Makes `.memory/` in the project's repository and moves the project's notes into it.
    pub fn move_into_repository(&self, cwd: &str) -> Result<Moved, EngineError> {
        todo!()
    }

    /// Closes the notebooks that nobody has used for a while.
    pub fn close_idle(&self, idle_ms: u64) -> usize {
        0
    }

    /// Every notebook that is open now.
    pub fn open_now(&self) -> Vec<Arc<Notebook>> {
        todo!()
    }
}

/// What `move_into_repository` did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The folder that is used from now on.
    pub folder: std::path::PathBuf,
    /// Whether it was made now.
    pub created: bool,
    /// Notes that were moved there.
    pub moved: Vec<String>,
    /// Notes that stayed because others of the same name, with other content, are there.
    pub kept_back: Vec<String>,
}
