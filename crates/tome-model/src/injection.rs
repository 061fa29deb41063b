//! Marks around text that Tome injects into an agent's context.
//!
//! Some agents return injected text as if the user had typed it. All injections, including the
//! request to store at a stop, are enclosed in these marks, so that they are never stored as the user's words.

/// Start of every injected text; attributes may follow before the `>`.
pub const INJECTION_OPEN: &str = "<tome-memory";
/// End of every injected text.
pub const INJECTION_CLOSE: &str = "</tome-memory>";

/// Removes Tome's injections from a text and trims it if there were any. A mark that is not closed
/// stays: it is someone writing about marks.
pub fn strip_injections(text: &str) -> String {
    let plain = strip_between(text, INJECTION_OPEN, INJECTION_CLOSE);
    // Gemini CLI escapes angle brackets in injected text.
    strip_between(&plain, "&lt;tome-memory", "&lt;/tome-memory&gt;")
}

fn strip_between(text: &str, open: &str, close: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    let mut cut = false;
    while let Some((before, after_open)) = rest.split_once(open) {
        let opens = after_open.starts_with(['>', ' ', '\n']) || after_open.starts_with("&gt;");
        match after_open.split_once(close) {
            Some((_, after)) if opens => {
                kept.push_str(before);
                rest = after;
                cut = true;
            }
            _ => {
                kept.push_str(before);
                kept.push_str(open);
                rest = after_open;
            }
        }
    }
    kept.push_str(rest);
    if cut { kept.trim().to_owned() } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_text_goes_and_the_persons_stays() {
        let injected = "<tome-memory kind=\"start\">rules</tome-memory>\n\nfix the lexer";
        assert_eq!(strip_injections(injected), "fix the lexer");
        assert_eq!(strip_injections("&lt;tome-memory&gt;rules&lt;/tome-memory&gt; go on"), "go on");
        assert_eq!(strip_injections("<tome-memory>save what you learned</tome-memory>"), "");
    }

    #[test]
    fn writing_about_the_marks_is_not_an_injection() {
        for text in [
            "what does <tome-memory do?",
            "an open <tome-memory> tag",
            "<tome-memoryx></tome-memory>",
            "  a b  ",
        ] {
            assert_eq!(strip_injections(text), text);
        }
    }
}
