//! Cutting a text to a number of tokens, head and tail, with a mark that says how to get the rest.

use tome_llm::tokens_about;

/// The text, or its beginning and its end with `mark` between them, within so many tokens. Two thirds
/// of what is kept are the beginning.
pub fn cap_tokens(text: &str, tokens_max: u64, mark: &str) -> String {
    if tokens_about(text) <= tokens_max {
        return text.to_owned();
    }
    let mark = format!("\n[… {mark} …]\n");
    let Some(room) = tokens_max.checked_sub(tokens_about(&mark) + 1) else {
        return head(text, tokens_max.saturating_mul(3)).to_owned();
    };
    // In thirds of a token, as tokens are counted.
    let thirds = room.saturating_mul(3);
    let head = head(text, thirds / 3 * 2);
    let rest = text.get(head.len()..).unwrap_or_default();
    let tail = tail(rest, thirds / 3);
    format!("{head}{mark}{tail}")
}

fn price(c: char) -> u64 {
    if c.is_ascii() { 1 } else { 3 }
}

fn head(text: &str, thirds: u64) -> &str {
    let mut spent = 0;
    let end = text.char_indices().find(|(_, c)| {
        spent += price(*c);
        spent > thirds
    });
    let end = end.map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or_default()
}

fn tail(text: &str, thirds: u64) -> &str {
    let mut spent = 0;
    let mut start = text.len();
    for (at, c) in text.char_indices().rev() {
        spent += price(c);
        if spent > thirds {
            break;
        }
        start = at;
    }
    text.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_cut_fits_and_keeps_both_ends(
            text in "[a-z é日🎈\n]{0,400}", tokens_max in 0_u64..300,
        ) {
            let capped = cap_tokens(&text, tokens_max, "the rest is elsewhere");
            prop_assert!(tokens_about(&capped) <= tokens_max, "{} > {tokens_max}", tokens_about(&capped));
            if tokens_about(&text) <= tokens_max {
                prop_assert_eq!(&capped, &text);
            } else if tokens_max > 60 {
                prop_assert!(capped.contains("the rest is elsewhere"));
                prop_assert_eq!(capped.chars().next(), text.chars().next());
                prop_assert_eq!(capped.chars().last(), text.chars().last());
            }
        }
    }
}
