//! Prints what the built-in summarizer makes of sessions, for looking at with one's own eyes:
//! `cargo run -p tome-engine --example contents_of -- [--excerpts] [--full] session.jsonl …`
//!
//! Reads JSON lines of events (as `tome ingest` does) or transcripts of Claude Code. Segments are
//! cut roughly: a gap of 30 minutes, or about 4,000 tokens, a tool's answer counting for at most
//! 250 of them unless `--full` is given.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a viewing aid for a person at a terminal"
)]

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tome_contents::{Extractive, RollupInput, SegmentInput, Summarizer, Summary, Support};
use tome_model::{Bullet, Event, EventLine, Level, Millis, Node, NodeId, Tool};

const GAP_MS: u64 = 30 * 60 * 1000;
const TOKENS_MAX: usize = 4_000;

fn main() {
    let (flags, paths): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    let full = flags.iter().any(|flag| flag == "--full");
    let excerpts = flags.iter().any(|flag| flag == "--excerpts");
    let mut days = Vec::new();
    for path in &paths {
        let events = events_of(&std::fs::read_to_string(path).unwrap());
        println!("\n=== {path}: {} events", events.len());
        let mut segments = Vec::new();
        let mut before: &[Event] = &[];
        for stretch in stretches(&events, full) {
            let tail = before.get(before.len().saturating_sub(3)..).unwrap_or_default();
            let summary = Extractive
                .summarize_segment(&SegmentInput { events: stretch, overlap: tail })
                .unwrap();
            show(&summary, stretch, excerpts);
            segments.push(node(&summary, stretch.len(), tokens(stretch, full)));
            before = stretch;
        }
        if segments.len() > 1 {
            days.push(period(Level::Day, path, &segments));
        } else {
            days.extend(segments);
        }
    }
    if days.len() > 1 {
        period(Level::Week, "all of it", &days);
    }
}

fn period(level: Level, name: &str, children: &[Node]) -> Node {
    let summary =
        Extractive.summarize_period(&RollupInput { level, period: name, children }).unwrap();
    println!("\n--- {level:?} of {} nodes", children.len());
    show(&summary, &[], false);
    let events = children.iter().map(|child| child.events).sum();
    let tokens = children.iter().map(|child| child.tokens).sum();
    Node { events, tokens, ..node(&summary, 0, 0) }
}

fn show(summary: &Summary, events: &[Event], excerpts: bool) {
    let at = events.first().map(|event| event.at.to_string()).unwrap_or_default();
    println!("\n# {}    [{} events {at}]", summary.title, events.len());
    for bullet in &summary.bullets {
        println!("  - {}", bullet.text);
        if let (Support::Excerpts(of), true) = (&bullet.support, excerpts) {
            of.iter().for_each(|one| println!("      {}: {:?}", one.event, one.excerpt));
        }
    }
    println!("  [{}]", summary.keywords.join(", "));
}

fn stretches(events: &[Event], full: bool) -> Vec<&[Event]> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut held = 0;
    for (at, event) in events.iter().enumerate() {
        let cost = tokens(std::slice::from_ref(event), full);
        let gap = at > start && event.at.distance_ms(events.get(at - 1).unwrap().at) > GAP_MS;
        if at > start && (gap || held + cost > TOKENS_MAX) {
            found.extend(events.get(start..at));
            start = at;
            held = 0;
        }
        held += cost;
    }
    found.extend(events.get(start..));
    found
}

fn tokens(events: &[Event], full: bool) -> usize {
    let tool = |tool: &Tool| {
        let size = tool.input.to_string().len() + tool.output.to_string().len();
        if full { size } else { size.min(1000) }
    };
    events.iter().map(|event| (event.text.len() + event.tool.as_ref().map_or(0, tool)) / 4).sum()
}

fn node(summary: &Summary, events: usize, tokens: usize) -> Node {
    let id: NodeId = NodeId::parse("toc:segment:2026-01-01:00000000000000000000000000").unwrap();
    let bullets = summary.bullets.iter().map(|one| Bullet {
        text: one.text.clone(),
        grips: Vec::new(),
        unsupported: false,
    });
    Node {
        id,
        version: 1,
        open: false,
        title: summary.title.clone(),
        bullets: bullets.collect(),
        keywords: summary.keywords.clone(),
        children: Vec::new(),
        first_at: Millis(0),
        last_at: Millis(0),
        events: events.try_into().unwrap(),
        tokens: tokens.try_into().unwrap(),
        agents: Vec::new(),
        sessions: Vec::new(),
        session_count: 1,
        source: None,
        summarizer: Extractive.name().to_owned(),
        made_at: Millis(0),
    }
}

fn events_of(text: &str) -> Vec<Event> {
    let mut calls = BTreeMap::new();
    let mut lines = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match EventLine::parse(line) {
            Ok(line) => lines.push(line),
            Err(_) => transcript_line(
                &serde_json::from_str(line).unwrap_or_default(),
                &mut calls,
                &mut lines,
            ),
        }
    }
    lines.into_iter().filter_map(event).collect()
}

fn event(line: EventLine) -> Option<Event> {
    let draft = line.into_draft().ok()?;
    Some(Event {
        id: draft.identity.event_id(0),
        at: draft.at,
        arrived: draft.at,
        session: draft.session,
        agent: draft.agent,
        project: draft.cwd.clone(),
        cwd: draft.cwd,
        kind: draft.kind,
        role: draft.role,
        text: draft.text,
        tool: draft.tool,
        meta: draft.meta,
    })
}

/// One line of a transcript of Claude Code: a message, the calls it makes, or their answers.
fn transcript_line(
    line: &Value,
    calls: &mut BTreeMap<String, (String, Value)>,
    lines: &mut Vec<EventLine>,
) {
    let role = line.get("type").and_then(Value::as_str).unwrap_or_default();
    let flagged = |name: &str| line.get(name).and_then(Value::as_bool) == Some(true);
    let Some(at) = line.get("timestamp").and_then(Value::as_str) else { return };
    if !matches!(role, "user" | "assistant") || flagged("isSidechain") || flagged("isMeta") {
        return;
    }
    let mut push = |kind: &str, text: &str, tool: Option<Tool>, failed: bool| {
        let meta =
            if failed { Map::from_iter([("failed".to_owned(), json!(true))]) } else { Map::new() };
        lines.push(EventLine {
            at: Millis::parse("at", at).unwrap_or_default(),
            session_id: "seen".to_owned(),
            agent: "claude-code".to_owned(),
            cwd: "/seen".to_owned(),
            kind: kind.to_owned(),
            text: text.to_owned(),
            tool,
            meta,
            ..EventLine::default()
        });
    };
    let said = if role == "user" { "user_message" } else { "assistant_message" };
    match line.pointer("/message/content") {
        Some(Value::String(text)) => push(said, text, None, false),
        Some(Value::Array(blocks)) => {
            for block in blocks {
                let word = |name: &str| {
                    block.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
                };
                match word("type").as_str() {
                    "text" if !word("text").trim().is_empty() => {
                        push(said, &word("text"), None, false);
                    }
                    "tool_use" => {
                        calls.insert(
                            word("id"),
                            (word("name"), block.get("input").cloned().unwrap_or_default()),
                        );
                    }
                    "tool_result" => {
                        let (name, input) = calls.remove(&word("tool_use_id")).unwrap_or_default();
                        let output = block.get("content").cloned().unwrap_or_default();
                        let failed = block.get("is_error").and_then(Value::as_bool) == Some(true);
                        push("tool_result", "", Some(Tool { name, input, output }), failed);
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}
