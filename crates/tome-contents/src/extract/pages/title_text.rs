//! The words of a title: without a label and a subject, and in its length.

use tome_model::FactKind;
use tome_text::{count_words, truncate_words};

use crate::Evidence;
use crate::extract::answers::direct_answer::answers_shortly;
use crate::extract::answers::verdict::strip_verdict;
use crate::extract::facts::draft_fact::DraftFact;
use crate::extract::language::clause::{is_balanced, is_long_title, is_main_clause};
use crate::extract::language::text::{begins_with_any, strip_any_prefix, strip_label, to_lower};

const TITLE_CHARS_MAX: usize = 120;

pub(crate) fn build_title(text: &str, source: u32, evidence: Vec<Evidence>) -> Option<DraftFact> {
    let text = truncate_words(text.replace("; ", ", ").trim(), TITLE_CHARS_MAX);
    DraftFact::new(FactKind::Title, &text, source, evidence)
}

/// Removes the label before a summary: `Changes: …`.
pub(crate) fn strip_summary_label(text: &str) -> &str {
    #[rustfmt::skip]
    const LABELS: &[&str] = &[
        "changes made", "changes", "what changed", "what i did", "summary", "done", "updates",
        "update", "status", "implemented", "completed", "fixed",
    ];
    strip_label(text, LABELS).filter(|rest| count_words(rest) >= 3).unwrap_or(text)
}

/// Removes the word that only says that something was done: "Deleted. The rule …", "Updated: the rule …".
pub(crate) fn strip_report_word(text: &str) -> &str {
    let Some((word, rest)) = text.split_once([' ']) else { return text };
    let is_alone = word.ends_with(['.', ':', '!']) && word.len() > 2 && word.is_ascii();
    let is_word = word.trim_end_matches(['.', ':', '!']).chars().all(char::is_alphabetic);
    if is_alone && is_word && count_words(rest) >= 4 { rest.trim_start() } else { text }
}

/// Removes "I have", "I've" and "We": titles have no subject.
pub(crate) fn strip_subject(text: &str) -> &str {
    strip_any_prefix(text, &["i have", "i've", "i", "we have", "we've", "we"])
        .map_or(text, str::trim_start)
}

/// The main clause of a sentence that is too long for a title and begins with another clause: "When …,
/// the dialog stays open".
pub(crate) fn skip_long_lead(text: &str) -> &str {
    let is_led = begins_with_any(text, &["when", "if", "while", "since", "after", "before", "as"]);
    let main = text.split_once(", ").and_then(|(lead, main)| {
        let is_whole = is_balanced(&lead.split_whitespace().collect::<Vec<_>>());
        is_whole.then(|| strip_any_prefix(main, &["then"]).map_or(main, str::trim_start))
    });
    let is_long = is_long_title(text);
    main.filter(|main| is_led && is_long && count_words(main) >= 4 && is_main_clause(main))
        .unwrap_or(text)
}

/// Removes the word that ties a request to the one before it: "Instead, draw a diagram".
pub(crate) fn skip_connective(text: &str) -> &str {
    let rest = strip_any_prefix(
        text,
        &[
            "instead,",
            "also,",
            "to be clear,",
            "in other words,",
            "then",
            "next,",
            "and",
            "so",
            "but",
        ],
    );
    let rest = rest.map(|rest| rest.trim_start_matches([',', ' ']));
    rest.filter(|rest| count_words(rest) >= 4).unwrap_or(text)
}

/// Whether an utterance is a statement about the code: "The parser drops comments".
pub(crate) fn is_report(text: &str) -> bool {
    let is_latin = text.chars().all(|c| !tome_text::is_han_or_kana(c));
    let begins = begins_with_any(text, &["the", "this", "there", "it", "when"]);
    let is_wish =
        [" should ", " must ", " needs to ", " need to "].iter().any(|word| text.contains(word));
    is_latin && begins && !is_wish && !text.ends_with('?')
}

/// Whether a heading is one of several of its kind or an answer, so that it names no more than a part: "Draft 3: the
/// end", "× Old links", "Yes, it is".
pub(crate) fn is_part(heading: &str) -> bool {
    let bare = heading.trim_start_matches(['#', '*', ' ']);
    let mut words = bare.split_whitespace().skip(1);
    let is_number = |word: &str| {
        let number = word.trim_end_matches([':', '.', ')', '—', '–', '-']);
        !number.is_empty() && number.len() <= 2 && number.bytes().all(|c| c.is_ascii_digit())
    };
    answers_shortly(bare)
        || strip_verdict(bare).len() < bare.len()
        || addresses_user(bare)
        || !bare.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '`' | '"' | '“'))
        || words.next().is_some_and(is_number)
}

/// Whether a sentence is part of a conversation: "I'll keep to English", "as you asked".
pub(crate) fn addresses_user(text: &str) -> bool {
    const WORDS: [&str; 9] = ["i", "i'll", "i'm", "i've", "me", "my", "you", "your", "let's"];
    let lower = to_lower(text).replace('’', "'");
    lower.split(|c: char| !c.is_alphanumeric() && c != '\'').any(|word| WORDS.contains(&word))
}
