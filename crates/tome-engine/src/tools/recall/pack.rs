//! Packs as many turns, with as much detail, as a token budget allows.
//!
//! Texts are shortened around the match before turns are dropped from the end, those of the first turns
//! last. If even the first turn is too long, the answer suggests a larger budget.

use tome_text::{LineBreaks, estimate_tokens, excerpt_around};

use super::TOKENS_MAX;
use super::render::{self, TurnTexts, event_number, one_line};
use crate::tools::answer::truncate_bytes;
use crate::tools::quoting::FENCE_TOKENS;
use tome_model::EventKind;
use tome_recall::{Confidence, RecallAnswer, RecallHit, find_best_match};

/// Limits of the repeated query: bytes, and its share of the token budget.
const ECHOED_QUERY_BYTES_MAX: usize = 200;
const QUERY_SHARE: usize = 4;

/// Lengths, in characters, to which the first hit is shortened step by step.
const SHORTENED_CHARS: [usize; 5] = [240, 160, 120, 80, 40];

/// How much is shown of every turn.
struct TurnDetail {
    /// Characters of each text of the first turns, and of the others.
    first_chars: usize,
    rest_chars: usize,
    /// Further hits shown of a turn, and statements of other times.
    passages: usize,
    others: usize,
}

/// Turns whose texts are shortened last.
const FIRST_TURNS: usize = 2;

/// Less and less detail, before turns are left out.
const DETAILS: [TurnDetail; 5] = [
    TurnDetail { first_chars: usize::MAX, rest_chars: usize::MAX, passages: 3, others: 3 },
    TurnDetail { first_chars: 280, rest_chars: 280, passages: 2, others: 3 },
    TurnDetail { first_chars: 280, rest_chars: 180, passages: 1, others: 2 },
    TurnDetail { first_chars: 280, rest_chars: 140, passages: 0, others: 2 },
    TurnDetail { first_chars: 220, rest_chars: 100, passages: 0, others: 1 },
];
const PASSAGE_CHARS_MAX: usize = 160;
/// Characters of a prompt above its answer, if texts are shortened.
const PROMPT_CHARS_MAX: usize = 120;

/// Share of the query's words below which a weak answer may not be one.
const COVERAGE_MIN: f32 = 0.5;

pub(super) struct PackedAnswer {
    pub(super) text: String,
    /// Number of turns shown, in the order of their relevance.
    pub(super) turns: usize,
    /// Estimated tokens.
    pub(super) tokens: u64,
}

/// Limits of a text answer.
pub(super) struct AnswerFormat<'a> {
    pub(super) query: &'a str,
    /// A line on the topic of several hits.
    pub(super) topic: Option<String>,
    /// Number of turns that earlier pages listed.
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
        turns: answer.turns(),
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
    turns: Vec<Vec<&'a RecallHit>>,
    format: &'a AnswerFormat<'a>,
    query: String,
    notes: Vec<String>,
}

