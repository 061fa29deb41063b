//! The location of each lesson in a file, for searching and citing them.

use std::ops::Range;

use super::lesson_file::{LessonFile, find_opaque_lines, parse_label};
use super::limits::SAME_SIMILARITY;
use super::similarity::LessonProfile;

/// A part of a file of lessons: a lesson, or the loose text between two of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LessonSection {
    /// First line, from 1.
    pub line: usize,
    /// Byte range in the file, without the white space at its end.
    pub range: Range<usize>,
    /// Title of the lesson; `None` for loose text.
    pub title: Option<String>,
    /// Tags in lower case, without `#`.
    pub tags: Vec<String>,
    /// Byte ranges of its field labels and of its tags: every lesson has them, so they do not
    /// belong to the text to search.
    pub markup: Vec<Range<usize>>,
}

/// Splits a file into its lessons and the loose text between them, in order.
pub fn split_lessons(text: &str) -> Vec<LessonSection> {
    let mut sections = Vec::new();
    let mut from = 0;
    for block in LessonFile::parse(text).blocks {
        let range = from..from + block.raw.trim_end().len();
        let (title, tags) = match block.entry {
            Some(entry) => (Some(entry.title), entry.tags),
            None => (None, Vec::new()),
        };
        let markup = if title.is_some() { find_markup(&block.raw, from) } else { Vec::new() };
        from += block.raw.len();
        sections.push(LessonSection { line: block.line, range, title, tags, markup });
    }
    sections
}

/// Whether two lessons, each given as its text, say the same, so that tidying would merge them.
pub fn is_same_lesson(text: &str, other: &str) -> bool {
    let profile = |text: &str| {
        let file = LessonFile::parse(text);
        file.entries().next().map(|(_, _, entry)| LessonProfile::from_entry(entry))
    };
    match (profile(text), profile(other)) {
        (Some(one), Some(other)) => one.similarity(&other) > SAME_SIMILARITY,
        _ => false,
    }
}

/// Finds the labels of a lesson that begins at byte `from` of its file, and its lines of tags.
fn find_markup(raw: &str, from: usize) -> Vec<Range<usize>> {
    let lines: Vec<&str> = raw.split_inclusive('\n').collect();
    let mut ranges = Vec::new();
    let mut start = from;
    for (line, is_opaque) in lines.iter().zip(find_opaque_lines(&lines)) {
        if let Some((label, rest)) = parse_label(line).filter(|_| !is_opaque) {
            let is = |known: &str| label.eq_ignore_ascii_case(known);
            let trimmed = line.trim_end();
            if is("tags") {
                ranges.push(start..start + trimmed.len());
            } else if is("title") || is("description") || is("content") {
                ranges.push(start..start + trimmed.len() - rest.len());
            }
        }
        start += line.len();
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# Semantic insights\n\nAbout all.\n\n\
        **Title:** Hold no lock\n**Description:** One sentence.\n\n\
        **Content:** A guard blocks.\n```\n**Title:** not one\n```\n\n**Tags:** #rust #failure\n\n\
        ---\n\n**Title:** Second\n**Content:** More.\n";

    #[test]
    fn each_lesson_is_a_section_without_its_markup() {
        let sections = split_lessons(FILE);
        let titles: Vec<_> = sections.iter().map(|section| section.title.as_deref()).collect();
        assert_eq!(titles, [None, Some("Hold no lock"), None, Some("Second")]);
        let mut text = FILE.to_owned();
        for section in &sections {
            assert_eq!(
                section.line,
                FILE.get(..section.range.start).unwrap().matches('\n').count() + 1
            );
            for range in section.markup.iter().rev() {
                text.replace_range(range.clone(), &" ".repeat(range.len()));
            }
        }
        assert_eq!(sections[1].tags, ["rust", "failure"]);
        let words = tome_text::collapse_whitespace(text.get(sections[1].range.clone()).unwrap());
        assert_eq!(words, "Hold no lock One sentence. A guard blocks. ``` **Title:** not one ```");
        assert_eq!(
            text.get(sections[3].range.clone()).unwrap().trim(),
            "Second\n             More."
        );
    }

    #[test]
    fn the_same_lesson_is_recognized_in_other_files() {
        let one = "**Title:** Retry with backoff\n**Content:** The server drops bursts.";
        let same = "**Title:** Retry with a backoff\n\n**Content:** The server drops bursts.";
        assert!(is_same_lesson(one, same));
        assert!(!is_same_lesson(one, "**Title:** Name the branch\n**Content:** Short."));
        assert!(!is_same_lesson(one, "loose"));
    }
}
