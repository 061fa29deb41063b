//! Whether a sentence of an answer says something of its own, or only that something is done.

use tome_text::count_words;

use crate::extract::language::terms::{TermKind, TextTerm, extract_terms};
use crate::extract::language::text::to_lower;

/// Whether a text has a word of its own beside "fixed", "change" and the names of files.
pub(crate) fn says_what(text: &str) -> bool {
    let terms = extract_terms(text);
    let says = |term: &&TextTerm<'_>| {
        term.kind != TermKind::File && !is_generic_word(&to_lower(term.text))
    };
    terms.iter().any(|term| says(&term)) || text.chars().any(tome_text::is_han_or_kana)
}

/// Words that occur in reports of any work.
fn is_generic_word(lower: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "fix", "fixes", "fixed", "complete", "completed", "done", "committed", "commit", "pushed",
        "push", "bug", "change", "changes", "changed", "ready", "work", "works", "working",
        "updated", "update", "test", "tests", "pass", "passes", "passing", "lint", "linting",
        "clean", "build", "implementation", "implemented", "task", "successfully", "everything",
        "review", "issue", "issues", "problem", "comment", "comments", "file", "files", "code",
        "correct", "correctly", "expected", "yes", "addressed", "resolved",
    ];
    WORDS.contains(&lower)
}

/// Whether a sentence only reports that something is done, and not what.
pub(crate) fn is_generic_sentence(text: &str) -> bool {
    let terms = extract_terms(text);
    let says = |term: &&TextTerm<'_>| {
        term.kind != TermKind::Word || !is_generic_word(&to_lower(term.text))
    };
    terms.iter().filter(says).count() < 2 && !text.chars().any(tome_text::is_han_or_kana)
}

/// Whether a sentence has no noun or number of its own: "All done.", "更新完成。"
pub(crate) fn is_empty_phrase(text: &str) -> bool {
    #[rustfmt::skip]
    const PHRASES: &[&str] = &[
        "构建成功", "编译成功", "编译通过", "更新完成", "所有任务已完成", "全部完成", "修改完成", "修正しました", "対応しました",
        "完了しました", "todo en orden", "buena pregunta", "parfaitement compris", "compris", "entendido", "hoàn tất",
        "zero errors", "no errors", "good question", "great question",
    ];
    let bare = text.trim_end_matches(['.', '!', '。', '！', ' ']);
    let is_phrase = PHRASES.iter().any(|phrase| bare.eq_ignore_ascii_case(phrase));
    let is_short = count_words(bare) <= 4 && text.is_ascii();
    let is_wide = !text.is_ascii() && bare.chars().all(tome_text::is_han_or_kana);
    let is_phrase = is_phrase || is_wide && bare.chars().count() <= 4;
    // A heading that is not marked as one.
    let is_heading = count_words(bare) <= 3 && bare.len() == text.trim_end().len();
    let is_heading = is_heading && text.is_ascii() && extract_terms(text).len() <= 3;
    let is_phrase = is_phrase || is_heading && !has_identifier(&extract_terms(text));
    is_phrase || is_short && !bare.chars().any(|c| c.is_ascii_digit()) && !says_what(bare)
}

/// Whether a sentence only reports that checks passed.
pub(crate) fn is_check_report(text: &str) -> bool {
    const PASSES: [&str; 7] = ["pass", "passes", "passed", "passing", "green", "clean", "succeed"];
    const CHECKS: [&str; 9] =
        ["test", "tests", "lint", "linter", "build", "check", "checks", "ci", "everything"];
    const PHRASES: [&str; 3] = ["0 issues", "no errors", "build is fine"];
    let lower = text.to_lowercase();
    let mut passes = PHRASES.iter().any(|phrase| lower.contains(phrase));
    let mut checks = false;
    for word in lower.split(|c: char| !c.is_alphanumeric() && c != '_') {
        passes |= PASSES.contains(&word);
        checks |= CHECKS.contains(&word) || word == "all";
    }
    passes && checks && count_words(text) <= 14
}

/// Whether a short sentence reports what was done: "Training killed."
pub(crate) fn reports_end(text: &str) -> bool {
    #[rustfmt::skip]
    const DONE: &[&str] = &[
        "posted", "committed", "pushed", "sent", "merged", "created", "deleted", "updated", "replied",
        "opened", "closed", "released", "deployed", "installed", "added", "removed", "renamed",
        "killed", "stopped", "started", "restarted", "done", "complete", "completed", "fixed",
        "implemented", "finished", "resolved", "moved", "replaced", "reverted", "running", "failed",
    ];
    const WIDE: [&str; 8] = ["完成", "成功", "失败", "已", "しました", "完了", "완료", "했습니다"];
    // "Somebody pushed before you" reports nothing that the agent did.
    let lower = to_lower(text);
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let ends = [words.next(), words.next_back()];
    let is_done = ends.into_iter().flatten().any(|word| DONE.contains(&word));
    let says = says_what(text) && (count_words(text) >= 2 || !text.is_ascii());
    says && (is_done || !text.is_ascii() && WIDE.iter().any(|mark| text.contains(mark)))
}

/// Whether a text is written in capitals, as headings that praise the work are.
pub(crate) fn is_shouted(text: &str) -> bool {
    const LETTERS_MIN: usize = 12;
    let letters = text.chars().filter(|c| c.is_uppercase() || c.is_lowercase());
    let (capitals, all) = letters
        .fold((0, 0), |(capitals, all), c| (capitals + usize::from(c.is_uppercase()), all + 1));
    all >= LETTERS_MIN && capitals * 10 > all * 7
}

/// Whether a text names a function, type or test, and not only files.
pub(crate) fn names_subject(text: &str) -> bool {
    has_identifier(&extract_terms(text))
}

fn has_identifier(terms: &[TextTerm<'_>]) -> bool {
    terms.iter().any(|term| term.kind == TermKind::Identifier)
}

/// Whether a sentence begins by pointing at something said before.
pub(crate) fn begins_with_pronoun(text: &str) -> bool {
    const WORDS: [&str; 14] = [
        "it", "this", "that", "these", "those", "they", "both", "he", "she", "its", "there",
        "here", "which", "each",
    ];
    let end = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    let Some((word, rest)) = text.split_at_checked(end) else { return false };
    // "Both `a` and `b`" names its subject.
    WORDS.iter().any(|pronoun| word.eq_ignore_ascii_case(pronoun))
        && rest.starts_with([' ', '\'', '’', ','])
        && !rest.starts_with(" `")
}
