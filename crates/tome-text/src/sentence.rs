//! Splits text into sentences and normalizes them for comparison.
//!
//! A sentence ends with `.`, `?`, `!`, `…` or a run of them, closing quotes and brackets included,
//! before white space or the end of the text; with `。`, `！`, `？` anywhere; and at a blank line. It
//! does not end inside backticks, after `e.g.`, in `1.2.3` or `a.rs`, or at `...` before a
//! lowercase letter.

use std::ops::Range;

use crate::excerpt::collapse_whitespace;
use crate::script::is_unspaced;

const SENTENCE_ENDS: &[char] = &['.', '?', '!', '…'];
const CJK_ENDS: &[char] = &['。', '！', '？', '｡'];
const CLOSERS: &[char] =
    &[')', ']', '}', '"', '\'', '”', '’', '»', '*', '_', '」', '』', '）', '》', '】'];
/// Longer than any abbreviation.
const WORD_CHARS_MAX: usize = 16;
/// No sentence ends after these.
const OPEN_ABBREVIATIONS: &[&str] = &[
    "e.g", "i.e", "eg", "ie", "vs", "cf", "mr", "mrs", "dr", "fig", "incl", "approx", "ca", "z.b",
    "d.h", "bzw", "т.е", "т.к",
];
/// A sentence ends after these only if a capital letter follows.
const CLOSING_ABBREVIATIONS: &[&str] =
    &["etc", "al", "resp", "no", "nr", "a.m", "p.m", "usw", "max", "min", "т.д"];
/// Runs of backticks searched for the one that closes a code span; keeps the search linear.
const BACKTICK_RUNS_MAX: usize = 64;

/// Returns the sentences of a text, verbatim, in order and trimmed. Text without a letter or digit
/// (`…`, an emoji) belongs to the sentence before it.
pub fn split_sentences(text: &str) -> Vec<&str> {
    let ranges = sentence_ranges(text).into_iter();
    ranges.filter_map(|range| text.get(range)).map(str::trim).collect()
}

/// Byte range of the sentences that overlap a part of a text.
pub fn sentences_around(text: &str, part: Range<usize>) -> Range<usize> {
    let ranges = sentence_ranges(text);
    let first = ranges.iter().rfind(|range| range.start <= part.start);
    let last = ranges.iter().find(|range| range.end >= part.end);
    first.map_or(0, |range| range.start)..last.map_or(text.len(), |range| range.end)
}

fn sentence_ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    for paragraph in paragraph_ranges(text) {
        let (from, text) = (paragraph.start, text.get(paragraph).unwrap_or_default());
        let found = paragraph_sentences(text).into_iter();
        ranges.extend(found.map(|range| from + range.start..from + range.end));
    }
    ranges
}

/// Normalizes a sentence: case (outside code), white space and final punctuation make no
/// difference.
pub fn normalize_sentence(sentence: &str) -> String {
    let chars: Vec<char> = collapse_whitespace(sentence).chars().collect();
    let mut normal = String::with_capacity(sentence.len());
    for (&c, is_code) in chars.iter().zip(code_spans(&chars)) {
        if is_code {
            normal.push(c);
        } else {
            normal.extend(c.to_lowercase());
        }
    }
    normal.trim_end_matches(is_sentence_end).trim().to_owned()
}

/// Renders a sentence on one line, with a full stop if it has no end.
pub fn finish_sentence(text: &str) -> String {
    let line = collapse_whitespace(text);
    if ends_sentence(&line) { line } else { line + "." }
}

/// Whether a text ends as a sentence does.
pub fn ends_sentence(text: &str) -> bool {
    text.trim_end_matches(CLOSERS).ends_with(is_sentence_end)
}

fn is_sentence_end(c: char) -> bool {
    SENTENCE_ENDS.contains(&c) || CJK_ENDS.contains(&c)
}

/// Splits a text at blank lines.
fn paragraph_ranges(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut start, mut at) = (Vec::new(), 0, 0);
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() {
            found.push(start..at);
            start = at + line.len();
        }
        at += line.len();
    }
    found.push(start..text.len());
    found
}

