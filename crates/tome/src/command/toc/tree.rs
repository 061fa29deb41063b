//! Prints the calendar as an indented list of periods with event counts, tokens and titles.
//!
//! ```text
//!                         events  tokens
//! 2026                     1,204    310k  The lexer, its tests and the notebook
//!   November                 804    120k  Unicode identifiers
//!     W46  Nov 9 – 15        120     41k  Unicode identifiers
//!       Sat, Nov 14           12    3.2k  Fix the unicode identifiers
//!         09:30 – 10:12        8    1.9k  Fix the unicode identifiers  codex  toc:segment:…
//! ```

use std::io::Write;
use std::path::Path;

use tome_proto::v1;
use tome_terminal::{BOLD, DIM, RESET, format_count, format_tokens, one_line, terminal_width};

use super::labels::{self, TimeLabels};

/// Width of the label column.
const LABEL_CHARS: usize = 24;

/// Width of everything before the title: label, events, tokens and gaps.
const LEFT_CHARS: usize = LABEL_CHARS + 20;

const TITLE_CHARS_MIN: usize = 30;

pub fn print_tree(
    out: &mut dyn Write,
    labels: &TimeLabels,
    entries: &[v1::TocEntry],
) -> std::io::Result<()> {
    writeln!(out, "{DIM}{:<LABEL_CHARS$}  {:>7}  {:>6}{RESET}", "", "events", "tokens")?;
    let top = entries.first().map_or(0, |entry| labels::level_depth(&entry.level));
    entries.iter().try_for_each(|entry| print_branch(out, labels, entry, top))
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
    labels: &TimeLabels,
    entry: &v1::TocEntry,
    top: usize,
) -> std::io::Result<()> {
    let depth = labels::level_depth(&entry.level).saturating_sub(top);
    print_entry(out, labels, entry, depth)?;
    let hidden = entry.children.saturating_sub(entry.entries.len() as u64);
    if hidden > 0 && !entry.entries.is_empty() {
        let indent = "  ".repeat(depth + 1);
        writeln!(out, "{indent}{DIM}… {} earlier{RESET}", format_count(hidden))?;
    }
    entry.entries.iter().try_for_each(|below| print_branch(out, labels, below, top))
}

pub fn print_entry(
    out: &mut dyn Write,
    labels: &TimeLabels,
    entry: &v1::TocEntry,
    depth: usize,
) -> std::io::Result<()> {
    let is_segment = entry.level == "segment";
    let label = format!("{}{}", "  ".repeat(depth), labels.entry_label(entry));
    let (events, size) = (format_count(entry.events), format_tokens(entry.tokens));
    let mut tail = String::new();
    if is_segment {
        tail = format!("  {}  {}", entry.agents.join(", "), shorten_segment_id(&entry.id));
    }
    let room = terminal_width().saturating_sub(LEFT_CHARS + tail.chars().count());
    let title = one_line(&entry_title(entry), room.max(TITLE_CHARS_MIN));
    let (strong, plain) = if depth == 0 && !is_segment { (BOLD, RESET) } else { ("", "") };
    writeln!(
        out,
        "{strong}{label:<LABEL_CHARS$}{plain}  {events:>7}  {DIM}{size:>6}{RESET}  {title}{DIM}{tail}{RESET}"
    )
}

/// The title; with several projects, one per project.
fn entry_title(entry: &v1::TocEntry) -> String {
    if entry.shares.len() < 2 {
        return entry.title.clone();
    }
    let each = entry.shares.iter().map(|share| {
        let root = Path::new(&share.project);
        let name =
            root.file_name().map_or(share.project.as_str().into(), |name| name.to_string_lossy());
        format!("{name}: {}", share.title)
    });
    each.collect::<Vec<_>>().join(" | ")
}

/// Shortens a segment's id to a prefix that is almost always unique: the timestamp part of the ULID and
/// two more characters.
fn shorten_segment_id(id: &str) -> String {
    const TIME_CHARS: usize = 10;
    const TELLING_CHARS: usize = 2;
    match id.rsplit_once(':') {
        Some((day, ulid)) => {
            let some: String = ulid.chars().take(TIME_CHARS + TELLING_CHARS).collect();
            format!("{day}:{some}")
        }
        None => id.to_owned(),
    }
}
