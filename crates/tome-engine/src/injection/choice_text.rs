//! A decision in one line. Of a question and its answer the answer is the decision, so the question is shortened.

use tome_text::{collapse_whitespace, truncate_words};

use crate::quote::quote_line;

/// Characters of a question that still tell its subject.
const QUESTION_CHARS_MIN: usize = 20;

/// Renders a decision on one line of at most `chars_max` characters with markers broken.
pub(super) fn quote_choice(text: &str, chars_max: usize) -> String {
    let text = collapse_whitespace(text);
    if text.chars().count() <= chars_max {
        return quote_line(&text, chars_max);
    }
    let Some((question, answer)) = split_answer(&text) else {
        return quote_line(&text, chars_max);
    };
    let room = chars_max.saturating_sub(answer.chars().count() + 1);
    if room < QUESTION_CHARS_MIN {
        return quote_line(answer, chars_max);
    }
    quote_line(&format!("{} {answer}", truncate_words(question, room)), chars_max)
}

/// The question and the answer of a choice, as the contents write them: "Which lexer? Logos". A long question ends
/// with an ellipsis there.
fn split_answer(text: &str) -> Option<(&str, &str)> {
    let end =
        ["? ", "？ ", "… "].iter().filter_map(|end| Some(text.rfind(end)? + end.len())).max()?;
    let (question, answer) = text.split_at_checked(end)?;
    (!answer.trim().is_empty()).then_some((question.trim_end(), answer.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_stays_whole() {
        let question =
            "How should the server notice that the file of the settings has changed on disk?";
        let text = format!("{question} Watch it with inotify");
        assert_eq!(quote_choice(&text, 200), text);
        let short = quote_choice(&text, 60);
        assert!(short.ends_with("… Watch it with inotify"), "{short}");
        assert!(short.starts_with("How should the server") && short.chars().count() <= 60);
        assert_eq!(quote_choice(&text, 30), "Watch it with inotify");
        let long = "Use a table because a match of nine hundred arms takes minutes to compile";
        assert!(quote_choice(long, 30).starts_with("Use a table"));
    }
}
