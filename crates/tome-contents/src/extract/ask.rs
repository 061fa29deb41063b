//! Finds the request in a user's message: the sentence that states it, without courtesies.

use tome_text::{StopClass, count_words, is_han_or_kana, is_stop_word};

use super::clause::question;
use super::courtesy::{courtesies, courtesy_off, courtesy_off_end};
use super::prose::{Parts, Sentence, Shape, parts};
use super::text::{plain, strip_start};
use super::trouble::{failure, message};
use super::words::{Sort, is_stop, terms, wide_runs};

/// A request of the user.
#[derive(Debug, Clone)]
pub(super) struct Ask<'a> {
    pub(super) event: usize,
    /// Verbatim.
    pub(super) raw: &'a str,
    /// Plain text without courtesies.
    pub(super) text: String,
    /// How much it says; 0 for a mere acknowledgment.
    pub(super) weight: u32,
    /// Whether the message consists of pasted text only.
    pub(super) pasted: bool,
    /// Whether it asks for something rather than states something.
    pub(super) requests: bool,
    /// Whether it is an order rather than a question or a remark.
    pub(super) orders: bool,
    /// The sentence that asks for something, if `raw` only describes the problem: verbatim and
    /// plain.
    pub(super) wish: Option<(&'a str, String)>,
    /// The line of a pasted log or trace that explains the failure.
    pub(super) trouble: Option<&'a str>,
}

/// Finds the request in a user's message, if there is one.
pub(super) fn ask(event: usize, text: &str) -> Option<Ask<'_>> {
    if is_harness(text) {
        return None;
    }
    let parts = parts(text);
    let trouble = trouble_of(&parts);
    let chosen = choose(&parts.sentences);
    let Some((raw, text, wish)) = chosen else {
        let raw = trouble.or_else(|| parts.others.first().copied())?;
        return Some(Ask {
            event,
            raw,
            text: message(raw),
            weight: 2,
            wish: None,
            pasted: true,
            requests: false,
            orders: false,
            trouble,
        });
    };
    let (text, trouble) = match (text.split_once(": "), raw.split_once(": ")) {
        // A failure pasted after the request, on the same line.
        (Some((before, after)), Some((_, pasted)))
            if failure(after) >= 6 && count_words(before) >= 3 =>
        {
            (before.to_owned(), Some(pasted))
        }
        _ => (text, trouble),
    };
    let weight = weight_of(&text) + u32::from(trouble.is_some()) * 2;
    let orders = orders(&text) || courtesies(&plain(raw));
    let requests = orders || wish.is_some() || requests(&text, raw);
    Some(Ask { event, raw, text, weight, wish, pasted: false, requests, orders, trouble })
}

/// Whether the agent's harness wrote a message in the user's name.
pub(super) fn is_harness(text: &str) -> bool {
    const BEGINNINGS: [&str; 4] = [
        "[Request interrupted",
        "This session is being continued from a previous conversation",
        "Caveat: The messages below were generated",
        "# AGENTS.md instructions",
    ];
    BEGINNINGS.iter().any(|start| text.trim_start().starts_with(start))
}

fn trouble_of<'a>(parts: &Parts<'a>) -> Option<&'a str> {
    let lines =
        parts.others.iter().filter(|line| !is_source(line)).map(|line| (*line, failure(line)));
    let best = lines.reduce(|best, one| if one.1 > best.1 { one } else { best })?;
    (best.1 >= 5).then_some(best.0)
}

/// Whether a line is source code that mentions failures.
fn is_source(line: &str) -> bool {
    line.ends_with(['{', '}', ';', ',', '(', ')']) && line.contains(['(', '='])
        || line.contains("(\"")
        || line.starts_with("//")
}

