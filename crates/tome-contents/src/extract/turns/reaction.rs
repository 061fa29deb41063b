//! How a user reacts to the agent's last turn.

use crate::extract::language::text::{may_begin_with, strip_prefix_ignoring_case};
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
}
