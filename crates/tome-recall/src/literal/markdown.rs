//! Classifies the lines of a Markdown file: frontmatter, code, comments, headings, text.

use std::ops::Range;

/// Range of the frontmatter: from `---` on the first line to the next, with a key in between.
pub(super) fn find_frontmatter(markdown: &str) -> Range<usize> {
    let is_fence = |line: &str| line.trim_end() == "---";
    let mut end = 0;
    let mut has_key = false;
    for (number, raw) in markdown.split_inclusive('\n').enumerate() {
        end += raw.len();
        let line = raw.trim_start_matches('\u{feff}');
        match (number, is_fence(line)) {
            (0, false) => return 0..0,
            (0, true) => {}
            (_, true) => return if has_key { 0..end } else { 0..0 },
            (_, false) => {
                has_key =
                    has_key || (line.contains(':') && !line.starts_with(['#', ' ', '\t', ':']));
            }
        }
    }
    0..0
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClassifiedLineKind {
    /// Frontmatter or code.
    Other,
    /// Part of a comment that starts at the beginning of a line.
    Comment,
    Blank,
    Text,
    Heading(usize),
}

/// A line with its terminator and byte offset.
pub(super) struct ClassifiedLine<'a> {
    pub at: usize,
    pub raw: &'a str,
    pub kind: ClassifiedLineKind,
}

impl ClassifiedLine<'_> {
    pub fn end(&self) -> usize {
        self.at + self.raw.len()
    }
}

/// Splits a file into lines; `body` is the end of the frontmatter.
pub(super) fn split_lines(markdown: &str, body: usize) -> Vec<ClassifiedLine<'_>> {
    let (mut at, mut fence, mut in_comment) = (0, None, false);
    let mut found = Vec::new();
    for raw in markdown.split_inclusive('\n') {
        let kind = if at < body {
            ClassifiedLineKind::Other
        } else {
            classify_line(raw, &mut fence, &mut in_comment)
        };
        found.push(ClassifiedLine { at, raw, kind });
        at += raw.len();
    }
    found
}

/// Character and length of a code fence.
type FenceMark = (char, usize);

fn classify_line(
    raw: &str,
    fence: &mut Option<FenceMark>,
    in_comment: &mut bool,
) -> ClassifiedLineKind {
    let text = raw.trim_start_matches('\u{feff}').trim();
    if *in_comment {
        *in_comment = !text.contains("-->");
        return ClassifiedLineKind::Comment;
    }
    let marks = parse_fence(text);
    if let Some((mark, count)) = *fence {
        if marks.is_some_and(|(with, by)| with == mark && by >= count)
            && text.trim_start_matches(mark).is_empty()
        {
            *fence = None;
        }
        return ClassifiedLineKind::Other;
    }
    if marks.is_some() {
        *fence = marks;
        return ClassifiedLineKind::Other;
    }
    if let Some(opened) = text.strip_prefix("<!--") {
        *in_comment = !opened.contains("-->");
        return ClassifiedLineKind::Comment;
    }
    match (text.is_empty(), heading_level(raw)) {
        (true, _) => ClassifiedLineKind::Blank,
        (false, Some(level)) => ClassifiedLineKind::Heading(level),
        (false, None) => ClassifiedLineKind::Text,
    }
}

/// Parses an opening or closing code fence, possibly in a list item.
fn parse_fence(text: &str) -> Option<FenceMark> {
    let inner = ["- ", "* ", "+ "].iter().find_map(|item| text.strip_prefix(item)).unwrap_or(text);
    let inner = inner.trim_start();
    let mark = inner.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let language = inner.trim_start_matches(mark);
    let marks = inner.len() - language.len();
    // Backticks that close on the same line are inline code.
    (marks >= 3 && !(mark == '`' && language.contains('`'))).then_some((mark, marks))
}

fn heading_level(raw: &str) -> Option<usize> {
    let text = raw.trim_start_matches('\u{feff}').trim_end();
    let inner = text.trim_start_matches(' ');
    let words = inner.trim_start_matches('#');
    let level = inner.len() - words.len();
    let is_heading = text.len() - inner.len() <= 3
        && (1..=6).contains(&level)
        && (words.is_empty() || words.starts_with([' ', '\t']));
    is_heading.then_some(level)
}

/// Ranges of comments that occupy whole lines.
pub(super) fn find_comments(lines: &[ClassifiedLine<'_>]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut is_open = false;
    for line in lines.iter().filter(|line| line.kind == ClassifiedLineKind::Comment) {
        match found.last_mut().filter(|_| is_open) {
            Some(open) => open.end = line.end(),
            None => found.push(line.at..line.end()),
        }
        is_open = !line.raw.contains("-->");
    }
    if is_open {
        found.pop();
    }
    found
}
