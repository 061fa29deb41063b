//! Finds out whether a choice was taken back later. A page, the text for a session that starts and the
//! one at an edit all ask here.
//!
//! Nobody asked for the choice to be repeated, so in doubt it counts as taken back: words that change a
//! choice together with what was chosen are enough.

use std::collections::BTreeSet;

use tome_model::{FactKind, Millis, truncate_to};
use tome_text::{content_stems, split_sentences, stem};

use crate::builder::TopicMap;
use crate::page_subject::mentions_file;
use crate::path::base_name;
use crate::record::{FactRecord, SegmentRecord, TurnRecord};

/// Words that two statements share if they are about the same subject.
const SHARED_WORDS_MIN: usize = 3;
/// Words of a choice that a sentence shares if it asks for something else.
const CHANGED_WORDS_MIN: usize = 2;
/// Characters of a word that says something about a subject.
const WORD_CHARS_MIN: usize = 4;
/// Choices made within this time, as answers to questions asked together, do not replace each other.
const TOGETHER_MS: u64 = 5 * 60 * 1_000;
/// Bytes of a message that are compared, and of a prompt that are kept.
const MESSAGE_BYTES_MAX: usize = 4_000;
const KEPT_BYTES_MAX: usize = 700;
/// A turn that changed more files is not about one of them.
const FILES_MAX: usize = 3;
/// Words after a negation that it concerns.
const NEGATED_WORDS_MAX: usize = 3;
/// Letters of a word by which texts are sorted out before their words are compared.
const LETTERS_COMPARED: usize = 4;

/// Stems of words that say that something was decided, not what.
const CHOICE_STEMS: [&str; 8] =
    ["decid", "decis", "chose", "chosen", "choos", "prefer", "because", "becaus"];

/// Words with which a user asks for something else than before.
const CHANGE_WORDS: [&str; 14] = [
    "instead",
    "switch",
    "replace",
    "rather",
    "revert",
    "drop",
    "undo",
    "migrate",
    "rethink",
    "reconsider",
    "change",
    "remove",
    "rewrite",
    "swap",
];
/// Those of them that change a choice whatever else the sentence says.
const FIRM_WORDS: usize = 10;
/// Those with which an agent says so; the others are in every report.
const SWITCH_WORDS: [&str; 5] = ["switch", "replace", "revert", "drop", "migrate"];

/// Phrases with which a user takes something back.
#[rustfmt::skip]
const REVERSALS: [&str; 54] = [
    "changed my mind", "change my mind", "changed our mind", "changing my mind", "scratch that", "never mind",
    "nevermind", "on second thought", "go back to", "going back to", "back to the ", "get rid of", "ditch ",
    "throw out", "forget about", "let's not", "lets not", "let’s not",
    "やめ", "ではなく", "じゃなく", "代わりに", "戻し", "不要", "不再", "改用", "换回", "換回", "换成", "換成", "改成", "不用",
    "别用", "別用", "вместо", "больше не", "передумал", "вернись", "вернём", "вернем", "не нужен", "statt",
    "doch nicht", "nicht mehr", "doch lieber", "zurück zu", "au lieu", "finalement", "revenons", "en vez de",
    "ya no ", "volvamos", "em vez", "말고",
];
/// Clauses that take back what was chosen before.
const SECOND_THOUGHTS: [&str; 9] = [
    "scratch that",
    "never mind",
    "nevermind",
    "actually no",
    "actually, no",
    "on second thought",
    "no wait",
    "no, wait",
    "wait, no",
];
/// Phrases that call something a mistake or say that it is gone.
#[rustfmt::skip]
const REGRETS: [&str; 18] = [
    "mistake", "was wrong", "were wrong", "is wrong", "bad idea", "bad choice", "regret", "no longer", "any more",
    "anymore", "abandon", "away from", "is gone", "are gone", "back on ", "went back", "turned out", "turns out",
];
/// Words that negate what follows.
#[rustfmt::skip]
const NEGATIONS: [&str; 16] = [
    "no", "not", "never", "without", "stop", "avoid", "cannot", "neither", "nicht", "kein", "keine", "keinen", "pas",
    "sin", "não", "не",
];
/// Words after a negation with which it concerns a choice, not how something behaves.
#[rustfmt::skip]
const CHOOSING: [&str; 22] = [
    "use", "using", "want", "wanted", "need", "like", "go", "going", "keep", "keeping", "with", "have", "more", "a",
    "an", "the", "any", "this", "that", "our", "my", "on",
];
/// Words after a negation that ask to keep something: "don't touch the parser".
#[rustfmt::skip]
const KEEPING: [&str; 15] = [
    "change", "touch", "remove", "break", "drop", "replace", "rewrite", "delete", "forget", "lose", "revert", "undo",
    "switch", "modify", "rename",
];
/// What follows in a choice was decided against, or is its reason.
const ENDS_OF_CHOICE: [&str; 10] = [
    " instead of ",
    " rather than ",
    " over ",
    " and not ",
    ", not ",
    " without ",
    " because ",
    " since ",
    " so that ",
    "代わりに",
];

