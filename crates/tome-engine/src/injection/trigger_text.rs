//! Texts of triggers: lessons for a plan, the request to store at a stop, the overview reminder.
//! `triggers::texts` has the wording; this module adds the marks.

use super::compose::{InjectionText, TextFrame, compose};
use super::section::{TextBlock, TextSection};
use super::token_budget::TokenBudget;
use crate::lessons::RecalledLesson;

/// Token budget of the lessons for a plan.
pub const PLAN_TOKENS_MAX: u64 = 900;

/// Lessons for a plan, followed by `request`; `None` without lessons.
pub fn render_plan_lessons(
    lessons: &[RecalledLesson],
    request: &str,
    budget: TokenBudget,
) -> Option<InjectionText> {
    if lessons.is_empty() {
        return None;
    }
    let section = TextSection {
        name: "Lessons that may apply to this plan",
        about: "Stored in earlier work; check that the situation is the same.".to_owned(),
        blocks: lessons.iter().map(lesson_block).collect(),
        noun: ("lesson", "lessons"),
        rest: "recall_memory with scope coder",
        quoted: None,
        share: 100,
    };
    let below = vec![String::new(), request.to_owned()];
    compose(&TextFrame { kind: "plan", above: Vec::new(), below }, &[section], budget)
}

fn lesson_block(lesson: &RecalledLesson) -> TextBlock {
    let citation = format!("coder/{}#L{}", lesson.path, lesson.line);
    let head = format!("### {} ({}) [{citation}]", lesson.title, lesson.kind.as_str());
    let text = lesson.text.trim_start();
    // The stored entry begins with its own heading.
    let body = match text.split_once('\n') {
        Some((first, rest)) if first.starts_with('#') => rest,
        _ => text,
    };
    TextBlock::from_text(&head, body, format!("memory_read {} with scope coder", lesson.path))
}

/// Puts a short text of Tome's own, such as a request to store, between the marks.
pub fn render_short_injection(
    kind: &'static str,
    text: &str,
    budget: TokenBudget,
) -> Option<InjectionText> {
    let frame = TextFrame { kind, above: vec![text.to_owned()], below: Vec::new() };
    compose(&frame, &[], budget)
}
