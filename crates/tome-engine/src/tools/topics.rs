//! The topic tools: what a project has been about, and the history of a file.

use std::sync::Arc;

use serde_json::{Value, json};
use tome_model::Millis;
use tome_text::estimate_tokens;
use tome_topics::{FileLookup, PageFact, ProblemState, Topic, TopicKind, TopicMap, TopicPage};

use super::answer::{Result, ToolError, insert_field, truncate_bytes};
use super::args::ToolArgs;
use super::call::ToolInvocation;
use super::{ToolAnswer, ToolFailure};
use crate::topics::path_in_project;

/// Topics in one answer.
const TOPICS_MAX: usize = 10;
/// Named topics of one kind in the list of all.
const NAMED_MAX: usize = 4;
/// Entries, sessions and files of a page in an answer.
const LINES_MAX: usize = 10;
/// Entries and files of a page in JSON; the totals beside them count all.
const JSON_LINES_MAX: usize = 40;
const LINE_BYTES_MAX: usize = 240;
/// The change to a file, or the fix of a problem.
const DETAIL_BYTES_MAX: usize = 100;

pub(super) fn topics(call: &ToolInvocation<'_>, args: &mut ToolArgs) -> Result<ToolAnswer> {
    let query = args.take_text(&["query"])?.filter(|query| !query.trim().is_empty());
    let id = args.take_text(&["id"])?.filter(|id| !id.trim().is_empty());
    args.reject_unknown()?;
    list_or_open(call, query, id)
}

/// The topics that match the query of `recall_memory` with scope topics; the most important without one.
pub(super) fn search_topics(call: &ToolInvocation<'_>, args: &mut ToolArgs) -> Result<ToolAnswer> {
    let query = args.take_text(&["query", "question"])?.filter(|query| !query.trim().is_empty());
    args.reject_unknown()?;
    list_or_open(call, query, None)
}

fn list_or_open(
    call: &ToolInvocation<'_>,
    query: Option<String>,
    id: Option<String>,
) -> Result<ToolAnswer> {
    let (map, _) = load_map(call)?;
    if let Some(id) = id {
        let page = map.page(&id).ok_or_else(|| {
            let id = truncate_bytes(&id, 120);
            ToolError::new(ToolFailure::NotFound, format!("no topic {id} in this project"))
                .with_hint(Some("Call topics without an id to list them.".to_owned()))
        })?;
        return Ok(answer_page(&page));
    }
    let topics = match &query {
        Some(query) => map.search(query, TOPICS_MAX),
        None => list_top(&map),
    };
    if topics.is_empty() {
        let message = match query {
            Some(query) => format!(
                "No topic matches {:?}; recall_memory searches everything that was said.",
                truncate_bytes(&query, 120)
            ),
            None => "Nothing has been recorded for this project yet.".to_owned(),
        };
        return Ok(ToolAnswer::from_text(message, json!({ "topics": [] })));
    }
    let mut lines: Vec<String> = topics.iter().map(render_topic).collect();
    let status = map.status();
    if query.is_none() && status.ungrouped > 0 {
        let (none, all) = (status.ungrouped, status.segments);
        lines
            .push(format!("{none} of {all} segments of work are in no topic of several segments."));
    }
    lines.push("Open one: topics with its id, or `tome topics show <id>`.".to_owned());
    let listed: Vec<Value> = topics.iter().map(topic_json).collect();
    let json = json!({
        "topics": listed, "segments": status.segments, "segments_in_no_topic": status.ungrouped,
    });
    Ok(finish(&lines, json))
}

