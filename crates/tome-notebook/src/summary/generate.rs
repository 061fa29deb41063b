//! Generates a summary from the titles of a file's entries, the keys of its bullets, or its first
//! words. Under ten words, since every prompt that lists the file pays for them.

use tome_text::{StopClass, is_stop_word, split_sentences};

use super::parse_summary_line;
use crate::limits::SUMMARY_WORDS_MAX;
use crate::markdown_line::{LineContext, split_lines, strip_list_marker};

/// Characters that count as one word, for scripts without spaces.
const WORD_CHARS: usize = 16;
const SUMMARY_CHARS_MAX: usize = 100;
/// Longer text before a colon is a sentence, not a key.
const KEY_WORDS_MAX: usize = 4;

/// Generates a one-line summary of a file; empty if the file has no content.
pub(crate) fn generate_summary(text: &str) -> String {
    let outline = FileOutline::parse(text);
    let mut summary = SummaryBuilder::default();
    if !outline.titles.is_empty() {
        // Newest first: entries are appended at the end.
        let each = SUMMARY_WORDS_MAX / outline.titles.len().min(2);
        outline.titles.iter().rev().for_each(|title| summary.add_label(title, each));
    } else if !outline.keys.is_empty() || !outline.bullets.is_empty() {
        outline.keys.iter().for_each(|key| summary.add_label(key, KEY_WORDS_MAX));
        let each = SUMMARY_WORDS_MAX / outline.bullets.len().clamp(1, 3);
        outline.bullets.iter().for_each(|bullet| summary.add_label(bullet, each));
    } else {
        summary
            .add_label(&strip_markup(find_first_sentence(&outline.paragraph)), SUMMARY_WORDS_MAX);
    }
    summary.text
}

/// The parts of a file that a summary can be made from.
#[derive(Default)]
struct FileOutline {
    /// Level-2 headings, in file order.
    titles: Vec<String>,
    /// Keys of bullets such as `Role: developer`, in lower case.
    keys: Vec<String>,
    /// Bullets without a key.
    bullets: Vec<String>,
    paragraph: String,
}

impl FileOutline {
    fn parse(text: &str) -> Self {
        let mut outline = Self::default();
        let mut is_before_end = true;
        for line in split_lines(text)
            .filter(|line| line.context == LineContext::Text && parse_summary_line(line).is_none())
        {
            if let Some((level, title)) = line.parse_heading() {
                let title = strip_markup(strip_date(title));
                outline.titles.extend(Some(title).filter(|title| level == 2 && !title.is_empty()));
            } else if let Some(item) =
                strip_list_marker(line.text.strip_prefix(' ').unwrap_or(line.text))
            {
                outline.add_bullet(item);
            } else if is_before_end && !is_thematic_break(line.text) {
                is_before_end = !line.is_blank() || outline.paragraph.is_empty();
                outline.paragraph.push_str(line.text.trim());
                outline.paragraph.push_str(if line.is_blank() { "" } else { " " });
            }
        }
        outline
    }

    fn add_bullet(&mut self, item: &str) {
        let Some((key, value)) = split_key_value(item) else {
            let bullet = strip_markup(find_first_sentence(item));
            return self.bullets.extend(Some(bullet).filter(|bullet| !bullet.is_empty()));
        };
        match (key.as_str(), self.titles.last_mut()) {
            ("summary", Some(title)) => {
                let own = strip_markup(value);
                if !own.is_empty() && count_label_words(&own) < count_label_words(title) {
                    *title = own;
                }
            }
            ("summary" | "updated" | "date", _) => {}
            _ => self.keys.push(key),
        }
    }
}

#[derive(Default)]
struct SummaryBuilder {
    text: String,
    labels: Vec<String>,
    words: usize,
    is_full: bool,
}

impl SummaryBuilder {
    /// Adds a label if it fits. Once one does not, nothing more is added: older entries would mislead.
    fn add_label(&mut self, label: &str, words_max: usize) {
        if self.is_full {
            return;
        }
        let label = shorten_label(label, words_max);
        if label.is_empty() || self.labels.contains(&label.to_lowercase()) {
            return;
        }
        let words = count_label_words(&label);
        let chars = self.text.chars().count() + 2 + label.chars().count();
        self.is_full = self.words + words > SUMMARY_WORDS_MAX || chars > SUMMARY_CHARS_MAX + 2;
        if self.is_full {
            return;
        }
        self.words += words;
        self.labels.push(label.to_lowercase());
        self.text.push_str(if self.text.is_empty() { "" } else { ", " });
        self.text.push_str(&label);
    }
}

