//! How a user reacts to the agent's last turn, and the rules that they state.

use crate::extract::language::text::{
    begins_with_any, may_begin_with, strip_prefix_ignoring_case, to_lower,
};
use tome_text::{count_words, split_sentences};

/// How a prompt reacts to the turn before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// No reaction is recognized.
    None,
    /// "yes", "looks good": the answer was accepted.
    Confirmation,
    /// "no, …", "that's wrong": the answer or the work was not what the user wanted.
    Correction,
}

/// Beginnings of a correction.
#[rustfmt::skip]
const CORRECTIONS: &[&str] = &[
    "no,", "no.", "no -", "no —", "no!", "nope", "ugh", "wrong", "that's wrong", "that is wrong",
    "this is wrong", "that's not", "that is not", "this is not what", "not what i", "you forgot",
    "you missed", "you broke", "why did you", "please don't", "don't", "do not", "stop", "undo",
    "revert", "i said", "i told you", "i meant", "i didn't ask", "that doesn't work",
    "this doesn't work", "it doesn't work", "still failing", "still fails", "still broken",
    "that's incorrect", "incorrect", "still not", "still cannot", "still can't", "you didn't",
    "u didnt", "u didn't", "it didn't", "不对", "不是", "错了", "不同意", "回滚", "我意思是", "我的意思是", "違います",
    "違う", "нет,", "не так", "nein", "falsch", "non,", "non ", "ce n'est pas", "no es", "não é",
    "não,", "아니", "không phải", "toujours pas", "immer noch nicht", "还是不行", "還是不行", "仍然不",
];

/// Beginnings of a plain "no".
#[rustfmt::skip]
const NEGATIONS: &[&str] = &[
    "no,", "no.", "no -", "no —", "no!", "nope", "нет,", "nein", "non,", "non ", "não,", "아니",
];

/// Whole confirmations, or their beginnings.
#[rustfmt::skip]
const CONFIRMATIONS: &[&str] = &[
    "yes", "yeah", "yep", "yup", "ok", "okay", "sure", "great", "perfect", "thanks", "thank you",
    "looks good", "lgtm", "nice", "good", "awesome", "sounds good", "go ahead", "do it", "please do",
    "correct", "exactly", "agreed", "好的", "可以", "はい", "да", "хорошо", "ja", "genau",
    "同意", "没问题", "行", "执行", "oui", "d'accord", "vas-y", "sí", "dale", "sim", "pode", "네", "좋아", "approved",
    "proceed",
];

/// Classifies a prompt by its first words.
pub(crate) fn classify_reaction(prompt: &str) -> Reaction {
    let first = prompt.trim_start();
    if begins_with_mark(first, CORRECTIONS) {
        Reaction::Correction
    } else if begins_with_mark(first, CONFIRMATIONS) && count_words(first) <= 12 {
        Reaction::Confirmation
    } else {
        Reaction::None
    }
}

/// Whether a prompt reports that the problem the last turn fixed persists.
pub(crate) fn says_still_wrong(prompt: &str) -> bool {
    #[rustfmt::skip]
    const MARKS: &[&str] = &[
        "still not", "still doesn't", "still does not", "still don't", "still fail", "still broken",
        "still can't", "still cannot", "still the same", "still getting", "still see", "还是不", "还是没",
        "还是一样", "仍然", "依然", "還是不", "還是沒", "아직도", "여전히", "まだ動", "まだエラー", "まだ直", "всё ещё", "все еще",
        "до сих пор", "immer noch", "toujours pas", "sigue sin", "sigue fallando", "ainda não",
        "vẫn không", "vẫn chưa",
    ];
    // A long prompt is about more than the persisting problem.
    const CHARS_MAX: usize = 300;
    let head = tome_text::first_chars(prompt.trim_start(), 80).to_lowercase();
    prompt.chars().nth(CHARS_MAX).is_none() && MARKS.iter().any(|mark| head.contains(mark))
}

/// Whether a prompt begins with "no", which corrects the agent or answers its question.
pub(crate) fn is_negation(prompt: &str) -> bool {
    begins_with_mark(prompt.trim_start(), NEGATIONS)
}

fn begins_with_mark(text: &str, marks: &[&str]) -> bool {
    let mut marks = marks.iter().filter(|mark| may_begin_with(text, mark));
    marks.any(|mark| {
        if mark.ends_with(|c: char| !c.is_alphanumeric()) {
            starts_with_ignoring_case(text, mark)
        } else {
            strip_prefix_ignoring_case(text, mark).is_some()
        }
    })
}

