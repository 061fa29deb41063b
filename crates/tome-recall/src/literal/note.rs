//! Parses a note for searching: text, sections and metadata.
//!
//! Frontmatter and META comments are not searchable text: [`ParsedNote::text`] has spaces in their
//! place, so that byte offsets stay valid. Their name, description and keywords are returned
//! separately. A section is a heading with its text; a heading without text is merged with the next
//! deeper one. Long sections are split between paragraphs, then lines, then words.

use std::borrow::Cow;
use std::ops::Range;

use tome_text::{extends_grapheme, is_unspaced};

use super::limits::SECTION_WORDS_MAX;
use super::markdown::{
    ClassifiedLine, ClassifiedLineKind, find_comments, find_frontmatter, split_lines,
};
use super::text_match::line_number;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParsedNote<'a> {
    /// Searchable text, with the same byte offsets as the file.
    pub text: Cow<'a, str>,
    pub name: Option<String>,
    pub description: Option<String>,
    /// `keywords` and `tags` of the frontmatter and of META comments.
    pub keywords: Vec<String>,
    pub sections: Vec<NoteSection>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoteSection {
    /// First line, counted from 1.
    pub line: u32,
    /// Headings from the outermost on, joined with ` › `; empty if there are none.
    pub heading: String,
    /// Byte range in the file, including its heading, trimmed of white space.
    pub range: Range<usize>,
}

pub(crate) fn parse_note(markdown: &str) -> ParsedNote<'_> {
    let mut page = ParsedNote {
        text: Cow::Borrowed(markdown),
        name: None,
        description: None,
        keywords: Vec::new(),
        sections: Vec::new(),
    };
    let front = find_frontmatter(markdown);
    page.read_metadata(markdown.get(front.clone()).unwrap_or_default());
    let lines = split_lines(markdown, front.end);
    let mut hidden: Vec<Range<usize>> = vec![front];
    for comment in find_comments(&lines) {
        let text = markdown.get(comment.clone()).unwrap_or_default();
        if let Some(meta) = parse_meta_comment(text) {
            page.read_metadata(meta);
            hidden.push(comment);
        }
    }
    hidden.retain(|range| !range.is_empty());
    if !hidden.is_empty() {
        page.text = Cow::Owned(blank_out(markdown, &hidden));
    }
    page.sections = split_sections(&page.text, &lines);
    page
}

impl ParsedNote<'_> {
    /// Reads metadata keys, one per line or all on one line.
    fn read_metadata(&mut self, metadata: &str) {
        let metadata = metadata.trim();
        let parts: Vec<&str> = if metadata.contains('\n') {
            metadata.lines().collect()
        } else {
            metadata.split(" - ").collect()
        };
        for part in parts {
            let part = part.trim().trim_start_matches("- ").trim_start();
            let Some((key, value)) = part.split_once(':') else { continue };
            let bare = |text: &str| text.trim().trim_matches(['"', '\'']).trim().to_owned();
            match key.trim() {
                "name" => self.name = Some(bare(value)).filter(|name| !name.is_empty()),
                "description" => {
                    self.description = Some(bare(value)).filter(|text| !text.is_empty());
                }
                "keywords" | "tags" => {
                    let list = value.trim().trim_matches(['[', ']']).split(',');
                    self.keywords.extend(list.map(bare).filter(|word| !word.is_empty()));
                }
                _ => {}
            }
        }
    }
}

/// Content of a META comment. `None` if text follows the comment.
fn parse_meta_comment(comment: &str) -> Option<&str> {
    let content = comment.trim_start_matches('\u{feff}').trim().strip_prefix("<!--")?;
    content.strip_suffix("-->")?.trim().strip_prefix("META:")
}

/// Replaces ranges by spaces, byte for byte.
pub(crate) fn blank_out(markdown: &str, hidden: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut at = 0;
    for range in hidden {
        out.push_str(markdown.get(at..range.start).unwrap_or_default());
        let gone = markdown.get(range.clone()).unwrap_or_default();
        out.extend(gone.bytes().map(|byte| match byte {
            b'\n' | b'\r' => char::from(byte),
            _ => ' ',
        }));
        at = range.end;
    }
    out.push_str(markdown.get(at..).unwrap_or_default());
    out
}

