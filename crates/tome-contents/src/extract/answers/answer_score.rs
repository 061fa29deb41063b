//! Scores how well a sentence states the result of an answer.
//!
//! The weights are those of a conditional logit model: of 435 answers of agents in public sessions of
//! 40 repositories, readers chose the sentence that they would want to see beside the prompt. With
//! repositories held out, the best sentence is the chosen one, or as good, in 75 of 100 answers.

use std::collections::{HashMap, HashSet};

use tome_text::{count_words, stem, tokenize};

use crate::extract::answers::direct_answer::answers_shortly;
use crate::extract::answers::informative::{
    begins_with_pronoun, is_check_report, is_empty_phrase, is_generic_sentence, reports_end,
};
use crate::extract::answers::preamble::{count_announced, is_preamble};
use crate::extract::answers::statement::{AnswerSentence, ListItem};
use crate::extract::answers::unfinished::instructs;
use crate::extract::answers::verdict::begins_with_verdict;
use crate::extract::language::cues::{Cue, find_cue, is_announcement, is_filler};
use crate::extract::language::prose::{MessageParts, ProseSentence, SentenceShape};
use crate::extract::language::terms::has_name;
use crate::extract::language::text::{begins_with_any, to_lower};

/// Characters of a prompt that are compared with the answer.
const PROMPT_CHARS_MAX: usize = 4_000;
/// A later yes or no hardly answers the prompt.
const DIRECT_INDEX_MAX: usize = 12;
/// Words shared with the prompt that count.
const SHARED_MAX: usize = 4;

/// An answer, and what it answers.
pub(crate) struct AnswerScorer<'p, 'a> {
    parts: &'p MessageParts<'a>,
    after_work: bool,
    prompt_words: HashSet<String>,
    /// The yes-or-no question of the prompt.
    question: Option<YesNoQuestion>,
    /// The words of each sentence.
    words: Vec<HashSet<String>>,
    /// Number of sentences that have a word.
    counts: HashMap<String, usize>,
    /// The first informative sentence.
    first_statement: usize,
}

impl<'p, 'a> AnswerScorer<'p, 'a> {
    pub(crate) fn new(parts: &'p MessageParts<'a>, prompt: &str, after_work: bool) -> Self {
        let words: Vec<HashSet<String>> =
            parts.sentences.iter().map(|sentence| compared_stems(&sentence.plain)).collect();
        let mut counts = HashMap::new();
        for word in words.iter().flatten() {
            *counts.entry(word.clone()).or_default() += 1;
        }
        let prompt: String = prompt.chars().take(PROMPT_CHARS_MAX).collect();
        let says = |sentence: &ProseSentence<'_>| {
            let text = &sentence.plain;
            sentence.shape == SentenceShape::Running
                && count_words(text) >= 4
                && !is_empty_phrase(text)
                && !is_filler(text)
                && !is_preamble(text)
                && !is_announcement(text)
                && !is_generic_sentence(text)
        };
        let first_statement = parts.sentences.iter().position(says).unwrap_or(usize::MAX);
        let prompt_words = compared_stems(&prompt);
        let question = find_yes_no_question(&prompt);
        Self { parts, after_work, prompt_words, question, words, counts, first_statement }
    }

    /// Scores a sentence, given the statement that is read from it.
    pub(crate) fn score(
        &self,
        index: usize,
        sentence: &ProseSentence<'_>,
        statement: &AnswerSentence<'_>,
        has_list: bool,
    ) -> i32 {
        let text = &statement.text;
        let when = |holds: bool, weight: i32| if holds { weight } else { 0 };
        self.score_position(index, sentence, has_list)
            + score_length(count_words(text))
            + self.score_words(index)
            + self.score_cue(text)
            + when(instructs(text), -92)
            + when(is_empty_phrase(text), -61)
            + when(is_generic_sentence(text), -57)
            + when(begins_with_verdict(text), 45)
            + when(reports_end(text), 33)
            + when(text.chars().any(char::is_numeric), 31)
            + when(text.ends_with([':', '：']), -21)
            + when(is_check_report(&statement.lead), -17)
            // Too rare to be learned: a sentence that leans on the one before it, and a yes or no below the beginning.
            + when(index > 0 && begins_with_pronoun(text) && !has_name(text), -70)
            + when(begins_with_code(text), -150)
            + when(announces_numbers(&sentence.plain, &statement.items), 120)
            + when(index <= DIRECT_INDEX_MAX && self.answers_question(sentence), 460)
    }

    /// Whether a sentence answers the yes-or-no question of the prompt.
    pub(crate) fn answers_question(&self, sentence: &ProseSentence<'_>) -> bool {
        let Some(question) = &self.question else { return false };
        let text = &sentence.plain;
        let first = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        sentence.shape != SentenceShape::Item
            && !text.ends_with(['?', '？'])
            && (begins_with_yes_or_no(text)
                || begins_with_any(text, &["none of"])
                || question.asks_advice && question.words.contains(&*to_lower(first)))
    }

    fn score_position(&self, index: usize, sentence: &ProseSentence<'_>, has_list: bool) -> i32 {
        let sentences = &self.parts.sentences;
        let earlier = sentences.get(..index).unwrap_or_default();
        let is_heading = |one: &ProseSentence<'_>| one.shape == SentenceShape::Heading;
        let is_running = has_list || sentence.shape == SentenceShape::Running;
        let position = match index {
            0 => 191,
            1 => 122,
            2 => 82,
            3..=5 => 53,
            _ => 0,
        };
        let shape = match sentence.shape {
            _ if has_list => 0,
            SentenceShape::Item => -121,
            SentenceShape::Heading => 16,
            SentenceShape::Running => 0,
        };
        let when = |holds: bool, weight: i32| if holds { weight } else { 0 };
        position
            + shape
            + when(!earlier.iter().any(is_heading), 59)
            + when(earlier.last().is_some_and(is_heading), 68)
            + when(is_running && index <= self.first_statement, 61)
            + when(sentence.indent > 1, -41)
            + when(index + 1 == sentences.len(), -36)
    }

    /// Scores the words that a sentence shares with the prompt and with the rest of the answer.
    fn score_words(&self, index: usize) -> i32 {
        let Some(words) = self.words.get(index) else { return 0 };
        let shared = words.intersection(&self.prompt_words).count().min(SHARED_MAX);
        let repeated = words.iter().filter(|word| self.counts.get(*word) > Some(&1)).count();
        let weigh = |part: usize, whole: usize, weight: usize| {
            i32::try_from(part * weight / whole.max(1)).unwrap_or(0)
        };
        weigh(shared, SHARED_MAX, 129) + weigh(repeated, words.len(), 59)
    }

    /// After work, what was done counts most.
    fn score_cue(&self, text: &str) -> i32 {
        match find_cue(text) {
            Some((Cue::Outcome, sure)) if self.after_work => i32::try_from(sure).unwrap_or(0) * 29,
            _ => 0,
        }
    }
}

