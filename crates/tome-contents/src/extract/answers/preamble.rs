//! Recognizes sentences that stand before an answer instead of giving it: they react to a finding, point at the text
//! below, say how far the work is, or tell what was read for it.

use tome_text::count_words;

use crate::extract::language::text::{begins_with_any, strip_any_prefix, to_lower};

/// Whether a sentence only reacts to a finding, or points at the text below: "That settles it.", "Here is the plan."
pub(crate) fn points_ahead(text: &str) -> bool {
    #[rustfmt::skip]
    const REACTIONS: &[&str] = &[
        "that answers", "that settles", "that closes", "that changes the", "that explains it", "that confirms it",
        "that's the answer", "that's the authoritative", "that's a real", "both answered", "both confirmed", "good —",
        "good –", "good -", "great —", "great –", "great -", "i have everything", "i've got everything", "i have what i need",
        "i have the full picture", "i now have", "now i have",
    ];
    const POINTERS: &[&str] = &["here's", "here is", "here are", "here it is", "here they are"];
    begins_with_any(text, REACTIONS)
        || begins_with_any(text, POINTERS) && !text.contains([':', '：'])
        || agrees_with_idea(text)
}

/// Whether a sentence praises what the user thought: "Your instinct is right, and it is cheaper too."
fn agrees_with_idea(text: &str) -> bool {
    const IDEAS: &[&str] =
        &["instinct", "intuition", "idea", "hunch", "suspicion", "reading", "guess", "thinking"];
    const PRAISE: &[&str] = &["right", "correct", "good", "sound", "spot", "exactly"];
    let Some(rest) = strip_any_prefix(text, &["your"]) else { return false };
    let lower = to_lower(rest);
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.next().is_some_and(|word| IDEAS.contains(&word))
        && words.next() == Some("is")
        && words.next().is_some_and(|word| PRAISE.contains(&word))
}

/// Whether a sentence stands before the answer: it tells what the agent read for it, or how far the work is.
pub(crate) fn is_preamble(text: &str) -> bool {
    tells_reading(text) || tells_status(text)
}

/// Whether a sentence only announces a number of things: "Two different answers, and the distinction matters."
pub(crate) fn only_counts(text: &str) -> bool {
    const WORDS_MAX: usize = 9;
    count_words(text) <= WORDS_MAX && count_announced(text).is_some()
}

/// Whether a sentence says that the agent stops before its work is done: "I'm stopping at the commit."
pub(crate) fn tells_pause(text: &str) -> bool {
    const STARTS: &[&str] =
        &["stopping", "pausing", "holding off", "i'm pausing", "i'm holding", "i stopped"];
    let lower = to_lower(text);
    begins_with_any(&lower, STARTS) || lower.contains("i'm stopping")
}

/// Whether a sentence tells of something that the agent had nothing to do with: what remains, or what others did
/// before. "Only the slow build remains."
pub(crate) fn tells_remains(text: &str) -> bool {
    const REMAINS: [&str; 4] = ["remain", "remains", "left", "missing"];
    const BEFORE: [&str; 2] = [" was already ", " were already "];
    const DONE: &[&str] =
        &["merged", "committed", "pushed", "released", "deployed", "published", "closed", "posted"];
    let lower = to_lower(text);
    let has = |word: &str| lower.split(|c: char| !c.is_alphanumeric()).any(|one| one == word);
    begins_with_any(&lower, &["only", "nothing else"]) && REMAINS.iter().any(|word| has(word))
        || BEFORE
            .iter()
            .filter_map(|mark| lower.split_once(mark))
            .any(|(_, rest)| begins_with_any(rest, DONE))
}

/// Whether a sentence tells what the agent read or compared, and not what it found: "I went through all nine modules."
fn tells_reading(text: &str) -> bool {
    const COMPARISONS: &[&str] = &["comparing", "looking at", "going through", "having read"];
    let lower = to_lower(text);
    tells_own_reading(text) || begins_with_any(&lower, COMPARISONS) && lower.contains(", ")
}

/// Whether a sentence tells what the agent says that it read: "I read all nine modules".
pub(crate) fn tells_own_reading(text: &str) -> bool {
    #[rustfmt::skip]
    const VERBS: &[&str] = &[
        "read", "mapped", "reviewed", "researched", "looked", "checked", "traced", "analyzed", "analysed", "examined",
        "explored", "went", "searched", "compared", "investigated", "inspected", "audited", "studied",
    ];
    /// After these, a finding follows.
    const FINDINGS: &[&str] = &[
        " found",
        " shows",
        " showed",
        " turns out",
        " because",
        " but ",
        ": ",
        " is ",
        " are ",
        " no ",
    ];
    /// In a clause about what was read they tell nothing of it: "ones that are only wrappers".
    const RELATIVES: [&str; 6] =
        [" that are ", " that is ", " which are ", " which is ", " what is ", " what are "];
    let lower = to_lower(text);
    let own = strip_any_prefix(&lower, &["i've", "i have", "i"]);
    let first = own.and_then(|own| {
        own.split_whitespace().find(|word| !matches!(*word, "now" | "also" | "just"))
    });
    if !first.is_some_and(|word| VERBS.contains(&word)) {
        return false;
    }
    let told = RELATIVES
        .iter()
        .fold(own.unwrap_or_default().to_owned(), |told, clause| told.replace(clause, " "));
    !FINDINGS.iter().any(|mark| told.contains(mark))
}