/// Counts words, long ones as several.
fn count_label_words(text: &str) -> usize {
    text.split_whitespace().map(|word| word.chars().count().div_ceil(WORD_CHARS)).sum()
}

/// Shortens to `words_max` words, or to a part of the first.
fn shorten_label(label: &str, words_max: usize) -> String {
    let mut out = String::new();
    let mut words = 0;
    for word in label.split_whitespace() {
        words += count_label_words(word);
        let chars = out.chars().count() + 1 + word.chars().count();
        if words <= words_max && chars <= SUMMARY_CHARS_MAX {
            out.push_str(if out.is_empty() { "" } else { " " });
            out.push_str(word);
            continue;
        }
        if out.is_empty() {
            let chars_max = (words_max * WORD_CHARS).min(SUMMARY_CHARS_MAX);
            out.extend(word.chars().take(chars_max.saturating_sub(1)));
            out.push('…');
        }
        return trim_dangling_words(&out).to_owned();
    }
    out
}

/// Removes trailing words that need another one after them.
fn trim_dangling_words(cut: &str) -> &str {
    let dangles = |word: &str| {
        is_stop_word(word, StopClass::DANGLING)
            || word.chars().all(|c| c.is_ascii_punctuation() || c == '→')
    };
    let mut cut = cut;
    while let Some((before, last)) = cut.rsplit_once(' ')
        && dangles(last)
    {
        cut = before;
    }
    cut.trim_end_matches(EDGE_PUNCTUATION)
}

/// The first sentence or clause, without its final punctuation.
fn find_first_sentence(text: &str) -> &str {
    let first = split_sentences(text).into_iter().next().unwrap_or(text);
    let first = first.split_once("; ").map_or(first, |(clause, _)| clause);
    let first = first.trim_end_matches(['.', '!', '?', '。', '！', '？']);
    // A single short word is probably an abbreviation, or too short to inform.
    if first.split_whitespace().nth(1).is_some() || first.chars().count() > 4 {
        first
    } else {
        text
    }
}

const EDGE_PUNCTUATION: [char; 9] = [',', ';', ':', '.', '-', '–', '—', '>', ' '];

/// Strips Markdown markup, articles, and punctuation at both ends.
fn strip_markup(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    for (nth, part) in text.split("](").enumerate() {
        // Drop the link's target.
        let part =
            if nth == 0 { part } else { part.split_once(')').map_or(part, |(_, rest)| rest) };
        bare.extend(part.chars().map(|part| if part.is_control() { ' ' } else { part }));
    }
    bare.retain(|part| !"*`[]".contains(part));
    let mut before = ' ';
    bare.retain(|part| std::mem::replace(&mut before, part) != ',' || part != ',');
    let is_article =
        |word: &&str| ["a", "an", "the"].iter().any(|it| it.eq_ignore_ascii_case(word));
    let (articles, words): (Vec<&str>, Vec<&str>) = bare.split_whitespace().partition(is_article);
    let words = if words.is_empty() { articles } else { words };
    words.join(" ").trim_matches(EDGE_PUNCTUATION).to_owned()
}

/// Strips a leading date from a title, unless nothing else would be left.
fn strip_date(title: &str) -> &str {
    let bare = title.trim_start_matches(['[', '(']);
    let Some((day, rest)) = bare.split_at_checked(10) else { return title };
    let is_day = day.chars().enumerate().all(|(nth, part)| match nth {
        4 | 7 => part == '-',
        _ => part.is_ascii_digit(),
    });
    let rest = rest.trim_start_matches([']', ')']).trim_start_matches(EDGE_PUNCTUATION);
    if is_day && !rest.is_empty() { rest } else { title }
}

/// Splits a bullet such as `Role: developer` or `**Role:** developer`; the key is in lower case.
fn split_key_value(item: &str) -> Option<(String, &str)> {
    let is_colon = |at: usize, colon: &str| {
        let rest = item.get(at + colon.len()..).unwrap_or_default().trim_start_matches(['*', '_']);
        colon == "：" || rest.is_empty() || rest.starts_with([' ', '\t'])
    };
    let (at, colon) =
        item.match_indices([':', '：']).take(4).find(|(at, colon)| is_colon(*at, colon))?;
    let key = strip_markup(item.get(..at)?).to_lowercase();
    let is_sentence = count_label_words(&key) > KEY_WORDS_MAX || key.contains([',', ';', '!', '?']);
    (!key.is_empty() && !is_sentence)
        .then(|| (key, item.get(at + colon.len()..).unwrap_or_default()))
}

/// A thematic break or the underline of a heading.
fn is_thematic_break(text: &str) -> bool {
    !text.trim().is_empty() && text.chars().all(|part| "-*_= ".contains(part))
}