/// Who wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The user, whose word counts at once.
    User,
    /// The agent, which also reports what it did on the way.
    Agent,
}

/// A choice in the forms in which later messages are compared with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// All words that say something.
    words: BTreeSet<String>,
    /// Those that say what it is about.
    subject: BTreeSet<String>,
    /// Those that were chosen, not decided against.
    chosen: BTreeSet<String>,
    /// Files that it is about.
    paths: Vec<String>,
}

impl Choice {
    /// Reads a choice about files, if any.
    pub fn new<'a>(text: &str, paths: impl Iterator<Item = &'a str> + Clone) -> Self {
        let mut subject = subject_words(text, paths.clone());
        subject.retain(|known| CHANGE_WORDS.iter().all(|word| stem(word).as_ref() != known));
        let lower = text.to_lowercase();
        let end = ENDS_OF_CHOICE.iter().filter_map(|mark| lower.find(mark)).min();
        let head = content_stems(lower.get(..end.unwrap_or(lower.len())).unwrap_or(&lower));
        let mut chosen: BTreeSet<String> = subject.intersection(&head).cloned().collect();
        if chosen.is_empty() {
            chosen.clone_from(&subject);
        }
        let paths = paths.map(str::to_owned).collect();
        Self { words: content_stems(text), subject, chosen, paths }
    }

    /// Whether a message takes the choice back: it says the opposite, calls it a mistake, or asks for
    /// something else. A sentence and the next one are read together. `is_close` tells that the message
    /// belongs to work on the file of the choice, or follows it.
    pub fn is_taken_back_by(&self, message: &str, speaker: Speaker, is_close: bool) -> bool {
        let sentences = split_sentences(truncate_to(message, MESSAGE_BYTES_MAX));
        (0..sentences.len()).any(|at| {
            let Some(sentence) = sentences.get(at) else { return false };
            let next = sentences.get(at + 1).copied().unwrap_or_default();
            if sentence.contains(['?', '？']) {
                return speaker == Speaker::User && self.asks_for_change(sentence, speaker, false);
            }
            self.regrets(sentence)
                || self.denies(sentence, speaker)
                || self.asks_for_change(sentence, speaker, is_close)
                || speaker == Speaker::User && self.reverses(sentence, next, is_close)
                || !next.contains(['?', '？'])
                    && self.asks_for_change(&format!("{sentence} {next}"), speaker, false)
        })
    }

    fn regrets(&self, sentence: &str) -> bool {
        contains_any(&sentence.to_lowercase(), &REGRETS) && self.count_shared(sentence) > 0
    }

    /// A phrase of the user that takes something back, with what was chosen or its file.
    fn reverses(&self, sentence: &str, next: &str, is_close: bool) -> bool {
        let lower = sentence.to_lowercase();
        (contains_any(&lower, &REVERSALS) || stands_alone(&lower, "after all"))
            && (is_close || self.names_file(sentence) || self.count_shared(sentence) > 0)
            || SECOND_THOUGHTS.iter().any(|phrase| stands_alone(&lower, phrase))
                && (is_close || self.count_shared(next) > 0)
    }

    /// Whether a sentence negates what was chosen: "no Redis", "we don't want the mutex".
    fn denies(&self, sentence: &str, speaker: Speaker) -> bool {
        if keeps(sentence) {
            return false;
        }
        match speaker {
            Speaker::User => negated_words(sentence)
                .any(|words| words.iter().any(|word| self.chosen.contains(stem(word).as_ref()))),
            // An agent reports what does not work on the way.
            Speaker::Agent => clauses(sentence).any(|clause| {
                let words = content_stems(clause);
                let shared = self.chosen.intersection(&words).count();
                negated_words(clause).next().is_some()
                    && shared >= self.chosen.len().clamp(2, SHARED_WORDS_MIN)
                    && shared * 2 >= words.len()
            }),
        }
    }

    fn asks_for_change(&self, text: &str, speaker: Speaker, is_close: bool) -> bool {
        if keeps(text) {
            return false;
        }
        let words = content_stems(text);
        let shared = self.subject.intersection(&words).count();
        let has = |change: &[&str]| change.iter().any(|word| words.contains(stem(word).as_ref()));
        let change: &[&str] = if speaker == Speaker::User { &CHANGE_WORDS } else { &SWITCH_WORDS };
        let enough = self.subject.len().clamp(1, CHANGED_WORDS_MIN);
        let firm = CHANGE_WORDS.get(..FIRM_WORDS).unwrap_or_default();
        let is_close = speaker == Speaker::User && (is_close || self.names_file(text));
        has(change) && shared >= enough || is_close && shared > 0 && has(firm)
    }

    /// Whether another choice, correction or rule is about the same subject.
    fn is_replaced_by(&self, text: &str) -> bool {
        let other = content_stems(text);
        let shared = self.words.intersection(&other).count();
        shared >= SHARED_WORDS_MIN && shared * 2 >= self.words.len().min(other.len())
    }

    fn count_shared(&self, sentence: &str) -> usize {
        self.subject.intersection(&content_stems(sentence)).count()
    }

    fn names_file(&self, sentence: &str) -> bool {
        self.paths.iter().any(|path| mentions_file(sentence, path))
    }

    /// Whether the letters of a text allow it to share a word with the choice; cheap.
    fn may_concern(&self, text: &str) -> bool {
        let lower = text.to_lowercase();
        let letters = |word: &String| {
            let letters = tome_text::first_chars(word, LETTERS_COMPARED);
            lower.contains(letters)
        };
        self.words.iter().any(letters)
            || self.paths.iter().any(|path| lower.contains(&base_name(path).to_lowercase()))
    }
}

