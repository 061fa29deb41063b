//! A note as it is searched: what it says, cut into sections, and what it says of itself.
//!
//! Frontmatter and META comments are no text: in [`Page::text`] spaces stand in their place, byte for
//! byte, so that a place in it is the same place in the file. What they name (name, description,
//! keywords) is told beside it. A section is a heading with what is under it; a heading that has
//! nothing under it belongs to the next deeper one. A long section is cut between paragraphs, else
//! between lines, else between words.

use std::borrow::Cow;
use std::ops::Range;

use tome_text::{extends_grapheme, is_unspaced};

use super::limits::SECTION_WORDS_MAX;
use super::look::line_of;
use super::markdown::{Kind, Line, comments, frontmatter, lines};

/// A note, ready to be searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page<'a> {
    /// What it says, with the bytes where they are in the file.
    pub text: Cow<'a, str>,
    /// `name` of the frontmatter.
    pub name: Option<String>,
    /// `description` of the frontmatter.
    pub description: Option<String>,
    /// `keywords` and `tags` of the frontmatter and the META comment.
    pub keywords: Vec<String>,
    /// What it says, in pieces, in order.
    pub sections: Vec<Section>,
}

/// A piece of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section {
    /// The line on which it begins, from 1.
    pub line: u32,
    /// The headings above it, the highest first, with ` › ` between them; empty where there is none.
    pub heading: String,
    /// The bytes of the file, its own heading among them, without blank ones at the ends.
    pub range: Range<usize>,
}

/// A note, ready to be searched.
pub(crate) fn page(markdown: &str) -> Page<'_> {
    let mut page = Page {
        text: Cow::Borrowed(markdown),
        name: None,
        description: None,
        keywords: Vec::new(),
        sections: Vec::new(),
    };
    let front = frontmatter(markdown);
    page.read(markdown.get(front.clone()).unwrap_or_default());
    let lines = lines(markdown, front.end);
    let mut hidden: Vec<Range<usize>> = vec![front];
    for comment in comments(&lines) {
        let said = markdown.get(comment.clone()).unwrap_or_default();
        if let Some(meta) = meta(said) {
            page.read(meta);
            hidden.push(comment);
        }
    }
    hidden.retain(|range| !range.is_empty());
    if !hidden.is_empty() {
        page.text = Cow::Owned(blanked(markdown, &hidden));
    }
    page.sections = cut(&page.text, &lines);
    page
}