/// Whether a sentence says that the work is done, without saying what it was: "All four findings are fixed and
/// verified."
pub(crate) fn tells_status(text: &str) -> bool {
    #[rustfmt::skip]
    const DONE: &[&str] = &[
        "done", "complete", "completed", "ready", "finished", "implemented", "verified", "fixed", "addressed", "resolved",
        "landed", "in", "grounded", "committed", "pushed", "shipped", "clean", "green", "written", "applied", "confirmed",
        "answered", "deployed", "passing",
    ];
    #[rustfmt::skip]
    const GENERIC: &[&str] = &[
        "all", "both", "the", "these", "those", "of", "two", "three", "four", "five", "six", "seven", "eight", "nine",
        "ten", "items", "pieces", "changes", "change", "findings", "fixes", "issues", "tasks", "steps", "points", "parts",
        "recommendations", "comments", "things", "design", "review", "work", "implementation", "branch", "suite", "tests",
        "full", "meaningful", "prerequisites", "research", "analysis", "audit", "code", "is", "are", "was", "were", "has",
        "have", "been", "now", "fully", "and", "with", "place", "live", "set", "passes", "pass", "whole",
        "entire", "concerns", "problems", "requests", "suggestions", "bugs", "questions", "edits", "updates", "it",
        "requested",
    ];
    let lower = to_lower(text);
    if begins_with_any(&lower, &["nothing committed", "nothing is committed", "nothing pushed"]) {
        return true;
    }
    if begins_with_any(&lower, &["everything", "everything's", "all done", "all set"]) {
        return !lower.contains(['`', ':']);
    }
    let end = [" — ", " – ", " - ", " (", ", ", ": ", "; "]
        .iter()
        .filter_map(|mark| lower.find(mark))
        .min();
    let clause = end.and_then(|at| lower.get(..at)).unwrap_or(&lower);
    let mut words =
        clause.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    // Of a colon, only what follows it says something.
    let leads = text.ends_with([':', '：'])
        || end.is_some_and(|at| lower.get(at..).is_some_and(|rest| rest.starts_with(": ")));
    let names = end.is_some_and(|at| lower.get(at..).is_some_and(|rest| rest.contains('`')));
    let is_short = count_words(clause) <= 2;
    let mut is_done = false;
    words.peek().is_some()
        && !leads
        && !names
        && !is_short
        && words.all(|word| {
            is_done |= DONE.contains(&word);
            DONE.contains(&word) || GENERIC.contains(&word)
        })
        && is_done
}

