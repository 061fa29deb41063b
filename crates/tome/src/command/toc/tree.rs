//! Prints the contents as an indented list of periods with their sessions and titles.
//!
//! ```text
//!                       sessions
//! 2026                        94  The lexer, its tests and the notebook
//!   November                  31  Unicode identifiers
//!     W46  Nov 9 – 15          6  Unicode identifiers
//!       Sat, Nov 14            2  Fix the unicode identifiers
//!         09:30 – 10:12           Fix the unicode identifiers  codex
//! ```

use std::io::Write;

use tome_proto::v1;
use tome_terminal::{BOLD, DIM, RESET, display_width, format_count, one_line, truncate_end};

use crate::command::screen::Screen;
use crate::command::time_labels::level_depth;

/// Width of the label column.
const LABEL_CHARS: usize = 24;

/// Width of the number of sessions and the gap before it.
const SESSIONS_CHARS: usize = 10;

/// Narrower listings have no numbers of sessions, and no agents.
const SESSIONS_WIDTH_MIN: usize = 70;
const AGENTS_WIDTH_MIN: usize = 100;

/// Width of the name of an agent.
const AGENT_CHARS: usize = 11;

const TITLE_CHARS_MAX: usize = 300;

pub fn print_tree(
    out: &mut dyn Write,
    screen: &Screen,
    entries: &[v1::TocEntry],
) -> std::io::Result<()> {
    if screen.line_width() >= SESSIONS_WIDTH_MIN {
        writeln!(out, "{DIM}{:<LABEL_CHARS$}  {:>8}{RESET}", "", "sessions")?;
    }
    let top = entries.first().map_or(0, |entry| level_depth(&entry.level));
    entries.iter().try_for_each(|entry| print_branch(out, screen, entry, top))
}

/// Returns the latest day, or the latest entry if no days are shown.
pub fn find_latest(entries: &[v1::TocEntry]) -> Option<&v1::TocEntry> {
    let last = entries.last()?;
    if last.level == "day" {
        return Some(last);
    }
    find_latest(&last.entries).or(Some(last))
}

fn print_branch(
    out: &mut dyn Write,
    screen: &Screen,
    entry: &v1::TocEntry,
    top: usize,
) -> std::io::Result<()> {
    let depth = level_depth(&entry.level).saturating_sub(top);
    print_entry(out, screen, entry, depth, false)?;
    let hidden = entry.children.saturating_sub(entry.entries.len() as u64);
    if hidden > 0 && !entry.entries.is_empty() {
        let indent = "  ".repeat(depth + 1);
        writeln!(out, "{indent}{DIM}… {} earlier{RESET}", format_count(hidden))?;
    }
    entry.entries.iter().try_for_each(|below| print_branch(out, screen, below, top))
}

/// Prints an entry; with the short id of a segment if `has_id`, which takes space from the titles.
pub fn print_entry(
    out: &mut dyn Write,
    screen: &Screen,
    entry: &v1::TocEntry,
    depth: usize,
    has_id: bool,
) -> std::io::Result<()> {
    let is_segment = entry.level == "segment";
    let label = format!("{}{}", "  ".repeat(depth), screen.labels.entry_label(entry));
    let width = screen.line_width();
    let mut tail = String::new();
    if is_segment && width >= AGENTS_WIDTH_MIN {
        tail = format!("  {:<AGENT_CHARS$}", one_line(&entry.agents.join(", "), 40));
    }
    if is_segment && has_id {
        tail = format!("{tail}  {}", shorten_node_id(&entry.id));
    }
    // A segment never has more than one.
    let count = if is_segment { String::new() } else { format_count(entry.sessions) };
    let (sessions, left) = if width >= SESSIONS_WIDTH_MIN {
        (format!("  {count:>8}"), LABEL_CHARS + SESSIONS_CHARS)
    } else {
        (String::new(), LABEL_CHARS)
    };
    let room = width.saturating_sub(left + 2 + display_width(&tail));
    let title = truncate_end(&one_line(&entry_title(screen, entry), TITLE_CHARS_MAX), room);
    // Agents and ids stand below each other, unless the output is no terminal.
    let title = match screen.width.is_some() && !tail.is_empty() {
        true => format!("{title}{}", " ".repeat(room.saturating_sub(display_width(&title)))),
        false => title,
    };
    let tail = tail.trim_end();
    let (strong, plain) = if depth == 0 && !is_segment { (BOLD, RESET) } else { ("", "") };
    writeln!(
        out,
        "{strong}{label:<LABEL_CHARS$}{plain}{DIM}{sessions}{RESET}  {title}{DIM}{tail}{RESET}"
    )
}

/// The title; with several projects, one per project.
pub fn entry_title(screen: &Screen, entry: &v1::TocEntry) -> String {
    if entry.shares.len() < 2 {
        return entry.title.clone();
    }
    let each = entry
        .shares
        .iter()
        .map(|share| format!("{}: {}", screen.projects.name(&share.project), share.title));
    each.collect::<Vec<_>>().join(" | ")
}

/// A period as people type it: `2026-11-14` for `toc:day:2026-11-14`; the short id of a segment.
pub fn typed_period(id: &str) -> String {
    match id.splitn(3, ':').collect::<Vec<_>>().as_slice() {
        ["toc", "year" | "month" | "week" | "day", period] => one_line(period, 40),
        _ => shorten_node_id(id),
    }
}

/// Shortens a segment's id to a prefix that is almost always unique: the timestamp part of its ULID and
/// two more characters. Other ids are short.
pub fn shorten_node_id(id: &str) -> String {
    const TIME_CHARS: usize = 10;
    const TELLING_CHARS: usize = 2;
    match id.strip_prefix("toc:segment:").and_then(|rest| rest.rsplit_once(':')) {
        Some((_, ulid)) => ulid.chars().take(TIME_CHARS + TELLING_CHARS).collect(),
        None => id.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_space_of_the_contents_belongs_to_the_titles() {
        let segment = v1::TocEntry {
            id: "toc:segment:2026-11-15:01KH559NJR58S6EB2JK2SJ44MM".to_owned(),
            level: "segment".to_owned(),
            title: "Accept unicode identifiers in the lexer and in the parser, with tests"
                .to_owned(),
            agents: vec!["codex".to_owned()],
            first_at_ms: 1_794_735_000_000,
            last_at_ms: 1_794_737_520_000,
            ..v1::TocEntry::default()
        };
        let shown = |width, has_id| {
            let (mut out, screen) = (Vec::new(), Screen::for_test(0, width));
            print_entry(&mut out, &screen, &segment, 1, has_id).unwrap();
            let text = String::from_utf8(anstream::adapter::strip_bytes(&out).into_vec()).unwrap();
            assert!(display_width(text.trim_end()) <= width, "{text}");
            format!("at {width}:\n{text}")
        };
        let lists = [60, 80, 100, 160].map(|width| shown(width, false)).concat();
        expect_test::expect![[r#"
            at 60:
              09:30 – 10:12           Accept unicode identifiers in the…
            at 80:
              09:30 – 10:12                     Accept unicode identifiers in the lexer and…
            at 100:
              09:30 – 10:12                     Accept unicode identifiers in the lexer and in the…  codex
            at 160:
              09:30 – 10:12                     Accept unicode identifiers in the lexer and in the parser, with tests                                            codex
        "#]].assert_eq(&lists);
        expect_test::expect![[r#"
            at 100:
              09:30 – 10:12                     Accept unicode identifiers in the le…  codex        01KH559NJR58
        "#]].assert_eq(&shown(100, true));
    }
}
