//! A file of entries: parsed leniently, written back without losing a byte.
//!
//! A file is a sequence of blocks, each an entry or loose text (headings, prose, separators); the
//! raw blocks concatenated are the file. An entry begins with a `**Title:**` line and ends at a
//! line of three or more dashes, at the next title, or at anything after its tags that is not a
//! field. In Tome's layout entries are separated by a `---` line between blank lines. Fenced code
//! and HTML comments at the beginning of a line are opaque.

use tome_text::collapse_whitespace;

use super::entry::{LessonEntry, Remark, is_heading, split_tags, trim_field_text};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LessonFile {
    pub(super) blocks: Vec<FileBlock>,
    line_end: &'static str,
}

/// An entry or a run of loose text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileBlock {
    /// First line, from 1.
    pub(super) line: usize,
    pub(super) raw: String,
    /// The parsed entry; `None` for loose text.
    pub(super) entry: Option<LessonEntry>,
}

impl LessonFile {
    pub(super) fn parse(text: &str) -> Self {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let shielded = find_opaque_lines(&lines);
        let mut reader = FileParser::default();
        for ((at, line), shielded) in lines.iter().enumerate().zip(shielded) {
            reader.push_line(at + 1, line, shielded);
        }
        reader.finish_entry();
        // Leading blank lines are not preserved, so they do not determine the line ending.
        let first = lines.iter().find(|line| !line.trim().is_empty());
        let windows = first.is_some_and(|line| line.ends_with("\r\n"));
        Self { blocks: reader.blocks, line_end: if windows { "\r\n" } else { "\n" } }
    }

    pub(super) fn render(&self) -> String {
        self.blocks.iter().map(|block| block.raw.as_str()).collect()
    }

    /// The entries with the indexes of their blocks.
    pub(super) fn entries(&self) -> impl Iterator<Item = (usize, &FileBlock, &LessonEntry)> {
        let blocks = self.blocks.iter().enumerate();
        blocks.filter_map(|(at, block)| Some((at, block, block.entry.as_ref()?)))
    }

    pub(super) fn entry_bytes(&self) -> usize {
        self.entries().map(|(_, block, _)| count_bytes(&block.raw)).sum()
    }

    /// Replaces an entry; the rest of the file stays unchanged.
    pub(super) fn replace_entry(&mut self, at: usize, entry: LessonEntry) {
        if let Some(block) = self.blocks.get_mut(at) {
            block.raw = entry.render().replace('\n', self.line_end);
            block.entry = Some(entry);
        }
    }

    /// Removes blocks by index, given in ascending order, and returns them.
    pub(super) fn take_blocks(&mut self, which: &[usize]) -> Vec<FileBlock> {
        let blocks = std::mem::take(&mut self.blocks).into_iter().enumerate();
        let (taken, left): (Vec<_>, Vec<_>) =
            blocks.partition(|(at, _)| which.binary_search(at).is_ok());
        self.blocks = left.into_iter().map(|(_, block)| block).collect();
        taken.into_iter().map(|(_, block)| block).collect()
    }

    /// Renders the file with an entry appended.
    pub(super) fn render_with_entry(&self, raw: &str) -> String {
        let end = self.line_end;
        let mut text = self.render();
        text.truncate(text.trim_end().len());
        if !text.is_empty() {
            let apart = !self.ends_with_entry() || text.ends_with(&format!("{end}---"));
            text += &if apart { end.repeat(2) } else { format!("{end}{end}---{end}{end}") };
        }
        text + &raw.trim_end().replace("\r\n", "\n").replace('\n', end) + end
    }

    /// Whether only separators follow the last entry.
    fn ends_with_entry(&self) -> bool {
        let text = |block: &&FileBlock| {
            block.entry.is_some() || !trim_loose_text(&block.raw, false).is_empty()
        };
        self.blocks.iter().rev().find(text).is_some_and(|block| block.entry.is_some())
    }

    /// Renders Tome's layout: one blank line between blocks, and `---` after each entry but the
    /// last block. Entries and loose text stay verbatim.
    pub(super) fn render_arranged(&self) -> String {
        let end = self.line_end;
        let mut text = String::new();
        let mut after_entry = false;
        for (at, block) in self.blocks.iter().enumerate() {
            let is_entry = block.entry.is_some();
            let raw =
                if is_entry { block.raw.trim_end() } else { trim_loose_text(&block.raw, at == 0) };
            if raw.is_empty() {
                continue;
            }
            if !text.is_empty() {
                text +=
                    &if after_entry { format!("{end}{end}---{end}{end}") } else { end.repeat(2) };
            }
            text += raw;
            after_entry = is_entry;
        }
        if !text.is_empty() {
            text += end;
        }
        text
    }
}

