//! A line of the spool: an event, its delivery and a checksum over both.
//!
//! ```json
//! {…the fields of an event…,"delivery":"01JCT…-0","sum":"91d0f2c45a7be603"}
//! ```
//!
//! `sum` comes last and covers every byte before it: the first 64 bits of their BLAKE3 hash, in
//! hex. Lines of earlier versions have no checksum and are accepted as they are.

use tome_model::{DeliveredDraft, DeliveryPart, EventLine};

const DELIVERY: &str = ",\"delivery\":\"";
const SUM: &str = ",\"sum\":\"";
const END: &str = "\"}";
const SUM_DIGITS: usize = 16;

/// Renders a draft as a line, with its newline.
pub fn render_spool_line(delivered: DeliveredDraft) -> String {
    let mut line = EventLine::from(delivered.draft).to_json();
    // Drop the closing brace; it is added again at the end.
    line.pop();
    if let Some(delivery) = delivered.delivery {
        line.push_str(&format!("{DELIVERY}{delivery}\""));
    }
    let sum = checksum(&line);
    line.push_str(&format!("{SUM}{sum}{END}\n"));
    line
}

/// Parses a line; `None` if it is damaged.
pub fn parse_spool_line(line: &[u8]) -> Option<DeliveredDraft> {
    let line = std::str::from_utf8(line).ok()?.trim();
    let Some((summed, sum)) = split_sum(line) else {
        return Some(EventLine::parse(line).ok()?.into_draft().ok()?.into());
    };
    if checksum(summed) != sum {
        return None;
    }
    let (event, delivery) = match summed.strip_suffix('"').and_then(|it| it.rsplit_once(DELIVERY)) {
        // Quotes inside strings are escaped, so only a field of the line itself can match.
        Some((event, delivery)) => (event, Some(DeliveryPart::parse(delivery).ok()?)),
        None => (summed, None),
    };
    let draft = EventLine::parse(&format!("{event}}}")).ok()?.into_draft().ok()?;
    Some(DeliveredDraft { draft, delivery })
}

/// Splits a line into the summed text and the checksum.
fn split_sum(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_suffix(END)?;
    let (before, sum) = line.split_at_checked(line.len().checked_sub(SUM_DIGITS)?)?;
    Some((before.strip_suffix(SUM)?, sum))
}

fn checksum(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().chars().take(SUM_DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tome_model::{DeliveryId, Draft, Millis};

    const LINE: &str = r#"{"session_id":"s1","agent":"codex","cwd":"/app","kind":"user_message","text":"hi","at":1794702485884}"#;

    fn draft(text: &str) -> Draft {
        let line = EventLine { text: text.into(), ..EventLine::parse(LINE).unwrap() };
        line.into_draft().unwrap()
    }

    fn part() -> DeliveryPart {
        DeliveryPart { id: DeliveryId::new(Millis(1_794_702_485_884), [7; 10]), part: 3 }
    }

    #[test]
    fn a_line_round_trips() {
        for text in ["hi", "", "\"}", ",\"sum\":\"0123456789abcdef\"}", ",\"delivery\":\"x\"", "\n"]
        {
            for delivery in [None, Some(part())] {
                let delivered = DeliveredDraft { draft: draft(text), delivery };
                let line = render_spool_line(delivered.clone());
                assert_eq!(line.lines().count(), 1);
                assert_eq!(parse_spool_line(line.as_bytes()), Some(delivered), "{line}");
            }
        }
    }

    #[test]
    fn a_line_of_an_earlier_version_is_read() {
        assert_eq!(parse_spool_line(LINE.as_bytes()), Some(draft("hi").into()));
    }

    /// A changed letter in the text still parses; only the checksum reveals it.
    #[test]
    fn every_changed_byte_is_detected() {
        let line =
            render_spool_line(DeliveredDraft { draft: draft("hello"), delivery: Some(part()) });
        let line = line.trim_end().as_bytes();
        for at in 0..line.len() {
            let mut damaged = line.to_vec();
            damaged[at] ^= 0x01;
            assert_eq!(parse_spool_line(&damaged), None, "{}", String::from_utf8_lossy(&damaged));
            assert_eq!(parse_spool_line(&line[..at]), None, "cut at {at}");
        }
    }
}