impl TopicMap {
    /// The number of the event that took a choice back, or may have done so; `None` if it still holds.
    /// The choice is given by its text and time.
    pub fn find_reversal(&self, text: &str, at: Millis) -> Option<u64> {
        let segments = self.segments.iter().map(AsRef::as_ref);
        let facts =
            segments.flat_map(|segment| segment.facts.iter().map(move |fact| (segment, fact)));
        let known = facts
            .filter(|(_, fact)| fact.kind == FactKind::Decision && fact.text == text)
            .max_by_key(|(_, fact)| (fact.at, fact.number));
        match known {
            Some((segment, fact)) => self.find_reversal_of(segment, fact),
            None => self.find_later(&Choice::new(text, std::iter::empty()), (at, u64::MAX), None),
        }
    }

    /// The same for a statement of a segment.
    pub(crate) fn find_reversal_of(
        &self,
        segment: &SegmentRecord,
        fact: &FactRecord,
    ) -> Option<u64> {
        let turn = segment.turns.get(fact.turn);
        let paths: BTreeSet<&str> = turn.map(changed_paths).unwrap_or_default();
        let is_about = |path: &&&str| paths.len() == 1 || mentions_file(&fact.text, path);
        let about: Vec<&str> = paths.iter().filter(is_about).copied().collect();
        let choice = Choice::new(&fact.text, about.iter().copied());
        let next = segment.turns.get(fact.turn + 1).map(|turn| turn.number);
        self.find_later(&choice, (fact.at, fact.number), next)
    }

