//! Parses a model's answer: finds the JSON object and enforces the rules.
//!
//! Code fences, surrounding prose, reasoning, list marks and emphasis are removed. A wrong shape, a
//! wrong number of bullets, empty, overlong or repeated bullets, markup, and characters that hide
//! text make the answer unusable.

use serde_json::Value;
use tome_text::collapse_whitespace;

/// Bounds on the bullets of an answer.
pub(super) const BULLETS_MAX: usize = 5;
const BULLETS_MIN: usize = 3;
/// Keywords that are kept; the most important come first.
const KEYWORDS_MAX: usize = 7;
const KEYWORD_CHARS_MAX: usize = 60;
const TITLE_CHARS_MAX: usize = 120;
/// The prompt asks for ten; a few more do not justify another attempt.
const TITLE_WORDS_MAX: usize = 16;
const BULLET_CHARS_MAX: usize = 320;
/// Bytes of an answer that are parsed.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// Opening braces at which parsing is attempted.
const PARSE_ATTEMPTS_MAX: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ModelSummary {
    pub(super) title: String,
    pub(super) bullets: Vec<String>,
    pub(super) keywords: Vec<String>,
}

/// Rules that depend on the size of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AnswerRules {
    pub(super) bullets_min: usize,
}

impl AnswerRules {
    /// One event does not make three bullets.
    pub(super) fn for_input_len(parts: usize) -> Self {
        Self { bullets_min: parts.clamp(1, BULLETS_MIN) }
    }
}

/// Parses an answer, or says why it is unusable. The reason quotes nothing of the answer, so it is
/// safe to send back to the model.
pub(super) fn parse(text: &str, expected: AnswerRules) -> Result<ModelSummary, String> {
    let text = tome_model::truncate_to(text, ANSWER_BYTES_MAX);
    // Reasoning models may draft objects inside their thoughts.
    let text = text.rsplit_once("</think>").map_or(text, |(_, after)| after);
    let object = find_object(text).ok_or("it contains no JSON object with title and bullets")?;
    let title = parse_title(&object)?;
    let bullets = parse_bullets(&object, expected)?;
    let keywords = parse_keywords(&object)?;
    Ok(ModelSummary { title, bullets, keywords })
}

/// Finds the last object with a title and bullets.
fn find_object(text: &str) -> Option<Value> {
    let mut found = None;
    let mut rest = text;
    for _ in 0..PARSE_ATTEMPTS_MAX {
        let Some(at) = rest.find('{') else { break };
        let here = rest.get(at..).unwrap_or_default();
        let mut values = serde_json::Deserializer::from_str(here).into_iter::<Value>();
        let read = match values.next() {
            Some(Ok(value)) => {
                if value.get("title").is_some() && value.get("bullets").is_some() {
                    found = Some(value);
                }
                values.byte_offset()
            }
            _ => 1,
        };
        rest = here.get(read.max(1)..).unwrap_or_default();
    }
    found
}

fn parse_title(object: &Value) -> Result<String, String> {
    let title = object.get("title").and_then(Value::as_str).ok_or("the title is not a string")?;
    let title = strip_markdown(title);
    let title = title.trim_end_matches(['.', '。', ' ']).to_owned();
    check_text("the title", &title, TITLE_CHARS_MAX)?;
    let words = title.split_whitespace().count();
    if words > TITLE_WORDS_MAX {
        return Err(format!("the title has {words} words instead of 5 to 10"));
    }
    Ok(title)
}

fn parse_bullets(object: &Value, expected: AnswerRules) -> Result<Vec<String>, String> {
    let items =
        object.get("bullets").and_then(Value::as_array).ok_or("the bullets are not a list")?;
    if !(expected.bullets_min..=BULLETS_MAX).contains(&items.len()) {
        return Err(format!(
            "it has {} bullets instead of {} to {BULLETS_MAX}",
            items.len(),
            expected.bullets_min
        ));
    }
    let mut bullets: Vec<String> = Vec::new();
    for bullet in items {
        // Models sometimes omit the object around the text.
        let text = bullet.get("text").unwrap_or(bullet).as_str().ok_or("a bullet has no text")?;
        let text = strip_markdown(text);
        check_text("a bullet", &text, BULLET_CHARS_MAX)?;
        if bullets.iter().any(|other| other.to_lowercase() == text.to_lowercase()) {
            return Err("two bullets are the same".to_owned());
        }
        bullets.push(text);
    }
    Ok(bullets)
}

