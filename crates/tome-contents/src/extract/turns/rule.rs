//! The lasting rules and preferences that a user states.

use tome_text::count_words;

use crate::extract::language::text::{
    begins_with_any, may_begin_with, strip_prefix_ignoring_case, to_lower,
};

/// Words of a rule.
const RULE_WORDS_MIN: usize = 3;
const RULE_WORDS_MAX: usize = 40;

/// Whether a sentence of the user states a lasting rule.
pub(crate) fn is_convention(sentence: &str) -> bool {
    let words = count_words(sentence);
    (RULE_WORDS_MIN..=RULE_WORDS_MAX).contains(&words)
        && !asks(sentence)
        && (begins_as_rule(sentence) || has_rule_inside(sentence))
}

/// Whether a sentence asks something, or begins as a question without its mark.
fn asks(sentence: &str) -> bool {
    const STARTS: &[&str] = &[
        "what",
        "why",
        "how",
        "who",
        "where",
        "which",
        "does",
        "did",
        "is",
        "are",
        "was",
        "should",
        "can we",
        "should we",
    ];
    let text = sentence.trim_end();
    text.ends_with(['?', '？', '吗', '嗎', '呢']) || begins_with_any(text, STARTS)
}

fn begins_as_rule(sentence: &str) -> bool {
    /// They begin an order, unless what follows describes a state or the past.
    #[rustfmt::skip]
    const ORDERS: &[&str] = &[
        "always", "never", "please always", "please never", "immer", "niemals", "nie", "bitte immer", "bitte nie",
        "bitte niemals", "toujours", "jamais", "siempre", "nunca", "sempre", "всегда", "никогда",
    ];
    /// After these, an order or a rule about the work follows, or a statement about the product.
    #[rustfmt::skip]
    const FROM_NOW: &[&str] = &[
        "from now on", "going forward", "ab jetzt", "ab sofort", "von jetzt an", "künftig", "à partir de maintenant",
        "désormais", "dorénavant", "a partir de ahora", "de ahora en adelante", "desde ahora", "a partir de agora",
        "de agora em diante", "с этого момента", "отныне", "впредь",
    ];
    #[rustfmt::skip]
    const STARTS: &[&str] = &[
        "in this project", "in this repo", "we always", "we never", "we don't use", "we do not use", "don't ever",
        "make sure to always", "make sure you always", "remember to", "remember that", "remember:", "i prefer",
        "i always want", "i never want", "for all future", "in all future", "for future", "ich möchte immer",
        "ich will immer", "以后", "永远不要", "总是", "今後は", "これからは", "必ず", "常に", "いつも", "絶対に", "항상",
    ];
    let after = |starts: &[&str]| {
        let mut starts = starts.iter().filter(|start| may_begin_with(sentence, start));
        starts.find_map(|start| strip_prefix_ignoring_case(sentence, start))
    };
    let lead = |rest: &str| rest.trim_start_matches([' ', ',', ':', '-', '–', '—']).to_lowercase();
    after(ORDERS).is_some_and(|rest| !is_description(&lead(rest)))
        || after(FROM_NOW).is_some_and(|rest| !describes_product(&lead(rest)))
        || after(STARTS).is_some()
        || after(&["we use"]).is_some() && limits_choice(sentence)
}

/// Whether a statement about what "we use" is a rule for the work: it names a place or rules something out.
fn limits_choice(sentence: &str) -> bool {
    #[rustfmt::skip]
    const LIMITS: &[&str] = &[
        " here", ", not ", " instead", " rather than ", " only ", " only", " always ", " everywhere", " never ",
        " in this project", " in this repo", " in this codebase", " convention", " style",
    ];
    let lower = to_lower(sentence);
    LIMITS.iter().any(|mark| match mark.ends_with(' ') {
        true => lower.contains(mark),
        false => lower
            .split_once(mark)
            .is_some_and(|(_, rest)| !rest.starts_with(|c: char| c.is_alphanumeric())),
    })
}

/// Whether the words after "from now on" describe the product: "the server listens on port 8080".
fn describes_product(rest: &str) -> bool {
    const SUBJECTS: &[&str] =
        &["the", "our", "my", "it", "its", "this", "that", "there", "der", "die", "das"];
    const ORDERS: [&str; 8] = [
        " should ",
        " must ",
        " please ",
        " has to ",
        " have to ",
        " needs to ",
        " soll ",
        " muss ",
    ];
    begins_with_any(rest, SUBJECTS) && !ORDERS.iter().any(|order| rest.contains(order))
}

