//! The conclusion of an agent's final answer: the sentence that says what came out, and the question
//! that it leaves to the user.

use tome_text::count_words;

use super::cues::{Cue, find_cue, is_announcement, is_filler};
use super::prose::{MessageParts, ProseSentence, SentenceShape};
use super::statement::{AnswerSentence, lists_work, read_statement};
use super::terms::{TermKind, TextTerm, extract_terms};
use super::text::{
    begins_with_any, may_begin_with, strip_label, strip_prefix_ignoring_case, to_lower,
};
use super::unfinished::{instructs, is_fragment, looks_ahead};
use super::verdict::{find_fixed_row, find_verdicts};

/// Removes the label before a conclusion: `Root cause: …`.
pub(super) fn strip_verdict(text: &str) -> &str {
    strip_label(text, VERDICTS).unwrap_or(text)
}

/// Labels that agents put before a conclusion.
#[rustfmt::skip]
const VERDICTS: &[&str] = &[
    "verdict", "conclusion", "root cause", "the root cause", "recommendation", "my recommendation",
    "bottom line", "tl;dr", "in short", "result", "the fix", "the problem", "the issue", "the bug",
    "the cause", "the reason", "answer", "short answer", "problem", "fix", "solution", "结论", "原因", "結論", "вывод", "причина",
    "fazit", "ursache",
];

/// Finds the sentence that states the conclusion of an answer, with the list that it introduces. After
/// work, a step that is left to the user is none.
pub(super) fn find_conclusion<'a>(
    parts: &MessageParts<'a>,
    after_work: bool,
) -> Option<AnswerSentence<'a>> {
    // "Fix items 1, 2 and 5" says nothing without the list above it.
    let verdict = find_verdicts(parts).filter(|verdict| !counts_only(&verdict.text));
    // Severe findings weigh more than what passed beside them.
    let verdict = verdict.filter(|found| !is_harmless(&found.text) || !has_severe_finding(parts));
    if let Some(conclusion) = verdict.or_else(|| find_fixed_row(parts)) {
        return Some(conclusion);
    }
    let mut best: Option<(usize, AnswerSentence<'a>)> = None;
    for (index, sentence) in parts.sentences.iter().enumerate() {
        // An item below another one is a detail of it.
        let is_detail = sentence.shape == SentenceShape::Item && sentence.indent > 1;
        if sentence.is_aside || is_detail || after_work && instructs(&sentence.plain) {
            continue;
        }
        let (mut statement, has_list) = read_statement(parts, index, sentence);
        let shape = if has_list { SentenceShape::Running } else { sentence.shape };
        let Some(score) = score_conclusion(&statement.text, &statement.lead, index, shape) else {
            continue;
        };
        // A heading over a list says less than a sentence.
        statement.score = score - i32::from(sentence.shape == SentenceShape::Heading) * 5;
        statement.is_item = shape == SentenceShape::Item;
        if statement.score > 0 && best.as_ref().is_none_or(|(_, best)| statement.score > best.score)
        {
            best = Some((index, statement));
        }
    }
    let (index, best) = best?;
    if let Some(list) = find_whole_list(parts, index, &best) {
        return Some(list);
    }
    if let Some(both) = join_solution(parts, &best) {
        return Some(both);
    }
    Some(if index > 0 { join_report(parts, best) } else { best })
}

/// The list whose item is the best sentence, if a sentence introduces it: one item is not the whole.
fn find_whole_list<'a>(
    parts: &MessageParts<'a>,
    index: usize,
    best: &AnswerSentence<'a>,
) -> Option<AnswerSentence<'a>> {
    let sentences = parts.sentences.get(..index).filter(|_| best.is_item)?;
    let lead = sentences.iter().rposition(|sentence| sentence.shape != SentenceShape::Item)?;
    let sentence = parts.sentences.get(lead)?;
    let (list, has_list) = read_statement(parts, lead, sentence);
    let is_introduced =
        has_list && sentence.shape == SentenceShape::Running && !is_filler(&list.lead);
    is_introduced.then_some(AnswerSentence { score: best.score, ..list })
}