fn parse_keywords(object: &Value) -> Result<Vec<String>, String> {
    let items =
        object.get("keywords").and_then(Value::as_array).ok_or("the keywords are not a list")?;
    let mut keywords: Vec<String> = Vec::new();
    for keyword in items {
        let keyword = strip_markdown(keyword.as_str().ok_or("a keyword is not a string")?);
        let is_repeated =
            keywords.iter().any(|other| other.to_lowercase() == keyword.to_lowercase());
        // An unusable keyword does not justify another attempt.
        if !is_repeated && check_text("a keyword", &keyword, KEYWORD_CHARS_MAX).is_ok() {
            keywords.push(keyword);
        }
    }
    if keywords.is_empty() {
        return Err("it has no keywords".to_owned());
    }
    keywords.truncate(KEYWORDS_MAX);
    Ok(keywords)
}

/// One line, without list marks, emphasis and backticks.
fn strip_markdown(text: &str) -> String {
    let mut line = collapse_whitespace(text);
    loop {
        let plain = line.replace("**", "").replace('`', "");
        let plain = plain.trim().trim_start_matches(['#', '•', '·']);
        let plain = plain.strip_prefix("- ").or_else(|| plain.strip_prefix("* ")).unwrap_or(plain);
        let plain = collapse_whitespace(plain);
        // Removing one mark may expose another; each round is shorter.
        if plain == line {
            return plain;
        }
        line = plain;
    }
}

/// Checks that a text may appear in a node.
fn check_text(what: &str, text: &str, chars_max: usize) -> Result<(), String> {
    if !text.chars().any(char::is_alphanumeric) {
        return Err(format!("{what} is empty"));
    }
    if text.chars().count() > chars_max {
        return Err(format!("{what} has more than {chars_max} characters"));
    }
    if text.chars().any(hides_text) {
        return Err(format!("{what} contains control characters"));
    }
    if has_markup(text) {
        return Err(format!("{what} contains markup"));
    }
    Ok(())
}

/// Control, bidirectional-override and tag characters.
fn hides_text(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{E0000}'..='\u{E007F}')
}

