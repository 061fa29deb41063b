//! The built-in summarizer: extractive, deterministic, without a model. It reads the turns of a
//! segment, collects their facts, and writes pages from them in fixed phrases.
//!
//! In order of reading: `prose` separates the words of a message from code and logs; `request`,
//! `answer` and `reaction` find what was asked, answered and objected; `tool_call`, `outcome`,
//! `commands`, `commits` and `files` read tool calls; `turn` puts these together. From turns, `facts`
//! collects statements and `overturned` drops what did not hold; `title`, `bullets`, `period_page` and
//! `session` write pages. How a call ended is decided in `outcome`, how each command of a chain ended in
//! `commands`; `failures` finds the line that explains it.
//!
//! Guarantees: the same events give the same summary; a statement says what its verbatim excerpts
//! say; a huge text costs no more than its head and tail.

mod answer;
mod answer_score;
mod bullets;
mod call_line;
mod cause;
mod chain;
mod changed_files;
mod checks;
mod choices;
mod clause;
mod command_context;
mod command_name;
mod commands;
mod commit_message;
mod commits;
mod courtesy;
mod cues;
mod draft_activity;
mod draft_fact;
mod facts;
mod failures;
mod fallback_title;
mod files;
mod keywords;
mod outcome;
mod overturned;
mod passage;
mod period_page;
mod plan;
mod problems;
mod prompt_facts;
mod prose;
mod reaction;
mod request;
mod request_score;
mod reverted;
mod session;
mod similarity;
mod statement;
mod terms;
mod text;
mod title;
mod tool_call;
mod turn;
mod unfinished;
mod verdict;
mod work;

use tome_model::{Event, EventKind, FactKind, FileAction};

use self::changed_files::changed_files;
use self::facts::{PromptsAround, SegmentFacts};
use self::keywords::KeywordCounter;
use self::terms::{TermKind, base_name};
use super::{
    RollupInput, SegmentInput, Summarizer, Summary, SummaryError, SummaryFact, SummaryWork, Support,
};

pub use call_line::shorten_path;
pub use commit_message::CommitMessage;
pub(crate) use draft_activity::read_activity;
pub use files::list_edited_files;
pub use outcome::ToolOutcome;
pub use passage::{find_answer, is_narration, states_cause};
pub use prose::prompt_text;
pub use reaction::skip_acknowledgment;
pub use session::FileChange;
pub(crate) use session::{SessionFacts, read_session};
pub(crate) use title::{names_request, weigh_session_title};
pub use tool_call::{ToolCall, read_tool_call};
pub use turn::{cut_turns, is_prompt, is_task_list_tool};
pub use work::{find_work_outcome, find_work_title};

/// The built-in extractive summarizer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extractive;

impl Summarizer for Extractive {
    fn name(&self) -> &'static str {
        "extractive"
    }

    fn summarize_segment(&self, input: &SegmentInput<'_>) -> Result<Summary, SummaryError> {
        let mut found = facts::collect_facts(
            input.events,
            PromptsAround {
                earlier_request: input.earlier_request,
                next_prompt: input.next_prompt,
            },
        );
        if input.is_followed {
            found.facts.retain(|fact| fact.kind != FactKind::Open);
        }
        let title = found.facts.iter().find(|fact| fact.kind == FactKind::Title);
        Ok(Summary {
            title: title.map_or_else(
                || fallback_title::title_from_kinds(input.events).to_owned(),
                |title| title.text.clone(),
            ),
            bullets: bullets::build_bullets(&found.facts),
            keywords: collect_keywords(&found, input.events),
            work: build_work(found, input.events).into_iter().collect(),
        })
    }

    fn summarize_period(&self, input: &RollupInput<'_>) -> Result<Summary, SummaryError> {
        Ok(period_page::summarize_period(input))
    }
}

/// Finds the standing instructions and preferences in a prompt, verbatim.
pub(crate) fn find_instructions(prompt: &str) -> Vec<String> {
    let parts = prose::split_message(prompt);
    if parts.is_pasted() {
        return Vec::new();
    }
    let sentences = parts.sentences.into_iter().map(|sentence| sentence.plain);
    sentences.filter(|sentence| reaction::is_instruction(sentence)).collect()
}

/// The work of a segment; none if nothing was found in it.
fn build_work(segment: SegmentFacts<'_>, events: &[Event]) -> Option<SummaryWork> {
    let session = events.first()?.session.clone();
    let has_facts = !segment.facts.is_empty();
    let commits = segment.facts.iter().filter(|fact| fact.kind == FactKind::Commit).count() as u64;
    let changes = changed_files(&segment.turns).len() as u64;
    let turns = segment.turns.iter().filter(|turn| turn.prompt.is_some()).count() as u64;
    let facts = segment.facts.into_iter().filter_map(|fact| {
        Some(SummaryFact {
            kind: fact.kind,
            text: fact.text,
            at: events.get(fact.event)?.at,
            weight: fact.weight,
            support: Support::Excerpts(fact.evidence),
        })
    });
    has_facts.then(|| SummaryWork {
        branch: segment.branch.map(str::to_owned),
        sessions: vec![session],
        turns,
        commits,
        weight: (events.len() as u64).min(400) + turns * 4 + changes * 6 + commits * 20,
        facts: facts.collect(),
    })
}

/// Requests, commits and changed files weigh most, then answers and files read.
fn collect_keywords(segment: &SegmentFacts<'_>, events: &[Event]) -> Vec<String> {
    let mut keywords = KeywordCounter::default();
    for turn in &segment.turns {
        if let Some(request) = &turn.request {
            keywords.count_text(&request.text, 3);
            if let Some(failure) = request.failure {
                keywords.count_text(failure, 2);
            }
        }
        for file in &turn.files {
            let is_read = file.action == FileAction::Read;
            let worth = if is_read { 1 } else { 3 + file.times.min(4) };
            keywords.add_term(base_name(file.path), TermKind::File, worth, true);
        }
        for commit in &turn.commits {
            keywords.count_text(commit.subject, 3);
        }
    }
    for fact in &segment.facts {
        let worth = match fact.kind {
            FactKind::Outcome | FactKind::Decision => 2,
            _ => 1,
        };
        keywords.count_text(&fact.text, worth);
    }
    for turn in &segment.turns {
        if let Some((_, answer)) = turn.final_answer(events) {
            text::first_and_last_bytes(answer, 2_000)
                .iter()
                .for_each(|part| keywords.count_text(part, 1));
        }
        for line in turn.runs.iter().filter_map(|run| run.line) {
            keywords.count_text(line, 1);
        }
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
