//! Turns a sentence into a title: its first clause, in a few words.

use tome_text::{StopClass, count_words, is_stop_word, truncate_words};

use crate::extract::language::orders::{is_order, is_question};
use crate::extract::language::text::{begins_with_any, is_mostly_cjk};

/// Limits of a title: words, or characters in scripts without spaces.
const TITLE_WORDS_MAX: usize = 18;
const TITLE_CJK_CHARS_MAX: usize = 48;
const TITLE_CHARS_MAX: usize = 112;

/// Words of one item of a list.
const ITEM_WORDS_MAX: usize = 4;

/// Shortens a request to a title: all of it, or its first clause if it is long, capitalized. A title cut
/// before its point is worse than a long one.
pub(crate) fn shorten_to_title(text: &str) -> String {
    let has_question_mark = text.contains(['?', '？']);
    let bare = strip_code_marks(text).replace("; ", ", ");
    let bare = bare.trim_end_matches([':', '.', ',', '。', '：', '，', '!', '！', ' ', ';']);
    let bare = if is_long_title(bare) { strip_parenthesis(bare) } else { bare.to_owned() };
    let bare = &shorten_paths(&bare);
    let is_question = has_question_mark && is_question(bare);
    let bare = if is_question { bare } else { bare.trim_end_matches(['?', '？']) };
    let short =
        if is_mostly_cjk(bare) { first_cjk_clause(bare) } else { first_spaced_clause(bare) };
    let short = truncate_words(&short, TITLE_CHARS_MAX);
    // A command or a name in backquotes is written as it is.
    if text.trim_start().starts_with('`') { short } else { capitalize(&short) }
}

/// Removes backquotes, except around a plain word, which would read as one of the sentence: "the `make` path".
fn strip_code_marks(text: &str) -> String {
    const WORD_CHARS_MIN: usize = 3;
    if !text.matches('`').count().is_multiple_of(2) {
        return text.replace('`', "");
    }
    let mut bare = String::with_capacity(text.len());
    for (index, part) in text.split('`').enumerate() {
        let is_word = index % 2 == 1
            && part.len() >= WORD_CHARS_MIN
            && part.bytes().all(|byte| byte.is_ascii_lowercase());
        if is_word {
            bare.extend(["`", part, "`"]);
        } else {
            bare.push_str(part);
        }
    }
    bare
}

/// Whether a text is too long for a title.
pub(crate) fn is_long_title(text: &str) -> bool {
    text.split_whitespace().count() > TITLE_WORDS_MAX || text.chars().nth(TITLE_CHARS_MAX).is_some()
}

/// Shortens paths of files to their last two names: `/home/dev/app/src/main.rs` to `src/main.rs`. Routes
/// such as `/api/v1/users/orders` stay.
pub(crate) fn shorten_paths(text: &str) -> String {
    const NAMES_MIN: usize = 4;
    #[rustfmt::skip]
    const ROOTS: [&str; 9] = [
        "~/", "/home/", "/Users/", "/root/", "/tmp/", "/var/", "/private/", "/mnt/", "/opt/",
    ];
    let shorten = |word: &str| {
        let is_absolute = ROOTS.iter().any(|root| word.starts_with(root));
        let names: Vec<&str> = word.split('/').filter(|name| !name.is_empty()).collect();
        match names.as_slice() {
            [.., parent, name] if is_absolute && names.len() >= NAMES_MIN => {
                format!("{parent}/{name}")
            }
            _ => word.to_owned(),
        }
    };
    if !text.contains('/') {
        return text.to_owned();
    }
    text.split(' ').map(shorten).collect::<Vec<_>>().join(" ")
}

/// Removes a parenthesis if enough words remain.
fn strip_parenthesis(text: &str) -> String {
    let Some((before, after)) = text.split_once(" (") else { return text.to_owned() };
    match after.split_once(')') {
        Some((_, rest)) if before.split_whitespace().count() >= 4 => {
            format!("{before}{rest}")
        }
        _ => text.to_owned(),
    }
}

