//! A statement of an answer: a sentence, with the list or the table that it introduces.

use std::collections::BTreeSet;

use tome_text::count_words;

use crate::extract::answers::direct_answer::strip_plain_label;
use crate::extract::answers::preamble::count_announced;
use crate::extract::answers::run_in::find_run_in_paragraphs;
use crate::extract::language::clause::{capitalize, cut_clause, is_dangling};
use crate::extract::language::cues::{Cue, find_cue, is_filler};
use crate::extract::language::prose::{MessageParts, ProseSentence, SentenceShape};
use crate::extract::language::text::{
    begins_with_any, may_begin_with, plain_text, strip_prefix_ignoring_case,
};

/// Sentences with at least this score are good choices in three of four answers.
pub(crate) const SURE: i32 = 290;
/// The same for nine of ten.
pub(crate) const VERY_SURE: i32 = 480;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnswerSentence<'a> {
    /// Verbatim: the sentence, and the first items of the list that it introduces.
    pub(crate) raws: Vec<&'a str>,
    /// Without Markdown and without the words that tie it to its neighbors.
    pub(crate) text: String,
    /// The sentence alone, without the list.
    pub(crate) lead: String,
    /// The items of the list, in their own words.
    pub(crate) items: Vec<ListItem>,
    pub(crate) score: i32,
    /// Whether it is an item of a list: one result among several.
    pub(crate) is_item: bool,
    /// Whether it ends with the sentence that limits it.
    pub(crate) has_caveat: bool,
}

impl AnswerSentence<'_> {
    /// The sentence in at most so many characters: whole clauses, whole items, and the number of
    /// those left out.
    pub(crate) fn render(&self, chars_max: usize) -> String {
        if self.items.is_empty() {
            end_lead(&cut_clause(&self.text, chars_max))
        } else {
            join_items(&self.lead, &self.items, chars_max)
        }
    }
}

