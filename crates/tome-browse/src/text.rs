//! Turns recorded text into lines that can be drawn. Nothing else makes lines, so that no recorded
//! text can control the terminal.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use tome_terminal::{
    BOLD, DIM, GREEN, Highlighter, RED, RESET, YELLOW, display_width, neutralize_controls, one_line,
};

/// Characters of a line of the list.
const LINE_CHARS_MAX: usize = 600;
const PREVIEW_CHARS_MAX: usize = 60_000;
/// Columns of a tab.
const TAB: &str = "    ";

/// Removes everything from a line that could control the terminal; keeps its spaces.
pub(crate) fn clean_line(text: &str) -> String {
    let text: String = text.chars().take(LINE_CHARS_MAX).collect();
    let is_breaking = |c: char| c == '\n' || c == '\t';
    // Escape characters go first, so that no style is left for `neutralize_controls` to keep.
    neutralize_controls(&text.replace('\u{1b}', "\u{fffd}")).replace(is_breaking, " ")
}

/// Makes one clean line of a text.
pub(crate) fn clean_text(text: &str) -> String {
    clean_line(&one_line(text, LINE_CHARS_MAX))
}

/// How things look: with colors or without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Theme {
    pub(crate) has_colors: bool,
}

impl Theme {
    fn color(self, color: Color) -> Style {
        if self.has_colors { Style::new().fg(color) } else { Style::new() }
    }

    /// The style of one of Tome's own escape sequences.
    fn own_style(self, sequence: &str) -> Style {
        match sequence {
            BOLD => Style::new().add_modifier(Modifier::BOLD),
            DIM => self.dim(),
            GREEN => self.color(Color::Green),
            YELLOW => self.color(Color::Yellow),
            RED => self.color(Color::Red),
            _ => Style::new(),
        }
    }

    pub(crate) fn bold(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(crate) fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(crate) fn accent(self) -> Style {
        self.color(Color::Green).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn error(self) -> Style {
        self.color(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// The chosen item.
    pub(crate) fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// A match in the preview; visible without colors too.
    pub(crate) fn found(self) -> Style {
        if self.has_colors {
            Style::new().fg(Color::Black).bg(Color::Yellow)
        } else {
            Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED)
        }
    }
}

/// Renders a text with Tome's own styles as lines of at most `width` columns, with the matches of a
/// query marked.
pub(crate) fn render_preview(
    text: &str,
    width: usize,
    highlighter: &Highlighter,
    theme: Theme,
) -> Vec<Line<'static>> {
    let text: String = text.chars().take(PREVIEW_CHARS_MAX).collect();
    let text = neutralize_controls(&text).replace("\r\n", "\n").replace('\t', TAB);
    let mut style = Style::new();
    let mut lines = Vec::new();
    for line in text.lines() {
        let (chars, styles, last) = split_styles(line, style, theme);
        style = last;
        let marked = highlighter.find_marked(&chars);
        let cells: Vec<(char, Style)> = chars
            .iter()
            .zip(&styles)
            .zip(&marked)
            .map(
                |((c, style), is_marked)| {
                    if *is_marked { (*c, style.patch(theme.found())) } else { (*c, *style) }
                },
            )
            .collect();
        lines.extend(wrap_cells(&cells, width.max(2)).into_iter().map(merge_cells));
    }
    lines
}

/// Renders a line for the list, with the matches in bold.
pub(crate) fn mark_spans(
    text: &str,
    highlighter: &Highlighter,
    theme: Theme,
) -> Vec<Span<'static>> {
    let chars: Vec<char> = text.chars().collect();
    let marked = highlighter.find_marked(&chars);
    let style = |is_marked: &bool| if *is_marked { theme.bold() } else { Style::new() };
    merge_cells(chars.iter().copied().zip(marked.iter().map(style)).collect()).spans
}

/// Splits a line into its characters and their styles.
fn split_styles(line: &str, from: Style, theme: Theme) -> (Vec<char>, Vec<Style>, Style) {
    const OWN: [&str; 6] = [BOLD, DIM, GREEN, YELLOW, RED, RESET];
    let (mut chars, mut styles, mut style) = (Vec::new(), Vec::new(), from);
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let own = OWN.into_iter().find(|own| rest.starts_with(own));
        rest = rest.get(own.map_or(c.len_utf8(), str::len)..).unwrap_or_default();
        match own {
            Some(RESET) => style = Style::new(),
            Some(own) => style = style.patch(theme.own_style(own)),
            None => {
                chars.push(c);
                styles.push(style);
            }
        }
    }
    (chars, styles, style)
}

