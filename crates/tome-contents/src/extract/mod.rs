//! The built-in summarizer: extractive, deterministic, without a model. It separates prose from
//! code and logs and assembles the result from fixed phrases.
//!
//! Guarantees: the same events give the same summary; a bullet states what its verbatim excerpts
//! state; a huge text costs no more than its head and tail.

mod actions;
mod bullets;
mod clause;
mod command_name;
mod commands;
mod courtesy;
mod cues;
mod digest;
mod failures;
mod files;
mod keywords;
mod prose;
mod request;
mod rollup;
mod terms;
mod text;
mod title;

use tome_model::{Event, EventKind};

use self::digest::{SegmentDigest, StatementAuthor};
use self::files::FileTouchKind;
use self::keywords::KeywordCounter;
use self::terms::{TermKind, base_name};
use super::{RollupInput, SegmentInput, Summarizer, Summary, SummaryError};

/// The built-in extractive summarizer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extractive;

impl Summarizer for Extractive {
    fn name(&self) -> &'static str {
        "extractive"
    }

    fn summarize_segment(&self, input: &SegmentInput<'_>) -> Result<Summary, SummaryError> {
        let story = digest::build_digest(input.events);
        Ok(Summary {
            title: title::build_title(&story, input.events, input.overlap),
            bullets: bullets::build_bullets(&story, input.events),
            keywords: collect_keywords(&story, input.events),
        })
    }

    fn summarize_period(&self, input: &RollupInput<'_>) -> Result<Summary, SummaryError> {
        Ok(rollup::summarize_period(input))
    }
}

/// Requests and changed files weigh most, then messages, commands and files read.
fn collect_keywords(story: &SegmentDigest<'_>, events: &[Event]) -> Vec<String> {
    let mut keywords = KeywordCounter::default();
    for ask in &story.requests {
        keywords.count_text(&ask.text, 3);
        if let Some(trouble) = ask.failure {
            keywords.count_text(trouble, 2);
        }
    }
    for file in &story.files {
        let worth = if file.action == FileTouchKind::Read { 1 } else { 3 + file.times.min(4) };
        keywords.add_term(base_name(file.path), TermKind::File, worth, true);
    }
    for said in &story.statements {
        let worth = match (said.who, said.filler) {
            (StatementAuthor::User, _) | (_, true) => 1,
            (_, false) => 2,
        };
        keywords.count_text(&said.text, worth);
    }
    for line in story.runs.iter().filter_map(|ran| ran.line) {
        keywords.count_text(line, 1);
    }
    let spoken = events.iter().any(|event| {
        matches!(
            event.kind,
            EventKind::UserMessage
                | EventKind::AssistantMessage
                | EventKind::AssistantStop
                | EventKind::ToolResult
        )
    });
    if !spoken {
        events.iter().take(50).for_each(|event| {
            keywords.count_text(text::first_and_last_bytes(&event.text, 2_000)[0], 1);
        });
    }
    keywords.into_keywords()
}
