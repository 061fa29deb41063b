//! Counts the steps of Markdown lists, ignoring code blocks.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// The longest numbered list of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NumberedList {
    pub(super) steps: usize,
    /// Byte offset of its first line.
    pub(super) starts: usize,
    /// Whether its items are named steps: `Step 1:`.
    pub(super) called_steps: bool,
}

#[derive(Clone, Copy)]
struct ListRun {
    list: NumberedList,
    indent: usize,
    last: u32,
}

/// A line that begins with a number.
struct NumberedItem {
    number: u32,
    indent: usize,
    /// Headings and bold numbers form a separate list, with other items allowed in between.
    is_head: bool,
    called_step: bool,
}

/// Finds the longest list that counts up from 1 (or, as Markdown allows, repeats 1).
pub(super) fn find_numbered_list(text: &str) -> Option<NumberedList> {
    let mut runs: [Option<ListRun>; 2] = [None, None];
    let mut best: Option<NumberedList> = None;
    for (starts, line) in prose_lines(text) {
        let Some(item) = parse_item(line) else { continue };
        let [plain, heads] = &mut runs;
        let run = if item.is_head { heads } else { plain };
        *run = extend_run(*run, &item, starts);
        let steps = |list: Option<NumberedList>| list.map_or(0, |list| list.steps);
        let list = run.map(|run| run.list);
        if steps(list) > steps(best) {
            best = list;
        }
    }
    best
}

fn extend_run(run: Option<ListRun>, item: &NumberedItem, starts: usize) -> Option<ListRun> {
    let fresh = || {
        let list = NumberedList { steps: 1, starts, called_steps: item.called_step };
        (item.number == 1).then_some(ListRun { list, indent: item.indent, last: 1 })
    };
    let Some(mut run) = run else { return fresh() };
    if item.indent > run.indent {
        return Some(run); // A nested list.
    }
    let all_ones = run.last == 1 && item.number == 1;
    let next = item.number == run.last.saturating_add(1);
    if item.indent < run.indent || !(next || all_ones) {
        return fresh();
    }
    run.last = item.number;
    run.list.steps += 1;
    Some(run)
}

static PLAIN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^([ \t]*)(#{1,6}[ \t]+)?(\*\*|__)?(\d{1,3})(?:[.)](?:\*\*|__)?(?:\s|$)|[、．])")
        .ok()
});
static CALLED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) ^([\ \t]*) (?:[-*+][\ \t]+)? (\#{1,6}[\ \t]+)? (\*\*|__)?
          (?: step | phase | schritt | étape | paso | шаг | 步骤 | 步驟 | 第 | ステップ )
          [\ \t]* (\d{1,3}) (?: \D | $ )",
    )
    .ok()
});

fn parse_item(line: &str) -> Option<NumberedItem> {
    let with = |pattern: &LazyLock<Option<Regex>>, called_step: bool| {
        let found: Captures<'_> = pattern.as_ref()?.captures(line)?;
        Some(NumberedItem {
            number: found.get(4)?.as_str().parse().ok()?,
            indent: found.get(1)?.len(),
            is_head: called_step || found.get(2).or_else(|| found.get(3)).is_some(),
            called_step,
        })
    };
    with(&PLAIN, false).or_else(|| with(&CALLED, true))
}

/// The boxes of a checklist.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ChecklistCounts {
    pub(super) all: usize,
    pub(super) open: usize,
}

pub(super) fn count_checkboxes(text: &str) -> ChecklistCounts {
    let mut checks = ChecklistCounts::default();
    for (_, line) in prose_lines(text) {
        let line = line.trim_start();
        let after = line.strip_prefix(['-', '*', '+']).unwrap_or(line).trim_start();
        let Some((mark, _)) = after.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
            continue;
        };
        if mark.chars().count() == 1 {
            checks.all += 1;
            checks.open += usize::from(!matches!(mark, "x" | "X" | "✓"));
        }
    }
    checks
}

/// Counts top-level bullets.
pub(super) fn count_bullets(text: &str) -> usize {
    let is_bullet = |line: &str| ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark));
    prose_lines(text).filter(|(_, line)| is_bullet(line)).count()
}

/// Returns the lines outside code blocks with their byte offsets.
fn prose_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let (mut at, mut in_code) = (0, false);
    text.split_inclusive('\n').filter_map(move |line| {
        let starts = at;
        at += line.len();
        let is_fence = ["```", "~~~"].iter().any(|mark| line.trim_start().starts_with(mark));
        in_code ^= is_fence;
        (!is_fence && !in_code).then_some((starts, line))
    })
}