/// Replaces a final colon that leads to something that is not shown: by a full stop, or by an ellipsis if the
/// sentence only introduces it.
pub(crate) fn end_lead(text: &str) -> String {
    const POINTERS: &[&str] = &[
        "here",
        "here's",
        "here is",
        "here are",
        "the following",
        "this is",
        "these are",
        "below",
    ];
    const LAST_WORDS: [&str; 8] =
        [" these", " this", " following", " below", " with", " to", "以下", "如下"];
    let Some(lead) = text.strip_suffix([':', '：']) else { return text.to_owned() };
    let points = begins_with_any(lead, POINTERS)
        || LAST_WORDS.iter().any(|word| lead.ends_with(word))
        || lead.split_whitespace().next_back().is_some_and(is_dangling)
        || lead.starts_with("以下");
    match lead.chars().next_back() {
        _ if points => format!("{lead}…"),
        Some(last) if tome_text::is_han_or_kana(last) => format!("{lead}。"),
        _ => format!("{lead}."),
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListItem {
    /// All of it, or its first clauses.
    pub(crate) text: String,
    /// Its subject: the words in bold, or before a dash or colon.
    pub(crate) head: String,
}

impl ListItem {
    fn read(raw: &str) -> Self {
        let head = item_head(raw);
        let text = plain_text(raw);
        let text = trim_item(&text);
        let is_short = text.chars().nth(ITEM_CHARS_MAX).is_none();
        if is_short {
            return Self { text: text.to_owned(), head };
        }
        // A name alone does not say what was done to it.
        let rest = text.strip_prefix(head.as_str()).filter(|_| is_name_only(&head));
        let rest = rest.map(|rest| rest.trim_start_matches([' ', ':', '—', '–', '-']));
        let text = match rest.filter(|rest| !rest.is_empty()) {
            Some(rest) => format!("{head}: {}", cut_clause(rest, ITEM_CHARS_MAX)),
            None => return Self { text: head.clone(), head },
        };
        Self { head: text.clone(), text }
    }

    /// Appends the first item below one that is only a name.
    fn with_detail(self, detail: Option<&str>) -> Self {
        match detail.filter(|_| is_name_only(&self.text)) {
            Some(detail) => {
                let detail = plain_text(detail);
                let detail = cut_clause(trim_item(&detail), ITEM_CHARS_MAX);
                Self { text: format!("{}: {detail}", self.text), head: self.head }
            }
            None => self,
        }
    }

    /// The item for a table row: the subject, a colon and the cell.
    fn of_subject(subject: &str, cell: &str) -> Self {
        let (subject, cell) = (plain_text(subject), Self::read(cell));
        Self { text: format!("{subject}: {}", cell.text), head: subject }
    }

    pub(crate) fn from_text(text: String) -> Self {
        Self { head: text.clone(), text }
    }
}

/// Renders `lead item; item (+3)`: whole items if at least two fit, or else their subjects.
pub(crate) fn join_items(lead: &str, items: &[ListItem], chars_max: usize) -> String {
    let texts: Vec<&str> = items.iter().map(|item| item.text.as_str()).collect();
    let (text, shown) = join_texts(lead, &texts, chars_max);
    if shown >= 2 || items.len() < 2 {
        return text;
    }
    let heads: Vec<&str> = items.iter().map(|item| item.head.as_str()).collect();
    match join_texts(lead, &heads, chars_max) {
        (heads, more) if more > shown => heads,
        _ => text,
    }
}

/// Joins the texts that fit and appends the number of the others; returns how many are whole. The first is
/// cut if it is too long.
fn join_texts(lead: &str, texts: &[&str], chars_max: usize) -> (String, usize) {
    const MORE_CHARS: usize = 5;
    let mut joined = lead.to_owned();
    let (mut shown, mut uncut) = (0, 0);
    for text in texts {
        let gap = match shown {
            0 if lead.is_empty() => "",
            0 => " ",
            _ => "; ",
        };
        let used = joined.chars().count() + gap.len() + MORE_CHARS;
        let room = chars_max.saturating_sub(used);
        let fits = text.chars().count() <= room;
        if !fits && shown > 0 {
            break;
        }
        joined.push_str(gap);
        joined.push_str(&if fits { (*text).to_owned() } else { cut_clause(text, room.max(40)) });
        shown += 1;
        uncut += usize::from(fits);
        if !fits {
            break;
        }
    }
    let joined = match texts.len() - shown {
        0 => joined,
        hidden => format!("{joined} (+{hidden})"),
    };
    (joined, uncut)
}

/// Words before a conclusion that carry no meaning by themselves.
#[rustfmt::skip]
const OPENINGS: &[&str] = &[
    "done", "fixed", "perfect", "great", "good news", "all set", "all done", "all green",
    "you're right", "you are right", "good catch", "good question", "great question", "excellent",
    "interesting", "because", "so", "and", "but", "actually", "then", "indeed", "confirmed", "agreed",
    "here's the thing", "got it", "in summary", "to summarize", "summary", "готово", "完成", "好的", "fertig",
];

/// A sentence, and whether the list that it introduces is part of it.
pub(crate) fn read_statement<'a>(
    parts: &MessageParts<'a>,
    index: usize,
    sentence: &ProseSentence<'a>,
) -> (AnswerSentence<'a>, bool) {
    let lead = strip_opening(strip_plain_label(&sentence.plain));
    let lead = strip_announcement(&lead);
    let mut statement = AnswerSentence {
        raws: vec![sentence.raw],
        text: lead.clone(),
        items: Vec::new(),
        score: 0,
        is_item: false,
        has_caveat: false,
        lead,
    };
    if sentence.shape != SentenceShape::Item
        && let Some(headings) = find_announced_headings(parts, index, &statement.lead)
    {
        statement.lead = format!("{}:", statement.lead.trim_end_matches(['.', '。']));
        statement.raws.extend(headings.iter().map(|(raw, _)| *raw).take(2));
        statement.items = headings.into_iter().map(|(_, item)| item).collect();
        statement.text = join_items(&statement.lead, &statement.items, TEXT_CHARS_MAX);
        return (statement, true);
    }
    if sentence.shape == SentenceShape::Running
        && let Some(paragraphs) = find_run_in_paragraphs(parts, index, &statement.lead)
    {
        statement.lead = format!("{}:", statement.lead.trim_end_matches(['.', '。']));
        statement.raws.extend(paragraphs.iter().map(|(raw, _)| *raw).take(2));
        let items = paragraphs.into_iter().map(|(_, text)| cut_item(&text));
        statement.items = items.map(ListItem::from_text).collect();
        statement.text = join_items(&statement.lead, &statement.items, TEXT_CHARS_MAX);
        return (statement, true);
    }
    // The name of a list at the beginning of an answer: "Problems of the cache".
    let below = parts.sentences.iter().skip(index + 1).take(2);
    let is_list = below.filter(|next| next.shape == SentenceShape::Item).count() == 2;
    let is_name = sentence.shape == SentenceShape::Heading && !ends_clause(&statement.lead);
    if index == 0 && is_list && is_name {
        statement.lead.push(':');
    }
    if sentence.shape == SentenceShape::Item || !statement.lead.ends_with([':', '：']) {
        return (statement, false);
    }
    if is_filler(&statement.lead) {
        return (statement, false);
    }
    let (raws, items): (Vec<&str>, Vec<ListItem>) =
        list_items(parts, index, &statement.lead).into_iter().unzip();
    let code = find_code_line(parts, index).filter(|_| items.is_empty());
    let code_item = code.map(|line| ListItem::from_text(format!("`{line}`")));
    statement.items = items.into_iter().chain(code_item).collect();
    if !statement.items.is_empty() {
        statement.text = join_items(&statement.lead, &statement.items, TEXT_CHARS_MAX);
        statement.raws.extend(raws.iter().copied().chain(code).take(2));
    }
    (statement, raws.len() >= 2)
}

fn ends_clause(text: &str) -> bool {
    text.ends_with(['.', '!', '?', ':', ';', '。', '！', '？', '：'])
}

/// Characters of a conclusion with its list.
pub(crate) const TEXT_CHARS_MAX: usize = 240;

/// The items of the list, or rows of the table, that a sentence introduces, without items below them; each
/// with the text that it is read from.
fn list_items<'a>(parts: &MessageParts<'a>, index: usize, lead: &str) -> Vec<(&'a str, ListItem)> {
    const ITEMS_MAX: usize = 40;
    let rows = parts.rows.iter().filter(|(before, _)| *before == index + 1);
    let rows: Vec<&str> =
        rows.take(ITEMS_MAX).map(|(_, row)| row.trim_matches('|').trim()).collect();
    // A table of results; any other compares or lists things that were not done.
    if !rows.is_empty() {
        let is_result = matches!(find_cue(lead), Some((Cue::Outcome, 2..))) || lists_work(lead);
        return if is_result { read_rows(&rows) } else { Vec::new() };
    }
    let mut items = parts
        .sentences
        .iter()
        .skip(index + 1)
        .take_while(|sentence| sentence.shape == SentenceShape::Item)
        .filter(|sentence| begins_item(sentence.raw))
        .peekable();
    let indent = items.peek().map_or(0, |first| first.indent);
    let mut found: Vec<(&str, Option<&str>)> = Vec::new();
    for item in items {
        let is_full = found.len() >= ITEMS_MAX;
        match found.last_mut().filter(|_| item.indent > indent) {
            Some((_, detail)) => *detail = detail.or(Some(item.raw)),
            None if is_full => break,
            None => found.push((item.raw, None)),
        }
    }
    let read = |(raw, detail)| (raw, ListItem::read(raw).with_detail(detail));
    found.into_iter().map(read).collect()
}

