//! Packs as many hits, with as much detail, as a token budget allows.
//!
//! Hits are dropped from the end. If even the first is too long, its text is shortened around the
//! match; if that does not fit either, the answer suggests a larger budget.

use tome_text::{LineBreaks, estimate_tokens, excerpt_around, fold_char, is_unspaced};

use super::TOKENS_MAX;
use super::render::{self, one_line};
use crate::tools::answer::truncate_bytes;
use crate::tools::quoting::FENCE_TOKENS;
use tome_recall::{Confidence, RecallAnswer, RecallHit};

/// Limits of the repeated query: bytes, and its share of the token budget.
const ECHOED_QUERY_BYTES_MAX: usize = 200;
const QUERY_SHARE: usize = 4;

/// Lengths, in characters, to which the first hit is shortened step by step.
const SHORTENED_CHARS: [usize; 5] = [240, 160, 120, 80, 40];

/// Lengths, in characters, to which all hits are shortened before some are left out.
const LISTED_CHARS: [usize; 3] = [280, 220, 160];

/// Shorter words of a query are unlikely to be the match.
const WORD_CHARS_MIN: usize = 3;

pub(super) struct PackedAnswer {
    pub(super) text: String,
    /// Number of hits shown, from the first.
    pub(super) hits: usize,
    /// Estimated tokens.
    pub(super) tokens: u64,
}

/// Limits of a text answer.
pub(super) struct AnswerFormat<'a> {
    pub(super) query: &'a str,
    /// A line on the topic of several hits.
    pub(super) topic: Option<String>,
    /// Number of hits that earlier pages listed.
    pub(super) skip: usize,
    /// Token budget of the whole text.
    pub(super) tokens_max: usize,
    /// For a model: hits name their speaker, and markers are broken.
    pub(super) is_quoted: bool,
}

/// Renders an answer within its token budget.
pub(super) fn pack_answer(
    answer: &RecallAnswer,
    instructions: &[String],
    format: &AnswerFormat<'_>,
) -> PackedAnswer {
    let draft = AnswerPacker {
        answer,
        format,
        query: shorten_query(format.query, format.tokens_max / QUERY_SHARE),
        notes: instructions
            .iter()
            .cloned()
            .chain(render::render_notes(answer))
            .chain(format.topic.clone())
            .collect(),
    };
    draft.pack_complete().or_else(|| draft.pack_shortened()).unwrap_or_else(|| draft.pack_minimal())
}

struct AnswerPacker<'a> {
    answer: &'a RecallAnswer,
    format: &'a AnswerFormat<'a>,
    query: String,
    notes: Vec<String>,
}

