//! Finds the request in a user's message: the sentence that states it, without courtesies.

use tome_text::{StopClass, count_words, is_han_or_kana, is_stop_word, truncate_words};

use crate::extract::commands::failures::{render_failure_message, score_failure};
use crate::extract::language::clause::is_balanced;
use crate::extract::language::courtesy::{
    is_polite, name_the_verb, strip_courtesy, strip_trailing_courtesy,
};
use crate::extract::language::orders::{REQUEST_WORDS, is_order};
use crate::extract::language::pasted::looks_pasted;
use crate::extract::language::prose::{MessageParts, ProseSentence, prompt_text, split_message};
use crate::extract::language::terms::{TermKind, cjk_runs, extract_terms, is_stop};
use crate::extract::language::text::{begins_with_any, to_lower};
use crate::extract::turns::plan::request_of_plan;
use crate::extract::turns::prompt::is_harness_message;
use crate::extract::turns::reference::refers_without_naming;
use crate::extract::turns::request_score::{PromptSentence, SENTENCES_MAX, is_sure, states_wish};

#[derive(Debug, Clone)]
pub(crate) struct UserRequest<'a> {
    pub(crate) event: usize,
    /// Verbatim.
    pub(crate) raw: &'a str,
    /// Plain text without courtesies.
    pub(crate) text: String,
    /// How much it says; 0 for a mere acknowledgment.
    pub(crate) weight: u32,
    /// Whether the message consists of pasted text only.
    pub(crate) pasted: bool,
    /// Whether the sentence is likely the one that states the request.
    pub(crate) is_sure: bool,
    /// Whether it is worded as a question or an order, and no mere remark.
    pub(crate) is_asked: bool,
    /// Whether it is an order rather than a question or a remark.
    pub(crate) is_order: bool,
    /// The line of a pasted log or trace that explains the failure.
    pub(crate) failure: Option<&'a str>,
}

/// Finds the request in a user's message, if there is one.
pub(crate) fn parse_request(event: usize, text: &str) -> Option<UserRequest<'_>> {
    if is_harness_message(text) {
        return None;
    }
    choose_request(event, &split_message(text))
}

/// Finds the request in the parts of a user's message.
pub(crate) fn choose_request<'a>(
    event: usize,
    parts: &MessageParts<'a>,
) -> Option<UserRequest<'a>> {
    let trouble = find_failure(parts);
    let chosen = choose_sentence(&parts.sentences);
    let Some(ChosenSentence { sentence, text, is_sure }) = chosen else {
        let raw = trouble.or_else(|| parts.others.first().copied())?;
        return Some(UserRequest {
            event,
            raw,
            text: render_failure_message(raw),
            weight: 2,
            pasted: true,
            is_sure: false,
            is_asked: false,
            is_order: false,
            failure: trouble,
        });
    };
    let raw = sentence.raw;
    let (text, trouble) = match (text.split_once(": "), raw.split_once(": ")) {
        // A failure pasted after the request, on the same line.
        (Some((before, after)), Some((_, pasted)))
            if score_failure(after) >= 6 && count_words(before) >= 3 =>
        {
            (before.to_owned(), Some(pasted))
        }
        _ => (text, trouble),
    };
    let weight = weigh_request(&text) + u32::from(trouble.is_some()) * 2;
    let orders = is_order(&text) || is_polite(&sentence.plain);
    Some(UserRequest {
        event,
        raw,
        text,
        weight,
        pasted: false,
        is_sure,
        is_asked: is_request(strip_to_request(&sentence.plain), &sentence.plain)
            || states_wish(&sentence.plain),
        is_order: orders,
        failure: trouble,
    })
}

/// Returns the user's own words in a prompt, on one line. Leaves out pasted logs and code, reduces a pasted plan to
/// its heading and a long text to the sentence that asks for something.
pub fn describe_prompt(text: &str) -> String {
    let parts = split_message(text);
    // Boxes and bars are drawn by programs.
    let is_drawn = |text: &str| text.contains(|c| matches!(c, '\u{2500}'..='\u{25ff}'));
    let said = parts.sentences.iter().map(|sentence| sentence.raw.trim());
    let said: Vec<&str> = said.filter(|text| !is_drawn(text)).collect();
    match request_of_plan(text) {
        Some(request) => request,
        None if said.is_empty() => prompt_text(text),
        None => describe_long_text(&parts, &said.join(" "), text.chars().count()),
    }
}

