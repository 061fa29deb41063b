//! The judgments of an answer and their labels, and the rows of its tables that report what was done.

use tome_text::count_words;

use crate::extract::answers::direct_answer::strip_plain_label;
use crate::extract::answers::informative::is_generic_sentence;
use crate::extract::answers::statement::{
    AnswerSentence, ListItem, TEXT_CHARS_MAX, VERY_SURE, find_announced_headings, join_items,
};
use crate::extract::language::clause::capitalize;
use crate::extract::language::prose::{MessageParts, ProseSentence, SentenceShape};
use crate::extract::language::text::{begins_with_any, plain_text, strip_label};

/// Labels before the judgment that the user asked for.
#[rustfmt::skip]
const JUDGMENTS: &[&str] = &[
    "verdict", "final verdict", "overall verdict", "overall", "conclusion", "bottom line",
    "recommendation", "my recommendation", "decision", "review result", "short answer", "the short answer",
    "direct answer", "in short", "tl;dr", "结论", "結論", "вывод", "fazit",
];

/// Labels that agents put before a conclusion.
#[rustfmt::skip]
const VERDICTS: &[&str] = &[
    "verdict", "conclusion", "root cause", "the root cause", "recommendation", "my recommendation",
    "bottom line", "tl;dr", "in short", "result", "the fix", "the problem", "the issue", "the bug",
    "the cause", "the reason", "what was wrong", "what went wrong", "what happened", "why it failed", "why it happened",
    "answer", "short answer", "problem", "fix", "solution", "结论", "原因", "結論", "вывод", "причина",
    "fazit", "ursache",
];

/// The judgments of an answer, each with its heading if there are several.
pub(crate) fn find_verdicts<'a>(parts: &MessageParts<'a>) -> Option<AnswerSentence<'a>> {
    const VERDICTS_MAX: usize = 8;
    let mut verdicts: Vec<(&ProseSentence<'a>, Option<&str>, &str)> = Vec::new();
    let mut last = 0;
    let mut heading: Option<&str> = None;
    for (index, sentence) in parts.sentences.iter().enumerate() {
        match read_judgment(&sentence.plain) {
            Some(text) if sentence.shape != SentenceShape::Item => {
                verdicts.push((sentence, heading.take(), text));
                last = index;
            }
            _ if sentence.shape == SentenceShape::Heading => heading = Some(&sentence.plain),
            _ => {}
        }
    }
    verdicts.truncate(VERDICTS_MAX);
    let mut raws: Vec<&str> = verdicts.iter().map(|(sentence, ..)| sentence.raw).take(3).collect();
    let (lead, items) = match verdicts.as_slice() {
        [] => return None,
        [(only, ..)] => {
            let text = strip_plain_label(&only.plain).trim_end_matches('.');
            match find_announced_headings(parts, last, text) {
                Some(headings) => {
                    raws.extend(headings.iter().map(|(raw, _)| *raw).take(2));
                    let items = headings.into_iter().map(|(_, item)| item).collect();
                    (format!("{}:", capitalize(text)), items)
                }
                None => (render_judgment(parts, last, &mut raws), Vec::new()),
            }
        }
        several => {
            let item = |(_, heading, text): &(_, Option<&str>, &str)| match heading {
                Some(heading) => format!("{}: {text}", heading.trim_end_matches([':', '.'])),
                None => (*text).to_owned(),
            };
            (String::new(), several.iter().map(item).map(ListItem::from_text).collect())
        }
    };
    let text =
        if items.is_empty() { lead.clone() } else { join_items(&lead, &items, TEXT_CHARS_MAX) };
    Some(AnswerSentence {
        raws,
        text,
        lead,
        items,
        score: VERY_SURE,
        is_item: false,
        has_caveat: false,
    })
}

/// A single judgment. After "Short answer:" it is a sentence, with the next one if it names nothing: "Yes. The lock is
/// held twice."
fn render_judgment<'a>(parts: &MessageParts<'a>, at: usize, raws: &mut Vec<&'a str>) -> String {
    const SHORT_WORDS_MAX: usize = 6;
    const NEXT_CHARS_MAX: usize = 160;
    let Some(judged) = parts.sentences.get(at) else { return String::new() };
    let plain = judged.plain.as_str();
    let text = strip_plain_label(plain);
    let judgment = capitalize(text.trim_end_matches('.'));
    if text.len() == plain.len() {
        // A full stop tells it from a heading.
        let stop = if is_review_result(&judgment) { "." } else { "" };
        return format!("{judgment}{stop}");
    }
    let next = parts.sentences.get(at + 1).filter(|next| {
        (next.shape == SentenceShape::Running || next.shape == judged.shape)
            && next.plain.chars().count() <= NEXT_CHARS_MAX
            && !next.plain.ends_with(['?', '？', ':', '：'])
            && count_words(&judgment) <= SHORT_WORDS_MAX
            && is_generic_sentence(&judgment)
    });
    match next {
        Some(next) => {
            raws.push(next.raw);
            format!("{judgment}. {}", next.plain)
        }
        None => format!("{judgment}."),
    }
}

/// Whether a judgment is the result of a review, which one word tells: "Review result: blocked".
pub(crate) fn is_review_result(judgment: &str) -> bool {
    begins_with_any(judgment, &["review result"])
}

/// The judgment after its label: `Verdict: approve`.
fn read_judgment(plain: &str) -> Option<&str> {
    let text = strip_label(plain, JUDGMENTS)?.trim_end().trim_end_matches(['.', '。']);
    (text.chars().any(char::is_alphanumeric) && !text.ends_with([':', '：'])).then_some(text)
}

/// The row of a table that reports what was done now, where the other rows do not.
pub(crate) fn find_fixed_row<'a>(parts: &MessageParts<'a>) -> Option<AnswerSentence<'a>> {
    const DONE: [&str; 6] = ["fixed", "done", "resolved", "implemented", "added", "addressed"];
    const ROWS_MAX: usize = 2;
    let cells = |row: &'a str| row.trim_matches('|').split('|').map(str::trim);
    let is_done = |cell: &&'a str| {
        let plain = plain_text(cell);
        count_words(&plain) >= 3 && begins_with_any(&plain, &DONE)
    };
    let rows: Vec<&'a str> = parts.rows.iter().map(|(_, row)| *row).collect();
    let done: Vec<(&'a str, &'a str)> = rows
        .iter()
        .filter_map(|row| {
            let status = cells(row).find(is_done)?;
            let about =
                cells(row).filter(|cell| *cell != status).max_by_key(|cell| count_words(cell));
            about.filter(|about| count_words(about) >= 2).map(|about| (about, status))
        })
        .collect();
    if done.is_empty() || done.len() > ROWS_MAX || done.len() == rows.len() {
        return None;
    }
    let raws = done.iter().flat_map(|(about, status)| [*status, *about]).collect();
    let items: Vec<ListItem> = done
        .iter()
        .map(|(about, status)| format!("{}: {}", plain_text(about), plain_text(status)))
        .map(ListItem::from_text)
        .collect();
    let text = join_items("", &items, TEXT_CHARS_MAX);
    Some(AnswerSentence {
        raws,
        text,
        lead: String::new(),
        items,
        score: VERY_SURE,
        is_item: false,
        has_caveat: false,
    })
}

/// Removes the label before a conclusion: `Root cause: …`.
pub(crate) fn strip_verdict(text: &str) -> &str {
    strip_label(text, VERDICTS).unwrap_or(text)
}

/// Whether a text begins with a label such as `Root cause`.
pub(crate) fn begins_with_verdict(text: &str) -> bool {
    begins_with_any(text, VERDICTS)
}