/// Puts the labelled solution behind the labelled cause.
fn join_solution<'a>(
    parts: &MessageParts<'a>,
    cause: &AnswerSentence<'a>,
) -> Option<AnswerSentence<'a>> {
    #[rustfmt::skip]
    const CAUSES: &[&str] = &[
        "root cause", "the root cause", "cause", "the cause", "problem", "the problem", "the issue", "the bug",
        "raíz del problema", "causa", "el problema", "problème", "le problème", "o problema", "原因", "根本原因",
    ];
    #[rustfmt::skip]
    const SOLUTIONS: &[&str] = &[
        "fix", "the fix", "solution", "the solution", "fixed", "solución", "solução", "correction", "解决方案", "修复",
    ];
    let fixes = |sentence: &&ProseSentence<'a>| {
        strip_label(&sentence.plain, SOLUTIONS).is_some_and(|fix| !fix.is_empty())
    };
    let fix = parts.sentences.iter().find(fixes)?;
    if strip_label(&cause.text, CAUSES).is_none() || !cause.items.is_empty() {
        return None;
    }
    let mut raws = cause.raws.clone();
    raws.push(fix.raw);
    let text = format!("{} {}", cause.text, fix.plain);
    Some(AnswerSentence { raws, lead: text.clone(), text, ..cause.clone() })
}

/// Puts the verdict that begins an answer before the sentence that says more: "Both comments posted.",
/// "No, it has no tests."
fn join_report<'a>(parts: &MessageParts<'a>, best: AnswerSentence<'a>) -> AnswerSentence<'a> {
    const VERDICT_WORDS_MAX: usize = 12;
    let Some(first) = parts.sentences.first() else { return best };
    let text = &first.plain;
    let is_verdict = first.shape == SentenceShape::Running
        && count_words(text) <= VERDICT_WORDS_MAX
        && (reports_end(text) && !is_empty_phrase(text) || answers_shortly(text))
        && !is_check_report(text)
        && !is_announcement(text)
        && !looks_ahead(text)
        && !is_fragment(text)
        && !text.ends_with([':', '：', '?', '？']);
    if !is_verdict || best.is_item || best.text.starts_with(text.as_str()) {
        return best;
    }
    let mut raws = vec![first.raw];
    raws.extend(best.raws);
    let join = |text: &str| format!("{} {text}", first.plain);
    AnswerSentence { raws, text: join(&best.text), lead: join(&best.lead), ..best }
}

/// Whether a short sentence says that something is done, and what: "Training killed."
fn reports_end(text: &str) -> bool {
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

/// Whether a sentence is the answer to a question of yes or no.
fn answers_shortly(text: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "yes", "no", "correct", "exactly", "not yet", "partly", "oui", "non", "sí", "sim", "não", "ja", "nein",
    ];
    #[rustfmt::skip]
    const WIDE: &[&str] = &[
        "可以", "不可以", "能", "不能", "是的", "不是", "对", "不对", "会", "不会", "没有", "有必要", "できます", "できません",
        "はい", "いいえ", "네", "아니요",
    ];
    begins_with_any(text, WORDS) || WIDE.iter().any(|word| text.starts_with(word))
}

/// The first sentence of an answer that says anything: for an answer without a conclusion. An empty
/// phrase ("All done.") only if there is nothing else.
pub(super) fn find_statement<'a>(
    parts: &MessageParts<'a>,
    after_work: bool,
) -> Option<AnswerSentence<'a>> {
    let (mut check, mut work, mut item, mut phrase) = (None, None, None, None);
    for (index, sentence) in parts.sentences.iter().enumerate().filter(|(_, one)| !one.is_aside) {
        let (found, has_list) = read_statement(parts, index, sentence);
        let text = &found.lead;
        if sentence.shape == SentenceShape::Heading {
            work = work.or(Some(found).filter(|found| has_list && lists_work(&found.lead)));
            continue;
        }
        let says = (count_words(text) >= 2 || !text.is_ascii())
            && !text.ends_with(['?', '？'])
            && (has_list || !text.ends_with([':', '：']))
            && !is_announcement(text)
            && !is_fragment(text)
            && !looks_ahead(text)
            && !(after_work && instructs(text))
            && !is_filler(text);
        match says {
            true if sentence.shape == SentenceShape::Item => item = item.or(Some(found)),
            true if !has_list && is_empty_phrase(text) => phrase = phrase.or(Some(found)),
            true if has_list || !is_check_report(text) => return Some(found),
            true => check = check.or(Some(found)),
            false => {}
        }
    }
    // After work, the changed files say more than one detail.
    work.or(check).or(item.filter(|_| !after_work)).or(phrase)
}