/// A sentence verbatim, its plain text, and the wish that goes with it.
type Chosen<'a> = (&'a str, String, Option<(&'a str, String)>);

/// Chooses the sentence that carries the request and, if that one only describes a problem, the
/// sentence that asks for something.
fn choose<'a>(sentences: &[Sentence<'a>]) -> Option<Chosen<'a>> {
    let mut ranked: Vec<(i32, &'a str, String, bool)> = Vec::new();
    let mut led_in = false;
    for sentence in sentences.iter().take(40) {
        let text = request(&plain(sentence.raw));
        if text.is_empty() {
            continue;
        }
        let place = ranked.len();
        let requests = requests(&text, sentence.raw);
        let mut score = sentence_score(&text, sentence, place) + if requests { 4 } else { 0 };
        // A vague reference with little else yields to a sentence that names its subject.
        if points(&text) && weight_of(&text) < 7 {
            score -= if requests { 5 } else { 4 };
        }
        if led_in {
            score += 5;
        }
        led_in = place == 0 && text.ends_with([':', '：']) && count_words(&text) <= 8;
        if led_in {
            score -= 4;
        }
        ranked.push((score, sentence.raw, text, requests));
    }
    let best = ranked.iter().map(|one| one.0).max()?;
    let (_, raw, text, requests) = ranked.iter().find(|one| one.0 == best)?.clone();
    let wish = ranked.iter().find(|one| {
        one.3 && !requests && one.1 != raw && count_words(&one.2) >= 3 && !is_vague(&one.2)
    });
    Some((raw, text, wish.map(|one| (one.1, one.2.clone()))))
}

/// Whether a text refers to its subject ("fix it") instead of naming it.
pub(super) fn points(text: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "it", "this", "them", "these", "those", "comment", "comments", "conflict", "conflicts",
        "feedback", "дело", "это", "das", "es",
    ];
    const WIDE: &[&str] = &["怎么回事", "看看", "直して", "調べて", "これ", "这个问题"];
    let lower = text.to_lowercase();
    let named =
        terms(text).iter().any(|term| matches!(term.sort, Sort::File | Sort::Name | Sort::Code));
    let pointing = lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’')
        .any(|word| WORDS.contains(&word));
    !named && (pointing || WIDE.iter().any(|mark| text.contains(mark)))
}

fn sentence_score(text: &str, sentence: &Sentence<'_>, place: usize) -> i32 {
    let words = count_words(text);
    let place_score = [6, 3, 2, 1].get(place).copied().unwrap_or(0);
    let length_score = match words {
        0..=1 => -4,
        2..=3 => 0,
        4..=30 => 3,
        _ => 1,
    };
    let named = i32::from(terms(text).iter().any(|term| term.sort != Sort::Word));
    let shape = match sentence.shape {
        Shape::Running => 1,
        Shape::Heading => 0,
        Shape::Item => -1,
    };
    let vague = if is_vague(text) { -5 } else { 0 };
    vague + place_score + length_score + named + shape
}

/// Reduces a sentence to its request: without courtesies and without a leading clause.
fn request(sentence: &str) -> String {
    let text = lead_off(courtesy_off(sentence));
    let led_up = LEADS.iter().any(|word| strip_start(text, word).is_some());
    let main =
        text.split_once(", ").map(|(_, main)| main).filter(|main| led_up && courtesies(main));
    let polite = main.is_some() || text.len() < sentence.len() && courtesies(sentence);
    let text = main.map_or(text, courtesy_off);
    // "Can you add tests?" is a request, not a question.
    let text = if polite && !wonders(text) { text.trim_end_matches(['?', '？']) } else { text };
    courtesy_off_end(text).trim().to_owned()
}

/// Whether a text asks for an answer rather than for work.
fn wonders(text: &str) -> bool {
    ["why", "how", "what", "where", "when", "which", "who", "is", "are"]
        .iter()
        .any(|word| strip_start(text, word).is_some())
}

/// Removes a lead-in such as "take a look at:".
fn lead_off(text: &str) -> &str {
    let says = |part: &str| {
        part.split(|c: char| !c.is_alphanumeric())
            .any(|word| !word.is_empty() && !is_stop(&word.to_lowercase()))
    };
    match text.split_once(": ") {
        Some((lead, rest))
            if lead.split_whitespace().count() <= 5 && !says(lead) && count_words(rest) >= 3 =>
        {
            rest
        }
        _ => text,
    }
}