/// The headings of the things that a sentence announces: numbered ones, or as many as it says. "Two things are left."
pub(crate) fn find_announced_headings<'a>(
    parts: &MessageParts<'a>,
    index: usize,
    lead: &str,
) -> Option<Vec<(&'a str, ListItem)>> {
    let announced = count_announced(lead)?;
    let level = |raw: &str| raw.chars().take_while(|c| matches!(c, '#' | '*')).count();
    let later = parts.sentences.get(index + 1..)?;
    // Below a heading, those of its own part.
    let own = parts.sentences.get(index).filter(|own| own.raw.trim_start().starts_with('#'));
    let own_level = own.map_or(0, |own| level(own.raw));
    let mut headings: Vec<(&str, ListItem)> = Vec::new();
    let mut first_level = None;
    for (at, one) in later.iter().enumerate() {
        let of_one = level(one.raw);
        if one.shape != SentenceShape::Heading || of_one == 0 {
            continue;
        }
        if of_one <= own_level {
            break;
        }
        if *first_level.get_or_insert(of_one) != of_one {
            continue;
        }
        // The number of a heading is a sentence of its own.
        let rest = later.get(at + 1).filter(|rest| rest.shape == SentenceShape::Heading);
        let item = match rest.filter(|_| !one.plain.contains(char::is_alphabetic)) {
            Some(rest) => (rest.raw, format!("{} {}", one.plain, rest.plain)),
            None => (one.raw, one.plain.clone()),
        };
        let text = cut_item(trim_item(&item.1));
        headings.push((item.0, ListItem::from_text(text)));
    }
    let numbered = |number: usize| {
        let digits = number.to_string();
        headings.iter().find(|(_, item)| {
            item.text
                .split(|c: char| !c.is_ascii_digit())
                .find(|part| !part.is_empty())
                .is_some_and(|part| part == digits)
        })
    };
    let in_order: Option<Vec<(&str, ListItem)>> =
        (1..=announced).map(|number| numbered(number).cloned()).collect();
    in_order.or_else(|| (headings.len() == announced).then_some(headings))
}

