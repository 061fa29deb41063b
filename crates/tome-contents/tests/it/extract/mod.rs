//! The built-in summarizer, on sample sessions and arbitrary input.

mod answers;
mod arbitrary_events;
mod edge_cases;
mod facts;
mod overturned;
mod periods;
mod plans;
mod result_rules;
mod samples;
mod titles;

use serde_json::Value;
use tome_contents::{Extractive, SegmentInput, Summarizer, Summary, Support};
use tome_model::{Event, EventLine};

/// The event of a line, as the ledger would return it.
pub fn event(line: EventLine) -> Event {
    let draft = line.into_draft().unwrap();
    Event {
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
    }
}

pub fn events(lines: &str) -> Vec<Event> {
    lines.lines().map(|line| event(EventLine::parse(line).unwrap())).collect()
}

pub fn summarize(events: &[Event]) -> Summary {
    Extractive.summarize_segment(&SegmentInput { events, ..SegmentInput::default() }).unwrap()
}

pub fn rendered(summary: &Summary) -> String {
    let mut out = format!("# {}\n", summary.title);
    for bullet in &summary.bullets {
        out += &format!("- {}\n", bullet.text);
        match &bullet.support {
            Support::Excerpts(of) => {
                of.iter().for_each(|one| out += &format!("    {} {:?}\n", one.event, one.excerpt));
            }
            Support::Bullets(of) => out += &format!("    {of:?}\n"),
            Support::Grips(of) => out += &format!("    {of:?}\n"),
        }
    }
    out + &format!("[{}]\n", summary.keywords.join(", "))
}

/// Invariants of every summary of a segment.
pub fn check(summary: &Summary, events: &[Event]) {
    assert!(!summary.title.trim().is_empty(), "a title is not empty");
    assert!(summary.title.chars().count() <= 120, "{:?} is too long", summary.title);
    assert!(!summary.title.contains('\n') && !summary.title.contains("; "));
    assert!(summary.bullets.len() <= 7 && summary.keywords.len() <= 7);
    for bullet in &summary.bullets {
        assert!(bullet.text.chars().count() <= 320, "{:?} is too long", bullet.text);
        assert!(!bullet.text.contains('\n') && !bullet.text.trim().is_empty());
        let Support::Excerpts(excerpts) = &bullet.support else { panic!("a segment has excerpts") };
        assert!(!excerpts.is_empty(), "{:?} has no evidence", bullet.text);
        for one in excerpts {
            assert!(one.excerpt.chars().count() <= 200 && !one.excerpt.is_empty());
            let event_texts = texts(&events[one.event]);
            assert!(
                event_texts.iter().any(|text| text.contains(&one.excerpt)),
                "{:?} is not verbatim",
                one.excerpt
            );
        }
    }
    let mut once = summary.keywords.clone();
    once.dedup();
    assert_eq!(once, summary.keywords);
}

/// All texts of an event: its own, and the strings of its tool's input and output.
fn texts(event: &Event) -> Vec<String> {
    let mut found = vec![event.text.clone()];
    if let Some(tool) = &event.tool {
        strings(&tool.input, &mut found);
        strings(&tool.output, &mut found);
    }
    found
}

fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(map) => map.values().for_each(|item| strings(item, found)),
        _ => {}
    }
}
