//! The state of the browser. [`Browser::update`] changes it and returns the effects that the event loop
//! carries out; it neither draws nor waits.

use std::time::Duration;

use ratatui::crossterm::event::KeyEvent;
use tome_terminal::Highlighter;

use crate::contents::ContentsWalk;
use crate::filters::{Filters, ProjectRange};
use crate::item::{Item, ListKind, ListPage, ResumeCommand};
use crate::layout::Areas;
use crate::line_editor::LineEditor;
use crate::list::{ITEMS_MAX, ItemList, PAGE_ITEMS};
use crate::preview::Preview;
use crate::source::{BrowseAnswer, ListQuery, Request, RequestKind};
use crate::text::Theme;

/// Agents to filter by, as far as they were seen.
const AGENTS_MAX: usize = 12;
/// A list that is behind is requested again after this time, then after twice as long, and so on.
const REFRESH_DELAY: Duration = Duration::from_millis(500);
const REFRESH_DOUBLINGS_MAX: u32 = 5;

/// How the browser begins.
#[derive(Debug, Clone, Default)]
pub struct BrowserSetup {
    /// The words to search for.
    pub words: String,
    /// The name of the current project, if it is known.
    pub project: Option<String>,
    /// Whether all projects are searched at first.
    pub all_projects: bool,
    /// Whether colors are used.
    pub has_colors: bool,
    /// Columns and rows of the screen.
    pub size: (u16, u16),
}

/// Something that happened.
#[derive(Debug)]
pub enum Input {
    /// A key was pressed.
    Key(KeyEvent),
    /// A text was pasted.
    Paste(String),
    /// The screen has another size.
    Resize(u16, u16),
    /// An answer to a request, or the reason why there is none.
    Answer(Request, Result<BrowseAnswer, String>),
    /// The reader or the editor was closed.
    Returned {
        /// Whether something may have changed.
        is_changed: bool,
    },
    /// The time after which a list that is behind is requested again has passed.
    Refresh,
    /// The process is told to end.
    Stop,
}

/// Something for the event loop to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Send a request.
    Request(Request),
    /// Open an item in the reader.
    Read(Box<Item>),
    /// Open a note in the editor.
    Edit(Box<Item>),
    /// Copy a text to the clipboard of the terminal.
    Copy(String),
    /// End the browser.
    Exit(BrowseExit),
}

/// How the browser ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrowseExit {
    /// The user left.
    Quit,
    /// The user resumes a session.
    Resume {
        /// The command.
        command: ResumeCommand,
        /// Whether to run the command now, or only to print it.
        run_now: bool,
    },
    /// The process was told to end.
    Stopped,
}

/// Where typed letters go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Focus {
    Search,
    List,
}

/// The page behind the list: a search, or a walk through the contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    Search,
    Contents,
}

/// Something drawn over the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Overlay {
    Help,
    Resume(ResumeCommand),
}

/// A message in the footer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

/// Numbers of the latest requests, and of the latest list that was shown.
#[derive(Debug, Clone, Copy, Default)]
struct RequestNumbers {
    last: u64,
    list_requested: u64,
    list_shown: u64,
    contents: u64,
    preview: u64,
    resume: u64,
}

/// The browser.
#[derive(Debug)]
pub struct Browser {
    pub(crate) setup: BrowserSetup,
    pub(crate) search: LineEditor,
    pub(crate) filters: Filters,
    pub(crate) focus: Focus,
    pub(crate) page: Page,
    pub(crate) overlay: Option<Overlay>,
    pub(crate) hits: ItemList,
    pub(crate) kind: ListKind,
    pub(crate) contents: ContentsWalk,
    pub(crate) preview: Preview,
    pub(crate) message: Option<Message>,
    pub(crate) notice: String,
    pub(crate) highlighter: Highlighter,
    /// Agents seen so far.
    pub(crate) agents: Vec<String>,
    limit: usize,
    numbers: RequestNumbers,
    /// Whether an index was being built when the list was answered.
    is_behind: bool,
    /// How often the list was requested again for that reason.
    refreshes: u32,
    /// The query of the list that is shown.
    shown_query: Option<ListQuery>,
}

impl Browser {
    /// Creates a browser, with its first effects.
    pub fn new(setup: BrowserSetup) -> (Self, Vec<Effect>) {
        let all_projects = setup.all_projects || setup.project.is_none();
        let range = if all_projects { ProjectRange::All } else { ProjectRange::Project };
        let mut browser = Self {
            search: LineEditor::new(&setup.words),
            filters: Filters { range, ..Filters::default() },
            setup,
            focus: Focus::Search,
            page: Page::Search,
            overlay: None,
            hits: ItemList::default(),
            kind: ListKind::Sessions,
            contents: ContentsWalk::default(),
            preview: Preview::default(),
            message: None,
            notice: String::new(),
            highlighter: Highlighter::disabled(),
            agents: Vec::new(),
            limit: PAGE_ITEMS,
            numbers: RequestNumbers::default(),
            is_behind: false,
            refreshes: 0,
            shown_query: None,
        };
        let first = browser.request_list();
        (browser, vec![first])
    }