/// Beginnings of a sentence that only reacts to an answer, besides confirmations.
const ACKNOWLEDGMENTS: &[&str] = &[
    "that sounds",
    "that makes sense",
    "makes sense",
    "sounds like",
    "that's great",
    "that's a good",
    "that's a great",
    "that is a good",
    "that would be",
    "got it",
    "i see",
    "cool",
    "absolutely",
    "definitely",
    "wow",
];

/// Removes the sentences at the beginning of a prompt that only react to the answer before it ("That sounds
/// like a plan."); returns the whole prompt if there are no others.
pub fn skip_acknowledgment(prompt: &str) -> &str {
    /// A longer sentence is more than a reaction.
    const WORDS_MAX: usize = 9;
    const SENTENCES_MAX: usize = 3;
    let is_reaction = |sentence: &str| {
        let has_beginning = |marks: &[&str]| {
            marks.iter().any(|mark| strip_prefix_ignoring_case(sentence, mark).is_some())
        };
        count_words(sentence) <= WORDS_MAX
            && !sentence.trim_end().ends_with('?')
            && (has_beginning(CONFIRMATIONS) || has_beginning(ACKNOWLEDGMENTS))
    };
    // Chats copied from elsewhere name the speaker.
    let speaker = prompt.split_once(": ").filter(|(name, _)| !name.contains(char::is_whitespace));
    let sentences = split_sentences(speaker.map_or(prompt, |(_, message)| message));
    let reactions = sentences.iter().take(SENTENCES_MAX).take_while(|one| is_reaction(one)).count();
    let next = sentences.get(reactions).filter(|_| reactions > 0);
    next.and_then(|next| prompt.find(next)).and_then(|at| prompt.get(at..)).unwrap_or(prompt)
}

/// Removes the word of agreement before a sentence: "okay, let's try it" becomes "let's try it".
pub(crate) fn skip_confirmation(sentence: &str) -> &str {
    let rest = CONFIRMATIONS
        .iter()
        .filter_map(|mark| strip_prefix_ignoring_case(sentence, mark))
        .map(|rest| rest.trim_start_matches([',', '.', '!', '-', '–', '—', ' ']))
        .min_by_key(|rest| rest.len());
    rest.filter(|rest| count_words(rest) >= 2).unwrap_or(sentence)
}

fn starts_with_ignoring_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Whether a sentence of the user states a lasting rule.
pub(crate) fn is_convention(sentence: &str) -> bool {
    #[rustfmt::skip]
    const STARTS: &[&str] = &[
        "always", "never", "from now on", "in this project", "in this repo", "we always", "we never",
        "we use", "we don't use", "we do not use", "please always", "please never", "don't ever",
        "make sure to always", "make sure you always", "remember to", "remember that",
        "i prefer", "i always want", "i never want", "以后", "永远不要", "总是", "今後は", "必ず", "всегда",
        "никогда", "immer", "niemals", "toujours", "jamais", "siempre", "nunca", "sempre", "항상",
    ];
    const INSIDE: &[&str] = &[
        " should always ",
        " should never ",
        " must always ",
        " must never ",
        ", always ",
        ", never ",
        " from now on",
        " going forward",
    ];
    /// "Still", which begins with the word for "always".
    const STILL: [&str; 4] = ["toujours pas", "toujours le même", "toujours la même", "immer noch"];
    let lower = to_lower(sentence);
    let words = count_words(sentence);
    let asks = lower.trim_end().ends_with(['?', '？', '吗', '嗎', '呢'])
        || STILL.iter().any(|still| lower.starts_with(still));
    let orders = |after: &str| !is_description(after.trim_start());
    let starts = |start: &&str| {
        may_begin_with(sentence, start)
            && strip_prefix_ignoring_case(sentence, start).is_some_and(|rest| {
                !["always", "never"].contains(start) || orders(&rest.to_lowercase())
            })
    };
    let holds = |mark: &&str| lower.split_once(*mark).is_some_and(|(_, rest)| orders(rest));
    !asks && (4..=40).contains(&words) && (STARTS.iter().any(starts) || INSIDE.iter().any(holds))
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
        "mind", "heard", "again",
    ];
    let first = rest.split(|c: char| !c.is_alphanumeric() && c != '\'').next().unwrap_or_default();
    WORDS.contains(&first) || first.ends_with("ed") && first.len() > 4 || first.ends_with("ing")
}

