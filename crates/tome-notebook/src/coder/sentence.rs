//! Sentences: where they end, and when two are the same.
//!
//! A sentence ends with `.`, `?`, `!`, `…` or a run of them, closing quotes and brackets included,
//! before white space or the end of the text; with `。`, `！`, `？` anywhere. What stands between
//! backticks ends nothing, and neither do `e.g.`, `1.2.3`, `a.rs` or `...` before a small letter.

const ENDS: &[char] = &['.', '?', '!', '…'];
const CJK_ENDS: &[char] = &['。', '！', '？', '｡'];
const CLOSERS: &[char] =
    &[')', ']', '}', '"', '\'', '”', '’', '»', '*', '_', '」', '』', '）', '》', '】'];
const OPENERS: &[char] = &[' ', '(', '[', '"'];
/// Where [`paragraphs`] begins a new one: nobody reads longer ones, and each join looks at all of it.
const PARAGRAPH_BYTES_MAX: usize = 2_000;
/// Longer than every abbreviation.
const WORD_CHARS_MAX: usize = 16;
/// Nothing ends after these, whatever follows.
const OPEN_ABBREVIATIONS: &[&str] =
    &["e.g", "i.e", "eg", "ie", "vs", "cf", "mr", "mrs", "dr", "fig", "incl", "approx", "ca"];
/// These may end a sentence: they do when a capital letter follows.
const CLOSING_ABBREVIATIONS: &[&str] = &["etc", "al", "resp", "no", "nr", "a.m", "p.m"];

/// The sentences of a text, white space made single. None goes on over a blank line.
pub(super) fn sentences(text: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for line in text.lines() {
        match paragraphs.last_mut() {
            Some(last) if !line.trim().is_empty() => last.extend([" ", line]),
            _ => paragraphs.push(String::new()),
        }
    }
    paragraphs.iter().flat_map(|paragraph| of_paragraph(paragraph)).collect()
}

fn of_paragraph(text: &str) -> Vec<String> {
    let chars: Vec<char> = collapse(text).chars().collect();
    let code = in_code(&chars);
    let mut found = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < chars.len() {
        let past = match code.get(at) {
            Some(false) => end(&chars, start, at),
            _ => None,
        };
        if let Some(past) = past {
            push(&mut found, chars.get(start..past).unwrap_or_default());
            start = past;
        }
        at = past.unwrap_or(at + 1);
    }
    push(&mut found, chars.get(start..).unwrap_or_default());
    found.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    found
}

/// One line, with single spaces.
pub(super) fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What two spellings of the same sentence have in common: letter case (outside of code), white
/// space and the full stop do not count; every other character does.
pub(super) fn normal(sentence: &str) -> String {
    let chars: Vec<char> = collapse(sentence).chars().collect();
    let code = in_code(&chars);
    let lower: String = chars
        .iter()
        .zip(code)
        .flat_map(|(&c, code)| {
            let lower: Vec<char> = if code { vec![c] } else { c.to_lowercase().collect() };
            lower
        })
        .collect();
    lower.trim_end_matches(|c| ENDS.contains(&c) || CJK_ENDS.contains(&c)).trim().to_owned()
}

/// The sentences of a text, each as [`normal`] has it.
pub(super) fn normals(text: &str) -> Vec<String> {
    sentences(text).iter().map(|sentence| normal(sentence)).collect()
}

/// Sentences put together so that they can be told apart again: where one would run into the
/// next (`… e.g.`), a new paragraph begins.
pub(super) fn paragraphs(pieces: &[String]) -> Vec<String> {
    let mut made: Vec<String> = Vec::new();
    for piece in pieces {
        let piece = finished(piece);
        let room = made.last().filter(|last| last.len() < PARAGRAPH_BYTES_MAX);
        let joined = room.and_then(|last| joined(last, &piece));
        match (made.last_mut(), joined) {
            (Some(last), Some(joined)) => *last = joined,
            _ => made.push(piece),
        }
    }
    made
}

/// Both in one paragraph, or nothing when the sentences could not be told apart then.
pub(super) fn joined(text: &str, more: &str) -> Option<String> {
    let joined = format!("{text} {more}");
    let mut apart = normals(text);
    apart.extend(normals(more));
    (normals(&joined) == apart).then_some(joined)
}

/// With a full stop where there is none.
pub(super) fn finished(piece: &str) -> String {
    let piece = collapse(piece);
    let last = piece.trim_end_matches(CLOSERS).chars().next_back();
    if last.is_some_and(|c| ENDS.contains(&c) || CJK_ENDS.contains(&c)) {
        return piece;
    }
    piece + "."
}

/// Which characters stand between backticks, these included.
fn in_code(chars: &[char]) -> Vec<bool> {
    let mut code = vec![false; chars.len()];
    let runs = backticks(chars);
    let mut next = 0;
    while let Some(&(open, length)) = runs.get(next) {
        next += 1;
        let rest = runs.get(next..).unwrap_or_default();
        // A lone run closes nothing. Looking no further than a little keeps this linear.
        let close = rest.iter().take(64).position(|run| run.1 == length);
        if let Some(close) = close
            && let Some(&(at, _)) = rest.get(close)
        {
            code.iter_mut().take(at + length).skip(open).for_each(|c| *c = true);
            next += close + 1;
        }
    }
    code
}

/// Where runs of backticks begin, and how long they are.
fn backticks(chars: &[char]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, _) in chars.iter().enumerate().filter(|(_, c)| **c == '`') {
        match runs.last_mut() {
            Some((open, length)) if *open + *length == at => *length += 1,
            _ => runs.push((at, 1)),
        }
    }
    runs
}

