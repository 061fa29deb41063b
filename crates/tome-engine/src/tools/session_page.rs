//! The page of a session as a model reads it: turns from request to conclusion, facts with the
//! citations that open them, files, and how to continue it.

use serde_json::json;
use tome_contents::{SessionPage, SessionTurn};
use tome_model::FactKind;
use tome_text::{estimate_tokens, truncate_words};

use super::ToolAnswer;
use super::answer::truncate_bytes;
use super::contents::render_minute;

/// Bytes of a page, about 1,500 tokens.
const PAGE_BYTES_MAX: usize = 6_000;
/// Turns listed: the first ones show the subject, the last ones the outcome.
const FIRST_TURNS: usize = 3;
const LAST_TURNS: usize = 9;
/// Characters of a request, a conclusion and a fact.
const REQUEST_CHARS_MAX: usize = 140;
const CONCLUSION_CHARS_MAX: usize = 180;
const FACT_CHARS_MAX: usize = 200;
/// Facts of a kind; the latest.
const FACTS_MAX: usize = 8;
const FILES_MAX: usize = 10;

/// The kinds of facts on a page, in order.
const SECTIONS: [(FactKind, &str); 8] = [
    (FactKind::Open, "Open"),
    (FactKind::Decision, "Decisions"),
    (FactKind::Correction, "Corrections by the user"),
    (FactKind::Convention, "Rules from the user"),
    (FactKind::Problem, "Problems"),
    (FactKind::Commit, "Commits"),
    (FactKind::PullRequest, "Pull requests"),
    (FactKind::Issue, "Issues"),
];

pub(super) fn show_session_page(page: &SessionPage) -> ToolAnswer {
    let text = truncate_bytes(&render_page(page).join("\n"), PAGE_BYTES_MAX);
    let id = page.session.id.as_str();
    let json = json!({
        "citation": id, "text": text, "tokens": estimate_tokens(&text), "session": id,
        "project": page.session.project,
    });
    ToolAnswer::from_text(text, json)
}

fn render_page(page: &SessionPage) -> Vec<String> {
    let session = &page.session;
    let mut lines = vec![format!("session {}: {}", session.id, session.title)];
    let mut about = format!(
        "{}, {} to {}, {}",
        session.agent,
        render_minute(session.first_at),
        render_minute(session.last_at),
        session.project
    );
    for (name, value) in [("branch", &session.branch), ("worktree", &session.worktree)] {
        if let Some(value) = value {
            about.push_str(&format!(", {name} {value}"));
        }
    }
    lines.push(about);
    render_turns(page, &mut lines);
    for (kind, heading) in SECTIONS {
        let facts: Vec<_> = page.facts.iter().filter(|fact| fact.kind == kind).collect();
        let hidden = facts.len().saturating_sub(FACTS_MAX);
        if !facts.is_empty() {
            let earlier = if hidden > 0 { format!(" ({hidden} earlier)") } else { String::new() };
            lines.push(format!("{heading}{earlier}:"));
        }
        for fact in facts.into_iter().skip(hidden) {
            let text = truncate_words(&fact.text, FACT_CHARS_MAX);
            lines.push(format!("- {text}{}", render_citation(fact.number)));
        }
    }
    if !page.files.is_empty() {
        let files = page.files.iter().take(FILES_MAX).map(|file| {
            let path = file.path.strip_prefix(&format!("{}/", session.project));
            format!("{} ({})", path.unwrap_or(&file.path), file.action)
        });
        let files: Vec<String> = files.collect();
        let hidden = page.files.len().saturating_sub(FILES_MAX);
        let more = if hidden > 0 { format!(" and {hidden} more") } else { String::new() };
        lines.push(format!("Files: {}{more}", files.join(", ")));
    }
    lines.extend(session.resume_command().map(|command| format!("Continue it: {command}")));
    lines
}

fn render_turns(page: &SessionPage, lines: &mut Vec<String>) {
    let turns = &page.turns;
    let shown = FIRST_TURNS + LAST_TURNS;
    let hidden = turns.len().saturating_sub(shown);
    let cut = if page.is_truncated { ", the latest part of a very long session" } else { "" };
    lines.push(format!("Turns ({}{cut}):", turns.len()));
    for (number, turn) in (1..).zip(turns) {
        let is_hidden = hidden > 0 && number > FIRST_TURNS && number <= FIRST_TURNS + hidden;
        if !is_hidden {
            lines.push(render_turn(number, turn));
        } else if number == FIRST_TURNS + 1 {
            lines.push(format!("… {hidden} turns …"));
        }
    }
}

fn render_turn(number: usize, turn: &SessionTurn) -> String {
    let request = if turn.prompt.is_empty() {
        "(no prompt)".to_owned()
    } else {
        truncate_words(&turn.prompt, REQUEST_CHARS_MAX)
    };
    let mut line = format!("{number}. {request}{}", render_citation(turn.number));
    if turn.is_interrupted {
        line.push_str(" (stopped by the user)");
    }
    if let Some(conclusion) = &turn.conclusion {
        line.push_str(&format!(" → {}", truncate_words(conclusion, CONCLUSION_CHARS_MAX)));
    }
    line
}

fn render_citation(number: u64) -> String {
    if number > 0 { format!(" [#{number}]") } else { String::new() }
}
