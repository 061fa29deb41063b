//! A lesson as an entry in a file.
//!
//! ```text
//! **Title:** Hold no lock across an await
//! **Description:** One sentence.
//!
//! **Content:** Three to five sentences in one paragraph.
//!
//! **Updated [2026-11-15]:** What was learned later.
//!
//! **Previous Approach:** What was held before it was contradicted.
//!
//! **Related:** The title of another entry
//!
//! **Tags:** #rust #failure #semantic
//! ```
//!
//! The paragraphs between content and tags are remarks, with any label or none. Empty fields are
//! omitted. Parsing the output of `LessonEntry::render` and rendering it again is lossless.

use tome_text::collapse_whitespace;

use super::sentence::normalized_sentences;
use super::{LessonDraft, LessonKind};

pub(super) const PREVIOUS_LABEL: &str = "Previous Approach";
pub(super) const RELATED_LABEL: &str = "Related";
/// Label of text merged by tidying; undated, because tidying does not know when it was added.
pub(super) const ALSO_LABEL: &str = "Also";
/// Tag of an entry whose former approach was contradicted.
pub(super) const RECONSOLIDATED_TAG: &str = "reconsolidated";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LessonEntry {
    pub(super) title: String,
    pub(super) description: String,
    pub(super) content: String,
    pub(super) remarks: Vec<Remark>,
    /// In lower case, without `#` and without duplicates.
    pub(super) tags: Vec<String>,
}

/// A paragraph between content and tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Remark {
    /// E.g. `Updated [2026-11-15]`; empty if there is none.
    pub(super) label: String,
    pub(super) text: String,
}

/// Whether the approach worked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LessonOutcome {
    Success,
    Failure,
}

impl Remark {
    pub(super) fn new(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self { label: label.into(), text: text.into() }
    }

    pub(super) fn has_label(&self, label: &str) -> bool {
        self.label.eq_ignore_ascii_case(label)
    }

    /// Whether it is still valid: neither a previous approach nor a link.
    pub(super) fn is_valid(&self) -> bool {
        !self.has_label(PREVIOUS_LABEL) && !self.has_label(RELATED_LABEL)
    }
}

impl LessonEntry {
    /// Converts a valid draft, adding the tag of its type.
    pub(super) fn from_draft(draft: &LessonDraft) -> Self {
        let mut entry = Self {
            title: collapse_whitespace(&draft.title),
            description: collapse_whitespace(&draft.description),
            content: collapse_whitespace(&draft.content),
            ..Self::default()
        };
        draft.tags.iter().for_each(|tag| entry.add_tag(&normalize_tag(tag)));
        entry.add_kind_tag(draft.kind);
        entry
    }

    /// Renders the entry, ending with a line break.
    pub(super) fn render(&self) -> String {
        let mut text = render_field("Title", &self.title);
        if !self.description.is_empty() {
            text += &render_field("Description", &self.description);
        }
        if !self.content.is_empty() {
            text += &format!("\n{}", render_field("Content", &self.content));
        }
        for remark in &self.remarks {
            text += &format!("\n{}", render_field(&remark.label, &remark.text));
        }
        if !self.tags.is_empty() {
            text += &format!("\n{}", render_field("Tags", &format!("#{}", self.tags.join(" #"))));
        }
        text
    }

    /// Adds a tag unless the entry has it.
    pub(super) fn add_tag(&mut self, tag: &str) {
        if !tag.is_empty() && !self.has_tag(tag) {
            self.tags.push(tag.to_owned());
        }
    }

    /// Adds the tag of its type, at the end.
    pub(super) fn add_kind_tag(&mut self, kind: LessonKind) {
        self.add_tag(kind.as_str());
    }

    pub(super) fn has_tag(&self, tag: &str) -> bool {
        self.tags.iter().any(|known| known == tag)
    }

