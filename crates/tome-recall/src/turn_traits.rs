//! Traits of a turn: who speaks, and whether it asks or tells.
//!
//! In a chat between people, the turn that shares most words with a query is often a question, and
//! the answer is the next turn, in other words. A prompt to an assistant is different: it tells
//! what its author knows, so asking does not count against it.

use tome_finder::{QUESTION_MARKS, QueryTerms};
use tome_model::EventKind;
use tome_text::split_sentences;

use super::weights::{QUESTION_PENALTY, SPEAKER_BONUS};

/// Longer texts keep the default traits: their sentences are not read.
const TRAITS_BYTES_MAX: usize = 4_000;
/// Bytes that are read to tell code from prose, and lines that must be there.
const CODE_BYTES_READ: usize = 2_000;
const CODE_LINES_MIN: usize = 3;
/// Maximum length of a speaker's name, in bytes.
const SPEAKER_BYTES_MAX: usize = 32;

/// Traits of a turn that the ranking needs.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct TurnTraits {
    /// Name of the one who speaks, or else the kind of the event.
    pub speaker: String,
    /// Share of its words that belong to questions.
    pub question_share: f32,
    /// Whether it ends with a question.
    pub ends_in_question: bool,
    /// Whether the query names the one who speaks ("Ann: …").
    pub is_by_named_speaker: bool,
    /// Whether a person wrote it.
    pub is_by_person: bool,
    /// Whether most of its lines are source code.
    pub is_code: bool,
}

impl TurnTraits {
    pub(super) fn parse(text: &str, kind: &str, query: &QueryTerms) -> Self {
        let is_by_person = kind == EventKind::UserMessage.as_str();
        let is_code = is_code(tome_model::truncate_to(text, CODE_BYTES_READ));
        let traits = Self { is_by_person, is_code, speaker: kind.to_owned(), ..Self::default() };
        if text.len() > TRAITS_BYTES_MAX {
            return traits;
        }
        let (speaker, message) = split_speaker(text);
        let (mut words, mut asking, mut ends_in_question) = (0, 0, false);
        for sentence in strip_attachment(message).lines().flat_map(split_sentences) {
            let count = sentence.split_whitespace().count();
            if count > 0 {
                ends_in_question = asks(sentence);
                words += count;
                asking += if ends_in_question { count } else { 0 };
            }
        }
        Self {
            question_share: asking as f32 / words.max(1) as f32,
            ends_in_question,
            speaker: speaker.unwrap_or(kind).to_owned(),
            is_by_named_speaker: speaker.is_some_and(|name| !query.find_terms_in(name).is_empty()),
            ..traits
        }
    }

    /// Factor for the score of a turn. `share` is the share of its neighbors' scores that it gets,
    /// which is less for a long turn.
    pub(super) fn score_factor(&self, is_between_people: bool, share: f32) -> f32 {
        let asks = if is_between_people { self.question_share * share } else { 0.0 };
        let speaker = if self.is_by_named_speaker { SPEAKER_BONUS } else { 0.0 };
        (1.0 + speaker) * (1.0 - QUESTION_PENALTY * asks)
    }
}

fn asks(sentence: &str) -> bool {
    let is_closing = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ')' | '*' | '_' | '`');
    sentence.trim_end_matches(is_closing).ends_with(QUESTION_MARKS)
}

/// Whether a text consists of questions, by nobody who is named.
pub(super) fn only_asks(text: &str) -> bool {
    let mut sentences = text
        .lines()
        .flat_map(split_sentences)
        .filter(|sentence| sentence.contains(char::is_alphanumeric))
        .peekable();
    text.len() <= TRAITS_BYTES_MAX
        && split_speaker(text).0.is_none()
        && sentences.peek().is_some()
        && sentences.all(asks)
}