/// Whether a sentence announces the numbered headings of an answer: "Two findings: Finding 1 — …; Finding 2 — …".
fn announces_numbers(text: &str, items: &[ListItem]) -> bool {
    let number = |item: &ListItem| {
        let digits = item.text.split(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty());
        digits.and_then(|digits| digits.parse::<usize>().ok())
    };
    count_announced(text) == Some(items.len())
        && items.iter().zip(1..).all(|(item, place)| number(item) == Some(place))
}

/// Whether a sentence is about things by their labels: "C1, C2 and W4 are real".
fn begins_with_code(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or_default();
    let word = word.trim_end_matches([',', ':', '.', ';']);
    let digits = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
    word.len() <= 3
        && digits.len() + 1 == word.len()
        && !digits.is_empty()
        && digits.bytes().all(|digit| digit.is_ascii_digit())
}

/// Whether a sentence begins with a yes or no, and not with a determiner: "No tests are missing."
fn begins_with_yes_or_no(text: &str) -> bool {
    let end = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    let rest = text.get(end..).unwrap_or_default();
    let is_apart = [",", ".", "!", ":", ";", " —", " –", " -", " (", " it ", " you "];
    answers_shortly(text)
        && (!text.is_ascii()
            || is_apart.iter().any(|mark| rest.starts_with(mark))
            || rest.is_empty())
}

/// A question to be answered by yes, no, or what to do.
struct YesNoQuestion {
    /// Whether it asks what should be done; then the answer may begin with its verb.
    asks_advice: bool,
    /// Its longer words, among which is the verb of the advice.
    words: HashSet<String>,
}

/// Finds the only question of a prompt, if it asks for a yes or no. "Can you …?" is an order.
fn find_yes_no_question(prompt: &str) -> Option<YesNoQuestion> {
    #[rustfmt::skip]
    const STARTS: &[&str] = &[
        "is", "are", "do", "does", "did", "should", "shall", "will", "would", "can", "could", "has", "have", "isn't",
        "aren't", "don't", "doesn't", "shouldn't", "won't", "was", "were",
    ];
    /// Ends of a statement that asks for confirmation: "The flag is read first, is that right?"
    const TAGS: [&str; 7] = [
        "is that correct?",
        "is that right?",
        ", right?",
        ", correct?",
        "isn't it?",
        "am i right?",
        "or not?",
    ];
    const ORDERS: &[&str] = &["can you", "could you", "will you", "would you", "do you want"];
    /// They may begin any sentence.
    const POINTERS: [&str; 8] = ["this", "that", "these", "those", "they", "there", "then", "with"];
    let mut questions = prompt.split_inclusive(['.', '?', '!', '\n']).map(str::trim);
    let mut questions = questions.by_ref().filter(|text| text.ends_with('?'));
    let question = questions.next().filter(|_| questions.next().is_none())?;
    let lower = to_lower(question);
    let is_tagged = TAGS.iter().any(|tag| lower.ends_with(tag));
    if !is_tagged && !begins_with_any(&lower, STARTS) || begins_with_any(&lower, ORDERS) {
        return None;
    }
    let is_said = |word: &&str| word.len() > 3 && !POINTERS.contains(word);
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(is_said);
    Some(YesNoQuestion {
        asks_advice: begins_with_any(&lower, &["should", "shall"]),
        words: words.map(str::to_owned).collect(),
    })
}

fn score_length(words: usize) -> i32 {
    match words {
        0..=3 => -129,
        4..=6 => -54,
        7..=12 => 0,
        13..=36 => 45,
        _ => -11,
    }
}

/// The words of a text that are compared, as stems. Unlike [`tome_text::content_stems`] they include
/// stop words and the parts of compounds, because the weights were fitted with them.
fn compared_stems(text: &str) -> HashSet<String> {
    let mut words = HashSet::new();
    tokenize(text, &mut |_, word| {
        if word.chars().count() > 2 || !word.is_ascii() {
            words.insert(stem(word).into_owned());
        }
    });
    words
}