fn first_cjk_clause(text: &str) -> String {
    // A courtesy at the end, as in "…，帮我看看".
    let polite =
        ["，帮", "，请", "，麻烦", "，能不能"].iter().find_map(|mark| text.split_once(mark));
    let text = polite
        .map(|(before, _)| before)
        .filter(|before| before.chars().count() >= 8)
        .unwrap_or(text);
    if text.chars().count() <= TITLE_CJK_CHARS_MAX {
        return text.to_owned();
    }
    for (taken, (at, c)) in text.char_indices().enumerate() {
        if matches!(c, '，' | '。' | '；' | '：' | ',' | '、')
            && (8..=TITLE_CJK_CHARS_MAX).contains(&taken)
        {
            return text.get(..at).unwrap_or(text).to_owned();
        }
    }
    truncate_words(text, TITLE_CJK_CHARS_MAX)
}

fn first_spaced_clause(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let dash = words.iter().position(|word| matches!(*word, "-" | "–" | "—" | "->" | "=>"));
    if let Some(index) = dash.filter(|index| (4..=TITLE_WORDS_MAX).contains(index)) {
        let clause = words.into_iter().take(index).collect::<Vec<_>>().join(" ");
        return clause.trim_end_matches([',', ';', ':', '.']).to_owned();
    }
    if !is_long_title(text) {
        return words.join(" ");
    }
    // After a remark, what follows "but" is the point: "I see no error but the upload hangs for ever".
    let turn = words.iter().position(|word| word.eq_ignore_ascii_case("but"));
    let is_point = |at: usize| {
        const DETAILS: [&str; 7] = ["not", "don't", "do", "keep", "got", "only", "without"];
        let before: Vec<&str> = words.iter().take(at).copied().collect();
        let next = words.get(at + 1).map(|word| word.to_lowercase()).unwrap_or_default();
        at >= 4
            && words.len() - at > 4
            && is_balanced(&before)
            && !is_order(text)
            && !matches!(before.last(), Some(&("all" | "everything" | "nothing" | "anything")))
            && !DETAILS.contains(&next.as_str())
    };
    if let Some(at) = turn.filter(|at| is_point(*at)) {
        return first_spaced_clause(&words.into_iter().skip(at + 1).collect::<Vec<_>>().join(" "));
    }
    #[rustfmt::skip]
    const BREAKS: &[&str] = &[
        "because", "but", "which", "since", "while", "so", "where", "when", "unless", "instead", "–",
        "—", "-",
        "чтобы", "потому", "weil", "damit", "e.g.", "such",
    ];
    for (index, word) in words.iter().enumerate().take(TITLE_WORDS_MAX + 1).skip(5) {
        let so_far: Vec<&str> = words.iter().take(index).copied().collect();
        let before = so_far.last().copied().unwrap_or_default();
        if !is_balanced(&so_far) {
            continue;
        }
        // An apposition ("Joseph, a fellow producer, …") does not end a clause.
        let apposed = matches!(*word, "a" | "an" | "the" | "who" | "which" | "who's");
        // Nor does the comma between the items of a list ("a, b, and c").
        let is_in_list = so_far.iter().rev().nth(1).is_some_and(|word| word.ends_with(','));
        let is_adverb = matches!(
            word.trim_end_matches(','),
            "however" | "then" | "also" | "but" | "so" | "instead" | "please" | "too" | "though"
        );
        let is_item =
            word.ends_with(',') && !is_adverb || is_in_list && matches!(*word, "and" | "or");
        // Nor the one before further items: "the architecture, code quality, tests and speed".
        let mut next = words.iter().skip(index).take(ITEM_WORDS_MAX);
        let goes_on = !is_adverb && next.any(|word| word.ends_with(','));
        let comma = before.ends_with(',') && index >= 5 && !apposed && !is_item && !goes_on;
        if comma
            || before.ends_with([';', ':', '.', '?'])
            || BREAKS.contains(&word.to_lowercase().as_str())
            || word.starts_with('(')
        {
            return words
                .iter()
                .take(index)
                .copied()
                .collect::<Vec<_>>()
                .join(" ")
                .trim_end_matches([',', ';', ':', '.'])
                .to_owned();
        }
    }
    let mut kept: Vec<&str> = words.into_iter().take(TITLE_WORDS_MAX).collect();
    // One half of "do this and say "…"" is better than a cut in the middle of the quotation.
    let joint = kept.iter().rposition(|word| matches!(*word, "and" | "or" | "und"));
    if let Some(index) = joint.filter(|index| *index >= 5 && !is_balanced(&kept)) {
        kept.truncate(index);
        return kept.join(" ").trim_end_matches([',', ';', ':', '.']).to_owned();
    }
    while kept.len() > 4 && kept.last().is_some_and(|word| is_dangling(word)) {
        kept.pop();
    }
    format!("{}…", kept.join(" ").trim_end_matches([',', ';', ':', '.']))
}