fn paragraph_sentences(text: &str) -> Vec<Range<usize>> {
    let (offsets, chars): (Vec<usize>, Vec<char>) = text.char_indices().unzip();
    let code = code_spans(&chars);
    let offset = |at: usize| offsets.get(at).copied().unwrap_or(text.len());
    let mut sentences: Vec<Range<usize>> = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < chars.len() {
        let end = match code.get(at) {
            Some(false) => sentence_end(&chars, start, at),
            _ => None,
        };
        if let Some(end) = end {
            push_sentence(&mut sentences, text, offset(start)..offset(end));
            start = end;
        }
        at = end.unwrap_or(at + 1);
    }
    push_sentence(&mut sentences, text, offset(start)..text.len());
    sentences.retain(|range| has_word(text, range));
    sentences
}

/// Adds a sentence, or extends the last one if either has no word.
fn push_sentence(found: &mut Vec<Range<usize>>, text: &str, range: Range<usize>) {
    match found.last_mut() {
        Some(last) if !has_word(text, &range) || !has_word(text, last) => last.end = range.end,
        _ => found.push(range),
    }
}

fn has_word(text: &str, range: &Range<usize>) -> bool {
    text.get(range.clone()).is_some_and(|part| part.contains(char::is_alphanumeric))
}

/// Marks the characters of code spans, backticks included.
fn code_spans(chars: &[char]) -> Vec<bool> {
    let mut code = vec![false; chars.len()];
    let runs = backtick_runs(chars);
    let mut next = 0;
    while let Some(&(open, length)) = runs.get(next) {
        next += 1;
        let rest = runs.get(next..).unwrap_or_default();
        let close = rest.iter().take(BACKTICK_RUNS_MAX).position(|run| run.1 == length);
        if let Some(close) = close
            && let Some(&(at, _)) = rest.get(close)
        {
            code.iter_mut().take(at + length).skip(open).for_each(|c| *c = true);
            next += close + 1;
        }
    }
    code
}

/// Start and length of every run of backticks.
fn backtick_runs(chars: &[char]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, _) in chars.iter().enumerate().filter(|(_, c)| **c == '`') {
        match runs.last_mut() {
            Some((open, length)) if *open + *length == at => *length += 1,
            _ => runs.push((at, 1)),
        }
    }
    runs
}

/// End of the sentence that began at `start`, if it ends with the character at `at`.
fn sentence_end(chars: &[char], start: usize, at: usize) -> Option<usize> {
    let c = *chars.get(at)?;
    if CJK_ENDS.contains(&c) {
        return Some(skip_while(chars, at, |c| is_sentence_end(c) || CLOSERS.contains(&c)));
    }
    let within_run = at > start && chars.get(at - 1).is_some_and(|c| SENTENCE_ENDS.contains(c));
    if !SENTENCE_ENDS.contains(&c) || within_run {
        return None;
    }
    let run_end = skip_while(chars, at, |c| SENTENCE_ENDS.contains(&c));
    let end = skip_while(chars, run_end, |c| CLOSERS.contains(&c));
    let Some(next) = chars.get(end) else { return Some(end) };
    if !next.is_whitespace() {
        return (is_unspaced(*next) && c != '.').then_some(end);
    }
    let following = chars.iter().skip(end).copied().find(|c| !c.is_whitespace()).unwrap_or(' ');
    let run = chars.get(at..run_end).unwrap_or_default();
    let ends = match run {
        ['.'] => {
            let (before, after) = (chars.get(start..at)?, chars.get(run_end..)?);
            is_full_stop(before, following) && !is_spaced_abbreviation(before, after)
        }
        _ if run.iter().all(|c| matches!(c, '.' | '…')) => !following.is_lowercase(),
        _ => true,
    };
    ends.then_some(end)
}

/// Whether a single dot after `before` ends a sentence.
fn is_full_stop(before: &[char], following: char) -> bool {
    let is_number = before.iter().all(|c| c.is_whitespace() || c.is_ascii_digit());
    if is_number {
        return false;
    }
    // Only the last word counts; the limit keeps long texts linear.
    let last = before.iter().rev().take(WORD_CHARS_MAX);
    let word = last.take_while(|c| c.is_alphanumeric() || **c == '.');
    let mut word: Vec<char> = word.flat_map(|c| c.to_lowercase()).collect();
    word.reverse();
    let word: String = word.into_iter().collect();
    if OPEN_ABBREVIATIONS.contains(&word.as_str()) {
        return false;
    }
    !CLOSING_ABBREVIATIONS.contains(&word.as_str()) || following.is_uppercase()
}