/// The number of things that a sentence announces: 2 for "Two things stand in the way." None if it ends with a
/// colon, denies them, or has no noun for such things after the number.
pub(crate) fn count_announced(text: &str) -> Option<usize> {
    const NUMBERS: [(&str, usize); 9] = [
        ("two", 2),
        ("three", 3),
        ("four", 4),
        ("five", 5),
        ("six", 6),
        ("seven", 7),
        ("eight", 8),
        ("nine", 9),
        ("ten", 10),
    ];
    /// Nouns for what the answer then names.
    #[rustfmt::skip]
    const NOUNS: &[&str] = &[
        "things", "questions", "reasons", "problems", "issues", "points", "options", "answers", "parts", "categories",
        "races", "causes", "findings", "steps", "blockers", "decisions", "ways", "gaps", "risks", "changes", "groups",
        "kinds", "types", "pieces", "layers", "candidates", "paths", "cases", "differences", "bugs", "defects",
    ];
    const DENIALS: [&str; 4] = ["n't ", " not ", " no ", " nor "];
    /// Words between the number and its noun: "two separate races".
    const ADJECTIVES_MAX: usize = 2;
    let lower = to_lower(text);
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let denies = DENIALS.iter().any(|mark| lower.contains(mark));
    if text.ends_with([':', '：', '?', '？']) || lower.contains(['`', ':']) || denies {
        return None;
    }
    words.iter().enumerate().find_map(|(at, word)| {
        let (_, number) = NUMBERS.iter().find(|(name, _)| name == word)?;
        let mut next = words.iter().skip(at + 1).take(ADJECTIVES_MAX + 1);
        next.any(|noun| NOUNS.contains(noun)).then_some(*number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::answers::answer::find_conclusion;
    use crate::extract::language::prose::split_message;

    #[test]
    fn preambles_are_told_from_answers() {
        for text in [
            "All four findings are fixed and verified.",
            "All three changes are in and the full suite passes (96 tests).",
            "The review is complete — each point was checked in the code.",
            "Everything's verified against the staging server.",
            "I went through all nine modules looking for dead code.",
            "I've read the plan and mapped the current schema.",
            "Comparing both parsers line by line, the rest splits into groups.",
            "I read all twelve handlers looking for ones that are only wrappers.",
        ] {
            assert!(is_preamble(text), "{text}");
        }
        for text in [
            "All four handlers now return 404.",
            "The retry loop is fixed.",
            "All comments are addressed: the parser skips blanks.",
            "I checked the lexer and found two dead branches.",
            "I read the log: the disk was full.",
            "Tests pass.",
            "Both lexers are done in `scan.rs`.",
        ] {
            assert!(!is_preamble(text), "{text}");
        }
    }

    #[test]
    fn reactions_and_pointers_are_told_from_answers() {
        for text in [
            "That settles it.",
            "Here's the precise version.",
            "Good — because the first measurement was of the old build.",
            "Your instinct is right, and it is cheaper too.",
        ] {
            assert!(points_ahead(text), "{text}");
        }
        for text in [
            "Here are the files:",
            "That cache is never cleared.",
            "Your index is wrong, it starts at one.",
        ] {
            assert!(!points_ahead(text), "{text}");
        }
    }

    #[test]
    fn what_remains_or_was_done_before_is_told_from_results() {
        for text in [
            "Only the slow build remains — it takes an hour.",
            "The parser was already merged by a colleague.",
        ] {
            assert!(tells_remains(text), "{text}");
        }
        for text in [
            "Only the parser reads the flag.",
            "The page was rendered without the id that was already known.",
        ] {
            assert!(!tells_remains(text), "{text}");
        }
        assert!(tells_pause("Per step 7 I'm stopping at the commit — no push."));
        assert!(!tells_pause("The loop stops at the last commit."));
        assert!(only_counts("Two different answers, and the difference matters."));
        assert!(!only_counts(
            "Three changes, each now a constant in `Limits`, so that they are easy to adjust."
        ));
    }

    #[test]
    fn a_heading_that_only_names_the_text_is_no_conclusion() {
        check_conclusion(
            "## Cache Invalidation Issues\n\nThe cache keeps its entries for ever, because the timer is never started.",
            "what is wrong with the cache?",
            "The cache keeps its entries for ever, because the timer is never started.",
        );
        check_conclusion(
            "## Problems of the cache\n\n1. **No timer** - entries stay for ever\n2. **No limit** - the disk fills\n",
            "list the problems",
            "Problems of the cache: No timer - entries stay for ever; No limit - the disk fills",
        );
    }

    #[test]
    fn announced_things_are_counted() {
        assert_eq!(count_announced("Two things stand in the way."), Some(2));
        assert_eq!(count_announced("There are three separate races."), Some(3));
        assert_eq!(count_announced("The parser has two `Token` types."), None);
        assert_eq!(count_announced("It takes two minutes:"), None);
        assert_eq!(count_announced("These aren't two bugs."), None);
        assert_eq!(count_announced("It is one step."), None);
    }

    #[track_caller]
    fn check_conclusion(answer: &str, prompt: &str, expected: &str) {
        let found = find_conclusion(&split_message(answer), prompt, false);
        assert_eq!(found.map(|found| found.text).as_deref(), Some(expected));
    }

    #[test]
    fn a_preamble_gives_way_to_the_answer_beside_it() {
        check_conclusion(
            "I read all nine modules of the importer for dead code. None of them is unused — each is called from \
             `import_all` in the nightly job.",
            "which modules of the importer are unused?",
            "None of them is unused — each is called from `import_all` in the nightly job.",
        );
        check_conclusion(
            "All three findings are fixed and verified.\n\n`Importer::run` now closes the file before it renames it, \
             so Windows no longer refuses the rename.",
            "fix the findings",
            "`Importer::run` now closes the file before it renames it, so Windows no longer refuses the rename.",
        );
    }

    #[test]
    fn announced_things_are_told_by_their_headings() {
        check_conclusion(
            "Two things stand in the way of the release.\n\n## 1. The certificate has expired\n\nIt ended in May.\n\n\
             ## 2. The changelog is empty\n\nNobody wrote it.\n\n## Next\n\nTell me what to do.",
            "can we release?",
            "Two things stand in the way of the release: 1. The certificate has expired; 2. The changelog is empty",
        );
    }

    #[test]
    fn a_direct_answer_to_a_question_is_told_with_its_reason() {
        check_conclusion(
            "The notes are updated with both options and their costs, and the table at the end compares them.\n\n\
             ## Should you keep the queue?\n\n**Keep it.** Two jobs still depend on its order.",
            "should we keep the queue or drop it?",
            "Keep it. Two jobs still depend on its order.",
        );
        check_conclusion(
            "Short answer: the index is rebuilt on every start, which takes two minutes.",
            "why is the start so slow?",
            "The index is rebuilt on every start, which takes two minutes.",
        );
        check_conclusion(
            "I checked the scheduler.\n\nShort answer: yes, it works. The queue is drained once per minute.\n",
            "will the jobs run?",
            "Yes, it works. The queue is drained once per minute.",
        );
        check_conclusion(
            "I listed the flags first.\n\nThe flag belongs into `app.toml`, which the server reads at its start.\n\n\
             Yes: the flag is read before the port is opened, and never again.",
            "the flag is read before the port, is that correct?",
            "Yes: the flag is read before the port is opened, and never again.",
        );
    }
}