/// Where the sentence is over that began at `start`, if it ends at `at`.
fn end(chars: &[char], start: usize, at: usize) -> Option<usize> {
    let c = chars.get(at)?;
    if CJK_ENDS.contains(c) {
        return Some(past(chars, at, |c| {
            CJK_ENDS.contains(&c) || ENDS.contains(&c) || CLOSERS.contains(&c)
        }));
    }
    let within_run = at > start && chars.get(at - 1).is_some_and(|c| ENDS.contains(c));
    if !ENDS.contains(c) || within_run {
        return None;
    }
    let run_past = past(chars, at, |c| ENDS.contains(&c));
    let past = past(chars, run_past, |c| CLOSERS.contains(&c));
    let Some(next) = chars.get(past) else { return Some(past) };
    if !next.is_whitespace() {
        let cjk_follows = super::terms::is_cjk(*next) && *c != '.';
        return cjk_follows.then_some(past);
    }
    let following = chars.get(past + 1).copied().unwrap_or(' ');
    let dots = chars.get(at..run_past).unwrap_or_default();
    let ends = match dots {
        ['.'] => full_stop(chars.get(start..at).unwrap_or_default(), following),
        _ if dots.iter().all(|c| matches!(c, '.' | '…')) => !following.is_lowercase(),
        _ => true,
    };
    ends.then_some(past)
}

/// Whether a single dot after `before` ends a sentence.
fn full_stop(before: &[char], following: char) -> bool {
    // Only the last word counts; looking no further back keeps a long text linear.
    let word_chars = before.iter().rev().take(WORD_CHARS_MAX).take_while(|c| !OPENERS.contains(c));
    let mut word: Vec<char> = word_chars.flat_map(|c| c.to_lowercase()).collect();
    word.reverse();
    let word: String = word.into_iter().collect();
    let numbered = before.iter().all(|c| *c == ' ' || c.is_ascii_digit());
    if numbered {
        return false;
    }
    if OPEN_ABBREVIATIONS.contains(&word.as_str()) {
        return false;
    }
    !CLOSING_ABBREVIATIONS.contains(&word.as_str()) || following.is_uppercase()
}

fn past(chars: &[char], from: usize, of: impl Fn(char) -> bool) -> usize {
    from + chars.iter().skip(from).take_while(|c| of(**c)).count()
}

/// Something without a letter or digit (`…`, an emoji) belongs to the sentence before it.
fn push(found: &mut Vec<String>, chars: &[char]) {
    let text: String = chars.iter().collect();
    let text = text.trim();
    let wordless = !text.chars().any(char::is_alphanumeric);
    match found.last_mut() {
        Some(last) if wordless || !last.chars().any(char::is_alphanumeric) => {
            if !text.is_empty() {
                last.push(' ');
                last.push_str(text);
            }
        }
        _ if text.is_empty() => {}
        _ => found.push(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_counted_as_people_count_them() {
        for (count, text) in [
            (0, ""),
            (0, "  ...  "),
            (1, "No full stop"),
            (2, "No full stop\n\nNone here"),
            (1, "One."),
            (2, "One. Two."),
            (2, "One.  Two\nwrapped over lines."),
            (1, "Use a lock, e.g. flock, i.e. an advisory one."),
            (2, "Use a lock (e.g. flock). Release it."),
            (1, "Version 1.2.3 of a.rs and b.tar.gz is fine."),
            (2, "It needs 1.2.3. Older ones fail."),
            (1, "Wait... what is this."),
            (2, "Wait... What is this."),
            (2, "Wait… What is this."),
            (1, "Wait… what is this."),
            (2, "Really?! Yes."),
            (2, "He said \"stop.\" Then he left."),
            (2, "(It failed.) It was fixed."),
            (1, "Call `foo. Bar. Baz` once."),
            (2, "Call `foo()`. Then `bar. Baz`."),
            (1, "Call ``a ` b. C`` once."),
            (2, "A lone ` is no code. Two."),
            (3, "第一句。第二句！第三句？"),
            (2, "他说“好。”然后走了。"),
            (2, "好!然后走了。"),
            (1, "Locks, files, etc. are shared."),
            (2, "Locks, files, etc. They are shared."),
            (1, "1. Only one."),
            (2, "Is it done? yes it is."),
            (2, "Restart it. tokio holds the lock."),
            (2, "**Never do it.** It hurts."),
            (2, "Done. 🎉 All green."),
            (1, "Done. 🎉"),
            (1, "Run it at 5 p.m. each day."),
            (1, "See https://example.org/a.b?c=d!e for more."),
        ] {
            assert_eq!(sentences(text).len(), count, "{text:?} gave {:?}", sentences(text));
        }
    }

    #[test]
    fn nothing_of_a_text_is_lost_in_its_sentences() {
        for text in ["One. Two… three! 🎉 Four", "… One. Two", "第一句。`a. b` 第二句"]
        {
            let squeezed = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            assert_eq!(squeezed(&sentences(text).concat()), squeezed(text));
        }
    }

    #[test]
    fn the_same_sentence_is_the_same_however_it_is_spelt() {
        assert_eq!(normal("Use  a Lock."), normal("use a lock"));
        assert_ne!(normal("Use `A`."), normal("Use `a`."));
        assert_ne!(normal("Use a+b."), normal("Use a-b."));
    }

    #[test]
    fn sentences_that_would_run_together_get_a_paragraph_each() {
        let pieces = ["Use locks, e.g.", "Release them", "Twice?"].map(str::to_owned);
        assert_eq!(paragraphs(&pieces), ["Use locks, e.g.", "Release them. Twice?"]);
    }
}