pub(super) fn file_history(call: &ToolInvocation<'_>, args: &mut ToolArgs) -> Result<ToolAnswer> {
    let path = args.require_text(&["path", "file", "file_path"])?;
    args.reject_unknown()?;
    if path.trim().is_empty() {
        return Err(ToolError::invalid("path is empty: give the path of a file"));
    }
    let (map, root) = load_map(call)?;
    let relative = path_in_project(&path, call.cwd().unwrap_or(&root), &root);
    match map.file_page(&relative) {
        FileLookup::Found(page) => Ok(answer_page(&page)),
        FileLookup::OnlyRead(reads) => {
            let message =
                format!("{relative} was read in {reads} segments; no edit of it is recorded.");
            Ok(ToolAnswer::from_text(message, json!({ "path": relative, "reads": reads })))
        }
        FileLookup::Folder { id, files, files_total } => {
            let message = format!(
                "{} is a folder with {files_total} changed files",
                truncate_bytes(&relative, 200)
            );
            let open = id.map(|id| format!("call topics with the id {id}, or "));
            let open = open.unwrap_or_default();
            let hint = format!("To see more, {open}file_history with one of: {}", files.join(", "));
            Err(ToolError::new(ToolFailure::NotFound, message).with_hint(Some(hint)))
        }
        FileLookup::Several(paths) => Err(ToolError::invalid(format!(
            "several files are called {}: {}",
            truncate_bytes(&relative, 200),
            paths.join(", ")
        ))),
        FileLookup::Unknown(alike) => {
            let message = format!("no edit of {} is recorded", truncate_bytes(&relative, 200));
            let hint = (!alike.is_empty()).then(|| format!("Did you mean: {}", alike.join(", ")));
            Err(ToolError::new(ToolFailure::NotFound, message).with_hint(hint))
        }
    }
}

/// The topics of the caller's project, and its root.
fn load_map(call: &ToolInvocation<'_>) -> Result<(Arc<TopicMap>, String)> {
    let topics = call.topics()?;
    let cwd = call.cwd().ok_or_else(|| {
        ToolError::invalid("topics belong to a project: call from a working directory")
    })?;
    let root = call.contents()?.stores().projects().resolve_project_or_guess(cwd, None);
    Ok((topics.load(&root)?, root))
}

/// Groups first, then the files, branches and errors with the most work.
fn list_top(map: &TopicMap) -> Vec<Topic> {
    let mut found = map.top(TopicKind::Group, TOPICS_MAX);
    for kind in [TopicKind::File, TopicKind::Branch, TopicKind::Error] {
        // An error that occurred once is not a topic.
        let named = map.top(kind, NAMED_MAX).into_iter();
        found.extend(named.filter(|one| kind != TopicKind::Error || one.activity.segments > 1));
    }
    found
}

fn render_topic(topic: &Topic) -> String {
    let days = match topic.activity.days {
        1 => "1 day".to_owned(),
        days => format!("{days} days"),
    };
    let title = match topic.title.as_str() {
        "" => String::new(),
        title => format!(" — {title}"),
    };
    let label = if topic.kind == TopicKind::Group || topic.kind == TopicKind::Error {
        format!("{} {}", topic.id, topic.label)
    } else {
        topic.id.clone()
    };
    shorten(&format!("{label}{title}"), &format!(" ({days}, last {})", topic.activity.last_day))
}

fn answer_page(page: &TopicPage) -> ToolAnswer {
    let topic = &page.topic;
    let mut lines = vec![render_topic(topic)];
    if let Some(former) = &page.forwarded_from {
        lines.push(format!("({former} is {} now)", topic.id));
    }
    if !page.former_names.is_empty() {
        lines.push(format!("Former names: {}", page.former_names.join(", ")));
    }
    let mut section = |heading: &str, items: Vec<String>| {
        if !items.is_empty() {
            lines.push(format!("{heading}:"));
            lines.extend(items.into_iter().map(|line| format!("- {line}")));
        }
    };
    let cite = |fact: &PageFact| shorten(&fact.text, &format!(" [#{}]", fact.number));
    section("Decisions, latest first", page.decisions.iter().map(cite).collect());
    section(
        "Problems",
        page.problems.iter().map(|(fact, state)| render_problem(fact, *state)).collect(),
    );
    section(
        "Changes, latest first",
        page.entries
            .iter()
            .take(LINES_MAX)
            .map(|entry| {
                let detail = match entry.detail.as_str() {
                    "" => String::new(),
                    detail => format!(" ({})", truncate_bytes(detail, DETAIL_BYTES_MAX)),
                };
                let text = format!("{} {}: {}", day_of(entry.at), entry.agent, entry.why);
                shorten(&text, &format!("{detail} [#{}]", entry.number))
            })
            .collect(),
    );
    if page.entries.is_empty() {
        let sessions = page.sessions.iter().take(LINES_MAX).map(|session| {
            let text = format!("{} {}: {}", day_of(session.last_at), session.agent, session.title);
            shorten(&text, &format!(" [#{}]", session.number))
        });
        section("Sessions, latest first", sessions.collect());
    }
    section("Outcomes and corrections", page.statements.iter().map(cite).collect());
    let commits =
        if topic.kind == TopicKind::File { "Commits after these changes" } else { "Commits" };
    section(commits, page.commits.iter().map(cite).collect());
    let files = page.files.iter().take(LINES_MAX).map(|file| file.path.clone());
    section("Files", files.collect());
    let related = page.related.iter().map(|one| {
        let label = match one.topic.kind {
            TopicKind::Group => format!(" {}", one.topic.label),
            _ => String::new(),
        };
        format!("{}{label}: {}", one.topic.id, one.reason)
    });
    section("Related", related.collect());
    finish(&lines, page_json(page))
}