/// Whether a sentence has no noun or number of its own: "All done.", "更新完成。"
fn is_empty_phrase(text: &str) -> bool {
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

/// Whether a text has a word of its own beside "fixed", "change" and the names of files.
pub(super) fn says_what(text: &str) -> bool {
    let terms = extract_terms(text);
    let says = |term: &&TextTerm<'_>| {
        term.kind != TermKind::File && !is_generic_word(&to_lower(term.text))
    };
    terms.iter().any(|term| says(&term)) || text.chars().any(tome_text::is_han_or_kana)
}

/// Whether a sentence says only that something is done, and not what.
fn is_generic(text: &str, terms: &[TextTerm<'_>]) -> bool {
    let says = |term: &&TextTerm<'_>| {
        term.kind != TermKind::Word || !is_generic_word(&to_lower(term.text))
    };
    terms.iter().filter(says).count() < 2 && !text.chars().any(tome_text::is_han_or_kana)
}

/// Words that any work is reported with.
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

/// Scores how well a sentence states a conclusion; `None` if it cannot.
fn score_conclusion(text: &str, lead: &str, index: usize, shape: SentenceShape) -> Option<i32> {
    let words = count_words(text);
    if words < 3
        || text.ends_with(['?', '？'])
        || shape == SentenceShape::Heading
        || is_announcement(text)
        || is_fragment(text)
        || looks_ahead(text)
    {
        return None;
    }
    let terms = extract_terms(text);
    if is_about_layout(text) && !has_identifier(&terms) {
        return None;
    }
    let verdict = begins_with_any(text, VERDICTS);
    let lead_in = text.ends_with([':', '：']);
    // A whole sentence may lead to a table or to code.
    if lead_in && !verdict && (words < 6 || text.ends_with('：')) {
        return None;
    }
    let length = match words {
        0..=4 => -3,
        5..=6 => 0,
        7..=36 => 3,
        _ => 0,
    };
    let names = terms.iter().filter(|term| term.kind != TermKind::Word).count();
    let cue = match find_cue(text) {
        Some((Cue::Cause, sure)) => i32::try_from(sure).unwrap_or(0) + 2,
        Some((Cue::Outcome | Cue::Decision, sure)) => i32::try_from(sure).unwrap_or(0),
        None => 0,
    };
    // An item that reports nothing is one finding among several.
    if shape == SentenceShape::Item && cue == 0 {
        return None;
    }
    let first = match index {
        0 => 5,
        1 => 3,
        2 => 1,
        _ => 0,
    };
    let item = if shape == SentenceShape::Item { -2 } else { 1 };
    // "All 15 tests pass." is true and says nothing about the work.
    let checks = is_check_report(lead) && !names_subject(lead);
    Some(
        length
            + cue
            + first
            + item
            + i32::try_from(names.min(2)).unwrap_or(0) * 2
            + i32::from(verdict) * if is_complaint(text) { 3 } else { 6 }
            - i32::from(lead_in) * 4
            + i32::from(index == 0 && is_plain_answer(text) && !is_generic(text, &terms)) * 3
            - i32::from(checks) * 7
            - i32::from(!(verdict && text.contains([':', '：'])) && is_generic(text, &terms)) * 8
            - i32::from(names == 0 && counts_only(text)) * 6
            - i32::from(is_step(text) || is_side_note(text)) * 6
            - i32::from(is_filler(text)) * 5
            - i32::from(shape == SentenceShape::Item && text.contains(" already ")) * 4
            - i32::from(begins_with_pronoun(text)) * 3,
    )
}

