//! Finds out whether a later message of a session takes back what an earlier one stated: the user's "no, it is
//! 5", or the agent's own "I was wrong: …".

use tome_model::{Event, EventKind};
use tome_text::{StopClass, count_words, first_chars, is_stop_word, split_sentences};

use crate::extract::language::orders::is_order;
use crate::extract::language::prose::{prompt_text, split_message};
use crate::extract::language::similarity::TermSet;
use crate::extract::language::text::{begins_with_any, strip_any_prefix, to_lower};

/// Characters of a prompt that are read for a denial.
const DENIAL_CHARS_MAX: usize = 300;
/// Denying words before a statement: "no, wait, that's wrong: …".
const OPENERS_MAX: usize = 4;
/// An answer of fewer words only acknowledges what the user stated.
const ANSWER_WORDS_MIN: usize = 5;
/// A message of more statements is about several things.
const STATEMENTS_MAX: usize = 3;
/// Words that a statement must share with one that was not made right before it.
const DISTANT_SHARED_MIN: usize = 3;

/// The statements of a message, to be compared with later messages of its session.
#[derive(Debug)]
pub struct StatedClaims {
    sentences: Vec<String>,
    is_by_user: bool,
    /// The last sentence, if it asks.
    question: Option<String>,
}

/// A sentence that takes back an earlier one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// The earlier sentence.
    pub claim: String,
    /// The words of the later message.
    pub text: String,
    /// Whether the message of the claim states several things.
    pub is_one_of_many: bool,
}

/// How a message came before a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimDistance {
    /// It is the last one before the prompt, or the user's own prompt before it.
    Last,
    /// It is of the turn before the prompt, but another message came after it.
    SameTurn,
    /// There were other prompts in between.
    Earlier,
}

impl StatedClaims {
    /// Reads the statements of a message; `None` if it makes none.
    pub fn read(message: &Event) -> Option<Self> {
        let is_by_user = message.kind == EventKind::UserMessage;
        let mut parts: Vec<String> =
            split_message(&message.text).sentences.into_iter().map(|one| one.plain).collect();
        let question = parts.last().filter(|last| is_asked(last)).cloned();
        parts.retain(|sentence| {
            !is_asked(sentence)
                && TermSet::from_text(sentence).len() > 0
                && !(is_by_user && (is_order(sentence) || begins_with_any(sentence, NOT_STATED)))
        });
        (!parts.is_empty()).then_some(Self { sentences: parts, is_by_user, question })
    }

    /// Finds the words of a prompt that deny one of the statements. `answer` is the agent's last message before the
    /// prompt, unless that makes the statements.
    pub fn find_denial(
        &self,
        prompt: &str,
        answer: Option<&str>,
        distance: ClaimDistance,
    ) -> Option<Contradiction> {
        let prompt = prompt_text(prompt);
        let prompt = first_chars(prompt.trim_start(), DENIAL_CHARS_MAX);
        let denial = Denial::parse(prompt)?;
        let is_correction = denial.opener == Opener::Correction;
        if distance == ClaimDistance::Earlier && (!self.is_by_user || !is_correction) {
            return None;
        }
        let answer_parts = answer.map(split_message).unwrap_or_default();
        let answer_sentences = || answer_parts.sentences.iter().map(|one| one.plain.as_str());
        let question = match answer {
            Some(_) => answer_sentences().next_back().filter(|last| is_asked(last)),
            None => self.question.as_deref(),
        };
        let terms = TermSet::from_text(denial.statement);
        let count_shared = |text: &str| terms.count_shared(&TermSet::from_text(text));
        let (claim, shared) = self.find_closest(&terms)?;
        // A "no" to a question answers it, unless its words are those of the statement before.
        let answers_question = denial.opener == Opener::No
            && question.is_some_and(|question| shared <= count_shared(question));
        // A user denies the statement before, mostly.
        let of_answer = answer_sentences().map(count_shared).max().unwrap_or(0);
        let is_acknowledged = answer.is_none_or(|text| count_words(text) < ANSWER_WORDS_MIN);
        let denies_answer = self.is_by_user && !is_acknowledged && of_answer >= shared;
        if answers_question || denies_answer && !is_correction {
            return None;
        }
        let is_direct = match distance {
            ClaimDistance::Last => !self.is_by_user || is_acknowledged,
            ClaimDistance::SameTurn | ClaimDistance::Earlier => false,
        };
        let is_only_claim = self.sentences.len() <= STATEMENTS_MAX;
        let is_about = if denial.has_pronoun() {
            is_direct && is_only_claim && denial.names_value()
        } else if distance == ClaimDistance::Earlier {
            shared >= DISTANT_SHARED_MIN && shared * 2 >= terms.len()
        } else if is_direct {
            shared > 0 && shared * 3 >= terms.len()
                || is_only_claim && denial.opener != Opener::No && denial.has_subject()
        } else {
            shared >= 2 && shared * 3 >= terms.len()
        };
        let claim = if denial.has_pronoun() { self.sentences.last()? } else { claim };
        (is_about && says_other(denial.statement, claim))
            .then(|| self.contradict(claim, denial.whole))
    }

