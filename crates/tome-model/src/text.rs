//! Truncates text at character boundaries.

use serde_json::Value;

/// A text within a size limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CappedText {
    /// The text, with a mark where it was cut.
    pub text: String,
    /// Number of bytes removed; 0 if it was not cut.
    pub cut_bytes: usize,
}

/// The longest prefix of at most `bytes_max` bytes that ends at a char boundary.
pub fn truncate_to(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or_default()
}

/// The longest suffix of at most `bytes_max` bytes that starts at a char boundary.
pub fn last_bytes(text: &str, bytes_max: usize) -> &str {
    let start = text.len().saturating_sub(bytes_max);
    text.get(text.ceil_char_boundary(start)..).unwrap_or_default()
}

/// Keeps the head and tail of an overlong text and marks the cut. The result, including the mark,
/// is at most `bytes_max` long, if that is enough for the mark.
pub fn cap_text(text: &str, bytes_max: usize) -> CappedText {
    if text.len() <= bytes_max {
        return CappedText { text: text.to_owned(), cut_bytes: 0 };
    }
    // Use the total length for the mark: it has at least as many digits as the cut.
    let room = bytes_max.saturating_sub(cut_mark(text.len()).len());
    let head = truncate_to(text, room.div_ceil(2));
    let tail = last_bytes(text, room - room.div_ceil(2));
    let cut_bytes = text.len() - head.len() - tail.len();
    CappedText { text: format!("{head}{}{tail}", cut_mark(cut_bytes)), cut_bytes }
}

/// The mark that replaces removed text.
pub fn cut_mark(cut_bytes: usize) -> String {
    format!("\n[… {cut_bytes} bytes cut …]\n")
}

/// Caps a JSON value: truncates its long strings, more and more; if that is not enough, replaces it
/// by its truncated text. Also returns the number of bytes removed.
pub fn cap_json(value: Value, bytes_max: usize) -> (Value, usize) {
    let size = json_len(&value);
    if size <= bytes_max {
        return (value, 0);
    }
    let mut leaf_max = bytes_max / 2;
    while leaf_max >= 256 {
        let mut capped = value.clone();
        let cut = cap_strings(&mut capped, leaf_max);
        if json_len(&capped) <= bytes_max {
            return (capped, cut);
        }
        leaf_max /= 4;
    }
    let capped = cap_text(&value.to_string(), bytes_max);
    (Value::String(capped.text), capped.cut_bytes)
}

fn cap_strings(value: &mut Value, leaf_max: usize) -> usize {
    match value {
        Value::String(text) => {
            let capped = cap_text(text, leaf_max);
            *text = capped.text;
            capped.cut_bytes
        }
        Value::Array(items) => items.iter_mut().map(|item| cap_strings(item, leaf_max)).sum(),
        Value::Object(map) => map.values_mut().map(|item| cap_strings(item, leaf_max)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// The length of a value as JSON text, in bytes.
pub fn json_len(value: &Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting cannot fail; an error would count as too large.
    serde_json::to_writer(&mut count, value).map_or(usize::MAX, |()| count.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_capped_text_fits_and_keeps_head_and_tail(text in "\\PC{0,400}", max in 64usize..300) {
            let capped = cap_text(&text, max);
            prop_assert!(capped.text.len() <= max.max(text.len().min(max)));
            if text.len() <= max {
                prop_assert_eq!(&capped.text, &text);
            } else {
                let (head, rest) = capped.text.split_once("\n[… ").unwrap();
                let (_, tail) = rest.split_once(" bytes cut …]\n").unwrap();
                prop_assert!(text.starts_with(head) && text.ends_with(tail));
                prop_assert_eq!(head.len() + tail.len() + capped.cut_bytes, text.len());
            }
        }

        #[test]
        fn capping_twice_changes_nothing(text in "\\PC{0,400}", max in 64usize..300) {
            let once = cap_text(&text, max).text;
            prop_assert_eq!(cap_text(&once, max).text, once);
        }

        #[test]
        fn capped_json_fits(texts in proptest::collection::vec("[a-zé\"\n]{0,900}", 0..6)) {
            let (value, _) = cap_json(serde_json::json!({"rows": texts}), 1024);
            prop_assert!(json_len(&value) <= 1024 * 2 + 2, "{}", json_len(&value));
        }
    }

    #[test]
    fn json_that_fits_is_left_alone() {
        let value = serde_json::json!({"command": "cargo test", "n": [1, 2]});
        assert_eq!(cap_json(value.clone(), 1024), (value, 0));
    }
}