/// Words that begin a subordinate clause before the request.
#[rustfmt::skip]
const LEADS: &[&str] = &[
    "given", "if", "when", "since", "as", "after", "because", "before", "although", "while",
    "based on",
];

/// Whether a text begins with a request verb and is not a question.
pub(super) fn orders(text: &str) -> bool {
    VERBS.iter().any(|verb| strip_start(text, verb).is_some()) && !question(text)
}

/// Phrases that request something without naming it.
#[rustfmt::skip]
const VAGUE: &[&str] = &[
    "take a look", "have a look", "go ahead", "do it", "what do you think", "thoughts", "any ideas",
    "propose a",
];

fn is_vague(text: &str) -> bool {
    let lower = text.to_lowercase();
    VAGUE.iter().any(|phrase| lower.contains(phrase))
}

/// Words that begin a request.
#[rustfmt::skip]
const VERBS: &[&str] = &[
    "add", "address", "analyze", "apply", "build", "bump", "change", "check", "clean", "compare",
    "configure", "convert", "create", "debug", "delete", "deploy", "document", "drop", "explain",
    "extract", "figure", "find", "finish", "fix", "generate", "handle", "implement", "improve",
    "install", "investigate", "look", "make", "merge", "migrate", "move", "optimize", "port",
    "profile", "rebase", "redo", "refactor", "release", "remove", "rename", "replace", "resolve",
    "revert", "review", "rewrite", "run", "set", "show", "simplify", "speed", "split", "summarize",
    "support", "switch", "tell", "test", "trace", "translate", "try", "undo", "update", "upgrade",
    "use", "verify", "write", "why", "how", "what", "where", "when", "which", "who", "is", "are",
    "does", "do", "should", "исправь", "почини", "добавь", "сделай", "напиши", "перепиши",
    "проверь", "удали", "почему", "как", "посмотри", "объясни", "перенеси", "разберись", "baue",
    "füge", "schreibe", "warum", "wie", "erkläre", "prüfe", "behebe",
];
#[rustfmt::skip]
const WIDE_REQUESTS: &[&str] = &[
    "请", "帮", "能不能", "吗", "怎么", "为什么", "修复", "添加", "实现", "改成", "看看", "加上", "ください", "お願い", "ですか",
    "なぜ", "直し", "追加して", "したい", "ほしい", "教えて",
];

fn requests(text: &str, raw: &str) -> bool {
    text.len() < plain(raw).len() && courtesies(&plain(raw))
        || text.contains(['?', '？'])
        || VERBS.iter().any(|verb| strip_start(text, verb).is_some())
        || WIDE_REQUESTS.iter().any(|mark| text.contains(mark))
}

fn weight_of(text: &str) -> u32 {
    // A slash command such as `/exit`.
    if text.starts_with('/') && !text.contains(' ') {
        return 0;
    }
    let found = terms(text);
    let names = found.iter().filter(|term| term.sort != Sort::Word).count();
    let wide: usize = wide_runs(text).iter().map(|run| run.chars().count() / 2).sum();
    let content = text
        .split(|c: char| !c.is_alphanumeric() || is_han_or_kana(c))
        .filter(|word| word.chars().count() >= 3 && !is_nod(&word.to_lowercase()))
        .count();
    let asked = usize::from(text.contains(['?', '？']) && count_words(text) >= 5) * 2;
    u32::try_from(asked + content.min(10) + names.min(3) * 2 + wide.min(10)).unwrap_or(u32::MAX)
}

/// Whether a word only acknowledges or connects; `fix` and `test` do neither.
fn is_nod(lower: &str) -> bool {
    #[rustfmt::skip]
    const KEPT: &[&str] = &[
        "fix", "test", "tests", "add", "error", "write", "review", "comment", "comments", "update",
        "remove", "check", "implement", "change", "file", "files", "run", "fails", "failing",
        "create", "move",
    ];
    is_stop_word(lower, StopClass::SMALL_TALK) || (is_stop(lower) && !KEPT.contains(&lower))
}