/// The request in a long text, unless it is at the beginning. Of a text without one, the beginning and the end.
fn describe_long_text(parts: &MessageParts<'_>, said: &str, chars: usize) -> String {
    const LONG_CHARS_MIN: usize = 1_200;
    const BEGINNING_CHARS: usize = 160;
    const SHOWN_CHARS: usize = 80;
    // A key or an address further on does not make a request a log.
    if looks_pasted(&truncate_words(said, SHOWN_CHARS)) && said.split_whitespace().count() > 1 {
        return format!("(pasted text) {said}");
    }
    if chars < LONG_CHARS_MIN {
        return said.to_owned();
    }
    // The request stands above or below a pasted document.
    let last = parts.sentences.last();
    let is_last = |raw: &str| last.is_some_and(|last| last.raw == raw);
    let request = choose_request(0, parts).filter(|request| !request.pasted && request.is_asked);
    let at =
        |raw: &str| said.find(raw).map(|at| said.get(..at).unwrap_or_default().chars().count());
    match request {
        Some(request) if at(request.raw).is_some_and(|at| at < BEGINNING_CHARS) => said.to_owned(),
        Some(request) if request.is_sure || is_last(request.raw) => {
            format!("{} (in a text of {chars} characters)", request.raw.trim())
        }
        _ => {
            let beginning = truncate_words(said, SHOWN_CHARS);
            let end = last.map_or("", |last| last.raw.trim());
            format!("(A text of {chars} characters) {beginning} … {end}")
        }
    }
}

fn find_failure<'a>(parts: &MessageParts<'a>) -> Option<&'a str> {
    let lines = parts
        .others
        .iter()
        .filter(|line| !is_source_code(line))
        .map(|line| (*line, score_failure(line)));
    let best = lines.reduce(|best, one| if one.1 > best.1 { one } else { best })?;
    (best.1 >= 5).then_some(best.0)
}

/// Whether a line is source code that mentions failures.
pub(crate) fn is_source_code(line: &str) -> bool {
    line.ends_with(['{', '}', ';', ',', '(', ')']) && line.contains(['(', '='])
        || line.contains("(\"")
        || line.starts_with("//")
        || line.contains('<') && line.contains("=\"")
}