fn has_rule_inside(sentence: &str) -> bool {
    const INSIDE: &[&str] = &[
        " should always ",
        " should never ",
        " must always ",
        " must never ",
        ", always ",
        ", never ",
    ];
    const ENDS: &[&str] = &[" from now on", " going forward", " in all future", " for all future"];
    /// They refer to something named before, or to a step of the present task.
    const STARTS: &[&str] = &["it", "this", "that", "they", "while", "since", "if"];
    let lower = to_lower(sentence);
    let orders = |rest: &str| !is_description(rest.trim_start());
    let holds = |mark: &&str| lower.split_once(*mark).is_some_and(|(_, rest)| orders(rest));
    !begins_with_any(&lower, STARTS)
        && (INSIDE.iter().any(holds)
            || ENDS.iter().any(|mark| lower.contains(mark)) && !begins_as_from_now(&lower))
}

/// Whether the words are at the beginning, where `begins_as_rule` has read them.
fn begins_as_from_now(lower: &str) -> bool {
    begins_with_any(lower, &["from now on", "going forward"])
}

/// Whether the words after "never" or "always" describe the past or a state instead of giving an order:
/// "never been there", "always a pleasure".
fn is_description(rest: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "a", "an", "the", "my", "our", "been", "had", "has", "have", "was", "were", "is", "are", "be",
        "in", "at", "on", "to", "so", "such", "there", "here", "up", "thought", "knew", "seen", "gone",
        "done", "felt", "said", "heard", "got", "great", "good", "nice", "fun", "happy", "really",
        "quite", "too", "very", "know", "feel", "saw", "went", "did", "met", "made", "took", "came",
        "mind", "again", "works", "worked", "fails", "returns", "noch", "wieder", "der", "die", "das", "diese", "dieser",
        "dieses", "derselbe", "dieselbe", "pas", "le", "la", "les", "ce", "cette", "un", "une", "el", "los", "las", "este",
        "esta", "esto", "o", "os", "не", "это", "этот", "эта",
    ];
    let first = rest.split(|c: char| !c.is_alphanumeric() && c != '\'').next().unwrap_or_default();
    let is_form =
        first.is_ascii() && (first.ends_with("ed") && first.len() > 4 || first.ends_with("ing"));
    WORDS.contains(&first) || is_form
}

/// Whether a sentence of the user asks for something from now on, or states a preference.
pub(crate) fn is_instruction(sentence: &str) -> bool {
    #[rustfmt::skip]
    const STARTS: &[&str] = &[
        "i prefer", "i'd prefer", "i would prefer", "i'd rather", "i would rather", "please don't",
        "please do not", "i don't like it when", "i like my", "i want you to always", "i want you to never", "when i ask",
        "please remember", "keep in mind that i", "by default",
        "in the future", "in future", "please in the future", "for future reference",
    ];
    const INSIDE: &[&str] = &[
        " i prefer ",
        " i'd prefer ",
        " i'd rather ",
        " when i ask ",
        " always include ",
        " always use ",
        " always provide ",
        " always mention ",
        " never use ",
        " my preference is ",
    ];
    let lower = format!(" {} ", sentence.to_lowercase());
    let asks = asks(sentence);
    is_convention(sentence)
        || is_general_ban(sentence)
        || lifts_rule(sentence)
        || (4..=60).contains(&count_words(sentence))
            && (begins_with_any(sentence, STARTS) && !consoles(&lower)
                || !asks && INSIDE.iter().any(|mark| lower.contains(mark))
                || !asks && is_order_for_occasion(&lower)
                || !asks && wants_general(&lower)
                || asks && lower.contains(" i prefer "))
}

/// Whether a sentence only takes a worry away: "Please don't worry about the warning."
fn consoles(lower: &str) -> bool {
    const VERBS: [&str; 6] = ["worry", "bother", "hesitate", "panic", "mind", "rush"];
    ["please don't", "please do not"].iter().any(|start| {
        let rest = lower.trim_start().strip_prefix(start).map(str::trim_start);
        rest.is_some_and(|rest| VERBS.iter().any(|verb| rest.starts_with(verb)))
    })
}