/// Whether a sentence of the user asks for something from now on, or states a preference.
pub(crate) fn is_instruction(sentence: &str) -> bool {
    #[rustfmt::skip]
    const STARTS: &[&str] = &[
        "i prefer", "i'd prefer", "i would prefer", "i'd rather", "i would rather", "please don't",
        "please do not", "i don't like it when", "i like my", "i want you to always", "when i ask",
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
    let asks = lower.trim_end().ends_with('?');
    is_convention(sentence)
        || is_general_ban(sentence)
        || (4..=60).contains(&count_words(sentence))
            && (begins_with_any(sentence, STARTS)
                || !asks && INSIDE.iter().any(|mark| lower.contains(mark))
                || !asks && is_order_for_occasion(&lower)
                || asks && lower.contains(" i prefer "))
}

/// Whether a sentence in lower case says what the agent should do whenever something happens, not what the user
/// does then: "Include units whenever I name sizes", "I'll call you whenever I can".
fn is_order_for_occasion(lower: &str) -> bool {
    const OCCASIONS: [&str; 3] = [" whenever i ", " every time i ", " each time i "];
    const ABOUT_USER: [&str; 8] = ["i", "we", "my", "it", "that", "this", "he", "she"];
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

/// Removes the words at the beginning of a sentence that only connect it to the one before: "Also, …".
pub(crate) fn skip_lead_in(sentence: &str) -> &str {
    const LEAD_INS: [&str; 8] =
        ["one more thing", "by the way", "and also", "oh, and", "also", "plus", "btw", "and"];
    let rest = LEAD_INS.iter().find_map(|words| strip_prefix_ignoring_case(sentence, words));
    rest.map_or(sentence, |rest| rest.trim_start_matches([',', ':', '-', '–', '—', ' ']))
}

/// Whether a sentence that begins with "don't" forbids something for good, not only in the present task:
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
    const GENERAL: [&str; 7] = ["ever", "any", "every", "each", "without", "unless", "anymore"];
    /// Words that refer to the present task.
    #[rustfmt::skip]
    const PRESENT: [&str; 35] = [
        "the", "this", "that", "these", "those", "it", "its", "them", "they", "he", "she", "i", "i'll",
        "i'm", "we", "you", "your", "my", "our", "yet", "now", "today", "tonight", "tomorrow", "again",
        "instead", "here", "there", "just", "until", "still", "first", "later", "more", "other",
    ];
    /// Words after the verb among which its object is.
    const OBJECT_WORDS: usize = 3;
    let lower = to_lower(sentence).replace('’', "'");
    let Some(lower) = STARTS.iter().find_map(|start| lower.strip_prefix(start)) else {
        return false;
    };
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    let is_specific = words.iter().any(|word| PRESENT.contains(word))
        || lower.contains(['?', '`', '/'])
        || lower.contains(|c: char| c.is_ascii_digit());
    let has_verb = words.first().is_some_and(|verb| VERBS.contains(verb));
    let is_plural = |word: &&str| {
        word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && *word != "tests"
    };
    let is_general = words.iter().any(|word| GENERAL.contains(word))
        || words.iter().skip(1).take(OBJECT_WORDS).any(is_plural);
    has_verb && is_general && !is_specific && (3..=24).contains(&words.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_shown_from_what_it_adds() {
        for (prompt, rest) in [
            ("That sounds like a solid plan. I'll cap it at 200.", "I'll cap it at 200."),
            ("Yeah, sounds good. Thanks! Now raise the limit.", "Now raise the limit."),
            ("Okay, does that sound right?", "Okay, does that sound right?"),
            ("user: Thanks! Now raise it.", "Now raise it."),
            ("Thanks!", "Thanks!"),
            ("Sure the retry loop can never run more than three times in a row here?", ""),
            ("Raise the limit.", "Raise the limit."),
        ] {
            let expected = if rest.is_empty() { prompt } else { rest };
            assert_eq!(skip_acknowledgment(prompt), expected);
        }
    }

    #[test]
    fn reactions_are_told_by_the_first_words() {
        assert_eq!(classify_reaction("no, use tabs"), Reaction::Correction);
        assert_eq!(classify_reaction("No idea why this fails"), Reaction::None);
        assert_eq!(classify_reaction("Now add tests"), Reaction::None);
        assert_eq!(classify_reaction("yes, all four"), Reaction::Confirmation);
        assert_eq!(classify_reaction("don't touch the lock file"), Reaction::Correction);
        assert_eq!(classify_reaction("Add a flag"), Reaction::None);
        assert_eq!(classify_reaction("toujours pas, même erreur"), Reaction::Correction);
        assert!(says_still_wrong("It still doesn't open the file"));
        assert!(says_still_wrong("아직도 안열려 이렇게만 뜨고"));
        assert!(!says_still_wrong("the file opens, now add a test"));
        assert!(is_negation("No, I have none") && !is_negation("not what I meant"));
    }

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
}
