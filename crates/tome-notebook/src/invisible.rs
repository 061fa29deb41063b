//! Detects invisible characters in file names and escapes them for display.

use std::borrow::Cow;

use tome_text::HiddenClass;

/// Whether a character of a file name is hidden, or is white space other than the space.
pub(crate) fn is_hidden(c: char) -> bool {
    (c.is_whitespace() && c != ' ') || HiddenClass::from_char(c).is_some()
}

/// Writes invisible characters as `\u{…}`. Unambiguous, because names contain no backslash.
pub(crate) fn escape(name: &str) -> Cow<'_, str> {
    if !name.contains(is_hidden) {
        return Cow::Borrowed(name);
    }
    let mut shown = String::with_capacity(name.len() + 16);
    for c in name.chars() {
        if is_hidden(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Reverses `escape`; anything else stays unchanged.
pub(crate) fn unescape(shown: &str) -> Cow<'_, str> {
    if !shown.contains("\\u{") {
        return Cow::Borrowed(shown);
    }
    let mut parts = shown.split("\\u{");
    let mut name = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.split_once('}').and_then(|(hex, rest)| {
            let c = char::from_u32(u32::from_str_radix(hex, 16).ok()?)?;
            is_hidden(c).then_some((c, rest))
        });
        match code {
            Some((c, rest)) => {
                name.push(c);
                name.push_str(rest);
            }
            None => {
                name.push_str("\\u{");
                name.push_str(part);
            }
        }
    }
    Cow::Owned(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_written_out_and_read_back() {
        for name in ["facts/us\u{202e}dm.resu", "a\u{200b}b.md", "\u{feff}x.md", "e\u{e0041}.md"] {
            let shown = escape(name);
            assert!(shown.is_ascii() && shown.contains("\\u{"), "{shown}");
            assert_eq!(unescape(&shown), name);
        }
        for name in ["日本語.md", "a b.md", "é.md", "naïve-🦀.md", "\\u{41}.md", "\\u{zz"] {
            assert_eq!(escape(name), name);
            assert_eq!(unescape(name), name);
        }
    }
}
