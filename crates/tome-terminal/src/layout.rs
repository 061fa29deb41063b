//! Fits texts and tables to the width of the terminal. Widths are columns: a wide character takes
//! two, a combining one none.

use std::io::Write;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::output::known_width;
use crate::render::{DIM, RESET, one_line, replace_control_chars};

/// A column of a table does not shrink below this width.
const COLUMN_MIN: usize = 6;
/// Columns kept of paths before other columns are cut.
const PATH_COLUMNS_MIN: usize = 10;
/// Between the columns of a table, and before the first.
const GAP: usize = 2;
/// Characters of a hanging text.
const HANGING_CHARS_MAX: usize = 2_000;

/// Columns that a text takes on the terminal.
pub fn display_width(text: &str) -> usize {
    text.width()
}

/// Cuts a text at its end to at most `columns`; a cut text ends in `…`.
pub fn truncate_end(text: &str, columns: usize) -> String {
    if display_width(text) <= columns {
        return text.to_owned();
    }
    let kept = take_columns(text.chars(), columns.saturating_sub(1));
    format!("{}…", kept.trim_end())
}

/// Cuts a text at its beginning to at most `columns`: the end of a path says most.
pub fn truncate_start(text: &str, columns: usize) -> String {
    if display_width(text) <= columns {
        return text.to_owned();
    }
    let kept = take_columns(text.chars().rev(), columns.saturating_sub(1));
    format!("…{}", kept.chars().rev().collect::<String>())
}

/// The first characters that fit into `columns`.
fn take_columns(chars: impl Iterator<Item = char>, columns: usize) -> String {
    let mut used = 0;
    chars
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= columns
        })
        .collect()
}

/// Wraps a text at its spaces into lines of at most `columns`. A longer word is broken.
pub fn wrap_lines(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let mut lines: Vec<String> = Vec::new();
    let mut used = 0;
    for mut word in text.split_whitespace() {
        let width = display_width(word);
        match lines.last_mut() {
            Some(line) if used + 1 + width <= columns => {
                line.push(' ');
                line.push_str(word);
                used += 1 + width;
                continue;
            }
            _ => {}
        }
        while display_width(word) > columns {
            let part = take_columns(word.chars(), columns);
            let rest = word.get(part.len()..).unwrap_or_default();
            if part.is_empty() || rest.is_empty() {
                break;
            }
            lines.push(part);
            word = rest;
        }
        used = display_width(word);
        lines.push(word.to_owned());
    }
    lines
}

/// Breaks a line of code into parts of at most `width` columns, between words where it can. What
/// follows the first part is indented by two more columns than the line.
pub fn wrap_code(line: &str, width: usize) -> Vec<String> {
    let line = replace_control_chars(&line.replace('\t', "    "));
    let indent = line.len() - line.trim_start_matches(' ').len();
    let hang = " ".repeat((indent + 2).min(width / 2));
    let (mut parts, mut rest) = (Vec::new(), line.as_str());
    loop {
        let lead = if parts.is_empty() { "" } else { hang.as_str() };
        let room = width.saturating_sub(lead.len()).max(1);
        if display_width(rest) <= room {
            parts.push(format!("{lead}{rest}"));
            return parts;
        }
        let (part, after) = rest.split_at(find_break(rest, room));
        parts.push(format!("{lead}{}", part.trim_end()));
        rest = after.trim_start();
    }
}

/// Where to break a line that is wider than `room`: after the last space or mark in its second half,
/// otherwise where it is full.
fn find_break(line: &str, room: usize) -> usize {
    let (mut used, mut full, mut best) = (0, 0, None);
    for (at, c) in line.char_indices() {
        used += display_width(c.encode_utf8(&mut [0; 4]));
        if used > room && full > 0 {
            break;
        }
        full = at + c.len_utf8();
        let is_end = c == ' ' || ",;({[|&".contains(c);
        if is_end && used * 2 > room {
            best = Some(full);
        }
    }
    best.unwrap_or(full)
}

/// Prints a text as wrapped lines of at most `width` columns: `label` before the first line, `indent`
/// spaces before the others.
pub fn print_hanging(
    out: &mut dyn Write,
    label: &str,
    indent: usize,
    text: &str,
    width: usize,
) -> std::io::Result<()> {
    let room = width.saturating_sub(indent).max(10);
    let rest = " ".repeat(indent);
    let lines = wrap_lines(&one_line(text, HANGING_CHARS_MAX), room);
    if lines.is_empty() {
        return writeln!(out, "{}", label.trim_end());
    }
    for (i, line) in lines.iter().enumerate() {
        writeln!(out, "{}{line}", if i == 0 { label } else { &rest })?;
    }
    Ok(())
}

/// Prints a text in a style as wrapped lines of at most `width` columns; all but the first are
/// indented.
pub fn print_styled(
    out: &mut dyn Write,
    style: &str,
    indent: usize,
    text: &str,
    width: usize,
) -> std::io::Result<()> {
    let rest = " ".repeat(indent);
    let lines =
        wrap_lines(&one_line(text, HANGING_CHARS_MAX), width.saturating_sub(indent).max(10));
    for (i, line) in lines.iter().enumerate() {
        let pad = if i == 0 { "" } else { &rest };
        writeln!(out, "{pad}{style}{line}{RESET}")?;
    }
    Ok(())
}

