//! The folder that file tools are confined to.
//!
//! A path is relative to it, or absolute below it; it has no `..`; where its links lead is below it
//! too; and it is an ordinary file or folder. Tome's home is no part of it: other projects are in
//! there. A home folder, a folder above it and the root of the machine are no projects.

use std::fs::File;
use std::path::{Component, Path, PathBuf};

use tome_engine::quoted_text;
use tome_home::{FinalLink, open_regular};
use tome_redact::Redactor;

/// A folder to look into.
pub struct Root {
    root: PathBuf,
    tome: Option<PathBuf>,
    redactor: Redactor,
}

impl Root {
    /// Confines to the project at `root`. `tome` is Tome's home, `person` the person's own. The error
    /// says why that is no place to look into.
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
            return Err(format!("{} is no project", root.display()));
        }
        let tome = tome.canonicalize().ok();
        if tome.as_ref().is_some_and(|tome| root.starts_with(tome)) {
            return Err(format!("{} is Tome's own folder", root.display()));
        }
        Ok(Self { root, tome, redactor })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// A path as a model gives it, as a place below the root. Errors are for the model.
    pub fn place(&self, given: &str) -> Result<PathBuf, String> {
        let outside =
            || format!("{given} is outside of the project: only files below it can be looked at");
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
            return Err("what is in .git is not shown".to_owned());
        }
        let real = self.root.join(below).canonicalize();
        let real =
            real.map_err(|_| format!("{given} does not exist; list_files shows what does"))?;
        if !real.starts_with(&self.root) || self.is_hidden(&real) {
            return Err(outside());
        }
        Ok(real)
    }

    /// Whether a place is none to look at.
    pub fn is_hidden(&self, real: &Path) -> bool {
        let is_tome = self.tome.as_ref().is_some_and(|tome| real.starts_with(tome));
        let below = real.strip_prefix(&self.root).unwrap_or(real);
        is_tome || below.components().any(|part| part.as_os_str() == ".git")
    }

    /// An ordinary file, opened. `shown` is what it is called.
    pub fn open(&self, real: &Path, shown: &str) -> Result<File, String> {
        let file = open_regular(real, FinalLink::Refuse);
        file.map_err(|error| format!("{shown} cannot be read: {error}"))
    }

    /// What a place is called: its path below the root.
    pub fn name(&self, real: &Path) -> String {
        real.strip_prefix(&self.root).unwrap_or(real).to_string_lossy().into_owned()
    }

    /// What files say, fenced as data, without secrets.
    pub fn fenced(&self, from: &str, text: &str) -> String {
        quoted_text(from, &self.redactor.redact(text))
    }
}
