//! The contents tools: from the table of contents down to the recorded text.
//!
//! Agents read these instead of the history, so answers are small and state their size. Each is
//! capped at about `ANSWER_BYTES_MAX` and says how to continue.

mod events;
mod render;

use serde_json::{Value, json};
use tome_model::{Agent, GripId, Level, NodeId};
use tome_text::estimate_tokens;

use super::ToolAnswer;
use super::answer::{Result, ToolError, insert_field, truncate_bytes};
use super::args::ToolArgs;
use super::call::ToolInvocation;
use render::{TITLE_BYTES_MAX, entry_json, render_bullet_time, render_entry, render_tree};
use tome_contents::{
    Contents, ContentsEntry, ContentsListing, ContentsQuery, Depth, LocatedNode, PageRequest,
};

pub(super) use render::render_minute;

pub(super) use events::{
    expand_grip, get_events, join_event_texts, render_cited, render_events, render_expanded_grip,
    render_numbered,
};

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

pub(super) fn get_toc_root(call: &ToolInvocation<'_>, args: &mut ToolArgs) -> Result<ToolAnswer> {
    args.reject_unknown()?;
    let (contents, project) = resolve_project(call)?;
    let mut listing =
        contents.list_root(&contents_query(project, Depth::Recent, ROOT_BELOW_MAX))?;
    drop_segments(&mut listing.entries);
    if listing.entries.is_empty() {
        return Ok(empty_answer("Nothing has been recorded for this project yet.", "entries"));
    }
    let mut lines = vec!["Contents, latest last; open one with get_node:".to_owned()];
    render_tree(&listing.entries, 0, &mut lines);
    let entries: Vec<Value> = listing.entries.iter().map(entry_json).collect();
    Ok(finish_answer(lines, json!({ "entries": entries })))
}

pub(super) fn get_node(call: &ToolInvocation<'_>, args: &mut ToolArgs) -> Result<ToolAnswer> {
    let id = args.require_text(&["node_id", "id"])?;
    let version = args.take_count(&["version"], u32::MAX as usize)?;
    args.reject_unknown()?;
    let (contents, project) = resolve_project(call)?;
    let version = version.and_then(|version| u32::try_from(version).ok());
    let found = contents.find_node(&id, version, project.as_deref())?;
    let mut lines = Vec::new();
    let nodes: Vec<Value> =
        found.iter().map(|found| render_node(found, Citations::Grips, &mut lines)).collect();
    match <[Value; 1]>::try_from(nodes) {
        Ok([only]) => Ok(finish_answer(lines, only)),
        Err(nodes) => Ok(finish_answer(lines, json!({ "nodes": nodes }))),
    }
}

/// How the lines of a node cite their evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Citations {
    /// The excerpts, for expand_grip.
    Grips,
    /// The numbers of the events, in half of the text.
    Numbers,
}

/// Appends a node to `lines` and returns it as JSON.
pub(super) fn render_node(
    located: &LocatedNode,
    citations: Citations,
    lines: &mut Vec<String>,
) -> Value {
    let LocatedNode { project, node, parent, children, title_numbers, evidence } = located;
    let period = node.id.period();
    let title = truncate_bytes(&node.title, TITLE_BYTES_MAX);
    let open = if node.open { ", still open" } else { "" };
    let name = period.map(|period| period.title()).unwrap_or_default();
    lines.push(format!("{} ({name}{open})", node.id));
    lines.push(format!("{title}{}", render_numbers(title_numbers)));
    let mut bullets = Vec::new();
    for (bullet, evidence) in node.bullets.iter().zip(evidence) {
        let text = truncate_bytes(&bullet.text, BULLET_BYTES_MAX);
        let grips: Vec<&str> = bullet.grips.iter().map(GripId::as_str).collect();
        let at = evidence.at.and_then(|at| render_bullet_time(node.id.level(), at));
        let at = at.map(|at| format!("{at} ")).unwrap_or_default();
        let mark = if bullet.unsupported { " (unsupported)" } else { "" };
        let changed = evidence
            .later_change
            .map(|change| format!(" (files changed again in #{})", change.number))
            .unwrap_or_default();
        let cited = match citations {
            Citations::Grips if grips.is_empty() => String::new(),
            Citations::Grips => format!(" [{}]", grips.join(" ")),
            Citations::Numbers => render_numbers(&evidence.numbers),
        };
        lines.push(format!("- {at}{text}{mark}{changed}{cited}"));
        let mut listed = json!({ "text": text, "grips": grips });
        if let Some(at) = evidence.at {
            insert_field(&mut listed, "at", render_minute(at).into());
        }
        if let Some(change) = evidence.later_change {
            insert_field(&mut listed, "changed_by", change.number.into());
        }
        if bullet.unsupported {
            insert_field(&mut listed, "unsupported", true.into());
        }
        bullets.push(listed);
    }
    lines.push(format!("Keywords: {}", node.keywords.join(", ")));
    let (first, last) = (render_minute(node.first_at), render_minute(node.last_at));
    let agents: Vec<&str> = node.agents.iter().map(Agent::as_str).collect();
    lines.push(format!(
        "{} events, {} tokens, {first} to {last}, sessions: {} ({})",
        node.events,
        node.tokens,
        node.session_count,
        agents.join(", ")
    ));
    let shown = render_children(children, lines);
    json!({
        "id": node.id, "project": project, "period": name, "title": title, "bullets": bullets,
        "keywords": node.keywords, "children": shown, "children_total": children.len(),
        "parent": parent, "open": node.open, "version": node.version, "events": node.events,
        "event_tokens": node.tokens, "from": node.first_at, "to": node.last_at, "agents": agents,
    })
}

