//! Detects invisible characters in file names and escapes them for display.

use std::borrow::Cow;

/// Whether a character is invisible or changes how the text around it is displayed: control and
/// bidi characters, zero-width characters, fillers, variation selectors, tags, and all whitespace
/// except the space.
pub(crate) fn is_invisible(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Writes invisible characters as `\u{…}`. Unambiguous, because names contain no backslash.
pub(crate) fn escape(name: &str) -> Cow<'_, str> {
    if !name.contains(is_invisible) {
        return Cow::Borrowed(name);
    }
    let mut shown = String::with_capacity(name.len() + 16);
    for c in name.chars() {
        if is_invisible(c) {
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
            is_invisible(c).then_some((c, rest))
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
