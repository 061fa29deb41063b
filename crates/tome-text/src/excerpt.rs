//! Excerpts: the part of a text that is shown, with `…` where the text continues.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

const ELLIPSIS: char = '…';

/// Fifths of the context that go before the match.
const BEFORE_OF_FIVE: usize = 2;

/// Characters by which a cut may move to avoid splitting a grapheme.
const GRAPHEME_CHARS_MAX: usize = 16;

/// A longer word is cut; a shorter one that does not fit is left out.
const LONG_WORD_CHARS: usize = 40;

/// A shorter excerpt gets no ellipsis.
const MARKED_CHARS_MIN: usize = 8;

/// In a longer text, all lines are joined.
const STRUCTURED_BYTES_MAX: usize = 64 * 1024;

/// The line breaks that an excerpt keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineBreaks {
    /// None: one line.
    Join,
    /// Those around list items, table rows, headings, quotes and code.
    Structured,
    /// All of them.
    Keep,
}

/// Collapses white space to single spaces and trims.
pub fn collapse_whitespace(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Returns the first `chars_max` characters.
pub fn first_chars(text: &str, chars_max: usize) -> &str {
    let end = text.char_indices().nth(chars_max).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or_default()
}

/// Truncates a text to `chars_max` characters, ellipsis included.
pub fn truncate_chars(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some(_) => {
            let kept = first_chars(text, chars_max.saturating_sub(1)).trim_end();
            format!("{kept}{ELLIPSIS}")
        }
        None => text.to_owned(),
    }
}

/// Collapses a text to one line of at most `chars_max` characters, ellipsis included.
pub fn shorten_line(text: &str, chars_max: usize) -> String {
    truncate_chars(&collapse_whitespace(text), chars_max)
}

/// Truncates a text to `bytes_max` bytes, to which an ellipsis is added.
pub fn truncate_bytes(text: &str, bytes_max: usize) -> String {
    match text.get(..text.floor_char_boundary(bytes_max)) {
        Some(kept) if kept.len() < text.len() => format!("{kept}{ELLIPSIS}"),
        _ => text.to_owned(),
    }
}

/// Truncates a text to `chars_max` characters, between words where possible, with an ellipsis. A
/// name in backticks stays complete or is closed.
pub fn truncate_words(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    // Leaves space for the ellipsis and a closing backtick.
    let kept: String = text.chars().take(chars_max.saturating_sub(2)).collect();
    let whole = match kept.rsplit_once(char::is_whitespace) {
        Some((words, last)) if last.chars().count() < 24 && !words.is_empty() => words,
        _ => &kept,
    };
    let mut cut = whole
        .trim_end_matches([' ', ',', ';', ':', '.', '-', '—', '–', '(', '，', '、'])
        .to_owned();
    if cut.matches('`').count() % 2 == 1 {
        // Half a name is useless: drop it if enough text is left.
        match cut.rfind('`') {
            Some(at) if at * 2 > cut.len() => cut.truncate(at),
            _ => cut.push('`'),
        }
        cut.truncate(cut.trim_end().len());
    }
    cut.push(ELLIPSIS);
    cut
}

/// Cuts an excerpt of `chars_max` characters around a match, between words where possible. A longer
/// match is truncated.
pub fn excerpt_around(
    text: &str,
    matched: &Range<usize>,
    chars_max: usize,
    breaks: LineBreaks,
) -> String {
    match breaks {
        LineBreaks::Structured if text.len() <= STRUCTURED_BYTES_MAX => {
            cut_excerpt(&join_prose_lines(text), matched, chars_max, true)
        }
        LineBreaks::Keep => cut_excerpt(text, matched, chars_max, true),
        LineBreaks::Structured | LineBreaks::Join => cut_excerpt(text, matched, chars_max, false),
    }
}

/// A line of Markdown, as far as its end matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Blank,
    Prose,
    /// Prose may continue it.
    ListItem,
    /// A heading, a quote, a table row or code.
    Block,
}