impl AnswerPacker<'_> {
    /// Packs as many turns as fit. Prefers all of them with shorter texts to fewer complete ones.
    fn pack_complete(&self) -> Option<PackedAnswer> {
        (1..=self.turns.len()).rev().find_map(|count| {
            DETAILS.iter().find_map(|detail| {
                let turns = self.turns.iter().take(count).enumerate();
                let shown: Vec<TurnTexts<'_>> = turns
                    .map(|(index, hits)| {
                        let is_first = index < FIRST_TURNS;
                        let chars = if is_first { detail.first_chars } else { detail.rest_chars };
                        self.collect_texts(hits, chars, (detail.passages, detail.others))
                    })
                    .collect();
                self.fit(self.render_list(&shown), count)
            })
        })
    }

    /// The first turn with a shortened text.
    fn pack_shortened(&self) -> Option<PackedAnswer> {
        let hits = self.turns.first()?;
        SHORTENED_CHARS.iter().find_map(|chars_max| {
            self.fit(self.render_list(&[self.collect_texts(hits, *chars_max, (0, 1))]), 1)
        })
    }

    /// Collects the texts of a turn, each of at most `chars_max` characters.
    fn collect_texts<'t>(
        &self,
        hits: &'t [&'t RecallHit],
        chars_max: usize,
        (passages_max, others_max): (usize, usize),
    ) -> TurnTexts<'t> {
        let first = hits.first();
        let answer = hits.iter().find_map(|hit| hit.turn.answer.as_ref());
        let answer =
            answer.filter(|part| first.and_then(|hit| event_number(hit)) != Some(part.number));
        let is_prompt = first.is_some_and(|hit| hit.kind == EventKind::UserMessage.as_str());
        let is_shortened = chars_max < usize::MAX;
        let text_chars = if answer.is_some() && is_prompt && is_shortened {
            chars_max.min(PROMPT_CHARS_MAX)
        } else {
            chars_max
        };
        let shorten = |text: &str, chars_max: usize| {
            if text.chars().count() > chars_max {
                excerpt_around_match(text, self.format.query, chars_max)
            } else {
                text.to_owned()
            }
        };
        let is_answer =
            |hit: &RecallHit| answer.is_some_and(|part| event_number(hit) == Some(part.number));
        TurnTexts {
            hits,
            text: first.map(|hit| shorten(&hit.text, text_chars)).unwrap_or_default(),
            passages: hits
                .iter()
                .skip(1)
                .filter(|hit| !is_answer(hit))
                .take(passages_max)
                .map(|hit| (*hit, shorten(&hit.text, chars_max.min(PASSAGE_CHARS_MAX))))
                .collect(),
            answer: answer.map(|part| (part.number, shorten(&part.text, chars_max))),
            others_max,
        }
    }

    /// No hits. Notes are dropped from the end until the rest fits.
    fn pack_minimal(&self) -> PackedAnswer {
        let query = &self.query;
        let head = match self.turns.len() {
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

    /// Renders the turns and the notes below them.
    fn render_list(&self, shown: &[TurnTexts<'_>]) -> String {
        let weak = if is_doubtful(self.answer) { WEAK_REMARK } else { "" };
        let mut text = format!("Found {} result(s) for: \"{}\"{weak}\n", shown.len(), self.query);
        for (number, turn) in (self.format.skip + 1..).zip(shown) {
            text.push('\n');
            text.push_str(&render::render_turn(number, turn, self.format.is_quoted));
        }
        let more = render_more(count_more(self.answer, &self.turns, shown.len()));
        let below: Vec<String> = more.into_iter().chain(self.notes.iter().cloned()).collect();
        if !below.is_empty() {
            text.push('\n');
            text.push_str(&below.join("\n"));
        }
        text
    }

    fn suggest_tokens(&self) -> usize {
        let fence = if self.format.is_quoted { FENCE_TOKENS } else { 0 };
        ((self.format.tokens_max + fence) * 2).min(TOKENS_MAX)
    }

    fn fit(&self, text: String, turns: usize) -> Option<PackedAnswer> {
        let packed = PackedAnswer::new(text, turns);
        (packed.tokens <= self.format.tokens_max as u64).then_some(packed)
    }
}

impl PackedAnswer {
    pub(super) fn new(mut text: String, turns: usize) -> Self {
        text.truncate(text.trim_end().len());
        Self { tokens: estimate_tokens(&text), text, turns }
    }
}

const WEAK_REMARK: &str = " (none stands out: read before you rely on one)";

/// Whether the best hit is weak and none has most of the query's words.
pub(super) fn is_doubtful(answer: &RecallAnswer) -> bool {
    answer.confidence == Some(Confidence::Weak)
        && answer.hits.iter().all(|hit| hit.coverage < COVERAGE_MIN)
}

/// The number of turns after the first `shown` ones by relevance, and the cursor that continues there.
pub(super) fn count_more(
    answer: &RecallAnswer,
    turns: &[Vec<&RecallHit>],
    shown: usize,
) -> (usize, usize) {
    let mut positions: Vec<usize> =
        turns.iter().filter_map(|turn| Some(turn.first()?.position)).collect();
    positions.sort_unstable();
    let left_out = positions.len().saturating_sub(shown);
    (answer.more + left_out, positions.get(shown).copied().unwrap_or(answer.next))
}

/// Says how to get the turns that are not shown.
pub(super) fn render_more((more, next): (usize, usize)) -> Option<String> {
    (more > 0).then(|| format!("({more} more; cursor {next} continues)"))
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

/// Cuts an excerpt around the best match of a query.
pub(super) fn excerpt_around_match(text: &str, query: &str, chars_max: usize) -> String {
    let found = find_best_match(query, text).unwrap_or_default();
    excerpt_around(text, &found, chars_max, LineBreaks::Keep)
}