/// Whether a sentence takes an earlier rule back: "You don't need to add headers any more."
pub(crate) fn lifts_rule(sentence: &str) -> bool {
    const ENDS: &[&str] = &[" any more", " anymore", " any longer"];
    const NEEDS: &[&str] = &[
        "you don't need to",
        "you do not need to",
        "you don't have to",
        "you do not have to",
        "no need to",
        "there's no need to",
        "there is no need to",
    ];
    const STARTS: &[&str] = &[
        "forget what i said about",
        "forget the rule",
        "forget my rule",
        "ignore what i said about",
        "ignore the rule",
        "you no longer need to",
        "you no longer have to",
    ];
    let lower = to_lower(sentence).replace('’', "'");
    let ends = ENDS.iter().any(|end| lower.contains(end));
    !asks(&lower) && (begins_with_any(&lower, STARTS) || begins_with_any(&lower, NEEDS) && ends)
}

/// Whether a sentence in lower case says what the agent should do whenever something happens, not what the user
/// does then: "Include units whenever I name sizes", "I'll call you whenever I can".
fn is_order_for_occasion(lower: &str) -> bool {
    const OCCASIONS: [&str; 6] = [
        " whenever i ",
        " every time i ",
        " each time i ",
        " whenever you ",
        " every time you ",
        " each time you ",
    ];
    const ABOUT_USER: [&str; 12] =
        ["i", "we", "my", "it", "that", "this", "he", "she", "the", "you", "there", "they"];
    let Some((before, after)) = OCCASIONS.iter().find_map(|occasion| lower.split_once(occasion))
    else {
        return false;
    };
    // The order is before the occasion, or after its comma.
    let order = if before.trim().is_empty() {
        after.split_once(", ").map_or("", |(_, it)| it)
    } else {
        before
    };
    let first = order.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    let is_about_user = first.is_none_or(|word| ABOUT_USER.contains(&word));
    !is_about_user || [" want you ", " need you ", " like you "].iter().any(|it| order.contains(it))
}

/// Whether a sentence in lower case wants the work to keep to something general: "I want you to keep functions
/// short."
fn wants_general(lower: &str) -> bool {
    const WISHES: [&str; 3] = [" i want you to ", " i'd like you to ", " i would like you to "];
    const VERBS: [&str; 3] = ["keep", "avoid", "stick"];
    let rest = WISHES.iter().find_map(|wish| lower.strip_prefix(wish));
    rest.is_some_and(|rest| {
        let words = split_words(rest);
        let object = words.get(1).copied().unwrap_or_default();
        words.first().is_some_and(|verb| VERBS.contains(verb))
            && (is_plural(object) || object == "to")
            && !refers_to_present(&words)
    })
}

/// Removes the words at the beginning of a sentence that only connect it to the one before: "Also, …".
pub(crate) fn skip_lead_in(sentence: &str) -> &str {
    const LEAD_INS: [&str; 9] = [
        "one more thing",
        "by the way",
        "and also",
        "oh, and",
        "also",
        "plus",
        "btw",
        "and",
        "actually",
    ];
    let rest = LEAD_INS.iter().find_map(|words| strip_prefix_ignoring_case(sentence, words));
    rest.map_or(sentence, |rest| rest.trim_start_matches([',', ':', '-', '–', '—', ' ']))
}

/// Whether a sentence that begins with "don't" or "stop" forbids something for good, not only in the present task:
/// explicitly ("ever", "without …"), or because it is general ("Don't add emojis to commits").
fn is_general_ban(sentence: &str) -> bool {
    const STARTS: [&str; 3] = ["don't", "dont", "do not"];
    /// Other verbs describe a state ("don't worry", "don't see") or mostly concern the present task ("don't touch").
    #[rustfmt::skip]
    const VERBS: [&str; 33] = [
        "add", "append", "ask", "call", "catch", "comment", "commit", "create", "edit", "end", "format",
        "generate", "hardcode", "import", "include", "install", "introduce", "leave", "log", "mention",
        "merge", "mix", "mock", "print", "push", "put", "rename", "reply", "run", "suggest", "use",
        "wrap", "write",
    ];
    /// The same after "stop".
    #[rustfmt::skip]
    const HABITS: [&str; 14] = [
        "adding", "asking", "committing", "creating", "generating", "including", "leaving", "mentioning", "mocking",
        "printing", "pushing", "suggesting", "using", "writing",
    ];
    const GENERAL: [&str; 7] = ["ever", "any", "every", "each", "without", "unless", "anymore"];
    /// Words after the verb among which its object is.
    const OBJECT_WORDS: usize = 3;
    let lower = to_lower(sentence).replace('’', "'");
    let ban = STARTS.iter().find_map(|start| lower.strip_prefix(start));
    let habit = lower.strip_prefix("stop ").or_else(|| lower.strip_prefix("please stop "));
    let Some(rest) = ban.or(habit) else { return false };
    let words = split_words(rest);
    let is_specific = refers_to_present(&words)
        || lower.contains(['?', '`', '/'])
        || lower.contains(|c: char| c.is_ascii_digit());
    let has_verb = words.first().is_some_and(|verb| match ban {
        Some(_) => VERBS.contains(verb),
        None => HABITS.contains(verb),
    });
    let is_general = words.iter().any(|word| GENERAL.contains(word))
        || words.iter().skip(1).take(OBJECT_WORDS).any(|word| is_plural(word));
    has_verb && is_general && !is_specific && (2..=24).contains(&words.len())
}