impl LineKind {
    fn classify(line: &str) -> Self {
        let bare = line.trim();
        let after_digits = bare.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_numbered = after_digits.len() < bare.len()
            && [". ", ") "].iter().any(|end| after_digits.starts_with(end));
        let begins = |marks: &[&str]| marks.iter().any(|mark| bare.starts_with(mark));
        if bare.is_empty() {
            Self::Blank
        } else if is_numbered || begins(&["- ", "* ", "+ ", "• "]) {
            Self::ListItem
        } else if begins(&["|", "> ", "# ", "## ", "### ", "#### "])
            || line.starts_with("    ")
            || line.starts_with('\t')
        {
            Self::Block
        } else {
            Self::Prose
        }
    }
}

/// Whether a line only separates the head of a table from its rows: `|---|:--|`.
pub fn is_table_rule(line: &str) -> bool {
    let bare = line.trim();
    bare.starts_with('|') && bare.contains("--") && bare.chars().all(|c| "|-: ".contains(c))
}

/// Replaces line ends within prose by spaces, so that offsets stay the same. Those next to list items,
/// table rows, headings, quotes and code stay. Rules of tables become spaces.
fn join_prose_lines(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut is_fenced = false;
    // The last line that was not blank, and whether blank lines followed it.
    let (mut last, mut has_gap) = (LineKind::Blank, false);
    for line in text.split_inclusive('\n') {
        if !is_fenced && is_table_rule(line) {
            joined.extend(std::iter::repeat_n(' ', line.len()));
            continue;
        }
        let is_fence = line.trim_start().starts_with("```");
        let kind = match LineKind::classify(line) {
            LineKind::Blank => LineKind::Blank,
            _ if is_fenced || is_fence => LineKind::Block,
            kind => kind,
        };
        is_fenced ^= is_fence;
        if kind == LineKind::Blank {
            has_gap = true;
        } else {
            let ends_block = last == LineKind::Block || last == LineKind::ListItem && has_gap;
            if (kind != LineKind::Prose || ends_block) && joined.ends_with(' ') {
                joined.pop();
                joined.push('\n');
            }
            // A list item goes on until a gap.
            let continues = kind == LineKind::Prose && last == LineKind::ListItem && !has_gap;
            (last, has_gap) = (if continues { last } else { kind }, false);
        }
        match line.strip_suffix('\n') {
            Some(line) => {
                joined.push_str(line);
                joined.push(' ');
            }
            None => joined.push_str(line),
        }
    }
    joined
}

fn cut_excerpt(text: &str, matched: &Range<usize>, chars_max: usize, keeps_lines: bool) -> String {
    let whole: Vec<char> = collapse_spaces(text.trim().chars(), keeps_lines)
        .take(chars_max.saturating_add(1))
        .collect();
    if whole.len() <= chars_max {
        return whole.into_iter().collect();
    }
    let (before, matched, after) = split_at_match(text, matched);
    if chars_max < MARKED_CHARS_MIN {
        return collapse_spaces(matched.chars().chain(after.chars()), keeps_lines)
            .take(chars_max)
            .collect();
    }
    // Both ends may need an ellipsis.
    let core_max = chars_max.saturating_sub(2);
    let mut core: Vec<char> =
        collapse_spaces(matched.chars(), keeps_lines).take(core_max + 1).collect();
    let is_long = core.len() > core_max;
    if is_long {
        truncate_graphemes(&mut core, MatchSide::After, core_max);
    }
    let left = core_max.saturating_sub(core.len());
    let mut head: Vec<char> =
        collapse_spaces(before.chars().rev(), keeps_lines).take(left + 1).collect();
    let after = if is_long { "" } else { after };
    let mut tail: Vec<char> = collapse_spaces(after.chars(), keeps_lines).take(left + 1).collect();
    let for_head = (left * BEFORE_OF_FIVE / 5).max(left.saturating_sub(tail.len()));
    let more_before = shorten(&mut head, MatchSide::Before, for_head);
    let more_after =
        shorten(&mut tail, MatchSide::After, left.saturating_sub(head.len())) || is_long;

    head.reverse();
    let shown: String = head.iter().chain(&core).chain(&tail).collect();
    let shown = if more_before { skip_empty_line(&shown) } else { &shown };
    let mut excerpt = String::with_capacity(shown.len() + 2 * ELLIPSIS.len_utf8());
    excerpt.extend(more_before.then_some(ELLIPSIS));
    excerpt.push_str(shown.trim());
    excerpt.extend(more_after.then_some(ELLIPSIS));
    excerpt
}