/// Whether a text is only a name: of a file or in code, possibly with a remark in parentheses.
fn is_name_only(text: &str) -> bool {
    let bare = text.split_once(" (").map_or(text, |(name, _)| name).trim_end_matches([':', ' ']);
    let is_code = bare.len() > 2 && bare.starts_with('`') && bare.ends_with('`');
    is_code && bare.matches('`').count() == 2
}

/// The code below a sentence, if it is one line: a path or a command.
fn find_code_line<'a>(parts: &MessageParts<'a>, index: usize) -> Option<&'a str> {
    let mut lines = parts.code.iter().filter(|(before, _)| *before == index + 1);
    let (_, line) = lines.next()?;
    let is_short = line.chars().count() <= ITEM_CHARS_MAX && !line.contains('`');
    (is_short && lines.next().is_none()).then_some(line)
}

/// Whether a lead introduces work that is to be done.
pub(crate) fn lists_work(lead: &str) -> bool {
    #[rustfmt::skip]
    const LEADS: [&str; 8] = [
        "actionable", "action items", "remaining", "next steps", "to do", "todo", "open items",
        "still open",
    ];
    begins_with_any(lead, &LEADS)
}

/// The rows of a table: the column with the most words among those whose cells all differ, after what each row
/// is about, if its first cell names that.
fn read_rows<'a>(rows: &[&'a str]) -> Vec<(&'a str, ListItem)> {
    /// A longer first cell is a text of its own.
    const SUBJECT_WORDS_MAX: usize = 4;
    let table: Vec<Vec<&str>> =
        rows.iter().map(|row| row.split('|').map(str::trim).collect()).collect();
    let columns = table.iter().map(Vec::len).min().unwrap_or(0);
    let cells = |column: usize| table.iter().filter_map(move |row| row.get(column).copied());
    let is_distinct = |column: usize| {
        let texts: BTreeSet<String> = cells(column).map(plain_text).collect();
        texts.len() == rows.len()
    };
    let has_texts = |column: &usize| cells(*column).any(|cell| count_words(cell) > 1);
    let words = |column: &usize| cells(*column).map(count_words).sum::<usize>();
    let best = (0..columns).filter(|column| is_distinct(*column) && has_texts(column));
    let Some(best) = best.max_by_key(words) else { return Vec::new() };
    let names_subject = |cell: &str| {
        cell.chars().any(char::is_alphabetic) && count_words(cell) <= SUBJECT_WORDS_MAX
    };
    let has_subjects = best > 0 && is_distinct(0) && cells(0).all(names_subject);
    let pairs = rows.iter().zip(cells(0).zip(cells(best)));
    if has_subjects {
        pairs.map(|(row, (subject, cell))| (*row, ListItem::of_subject(subject, cell))).collect()
    } else {
        pairs.map(|(_, (_, cell))| (cell, ListItem::read(cell))).collect()
    }
}