/// Shortens a text to whole clauses: at the end of a sentence, before a dash, a semicolon, a
/// parenthesis or a comma, and never right before an arrow, whose right side is what counts.
pub(crate) fn cut_clause(text: &str, chars_max: usize) -> String {
    const ENDS: [&str; 10] = [". ", "。", "; ", "；", " — ", " – ", " - ", " (", ", ", "，"];
    if text.chars().nth(chars_max).is_none() {
        return text.to_owned();
    }
    // A remark in parentheses is easier to do without than the end.
    let shorter = strip_remarks(text, chars_max);
    if shorter.chars().nth(chars_max).is_none() {
        return shorter;
    }
    let text = shorter.as_str();
    let head = tome_text::first_chars(text, chars_max);
    let least = tome_text::first_chars(text, chars_max * 2 / 5).len();
    let mut cuts: Vec<usize> = ENDS
        .iter()
        .flat_map(|end| head.match_indices(end).map(|(at, _)| at))
        .filter(|at| *at >= least)
        .collect();
    cuts.sort_unstable();
    let clause = cuts.into_iter().rev().find_map(|at| {
        let kept = text.get(..at)?;
        let words: Vec<&str> = kept.split_whitespace().collect();
        // "I see no error, but it hangs" means the opposite without its end.
        let is_turned = begins_with_any(
            text.get(at..)?.trim_start_matches([',', ' ', '—', '–', '-', ';', '.', '(']),
            &["but", "however", "although", "except", "unless"],
        );
        let is_abbreviated =
            ["e.g", "i.e", "vs", "etc", "cf"].iter().any(|end| kept.ends_with(end));
        let is_whole = !is_turned
            && !is_abbreviated
            && is_balanced(&words)
            && kept.matches('`').count() % 2 == 0
            && !words.last().is_some_and(|word| is_dangling(word) || is_arrow(word));
        is_whole.then_some((kept, text.get(at..)?))
    });
    match clause {
        Some((kept, rest)) if rest.starts_with(['.', '。']) => kept.to_owned(),
        Some((kept, _)) => format!("{kept}…"),
        None => {
            let cut = truncate_words(text, chars_max);
            let bare = cut.trim_end_matches('…').trim_end();
            let mut words: Vec<&str> = bare.split(' ').collect();
            while words.len() > 4 && words.last().is_some_and(|word| is_dangling(word)) {
                words.pop();
            }
            let bare = words.join(" ");
            let bare = bare.trim_end_matches(['→', '⇒', '>', '-', '=']).trim_end();
            format!("{bare}…")
        }
    }
}

/// Removes remarks in parentheses, the last one first, until a text fits or has none left. Short ones, as in
/// `scan()` or "(two)", stay.
fn strip_remarks(text: &str, chars_max: usize) -> String {
    const REMARK_CHARS_MIN: usize = 16;
    let mut text = text.to_owned();
    let mut from = text.len();
    while text.chars().nth(chars_max).is_some() {
        let Some(open) = text.get(..from).and_then(|before| before.rfind(" (")) else { break };
        from = open;
        let rest = text.get(open..).unwrap_or_default();
        let Some(close) = rest.find(')') else { continue };
        let inside = rest.get(2..close).unwrap_or_default();
        let before = text.get(..open).unwrap_or_default();
        let is_remark = inside.len() >= REMARK_CHARS_MIN
            && !inside.contains('(')
            && !["not ", "n't ", "only ", "except ", "without "]
                .iter()
                .any(|word| inside.contains(word))
            && inside.matches('`').count() % 2 == 0
            && before.matches('`').count() % 2 == 0;
        let end = open + close;
        if is_remark {
            text.replace_range(open..=end, "");
        }
    }
    text
}

fn is_arrow(word: &str) -> bool {
    matches!(word, "→" | "⇒" | "->" | "=>" | "-->")
}

/// Whether all quotes and parentheses are closed.
pub(crate) fn is_balanced(words: &[&str]) -> bool {
    let count = |mark: char| words.iter().map(|word| word.matches(mark).count()).sum::<usize>();
    count('"') % 2 == 0 && count('(') == count(')') && count('“') == count('”')
}

