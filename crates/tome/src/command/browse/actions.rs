//! Opens the reader and the editor. Errors are reported on the plain screen, until the user goes
//! back.

use anyhow::Result;
use tome_browse::{BrowseActions, Item, ItemTarget, NotebookScope};

use crate::cli::memory::{NotebookArgs, ScopeName};
use crate::command::notebook_client::NotebookCommands;
use crate::command::{CommandContext, memory, read, report_error};

pub struct TerminalActions<'a> {
    pub context: &'a CommandContext,
}

impl TerminalActions<'_> {
    /// The notebook of a note, and the path of the note.
    fn find_note<'i>(
        &self,
        item: &'i Item,
        command: &str,
    ) -> Result<Option<(NotebookCommands<'_>, &'i str, u32)>> {
        let ItemTarget::Note { scope, session, path, line } = &item.target else {
            return Ok(None);
        };
        let scope = match scope {
            NotebookScope::Session => ScopeName::Session,
            NotebookScope::Project => ScopeName::Project,
            NotebookScope::Coder => ScopeName::Coder,
        };
        let non_empty = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let notebook = NotebookArgs {
            scope: Some(scope),
            session: non_empty(session),
            project: non_empty(&item.project).map(Into::into),
        };
        Ok(Some((NotebookCommands::new(self.context, &notebook, command)?, path, *line)))
    }

    fn open(&self, item: &Item) -> Result<()> {
        match &item.target {
            ItemTarget::Session(id) => read::open_until_closed(self.context, id, &item.project),
            ItemTarget::Event(cited) => read::open_until_closed(self.context, cited, &item.project),
            _ => match self.find_note(item, "tome memory read")? {
                Some((notes, path, line)) => {
                    read::open_text_until_closed(&memory::load_note(&notes, path)?, line)
                }
                None => Ok(()),
            },
        }
    }

    fn edit_note(&self, item: &Item) -> Result<()> {
        if let Some((notes, path, _)) = self.find_note(item, "tome memory edit")? {
            memory::edit_note(&notes, path)?;
        }
        Ok(())
    }

    fn report(&self, done: Result<()>) {
        if let Err(error) = done {
            let _ = report_error(&error, false);
            // Without a keyboard there is nothing to wait for.
            let _ = read::wait_for_enter();
        }
    }
}

impl BrowseActions for TerminalActions<'_> {
    fn read(&mut self, item: &Item) {
        self.report(self.open(item));
    }

    fn edit(&mut self, item: &Item) {
        self.report(self.edit_note(item));
    }
}
