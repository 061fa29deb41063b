//! Boxes over the screen: the help, and the command that resumes a session.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear};
use tome_terminal::{truncate_start, wrap_lines};

use super::fit_spans;
use crate::item::ResumeCommand;
use crate::state::{Browser, Overlay};
use crate::text::{Theme, clean_text};

const BOX_COLUMNS_MAX: u16 = 74;
/// Columns of a key in the help, and of a name in the other box.
const KEY_COLUMNS: usize = 15;
const NAME_COLUMNS: usize = 9;

const HELP: [(&str, &str); 16] = [
    ("type", "search; Tab: to the list and back"),
    ("↑ ↓  PgUp PgDn", "choose; in the list also j k g G"),
    ("Shift-↑↓  J K", "scroll the preview"),
    ("Enter", "read it, at the cited place"),
    ("Esc  q  Ctrl-C", "leave"),
    ("", "in the list (or with Alt):"),
    ("r", "resume the session in its agent"),
    ("e", "edit the note in your editor"),
    ("t", "contents: → opens, ← goes up"),
    ("y", "copy the citation for `tome show`"),
    ("p", "this project or all"),
    ("a", "agent"),
    ("w", "when: today, 7 days, 30 days"),
    ("s", "sessions, notes, lessons, contents"),
    ("u", "user, agent or tools"),
    ("/", "search"),
];

pub(super) fn draw_overlay(
    frame: &mut Frame<'_>,
    screen: Rect,
    overlay: &Overlay,
    browser: &Browser,
) {
    let width = screen.width.saturating_sub(4).min(BOX_COLUMNS_MAX);
    let inner = usize::from(width.saturating_sub(4));
    let theme = browser.theme();
    let (title, lines) = match overlay {
        Overlay::Help => (" Keys ", help_lines(theme, inner)),
        Overlay::Resume(command) => (" Resume ", resume_lines(command, theme, inner)),
    };
    let height = u16::try_from(lines.len() + 2).unwrap_or(screen.height).min(screen.height);
    let area = Rect::new((screen.width - width) / 2, (screen.height - height) / 2, width, height);
    frame.render_widget(Clear, area);
    frame.render_widget(Block::bordered().title(title), area);
    let text = Rect::new(area.x + 2, area.y + 1, width - 4, height.saturating_sub(2));
    for (line, row) in lines.into_iter().zip(text.rows()) {
        frame.render_widget(line, row);
    }
}

fn help_lines(theme: Theme, width: usize) -> Vec<Line<'static>> {
    HELP.iter()
        .map(|(key, meaning)| {
            let key = format!("{key:<KEY_COLUMNS$} ");
            fit_spans(&[(key, theme.bold()), ((*meaning).to_owned(), Style::new())], width)
        })
        .collect()
}

fn resume_lines(command: &ResumeCommand, theme: Theme, width: usize) -> Vec<Line<'static>> {
    let room = width.saturating_sub(NAME_COLUMNS);
    let field = |name: &str, value: String| {
        let name = format!("{name:<NAME_COLUMNS$}");
        fit_spans(&[(name, theme.dim()), (value, Style::new())], width)
    };
    let mut lines = vec![fit_spans(&[(clean_text(&command.title), theme.bold())], width)];
    lines.push(field("folder", truncate_start(&clean_text(&command.folder), room)));
    for (i, part) in wrap_lines(&clean_text(&command.command), room).into_iter().enumerate() {
        lines.push(field(if i == 0 { "command" } else { "" }, part));
    }
    lines.push(Line::default());
    let keys = if command.has_folder {
        "Enter run · p print · Esc back"
    } else {
        "the folder does not exist here · p print · Esc back"
    };
    lines.extend(
        wrap_lines(keys, width).into_iter().map(|line| fit_spans(&[(line, theme.dim())], width)),
    );
    lines
}