/// Size of a text regardless of its line endings.
pub(super) fn count_bytes(text: &str) -> usize {
    text.len() - text.matches('\r').count()
}

/// Strips separators and blank lines around loose text. Dashes at the beginning of a file may open
/// frontmatter, and dashes directly below text make it a heading; both stay.
fn trim_loose_text(raw: &str, first: bool) -> &str {
    let mut rest = raw;
    while let Some(line) = rest.split_inclusive('\n').next()
        && (line.trim().is_empty() || (!first && is_separator(line)))
    {
        rest = rest.strip_prefix(line).unwrap_or_default();
    }
    loop {
        rest = rest.trim_end();
        let line = rest.rsplit('\n').next().unwrap_or_default();
        let above = rest.strip_suffix(line).unwrap_or_default();
        let alone = above.is_empty() || above.ends_with("\n\n") || above.ends_with("\n\r\n");
        if first || !alone || !is_separator(line) {
            return rest;
        }
        rest = above;
    }
}

/// A line of three or more dashes.
pub(super) fn is_separator(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3 && line.bytes().all(|b| b == b'-')
}

/// Parses `**Label:** text` or `**Label**: text`.
pub(super) fn parse_label(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start_matches('\u{feff}');
    let bare = line.trim_start_matches(' ');
    if line.len() - bare.len() > 3 {
        return None;
    }
    let (name, rest) = bare.strip_prefix("**")?.split_once("**")?;
    let (name, rest) = match name.trim_end().strip_suffix(':') {
        Some(name) => (name, rest),
        None => (name, rest.strip_prefix(':')?),
    };
    let name = name.trim();
    let labels = !name.is_empty() && name.len() <= 60 && !name.contains(['*', '\n']);
    labels.then_some((name, rest.trim()))
}

/// Marks the lines inside fenced code and HTML comments.
pub(super) fn find_opaque_lines(lines: &[&str]) -> Vec<bool> {
    let mut shielded = vec![false; lines.len()];
    let mut at = 0;
    // Delimiters with no match up to the end; searching for them again would be quadratic.
    let mut never_closed: Vec<String> = Vec::new();
    while let Some(line) = lines.get(at) {
        let close = find_closing_delimiter(line)
            .filter(|close| !never_closed.contains(close))
            .and_then(|close| {
                let past = lines.iter().skip(at + 1).position(|line| is_closing_line(line, &close));
                if past.is_none() {
                    never_closed.push(close);
                }
                past
            });
        let taken = close.map_or(0, |close| close + 2);
        shielded.iter_mut().skip(at).take(taken).for_each(|line| *line = true);
        at += taken.max(1);
    }
    shielded
}

/// The delimiter that closes the fence or comment which a line opens.
fn find_closing_delimiter(line: &str) -> Option<String> {
    let line = line.trim();
    if line.starts_with("<!--") && !line.contains("-->") {
        return Some("-->".to_owned());
    }
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let marks: String = line.chars().take_while(|c| *c == mark).take(16).collect();
    let info = line.trim_start_matches(mark);
    (marks.len() >= 3 && !(mark == '`' && info.contains('`'))).then_some(marks)
}

fn is_closing_line(line: &str, close: &str) -> bool {
    let line = line.trim();
    match close {
        "-->" => line.contains(close),
        fence => line.starts_with(fence) && fence.chars().all(|c| line.trim_matches(c).is_empty()),
    }
}

/// Parses a file line by line.
#[derive(Default)]
struct FileParser {
    blocks: Vec<FileBlock>,
    open: Option<OpenEntry>,
}

struct OpenEntry {
    line: usize,
    entry: LessonEntry,
    field: EntryField,
    raw: String,
    /// Blank lines that become part of the entry only if more of it follows.
    blanks: String,
    tagged: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryField {
    Title,
    Description,
    Content,
    Remark,
    Tags,
}

impl FileParser {
    fn push_line(&mut self, number: usize, line: &str, shielded: bool) {
        let labelled = parse_label(line).filter(|_| !shielded);
        if let Some((name, rest)) = labelled
            && name.eq_ignore_ascii_case("title")
        {
            self.finish_entry();
            self.open = Some(OpenEntry::new(number, line, rest));
            return;
        }
        let goes_on = match &mut self.open {
            None => false,
            Some(_) if !shielded && is_separator(line) => false,
            Some(open) => match labelled {
                Some((name, rest)) => open.add_field(name, rest, line),
                None => open.add_text(line, shielded),
            },
        };
        if !goes_on {
            self.finish_entry();
            self.push_loose_text(number, line);
        }
    }

