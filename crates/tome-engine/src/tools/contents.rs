//! The contents tools: from the calendar down to the recorded text.
//!
//! Agents read these instead of the history, so answers are small and state their size. Each is
//! capped at about `ANSWER_BYTES_MAX` and says how to continue.

mod events;
mod lines;

use serde_json::{Value, json};
use tome_model::{Agent, GripId, Level, NodeId};
use tome_text::estimate_tokens;

use super::ToolAnswer;
use super::answer::{Refusal, bounded, put};
use super::args::Args;
use super::call::Call;
use lines::{TITLE_BYTES_MAX, entry_json, entry_line, minute, tree};
use tome_contents::{Ask, Calendar, Depth, Entries, EntriesPage, Entry, NodeInPlace};

pub(super) use events::{event_lines, expand_grip, expanded_lines, get_events};

type Result<T> = std::result::Result<T, Refusal>;

/// Bytes of an answer's lines, about 4,000 tokens.
const ANSWER_BYTES_MAX: usize = 16_000;

/// Entries per level in the root, which then has about forty lines.
const ROOT_BELOW_MAX: usize = 14;

/// Children listed with a node.
const CHILDREN_MAX: usize = 20;

/// Default and maximum nodes per page.
const PAGE_NODES: usize = 20;
const PAGE_NODES_MAX: usize = 100;

/// Bytes shown of a bullet; a model's may be longer than built-in ones.
const BULLET_BYTES_MAX: usize = 400;

pub(super) fn get_toc_root(call: &Call<'_>, args: &mut Args) -> Result<ToolAnswer> {
    args.finish()?;
    let (calendar, project) = place(call)?;
    let mut listing = calendar.root(&ask(project, Depth::Recent, ROOT_BELOW_MAX))?;
    without_segments(&mut listing.entries);
    if listing.entries.is_empty() {
        return Ok(empty("Nothing has been recorded for this project yet.", "entries"));
    }
    let mut lines = vec!["Contents, latest last; open one with get_node:".to_owned()];
    tree(&listing.entries, 0, &mut lines);
    let entries: Vec<Value> = listing.entries.iter().map(entry_json).collect();
    Ok(sized(lines, json!({ "entries": entries })))
}

pub(super) fn get_node(call: &Call<'_>, args: &mut Args) -> Result<ToolAnswer> {
    let id = args.need(&["node_id", "id"])?;
    let version = args.count(&["version"], u32::MAX as usize)?;
    args.finish()?;
    let (calendar, project) = place(call)?;
    let version = version.and_then(|version| u32::try_from(version).ok());
    let found = calendar.node(&id, version, project.as_deref())?;
    let mut lines = Vec::new();
    let nodes: Vec<Value> = found.iter().map(|found| node_lines(found, &mut lines)).collect();
    match <[Value; 1]>::try_from(nodes) {
        Ok([only]) => Ok(sized(lines, only)),
        Err(nodes) => Ok(sized(lines, json!({ "nodes": nodes }))),
    }
}

/// Appends a node to `lines` and returns it as JSON.
pub(super) fn node_lines(found: &NodeInPlace, lines: &mut Vec<String>) -> Value {
    let NodeInPlace { project, node, parent, children } = found;
    let period = node.id.period();
    let title = bounded(&node.title, TITLE_BYTES_MAX);
    let open = if node.open { ", still open" } else { "" };
    let name = period.map(|period| period.title()).unwrap_or_default();
    lines.push(format!("{} ({name}{open})", node.id));
    lines.push(title.clone());
    let mut bullets = Vec::new();
    for bullet in &node.bullets {
        let text = bounded(&bullet.text, BULLET_BYTES_MAX);
        let grips: Vec<&str> = bullet.grips.iter().map(GripId::as_str).collect();
        let mark = if bullet.unsupported { " (unsupported)" } else { "" };
        lines.push(format!("- {text}{mark} [{}]", grips.join(" ")));
        let mut listed = json!({ "text": text, "grips": grips });
        if bullet.unsupported {
            put(&mut listed, "unsupported", true.into());
        }
        bullets.push(listed);
    }
    lines.push(format!("Keywords: {}", node.keywords.join(", ")));
    let (first, last) = (minute(node.first_at), minute(node.last_at));
    let agents: Vec<&str> = node.agents.iter().map(Agent::as_str).collect();
    lines.push(format!(
        "{} events, {} tokens, {first} to {last}, sessions: {} ({})",
        node.events,
        node.tokens,
        node.session_count,
        agents.join(", ")
    ));
    let shown = below(children, lines);
    json!({
        "id": node.id, "project": project, "period": name, "title": title, "bullets": bullets,
        "keywords": node.keywords, "children": shown, "children_total": children.len(),
        "parent": parent, "open": node.open, "version": node.version, "events": node.events,
        "event_tokens": node.tokens, "from": node.first_at, "to": node.last_at, "agents": agents,
    })
}