    /// Finds the sentence in which a later message of the same author takes back one of the statements. `is_near`:
    /// it is of the same turn, or of the next one.
    pub fn find_own_correction(&self, message: &str, is_near: bool) -> Option<Contradiction> {
        let parts = split_message(message);
        let mut sentences = parts.sentences.iter().map(|one| one.plain.as_str()).peekable();
        while let Some(sentence) = sentences.next() {
            let Some(rest) = skip_own_correction(sentence) else { continue };
            // "I was wrong. The cache is enabled."
            let (rest, whole) = match sentences.peek() {
                Some(next) if TermSet::from_text(rest).len() < 2 => {
                    (*next, format!("{sentence} {next}"))
                }
                _ => (rest, sentence.to_owned()),
            };
            if is_asked(rest) {
                continue;
            }
            let terms = TermSet::from_text(rest);
            let Some((claim, shared)) = self.find_closest(&terms) else { continue };
            let least = if is_near { 2 } else { DISTANT_SHARED_MIN };
            if shared >= least && shared * 2 >= terms.len() && says_other(rest, claim) {
                return Some(self.contradict(claim, &whole));
            }
        }
        None
    }

    /// The statement that shares most words with another one, and how many.
    fn find_closest(&self, terms: &TermSet<'_>) -> Option<(&String, usize)> {
        let rated =
            self.sentences.iter().map(|one| (one, terms.count_shared(&TermSet::from_text(one))));
        // Of several that share as many, the last one.
        rated.max_by_key(|(_, shared)| *shared)
    }

    fn contradict(&self, claim: &str, text: &str) -> Contradiction {
        let is_one_of_many = self.sentences.len() > STATEMENTS_MAX;
        Contradiction { claim: claim.to_owned(), text: text.trim().to_owned(), is_one_of_many }
    }
}

/// How a prompt denies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Opener {
    /// "no, …", which may only answer a question.
    No,
    /// "that's wrong, …"
    Wrong,
    /// "Correction: …", of what the user said.
    Correction,
}

/// A statement after words that deny what was said before.
#[derive(Debug)]
struct Denial<'t> {
    opener: Opener,
    statement: &'t str,
    /// The statement with the words before it.
    whole: &'t str,
}