fn split_words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .collect()
}

fn is_plural(word: &str) -> bool {
    word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && word != "tests"
}

/// Whether words refer to the present task.
fn refers_to_present(words: &[&str]) -> bool {
    #[rustfmt::skip]
    const PRESENT: [&str; 35] = [
        "the", "this", "that", "these", "those", "it", "its", "them", "they", "he", "she", "i", "i'll",
        "i'm", "we", "you", "your", "my", "our", "yet", "now", "today", "tonight", "tomorrow", "again",
        "instead", "here", "there", "just", "until", "still", "first", "later", "more", "other",
    ];
    words.iter().any(|word| PRESENT.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conventions_are_rules_and_not_questions() {
        assert!(is_convention("Always run the linter before you commit"));
        assert!(is_convention("we use pnpm here, not npm"));
        assert!(!is_convention("Should we always retry here?"));
        assert!(!is_convention("it never worked"));
        assert!(!is_convention("Toujours pas, le prix manque dans le panier"));
        assert!(!is_convention("Immer noch derselbe Fehler im Build"));
        assert!(!is_convention("以后每次改价格都要写文档吗"));
        assert!(is_convention("Toujours lancer les tests avant un commit"));
        assert!(!is_convention("Never been on a sports team"));
        assert!(!is_convention("Thanks, always a pleasure to talk"));
        assert!(is_convention("Never commit to main"));
        assert!(is_instruction("I prefer short answers with code first"));
        assert!(is_instruction("Please include units whenever I ask about sizes"));
        assert!(is_instruction("Whenever I send a table, answer with a chart"));
        assert!(!is_instruction("I'll give you a call whenever I run out of ideas"));
        assert!(!is_instruction("Whenever I run in the morning, I feel better all day"));
        assert!(is_instruction("In the future, ask before you delete a branch"));
        assert_eq!(skip_lead_in("Also, please don't push"), "please don't push");
        assert_eq!(skip_lead_in("Android is fine"), "Android is fine");
        for rule in [
            "Don't add emojis to commit messages",
            "Do not push to main without asking",
            "Don't ever use tabs in yaml",
        ] {
            assert!(is_instruction(rule), "{rule}");
        }
        for request in [
            "Don't add the emojis to the title",
            "Don't push yet, I want to look first",
            "Don't worry about warnings from clippy",
            "Don't run any migrations now",
            "Don't touch files in vendor",
            "Don't use parse_args here",
            "Don't you ever use caches?",
        ] {
            assert!(!is_instruction(request), "{request}");
        }
        assert!(!is_instruction("really nice, can we convert images like this in the future"));
    }

    #[test]
    fn rules_are_found_in_many_forms() {
        for rule in [
            "always: build first",
            "Remember: two spaces, no tabs",
            "Don't use abbreviations.",
            "Stop adding banners to every file",
            "Whenever you rename a route, update the sitemap.",
            "For all future releases please attach the checksums.",
            "I want you to keep commits under 200 lines.",
            "You don't need to attach the checksums any more.",
            "Forget what I said about the sitemap.",
            "Siempre usa tabuladores.",
            "Nunca borres registros.",
            "Ab jetzt bitte Tabs benutzen.",
            "Ich möchte immer kurze Commits.",
            "Всегда пиши тесты.",
            "常に英語で書いてください",
        ] {
            assert!(is_instruction(rule), "{rule}");
        }
    }

    #[test]
    fn facts_and_remarks_are_no_rules() {
        for remark in [
            "We use RabbitMQ for mails.",
            "Please don't worry about the flaky job.",
            "From now on the worker runs on node two.",
            "It should never be empty, fix that",
            "What does always quote mean here",
            "I want you to keep going",
            "Whenever you restart, the cache is lost.",
            "Immer diese Fehler",
            "Never mind that",
            "You don't need to hurry",
        ] {
            assert!(!is_instruction(remark), "{remark}");
        }
    }
}
