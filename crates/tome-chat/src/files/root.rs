//! The folder to which file tools are confined.
//!
//! A path must be relative to it or absolute below it, without `..`; its links must not lead
//! outside; and it must be a regular file or folder. Tome's home is excluded, because it contains
//! other projects. A home folder, its parents and the file system root are not accepted as
//! projects.

use std::fs::File;
use std::path::{Component, Path, PathBuf};

use tome_engine::quote_text;
use tome_home::{FinalLink, open_regular};
use tome_redact::Redactor;

pub struct ProjectRoot {
    root: PathBuf,
    tome: Option<PathBuf>,
    redactor: Redactor,
}

impl ProjectRoot {
    /// Confines access to the project at `root`. `tome` is Tome's home, `person` the user's home.
    /// The error explains why the folder is not accepted.
    pub fn new(
        root: &Path,
        tome: &Path,
        person: Option<&Path>,
        redactor: Redactor,
    ) -> Result<Self, String> {
        let root = root.canonicalize().map_err(|error| error.to_string())?;
        let person = person.and_then(|person| person.canonicalize().ok());
        let holds_person = person.is_some_and(|person| person.starts_with(&root));
        if holds_person || root.parent().is_none() {
            return Err(format!("{} is not a project folder", root.display()));
        }
        let tome = tome.canonicalize().ok();
        if tome.as_ref().is_some_and(|tome| root.starts_with(tome)) {
            return Err(format!("{} belongs to Tome", root.display()));
        }
        Ok(Self { root, tome, redactor })
    }

    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Resolves a path given by a model. Errors are addressed to the model.
    pub fn resolve_path(&self, given: &str) -> Result<PathBuf, String> {
        let outside = || format!("{given} is outside the project");
        let path = Path::new(given);
        let below = if path.is_absolute() {
            path.strip_prefix(&self.root).map_err(|_| outside())?
        } else {
            path
        };
        let is_plain =
            |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if !below.components().all(is_plain) {
            return Err(outside());
        }
        if below.components().any(|part| part.as_os_str() == ".git") {
            return Err("the .git folder is not accessible".to_owned());
        }
        let real = self.root.join(below).canonicalize();
        let real = real.map_err(|_| format!("{given} does not exist; use list_files"))?;
        if !real.starts_with(&self.root) || self.is_hidden(&real) {
            return Err(outside());
        }
        Ok(real)
    }

    pub fn is_hidden(&self, real: &Path) -> bool {
        let is_tome = self.tome.as_ref().is_some_and(|tome| real.starts_with(tome));
        let below = real.strip_prefix(&self.root).unwrap_or(real);
        is_tome || below.components().any(|part| part.as_os_str() == ".git")
    }

    /// Opens a regular file. `shown` is its name for error messages.
    pub fn open(&self, real: &Path, shown: &str) -> Result<File, String> {
        let file = open_regular(real, FinalLink::Refuse);
        file.map_err(|error| format!("{shown} cannot be read: {error}"))
    }

    /// Returns the path relative to the root.
    pub fn relative_name(&self, real: &Path) -> String {
        real.strip_prefix(&self.root).unwrap_or(real).to_string_lossy().into_owned()
    }

    /// Quotes file content as fenced data, with secrets redacted.
    pub fn quote(&self, from: &str, text: &str) -> String {
        quote_text(from, &self.redactor.redact(text))
    }
}
