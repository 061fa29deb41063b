//! Whether a text names what it is about, beside words that fit any work.

use tome_text::{is_han_or_kana, stem};

use crate::extract::language::terms::{has_name, is_stop};
use crate::extract::language::text::to_lower;

/// Words of requests and headings that fit any work, as stems.
#[rustfmt::skip]
const ANY_WORK: &[&str] = &[
    "issu", "find", "comment", "review", "research", "explain", "analyz", "analys", "overview", "repo", "repositori",
    "code", "codebas", "qualiti", "propos", "plan", "step", "process", "document", "doc", "blog", "sourc", "list",
    "markdown", "memo", "thing", "option", "thought", "problem", "chang", "commit", "branch", "push", "merg", "pull",
    "request", "test", "work", "task", "session", "project", "implement", "suggest", "warn", "recommend", "note",
    "notic", "valu", "set", "remov", "autom", "simpler", "simpl", "dive", "deep", "system", "caus", "concis", "extrem",
    "proper", "offici", "evalu", "focus", "turn", "put", "clean", "fix", "add", "updat", "check", "verifi", "look",
    "see", "make", "creat", "write", "continu", "proceed", "start", "get", "use", "tri", "meaning", "necessari",
    "possibl", "futur", "refer", "file", "item", "point", "part", "result", "answer", "question", "detail", "summari",
    "previous", "last", "next", "latest", "current", "everyth", "anyth", "someth", "yourself", "origin", "compar", "give", "good", "better", "best",
];

/// Fewer words of its own do not name a subject, unless one is long.
const WORDS_MIN: usize = 2;
const LONG_CHARS_MIN: usize = 7;

/// Whether a text has a name, or words of its own beside those that fit any work: not "Put the findings in a list".
/// Of scripts without spaces that is not known.
pub(crate) fn names_matter(text: &str) -> bool {
    // The command and an address name no subject.
    let words = text.split_whitespace().filter(|word| !word.contains("://"));
    let words =
        words.skip_while(|word| word.strip_prefix('/').is_some_and(|name| !name.contains('/')));
    let text = words.collect::<Vec<_>>().join(" ");
    if has_name(&text) || text.chars().any(is_han_or_kana) {
        return true;
    }
    let own = text.split(|c: char| !c.is_alphanumeric()).filter(|word| {
        let lower = to_lower(word);
        word.chars().count() >= 3 && !is_stop(&lower) && !ANY_WORK.contains(&&*stem(&lower))
    });
    let weigh = |word: &str| if word.chars().count() >= LONG_CHARS_MIN { WORDS_MIN } else { 1 };
    own.map(weigh).sum::<usize>() >= WORDS_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_fit_any_work_are_told_from_those_with_a_subject() {
        for text in [
            "Put the findings in a markdown list",
            "Get an overview of the repository",
            "/review https://example.com/pull/7",
            "What should we do now?",
            "Fix all issues and review again",
        ] {
            assert!(!names_matter(text), "{text}");
        }
        for text in [
            "Put the invoices in a markdown table",
            "Review `parse_rows`",
            "/review scan-parser",
            "キャッシュを直して",
        ] {
            assert!(names_matter(text), "{text}");
        }
    }
}
