//! Paragraphs that begin with their heading in bold: "**The cache.** It now keeps its limit."

use tome_text::count_words;

use crate::extract::answers::preamble::tells_status;
use crate::extract::language::cues::{Cue, find_cue};
use crate::extract::language::prose::{MessageParts, ProseSentence, SentenceShape};
use crate::extract::language::text::begins_with_any;

/// Words of such a heading.
const HEADING_WORDS_MAX: usize = 8;
/// The status stands at the beginning of an answer.
const LEAD_INDEX_MAX: usize = 2;
/// Headings of one answer that are read.
const HEADINGS_MAX: usize = 8;

/// The paragraphs below a sentence that only says how far the work is ("Both bugs are fixed."), each as its heading and
/// its first sentence, with the text that it is read from. None if there is one only.
pub(crate) fn find_run_in_paragraphs<'a>(
    parts: &MessageParts<'a>,
    index: usize,
    lead: &str,
) -> Option<Vec<(&'a str, String)>> {
    if index > LEAD_INDEX_MAX || !tells_status(lead) && !counts_finished(lead) {
        return None;
    }
    let later = parts.sentences.get(index + 1..)?;
    let mut found: Vec<(&str, String)> = Vec::new();
    for (at, one) in later.iter().enumerate().filter(|(_, one)| is_run_in(one)) {
        let next = later.get(at + 1).filter(|next| {
            next.shape == SentenceShape::Running && !is_run_in(next) && !next.is_aside
        });
        let Some(next) = next else { continue };
        let heading = one.plain.trim_end_matches(['.', ':', '。', '：', ' ']);
        found.push((next.raw, format!("{heading}: {}", next.plain)));
        if found.len() >= HEADINGS_MAX {
            break;
        }
    }
    (found.len() >= 2).then_some(found)
}

/// Whether a sentence is a heading in bold at the beginning of its paragraph.
fn is_run_in(sentence: &ProseSentence<'_>) -> bool {
    let raw = sentence.raw.trim();
    let bold = raw.strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
    sentence.shape == SentenceShape::Running
        && !sentence.is_aside
        && bold.is_some_and(|bold| !bold.contains("**") && bold.ends_with(['.', ':', '。', '：']))
        && count_words(&sentence.plain) <= HEADING_WORDS_MAX
}

/// Whether a sentence says of a number of things that they are done: "Both bugs are fixed, and the build is green."
pub(crate) fn counts_finished(text: &str) -> bool {
    #[rustfmt::skip]
    const NUMBERS: &[&str] = &[
        "both", "all", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ];
    const WORDS_MAX: usize = 16;
    begins_with_any(text, NUMBERS)
        && count_words(text) <= WORDS_MAX
        && matches!(find_cue(text), Some((Cue::Outcome, 2..)))
}

#[cfg(test)]
mod tests {
    use crate::extract::answers::answer::find_conclusion;
    use crate::extract::language::prose::split_message;

    #[test]
    fn a_status_is_told_with_the_paragraphs_below_it() {
        let answer = "Both bugs are fixed and the suite passes (31 tests).\n\n\
                      **The upload.** A closed socket was read again; it is opened first now.\n\n\
                      **The menu.** It keeps its place when the window is made smaller.\n";
        let found = find_conclusion(&split_message(answer), "fix both bugs", true).unwrap();
        assert!(found.text.starts_with("Both bugs are fixed"), "{}", found.text);
        assert!(
            found.text.contains("The upload: A closed socket was read again"),
            "{}",
            found.text
        );
        assert!(found.text.contains("The menu: It keeps its place"), "{}", found.text);
    }
}
