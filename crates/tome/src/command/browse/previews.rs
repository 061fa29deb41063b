//! The previews of items, as the commands for them print them.

use tome_browse::{Item, ItemTarget, NotebookScope};
use tome_model::Event;
use tome_proto::v1::open_response::Content;
use tome_proto::{event_from_wire, v1};
use tome_recall::Citation;
use tome_terminal::{BOLD, DIM, RESET};

use super::source::{DaemonSource, Refusal};
use crate::command::turn::{TurnVerbosity, TurnView};
use crate::command::{session_page, toc, turn};

impl DaemonSource {
    /// Renders the preview of an item for a width.
    pub fn render_preview(&self, item: &Item, width: usize) -> Result<String, Refusal> {
        match &item.target {
            ItemTarget::Session(id) => self.preview_session(item, id, width),
            ItemTarget::Event(cited) if Citation::looks_like_citation(cited) => {
                self.preview_event(item, cited, width)
            }
            ItemTarget::Note { scope, session, path, .. } => {
                self.preview_note(item, *scope, session, path)
            }
            ItemTarget::Node(id) => self.preview_node(item, id, width),
            ItemTarget::Event(_) | ItemTarget::Nothing => Ok(item.card.clone()),
        }
    }

    fn preview_session(&self, item: &Item, id: &str, width: usize) -> Result<String, Refusal> {
        let request = v1::GetSessionRequest {
            project: item.project.clone(),
            id: id.to_owned(),
            only_listing: false,
        };
        let page = self.call(async |client| client.get_session(request.clone()).await)?;
        let mut text = Vec::new();
        session_page::print_page(&mut text, &self.screen(width), &page)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// What is known of a hit, then the turn around it, which has its text.
    fn preview_event(&self, item: &Item, cited: &str, width: usize) -> Result<String, Refusal> {
        let request = v1::OpenRequest {
            citation: cited.to_owned(),
            project: item.project.clone(),
            with_turn: true,
            ..v1::OpenRequest::default()
        };
        let mut opened = self.call(async |client| client.open_citation(request.clone()).await)?;
        let (Some(Content::Event(_)), 1..) = (&opened.content, opened.number) else {
            return Ok(item.card.clone());
        };
        let events = std::mem::take(&mut opened.turn).into_iter().map(event_from_wire);
        let events: Result<Vec<Event>, _> = events.collect();
        let events = events.map_err(|error| Refusal(error.to_string()))?;
        let numbered: Vec<(u64, Event)> = opened.turn_numbers.iter().copied().zip(events).collect();
        let head = item.card.split("\n\n").next().unwrap_or_default().trim_end();
        let mut text = format!("{head}\n\n{BOLD}The turn{RESET}\n").into_bytes();
        let screen = self.screen(width);
        let verbosity = TurnVerbosity::Brief;
        let view = TurnView { cited: opened.number, verbosity, words: "", is_verbose: false };
        turn::print_turn(&mut text, &screen, &numbered, view)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn preview_note(
        &self,
        item: &Item,
        scope: NotebookScope,
        session: &str,
        path: &str,
    ) -> Result<String, Refusal> {
        let scope = match scope {
            NotebookScope::Session => "session",
            NotebookScope::Project => "project",
            NotebookScope::Coder => "coder",
        };
        let whose = v1::Whose {
            scope: scope.to_owned(),
            cwd: item.project.clone(),
            session_id: session.to_owned(),
        };
        let request = v1::GetVersionRequest {
            whose: Some(whose),
            path: path.to_owned(),
            version: String::new(),
        };
        let note = self.call(async |client| client.get_note_version(request.clone()).await)?;
        Ok(format!("{BOLD}{path}{RESET}  {DIM}e edits it{RESET}\n\n{}", note.text))
    }

    fn preview_node(&self, item: &Item, id: &str, width: usize) -> Result<String, Refusal> {
        let nodes = self.load_nodes(&item.project, id)?;
        let screen = self.screen(width);
        let mut text = Vec::new();
        for node in &nodes {
            if !text.is_empty() {
                text.push(b'\n');
            }
            toc::print_summary(&mut text, &screen, node)?;
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}