/// Splits a text at its headings, and long sections further.
fn split_sections(text: &str, lines: &[ClassifiedLine<'_>]) -> Vec<NoteSection> {
    let mut out = Vec::new();
    let mut above: Vec<(usize, &str)> = Vec::new();
    let mut from = 0;
    // Whether the section since `from` has text; without text, headings merge while they get
    // deeper.
    let (mut has_words, mut deepest) = (false, 0);
    for (number, line) in lines.iter().enumerate() {
        if let ClassifiedLineKind::Heading(level) = line.kind {
            if has_words || level <= deepest {
                push_section(text, lines.get(from..number).unwrap_or_default(), &above, &mut out);
                (from, has_words) = (number, false);
            }
            deepest = level;
            above.retain(|(other, _)| *other < level);
            above.push((level, line.raw.trim_matches(['#', ' ', '\t', '\r', '\n', '\u{feff}'])));
        } else {
            let line_text = text.get(line.at..line.end()).unwrap_or_default();
            has_words = has_words || !line_text.trim().is_empty();
        }
    }
    push_section(text, lines.get(from..).unwrap_or_default(), &above, &mut out);
    out
}

/// Adds the parts of one section, each within the size limit.
fn push_section(
    text: &str,
    lines: &[ClassifiedLine<'_>],
    above: &[(usize, &str)],
    out: &mut Vec<NoteSection>,
) {
    let heading: Vec<&str> =
        above.iter().map(|(_, title)| *title).filter(|title| !title.is_empty()).collect();
    let heading = heading.join(" › ");
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return };
    let mut from = first.at;
    let mut line = line_number(text, from);
    for to in find_section_cuts(text, lines).into_iter().chain([last.end()]) {
        let piece = text.get(from..to).unwrap_or_default();
        let start = from + (piece.len() - piece.trim_start().len());
        line += count_lines(text, from, start);
        if !piece.trim().is_empty() {
            let range = start..start + piece.trim().len();
            out.push(NoteSection { line, heading: heading.clone(), range });
        }
        line += count_lines(text, start, to);
        from = to;
    }
}

fn count_lines(text: &str, from: usize, to: usize) -> u32 {
    line_number(text.get(from..to).unwrap_or_default(), usize::MAX) - 1
}

/// Offsets at which a long section is split.
fn find_section_cuts(text: &str, lines: &[ClassifiedLine<'_>]) -> Vec<usize> {
    let mut cuts = Vec::new();
    let mut cost = 0;
    // Start of the current paragraph, and the cost before it.
    let mut paragraph: Option<(usize, usize)> = None;
    let mut was_blank = false;
    for line in lines {
        if was_blank && line.kind != ClassifiedLineKind::Blank {
            paragraph = Some((line.at, cost));
        }
        was_blank = line.kind == ClassifiedLineKind::Blank;
        let line_text = text.get(line.at..line.end()).unwrap_or_default();
        let more = WordMeter::measure_text(line_text);
        if cost > 0 && cost + more > COST_MAX {
            match paragraph.take().filter(|(_, before)| *before > COST_MAX / 4) {
                Some((at, before)) if cost - before + more <= COST_MAX => {
                    cuts.push(at);
                    cost -= before;
                }
                _ => {
                    cuts.push(line.at);
                    cost = 0;
                }
            }
        }
        if more > COST_MAX {
            cuts.extend(find_line_cuts(line_text).into_iter().map(|at| line.at + at));
            (cost, paragraph) = (0, None);
        }
        cost += more.min(COST_MAX);
    }
    cuts
}

/// Offsets at which a long line is split: between words, or inside an overlong word.
fn find_line_cuts(line: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let (mut meter, mut cost) = (WordMeter::default(), 0);
    let mut was_space = false;
    for (at, c) in line.char_indices() {
        let fits = if was_space { cost < COST_MAX * 9 / 10 } else { cost < COST_MAX };
        if !fits && !c.is_whitespace() && !extends_grapheme(c) {
            found.push(at);
            cost = 0;
        }
        cost += meter.char_cost(c);
        was_space = c.is_whitespace();
    }
    found
}

/// Cost of a word. A character of a script without spaces costs half as much; an overlong word
/// costs more.
const WORD_COST: usize = 16;
const COST_MAX: usize = SECTION_WORDS_MAX * WORD_COST;

/// Counts the cost of text in any script.
#[derive(Default)]
struct WordMeter {
    in_word: usize,
}

impl WordMeter {
    fn measure_text(text: &str) -> usize {
        let mut meter = Self::default();
        text.chars().map(|c| meter.char_cost(c)).sum()
    }

    fn char_cost(&mut self, c: char) -> usize {
        if c.is_whitespace() {
            return usize::from(std::mem::take(&mut self.in_word) > 0) * WORD_COST;
        }
        self.in_word += 1;
        if is_unspaced(c) { WORD_COST / 2 } else { usize::from(self.in_word > WORD_COST) }
    }
}
