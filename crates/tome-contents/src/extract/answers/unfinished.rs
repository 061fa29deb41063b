//! Recognizes sentences of an answer that report no finished work: fragments, tasks for the user,
//! possibilities and next steps.

use crate::extract::language::text::{begins_with_any, strip_any_prefix};

/// Whether a text is a part of a sentence: it ends with a comma, or begins with a particle.
pub(crate) fn is_fragment(text: &str) -> bool {
    const PARTICLES: [char; 7] = ['を', 'が', 'は', 'に', 'で', 'と', 'も'];
    let mut chars = text.chars();
    let begins = chars.next().is_some_and(|c| PARTICLES.contains(&c))
        && chars.next().is_some_and(tome_text::is_han_or_kana);
    begins || text.ends_with(['、', '，', ','])
}

/// Whether a whole sentence stands in parentheses: a remark beside the result.
pub(crate) fn is_parenthetical(text: &str) -> bool {
    let bare = text.trim_end_matches(['.', '。']);
    [('(', ')'), ('（', '）')].iter().any(|(open, close)| {
        bare.strip_prefix(*open)
            .and_then(|rest| rest.strip_suffix(*close))
            .is_some_and(|inner| !inner.contains([*open, *close]))
    })
}

/// Whether a text is one of the options that the user is offered: "Option B — keep the old table".
pub(crate) fn offers_option(text: &str) -> bool {
    const LETTERS_MAX: usize = 2;
    let Some(rest) =
        strip_any_prefix(text, &["option", "opción", "opção", "вариант", "方案", "选项"])
    else {
        return false;
    };
    let rest = rest.trim_start();
    let name: usize = rest.chars().take_while(char::is_ascii_alphanumeric).count();
    let after = rest.chars().nth(name);
    (1..=LETTERS_MAX).contains(&name)
        && match after {
            Some(':' | '：' | '.' | ')' | '-' | '–' | '—' | '(') => true,
            Some(' ') => rest
                .chars()
                .skip(name)
                .find(|c| *c != ' ')
                .is_some_and(|c| matches!(c, '-' | '–' | '—' | ':' | '(')),
            _ => false,
        }
}

/// Whether a sentence instructs the user, or describes what could be done or should happen: none of it has
/// happened.
pub(crate) fn looks_ahead(text: &str) -> bool {
    #[rustfmt::skip]
    const STARTS: &[&str] = &[
        "next question", "next natural", "next step is", "the next step is", "recommended:", "options are", "options:", "for example", "e.g.",
        "feel free", "once you", "you can reply", "reply with", "现在请", "you've done", "you're all set", "you are all set", "see you", "需要我", "如需",
        "推送后", "建议：", "建议:", "这次应该", "现在应该", "确认后", "同意后", "よろしければ", "必要であれば", "si tu veux",
        "quer que", "se quiser", "si quieres", "please post", "please share", "please paste", "please provide",
        "please send", "please tell", "please confirm", "could you share", "could you provide", "could you paste",
        "bitte poste", "bitte schick", "bitte teile", "пришли", "скинь", "请提供", "请把", "请告诉",
    ];
    const ENDS: [&str; 6] =
        ["ましょう", "ましょう。", "ください。", "ください", "れば", "教えてください。"];
    const INSIDE: [&str; 4] = ["是否同意", "请确认", "应该能", "should work now"];
    begins_with_marks(text, STARTS)
        || !text.is_ascii() && ENDS.iter().any(|end| text.ends_with(end))
        || INSIDE.iter().any(|mark| text.contains(mark))
}

/// Whether a sentence instructs the user to do something.
pub(crate) fn instructs(text: &str) -> bool {
    #[rustfmt::skip]
    const STARTS: &[&str] = &[
        "if", "you can", "you can now", "you could", "you should", "you'll", "you will", "you may",
        "you need to", "please", "make sure", "remember to", "after you", "when you", "refresh", "restart",
        "reload", "如果", "请", "もし", "次に", "si vous", "tu peux", "vous pouvez", "puedes", "você pode", "nếu",
    ];
    #[rustfmt::skip]
    const ORDERS: &[&str] = &[
        "run", "update", "open", "set", "try", "check", "install", "add", "replace", "use", "visit",
        "copy", "paste", "go to", "start", "execute", "click", "double-click", "create", "type", "press",
        "select", "fix",
    ];
    let is_order = strip_any_prefix(text, ORDERS).is_some_and(|rest| {
        let next = rest.trim_start();
        next.starts_with(['`', '"'])
            || begins_with_any(next, &["the", "your", "a", "an", "this", "it", "npm", "npx", "pip"])
    });
    is_order || begins_with_marks(text, STARTS)
}

/// Whether a text begins with one of these words, or with these characters of a script without spaces.
fn begins_with_marks(text: &str, marks: &[&str]) -> bool {
    begins_with_any(text, marks)
        || marks.iter().any(|mark| !mark.is_ascii() && text.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_in_parentheses_are_told_from_sentences_with_one() {
        assert!(is_parenthetical("(The lint warning in `parse.go` is older.)"));
        assert!(is_parenthetical("（この警告は以前からあります）。"));
        assert!(!is_parenthetical("(Only) the cache was stale (again)"));
        assert!(!is_parenthetical("The lint warning is older (since May)."));
    }

    #[test]
    fn offered_options_are_told_from_chosen_ones() {
        for offer in [
            "Option B - Keep the old table.",
            "Option 2: rename it",
            "Option A (safe)",
            "方案A：重写",
        ] {
            assert!(offers_option(offer), "{offer}");
        }
        for chosen in
            ["Option B is in place now.", "Options are parsed once.", "Optional fields are kept."]
        {
            assert!(!offers_option(chosen), "{chosen}");
        }
    }
}
