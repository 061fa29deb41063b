//! Recognizes prompts that only make sense as a reply, and those that vent a feeling.

use tome_text::count_words;

use crate::extract::language::text::{begins_with_any, to_lower};

/// Whether the user vents a feeling.
pub(crate) fn is_outburst(text: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: [&str; 19] = [
        "fuck", "fucking", "fucked", "shit", "bullshit", "wtf", "damn", "idiot", "crap", "ffs",
        "merde", "putain", "porra", "caralho", "mierda", "joder", "scheiße", "блять", "блин",
    ];
    const WIDE: [&str; 4] = ["卧槽", "妈的", "傻逼", "くそ"];
    let lower = to_lower(text);
    lower.split(|c: char| !c.is_alphanumeric()).any(|word| WORDS.contains(&word))
        || WIDE.iter().any(|mark| text.contains(mark))
}

/// Whether a request begins as a reply, so that it means nothing without the message before it.
pub(crate) fn leans_on_conversation(text: &str) -> bool {
    #[rustfmt::skip]
    const OPENINGS: &[&str] = &[
        "option 1", "option 2", "option 3", "option a", "option b", "that works", "that worked", "still no", "still not", "still can", "still the",
        "also it",
        "also this", "also that", "its", "it's", "go ahead",
        "keep going", "keep it", "test it", "try it", "try again", "try this", "do so",
        "do it", "again", "wait,", "i still",
        "i got", "i see", "i dont", "i don't", "i did", "what about", "let's go", "have you",
        "et", "mais", "donc", "ça", "c'est", "mas", "pero", "entonces",
        "那么", "还有", "还是", "但是", "もう一度",
        "tiep tuc", "tiếp tục",
    ];
    const WORDS_MAX: usize = 14;
    begins_with_any(text, OPENINGS) && count_words(text) <= WORDS_MAX
}

#[cfg(test)]
mod tests {
    use super::{is_outburst, leans_on_conversation};

    #[test]
    fn replies_lean_on_the_conversation_and_requests_do_not() {
        for text in ["Option 2 then", "Still no change in the footer", "Mais pas comme ça"] {
            assert!(leans_on_conversation(text), "{text}");
        }
        for text in ["Add a footer to the invoice", "Optional chaining breaks the parser"] {
            assert!(!leans_on_conversation(text), "{text}");
        }
        assert!(is_outburst("the damn build again"));
        assert!(!is_outburst("Fix the crapaud entry of the menu"));
    }
}
