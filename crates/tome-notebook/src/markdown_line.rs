//! Splits Markdown into lines and classifies each: frontmatter, code fence, HTML comment or text,
//! so that a heading or summary line inside code is not taken for a real one.
//!
//! Fences follow CommonMark, except that they may have any indentation and may open after a list
//! marker. A fence that is never closed extends to the end.

use std::str::SplitInclusive;

use crate::frontmatter;
use crate::lines::strip_line_ending;

/// The syntactic context of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineContext {
    /// Between the fences of the frontmatter, or one of the fences.
    Frontmatter,
    /// A code fence, or a line inside one.
    Code,
    /// Part of an HTML comment that opens at the beginning of a line.
    Comment,
    Text,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct MarkdownLine<'a> {
    /// The line with its ending.
    pub raw: &'a str,
    /// The line without its ending and without the file's byte order mark.
    pub text: &'a str,
    pub context: LineContext,
}

impl<'a> MarkdownLine<'a> {
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Level and text of a heading; `None` in code and comments.
    pub fn parse_heading(&self) -> Option<(usize, &'a str)> {
        if self.context == LineContext::Text { parse_heading(self.text) } else { None }
    }
}

/// Iterates over the lines of a file.
pub(crate) fn split_lines(text: &str) -> MarkdownLines<'_> {
    MarkdownLines { frontmatter_left: frontmatter::byte_len(text), ..split_fragment_lines(text) }
}

/// Iterates over the lines of a fragment, in which `---` opens no frontmatter.
pub(crate) fn split_fragment_lines(text: &str) -> MarkdownLines<'_> {
    MarkdownLines {
        raw: text.split_inclusive('\n'),
        is_first: true,
        frontmatter_left: 0,
        fence: None,
        in_comment: false,
    }
}

pub(crate) struct MarkdownLines<'a> {
    raw: SplitInclusive<'a, char>,
    is_first: bool,
    frontmatter_left: usize,
    fence: Option<CodeFence>,
    in_comment: bool,
}

impl MarkdownLines<'_> {
    /// Consumes the lines and returns the line that would close a fence still open at the end.
    pub fn find_unclosed_fence(mut self) -> Option<String> {
        self.by_ref().for_each(drop);
        self.fence.map(|fence| {
            let mark = fence.mark.to_string().repeat(fence.marks);
            format!("{}{mark}", " ".repeat(fence.indent))
        })
    }

    fn classify_line(&mut self, text: &str) -> LineContext {
        if let Some(fence) = self.fence {
            if fence.is_closed_by(text) {
                self.fence = None;
            }
            return LineContext::Code;
        }
        self.fence = CodeFence::parse_opening(text);
        if self.fence.is_some() {
            return LineContext::Code;
        }
        let opened = text.trim_start().strip_prefix("<!--");
        if !self.in_comment && opened.is_none() {
            return LineContext::Text;
        }
        let rest = if self.in_comment { text } else { opened.unwrap_or_default() };
        self.in_comment = !rest.contains("-->");
        LineContext::Comment
    }
}

impl<'a> Iterator for MarkdownLines<'a> {
    type Item = MarkdownLine<'a>;

    fn next(&mut self) -> Option<MarkdownLine<'a>> {
        let raw = self.raw.next()?;
        let mut text = strip_line_ending(raw);
        if std::mem::take(&mut self.is_first) {
            text = text.strip_prefix('\u{feff}').unwrap_or(text);
        }
        if self.frontmatter_left > 0 {
            self.frontmatter_left = self.frontmatter_left.saturating_sub(raw.len());
            return Some(MarkdownLine { raw, text, context: LineContext::Frontmatter });
        }
        Some(MarkdownLine { raw, text, context: self.classify_line(text) })
    }
}

#[derive(Debug, Clone, Copy)]
struct CodeFence {
    indent: usize,
    mark: char,
    marks: usize,
}

impl CodeFence {
    fn parse_opening(text: &str) -> Option<Self> {
        let mut inner = text.trim_start_matches([' ', '\t']);
        while let Some(item) = strip_list_marker(inner) {
            inner = item;
        }
        let mark = inner.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let language = inner.trim_start_matches(mark);
        let marks = inner.len() - language.len();
        // Three backticks closed on the same line are inline code.
        let is_inline = mark == '`' && language.contains('`');
        (marks >= 3 && !is_inline).then(|| Self { indent: text.len() - inner.len(), mark, marks })
    }

    fn is_closed_by(self, text: &str) -> bool {
        let marks = text.trim_matches([' ', '\t']);
        marks.len() >= self.marks && marks.chars().all(|mark| mark == self.mark)
    }
}

/// The text of a list item; `None` if the line is not one.
pub(crate) fn strip_list_marker(text: &str) -> Option<&str> {
    let digits = text.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let rest = if digits.len() < text.len() {
        digits.strip_prefix(['.', ')'])?
    } else {
        text.strip_prefix(['-', '*', '+'])?
    };
    rest.strip_prefix([' ', '\t']).map(|item| item.trim_start_matches([' ', '\t']))
}

fn parse_heading(text: &str) -> Option<(usize, &str)> {
    let inner = text.trim_start_matches(' ');
    let rest = inner.trim_start_matches('#');
    let level = inner.len() - rest.len();
    if text.len() - inner.len() > 3 || !(1..=6).contains(&level) {
        return None;
    }
    if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
        return None;
    }
    let title = rest.trim();
    let open = title.trim_end_matches('#');
    let is_closed = open.is_empty() || open.ends_with([' ', '\t']);
    Some((level, if is_closed { open.trim() } else { title }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check_contexts(text: &str, expected: &Expect) {
        let lines: Vec<String> =
            split_lines(text).map(|line| format!("{:?} {}", line.context, line.text)).collect();
        expected.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn each_line_is_classified() {
        check_contexts(
            "\u{feff}---\nname: x\n---\n# A\r\n~~~ sh\n```\n~~~\n<!-- a\n# b\n-->\n<!-- c --> d\n- ```\n  x\n  ```\n```a```\n    ````\n```\n",
            &expect![[r"
                Frontmatter ---
                Frontmatter name: x
                Frontmatter ---
                Text # A
                Code ~~~ sh
                Code ```
                Code ~~~
                Comment <!-- a
                Comment # b
                Comment -->
                Comment <!-- c --> d
                Code - ```
                Code   x
                Code   ```
                Text ```a```
                Code     ````
                Code ```"]],
        );
    }

    #[test]
    fn an_unclosed_fence_is_reported() {
        assert_eq!(
            split_lines("a\n  ~~~~ x\nb\n~~~\n").find_unclosed_fence().as_deref(),
            Some("  ~~~~")
        );
        assert_eq!(split_lines("1. ```\nb\n   ```\n").find_unclosed_fence(), None);
    }

    #[test]
    fn headings_follow_markdown() {
        let heading = |text| parse_heading(text);
        assert_eq!(heading("## A b ##"), Some((2, "A b")));
        assert_eq!(heading("   # C#"), Some((1, "C#")));
        assert_eq!(heading("#"), Some((1, "")));
        assert_eq!(heading("# #"), Some((1, "")));
        assert_eq!(heading("    # code"), None);
        assert_eq!(heading("#tag"), None);
        assert_eq!(heading("####### seven"), None);
    }
}