    /// The outcome tag, if there is exactly one.
    pub(super) fn outcome(&self) -> Option<LessonOutcome> {
        match (self.has_tag("success"), self.has_tag("failure")) {
            (true, false) => Some(LessonOutcome::Success),
            (false, true) => Some(LessonOutcome::Failure),
            _ => None,
        }
    }

    /// Every sentence that is still valid, normalized by [`tome_text::normalize_sentence`].
    pub(super) fn normalized_sentences(&self) -> std::collections::BTreeSet<String> {
        let remarks = self.remarks.iter().filter(|remark| remark.is_valid());
        let texts = [&self.title, &self.description, &self.content];
        texts
            .into_iter()
            .chain(remarks.map(|remark| &remark.text))
            .flat_map(|text| normalized_sentences(text))
            .collect()
    }

    /// Adds a remark, keeping previous approaches last.
    pub(super) fn add_remark(&mut self, remark: Remark) {
        if self.remarks.contains(&remark) {
            return;
        }
        let given_up = self.remarks.iter().position(|known| known.has_label(PREVIOUS_LABEL));
        match given_up.filter(|_| !remark.has_label(PREVIOUS_LABEL)) {
            Some(at) => self.remarks.insert(at, remark),
            None => self.remarks.push(remark),
        }
    }

    /// Links to another entry. Returns whether the link is new.
    pub(super) fn add_link(&mut self, title: &str) -> bool {
        let link = Remark::new(RELATED_LABEL, title);
        let known = self
            .remarks
            .iter()
            .any(|remark| remark.has_label(RELATED_LABEL) && remark.text == title);
        if !known {
            self.add_remark(link);
        }
        !known
    }
}

impl LessonOutcome {
    pub(super) fn tag(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
        }
    }
}

/// Normalizes a tag: lower case, without `#`.
pub(super) fn normalize_tag(tag: &str) -> String {
    tag.trim().trim_start_matches('#').to_lowercase()
}

/// Splits a line into tags.
pub(super) fn split_tags(line: &str) -> impl Iterator<Item = String> {
    line.split(|c: char| c.is_whitespace() || matches!(c, '#' | ',' | ';'))
        .filter(|tag| !tag.is_empty())
        .map(normalize_tag)
}

fn render_field(label: &str, text: &str) -> String {
    match (label, text) {
        ("", text) => format!("{text}\n"),
        (label, "") => format!("**{label}:**\n"),
        (label, text) if text.starts_with('\n') => format!("**{label}:**{text}\n"),
        (label, text) => format!("**{label}:** {text}\n"),
    }
}

/// Trims a field's text, but keeps the line break before a list or a code fence, which must start
/// at the beginning of a line.
pub(super) fn trim_field_text(text: &str) -> String {
    let trimmed = text.trim();
    let first = trimmed.lines().next().unwrap_or_default();
    let below = text.starts_with('\n') && (is_block_line(first) || first.starts_with("<!--"));
    if below {
        return format!("\n{trimmed}");
    }
    // The first line follows the label, where trailing whitespace is not preserved.
    let rest = trimmed.strip_prefix(first).unwrap_or_default();
    format!("{}{rest}", first.trim_end())
}

/// Whether a line is not prose: a list item, heading, fence, table row or quote.
pub(super) fn is_block_line(line: &str) -> bool {
    let line = line.trim_start();
    let bulleted = ["- ", "* ", "+ ", "• ", "> "].iter().any(|mark| line.starts_with(mark));
    let after_digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = after_digits.len() < line.len()
        && (after_digits.starts_with(". ") || after_digits.starts_with(") "));
    let bare = matches!(line.trim_end(), "-" | "*" | "+" | "•");
    let fenced = line.starts_with("```") || line.starts_with("~~~") || line.starts_with('|');
    bulleted || numbered || bare || fenced || is_heading(line)
}

pub(super) fn is_heading(line: &str) -> bool {
    let after = line.trim_start_matches('#');
    let marks = line.len() - after.len();
    (1..=6).contains(&marks) && (after.is_empty() || after.starts_with(char::is_whitespace))
}