/// Whether a sentence answers with yes or no, and says more than that.
fn is_plain_answer(text: &str) -> bool {
    ["yes", "no"].iter().filter_map(|word| strip_prefix_ignoring_case(text, word)).any(|rest| {
        let bare = rest.trim_start_matches(' ');
        bare.starts_with([',', '-', '–', '—', ':']) && count_words(bare) >= 3
    })
}

/// Whether a verdict finds nothing.
fn is_harmless(text: &str) -> bool {
    let lower = to_lower(text);
    ["pass", "none", "no issues", "no action"].iter().any(|word| lower.contains(word))
}

/// Whether an answer lists findings of high severity.
fn has_severe_finding(parts: &MessageParts<'_>) -> bool {
    const SEVERE: &[&str] =
        &["critical:", "high:", "blocker:", "severe:", "critical —", "p0", "p1"];
    parts.sentences.iter().any(|sentence| {
        let lower = to_lower(&sentence.plain);
        SEVERE.iter().any(|start| lower.starts_with(start))
    })
}

/// Whether a labelled sentence tells the problem; the one about its solution says more.
fn is_complaint(text: &str) -> bool {
    begins_with_any(text, &["problem", "the problem", "the issue", "the bug"])
}

/// Whether a sentence refers to things by their numbers: "Fix items 1, 2 and 5".
fn counts_only(text: &str) -> bool {
    let numbers = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_digit()));
    numbers.count() >= 3
}

/// Whether a text names a function, type or test, and not only files.
pub(super) fn names_subject(text: &str) -> bool {
    has_identifier(&extract_terms(text))
}

fn has_identifier(terms: &[TextTerm<'_>]) -> bool {
    terms.iter().any(|term| term.kind == TermKind::Identifier)
}

/// Whether a sentence is about spaces and the order of lines.
fn is_about_layout(text: &str) -> bool {
    const WORDS: [&str; 7] =
        ["formatting", "alignment", "whitespace", "indentation", "gofmt", "prettier", "rustfmt"];
    let lower = to_lower(text);
    WORDS.iter().any(|word| lower.contains(word))
}

/// Whether a sentence adds something beside the result.
fn is_side_note(text: &str) -> bool {
    const STARTS: &[&str] = &[
        "note",
        "one note",
        "one thing",
        "one caveat",
        "caveat",
        "worth noting",
        "trade-off",
        "nota",
        "remarque",
        "注意",
        "备注",
    ];
    begins_with_any(text, STARTS)
}

/// Whether a sentence leads on to the next step.
fn is_step(text: &str) -> bool {
    begins_with_any(text, &["now for", "now the", "next", "next up", "now we", "the next"])
}

/// Whether a sentence only reports that checks passed.
pub(super) fn is_check_report(text: &str) -> bool {
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

/// Whether a sentence begins by pointing at something said before.
pub(super) fn begins_with_pronoun(text: &str) -> bool {
    const WORDS: [&str; 14] = [
        "it", "this", "that", "these", "those", "they", "both", "he", "she", "its", "there",
        "here", "which", "each",
    ];
    WORDS.iter().filter(|word| may_begin_with(text, word)).any(|word| {
        strip_prefix_ignoring_case(text, word).is_some_and(|rest| {
            // "Both `a` and `b`" names what it is about.
            rest.starts_with([' ', '\'', '’', ',']) && !rest.starts_with(" `")
        })
    })
}

/// Finds the question that an answer ends with: the longest among its last sentences.
pub(super) fn find_closing_question<'a>(parts: &MessageParts<'a>) -> Option<AnswerSentence<'a>> {
    const LAST: usize = 3;
    let last = parts.sentences.last()?;
    if !last.plain.ends_with(['?', '？']) {
        return None;
    }
    let from = parts.sentences.len().saturating_sub(LAST);
    parts
        .sentences
        .iter()
        .skip(from)
        .map(|sentence| (sentence.raw, sentence.plain.clone()))
        .filter(|(_, text)| text.ends_with(['?', '？']) && count_words(text) >= 4)
        .map(|(raw, text)| AnswerSentence {
            raws: vec![raw],
            items: Vec::new(),
            score: i32::try_from(count_words(&text)).unwrap_or(0),
            lead: text.clone(),
            text,
            is_item: false,
        })
        .max_by_key(|sentence| sentence.score)
}