/// Removes "Here's a summary of" before a list: "Here's a summary of what was fixed:" is "Fixed:".
fn strip_announcement(lead: &str) -> String {
    const STARTS: [&str; 4] = ["here's", "here is", "here’s", "here are"];
    const KINDS: [&str; 6] =
        ["summary of ", "overview of ", "breakdown of ", "recap of ", "list of ", "status of "];
    let announces = begins_with_any(lead, &STARTS);
    let rest = KINDS.iter().find_map(|kind| Some(lead.split_once(kind)?.1));
    let Some(rest) = rest.filter(|_| announces) else { return lead.to_owned() };
    let done = ["what was ", "what i ", "what we ", "what has been ", "what "]
        .iter()
        .find_map(|start| rest.strip_prefix(start));
    capitalize(done.unwrap_or(rest))
}

/// Whether a sentence begins an item; an item may have several.
fn begins_item(raw: &str) -> bool {
    let bare = raw.trim_start();
    bare.starts_with(['-', '*', '•', '·'])
        || bare.starts_with(|c: char| c.is_ascii_digit())
            && bare.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(['.', ')'])
}

const ITEM_CHARS_MAX: usize = 96;

fn cut_item(text: &str) -> String {
    if text.chars().nth(ITEM_CHARS_MAX).is_some() {
        cut_clause(text, ITEM_CHARS_MAX)
    } else {
        text.to_owned()
    }
}

/// An item without the mark at its end, and without the words that lead over to a list below it.
fn trim_item(text: &str) -> &str {
    let ends = ['.', ':', ';', ',', '。', '：', ' '];
    let mut bare = text.trim_end_matches(ends);
    while text.trim_end().ends_with([':', '：'])
        && let Some((rest, last)) = bare.rsplit_once(' ')
        && is_dangling(last)
    {
        bare = rest.trim_end_matches(ends);
    }
    bare
}

/// The subject of an item: its words in bold or before a dash or colon, or its first clauses.
fn item_head(raw: &str) -> String {
    let bold = raw.split_once("**").and_then(|(_, rest)| rest.split_once("**"));
    let counts = |bold: &str| bold.starts_with(|c: char| c.is_ascii_digit());
    let is_head = |bold: &str| count_words(bold) >= 3 || count_words(bold) == 2 && counts(bold);
    if let Some((bold, _)) = bold.filter(|(bold, _)| is_head(bold)) {
        let bold = plain_text(bold);
        return cut_clause(bold.trim_end_matches(['.', ':']), ITEM_CHARS_MAX);
    }
    let text = plain_text(raw);
    let cut = [" — ", " – ", " - ", ": "].iter().filter_map(|mark| text.find(mark)).min();
    // A single word is a subject if it is a name in code.
    let head = cut
        .and_then(|at| text.get(..at))
        .filter(|head| count_words(head) >= 2 || head.starts_with('`') && head.ends_with('`'));
    cut_clause(trim_item(head.unwrap_or(&text)), ITEM_CHARS_MAX)
}

/// Removes openings such as "Done." or "Done —" if a sentence follows them.
fn strip_opening(text: &str) -> String {
    let mut rest = text;
    for _ in 0..3 {
        let mut openings = OPENINGS.iter().filter(|word| may_begin_with(rest, word));
        let cut = openings.find_map(|word| {
            let after = strip_prefix_ignoring_case(rest, word)?;
            let bare = after.trim_start_matches([' ', '.', ',', '!', '-', '–', '—', ':']);
            let ended = after.starts_with(['.', ',', '!', ':'])
                || after.starts_with(" —")
                || after.starts_with(" - ")
                || after.starts_with(" –");
            let tie = matches!(*word, "because" | "so" | "and" | "but" | "then");
            ((ended || tie && after.starts_with(' ')) && count_words(bare) >= 3).then_some(bare)
        });
        match cut {
            Some(cut) => rest = cut,
            None => break,
        }
    }
    capitalize(rest)
}

#[cfg(test)]
mod tests {
    use super::{SURE, end_lead};
    use crate::extract::answers::answer::{find_conclusion, find_statement};
    use crate::extract::language::prose::split_message;

    fn concluded(answer: &str, chars_max: usize) -> String {
        let parts = split_message(answer);
        let found = find_conclusion(&parts, "", false).filter(|found| found.score >= SURE);
        let found = found.or_else(|| find_statement(&parts, false));
        found.map(|found| found.render(chars_max)).unwrap_or_default()
    }