impl Page<'_> {
    /// Takes what keys say, one on each line or all on one.
    fn read(&mut self, said: &str) {
        let said = said.trim();
        let parts: Vec<&str> =
            if said.contains('\n') { said.lines().collect() } else { said.split(" - ").collect() };
        for part in parts {
            let part = part.trim().trim_start_matches("- ").trim_start();
            let Some((key, value)) = part.split_once(':') else { continue };
            let bare = |text: &str| text.trim().trim_matches(['"', '\'']).trim().to_owned();
            match key.trim() {
                "name" => self.name = Some(bare(value)).filter(|name| !name.is_empty()),
                "description" => {
                    self.description = Some(bare(value)).filter(|said| !said.is_empty());
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

/// What a META comment says. One with words behind its end is a comment like others.
fn meta(comment: &str) -> Option<&str> {
    let said = comment.trim_start_matches('\u{feff}').trim().strip_prefix("<!--")?;
    said.strip_suffix("-->")?.trim().strip_prefix("META:")
}

/// The text with spaces in place of what is hidden, byte for byte.
fn blanked(markdown: &str, hidden: &[Range<usize>]) -> String {
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

/// Cuts a text at its headings, and long pieces further.
fn cut(text: &str, lines: &[Line<'_>]) -> Vec<Section> {
    let mut out = Vec::new();
    let mut above: Vec<(usize, &str)> = Vec::new();
    let mut from = 0;
    // Whether the piece since `from` has anything but headings, each deeper than the one before.
    let (mut has_words, mut deepest) = (false, 0);
    for (number, line) in lines.iter().enumerate() {
        if let Kind::Heading(level) = line.kind {
            if has_words || level <= deepest {
                cut_long(text, lines.get(from..number).unwrap_or_default(), &above, &mut out);
                (from, has_words) = (number, false);
            }
            deepest = level;
            above.retain(|(other, _)| *other < level);
            above.push((level, line.raw.trim_matches(['#', ' ', '\t', '\r', '\n', '\u{feff}'])));
        } else {
            let said = text.get(line.at..line.end()).unwrap_or_default();
            has_words = has_words || !said.trim().is_empty();
        }
    }
    cut_long(text, lines.get(from..).unwrap_or_default(), &above, &mut out);
    out
}

/// Adds the pieces of one section, each about as long as a section may be.
fn cut_long(text: &str, lines: &[Line<'_>], above: &[(usize, &str)], out: &mut Vec<Section>) {
    let heading: Vec<&str> =
        above.iter().map(|(_, title)| *title).filter(|title| !title.is_empty()).collect();
    let heading = heading.join(" › ");
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return };
    let mut from = first.at;
    let mut line = line_of(text, from);
    for to in cuts(text, lines).into_iter().chain([last.end()]) {
        let piece = text.get(from..to).unwrap_or_default();
        let start = from + (piece.len() - piece.trim_start().len());
        line += lines_between(text, from, start);
        if !piece.trim().is_empty() {
            let range = start..start + piece.trim().len();
            out.push(Section { line, heading: heading.clone(), range });
        }
        line += lines_between(text, start, to);
        from = to;
    }
}

fn lines_between(text: &str, from: usize, to: usize) -> u32 {
    line_of(text.get(from..to).unwrap_or_default(), usize::MAX) - 1
}

/// Where a long section is cut.
fn cuts(text: &str, lines: &[Line<'_>]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut cost = 0;
    // Where the latest paragraph begins, and what stands before it.
    let mut paragraph: Option<(usize, usize)> = None;
    let mut was_blank = false;
    for line in lines {
        if was_blank && line.kind != Kind::Blank {
            paragraph = Some((line.at, cost));
        }
        was_blank = line.kind == Kind::Blank;
        let said = text.get(line.at..line.end()).unwrap_or_default();
        let more = Meter::of(said);
        if cost > 0 && cost + more > COST_MAX {
            match paragraph.take().filter(|(_, before)| *before > COST_MAX / 4) {
                Some((at, before)) if cost - before + more <= COST_MAX => {
                    found.push(at);
                    cost -= before;
                }
                _ => {
                    found.push(line.at);
                    cost = 0;
                }
            }
        }
        if more > COST_MAX {
            found.extend(line_cuts(said).into_iter().map(|at| line.at + at));
            (cost, paragraph) = (0, None);
        }
        cost += more.min(COST_MAX);
    }
    found
}

/// Where one long line is cut: between words, and in the middle of what is no word at all.
fn line_cuts(line: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let (mut meter, mut cost) = (Meter::default(), 0);
    let mut was_space = false;
    for (at, c) in line.char_indices() {
        let fits = if was_space { cost < COST_MAX * 9 / 10 } else { cost < COST_MAX };
        if !fits && !c.is_whitespace() && !extends_grapheme(c) {
            found.push(at);
            cost = 0;
        }
        cost += meter.cost(c);
        was_space = c.is_whitespace();
    }
    found
}

/// What a word costs. A character of a script without spaces is about half a word, and what is
/// longer than any word is several.
const WORD: usize = 16;
const COST_MAX: usize = SECTION_WORDS_MAX * WORD;

/// Counts words, of any script.
#[derive(Default)]
struct Meter {
    in_word: usize,
}

impl Meter {
    fn of(text: &str) -> usize {
        let mut meter = Self::default();
        text.chars().map(|c| meter.cost(c)).sum()
    }

    fn cost(&mut self, c: char) -> usize {
        if c.is_whitespace() {
            return usize::from(std::mem::take(&mut self.in_word) > 0) * WORD;
        }
        self.in_word += 1;
        match is_unspaced(c) {
            true => WORD / 2,
            false => usize::from(self.in_word > WORD),
        }
    }
}
