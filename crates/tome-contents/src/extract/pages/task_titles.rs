//! Titles from names that the agent gave its own work: steps of its list of tasks, the heading of a document
//! that it wrote, and the headings of its answers.

use std::collections::HashSet;

use serde_json::Value;
use tome_model::{Event, Tool};
use tome_text::count_words;

use crate::extract::answers::informative::{is_generic_sentence, is_shouted, says_what};
use crate::extract::commands::outcome::read_outcome;
use crate::extract::facts::draft_fact::{DraftFact, build_evidence};
use crate::extract::git::commit_subject::is_chore;
use crate::extract::language::clause::{capitalize, is_long_title};
use crate::extract::language::matter::names_matter;
use crate::extract::language::pasted::looks_pasted;
use crate::extract::language::prose::SentenceShape;
use crate::extract::language::similarity::TermSet;
use crate::extract::language::text::{find_text_field, plain_text, to_lower};
use crate::extract::pages::title_candidates::TurnTerms;
use crate::extract::pages::title_text::{build_title, is_part, strip_summary_label};
use crate::extract::pages::title_weight::FROM_TASK;
use crate::extract::turns::finished_steps::is_routine;
use crate::extract::turns::turn::Turn;

/// A name with fewer terms does not distinguish one piece of work from another.
const TERMS_MIN: usize = 3;
/// Percentage of its terms that prompts, conclusions and changed files have.
const NAMED_PERCENT_MIN: usize = 60;
/// Names of one segment that are compared.
const NAMES_MAX: usize = 60;
/// Headings of one answer that are compared.
const HEADINGS_MAX: usize = 4;
/// Pairs of characters of a heading in a script without spaces.
const WIDE_TERMS_MIN: usize = 8;
/// Lines of a document before its heading.
const HEADING_LINES_MAX: usize = 12;

/// Chooses the name that the turns of a segment use most.
pub(crate) fn title_from_tasks(
    turns: &[Turn<'_>],
    events: &[Event],
    terms: &TurnTerms,
) -> Option<DraftFact> {
    // "/explore" and an address say nothing that a name could repeat.
    let requests = || turns.iter().filter_map(|turn| turn.request.as_ref());
    let is_said = requests().any(|request| names_matter(&request.text));
    let mut best: Option<(usize, usize, &str)> = None;
    for (at, raw) in collect_names(turns, events) {
        // The heading of an answer may be that of a detail.
        let is_heading = events.get(at).is_some_and(|event| event.tool.is_none());
        let percent_min = match (is_said, is_heading) {
            (true, _) => NAMED_PERCENT_MIN,
            (false, true) => NAMED_PERCENT_MIN / 2,
            (false, false) => 0,
        };
        let text = plain_text(raw);
        let of_name: Vec<String> = TermSet::from_text(&text).into_terms().collect();
        let is_name = of_name.len() >= TERMS_MIN && names_work(&text);
        // Each term counts once, however many turns have it.
        let named = terms.count_known(&of_name) * 100 / of_name.len().max(1);
        let score = named + terms.compare(&text, None).turns.min(3) * 10;
        let is_better = best.is_none_or(|(most, ..)| score > most);
        if is_name && named >= percent_min && is_better {
            best = Some((score, at, raw));
        }
    }
    let (_, at, raw) = best?;
    let text = plain_text(raw);
    let text = capitalize(strip_summary_label(&text).trim_end_matches(['.', '。']));
    build_title(&text, FROM_TASK, vec![build_evidence(at, raw)])
}

/// Whether a name describes the subject of the work, and not a step of it.
fn names_work(text: &str) -> bool {
    (3..=16).contains(&count_words(text))
        && !is_long_title(text)
        && !is_routine(text)
        && !is_chore(text)
        && !is_generic_sentence(text)
        && !is_shouted(text)
        && !looks_pasted(text)
        && !text.ends_with([':', '：', '?', '？'])
        && says_what(text)
        && names_matter(text)
}

/// Whether a heading names a subject, and is no report: "Errors fixed!", "Items marked complete".
fn is_subject(heading: &str) -> bool {
    #[rustfmt::skip]
    const REPORTS: [&str; 12] = [
        "complete", "completed", "done", "fixed", "marked", "found", "responding", "success", "working", "ready", "now",
        "online",
    ];
    let lower = to_lower(heading);
    let reports = lower.split(|c: char| !c.is_alphanumeric()).any(|word| REPORTS.contains(&word));
    let is_wide = heading.chars().any(tome_text::is_han_or_kana);
    let says = !is_wide || TermSet::from_text(heading).len() >= WIDE_TERMS_MIN;
    !reports
        && says
        && !is_part(heading)
        && !heading.trim_end_matches(['*', ' ']).ends_with(['!', '！'])
}

/// The names in order of time, each once, with the events that hold them.
fn collect_names<'e>(turns: &[Turn<'e>], events: &'e [Event]) -> Vec<(usize, &'e str)> {
    let mut names: Vec<(usize, &str)> = Vec::new();
    let mut known: HashSet<&str> = HashSet::new();
    for turn in turns.iter().filter(|turn| !turn.is_overturned) {
        for at in turn.events.clone() {
            let Some(event) = events.get(at).filter(|event| !event.is_from_subagent()) else {
                continue;
            };
            let Some(tool) = &event.tool else { continue };
            let read = read_names(tool);
            if read.is_empty() || read_outcome(event, tool).has_passed() == Some(false) {
                continue;
            }
            names.extend(read.into_iter().filter(|name| known.insert(name)).map(|name| (at, name)));
        }
        if let Some((at, _)) = turn.final_answer(events) {
            let headings = turn.answer_parts.sentences.iter();
            let headings = headings.filter(|one| one.shape == SentenceShape::Heading);
            let headings = headings.take(HEADINGS_MAX).map(|heading| heading.raw);
            let fresh = headings.filter(|raw| is_subject(raw) && known.insert(raw));
            names.extend(fresh.map(|raw| (at, raw)));
        }
        if names.len() > NAMES_MAX {
            break;
        }
    }
    names.truncate(NAMES_MAX);
    names
}

/// The names in one call.
fn read_names(tool: &Tool) -> Vec<&str> {
    let input = &tool.input;
    let list = |key: &str, names: &[&str]| -> Vec<&str> {
        let steps = input.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        // A planned step may never have been carried out.
        let is_planned = |step: &&Value| {
            let status = step.get("status").and_then(Value::as_str);
            matches!(status, Some("pending" | "cancelled" | "canceled"))
        };
        let steps = steps.iter().filter(|step| !is_planned(step));
        steps.filter_map(|step| find_text_field(step, names)).collect()
    };
    match tool.name.as_str() {
        "TodoWrite" | "todowrite" | "todo_write" => list("todos", &["content"]),
        "write_todos" => list("todos", &["description", "content"]),
        "update_plan" => list("plan", &["step"]),
        "TaskCreate" => find_text_field(input, &["subject"]).into_iter().collect(),
        "Task" | "Agent" | "task" => find_text_field(input, &["description"]).into_iter().collect(),
        _ => find_document_heading(input).into_iter().collect(),
    }
}

/// The heading of a Markdown file that a call wrote.
fn find_document_heading(input: &Value) -> Option<&str> {
    let path = find_text_field(input, &["file_path", "filePath", "path"])?;
    let text =
        find_text_field(input, &["content", "file_text"]).filter(|_| path.ends_with(".md"))?;
    let heading = text.lines().take(HEADING_LINES_MAX).find_map(|line| line.strip_prefix("# "))?;
    Some(heading.trim())
}
