//! The list.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use tome_terminal::{display_width, truncate_end};

use crate::filters::{ProjectRange, ScopeFilter};
use crate::item::{Item, ListKind};
use crate::state::{Browser, Page};
use crate::text::{clean_text, mark_spans};

const MARK: &str = "❯ ";
const GAP: usize = 2;
/// Columns of the time and of the speaker at most.
const WHEN_COLUMNS_MAX: usize = 20;
const WHO_COLUMNS_MAX: usize = 12;
const PROJECT_COLUMNS_MAX: usize = 16;
/// Columns that the text keeps before others are shown.
const TEXT_COLUMNS_MIN: usize = 28;

/// Widths of the columns; 0 for one that is left out.
struct Columns {
    when: usize,
    who: usize,
    project: usize,
    text: usize,
}

impl Columns {
    fn fit(items: &[&Item], width: usize, shows_project: bool) -> Self {
        let widest = |value: fn(&Item) -> &str, most: usize| {
            let widths = items.iter().map(|item| display_width(&clean_text(value(item))));
            widths.max().unwrap_or(0).min(most)
        };
        let with_gap = |columns: usize| if columns == 0 { 0 } else { columns + GAP };
        let mut room = width.saturating_sub(display_width(MARK));
        let when = widest(|item| &item.when, WHEN_COLUMNS_MAX);
        room = room.saturating_sub(with_gap(when));
        let mut take = |wanted: usize| {
            if room >= TEXT_COLUMNS_MIN + with_gap(wanted) {
                room -= with_gap(wanted);
                wanted
            } else {
                0
            }
        };
        let who = take(widest(|item| &item.who, WHO_COLUMNS_MAX));
        let project = if shows_project {
            take(widest(|item| &item.project_name, PROJECT_COLUMNS_MAX))
        } else {
            0
        };
        Self { when, who, project, text: room }
    }
}

pub(super) fn draw_list(frame: &mut Frame<'_>, area: Rect, browser: &Browser) {
    let list = browser.list();
    if list.items.is_empty() {
        return draw_nothing(frame, area, browser);
    }
    let rows = usize::from(area.height);
    let shown: Vec<&Item> = list.items.iter().skip(list.first_shown).take(rows).collect();
    let shows_project = browser.filters.range == ProjectRange::All;
    let columns = Columns::fit(&shown, usize::from(area.width), shows_project);
    for ((index, item), row) in (list.first_shown..).zip(shown).zip(area.rows()) {
        let is_chosen = index == list.chosen;
        let mut line = item_line(item, &columns, is_chosen, browser);
        if is_chosen {
            line = line.patch_style(browser.theme().chosen());
        }
        frame.render_widget(line, row);
    }
}

fn item_line(item: &Item, columns: &Columns, is_chosen: bool, browser: &Browser) -> Line<'static> {
    let theme = browser.theme();
    // Dim text is hard to read on the reversed line.
    let dim = if is_chosen { Style::new() } else { theme.dim() };
    let cell = |text: &str, width: usize, style: Style| {
        if width == 0 {
            return Span::default();
        }
        let text = truncate_end(&clean_text(text), width);
        let padding = width + GAP - display_width(&text);
        Span::styled(format!("{text}{}", " ".repeat(padding)), style)
    };
    let mark = if is_chosen { MARK } else { "  " };
    let mut spans = vec![Span::styled(mark, theme.accent())];
    spans.push(cell(&item.when, columns.when, dim));
    spans.push(cell(&item.who, columns.who, Style::new()));
    spans.push(cell(&item.project_name, columns.project, dim));
    let text = truncate_end(&clean_text(&item.text), columns.text);
    let used = display_width(&text);
    match browser.page {
        Page::Search => spans.extend(mark_spans(&text, &browser.highlighter, theme)),
        Page::Contents => spans.push(Span::raw(text)),
    }
    // The chosen line is reversed over its whole width.
    spans.push(Span::raw(" ".repeat(columns.text.saturating_sub(used))));
    Line::from(spans)
}

/// Says why the list is empty.
fn draw_nothing(frame: &mut Frame<'_>, area: Rect, browser: &Browser) {
    let is_search = browser.page == Page::Search;
    if is_search && browser.is_searching() {
        return;
    }
    let filters = &browser.filters;
    let is_filtered = filters.agent.is_some()
        || filters.period != crate::filters::TimeFilter::Any
        || filters.speaker != crate::filters::SpeakerFilter::Anyone
        || filters.scope != ScopeFilter::All;
    let first = match (is_search, browser.kind) {
        (false, _) => "no contents yet",
        (true, ListKind::Sessions) if is_filtered => "no sessions match these filters",
        (true, ListKind::Sessions) => "no sessions yet",
        (true, ListKind::Notes) => "no notes here; type to search",
        (true, ListKind::Hits) => "nothing relevant",
    };
    let mut lines = vec![first.to_owned()];
    if filters.range == ProjectRange::Project {
        lines.push("p in the list searches all projects".to_owned());
    }
    if is_filtered && browser.kind == ListKind::Hits {
        let or = if lines.len() > 1 { "or " } else { "" };
        lines.push(format!("{or}change the filters above"));
    }
    for (line, row) in lines.into_iter().zip(area.rows()) {
        frame.render_widget(Span::styled(format!("  {line}"), browser.theme().dim()), row);
    }
}