    /// The first event after a moment that takes a choice back. `next` is the number of the turn that
    /// follows the choice.
    fn find_later(&self, choice: &Choice, since: (Millis, u64), next: Option<u64>) -> Option<u64> {
        let mut found: Vec<(Millis, u64)> = Vec::new();
        let segments = self.segments.iter().filter(|segment| segment.last_at >= since.0);
        for segment in segments {
            for turn in segment.turns.iter().filter(|turn| (turn.at, turn.number) > since) {
                let Some(thoughts) = &turn.second_thoughts else { continue };
                let is_next = next == Some(turn.number) && begins_with_second_thought(thoughts);
                let paths = || {
                    let paths = changed_paths(turn);
                    if paths.len() > FILES_MAX { BTreeSet::new() } else { paths }
                };
                let is_close = is_next
                    || !choice.paths.is_empty()
                        && choice.paths.iter().any(|path| paths().contains(path.as_str()));
                if (is_close || choice.may_concern(thoughts))
                    && choice.is_taken_back_by(thoughts, Speaker::User, is_close)
                {
                    found.push((turn.at, turn.number));
                }
            }
            let later = segment.facts.iter().filter(|fact| (fact.at, fact.number) > since);
            for fact in later.filter(|fact| choice.may_concern(&fact.text)) {
                let is_taken_back = match fact.kind {
                    FactKind::Decision | FactKind::Convention | FactKind::Correction => {
                        let is_apart =
                            fact.kind != FactKind::Decision || fact.at.0 > since.0.0 + TOGETHER_MS;
                        is_apart
                            && content_stems(&fact.text) != choice.words
                            && choice.is_replaced_by(&fact.text)
                            || choice.is_taken_back_by(&fact.text, Speaker::User, false)
                    }
                    FactKind::Outcome => choice.is_taken_back_by(&fact.text, Speaker::Agent, false),
                    _ => false,
                };
                if is_taken_back {
                    found.push((fact.at, fact.number));
                }
            }
        }
        found.into_iter().min().map(|(_, number)| number)
    }
}

/// The sentences of a prompt with which the user may take a choice back, each with the next one.
pub fn find_second_thoughts(prompt: &str) -> Option<String> {
    let sentences = split_sentences(truncate_to(prompt, MESSAGE_BYTES_MAX));
    let changes = |sentence: &str| {
        let lower = sentence.to_lowercase();
        contains_any(&lower, &REVERSALS)
            || contains_any(&lower, &REGRETS)
            || contains_any(&lower, &SECOND_THOUGHTS)
            || CHANGE_WORDS.iter().any(|word| lower.contains(stem(word).as_ref()))
            || lower.contains("after all")
            || negated_words(sentence).next().is_some()
    };
    let mut kept: BTreeSet<usize> = BTreeSet::new();
    for (at, sentence) in sentences.iter().enumerate() {
        if changes(sentence) {
            kept.extend([at, at + 1]);
        }
    }
    let mut thoughts = String::new();
    for sentence in kept.iter().filter_map(|at| sentences.get(*at)) {
        if thoughts.len() + sentence.len() > KEPT_BYTES_MAX && !thoughts.is_empty() {
            break;
        }
        // A line of its own, so that sentences stay apart.
        thoughts.push_str(truncate_to(sentence, KEPT_BYTES_MAX));
        thoughts.push('\n');
    }
    (!thoughts.is_empty()).then_some(thoughts)
}

/// The stems of a statement that say what it is about, without those of the paths of a file: they
/// occur in all work on it.
pub(crate) fn subject_words<'a>(
    text: &str,
    paths: impl Iterator<Item = &'a str>,
) -> BTreeSet<String> {
    let mut words = content_stems(text);
    for path in paths {
        let parts = path.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
        for part in parts.chain([base_name(path)]) {
            words.remove(stem(&part.to_lowercase()).as_ref());
            words.remove(&part.to_lowercase());
        }
    }
    let is_telling = |word: &String| {
        word.chars().count() >= WORD_CHARS_MIN && !CHOICE_STEMS.contains(&word.as_str())
    };
    words.retain(is_telling);
    words
}

fn changed_paths(turn: &TurnRecord) -> BTreeSet<&str> {
    turn.changed_files().map(|file| file.path.as_str()).collect()
}

fn begins_with_second_thought(text: &str) -> bool {
    let lower = text.to_lowercase();
    SECOND_THOUGHTS.iter().any(|start| lower.starts_with(start))
}

fn contains_any(lower: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| lower.contains(phrase))
}