/// Wraps a line at its spaces; a longer word is broken. The rest of an indented line keeps the
/// indent.
fn wrap_cells(cells: &[(char, Style)], width: usize) -> Vec<Vec<(char, Style)>> {
    let columns = |c: char| display_width(c.encode_utf8(&mut [0; 4]));
    let spaces = cells.iter().take_while(|(c, _)| *c == ' ').count();
    let indent = if spaces * 2 > width { 0 } else { spaces };
    let (mut lines, mut line, mut used) = (Vec::new(), Vec::new(), 0);
    // Place behind the last space of the line.
    let mut split_at = 0;
    for (c, style) in cells {
        if used + columns(*c) > width {
            let rest: Vec<(char, Style)> = match split_at {
                0 => Vec::new(),
                at => line.split_off(at),
            };
            lines.push(std::mem::take(&mut line));
            line = vec![(' ', Style::new()); indent];
            split_at = 0;
            // A space at the break is not needed.
            line.extend(rest);
            used = line.iter().map(|(c, _)| columns(*c)).sum();
            if *c == ' ' && line.len() == indent {
                continue;
            }
        }
        line.push((*c, *style));
        used += columns(*c);
        if *c == ' ' && line.len() > indent {
            split_at = line.len();
        }
    }
    lines.push(line);
    lines
}

/// Joins neighbors of the same style.
fn merge_cells(cells: Vec<(char, Style)>) -> Line<'static> {
    let mut spans: Vec<(String, Style)> = Vec::new();
    for (c, style) in cells {
        match spans.last_mut() {
            Some((text, last)) if *last == style => text.push(c),
            _ => spans.push((c.to_string(), style)),
        }
    }
    spans.into_iter().map(|(text, style)| Span::styled(text, style)).collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Theme = Theme { has_colors: false };

    fn lines(text: &str, width: usize, query: &str) -> Vec<String> {
        let shown = |span: &Span<'_>| {
            if span.style.add_modifier.contains(Modifier::REVERSED) {
                format!("[{}]", span.content)
            } else {
                span.content.to_string()
            }
        };
        render_preview(text, width, &Highlighter::from_query(query), PLAIN)
            .iter()
            .map(|line| line.spans.iter().map(shown).collect())
            .collect()
    }

    #[test]
    fn texts_are_wrapped_and_matches_marked() {
        assert_eq!(lines("fix the lexer now", 9, "lexer"), ["fix the ", "[lexer] now"]);
        assert_eq!(lines("  • one two", 8, ""), ["  • one ", "  two"]);
        assert_eq!(lines("abcdefghij", 4, ""), ["abcd", "efgh", "ij"]);
        assert_eq!(lines("漢字漢字", 5, "漢字"), ["[漢字]", "[漢字]"]);
        assert_eq!(lines("a\tb\n\nc", 20, ""), ["a    b", "", "c"]);
        let styled = format!("{BOLD}one{RESET} two");
        assert_eq!(lines(&styled, 20, "two"), ["one [two]"]);
    }

    #[test]
    fn nothing_recorded_controls_the_terminal() {
        let hostile = "a\u{1b}]52;c;aGk=\u{7}\u{9b}2J\u{202e}b\u{1b}[1mc\r";
        for text in [clean_line(hostile), clean_text(hostile), lines(hostile, 200, "a").concat()] {
            let is_bad = |c: char| c.is_control() || c == '\u{202e}';
            assert!(!text.contains(is_bad), "{text:?}");
        }
    }
}
