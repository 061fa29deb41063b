//! Draws the browser.

mod bars;
mod overlay;
mod rows;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::layout::{Areas, too_small};
use crate::state::{Browser, Page};

/// Draws the whole screen.
pub fn draw(frame: &mut Frame<'_>, browser: &Browser) {
    let size = frame.area();
    let Some(areas) = Areas::divide(size.width, size.height) else {
        frame.render_widget(Line::raw(too_small()), Rect { height: size.height.min(1), ..size });
        return;
    };
    match browser.page {
        Page::Search => {
            bars::draw_search(frame, areas.search, browser);
            bars::draw_filters(frame, areas.filters, browser);
        }
        Page::Contents => {
            bars::draw_contents_head(frame, areas.search, browser);
            bars::draw_filters(frame, areas.filters, browser);
        }
    }
    rows::draw_list(frame, areas.list, browser);
    draw_rule(frame, areas, browser);
    draw_preview(frame, areas.preview, browser);
    bars::draw_footer(frame, areas.footer, browser);
    if let Some(overlay) = &browser.overlay {
        overlay::draw_overlay(frame, size, overlay, browser);
    }
}

/// Draws the line between the list and the preview.
fn draw_rule(frame: &mut Frame<'_>, areas: Areas, browser: &Browser) {
    let (rule, dim) = (areas.rule, browser.theme().dim());
    if rule.width == 1 {
        for row in rule.rows() {
            frame.render_widget(Span::styled("│", dim), row);
        }
        return;
    }
    frame.render_widget(Span::styled("─".repeat(usize::from(rule.width)), dim), rule);
}

fn draw_preview(frame: &mut Frame<'_>, area: Rect, browser: &Browser) {
    let preview = &browser.preview;
    let below = preview.lines.len().saturating_sub(preview.first_shown + usize::from(area.height));
    let more = if below > 0 { format!(" {below} more ") } else { String::new() };
    let width = u16::try_from(more.len()).unwrap_or(area.width).min(area.width);
    for (line, row) in preview.lines.iter().skip(preview.first_shown).zip(area.rows()) {
        let room = usize::from(area.width - width);
        if below > 0 && row.bottom() == area.bottom() && line.width() > room {
            let parts: Vec<(String, Style)> =
                line.spans.iter().map(|span| (span.content.to_string(), span.style)).collect();
            frame.render_widget(fit_spans(&parts, room), row);
        } else {
            frame.render_widget(line, row);
        }
    }
    if below > 0 {
        let corner = Rect::new(area.right() - width, area.bottom() - 1, width, 1);
        frame.render_widget(Span::styled(more, browser.theme().dim()), corner);
    }
}

/// A line of parts with their styles, cut to a width.
fn fit_spans(parts: &[(String, Style)], width: usize) -> Line<'static> {
    let mut room = width;
    let mut spans = Vec::new();
    for (text, style) in parts {
        if room == 0 {
            break;
        }
        let text = tome_terminal::truncate_end(text, room);
        room = room.saturating_sub(tome_terminal::display_width(&text));
        spans.push(Span::styled(text, *style));
    }
    Line::from(spans)
}

#[cfg(test)]
mod tests;