    fn push_loose_text(&mut self, line: usize, raw: &str) {
        match self.blocks.last_mut() {
            Some(last) if last.entry.is_none() => last.raw.push_str(raw),
            _ => self.blocks.push(FileBlock { line, raw: raw.to_owned(), entry: None }),
        }
    }

    fn finish_entry(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        open.entry.normalize_texts();
        let lines = open.raw.matches('\n').count();
        if open.entry.title.is_empty() {
            self.push_loose_text(open.line, &open.raw);
        } else {
            let entry = Some(open.entry);
            self.blocks.push(FileBlock { line: open.line, raw: open.raw, entry });
        }
        if !open.blanks.is_empty() {
            self.push_loose_text(open.line + lines, &open.blanks);
        }
    }
}

impl OpenEntry {
    fn new(line: usize, raw: &str, title: &str) -> Self {
        let entry = LessonEntry { title: title.to_owned(), ..LessonEntry::default() };
        let (raw, blanks) = (raw.to_owned(), String::new());
        Self { line, entry, field: EntryField::Title, raw, blanks, tagged: false }
    }

    /// Handles a labelled line. A second description or content becomes a remark; tags accumulate.
    fn add_field(&mut self, name: &str, rest: &str, raw: &str) -> bool {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        let entry = &mut self.entry;
        if is("description") && entry.description.is_empty() {
            entry.description = rest.to_owned();
            self.field = EntryField::Description;
        } else if is("content") && entry.content.is_empty() {
            entry.content = rest.to_owned();
            self.field = EntryField::Content;
        } else if is("tags") {
            split_tags(rest).for_each(|tag| entry.add_tag(&tag));
            self.field = EntryField::Tags;
            self.tagged = true;
        } else {
            entry.remarks.push(Remark::new(name, rest));
            self.field = EntryField::Remark;
        }
        self.keep_raw(raw);
        true
    }

    /// Handles an unlabelled line. Returns whether it belongs to the entry.
    fn add_text(&mut self, raw: &str, shielded: bool) -> bool {
        if raw.trim().is_empty() && !shielded {
            self.blanks.push_str(raw);
            return true;
        }
        let apart = !self.blanks.is_empty();
        let over = self.tagged && (apart || (is_heading(raw.trim_start()) && !shielded));
        let tags = !apart && raw.split_whitespace().all(|word| word.starts_with('#'));
        if over || (self.field == EntryField::Tags && (shielded || !tags)) {
            return false;
        }
        let text = raw.strip_suffix('\n').unwrap_or(raw);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let gap = self.blanks.matches('\n').count() + 1;
        let more = format!("{}{text}", "\n".repeat(gap));
        self.append_to_field(&more, apart || shielded, raw);
        self.keep_raw(raw);
        true
    }

    fn append_to_field(&mut self, more: &str, apart: bool, raw: &str) {
        let entry = &mut self.entry;
        match self.field {
            EntryField::Title | EntryField::Description if apart => {
                entry.remarks.push(Remark::new("", more));
                self.field = EntryField::Remark;
            }
            EntryField::Title => entry.title.push_str(more),
            EntryField::Description => entry.description.push_str(more),
            EntryField::Content => entry.content.push_str(more),
            EntryField::Remark => {
                if let Some(last) = entry.remarks.last_mut() {
                    last.text.push_str(more);
                }
            }
            EntryField::Tags => split_tags(raw).for_each(|tag| entry.add_tag(&tag)),
        }
    }

    fn keep_raw(&mut self, raw: &str) {
        self.raw.push_str(&std::mem::take(&mut self.blanks));
        self.raw.push_str(raw);
    }
}

impl LessonEntry {
    /// Whether it contains multi-line code or an HTML comment. If the delimiters are unbalanced,
    /// moving such an entry could swallow the next one, so it is never rewritten.
    pub(super) fn has_multiline_block(&self) -> bool {
        let remarks = self.remarks.iter().map(|remark| &remark.text);
        let mut texts = remarks.chain([&self.content]);
        texts.any(|text| text.lines().any(|line| find_closing_delimiter(line).is_some()))
    }

    /// Collapses title and description to one line and trims the rest.
    fn normalize_texts(&mut self) {
        self.title = collapse_whitespace(&self.title);
        self.description = collapse_whitespace(&self.description);
        self.content = trim_field_text(&self.content);
        for remark in &mut self.remarks {
            let labelled = !remark.label.is_empty();
            let text =
                if labelled { trim_field_text(&remark.text) } else { remark.text.trim().into() };
            remark.text = text;
        }
        self.remarks.retain(|remark| !(remark.label.is_empty() && remark.text.is_empty()));
    }
}
