//! Recognizes and removes greetings and politeness in a few languages.

use std::borrow::Cow;

use crate::extract::language::text::{begins_with_any, strip_any_prefix};

/// Prefixes of a request: greetings, then politeness. Longer ones first.
#[rustfmt::skip]
const GREETINGS: &[&str] = &[
    "good morning", "good evening", "hi there", "hello", "hey", "hi", "okay", "ok", "so", "now",
    "then", "also", "and", "thank you", "thanks", "thx", "great", "perfect", "nice", "yes", "yep",
    "yeah", "no,", "no.", "nope", "hmm", "well", "alright", "cool", "sorry", "actually", "claude", "codex",
    "gemini", "copilot", "team", "aha", "agreed", "interesting", "you're correct", "but", "oh", "ah", "right", "next", "one more thing",
    "quick question", "question", "你好", "您好", "嗯", "好的", "那么", "哦", "好", "こんにちは", "おはようございます", "はい",
    "では", "привет", "добрый день", "так", "ок", "хорошо", "спасибо", "ну", "hallo", "danke", "moin",
];
#[rustfmt::skip]
const COURTESIES: &[&str] = &[
    "i would like you to", "i'd like you to", "i want you to", "i need you to",
    "would it be possible to", "is it possible to", "could you please", "can you please",
    "would you please", "could you", "can you", "would you", "will you", "can we", "could we",
    "i would like to", "i'd like to", "i want to", "we want to", "i need to", "we need to",
    "we have to", "we should", "you should", "i'm trying to", "help me to", "help me", "help us",
    "please", "pls", "plz", "kindly", "let's", "lets", "let us", "go ahead and", "just",
    "it would be nice to",
    "it would be great to", "first", "请你", "请帮我", "请", "帮我", "麻烦你", "麻烦", "能不能", "可以帮我", "我想要",
    "我想", "我需要", "我们需要", "пожалуйста", "можешь", "можете", "не мог бы ты", "мне нужно", "нам нужно",
    "надо", "нужно", "давай", "помоги", "хочу", "bitte", "kannst du bitte", "kannst du",
    "könntest du", "ich möchte", "wir müssen",
];

/// Whether a text begins politely, after any greetings.
pub(crate) fn is_polite(text: &str) -> bool {
    let text = strip_prefixes(text, GREETINGS);
    begins_with_any(text, COURTESIES)
}

/// Removes greetings and politeness from the beginning.
pub(crate) fn strip_courtesy(text: &str) -> &str {
    let mut rest = text;
    for _ in 0..4 {
        let before = rest.len();
        rest = strip_prefixes(rest, GREETINGS);
        rest = strip_prefixes(rest, COURTESIES);
        if rest.len() == before {
            break;
        }
    }
    rest
}

fn strip_prefixes<'a>(text: &'a str, starts: &[&str]) -> &'a str {
    let punctuation = |c: char| {
        c.is_whitespace()
            || matches!(c, ',' | '.' | '!' | '，' | '。' | '！' | '、' | '-' | '–' | '—' | ':')
    };
    let mut rest = text.trim_start();
    let mut stripped = false;
    // `copilot-instructions.md` is a name.
    let is_name = |after: &str| {
        let mut chars = after.chars();
        matches!(chars.next(), Some('-' | '_' | '.' | '/'))
            && chars.next().is_some_and(char::is_alphanumeric)
    };
    while let Some(after) = strip_any_prefix(rest, starts).filter(|after| !is_name(after)) {
        rest = after.trim_start_matches(punctuation);
        stripped = true;
    }
    if stripped { rest } else { text.trim_start() }
}

/// Replaces a noun phrase by its verb: "do some research for me on caches" becomes "research caches".
pub(crate) fn name_the_verb(text: &str) -> Cow<'_, str> {
    const PHRASES: &[(&str, &[&str], &[&str])] = &[
        (
            "research",
            &["do some research", "do a bit of research", "do research"],
            &["on", "about", "into", "for"],
        ),
        ("review", &["do a code review", "do a review", "do a quick review"], &["of", "on"]),
        ("look at", &["have a look", "take a look"], &["at"]),
    ];
    for (verb, phrases, prepositions) in PHRASES {
        let Some(rest) = strip_any_prefix(text, phrases) else { continue };
        let rest = strip_any_prefix(rest.trim_start(), &["for me", "for us"]).unwrap_or(rest);
        let object = strip_any_prefix(rest.trim_start(), prepositions);
        let object = object.map(|object| object.trim_start_matches([' ', ':', ',']));
        if let Some(object) = object.filter(|object| object.len() > 3) {
            return Cow::Owned(format!("{verb} {object}"));
        }
    }
    Cow::Borrowed(text)
}

/// Removes politeness from the end.
pub(crate) fn strip_trailing_courtesy(text: &str) -> &str {
    #[rustfmt::skip]
    const ENDS: &[&str] = &[
        "please", "pls", "thanks", "thank you", "thx", "s'il te plaît", "s'il vous plaît", "bitte",
        "danke", "пожалуйста", "спасибо", "por favor", "お願いします", "谢谢",
    ];
    let bare = text.trim_end_matches(['.', '!', '。', '！', ' ']);
    let ends = ENDS.iter().find_map(|end| bare.strip_suffix(end));
    let cut = ends.filter(|rest| {
        rest.ends_with([' ', ',', '，', '。', '、']) && rest.split_whitespace().count() >= 2
    });
    cut.map_or(text, |rest| rest.trim_end_matches([' ', ',', '，', '、', '.']))
}