    /// Takes an input and returns what is to be done.
    pub fn update(&mut self, input: Input) -> Vec<Effect> {
        match input {
            Input::Key(key) => {
                self.message = None;
                self.handle_key(key)
            }
            Input::Paste(text) if self.focus == Focus::Search && self.overlay.is_none() => {
                self.search.insert(&text);
                self.search_again()
            }
            Input::Paste(_) => Vec::new(),
            Input::Resize(columns, rows) => {
                self.setup.size = (columns, rows);
                let (rows, chosen) = (self.list_rows(), self.list().chosen);
                self.list_mut().choose(chosen, rows);
                self.choose_preview()
            }
            Input::Answer(request, answer) => self.apply_answer(&request, answer),
            Input::Returned { is_changed } if is_changed => {
                self.refreshes = 0;
                vec![self.request_list()]
            }
            Input::Returned { .. } => Vec::new(),
            Input::Refresh => {
                self.refreshes = self.refreshes.saturating_add(1);
                vec![self.request_list()]
            }
            Input::Stop => vec![Effect::Exit(BrowseExit::Stopped)],
        }
    }

    /// How long to wait for other input before [`Input::Refresh`]; `None` if the list is complete.
    pub fn refresh_delay(&self) -> Option<Duration> {
        let is_due = self.is_behind && self.page == Page::Search && !self.is_searching();
        is_due.then(|| REFRESH_DELAY * 2_u32.pow(self.refreshes.min(REFRESH_DOUBLINGS_MAX)))
    }

    /// Whether the newest list has not arrived yet.
    pub(crate) fn is_searching(&self) -> bool {
        self.numbers.list_requested > self.numbers.list_shown
    }

    pub(crate) fn theme(&self) -> Theme {
        Theme { has_colors: self.setup.has_colors }
    }

    pub(crate) fn list(&self) -> &ItemList {
        match self.page {
            Page::Search => &self.hits,
            Page::Contents => &self.contents.list,
        }
    }

    pub(crate) fn list_mut(&mut self) -> &mut ItemList {
        match self.page {
            Page::Search => &mut self.hits,
            Page::Contents => &mut self.contents.list,
        }
    }

    pub(crate) fn areas(&self) -> Option<Areas> {
        Areas::divide(self.setup.size.0, self.setup.size.1)
    }

    pub(crate) fn list_rows(&self) -> usize {
        self.areas().map_or(1, |areas| usize::from(areas.list.height))
    }

    pub(crate) fn preview_rows(&self) -> usize {
        self.areas().map_or(1, |areas| usize::from(areas.preview.height))
    }

    pub(crate) fn show_message(&mut self, text: impl Into<String>) -> Vec<Effect> {
        self.message = Some(Message { text: text.into(), is_error: false });
        Vec::new()
    }

    fn next_request(&mut self, kind: RequestKind) -> Request {
        self.numbers.last += 1;
        Request { number: self.numbers.last, kind }
    }

    /// Requests the list for the words and filters as they are now.
    pub(crate) fn request_list(&mut self) -> Effect {
        let words = self.search.text().trim().to_owned();
        let query = ListQuery { words, filters: self.filters.clone(), limit: self.limit };
        let request = self.next_request(RequestKind::List(query));
        self.numbers.list_requested = request.number;
        Effect::Request(request)
    }

    /// Requests the list from its beginning, because words or filters have changed.
    pub(crate) fn search_again(&mut self) -> Vec<Effect> {
        self.limit = PAGE_ITEMS;
        self.refreshes = 0;
        vec![self.request_list()]
    }

    /// Opens a node of the contents; the years if it is empty.
    pub(crate) fn request_contents(&mut self, node: String) -> Vec<Effect> {
        let filters = self.filters.clone();
        let request = self.next_request(RequestKind::Contents { filters, node });
        self.numbers.contents = request.number;
        vec![Effect::Request(request)]
    }

    pub(crate) fn request_resume(&mut self, item: Item) -> Vec<Effect> {
        let request = self.next_request(RequestKind::Resume(Box::new(item)));
        self.numbers.resume = request.number;
        vec![Effect::Request(request)]
    }