fn render_problem(fact: &PageFact, state: ProblemState) -> String {
    // How it ended is in the text, or known from later runs.
    let (text, told) = match fact.text.rsplit_once(" — ") {
        Some((text, told)) => (text, format!(" — {}", truncate_bytes(told, DETAIL_BYTES_MAX))),
        None => (fact.text.as_str(), String::new()),
    };
    let ended = match state {
        ProblemState::Fixed => format!("{told} [#{}]", fact.number),
        ProblemState::Open if told.contains("passed") => format!("{told} [#{}]", fact.number),
        ProblemState::PassedLater(passed) if told.contains("passed") => {
            format!("{told} [#{} #{passed}]", fact.number)
        }
        ProblemState::PassedLater(passed) => {
            format!("{told}; another run of it passed later [#{} #{passed}]", fact.number)
        }
        ProblemState::Open => format!("{told}; not seen to pass since [#{}]", fact.number),
    };
    shorten(text, &ended)
}

/// Cuts a text so that what follows it stays whole.
fn shorten(text: &str, end: &str) -> String {
    let room = LINE_BYTES_MAX.saturating_sub(end.len());
    format!("{}{end}", truncate_bytes(text, room))
}

fn day_of(at: Millis) -> String {
    let written = at.to_string();
    written.get(..10).unwrap_or(&written).to_owned()
}

fn topic_json(topic: &Topic) -> Value {
    json!({
        "id": topic.id, "kind": topic.kind.as_str(), "label": topic.label, "title": topic.title,
        "days": topic.activity.days, "first_day": topic.activity.first_day,
        "last_day": topic.activity.last_day, "segments": topic.activity.segments,
        "sessions": topic.activity.sessions, "agents": topic.activity.agents,
    })
}

fn page_json(page: &TopicPage) -> Value {
    let fact = |fact: &PageFact| json!({ "kind": fact.kind, "text": fact.text, "at": fact.at, "citation": cite_number(fact.number) });
    let entries: Vec<Value> = page
        .entries
        .iter()
        .take(JSON_LINES_MAX)
        .map(|entry| {
            json!({
                "at": entry.at, "agent": entry.agent, "session_id": entry.session, "why": entry.why,
                "detail": entry.detail, "citation": cite_number(entry.number),
            })
        })
        .collect();
    let problems: Vec<Value> = page
        .problems
        .iter()
        .map(|(problem, state)| {
            let mut shown = fact(problem);
            let state = match state {
                ProblemState::Fixed => "fixed",
                ProblemState::PassedLater(_) => "passed_later",
                ProblemState::Open => "open",
            };
            insert_field(&mut shown, "state", state.into());
            shown
        })
        .collect();
    let facts = |facts: &[PageFact]| facts.iter().map(fact).collect::<Vec<Value>>();
    let related: Vec<Value> = page
        .related
        .iter()
        .map(|one| json!({ "id": one.topic.id, "label": one.topic.label, "reason": one.reason }))
        .collect();
    let files: Vec<&str> =
        page.files.iter().take(JSON_LINES_MAX).map(|file| file.path.as_str()).collect();
    json!({
        "topic": topic_json(&page.topic), "former_names": page.former_names,
        "forwarded_from": page.forwarded_from, "entries": entries,
        "entries_total": page.entries.len(), "sessions_total": page.sessions.len(),
        "files_total": page.files.len(), "decisions": facts(&page.decisions),
        "problems": problems, "statements": facts(&page.statements), "commits": facts(&page.commits),
        "files": files, "related": related,
    })
}

fn cite_number(number: u64) -> String {
    format!("#{number}")
}

fn finish(lines: &[String], mut json: Value) -> ToolAnswer {
    let text = lines.join("\n");
    insert_field(&mut json, "tokens", estimate_tokens(&text).into());
    ToolAnswer::from_text(text, json)
}