impl<'t> Denial<'t> {
    fn parse(prompt: &'t str) -> Option<Self> {
        #[rustfmt::skip]
        const WRONG: &[&str] = &[
            "wrong", "that's wrong", "thats wrong", "that is wrong", "this is wrong", "that's not right",
            "that is not right", "that isn't right", "that's not true", "that is not true", "that isn't true",
            "that's not correct", "that is not correct", "not true", "not right", "that's incorrect",
            "that is incorrect", "incorrect", "that can't be", "that cannot be", "that can't be right",
            "falsch", "das ist falsch", "das stimmt nicht", "c'est faux", "不对", "错了", "違います", "неверно",
        ];
        const CORRECTION: &[&str] = &[
            "correction",
            "i was wrong",
            "i was mistaken",
            "my mistake",
            "korrektur",
            "更正",
            "訂正",
        ];
        const NO: &[&str] = &["no", "nope", "nein", "non", "não", "нет"];
        /// Other words make it a part of the statement: "no tests fail", "wrong file".
        #[rustfmt::skip]
        const SUBJECTS: &[&str] = &[
            "it", "it's", "its", "that", "that's", "thats", "the", "we", "they", "this", "there", "wait", "wrong",
        ];
        const FILLERS: &[&str] =
            &["wait", "sorry", "hm", "hmm", "actually", "you're wrong", "you are wrong"];
        let skip_marks = |text: &'t str| {
            text.trim_start_matches(|c: char| {
                c.is_whitespace()
                    || matches!(
                        c,
                        ',' | '.' | '!' | ':' | ';' | '-' | '–' | '—' | '，' | '。' | '：'
                    )
            })
        };
        let mut opener: Option<Opener> = None;
        let mut rest = prompt;
        for _ in 0..OPENERS_MAX {
            // Longest first, so that "that can't be right" is not cut.
            let wrong = WRONG.iter().filter_map(|mark| strip_any_prefix(rest, &[mark]));
            let wrong = wrong.min_by_key(|rest| rest.len()).map(|rest| (Opener::Wrong, rest));
            let correction = || Some((Opener::Correction, strip_any_prefix(rest, CORRECTION)?));
            let no = || Some((Opener::No, strip_any_prefix(rest, NO)?));
            let is_apart = |(_, after): &(Opener, &str)| {
                !after.starts_with(' ')
                    || after.trim_start().starts_with(['-', '–', '—'])
                    || begins_with_any(after.trim_start(), SUBJECTS)
            };
            let found = wrong.or_else(correction).or_else(no).filter(is_apart);
            let Some((found, after)) = found else {
                match strip_any_prefix(rest, FILLERS) {
                    Some(after) => rest = skip_marks(after),
                    None => break,
                }
                continue;
            };
            opener = Some(opener.map_or(found, |known| if found > known { found } else { known }));
            rest = skip_marks(after);
        }
        let statement = split_sentences(rest).into_iter().next()?.trim();
        let end = prompt.len() - rest.len() + rest.find(statement)? + statement.len();
        let is_stated = !is_asked(statement)
            && !is_order(statement)
            && !begins_with_any(statement, NOT_STATED)
            && (statement.contains(|c: char| c.is_ascii_digit())
                || TermSet::from_text(statement).len() > 0);
        let whole = prompt.get(..end)?;
        opener.filter(|_| is_stated).map(|opener| Self { opener, statement, whole })
    }

    /// Whether its subject stands for something said before.
    fn has_pronoun(&self) -> bool {
        #[rustfmt::skip]
        const PRONOUNS: &[&str] = &[
            "it is", "it's", "its", "it was", "it has", "it runs", "it uses", "they are", "they're", "that is", "that's",
            "there are", "there is", "there's", "he is", "he's", "she is", "she's", "es ist", "es sind", "c'est",
        ];
        begins_with_any(self.statement, PRONOUNS)
    }

    /// Whether it says what is the case instead, in few words: "it is 5".
    fn names_value(&self) -> bool {
        const WORDS_MAX: usize = 10;
        count_words(self.statement) <= WORDS_MAX && !telling_words(self.statement).is_empty()
    }

    /// Whether a subject and more is named.
    fn has_subject(&self) -> bool {
        telling_words(self.statement).len() >= 2
    }
}