/// Prints a table with column widths fitted to the cells. Headers that start with `>` are
/// right-aligned. On a terminal, paths and then the widest column are cut until the table fits; numbers
/// never are.
pub fn print_table(
    out: &mut dyn Write,
    heads: &[&str],
    rows: &[Vec<String>],
) -> std::io::Result<()> {
    print_table_within(out, heads, rows, known_width())
}

/// Prints a table as [`print_table`] does, in at most `width` columns if that is known.
pub fn print_table_within(
    out: &mut dyn Write,
    heads: &[&str],
    rows: &[Vec<String>],
    width: Option<usize>,
) -> std::io::Result<()> {
    let head = |column: usize| heads.get(column).map_or("", |head| head.trim_start_matches('>'));
    let is_right = |column: usize| heads.get(column).is_some_and(|head| head.starts_with('>'));
    let fitted = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| display_width(cell));
        cells.chain([display_width(head(column))]).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..heads.len()).map(fitted).collect();
    if let Some(columns) = width {
        let is_path =
            |column: usize| rows.iter().filter_map(|row| row.get(column)).all(|cell| is_path(cell));
        // People type names, and recognize a path by its end.
        let paths = |column: usize, width: usize| is_path(column) && width > PATH_COLUMNS_MIN;
        shrink_widest(&mut widths, columns, &paths);
        let texts = |column: usize, width: usize| !is_right(column) && width > COLUMN_MIN;
        shrink_widest(&mut widths, columns, &texts);
    }
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut line = " ".repeat(GAP);
        for (column, cell) in cells.enumerate() {
            let width = widths.get(column).copied().unwrap_or(0);
            let cell = fit_cell(cell, width);
            let padding = " ".repeat(width.saturating_sub(display_width(&cell)));
            line.push_str(&if is_right(column) { padding + &cell } else { cell + &padding });
            line.push_str(&" ".repeat(GAP));
        }
        line.trim_end().to_owned()
    };
    writeln!(out, "{DIM}{}{RESET}", line(&mut (0..heads.len()).map(head)))?;
    for row in rows {
        writeln!(out, "{}", line(&mut row.iter().map(String::as_str)))?;
    }
    Ok(())
}

/// Takes columns from the widest of the cells that may shrink, until a row fits.
fn shrink_widest(widths: &mut [usize], columns: usize, may_shrink: &dyn Fn(usize, usize) -> bool) {
    let total = |widths: &[usize]| widths.iter().map(|width| width + GAP).sum::<usize>();
    while total(widths) > columns {
        let widest = widths
            .iter_mut()
            .enumerate()
            .filter(|(column, width)| may_shrink(*column, **width))
            .max_by_key(|(_, width)| **width);
        match widest {
            Some((_, width)) => *width -= 1,
            None => return,
        }
    }
}

fn is_path(cell: &str) -> bool {
    cell.starts_with(['/', '~'])
}

fn fit_cell(cell: &str, width: usize) -> String {
    // A cell that is cut at its beginning is not cut at both ends.
    let keeps_end = is_path(cell) || cell.starts_with('…');
    if keeps_end { truncate_start(cell, width) } else { truncate_end(cell, width) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_broken_between_words() {
        let line = "    func read(name string, limit int) (string, error) {";
        assert_eq!(
            wrap_code(line, 30),
            ["    func read(name string,", "      limit int) (string,", "      error) {"]
        );
        assert_eq!(wrap_code("abcdefghij", 4), ["abcd", "  ef", "  gh", "  ij"]);
        assert_eq!(wrap_code("", 4), [""]);
    }

    #[test]
    fn texts_are_cut_by_columns() {
        assert_eq!(truncate_end("hello world", 20), "hello world");
        assert_eq!(truncate_end("hello world", 7), "hello…");
        assert_eq!(truncate_end("漢字漢字", 5), "漢字…");
        assert_eq!(truncate_start("/home/dev/app", 8), "…dev/app");
    }

    #[test]
    fn long_words_are_broken() {
        assert_eq!(wrap_lines("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap_lines("a abcdefgh b", 4), ["a", "abcd", "efgh", "b"]);
        assert_eq!(wrap_lines("漢字漢字", 5), ["漢字", "漢字"]);
    }

    #[test]
    fn the_widest_column_shrinks_first() {
        let mut widths = [10, 40, 20, 7];
        shrink_widest(&mut widths, 60, &|column, _| column != 3);
        assert_eq!(widths, [10, 18, 17, 7]);
        let mut widths = [10, 40];
        shrink_widest(&mut widths, 5, &|_, width| width > 3);
        assert_eq!(widths, [3, 3]);
    }

    #[test]
    fn paths_are_cut_before_names() {
        let row = ["cli-completion-updater", "/home/someone/src/cli-completion-updater"];
        let mut out = Vec::new();
        print_table_within(
            &mut out,
            &["project", "folder"],
            &[row.map(str::to_owned).to_vec()],
            Some(40),
        )
        .unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("cli-completion-updater  …"), "{text}");
        assert!(text.lines().all(|line| display_width(&strip(line)) <= 40), "{text}");
    }

    #[test]
    fn a_cell_is_cut_at_one_end() {
        assert_eq!(fit_cell("…-completion-updater", 10), "…n-updater");
        assert_eq!(fit_cell("completion-updater", 10), "completio…");
    }

    fn strip(line: &str) -> String {
        line.replace(DIM, "").replace(RESET, "")
    }

    #[test]
    fn a_hanging_text_keeps_its_indent() {
        let mut out = Vec::new();
        print_hanging(&mut out, "  • ", 4, "one two three four", 14).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "  • one two\n    three four\n");
    }
}