/// Whether a text is the tail of something longer: "…_CHAIN env var)". The letter of a list's item, `b)`,
/// and a smiley close nothing; in Russian, a lone `)` at the end is one.
pub(crate) fn closes_unopened_parenthesis(text: &str) -> bool {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        let last_word = || text.get(..at).unwrap_or_default().rsplit(char::is_whitespace).next();
        let ends_word = || {
            last_word().is_some_and(|word| word.len() > 1 && word.ends_with(char::is_alphabetic))
        };
        match c {
            '(' | '（' => depth += 1,
            ')' | '）' if depth > 0 => depth -= 1,
            ')' if text.is_ascii() && at > 3 && ends_word() => return true,
            _ => {}
        }
    }
    false
}

/// Whether a text cannot end with this word.
pub(crate) fn is_dangling(word: &str) -> bool {
    let lower = word.to_lowercase();
    is_stop_word(&lower, StopClass::DANGLING)
        || matches!(
            lower.as_str(),
            "but" | "however" | "although" | "though" | "whereas" | "unless"
        )
}

/// Capitalizes a text unless it begins with an identifier.
pub(crate) fn capitalize(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    let first = first.trim_end_matches([':', ',', '.']);
    let name = first.contains(['_', '.', '/', '-', ':', '(', '['])
        || first.chars().skip(1).any(char::is_uppercase);
    let mut chars = text.chars();
    match chars.next() {
        Some(c) if !name => c.to_uppercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}

/// Whether a text is a clause of its own, and no fragment, quotation, label or outburst.
pub(crate) fn is_main_clause(text: &str) -> bool {
    #[rustfmt::skip]
    const FRAGMENTS: &[&str] = &[
        "when", "if", "because", "since", "while", "although", "as", "which", "that", "whether",
        "after", "before", "unless", "until", "once", "and", "or", "but", "so", "with", "without",
        "for", "from", "by", "also", "plus", "e.g.", "i.e.", "like", "such",
    ];
    #[rustfmt::skip]
    const OUTBURSTS: &[&str] = &[
        "wtf", "omg", "damn", "ugh", "argh", "wow", "lol", "hmm", "fuck", "shit", "what the hell",
        "oh no", "come on", "seriously", "i've been staring", "i've been fighting", "i've been struggling",
        "i'm stuck", "i am stuck", "i'm lost", "i'm confused", "i give up", "this is driving me",
    ];
    let bare = text.trim();
    let quoted = bare.starts_with(['"', '“', '>', '«', '「', '|', '<', '{', '[', '$', '❯']);
    let has_main = bare.split_once(", ").is_some_and(|(_, main)| count_words(main) >= 3);
    !quoted
        && !begins_with_any(bare, OUTBURSTS)
        && (!begins_with_any(bare, FRAGMENTS) || has_main)
        && !bare.ends_with([':', '：'])
        && !["include", "includes", "including"].iter().any(|end| bare.ends_with(end))
        && !closes_unopened_parenthesis(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_in_backquotes_keeps_them_in_a_title() {
        assert_eq!(shorten_to_title("Fix the `make` path"), "Fix the `make` path");
        assert_eq!(shorten_to_title("Fix `run_all` and `a/b.rs`"), "Fix run_all and a/b.rs");
    }

    #[test]
    fn a_remark_is_left_out_before_the_point() {
        assert_eq!(
            cut_clause(
                "Keep both caches (they have different keys and lifetimes), but flush them",
                50
            ),
            "Keep both caches, but flush them"
        );
        assert_eq!(
            cut_clause("Keep the cache (not the one of the old server) as it is", 30),
            "Keep the cache…"
        );
    }

    #[test]
    fn a_text_is_cut_at_the_end_of_a_clause() {
        for (text, chars_max, cut) in [
            ("Short enough", 20, "Short enough"),
            (
                "It fails on Linux. It passes on macOS since the last release.",
                40,
                "It fails on Linux",
            ),
            ("Two options are left, the first of which is slow", 30, "Two options are left…"),
            (
                "Wrong import path `a.io/cli` → `github.com/a/cli` in all files",
                32,
                "Wrong import path `a.io/cli`…",
            ),
            ("Uses `a, b` and also `c, d` for the rest of it", 24, "Uses `a, b` and also…"),
        ] {
            assert_eq!(cut_clause(text, chars_max), cut);
        }
    }
}
