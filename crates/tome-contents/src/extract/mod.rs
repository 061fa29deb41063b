//! The built-in summarizer: extractive, deterministic, without a model. It separates prose from
//! code and logs and assembles the result from fixed phrases.
//!
//! Guarantees: the same events give the same summary; a bullet states what its verbatim excerpts
//! state; a huge text costs no more than its head and tail.

mod ask;
mod bullets;
mod called;
mod clause;
mod commands;
mod courtesy;
mod cues;
mod deeds;
mod files;
mod keywords;
mod prose;
mod rollup;
mod story;
mod text;
mod title;
mod trouble;
mod words;

use tome_model::{Event, EventKind};

use self::files::Touch;
use self::keywords::Keywords;
use self::story::{Story, Who};
use self::words::{Sort, base_name};
use super::{RollupInput, SegmentInput, Summarizer, Summary, SummaryError};

/// The built-in extractive summarizer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extractive;

impl Summarizer for Extractive {
    fn name(&self) -> &'static str {
        "extractive"
    }

    fn segment(&self, input: &SegmentInput<'_>) -> Result<Summary, SummaryError> {
        let story = story::story(input.events);
        Ok(Summary {
            title: title::title(&story, input.events, input.overlap),
            bullets: bullets::bullets(&story, input.events),
            keywords: keywords_of(&story, input.events),
        })
    }

    fn rollup(&self, input: &RollupInput<'_>) -> Result<Summary, SummaryError> {
        Ok(rollup::rollup(input))
    }
}

/// Requests and changed files weigh most, then messages, commands and files read.
fn keywords_of(story: &Story<'_>, events: &[Event]) -> Vec<String> {
    let mut keywords = Keywords::default();
    for ask in &story.asks {
        keywords.count(&ask.text, 3);
        if let Some(trouble) = ask.trouble {
            keywords.count(trouble, 2);
        }
    }
    for file in &story.files {
        let worth = if file.touch == Touch::Read { 1 } else { 3 + file.times.min(4) };
        keywords.add(base_name(file.path), Sort::File, worth, true);
    }
    for said in &story.said {
        let worth = match (said.who, said.filler) {
            (Who::Person, _) | (_, true) => 1,
            (_, false) => 2,
        };
        keywords.count(&said.text, worth);
    }
    for line in story.ran.iter().filter_map(|ran| ran.line) {
        keywords.count(line, 1);
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
        events
            .iter()
            .take(50)
            .for_each(|event| keywords.count(text::truncated_pair(&event.text, 2_000)[0], 1));
    }
    keywords.take()
}