/// Whether a text is source code: half of its lines end or assign like it, or it begins with a definition.
fn is_code(text: &str) -> bool {
    #[rustfmt::skip]
    const DEFINITIONS: [&str; 12] = [
        "def ", "async def ", "fn ", "pub fn ", "func ", "function ", "class ", "struct ", "impl ", "const ", "public ",
        "export ",
    ];
    let (mut lines, mut of_code) = (0, 0);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        lines += 1;
        let ends = line.ends_with(['{', '}', '(', ')', '[', ']', ';', ':', ',', '\\']);
        let assigns = line.contains(" = ") || line.contains(" == ") || line.contains("+=");
        let is_statement =
            ["return", "import ", "//", "#", "@"].iter().any(|start| line.starts_with(start));
        of_code += usize::from(ends || assigns || is_statement);
    }
    let begins = DEFINITIONS.iter().any(|start| text.trim_start().starts_with(start));
    begins && text.contains(['(', '{', ':']) || lines >= CODE_LINES_MIN && of_code * 2 >= lines
}

/// Splits off the name of the speaker, if a text begins with one.
fn split_speaker(text: &str) -> (Option<&str>, &str) {
    let text = text.trim_start();
    let is_name = |name: &str| {
        name.len() <= SPEAKER_BYTES_MAX
            && name.split(' ').count() <= 2
            && name.split(' ').all(|word| {
                let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '\'' | '-');
                word.starts_with(char::is_alphabetic) && word.chars().all(is_part)
            })
    };
    match text.split_once(": ").filter(|(name, _)| is_name(name)) {
        Some((name, message)) => {
            (Some(name).filter(|name| name.starts_with(char::is_uppercase)), message)
        }
        None => (None, text),
    }
}

/// Removes a bracketed remark from the end, such as the caption of an image.
fn strip_attachment(text: &str) -> &str {
    let text = text.trim_end();
    match text.strip_suffix(']').and_then(|inner| inner.rsplit_once('[')) {
        Some((before, _)) => before.trim_end(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traits(text: &str) -> TurnTraits {
        TurnTraits::parse(text, "user_message", &QueryTerms::new("Which team does Tim support?"))
    }

    #[test]
    fn the_share_of_questions_in_a_turn_is_measured() {
        assert_eq!(traits("Ann: Who is your favorite?").question_share, 1.0);
        assert_eq!(traits("The wolves. They win.").question_share, 0.0);
        let both = traits("Cool! Who is your favorite player? [image: a ball]");
        assert!(both.ends_in_question && (0.5..1.0).contains(&both.question_share), "{both:?}");
        assert!(!traits("Who? The wolves.").ends_in_question);
        assert!(traits("你喜欢哪个队？").ends_in_question);
        assert_eq!(traits(&"Why? ".repeat(1_000)).question_share, 0.0);
    }

    #[test]
    fn a_text_that_only_asks_is_recognized() {
        for text in ["who feeds the cat?", "What is it? And why?", "谁喂猫？"] {
            assert!(only_asks(text), "{text}");
        }
        for text in ["The cat is fed. By whom?", "Ann: who feeds the cat?", "", "feed the cat"] {
            assert!(!only_asks(text), "{text}");
        }
    }

    #[test]
    fn source_code_is_told_from_prose() {
        for code in [
            "def width(text): return len(text)",
            "fn width(text: &str) -> usize {\n    let width = text.len();\n    width\n}",
            "total = 0\nfor one in all:\n    total += one\nreturn total",
        ] {
            assert!(traits(code).is_code, "{code}");
        }
        for prose in [
            "The function width returns the length of a text.",
            "Ann: great :)",
            "We changed two things:\n- the width is counted in columns\n- tabs count as four",
        ] {
            assert!(!traits(prose).is_code, "{prose}");
        }
    }

    #[test]
    fn the_speaker_is_named_before_a_colon() {
        assert!(traits("Tim: the wolves").is_by_named_speaker);
        assert!(!traits("Ann: Tim likes the wolves").is_by_named_speaker);
        assert!(!traits("I asked him who it is and Tim: the wolves").is_by_named_speaker);
        assert_eq!(traits("Ann: the wolves").speaker, "Ann");
        assert_eq!(traits("def tim(x): return").speaker, "user_message");
        assert!(!traits("user: Tim likes the wolves").is_by_named_speaker);
    }

    #[test]
    fn questions_count_less_only_between_people() {
        let asks = traits("Who is your favorite?");
        assert!(asks.score_factor(true, 1.0) < asks.score_factor(true, 0.2));
        assert_eq!(asks.score_factor(false, 1.0), 1.0);
        assert!(traits("Tim: the wolves").score_factor(true, 1.0) > 1.0);
    }
}