    #[test]
    fn a_judgment_is_the_conclusion() {
        let one = "## Review\n\n**Verdict: APPROVE** ✓\n\nThe change renames `Parser` because it was ambiguous.";
        assert_eq!(concluded(one, 200), "Verdict: APPROVE");
        let two = "### Retry loop\n\n**Verdict: safe.**\n\nIt ends.\n\n### Cache\n\n**Verdict: grows without limit.**";
        assert_eq!(concluded(two, 200), "Retry loop: safe; Cache: grows without limit");
    }

    #[test]
    fn a_list_is_shown_in_whole_items() {
        let answer = "Done. All 4 comments have been addressed:\n\n- **2 fixed** (in `a.rs`, which is committed and pushed to the branch, see there)\n- **1 dismissed as wrong** (the reviewer misread the code that already handles the empty list)\n- **1 left open**";
        assert_eq!(
            concluded(answer, 200),
            "All 4 comments have been addressed: 2 fixed; 1 dismissed as wrong; 1 left open"
        );
        assert_eq!(concluded(answer, 60), "All 4 comments have been addressed: 2 fixed (+2)");
        let nested = "Modified `load()` to:\n1. Check that the file exists\n2. If it does not, show an overview with:\n   - its name\n   - a hint";
        assert_eq!(
            concluded(nested, 200),
            "Modified `load()` to: Check that the file exists; If it does not, show an overview"
        );
    }

    #[test]
    fn a_row_of_a_table_is_told_with_its_subject() {
        let answer = "Updated in live code and docs:\n\n| File | Replaced |\n|---|---|\n| `CLAUDE.md` | 2 (old → new) |\n| `run.sh` | 1 (help text) |\n";
        assert_eq!(
            concluded(answer, 200),
            "Updated in live code and docs: `CLAUDE.md`: 2 (old → new); `run.sh`: 1 (help text)"
        );
        let numbered = "All three are fixed:\n\n| # | Fix |\n|---|---|\n| 1 | Guard against equal names |\n| 2 | Tests run in parallel |\n";
        assert_eq!(
            concluded(numbered, 200),
            "All three are fixed: Guard against equal names; Tests run in parallel"
        );
    }

    #[test]
    fn an_item_that_is_only_a_name_is_told_with_what_was_done_to_it() {
        let answer = "The changes are:\n\n- `load_rows` (line 12)\n  - Reads the file in chunks of one megabyte\n- `save_rows`: keeps the old file until the new one is complete, so that a crash in the middle loses nothing at all\n";
        assert_eq!(
            concluded(answer, 240),
            "The changes are: `load_rows` (line 12): Reads the file in chunks of one megabyte; `save_rows`: keeps the old file until the new one is complete…"
        );
    }

    #[test]
    fn a_colon_does_not_lead_to_another_sentence() {
        let answer = "The deploy fails at these lines:\n\n```\nreplicas: 3\nimage: web\n```\n\nThree replicas stay in `config.yml` for now, because the old value is still in use.";
        assert_eq!(
            concluded(answer, 200),
            "Three replicas stay in `config.yml` for now, because the old value is still in use."
        );
    }

    #[test]
    fn a_colon_leads_to_a_line_of_code_or_an_item() {
        for (answer, expected) in [
            (
                "The release build of the app is done, it lies at:\n\n```\nout/app-1.2.apk\n```",
                "The release build of the app is done, it lies at: `out/app-1.2.apk`",
            ),
            (
                "The upload only failed for this reason:\n\n- the bucket has no write policy",
                "The upload only failed for this reason: the bucket has no write policy",
            ),
        ] {
            assert_eq!(concluded(answer, 200), expected);
        }
        for (lead, expected) in [
            (
                "I've fixed the scaling of the time header:",
                "I've fixed the scaling of the time header.",
            ),
            ("Here's the query for the new table:", "Here's the query for the new table…"),
            ("已修复：", "已修复。"),
            ("It works.", "It works."),
        ] {
            assert_eq!(end_lead(lead), expected);
        }
    }

    #[test]
    fn an_answer_without_a_conclusion_is_told_by_its_first_sentence() {
        for (answer, expected) in [
            ("No, `load` has no tests currently.", "No, `load` has no tests currently."),
            ("Committed and pushed. Ready for the comments.", "Committed and pushed."),
            ("Good question. What do you prefer?", ""),
            ("Sure! Let me know if you need more.", ""),
        ] {
            assert_eq!(concluded(answer, 200), expected);
        }
    }
}