/// Whether a phrase ends its clause: "let's use tabs after all", but not "after all tests have passed".
fn stands_alone(lower: &str, phrase: &str) -> bool {
    let rest = lower.split_once(phrase).map(|(_, rest)| rest.trim_start());
    rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

fn clauses(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split([',', ';', ':', '，', '、', '；'])
}

fn plain_words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’' | '_'));
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

fn is_negation(word: &str) -> bool {
    NEGATIONS.contains(&word) || word.ends_with("n't") || word.ends_with("n’t") || word == "dont"
}

/// The words after each negation of a clause, without those with which it concerns a choice.
fn negated_words(text: &str) -> impl Iterator<Item = Vec<String>> {
    clauses(text).flat_map(|clause| {
        let words = plain_words(clause);
        let negated = words.iter().enumerate().filter(|(_, word)| is_negation(word));
        let after = negated.filter_map(|(at, negation)| {
            let rest = words.get(at + 1..)?;
            let from = rest.iter().position(|word| !CHOOSING.contains(&word.as_str()))?;
            // "does not lock the mutex" tells how something behaves.
            let tells_behavior = from == 0 && behaves(negation);
            let told_max = if tells_behavior { 1 } else { NEGATED_WORDS_MAX };
            Some(rest.get(from..)?.iter().take(told_max).cloned().collect::<Vec<_>>())
        });
        after.collect::<Vec<_>>()
    })
}

/// Whether a negation mostly belongs to the verb after it.
fn behaves(negation: &str) -> bool {
    matches!(negation, "not" | "never" | "cannot" | "nicht" | "pas" | "не" | "não")
        || negation.ends_with("n't")
        || negation.ends_with("n’t")
        || negation == "dont"
}

/// Whether a sentence asks to keep something as it is: "don't touch the parser".
fn keeps(sentence: &str) -> bool {
    let words = plain_words(sentence);
    words.windows(2).any(|pair| match pair {
        [negation, verb] => is_negation(negation) && KEEPING.contains(&verb.as_str()),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes_back(choice: &str, path: &str, later: &str) -> bool {
        Choice::new(choice, std::iter::once(path)).is_taken_back_by(later, Speaker::User, false)
    }

    #[test]
    fn a_choice_is_taken_back_in_many_words() {
        let cache =
            "Let's use Redis for the session store in src/session.rs because it expires keys";
        let pool = "Let's go with a mutex around the pool in src/pool.rs because contention is low";
        let net = "Let's go with tokio in src/net.rs instead of async-std because the ecosystem is larger";
        for (choice, path, later) in [
            (cache, "src/session.rs", "Actually no Redis. Use the Postgres table"),
            (cache, "src/session.rs", "Let's not use Redis after all"),
            (cache, "src/session.rs", "we don't want Redis"),
            (cache, "src/session.rs", "Scratch that. Put the store into a file"),
            (cache, "src/session.rs", "Go back to memory in session.rs"),
            (cache, "src/session.rs", "Use Memcached in session.rs for the store instead"),
            (cache, "src/session.rs", "src/session.rs は Redis をやめて、ファイルにしてください"),
            (cache, "src/session.rs", "session.rs 改用内存"),
            (
                pool,
                "src/pool.rs",
                "I changed my mind about the mutex in src/pool.rs, make it lock-free",
            ),
            (pool, "src/pool.rs", "stop using the mutex"),
            (net, "src/net.rs", "Drop tokio again, go back to async-std in src/net.rs"),
            (net, "src/net.rs", "go back to async-std please"),
        ] {
            assert!(takes_back(choice, path, later), "{later}");
        }
        for (choice, path, later) in [
            (cache, "src/session.rs", "Explain how the session store uses Redis"),
            (cache, "src/session.rs", "Add a test to the Redis store in src/session.rs"),
            (cache, "src/session.rs", "Don't forget to close the Redis connection"),
            (cache, "src/session.rs", "Don't touch the Redis store"),
            (cache, "src/session.rs", "Commit after all tests of the store have passed"),
            (cache, "src/session.rs", "Replace the icons in the header"),
            (pool, "src/pool.rs", "The request does not lock the mutex, find out why"),
            (net, "src/net.rs", "Do not use async-std anywhere"),
            (net, "src/net.rs", "Now compress the messages in src/net.rs"),
        ] {
            assert!(!takes_back(choice, path, later), "{later}");
        }
    }

    #[test]
    fn only_sentences_that_may_change_a_choice_are_kept() {
        let kept =
            find_second_thoughts("Read the lexer. Actually no Redis. Use Postgres. Then test.");
        assert_eq!(kept.as_deref(), Some("Actually no Redis.\nUse Postgres.\n"));
        assert_eq!(find_second_thoughts("Add a parser for dates."), None);
        let long = "no ".repeat(9_000);
        assert!(find_second_thoughts(&long).is_some_and(|kept| kept.len() <= KEPT_BYTES_MAX + 4));
    }
}
