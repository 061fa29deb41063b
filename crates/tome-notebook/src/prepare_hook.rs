//! The callback of a notebook's owner before the first write to it.

use std::path::Path;
use std::sync::Arc;

use crate::{NotebookError, Result};

/// Runs before the first write to a notebook; does nothing by default.
#[derive(Clone, Default)]
pub(crate) struct BeforeFirstWrite(Option<Arc<Callback>>);

type Callback = dyn Fn() -> std::io::Result<()> + Send + Sync;

impl BeforeFirstWrite {
    pub fn new(callback: impl Fn() -> std::io::Result<()> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(callback)))
    }

    pub fn run(&self, root: &Path) -> Result<()> {
        let ran = self.0.as_ref().map_or(Ok(()), |callback| callback());
        ran.map_err(NotebookError::file_error("prepare", root))
    }
}