    /// Moves the choice; requests more items near the end of the list.
    pub(crate) fn move_by(&mut self, step: isize) -> Vec<Effect> {
        let (rows, before) = (self.list_rows(), self.list().chosen);
        self.list_mut().move_by(step, rows);
        if self.list().chosen == before {
            return Vec::new();
        }
        let mut effects = self.choose_preview();
        if self.page == Page::Search && self.hits.wants_more() && !self.is_searching() {
            self.limit = (self.limit * 2).min(ITEMS_MAX);
            effects.push(self.request_list());
        }
        effects
    }

    /// Shows the preview of the chosen item: at once what is known, later the rest.
    pub(crate) fn choose_preview(&mut self) -> Vec<Effect> {
        let Some(item) = self.list().chosen_item().cloned() else {
            self.preview.clear();
            return Vec::new();
        };
        let Some(areas) = self.areas() else { return Vec::new() };
        let width = usize::from(areas.preview.width);
        // A longer preview that is already there stays until the new one comes.
        if self.preview.target.as_ref() != Some(&item.target) {
            self.preview.show(item.target.clone(), item.card.clone());
        }
        self.lay_out_preview();
        let kind = RequestKind::Preview { item: Box::new(item), width };
        let request = self.next_request(kind);
        self.numbers.preview = request.number;
        vec![Effect::Request(request)]
    }

    fn lay_out_preview(&mut self) {
        let Some(areas) = self.areas() else { return };
        let (theme, rows) = (self.theme(), usize::from(areas.preview.height));
        let highlighter = match self.page {
            Page::Search => self.highlighter.clone(),
            Page::Contents => Highlighter::disabled(),
        };
        self.preview.lay_out(usize::from(areas.preview.width), &highlighter, theme);
        self.preview.reveal_match(rows, theme);
    }

    fn apply_answer(
        &mut self,
        request: &Request,
        answer: Result<BrowseAnswer, String>,
    ) -> Vec<Effect> {
        let number = request.number;
        let is_wanted = match request.kind {
            // An answer to an earlier query is shown until the newest one comes.
            RequestKind::List(_) => number > self.numbers.list_shown,
            RequestKind::Contents { .. } => {
                number == self.numbers.contents && self.page == Page::Contents
            }
            RequestKind::Preview { .. } => number == self.numbers.preview,
            RequestKind::Resume(_) => number == self.numbers.resume,
        };
        if !is_wanted {
            return Vec::new();
        }
        if let RequestKind::List(_) = request.kind {
            self.numbers.list_shown = number;
        }
        match (answer, &request.kind) {
            (Ok(BrowseAnswer::List(page)), RequestKind::List(query)) => self.show_list(page, query),
            (Ok(BrowseAnswer::Contents(page)), _) => {
                let rows = self.list_rows();
                self.notice = page.notice.clone();
                match self.contents.show(page, rows) {
                    Some(only) => self.request_contents(only),
                    None => self.choose_preview(),
                }
            }
            (Ok(BrowseAnswer::Preview(text)), RequestKind::Preview { item, .. }) => {
                self.preview.show(item.target.clone(), text);
                self.lay_out_preview();
                Vec::new()
            }
            (Ok(BrowseAnswer::Resume(command)), _) => {
                self.overlay = Some(Overlay::Resume(command));
                Vec::new()
            }
            (Ok(_), _) => Vec::new(),
            (Err(reason), _) => {
                self.message = Some(Message { text: reason, is_error: true });
                Vec::new()
            }
        }
    }

    fn show_list(&mut self, page: ListPage, query: &ListQuery) -> Vec<Effect> {
        self.is_behind = page.is_behind;
        // An item that is no longer found may be back in a moment: an edited note leaves the index until it is read again.
        let is_same = self
            .shown_query
            .as_ref()
            .is_some_and(|shown| shown.words == query.words && shown.filters == query.filters);
        if is_same && page.is_behind && page.items.len() < self.hits.items.len() {
            if self.page == Page::Search {
                self.notice = page.notice;
            }
            return Vec::new();
        }
        self.shown_query = Some(query.clone());
        for item in &page.items {
            let is_new = !item.agent.is_empty() && !self.agents.contains(&item.agent);
            if is_new && self.agents.len() < AGENTS_MAX {
                self.agents.push(item.agent.clone());
            }
        }
        self.agents.sort();
        self.kind = page.kind;
        self.highlighter = Highlighter::from_query(&query.words);
        let rows = self.areas().map_or(1, |areas| usize::from(areas.list.height));
        self.hits.replace(page.items, page.has_more, rows);
        if self.page == Page::Contents {
            return Vec::new();
        }
        self.notice = page.notice;
        self.preview.target = None;
        self.choose_preview()
    }
}

#[cfg(test)]
mod tests;
