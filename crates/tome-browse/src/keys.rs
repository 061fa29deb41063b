//! The keys. In the search field letters are typed; in the list they act. Tab goes from one to the
//! other, and Alt with a letter acts from the search field.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::filters::{ProjectRange, next_agent};
use crate::item::ItemTarget;
use crate::state::{BrowseExit, Browser, Effect, Focus, Overlay, Page};

/// Lines of the preview that a key scrolls by.
const SCROLL_LINES: isize = 3;

impl Browser {
    pub(crate) fn handle_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        let has = |modifier| key.modifiers.contains(modifier);
        if key.kind == KeyEventKind::Release {
            return Vec::new();
        }
        if has(KeyModifiers::CONTROL) && matches!(key.code, KeyCode::Char('c' | 'd')) {
            return vec![Effect::Exit(BrowseExit::Quit)];
        }
        if let Some(overlay) = self.overlay.clone() {
            return self.handle_overlay_key(&overlay, key.code);
        }
        if let Some(effects) = self.handle_common_key(key) {
            return effects;
        }
        match (self.page, self.focus, key.code) {
            (Page::Contents, _, code) => self.handle_contents_key(code),
            (_, Focus::Search, KeyCode::Char(letter)) if has(KeyModifiers::ALT) => {
                self.handle_list_letter(letter)
            }
            (_, Focus::Search, code) => self.handle_search_key(code, has(KeyModifiers::CONTROL)),
            (_, Focus::List, KeyCode::Char(letter)) => self.handle_list_letter(letter),
            (_, Focus::List, KeyCode::Esc) => vec![Effect::Exit(BrowseExit::Quit)],
            (_, Focus::List, KeyCode::Home) => self.move_by(isize::MIN),
            (_, Focus::List, KeyCode::End) => self.move_by(isize::MAX),
            _ => Vec::new(),
        }
    }

    /// Keys that do the same everywhere.
    fn handle_common_key(&mut self, key: KeyEvent) -> Option<Vec<Effect>> {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        let is_shift = key.modifiers.contains(KeyModifiers::SHIFT);
        let rows = self.list_rows() as isize;
        Some(match key.code {
            KeyCode::Up if is_shift => self.scroll_preview(-SCROLL_LINES),
            KeyCode::Down if is_shift => self.scroll_preview(SCROLL_LINES),
            KeyCode::Up => self.move_by(-1),
            KeyCode::Down => self.move_by(1),
            KeyCode::Char('p') if is_control => self.move_by(-1),
            KeyCode::Char('n') if is_control => self.move_by(1),
            KeyCode::PageUp => self.move_by(-rows),
            KeyCode::PageDown => self.move_by(rows),
            KeyCode::Enter => self.open_chosen(),
            KeyCode::Tab | KeyCode::BackTab if self.page == Page::Search => {
                self.focus = match self.focus {
                    Focus::Search => Focus::List,
                    Focus::List => Focus::Search,
                };
                Vec::new()
            }
            _ => return None,
        })
    }

    fn handle_search_key(&mut self, code: KeyCode, is_control: bool) -> Vec<Effect> {
        let before = self.search.text();
        match code {
            KeyCode::Esc => return vec![Effect::Exit(BrowseExit::Quit)],
            KeyCode::Char('u') if is_control => self.search.clear(),
            KeyCode::Char('w') if is_control => self.search.delete_word(),
            KeyCode::Char('a') if is_control => self.search.move_home(),
            KeyCode::Char('e') if is_control => self.search.move_end(),
            KeyCode::Char('h') if is_control => self.search.delete_before(),
            KeyCode::Char(_) if is_control => {}
            KeyCode::Char(letter) => self.search.insert(letter.encode_utf8(&mut [0; 4])),
            KeyCode::Backspace => self.search.delete_before(),
            KeyCode::Delete => self.search.delete_after(),
            KeyCode::Left => self.search.move_left(),
            KeyCode::Right => self.search.move_right(),
            KeyCode::Home => self.search.move_home(),
            KeyCode::End => self.search.move_end(),
            _ => {}
        }
        let is_same = before.trim() == self.search.text().trim();
        if is_same { Vec::new() } else { self.search_again() }
    }

    /// A letter that acts on the chosen item, or changes a filter.
    fn handle_list_letter(&mut self, letter: char) -> Vec<Effect> {
        match letter {
            'j' => self.move_by(1),
            'k' => self.move_by(-1),
            'g' => self.move_by(isize::MIN),
            'G' => self.move_by(isize::MAX),
            't' => self.open_contents(""),
            '/' | 'i' => {
                self.focus = Focus::Search;
                Vec::new()
            }
            'p' if self.setup.project.is_none() => {
                self.show_message("this folder belongs to no project, so all are searched")
            }
            'p' => {
                self.toggle_range();
                self.search_again()
            }
            'a' if self.agents.is_empty() => self.show_message("no sessions of any agent yet"),
            'a' => {
                let next = next_agent(&self.agents, self.filters.agent.as_deref());
                self.filters.agent = next;
                self.search_again()
            }
            'w' => {
                self.filters.period = self.filters.period.next();
                self.search_again()
            }
            's' => {
                self.filters.scope = self.filters.scope.next();
                self.search_again()
            }
            'u' => {
                self.filters.speaker = self.filters.speaker.next();
                self.search_again()
            }
            letter => self.handle_item_letter(letter),
        }
    }

    /// Letters that act on the chosen item, in the list and in the contents.
    fn handle_item_letter(&mut self, letter: char) -> Vec<Effect> {
        match letter {
            'q' => vec![Effect::Exit(BrowseExit::Quit)],
            'J' => self.scroll_preview(SCROLL_LINES),
            'K' => self.scroll_preview(-SCROLL_LINES),
            'r' => self.resume_chosen(),
            'e' => self.edit_chosen(),
            'y' => self.copy_chosen(),
            '?' => {
                self.overlay = Some(Overlay::Help);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn handle_contents_key(&mut self, code: KeyCode) -> Vec<Effect> {
        match code {
            KeyCode::Esc | KeyCode::Char('t') => {
                self.page = Page::Search;
                self.notice.clear();
                self.choose_preview()
            }
            KeyCode::Right | KeyCode::Char('l') => self.open_chosen(),
            KeyCode::Left | KeyCode::Backspace | KeyCode::Char('h') => {
                match self.contents.go_up() {
                    Some(parent) => self.request_contents(parent),
                    None => Vec::new(),
                }
            }
            KeyCode::Char('j') => self.move_by(1),
            KeyCode::Char('k') => self.move_by(-1),
            KeyCode::Home | KeyCode::Char('g') => self.move_by(isize::MIN),
            KeyCode::End | KeyCode::Char('G') => self.move_by(isize::MAX),
            KeyCode::Char('p') if self.setup.project.is_some() => {
                self.toggle_range();
                let mut effects = self.search_again();
                effects.extend(self.open_contents(""));
                effects
            }
            KeyCode::Char('/') => {
                self.page = Page::Search;
                self.focus = Focus::Search;
                self.notice.clear();
                self.choose_preview()
            }
            KeyCode::Char(letter) => self.handle_item_letter(letter),
            _ => Vec::new(),
        }
    }

    fn handle_overlay_key(&mut self, overlay: &Overlay, code: KeyCode) -> Vec<Effect> {
        let exit = |command: &crate::item::ResumeCommand, run_now| {
            vec![Effect::Exit(BrowseExit::Resume { command: command.clone(), run_now })]
        };
        match (overlay, code) {
            (Overlay::Resume(command), KeyCode::Enter) if command.has_folder => exit(command, true),
            (Overlay::Resume(_), KeyCode::Enter) => {
                self.show_message("its folder does not exist here")
            }
            (Overlay::Resume(command), KeyCode::Char('p')) => exit(command, false),
            // Any key closes the help.
            (Overlay::Help, _) | (_, KeyCode::Esc | KeyCode::Char('q' | 'r')) => {
                self.overlay = None;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn toggle_range(&mut self) {
        self.filters.range = match self.filters.range {
            ProjectRange::Project => ProjectRange::All,
            ProjectRange::All => ProjectRange::Project,
        };
    }

    fn scroll_preview(&mut self, step: isize) -> Vec<Effect> {
        let rows = self.preview_rows();
        self.preview.scroll_by(step, rows);
        Vec::new()
    }

    /// Shows the contents from a node on; from the years if it is empty.
    fn open_contents(&mut self, node: &str) -> Vec<Effect> {
        self.page = Page::Contents;
        self.focus = Focus::List;
        self.preview.clear();
        let node = self.contents.begin(node);
        self.request_contents(node)
    }

    fn open_chosen(&mut self) -> Vec<Effect> {
        let Some(item) = self.list().chosen_item().cloned() else { return Vec::new() };
        match (&item.target, self.page) {
            (ItemTarget::Node(node), Page::Contents) => self.request_contents(node.clone()),
            (ItemTarget::Node(node), Page::Search) => self.open_contents(&node.clone()),
            (ItemTarget::Nothing, _) => self.show_message("no event supports this line"),
            _ => vec![Effect::Read(Box::new(item))],
        }
    }

    fn resume_chosen(&mut self) -> Vec<Effect> {
        match self.list().chosen_item().cloned() {
            Some(item) if !item.session.is_empty() => self.request_resume(item),
            Some(_) => self.show_message("this belongs to no session that could be resumed"),
            None => Vec::new(),
        }
    }

    fn edit_chosen(&mut self) -> Vec<Effect> {
        match self.list().chosen_item().cloned() {
            Some(item) if matches!(item.target, ItemTarget::Note { .. }) => {
                vec![Effect::Edit(Box::new(item))]
            }
            Some(_) => self.show_message("only notes can be edited; s lists them"),
            None => Vec::new(),
        }
    }

    fn copy_chosen(&mut self) -> Vec<Effect> {
        match self.list().chosen_item().map(|item| item.citation.clone()) {
            Some(citation) if !citation.is_empty() => {
                self.show_message(format!("copied {citation}, if the terminal allows it"));
                vec![Effect::Copy(citation)]
            }
            _ => Vec::new(),
        }
    }
}