/// Drops a first line of which only punctuation is left, such as the end of a table row.
fn skip_empty_line(shown: &str) -> &str {
    match shown.trim_start().split_once('\n') {
        Some((first, rest)) if !first.contains(char::is_alphanumeric) => rest,
        _ => shown,
    }
}

/// Splits a text into the part before a match, the match, and the rest. White space at its ends
/// belongs to the surroundings; a match of only white space moves to the next word.
fn split_at_match<'a>(text: &'a str, matched: &Range<usize>) -> (&'a str, &'a str, &'a str) {
    let start = text.floor_char_boundary(matched.start);
    let end = text.floor_char_boundary(matched.end.max(start));
    let matched = text.get(start..end).unwrap_or_default();
    let rest = text.get(start..).unwrap_or_default();
    let start = start + (rest.len() - rest.trim_start().len());
    let end = start + matched.trim().len();
    let part = |range: Range<usize>| text.get(range).unwrap_or_default();
    (part(0..start).trim_start(), part(start..end), part(end..text.len()).trim_end())
}

/// Collapses white space to single spaces, or to line ends where it has one and `keeps_lines`, without
/// trimming.
fn collapse_spaces(
    chars: impl Iterator<Item = char>,
    keeps_lines: bool,
) -> impl Iterator<Item = char> {
    let mut chars = chars.peekable();
    std::iter::from_fn(move || {
        let first = chars.next()?;
        if !first.is_whitespace() {
            return Some(first);
        }
        let mut has_line_end = first == '\n';
        while let Some(c) = chars.next_if(|c| c.is_whitespace()) {
            has_line_end |= c == '\n';
        }
        Some(if has_line_end && keeps_lines { '\n' } else { ' ' })
    })
}

/// The side of the match on which text is shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MatchSide {
    Before,
    After,
}

/// Shortens the text on one side of the match, between words if possible. Returns whether it did.
fn shorten(text: &mut Vec<char>, direction: MatchSide, chars_max: usize) -> bool {
    if text.len() <= chars_max {
        return false;
    }
    let beyond = text.get(chars_max).is_some_and(|c| c.is_whitespace());
    let last_space = text.iter().take(chars_max).rposition(|c| c.is_whitespace());
    match last_space {
        _ if beyond => text.truncate(chars_max),
        // In an unspaced script or one long word, cutting at the space would leave too little.
        Some(at) if at * 2 >= chars_max || chars_max - at <= LONG_WORD_CHARS => text.truncate(at),
        _ => truncate_graphemes(text, direction, chars_max),
    }
    true
}

/// Truncates without splitting a grapheme.
fn truncate_graphemes(chars: &mut Vec<char>, direction: MatchSide, chars_max: usize) {
    let splits = |at: usize| {
        let inner = at.checked_sub(1).and_then(|inner| chars.get(inner)).copied();
        let (left, right) = match direction {
            MatchSide::After => (inner, chars.get(at).copied()),
            MatchSide::Before => (chars.get(at).copied(), inner),
        };
        left == Some(JOINER) || right.is_some_and(extends_grapheme)
    };
    let whole =
        (chars_max.saturating_sub(GRAPHEME_CHARS_MAX)..=chars_max).rev().find(|at| !splits(*at));
    chars.truncate(whole.filter(|at| *at > 0).unwrap_or(chars_max));
}

/// Joins the parts of an emoji.
const JOINER: char = '\u{200d}';

/// Whether a character is drawn with the one before it: combining marks, variation selectors,
/// Hangul vowels and final consonants, skin tones, tags and joiners.
pub fn extends_grapheme(c: char) -> bool {
    c >= '\u{300}'
        && (is_combining_mark(c)
            || matches!(c, JOINER | '\u{1160}'..='\u{11ff}' | '\u{1f3fb}'..='\u{1f3ff}'
                | '\u{e0020}'..='\u{e007f}'))
}

#[cfg(test)]
mod tests;
