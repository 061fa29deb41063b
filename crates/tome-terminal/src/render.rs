//! Formats times, sizes, counts and one-line texts for the terminal.

use serde_json::Value;
use tome_model::{Event, Millis};
use tome_text::{is_display_control, shorten_line};

/// Bold.
pub const BOLD: &str = "\x1b[1m";
/// Dim.
pub const DIM: &str = "\x1b[2m";
/// Green.
pub const GREEN: &str = "\x1b[32m";
/// Yellow.
pub const YELLOW: &str = "\x1b[33m";
/// Red.
pub const RED: &str = "\x1b[31m";
/// Resets the style.
pub const RESET: &str = "\x1b[0m";

/// Formats a time relative to now. Times in the future are possible, because clocks differ.
pub fn format_ago(now: Millis, then: Millis) -> String {
    if then > now {
        return if now.distance_ms(then) < 2_000 {
            "now".into()
        } else {
            format!("in {}", format_span(now.distance_ms(then)))
        };
    }
    match now.distance_ms(then) {
        0..1_000 => "now".into(),
        ms => format!("{} ago", format_span(ms)),
    }
}

/// Formats a duration in its largest unit.
pub fn format_span(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0 => format!("{ms} ms"),
        1..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// Formats a size with a decimal unit.
pub fn format_bytes(size: u64) -> String {
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

/// Formats a count with thousands separators.
pub fn format_count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count with its noun, singular or plural.
pub fn format_counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", format_count(number), if number == 1 { one } else { many })
}

/// Formats a token estimate in few characters.
pub fn format_tokens(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..10_000 => format!("{:.1}k", number as f64 / 1_000.0),
        10_000..1_000_000 => format!("{}k", number / 1_000),
        1_000_000..10_000_000 => format!("{:.1}M", number as f64 / 1_000_000.0),
        _ => format!("{}M", number / 1_000_000),
    }
}

/// Collapses a text to one line of at most `chars_max` characters; a truncated one ends in `…`.
pub fn one_line(text: &str, chars_max: usize) -> String {
    replace_control_chars(&shorten_line(text, chars_max))
}

/// Replaces control characters, which could control the terminal. The ends of lines lose theirs.
pub fn replace_control_chars(text: &str) -> String {
    text.replace("\r\n", "\n")
        .chars()
        .map(|c| if is_display_control(c) { '\u{fffd}' } else { c })
        .collect()
}

/// Who said or did it, by the kind of an event: `user`, the agent by its name, or `tool`; for other
/// kinds, the kind.
pub fn name_side(kind: &str, agent: &str) -> String {
    match kind {
        "user_message" => "user".to_owned(),
        "assistant_message" | "assistant_stop" => agent.to_owned(),
        "tool_result" => "tool".to_owned(),
        kind => kind.replace('_', " "),
    }
}

/// Summarizes an event in one line: tool call, text or metadata.
pub fn summarize_event(event: &Event) -> String {
    if let Some(tool) = &event.tool {
        let input = json_to_text(&tool.input);
        let output = json_to_text(&tool.output);
        let arrow = if output.is_empty() { "" } else { " → " };
        return format!("{} {input}{arrow}{output}", tool.name);
    }
    if !event.text.is_empty() {
        return event.text.clone();
    }
    let meta = ["reason", "source", "trigger", "event", "subagent_type"];
    meta.iter().find_map(|name| event.meta.get(*name)).map(json_to_text).unwrap_or_default()
}

/// Renders a JSON value as text: the most informative string field of an object, otherwise all of it.
pub fn json_to_text(value: &Value) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_numbers() {
        assert_eq!(format_ago(Millis(10_000), Millis(6_000)), "4 s ago");
        assert_eq!(format_ago(Millis(10_000), Millis(10_000)), "now");
        assert_eq!(format_ago(Millis(0), Millis(7_200_000)), "in 2 h");
        assert_eq!(format_bytes(999), "999 B");
        assert_eq!(format_bytes(3_140_000), "3.1 MB");
        assert_eq!(format_count(1_234_567), "1,234,567");
        assert_eq!(format_counted(1, "event", "events"), "1 event");
        assert_eq!(
            [999, 1_250, 41_900, 3_140_000].map(format_tokens),
            ["999", "1.2k", "41k", "3.1M"]
        );
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(one_line("a\n  b\tc", 20), "a b c");
        assert_eq!(one_line("héllo wörld", 6), "héllo…");
        assert_eq!(one_line("\u{1b}[31mred", 20), "\u{fffd}[31mred");
    }
}