/// Beginnings of a sentence after a "no" that states nothing about the subject: thanks, wishes, permissions.
#[rustfmt::skip]
const NOT_STATED: &[&str] = &[
    "i want", "i'd", "i would", "i'll", "i will", "i need", "i meant", "i mean", "i think", "i just", "i don't",
    "i do not", "i can", "i'm good", "i am good", "i'm fine", "let's", "let me", "please", "don't", "do not", "just",
    "thanks", "thank you", "thx", "need", "problem", "worries", "idea", "that's all", "that is all", "that's fine",
    "that is fine", "that's it", "that is it", "that's ok", "that's okay", "that's good", "that's enough", "that's not",
    "that is not", "that's what", "that will", "that would", "it's fine", "it is fine", "it's ok", "it's okay",
    "it's good", "it's not necessary", "it's not needed", "it is not necessary", "all good", "we're good", "we are good",
    "you can", "you should", "you may", "you don't", "we can", "we should", "we don't need", "we do not need",
    "not yet", "not now", "not needed", "not necessary", "nothing", "leave", "keep", "instead", "maybe", "never mind",
    "nevermind", "only if", "go ahead", "ok", "okay", "yes", "stop", "skip", "of course", "but", "danke", "merci",
    "bitte", "nicht nötig",
];

/// Beginnings of sentences in which somebody takes back what they said, and phrases inside of them.
fn skip_own_correction(sentence: &str) -> Option<&str> {
    const STARTS: &[&str] =
        &["correction", "my mistake", "my bad", "scratch that", "korrektur", "更正", "訂正"];
    const INSIDE: [&str; 6] = [
        "i was wrong",
        "i was mistaken",
        "i misread",
        "i misspoke",
        "my earlier answer was wrong",
        "ich lag falsch",
    ];
    let skip_marks = |text: &str| text.find(char::is_alphanumeric);
    let lower = to_lower(sentence);
    // In a text whose letters change their length in lower case, positions differ.
    let inside = INSIDE.iter().find_map(|mark| {
        let end = lower.find(mark)? + mark.len();
        sentence.get(end..).filter(|_| lower.len() == sentence.len())
    });
    let rest = strip_any_prefix(sentence, STARTS).or(inside)?;
    Some(skip_marks(rest).and_then(|at| rest.get(at..)).unwrap_or_default())
}

/// Whether a statement has a telling word that another one lacks.
fn says_other(statement: &str, claim: &str) -> bool {
    let known = telling_words(claim);
    telling_words(statement).iter().any(|word| !known.contains(word))
}

/// The words of a text that are no function words, in lower case, with numbers and names of any length.
fn telling_words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’' | '.' | '_'));
    let words = words.map(|word| word.trim_matches(['.', '\'', '’']).to_lowercase());
    let is_telling = |word: &String| {
        !word.is_empty()
            && !is_stop_word(word, StopClass::FUNCTION)
            && !is_stop_word(word, StopClass::SMALL_TALK)
            && !word.contains(['\'', '’'])
    };
    words.filter(is_telling).collect()
}

