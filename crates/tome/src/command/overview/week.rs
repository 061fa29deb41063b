//! The last seven days as a strip of cells.

use std::io::Write;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use tome_model::Millis;
use tome_proto::v1;
use tome_terminal::{BOLD, DIM, GREEN, RESET};

/// Days of the strip.
pub const DAYS: i64 = 7;
/// Columns of a day, and of the labels.
const CELL_COLUMNS: usize = 6;
const LABEL_COLUMNS: usize = 12;
const LABEL: &str = "Last 7 days";
/// Bars, from few events to many.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// One day of the strip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayCell {
    pub name: String,
    pub sessions: u64,
    pub events: u64,
}

/// The last seven days in a time zone, the latest last.
pub fn last_days(now: Millis, zone: &TimeZone) -> Vec<Date> {
    let stamp = i64::try_from(now.0).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    let today = stamp.unwrap_or_default().to_zoned(zone.clone()).date();
    (0..DAYS).rev().filter_map(|days| today.checked_sub(days.days()).ok()).collect()
}

/// Fills the cells of days from the contents.
pub fn fill_cells(days: &[Date], entries: &[v1::TocEntry]) -> Vec<DayCell> {
    let mut cells: Vec<DayCell> = days
        .iter()
        .map(|day| DayCell { name: day.strftime("%a").to_string(), sessions: 0, events: 0 })
        .collect();
    fill(days, entries, &mut cells);
    cells
}

fn fill(days: &[Date], entries: &[v1::TocEntry], cells: &mut [DayCell]) {
    for entry in entries {
        let day = entry.id.strip_prefix("toc:day:").and_then(|day| day.parse::<Date>().ok());
        let index = day.and_then(|day| days.iter().position(|known| *known == day));
        match index.and_then(|index| cells.get_mut(index)) {
            Some(cell) => {
                cell.sessions += entry.sessions;
                cell.events += entry.events;
            }
            None => fill(days, &entry.entries, cells),
        }
    }
}

pub fn print_week(out: &mut dyn Write, cells: &[DayCell]) -> std::io::Result<()> {
    if cells.iter().all(|cell| cell.events == 0) {
        return writeln!(out, "{DIM}Nothing recorded in the last 7 days.{RESET}");
    }
    let most = cells.iter().map(|cell| cell.events).max().unwrap_or(0).max(1);
    let line = |label: &str, texts: Vec<String>| {
        let cells: String = texts.iter().map(|text| format!("{text:>CELL_COLUMNS$}")).collect();
        format!("{label:<LABEL_COLUMNS$}{cells}")
    };
    let bar = |cell: &DayCell| {
        let level = cell.events.saturating_mul(BARS.len() as u64 - 1).div_ceil(most);
        let bar = usize::try_from(level).ok().and_then(|level| BARS.get(level)).unwrap_or(&'█');
        if cell.events == 0 { "·".to_owned() } else { bar.to_string().repeat(3) }
    };
    let count = |cell: &DayCell| match cell.sessions {
        0 => "·".to_owned(),
        number => number.to_string(),
    };
    let names = line("", cells.iter().map(|cell| cell.name.clone()).collect());
    writeln!(out, "{DIM}{names}{RESET}")?;
    let bars = line(LABEL, cells.iter().map(bar).collect());
    let bars = bars.strip_prefix(LABEL).unwrap_or(&bars);
    writeln!(out, "{BOLD}{LABEL}{RESET}{GREEN}{bars}{RESET}")?;
    writeln!(out, "{DIM}{}{RESET}", line("sessions", cells.iter().map(count).collect()))
}
