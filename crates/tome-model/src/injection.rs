//! Text that Tome itself puts into an agent's context, recognised when it comes back.
//!
//! Some agents hand an injected text back as if the person had typed it. Everything that Tome
//! injects, stop nudges included, stands between these two marks, so that it is never remembered
//! as something the person said.

/// How every injected text begins (attributes may follow before the `>`).
pub const INJECTION_OPEN: &str = "<tome-memory";
/// How every injected text ends.
pub const INJECTION_CLOSE: &str = "</tome-memory>";

/// The text without Tome's own injections, trimmed where one was taken out. A mark that is not
/// closed is a person writing about marks and stays.
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