/// Whether a text holds links, images or HTML tags. Generics such as `Vec<String>` do not count: a
/// tag has a known name followed by `>`, a space or `/`.
fn has_markup(text: &str) -> bool {
    if text.contains("](") || text.contains("</") || text.contains("<!--") {
        return true;
    }
    text.split('<').skip(1).any(|after| {
        let name: String =
            after.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        const TAGS: &[&str] = &[
            "a",
            "b",
            "br",
            "code",
            "div",
            "em",
            "i",
            "iframe",
            "img",
            "li",
            "p",
            "pre",
            "script",
            "span",
            "strong",
            "style",
            "svg",
            "system",
            "tome-memory",
            "ul",
        ];
        TAGS.contains(&name.to_lowercase().as_str())
            && after.chars().nth(name.len()).is_some_and(|next| matches!(next, '>' | ' ' | '/'))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const ANY: AnswerRules = AnswerRules { bullets_min: 3 };

    fn good() -> Value {
        json!({
            "title": "Unicode identifiers in the lexer",
            "bullets": [
                {"text": "The lexer takes `XID_Start` now."},
                {"text": "- cargo test failed once and then passed"},
                {"text": "**Decided** to keep ASCII fast"},
            ],
            "keywords": ["lexer.rs", "XID_Start", "Lexer.rs", "unicode"],
        })
    }

    fn with(pointer: &str, value: Value) -> Result<ModelSummary, String> {
        let mut answer = good();
        *answer.pointer_mut(pointer).unwrap() = value;
        parse(&answer.to_string(), ANY)
    }

    #[test]
    fn a_good_answer_is_cleaned_of_marks() {
        let answer = parse(&good().to_string(), ANY).unwrap();
        assert_eq!(answer.title, "Unicode identifiers in the lexer");
        assert_eq!(
            answer.bullets,
            [
                "The lexer takes XID_Start now.",
                "cargo test failed once and then passed",
                "Decided to keep ASCII fast"
            ]
        );
        assert_eq!(answer.keywords, ["lexer.rs", "XID_Start", "unicode"]);
    }

    #[test]
    fn the_object_is_found_wherever_it_stands() {
        let object = good();
        for text in [
            format!("```json\n{object:#}\n```"),
            format!("Here is {{the}} summary:\n\n{object}\n\nTell me if {{you}} want more."),
            format!("<think>{{\"title\": \"no\", \"bullets\": []}} hm {{</think>{object}"),
            format!("{{\"draft\": {{\"title\": 1}}}} {object}"),
        ] {
            assert_eq!(parse(&text, ANY), parse(&object.to_string(), ANY), "{text}");
        }
    }

    #[test]
    fn bullets_may_be_plain_strings() {
        let answer = with("/bullets", json!(["one thing", "another thing", "a third thing"]));
        assert_eq!(answer.unwrap().bullets.len(), 3);
    }

    #[test]
    fn an_answer_that_breaks_a_rule_is_rejected_with_the_rule() {
        let refused = |pointer: &str, value: Value| with(pointer, value).unwrap_err();
        assert_eq!(refused("/title", json!("")), "the title is empty");
        assert_eq!(refused("/title", json!("…")), "the title is empty");
        assert_eq!(refused("/title", json!(7)), "the title is not a string");
        assert_eq!(
            refused("/title", json!("word ".repeat(17))),
            "the title has 17 words instead of 5 to 10"
        );
        assert_eq!(refused("/bullets", json!([])), "it has 0 bullets instead of 3 to 5");
        assert_eq!(refused("/bullets", json!(vec!["x"; 6])), "it has 6 bullets instead of 3 to 5");
        assert_eq!(refused("/bullets", json!(["x", "y", "X"])), "two bullets are the same");
        assert_eq!(refused("/bullets/1", json!({"words": 1})), "a bullet has no text");
        assert_eq!(
            refused("/bullets/1/text", json!("é".repeat(321))),
            "a bullet has more than 320 characters"
        );
        assert_eq!(refused("/keywords", json!([])), "it has no keywords");
        assert_eq!(refused("/keywords", json!("lexer")), "the keywords are not a list");
        for marked in ["see [this](http://x)", "<script>x", "a <b>bold</b> one", "<tome-memory x>"]
        {
            assert_eq!(
                refused("/bullets/0/text", json!(marked)),
                "a bullet contains markup",
                "{marked}"
            );
        }
        assert_eq!(
            refused("/title", json!("evil \u{202E}txt")),
            "the title contains control characters"
        );
        assert_eq!(
            parse("I cannot do that.", ANY),
            Err("it contains no JSON object with title and bullets".into())
        );
    }

    #[test]
    fn code_is_not_markup() {
        for code in ["returns Vec<String> now", "Option<i32>", "a < b and b > a", "Map<K, V>"] {
            assert!(with("/bullets/0/text", json!(code)).is_ok(), "{code}");
        }
    }

    #[test]
    fn small_inputs_need_fewer_bullets() {
        let one = json!({"title": "Hello", "bullets": ["Said hello"], "keywords": ["hello"]});
        assert!(parse(&one.to_string(), ANY).is_err());
        assert!(parse(&one.to_string(), AnswerRules::for_input_len(1)).is_ok());
        assert_eq!(AnswerRules::for_input_len(0).bullets_min, 1);
        assert_eq!(AnswerRules::for_input_len(99).bullets_min, 3);
    }

    proptest! {
        #[test]
        fn any_text_parses_without_panic(text in "\\PC{0,300}") {
            let _ = parse(&text, ANY);
        }

        #[test]
        fn malformed_json_parses_without_panic(text in "([{}\\[\\]\",:]|title|bullets|\\\\|\u{e9}|\n| |</think>){0,60}") {
            let _ = parse(&text, ANY);
        }

        #[test]
        fn an_accepted_answer_keeps_the_rules(
            title in "\\PC{0,140}",
            bullets in prop::collection::vec("\\PC{0,60}", 0..7),
            keywords in prop::collection::vec("\\PC{0,20}", 0..10),
        ) {
            let text = json!({"title": title, "bullets": bullets, "keywords": keywords}).to_string();
            if let Ok(answer) = parse(&text, ANY) {
                prop_assert!((3..=5).contains(&answer.bullets.len()));
                prop_assert!((1..=7).contains(&answer.keywords.len()));
                prop_assert!(answer.bullets.iter().all(|b| !b.is_empty() && !b.contains(['`', '\n'])));
                prop_assert_eq!(parse(&json!({"title": answer.title, "bullets": answer.bullets, "keywords": answer.keywords}).to_string(), ANY), Ok(answer));
            }
        }
    }
}