fn render_numbers(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(|number| format!("#{number}")).collect();
    if numbers.is_empty() { String::new() } else { format!(" [{}]", numbers.join(" ")) }
}

fn render_children(children: &[ContentsEntry], lines: &mut Vec<String>) -> Vec<Value> {
    let hidden = children.len().saturating_sub(CHILDREN_MAX);
    let shown: Vec<&ContentsEntry> = children.iter().skip(hidden).collect();
    if !shown.is_empty() {
        lines.push("Children:".to_owned());
    }
    if hidden > 0 {
        lines.push(format!("({hidden} earlier: use browse_toc)"));
    }
    lines.extend(shown.iter().map(|entry| render_entry(entry, 0)));
    shown.into_iter().map(entry_json).collect()
}

pub(super) fn browse_toc(call: &ToolInvocation<'_>, args: &mut ToolArgs) -> Result<ToolAnswer> {
    let id = args.take_text(&["node_id", "parent_id"])?.filter(|id| !id.trim().is_empty());
    let time = args.take_text(&["time"])?.filter(|time| !time.trim().is_empty());
    let entries_max = args.take_count(&["limit"], PAGE_NODES_MAX)?.unwrap_or(PAGE_NODES);
    let after = args.take_text(&["continuation"])?.filter(|after| !after.is_empty());
    args.reject_unknown()?;
    if id.is_some() && time.is_some() {
        return Err(ToolError::invalid("give either node_id or time, not both"));
    }
    let (contents, project) = resolve_project(call)?;
    let after = after.map(|after| NodeId::parse(&after)).transpose();
    let after = after.map_err(|_| ToolError::invalid("continuation is not from browse_toc"))?;
    let ask = contents_query(project, Depth::Levels(1), usize::MAX);
    let listing = match (&id, &time) {
        (Some(id), _) => {
            contents.list_below(&contents.resolve_node_id(id, ask.project.as_deref())?, &ask)?
        }
        (_, Some(time)) => contents.list_time(time, &ask)?,
        _ => contents.list_root(&ask)?,
    };
    let (listing, next) =
        listing.into_page(&PageRequest { newest_first: false, after, entries_max });
    Ok(render_listing(&listing, next.as_ref()))
}

fn render_listing(listing: &ContentsListing, next: Option<&NodeId>) -> ToolAnswer {
    let mut lines: Vec<String> =
        listing.interpreted_as.iter().map(|time| format!("{time}:")).collect();
    if listing.entries.is_empty() {
        lines.push("Nothing was recorded then.".to_owned());
    }
    lines.extend(listing.entries.iter().map(|entry| render_entry(entry, 0)));
    if let Some(next) = next {
        lines.push(format!("More: call again with continuation {next}"));
    }
    let entries: Vec<Value> = listing.entries.iter().map(entry_json).collect();
    let mut json = json!({ "entries": entries, "continuation": next });
    if let Some(time) = &listing.interpreted_as {
        insert_field(&mut json, "time", time.clone().into());
    }
    finish_answer(lines, json)
}

/// Returns the contents and the caller's project; without a working directory, all projects.
fn resolve_project<'c>(call: &ToolInvocation<'c>) -> Result<(&'c Contents, Option<String>)> {
    let contents = call.contents()?;
    let Some(cwd) = call.cwd() else { return Ok((contents, None)) };
    // An unknown folder is a project without contents, not all projects.
    let root = contents.stores().projects().resolve_project_or_guess(cwd, None);
    Ok((contents, Some(root)))
}

fn contents_query(project: Option<String>, depth: Depth, below_max: usize) -> ContentsQuery {
    ContentsQuery { project, agents: Vec::new(), depth, below_max }
}

fn drop_segments(entries: &mut [ContentsEntry]) {
    for entry in entries {
        entry.entries.retain(|below| below.id.level() != Level::Segment);
        drop_segments(&mut entry.entries);
    }
}

fn empty_answer(message: &str, field: &'static str) -> ToolAnswer {
    finish_answer(vec![message.to_owned()], json!({ field: [] }))
}

/// Truncates the lines to the size limit and states the size.
fn finish_answer(lines: Vec<String>, mut json: Value) -> ToolAnswer {
    let total = lines.len();
    let (mut text, mut shown) = (String::new(), 0);
    for line in lines {
        if text.len() + line.len() > ANSWER_BYTES_MAX && shown > 0 {
            break;
        }
        text.push_str(&truncate_bytes(&line, ANSWER_BYTES_MAX));
        text.push('\n');
        shown += 1;
    }
    if shown < total {
        text.push_str(&format!("({} more lines omitted)\n", total - shown));
    }
    let tokens = estimate_tokens(&text);
    text.push_str(&format!("(about {tokens} tokens)"));
    insert_field(&mut json, "tokens", tokens.into());
    ToolAnswer::from_text(text, json)
}
