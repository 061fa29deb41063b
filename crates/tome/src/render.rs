//! What a person sees: times, sizes, counts, one-line texts, tables.

use std::io::Write;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;
use tome_model::{Event, Millis};
use tome_text::{collapse_whitespace, truncate_chars};

/// Strong text.
pub const BOLD: &str = "\x1b[1m";
/// Text that steps back.
pub const DIM: &str = "\x1b[2m";
/// Good.
pub const GREEN: &str = "\x1b[32m";
/// Worth a look.
pub const YELLOW: &str = "\x1b[33m";
/// Bad.
pub const RED: &str = "\x1b[31m";
/// Back to plain.
pub const PLAIN: &str = "\x1b[0m";

/// How long ago a moment is, in words. The future is said as such: clocks differ.
pub fn ago(now: Millis, then: Millis) -> String {
    if then > now {
        return if now.distance_ms(then) < 2_000 {
            "now".into()
        } else {
            format!("in {}", span(now.distance_ms(then)))
        };
    }
    match now.distance_ms(then) {
        0..1_000 => "now".into(),
        ms => format!("{} ago", span(ms)),
    }
}

/// A length of time, in its largest unit.
pub fn span(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0 => format!("{ms} ms"),
        1..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// A size, in the unit people use for it.
pub fn bytes(size: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let (mut value, mut unit) = (size as f64, 0);
    while value >= 1_000.0 && unit + 1 < units.len() {
        value /= 1_000.0;
        unit += 1;
    }
    let name = units.get(unit).copied().unwrap_or("B");
    if unit == 0 || value >= 100.0 {
        format!("{value:.0} {name}")
    } else {
        format!("{value:.1} {name}")
    }
}

/// A count with its thousands apart.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// A count of tokens in few characters; it is an estimate anyway.
pub fn tokens(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..10_000 => format!("{:.1}k", number as f64 / 1_000.0),
        10_000..1_000_000 => format!("{}k", number / 1_000),
        1_000_000..10_000_000 => format!("{:.1}M", number as f64 / 1_000_000.0),
        _ => format!("{}M", number / 1_000_000),
    }
}

/// How many characters fit on a line.
pub fn terminal_width() -> usize {
    terminal_size::terminal_size()
        .map_or(160, |(terminal_size::Width(columns), _)| usize::from(columns))
}

/// A moment in the system's time zone.
pub fn local(at: Millis) -> String {
    let stamp = i64::try_from(at.0).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    match stamp {
        Some(stamp) => stamp.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        None => at.to_string(),
    }
}

/// A text on one line of at most so many characters, with `…` where it was cut.
pub fn one_line(text: &str, chars_max: usize) -> String {
    safe(&truncate_chars(&collapse_whitespace(text), chars_max))
}

/// A text without the control characters that could steer a terminal.
pub fn safe(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c })
        .collect()
}

/// What an event says, in a few words.
pub fn gist(event: &Event) -> String {
    if let Some(tool) = &event.tool {
        let input = plain(&tool.input);
        let output = plain(&tool.output);
        let arrow = if output.is_empty() { "" } else { " → " };
        return format!("{} {input}{arrow}{output}", tool.name);
    }
    if !event.text.is_empty() {
        return event.text.clone();
    }
    let meta = ["reason", "source", "trigger", "event", "subagent_type"];
    meta.iter().find_map(|name| event.meta.get(*name)).map(plain).unwrap_or_default()
}

/// The words of a JSON value: the one telling string of a small object, else all of it.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Object(map) => {
            let telling = [
                "command",
                "stdout",
                "file_path",
                "path",
                "query",
                "pattern",
                "content",
                "text",
                "output",
            ];
            let found = telling
                .iter()
                .filter_map(|name| map.get(*name)?.as_str())
                .find(|text| !text.is_empty());
            found.map_or_else(|| value.to_string(), str::to_owned)
        }
        Value::Array(_) | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// A table whose columns are as wide as what is in them. Columns marked `>` are set right.
pub fn table(out: &mut dyn Write, heads: &[&str], rows: &[Vec<String>]) -> std::io::Result<()> {
    let is_right = |column: usize| heads.get(column).is_some_and(|head| head.starts_with('>'));
    let head = |column: usize| heads.get(column).map_or("", |head| head.trim_start_matches('>'));
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([head(column).chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut line = String::from("  ");
        for (column, cell) in cells.enumerate() {
            let width = widths.get(column).copied().unwrap_or(0);
            let padded = if is_right(column) {
                format!("{cell:>width$}")
            } else {
                format!("{cell:<width$}")
            };
            line.push_str(&padded);
            line.push_str("  ");
        }
        line.trim_end().to_owned()
    };
    writeln!(out, "{DIM}{}{PLAIN}", line(&mut (0..heads.len()).map(head)))?;
    for row in rows {
        writeln!(out, "{}", line(&mut row.iter().map(String::as_str)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_numbers() {
        assert_eq!(ago(Millis(10_000), Millis(6_000)), "4 s ago");
        assert_eq!(ago(Millis(10_000), Millis(10_000)), "now");
        assert_eq!(ago(Millis(0), Millis(7_200_000)), "in 2 h");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(3_140_000), "3.1 MB");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(counted(1, "event", "events"), "1 event");
        assert_eq!([999, 1_250, 41_900, 3_140_000].map(tokens), ["999", "1.2k", "41k", "3.1M"]);
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(one_line("a\n  b\tc", 20), "a b c");
        assert_eq!(one_line("héllo wörld", 6), "héllo…");
        assert_eq!(one_line("\u{1b}[31mred", 20), "\u{fffd}[31mred");
    }
}