/// Whether the dot between these belongs to an abbreviation of single letters with spaces: `z. B.`.
fn is_spaced_abbreviation(before: &[char], after: &[char]) -> bool {
    let is_lower_letter = |c: &char| c.is_lowercase();
    let is_alone = |before: &[char]| !before.last().is_some_and(|c| c.is_alphanumeric());
    let [earlier @ .., letter] = before else { return false };
    let begins = letter.is_lowercase()
        && is_alone(earlier)
        && matches!(after, [' ', next, '.', ..] if next.is_alphabetic());
    let continues = letter.is_alphabetic()
        && matches!(earlier, [first @ .., c, '.', ' '] if is_lower_letter(c) && is_alone(first));
    begins || continues
}

fn skip_while(chars: &[char], from: usize, matches: impl Fn(char) -> bool) -> usize {
    from + chars.iter().skip(from).take_while(|c| matches(**c)).count()
}

/// A count with its noun, singular or plural.
pub fn count_noun(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
            (1, "Nimm ein Schloss, z.B. flock."),
            (1, "Nimm ein Schloss (z. B. flock), d. h. einen Eintrag."),
            (2, "It is plan b. It works."),
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
            (1, "It takes 5 min. at most."),
            (2, "It takes 5 min. Then it stops."),
            (1, "1. Only one."),
            (2, "Is it done? yes it is."),
            (2, "Restart it. tokio holds the lock."),
            (2, "**Never do it.** It hurts."),
            (2, "Done. 🎉 All green."),
            (1, "Done. 🎉"),
            (1, "Run it at 5 p.m. each day."),
            (1, "See https://example.org/a.b?c=d!e for more."),
        ] {
            assert_eq!(
                split_sentences(text).len(),
                count,
                "{text:?} gave {:?}",
                split_sentences(text)
            );
        }
    }

    #[test]
    fn a_range_is_widened_to_whole_sentences() {
        let text = "One two. Three four! Five.\n\nSix";
        let around = |part: &str| {
            let at = text.find(part).unwrap();
            text.get(sentences_around(text, at..at + part.len())).unwrap().trim()
        };
        assert_eq!(around("two"), "One two.");
        assert_eq!(around("two. Three"), "One two. Three four!");
        assert_eq!(around("Six"), "Six");
        assert_eq!(sentences_around("", 0..0), 0..0);
    }

    #[test]
    fn spelling_variants_of_a_sentence_are_equal() {
        assert_eq!(normalize_sentence("Use  a Lock."), normalize_sentence("use a lock"));
        assert_ne!(normalize_sentence("Use `A`."), normalize_sentence("Use `a`."));
        assert_ne!(normalize_sentence("Use a+b."), normalize_sentence("Use a-b."));
    }

    #[test]
    fn a_sentence_ends_with_one_full_stop() {
        for (text, expected) in
            [("a\nb", "a b."), ("a.", "a."), ("(a.)", "(a.)"), ("好。", "好。"), ("a!", "a!")]
        {
            assert_eq!(finish_sentence(text), expected);
        }
    }

    proptest! {
        #[test]
        fn sentences_cover_the_text_in_order(text in "([a-zA-Z `.?!…。\\n🎉)]|e\\.g\\. |etc\\. [A-Za-z]){0,80}") {
            let squeezed = |text: &str| text.split_whitespace().collect::<String>();
            if text.contains(char::is_alphanumeric) && !text.contains("\n") {
                prop_assert_eq!(squeezed(&split_sentences(&text).concat()), squeezed(&text));
            }
            let mut rest = text.as_str();
            for sentence in split_sentences(&text) {
                prop_assert!(sentence.contains(char::is_alphanumeric));
                let at = rest.find(sentence);
                prop_assert!(at.is_some(), "{sentence:?} in {rest:?}");
                rest = at.and_then(|at| rest.get(at + sentence.len()..)).unwrap_or_default();
            }
        }
    }
}