fn below(children: &[Entry], lines: &mut Vec<String>) -> Vec<Value> {
    let hidden = children.len().saturating_sub(CHILDREN_MAX);
    let shown: Vec<&Entry> = children.iter().skip(hidden).collect();
    if !shown.is_empty() {
        lines.push("Children:".to_owned());
    }
    if hidden > 0 {
        lines.push(format!("({hidden} earlier: use browse_toc)"));
    }
    lines.extend(shown.iter().map(|entry| entry_line(entry, 0)));
    shown.into_iter().map(entry_json).collect()
}

pub(super) fn browse_toc(call: &Call<'_>, args: &mut Args) -> Result<ToolAnswer> {
    let id = args.text(&["node_id", "parent_id"])?.filter(|id| !id.trim().is_empty());
    let time = args.text(&["time"])?.filter(|time| !time.trim().is_empty());
    let entries_max = args.count(&["limit"], PAGE_NODES_MAX)?.unwrap_or(PAGE_NODES);
    let after = args.text(&["continuation"])?.filter(|after| !after.is_empty());
    args.finish()?;
    if id.is_some() && time.is_some() {
        return Err(Refusal::invalid("give either node_id or time, not both"));
    }
    let (calendar, project) = place(call)?;
    let after = after.map(|after| NodeId::parse(&after)).transpose();
    let after = after.map_err(|_| Refusal::invalid("continuation is not from browse_toc"))?;
    let ask = ask(project, Depth::Levels(1), usize::MAX);
    let listing = match (&id, &time) {
        (Some(id), _) => calendar.below(&calendar.node_id(id, ask.project.as_deref())?, &ask)?,
        (_, Some(time)) => calendar.at(time, &ask)?,
        _ => calendar.root(&ask)?,
    };
    let (listing, next) = listing.page(&EntriesPage { newest_first: false, after, entries_max });
    Ok(browsed(&listing, next.as_ref()))
}

fn browsed(listing: &Entries, next: Option<&NodeId>) -> ToolAnswer {
    let mut lines: Vec<String> = listing.said.iter().map(|said| format!("{said}:")).collect();
    if listing.entries.is_empty() {
        lines.push("Nothing was recorded then.".to_owned());
    }
    lines.extend(listing.entries.iter().map(|entry| entry_line(entry, 0)));
    if let Some(next) = next {
        lines.push(format!("More: call again with continuation {next}"));
    }
    let entries: Vec<Value> = listing.entries.iter().map(entry_json).collect();
    let mut json = json!({ "entries": entries, "continuation": next });
    if let Some(said) = &listing.said {
        put(&mut json, "time", said.clone().into());
    }
    sized(lines, json)
}

/// Returns the calendar and the caller's project; without a working directory, all projects.
fn place<'c>(call: &Call<'c>) -> Result<(&'c Calendar, Option<String>)> {
    let calendar = call.calendar()?;
    let Some(cwd) = call.cwd() else { return Ok((calendar, None)) };
    // An unknown folder is a project without contents, not all projects.
    let root = calendar.stores().projects().root_of(cwd, None);
    Ok((calendar, Some(root)))
}

fn ask(project: Option<String>, depth: Depth, below_max: usize) -> Ask {
    Ask { project, agents: Vec::new(), depth, below_max }
}

fn without_segments(entries: &mut [Entry]) {
    for entry in entries {
        entry.entries.retain(|below| below.id.level() != Level::Segment);
        without_segments(&mut entry.entries);
    }
}

fn empty(said: &str, field: &'static str) -> ToolAnswer {
    sized(vec![said.to_owned()], json!({ field: [] }))
}

/// Truncates the lines to the size limit and states the size.
fn sized(lines: Vec<String>, mut json: Value) -> ToolAnswer {
    let total = lines.len();
    let (mut text, mut shown) = (String::new(), 0);
    for line in lines {
        if text.len() + line.len() > ANSWER_BYTES_MAX && shown > 0 {
            break;
        }
        text.push_str(&bounded(&line, ANSWER_BYTES_MAX));
        text.push('\n');
        shown += 1;
    }
    if shown < total {
        text.push_str(&format!("({} more lines omitted)\n", total - shown));
    }
    let tokens = estimate_tokens(&text);
    text.push_str(&format!("(about {tokens} tokens)"));
    put(&mut json, "tokens", tokens.into());
    ToolAnswer::said(text, json)
}