impl AnswerPacker<'_> {
    /// Packs as many hits as fit. Prefers all of them with shorter texts to fewer complete ones.
    fn pack_complete(&self) -> Option<PackedAnswer> {
        let hits = &self.answer.hits;
        let whole = self.fit_hits(hits, usize::MAX);
        let shorter = || LISTED_CHARS.iter().find_map(|chars_max| self.fit_hits(hits, *chars_max));
        let fewer = || {
            let chars_max = LISTED_CHARS.last().copied().unwrap_or(usize::MAX);
            (1..hits.len()).rev().find_map(|count| self.fit_hits(hits.get(..count)?, chars_max))
        };
        whole.or_else(shorter).or_else(fewer)
    }

    /// Renders hits with texts of a length, if they fit.
    fn fit_hits(&self, hits: &[RecallHit], chars_max: usize) -> Option<PackedAnswer> {
        let texts: Vec<String> = hits
            .iter()
            .map(|hit| {
                if hit.text.chars().count() > chars_max {
                    excerpt_around_match(&hit.text, self.format.query, chars_max)
                } else {
                    hit.text.clone()
                }
            })
            .collect();
        let shown: Vec<(&RecallHit, &str)> =
            hits.iter().zip(texts.iter().map(String::as_str)).collect();
        if shown.is_empty() {
            return None;
        }
        self.fit(self.render_list(&shown), hits.len())
    }

    /// The first hit with a shortened text.
    fn pack_shortened(&self) -> Option<PackedAnswer> {
        let hit = self.answer.hits.first()?;
        SHORTENED_CHARS.iter().find_map(|chars_max| {
            let content = excerpt_around_match(&hit.text, self.format.query, *chars_max);
            self.fit(self.render_list(&[(hit, &content)]), 1)
        })
    }

    /// No hits. Notes are dropped from the end until the rest fits.
    fn pack_minimal(&self) -> PackedAnswer {
        let query = &self.query;
        let head = match self.answer.hits.len() {
            0 if self.format.skip > 0 => format!("No more results for: \"{query}\"\n"),
            0 => format!("No results found for: \"{query}\"\n"),
            count => format!(
                "Found {count} result(s) for: \"{query}\"\n(none fits; call again with tokens {})\n",
                self.suggest_tokens()
            ),
        };
        let fits = (0..=self.notes.len()).rev().find_map(|count| {
            let notes = self.notes.iter().take(count);
            let text = notes.fold(head.clone(), |text, note| format!("{text}{note}\n"));
            self.fit(text, 0)
        });
        fits.unwrap_or_else(|| PackedAnswer::new(head, 0))
    }

    /// Renders the hits and the notes below them.
    fn render_list(&self, shown: &[(&RecallHit, &str)]) -> String {
        let weak = match self.answer.confidence {
            Some(Confidence::Weak) => " (weak matches only: it may not be recorded)",
            _ => "",
        };
        let mut text = format!("Found {} result(s) for: \"{}\"{weak}\n", shown.len(), self.query);
        for (number, (hit, content)) in (self.format.skip + 1..).zip(shown) {
            text.push('\n');
            text.push_str(&if self.format.is_quoted {
                render::render_quoted_hit(number, hit, content)
            } else {
                render::render_hit(number, hit, content)
            });
        }
        // Quoted hits have their dates next to their speakers.
        let dates = (!self.format.is_quoted)
            .then(|| render::render_dates(shown.iter().map(|(hit, _)| *hit)));
        let dates = dates.flatten();
        let below = [dates, self.render_more(shown.len())].into_iter().flatten();
        let below: Vec<String> = below.chain(self.notes.iter().cloned()).collect();
        if !below.is_empty() {
            text.push('\n');
            text.push_str(&below.join("\n"));
        }
        text
    }

    /// Says how to get the hits that are not shown.
    fn render_more(&self, count: usize) -> Option<String> {
        let more = self.answer.more + self.answer.hits.len() - count;
        let next = self.format.skip + count;
        (more > 0).then(|| format!("({more} more; cursor {next} continues)"))
    }

    fn suggest_tokens(&self) -> usize {
        let fence = if self.format.is_quoted { FENCE_TOKENS } else { 0 };
        ((self.format.tokens_max + fence) * 2).min(TOKENS_MAX)
    }

    fn fit(&self, text: String, hits: usize) -> Option<PackedAnswer> {
        let packed = PackedAnswer::new(text, hits);
        (packed.tokens <= self.format.tokens_max as u64).then_some(packed)
    }
}

impl PackedAnswer {
    pub(super) fn new(mut text: String, hits: usize) -> Self {
        text.truncate(text.trim_end().len());
        Self { tokens: estimate_tokens(&text), text, hits }
    }
}

/// Shortens a query to one line within the limits.
pub(super) fn shorten_query(query: &str, tokens_max: usize) -> String {
    let mut bytes_max = ECHOED_QUERY_BYTES_MAX;
    let line = one_line(tome_model::truncate_to(query, 4 * ECHOED_QUERY_BYTES_MAX));
    loop {
        let shown = truncate_bytes(&line, bytes_max);
        if estimate_tokens(&shown) <= tokens_max as u64 || bytes_max < 8 {
            return shown;
        }
        bytes_max /= 2;
    }
}

/// Cuts an excerpt around the first match of a query word.
pub(super) fn excerpt_around_match(text: &str, query: &str, chars_max: usize) -> String {
    let folded: Vec<char> = text.chars().map(fold_char).collect();
    let find = |word: &str| {
        let word: Vec<char> = word.chars().map(fold_char).collect();
        let is_telling = word.len() >= WORD_CHARS_MIN || word.iter().any(|c| is_unspaced(*c));
        let at = folded.windows(word.len().max(1)).position(|part| part == word);
        at.filter(|_| is_telling).map(|at| (at, at + word.len()))
    };
    let found = query.split(|c: char| !c.is_alphanumeric()).filter_map(find).min();
    let (from, to) = found.unwrap_or_default();
    let byte = |at: usize| text.char_indices().nth(at).map_or(text.len(), |(byte, _)| byte);
    excerpt_around(text, &(byte(from)..byte(to)), chars_max, LineBreaks::Keep)
}