fn is_asked(text: &str) -> bool {
    text.trim_end().ends_with(['?', '？', '吗', '嗎', '呢'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use tome_model::{Agent, EventId, Millis, Role, SessionId};

    fn claims(kind: EventKind, text: &str) -> StatedClaims {
        let event = Event {
            id: EventId::parse("event-1").unwrap(),
            session: SessionId::parse("s").unwrap(),
            agent: Agent::parse("claude-code").unwrap(),
            kind,
            role: Role::User,
            text: text.to_owned(),
            tool: None,
            at: Millis(0),
            arrived: Millis(0),
            project: String::new(),
            cwd: String::new(),
            meta: std::iter::empty().collect(),
        };
        StatedClaims::read(&event).expect("a statement")
    }

    fn denied(claim: &str, prompt: &str) -> Option<String> {
        let claims = claims(EventKind::AssistantMessage, claim);
        Some(claims.find_denial(prompt, None, ClaimDistance::Last)?.text)
    }

    #[test]
    fn a_prompt_denies_the_answer_before_it() {
        for (claim, prompt) in [
            ("We use MariaDB for carts.", "no, we use SQLite for carts"),
            ("The mirror is in Oslo.", "No, the mirror is in Bergen."),
            ("The crawler starts 3 threads.", "no, that's wrong, it is 8"),
            ("The crawler starts 3 threads.", "no it's 8"),
            ("The log collector is Loki.", "No, that's wrong. The log collector is Vector."),
            (
                "The archive is called old-mail.",
                "That's not right, the archive is called mail-2020.",
            ),
            ("The release lead is Ada.", "wrong, the release lead is Grace"),
            ("Pages load slowly because two proxies run.", "that can't be, only one proxy runs"),
            ("Der Server steht in Kiel.", "Nein, der Server steht in Bonn."),
            ("The mirror is in Oslo. Shall I change the timeout?", "No, the mirror is in Bergen."),
        ] {
            assert!(denied(claim, prompt).is_some(), "{claim} / {prompt}");
        }
        assert_eq!(
            denied(
                "The log collector is Loki.",
                "No, that's wrong. The log collector is Vector. Fix it."
            ),
            Some("No, that's wrong. The log collector is Vector.".to_owned())
        );
    }

    #[test]
    fn other_prompts_with_a_no_deny_nothing() {
        let claim = "The crawler starts 3 threads.";
        for prompt in [
            "no",
            "no, that's all",
            "No problem.",
            "no, thanks",
            "no need to change the crawler",
            "no idea, look at the crawler",
            "no, I want 5 threads in the crawler",
            "no, use 5 threads for the crawler",
            "no, does the crawler start them at once?",
            "no threads are left",
            "no, the invoices are printed on Friday by the office in Hamburg",
            "No, it's fine.",
            "no, the crawler starts 3 threads",
            "Now the crawler has to start 5 threads",
            "nothing else, the crawler is fine",
            "wrong file, look at the crawler",
        ] {
            assert_eq!(denied(claim, prompt), None, "{prompt}");
        }
        // It answers the question.
        let asked = "The crawler starts 3 threads. Should the parser log every page?";
        for prompt in ["no, it's too much text", "No, the parser is noisy enough."] {
            assert_eq!(denied(asked, prompt), None, "{prompt}");
        }
    }

    #[test]
    fn a_user_corrects_their_own_statement() {
        let own = claims(EventKind::UserMessage, "The key rotation happens every 30 days.");
        let find = |prompt: &str, answer: &str, distance| {
            own.find_denial(prompt, Some(answer), distance).is_some()
        };
        let last = ClaimDistance::Last;
        let corrected = "Correction: the key rotation happens every 60 days.";
        assert!(find(corrected, "ok", last));
        assert!(find(corrected, "ok", ClaimDistance::Earlier));
        assert!(find("no, wait, it is 60", "Noted.", last));
        // It denies the answer in between.
        let answer = "The key rotation happens in the nightly job of the vault.";
        assert!(!find("no, the key rotation happens in the weekly job", answer, last));
        assert!(!find("no, the key rotation is manual", "ok", ClaimDistance::Earlier));
    }

    #[test]
    fn an_agent_takes_back_its_own_statement() {
        let said = claims(
            EventKind::AssistantMessage,
            "The upload form is slow because the preview cache is disabled.",
        );
        let find = |text: &str, is_near| said.find_own_correction(text, is_near).is_some();
        for text in [
            "I was wrong: the preview cache is enabled. The upload form waits for the virus scan.",
            "Correction: the preview cache is enabled.",
            "I checked again. I was mistaken. The preview cache is enabled.",
        ] {
            assert!(find(text, true), "{text}");
            assert!(!find(text, false), "two words are too few later on: {text}");
        }
        for text in [
            "I was wrong: the invoice table has no index.",
            "The preview cache is disabled in staging, too.",
            "I was wrong about the preview cache, or was I?",
        ] {
            assert!(!find(text, true), "{text}");
        }
    }
}
