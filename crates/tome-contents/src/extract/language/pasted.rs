//! Recognizes texts that were copied from a log, an address or the screen of a program.

/// Whether a text was copied from a log, an address or the screen of a program.
pub fn looks_pasted(text: &str) -> bool {
    // Each of these is only in what programs print.
    const MARKS: [&str; 4] = ["level=warn", "level=info", "[redacted:", "site-packages/"];
    const OPENINGS: [char; 9] = ['?', '|', '>', '✓', '✗', '●', '⏺', '❯', '│'];
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_address = |word: &&str| word.contains("://");
    let begins_like_log = |first: &str| {
        is_process(first) || is_location(first) || is_level(first) || is_shell_prompt(first)
    };
    text.starts_with(OPENINGS)
        || words.first().is_some_and(|first| begins_like_log(first))
        || words.len() == 1 && words.iter().any(is_address)
        || MARKS.iter().any(|mark| text.contains(mark))
        || words.iter().any(|word| has_clock(word) || is_key(word))
}

/// The name of a process before its log, or of an anonymous function: `(worker`, `(anonymous)`.
fn is_process(word: &str) -> bool {
    word == "(anonymous)" || word.starts_with('(') && !word.ends_with(')') && word.len() > 3
}

/// The prompt of a shell: `mia@laptop:~/shop$`.
fn is_shell_prompt(word: &str) -> bool {
    let place = word.strip_suffix(['$', '#']).and_then(|word| word.split_once('@'));
    place.is_some_and(|(_, host)| host.contains(':'))
}

/// A line of a file, as compilers and browsers print it: `basket.js:31`.
fn is_location(word: &str) -> bool {
    let mut parts = word.trim_end_matches([':', ',']).split(':');
    let file = parts.next().unwrap_or_default();
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    file.contains('.') && parts.next().is_some_and(is_number)
}

/// The level of a line of a log: `[info]`, `time="2025-11-04…"`.
fn is_level(word: &str) -> bool {
    const LEVELS: [&str; 6] = ["[info]", "[warn]", "[warning]", "[error]", "[debug]", "[trace]"];
    LEVELS.contains(&word.to_lowercase().as_str()) || word.starts_with("time=\"")
}

/// A key, a token or a hash: many letters and digits in no order.
fn is_key(word: &str) -> bool {
    const KEY_CHARS_MIN: usize = 24;
    let count = |is: fn(&u8) -> bool| word.bytes().filter(is).count();
    word.is_ascii()
        && word.len() >= KEY_CHARS_MIN
        && count(u8::is_ascii_alphabetic) >= 4
        && count(u8::is_ascii_digit) >= 5
        && !word.contains(['/', '\\', '-', '_'])
}

/// Whether a word has the time of a line of a log: `09:15:02.118`.
fn has_clock(token: &str) -> bool {
    let digits = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = token.split(|c: char| !c.is_ascii_digit()).collect();
    // With the fraction of a second, or in quotes: a mere duration is no log.
    let is_log = token.matches(':').count() == 2 && token.contains(['.', '"', 'T']);
    is_log && parts.windows(3).any(|three| three.iter().all(|part| digits(part)))
}

#[cfg(test)]
mod tests {
    use super::looks_pasted;

    #[test]
    fn logs_keys_and_addresses_are_pasted_and_requests_are_not() {
        for text in [
            "(worker pid=4711) cannot open the queue",
            "time=\"2026-03-02T10:00:00Z\" level=warning msg=\"no version\"",
            "The basket is empty and it says \"09:15:02.118 GET\"",
            "basket.js:31 GET https://example.org/basket 500",
            "mia@laptop:~/shop$ npm run build > shop@1.2.0 build",
            "https://example.org/a/b",
            "try a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4e5f6",
        ] {
            assert!(looks_pasted(text), "{text}");
        }
        for text in [
            "Replace the links to https://example.org with relative ones",
            "Fix the off-by-one in parser.py:42",
            "[Bug] Login fails",
            "(frontend) fix the header",
            "Add Bearer token auth and set level=debug",
            "Format durations as 01:02:03",
            "Rename src/main/java/com/acme/orders/exporting/impl/CursorExportServiceImpl.java",
            "把ExportService从2023年12月改成2024年的新接口",
            "`parse_header` drops the last line",
            "Use the 10:30 slot for the release meeting",
            "検索画面の並び順を新しい順に変更する",
        ] {
            assert!(!looks_pasted(text), "{text}");
        }
    }
}