/// Chooses the sentence that carries the request, and reduces it to that.
fn choose_sentence<'s, 'a>(sentences: &'s [ProseSentence<'a>]) -> Option<ChosenSentence<'s, 'a>> {
    let said: Vec<(&ProseSentence<'a>, &str)> = sentences
        .iter()
        .map(|sentence| (sentence, strip_to_request(&sentence.plain)))
        .filter(|(_, text)| !text.is_empty())
        .take(SENTENCES_MAX)
        .collect();
    let count = said.len();
    let mut best: Option<(i32, &ProseSentence<'a>, &str)> = None;
    let mut is_led_in = false;
    let mut scores = Vec::new();
    for (position, (sentence, text)) in said.into_iter().enumerate() {
        let score = PromptSentence {
            sentence,
            text,
            position,
            is_last: position + 1 == count,
            is_led_in,
            is_request: is_request(text, &sentence.plain),
            weight: weigh_request(text),
        }
        .score();
        let is_scene = text.ends_with([':', '：']) && sets_the_scene(text);
        let score = if is_scene { score - CONTEXT_SENTENCE_PENALTY } else { score };
        is_led_in = text.ends_with([':', '：']) && count_words(text) <= LEAD_IN_WORDS_MAX;
        scores.push(score);
        if best.is_none_or(|(most, ..)| score > most) {
            best = Some((score, sentence, text));
        }
    }
    let (score, sentence, text) = best?;
    let is_sure = count == 1 || is_sure(score, &scores);
    Some(ChosenSentence { sentence, text: name_the_verb(text).into_owned(), is_sure })
}

/// Penalty for a sentence that only sets the context of the request in the next one.
const CONTEXT_SENTENCE_PENALTY: i32 = 300;
/// A longer sentence with a colon at its end does not only lead to the next one.
const LEAD_IN_WORDS_MAX: usize = 8;

struct ChosenSentence<'s, 'a> {
    sentence: &'s ProseSentence<'a>,
    /// Reduced to the request.
    text: String,
    is_sure: bool,
}

/// Reduces a sentence to its request: without courtesies and without a leading clause.
fn strip_to_request(sentence: &str) -> &str {
    let sentence = strip_mentions(sentence);
    let text = strip_lead_in(strip_courtesy(sentence));
    let led_up = begins_with_any(text, LEAD_IN_WORDS);
    let main = text.split_once(", ").map(|(_, main)| main).filter(|main| led_up && is_polite(main));
    let main = main.or_else(|| find_late_request(text));
    let polite = main.is_some() || text.len() < sentence.len() && asks_politely(sentence);
    let text = main.map_or(text, strip_courtesy);
    // "Can you add tests?" is a request, not a question.
    let text = if polite && !starts_with_question_word(text) {
        text.trim_end_matches(['?', '？'])
    } else {
        text
    };
    strip_trailing_courtesy(text).trim()
}

/// Whether a question is a polite order: "Can you add tests?", but not "Maybe we need a heartbeat?"
fn asks_politely(sentence: &str) -> bool {
    #[rustfmt::skip]
    const FORMS: [&str; 15] = [
        "can you", "could you", "would you", "will you", "can we", "could we", "please", "pls", "help me",
        "kannst du", "könntest du", "можешь", "能不能", "可以帮我", "请",
    ];
    is_polite(sentence) && {
        let lower = to_lower(sentence);
        FORMS.iter().any(|form| lower.contains(form))
    }
}

/// The request at the end of a sentence that begins with its context, without a comma between
/// them: "in main.rs we read the file twice could we keep its lines in a cache for both callers".
fn find_late_request(text: &str) -> Option<&str> {
    const POLITE: [&str; 6] = ["could you", "can you", "would you", "could we", "can we", "please"];
    const WORDS_MIN: usize = 4;
    const QUESTION_WORDS: &[&str] =
        &["how", "what", "where", "why", "when", "which", "who", "so", "if", "that", "and"];
    const WEIGHT_MIN: u32 = 4;
    if begins_with_any(text, REQUEST_WORDS) {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    POLITE.iter().find_map(|phrase| {
        let at = lower.find(&format!(" {phrase} "))? + 1;
        let (before, request) = text.split_at_checked(at)?;
        let last = before.split_whitespace().last()?.to_lowercase();
        let rest = strip_courtesy(request);
        // The whole sentence is more informative than "fix the tests" or "cache it".
        let weight = weigh_request(rest);
        let says = weight >= WEIGHT_MIN && !(refers_without_naming(rest) && weight <= WEIGHT_MIN);
        let is_clause = count_words(before) >= WORDS_MIN
            && is_balanced(&before.split_whitespace().collect::<Vec<_>>())
            && !before.trim_end().ends_with([',', ';', ':', '('])
            && !QUESTION_WORDS.contains(&last.as_str());
        (is_clause && says && count_words(rest) >= WORDS_MIN).then_some(request)
    })
}

/// Removes the files that a message mentions before its words: `@src/main.rs`, `@"a file.txt"`.
fn strip_mentions(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(mention) = rest.strip_prefix('@') {
        let after = match mention.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').map(|(_, after)| after),
            None => mention.split_once(char::is_whitespace).map(|(_, after)| after),
        };
        match after.map(str::trim_start).filter(|after| !after.is_empty()) {
            Some(after) => rest = after,
            None => return text,
        }
    }
    rest
}

/// Whether a text asks for an answer rather than for work.
fn starts_with_question_word(text: &str) -> bool {
    begins_with_any(text, &["why", "how", "what", "where", "when", "which", "who", "is", "are"])
}

/// Removes a lead-in such as "take a look at:".
fn strip_lead_in(text: &str) -> &str {
    let says = |part: &str| {
        part.split(|c: char| !c.is_alphanumeric())
            .any(|word| !word.is_empty() && !is_stop(&to_lower(word)))
    };
    let Some((lead, rest)) = text.split_once(": ") else { return text };
    let order = strip_item_number(rest);
    let is_empty = lead.split_whitespace().count() <= 5 && !says(lead) && count_words(rest) >= 3;
    if is_empty {
        rest
    } else if sets_the_scene(lead) && is_order(order) {
        order
    } else {
        text
    }
}

/// Whether a lead-in only sets the context: "Working within the existing project". One that reports a
/// failure does more.
fn sets_the_scene(lead: &str) -> bool {
    begins_with_any(lead, &["working", "given", "based on", "considering", "building on"])
        && score_failure(lead) == 0
}

/// Removes the number of a list's item: `1. Add a test`.
fn strip_item_number(text: &str) -> &str {
    match text.split_once(['.', ')']) {
        Some((number, rest))
            if !number.is_empty()
                && number.len() <= 2
                && number.chars().all(|c| c.is_ascii_digit()) =>
        {
            rest.trim_start()
        }
        _ => text,
    }
}

/// Words that begin a subordinate clause before the request.
#[rustfmt::skip]
const LEAD_IN_WORDS: &[&str] = &[
    "given", "if", "when", "since", "as", "after", "because", "before", "although", "while",
    "based on",
];

#[rustfmt::skip]
const CJK_REQUEST_MARKS: &[&str] = &[
    "请", "帮", "能不能", "吗", "怎么", "为什么", "修复", "添加", "实现", "改成", "看看", "加上", "ください", "お願い", "ですか",
    "なぜ", "直し", "追加して", "したい", "ほしい", "教えて", "해줘", "해 줘", "해주세요", "주세요", "만들어", "왜 ",
];

fn is_request(text: &str, plain: &str) -> bool {
    text.len() < plain.len() && is_polite(plain)
        || text.contains(['?', '？'])
        || begins_with_any(text, REQUEST_WORDS)
        || !text.is_ascii() && CJK_REQUEST_MARKS.iter().any(|mark| text.contains(mark))
}

fn weigh_request(text: &str) -> u32 {
    // A slash command such as `/exit`.
    if text.starts_with('/') && !text.contains(' ') {
        return 0;
    }
    let found = extract_terms(text);
    let names = found.iter().filter(|term| term.kind != TermKind::Word).count();
    let wide: usize = cjk_runs(text).iter().map(|run| run.chars().count() / 2).sum();
    let content = text
        .split(|c: char| !c.is_alphanumeric() || is_han_or_kana(c))
        .filter(|word| word.chars().count() >= 3 && !is_acknowledgment(&to_lower(word)))
        .count();
    let question_score = usize::from(text.contains(['?', '？']) && count_words(text) >= 5) * 2;
    u32::try_from(question_score + content.min(10) + names.min(3) * 2 + wide.min(10))
        .unwrap_or(u32::MAX)
}

/// Whether a word only acknowledges or connects; `fix` and `test` do neither.
fn is_acknowledgment(lower: &str) -> bool {
    #[rustfmt::skip]
    const KEPT: &[&str] = &[
        "fix", "test", "tests", "add", "error", "write", "review", "comment", "comments", "update",
        "remove", "check", "implement", "change", "file", "files", "run", "fails", "failing",
        "create", "move",
    ];
    is_stop_word(lower, StopClass::SMALL_TALK) || (is_stop(lower) && !KEPT.contains(&lower))
}

/// Whether a remark says that something is wrong. In other scripts, that is not known.
pub(crate) fn reports_trouble(text: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: [&str; 14] = [
        " not ", "n't", "doesnt", " no ", "fail", "error", "broken", "wrong", "missing", "crash", "slow", " bug",
        "hangs", "cannot",
    ];
    let lower = to_lower(text);
    let is_latin = text.chars().filter(|c| c.is_alphabetic()).all(|c| c.is_ascii());
    !is_latin || WORDS.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::describe_prompt;

    #[test]
    fn a_long_text_is_told_by_its_request_or_by_its_length() {
        let article = "Rivers carry sand to the sea and leave it at their mouths. ".repeat(24);
        let request = "Please write a summary of this article to docs/rivers.md.";
        let told = describe_prompt(&format!("{article}\n\n{request}"));
        assert!(told.starts_with("Please write a summary"), "{told}");
        assert!(told.contains("(in a text of "), "{told}");
        let told = describe_prompt(&article);
        assert!(told.starts_with("(A text of "), "{told}");
        let told = describe_prompt(&format!("{request} {article}"));
        assert!(told.starts_with(request) && !told.contains("text of"), "{told}");
    }
}
