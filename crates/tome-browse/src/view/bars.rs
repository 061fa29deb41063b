//! The search field, the filters and the footer.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use tome_terminal::{display_width, format_counted, truncate_end, truncate_start};

use super::fit_spans;
use crate::filters::{ProjectRange, ScopeFilter, SpeakerFilter, TimeFilter};
use crate::item::ListKind;
use crate::state::{Browser, Focus, Page};
use crate::text::{clean_line, clean_text};

const PROMPT: &str = "❯ ";
const PLACEHOLDER: &str = "type to search";
/// Keys shown while the search field has the focus, the most important first.
const SEARCH_KEYS: [(&str, &str); 5] = [
    ("Enter", "read"),
    ("Tab", "list and filters"),
    ("Esc", "quit"),
    ("↑↓", "choose"),
    ("Shift-↑↓", "scroll"),
];
/// Keys shown while the list has the focus.
const LIST_KEYS: [(&str, &str); 8] = [
    ("Enter", "read"),
    ("?", "help"),
    ("q", "quit"),
    ("/", "search"),
    ("r", "resume"),
    ("e", "edit"),
    ("t", "contents"),
    ("y", "copy"),
];
/// Keys shown in the contents.
const CONTENTS_KEYS: [(&str, &str); 6] =
    [("→", "open"), ("←", "up"), ("t", "back"), ("?", "help"), ("q", "quit"), ("r", "resume")];

pub(super) fn draw_search(frame: &mut Frame<'_>, area: Rect, browser: &Browser) {
    let theme = browser.theme();
    let width = usize::from(area.width);
    let count = count_label(browser);
    let room = width.saturating_sub(display_width(PROMPT) + display_width(&count) + 3);
    let before = truncate_start(browser.search.before(), room);
    let typed = format!("{before}{}", browser.search.after());
    let is_focused = browser.focus == Focus::Search;
    let mark = if is_focused { theme.accent() } else { theme.dim() };
    let (text, style) = if typed.is_empty() {
        (PLACEHOLDER.to_owned(), theme.dim())
    } else {
        (truncate_end(&typed, room), Style::new())
    };
    let line = Line::from(vec![Span::styled(PROMPT, mark), Span::styled(clean_line(&text), style)]);
    frame.render_widget(line, area);
    draw_right(frame, area, &count, theme.dim());
    if is_focused && browser.overlay.is_none() {
        let column = display_width(PROMPT) + display_width(&before);
        let column = u16::try_from(column).unwrap_or(area.width).min(area.width - 1);
        frame.set_cursor_position(Position::new(area.x + column, area.y));
    }
}

/// The number of items, or that the search is under way.
fn count_label(browser: &Browser) -> String {
    let (count, more) = (browser.hits.items.len(), browser.hits.has_more);
    let (one, many) = match browser.kind {
        ListKind::Sessions => ("session", "sessions"),
        ListKind::Notes => ("note", "notes"),
        ListKind::Hits => ("hit", "hits"),
    };
    match (browser.is_searching(), count, more) {
        (true, _, _) => "searching …".to_owned(),
        (false, 0, _) => String::new(),
        (false, count, true) => format!("{count}+ {many}"),
        (false, count, false) => format_counted(count as u64, one, many),
    }
}

fn draw_right(frame: &mut Frame<'_>, area: Rect, text: &str, style: Style) {
    let width = u16::try_from(display_width(text)).unwrap_or(0).min(area.width);
    let corner = Rect::new(area.right() - width, area.y, width, 1);
    frame.render_widget(Span::styled(text.to_owned(), style), corner);
}

pub(super) fn draw_contents_head(frame: &mut Frame<'_>, area: Rect, browser: &Browser) {
    let theme = browser.theme();
    let period = match browser.contents.period.as_str() {
        "" => "all years".to_owned(),
        period => clean_text(period),
    };
    let parts = [("Contents  ".to_owned(), theme.bold()), (period, theme.accent())];
    frame.render_widget(fit_spans(&parts, usize::from(area.width)), area);
}

/// Draws the filters with their keys; those that are set are bold.
pub(super) fn draw_filters(frame: &mut Frame<'_>, area: Rect, browser: &Browser) {
    let (theme, filters) = (browser.theme(), &browser.filters);
    let range = match (filters.range, &browser.setup.project) {
        (ProjectRange::Project, Some(project)) => clean_text(project),
        _ => "all projects".to_owned(),
    };
    let agent = filters.agent.as_deref().map(clean_text);
    let mut all = vec![("p", range, false)];
    if browser.page == Page::Search {
        let is_agent = agent.is_some();
        all.push(("a", agent.unwrap_or_else(|| "any agent".to_owned()), is_agent));
        let period = filters.period;
        all.push(("w", period.label().to_owned(), period != TimeFilter::Any));
        let scope = filters.scope;
        all.push(("s", scope.label().to_owned(), scope != ScopeFilter::All));
        let speaker = filters.speaker;
        all.push(("u", speaker.label().to_owned(), speaker != SpeakerFilter::Anyone));
    }
    let has_keys = browser.focus == Focus::List;
    let mut parts: Vec<(String, Style)> = Vec::new();
    for (i, (key, label, is_set)) in all.into_iter().enumerate() {
        if i > 0 {
            parts.push(("  ".to_owned(), Style::new()));
        }
        if has_keys {
            parts.push((format!("{key} "), theme.accent()));
        }
        parts.push((label, if is_set { theme.bold() } else { theme.dim() }));
    }
    frame.render_widget(fit_spans(&parts, usize::from(area.width)), area);
}

/// Draws a message, a notice, or the keys that work now.
pub(super) fn draw_footer(frame: &mut Frame<'_>, area: Rect, browser: &Browser) {
    let (theme, width) = (browser.theme(), usize::from(area.width));
    if let Some(message) = &browser.message {
        let (label, style) =
            if message.is_error { ("error: ", theme.error()) } else { ("", Style::new()) };
        let parts = [(label.to_owned(), style), (clean_text(&message.text), Style::new())];
        frame.render_widget(fit_spans(&parts, width), area);
        return;
    }
    let keys: &[(&str, &str)] = match (browser.page, browser.focus) {
        (Page::Contents, _) => &CONTENTS_KEYS,
        (_, Focus::Search) => &SEARCH_KEYS,
        (_, Focus::List) => &LIST_KEYS,
    };
    let notice = clean_text(&browser.notice);
    let room = width.saturating_sub(if notice.is_empty() { 0 } else { display_width(&notice) + 2 });
    let mut parts: Vec<(String, Style)> = Vec::new();
    let mut used = 0;
    for (key, meaning) in keys {
        let gap = if used == 0 { "" } else { " · " };
        let more = display_width(gap) + display_width(key) + 1 + display_width(meaning);
        if used + more > room {
            break;
        }
        used += more;
        parts.push((gap.to_owned(), theme.dim()));
        parts.push(((*key).to_owned(), theme.bold()));
        parts.push((format!(" {meaning}"), theme.dim()));
    }
    frame.render_widget(fit_spans(&parts, width), area);
    draw_right(frame, area, &truncate_end(&notice, width), Style::new());
}
