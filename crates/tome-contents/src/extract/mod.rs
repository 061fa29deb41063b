//! The built-in summarizer: extractive, deterministic, without a model. It reads the turns of a
//! segment, collects their facts, and writes pages from them in fixed phrases.
//!
//! In order of reading: `language` separates the words of a message from code and logs; `commands`, `git` and
//! `files` read tool calls; `turns` finds requests and objections, and combines them with the tool calls;
//! `answers` finds conclusions. From turns, `facts` collects statements and drops those that were overturned;
//! `pages` chooses titles and writes bullets. How a call ended is decided in `commands::outcome`, how each command of a
//! chain ended in `commands::command_run`; `commands::failures` finds the line that explains it.
//!
//! Guarantees: the same events give the same summary; a statement claims no more than its
//! verbatim excerpts; a huge message costs no more than its head and tail, and a huge edit no more than its
//! first lines.

mod answers;
mod calls;
mod commands;
mod facts;
mod files;
mod git;
mod language;
mod pages;
mod turns;

use tome_model::{Event, EventKind, FactKind, FileAction};

pub(crate) use self::facts::segment_facts::FINISHED;
use self::facts::segment_facts::{SegmentFacts, collect_facts};
use self::language::keywords::KeywordCounter;
use self::language::prose::{ProseSentence, SentenceShape, split_message};
use self::language::terms::{TermKind, base_name};
use self::language::text::first_and_last_bytes;
use self::pages::bullets::build_bullets;
use self::pages::fallback_title::title_from_kinds;
use self::pages::period_page;
use self::pages::segment_title::add_titles;
use self::turns::changed_files::changed_files;
use self::turns::rule::{is_instruction, skip_lead_in};
use super::{
    RollupInput, SegmentInput, Summarizer, Summary, SummaryError, SummaryFact, SummaryWork, Support,
};

pub use self::answers::passage::{ends_with_announcement, find_answer, is_narration, states_cause};
pub use self::calls::call_line::shorten_path;
pub use self::calls::tool_call::{ToolCallSummary, read_tool_call};
pub(crate) use self::commands::deletions::find_deletions;
pub use self::commands::outcome::ToolOutcome;
pub(crate) use self::commands::packages::find_packages;
pub(crate) use self::commands::renames::find_renames;
pub use self::facts::contradiction::{ClaimDistance, Contradiction, StatedClaims};
pub use self::facts::overturned::{Correction, PromptReply, find_correction};
pub(crate) use self::facts::pull_facts::PullState;
pub(crate) use self::facts::result_score::has_objection;
pub use self::files::file_tool::{FileTool, PATH_FIELDS, tool_base_name};
pub use self::files::touched_files::list_edited_files;
pub use self::git::commit_message::CommitMessage;
pub use self::git::undone::list_commits;
pub use self::language::orders::is_order;
pub use self::language::pasted::looks_pasted;
pub use self::language::prose::prompt_text;
pub(crate) use self::language::similarity::TermSet;
pub(crate) use self::pages::draft_activity::read_activity;
pub(crate) use self::pages::segment_title::{changes_subject, names_request};
pub use self::pages::session::FileChange;
pub(crate) use self::pages::session::{SessionFacts, read_session};
pub(crate) use self::pages::undone_commits::{FactPlace, find_undone_facts};
pub use self::pages::work::{
    find_work_outcome, find_work_title, names_whole_work, stands_alone, strip_own_request,
    strip_request,
};
pub use self::turns::prompt::is_prompt;
pub use self::turns::reaction::skip_acknowledgment;
pub use self::turns::request::describe_prompt;
pub(crate) use self::turns::rule::lifts_rule;
pub(crate) use self::turns::turn::{continues_turn, find_changed_paths};
pub use self::turns::turn::{cut_turns, is_task_list_tool};

/// The built-in extractive summarizer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extractive;

impl Summarizer for Extractive {
    fn name(&self) -> &'static str {
        "extractive"
    }

    fn summarize_segment(&self, input: &SegmentInput<'_>) -> Result<Summary, SummaryError> {
        let mut found = collect_facts(input.events, input.next_prompt, input.breaks_turn);
        add_titles(&mut found, input.events, input.earlier_request);
        if input.is_followed {
            found.facts.retain(|fact| fact.kind != FactKind::Open);
        }
        let title = found.facts.iter().find(|fact| fact.kind == FactKind::Title);
        Ok(Summary {
            title: title.map_or_else(
                || title_from_kinds(input.events).to_owned(),
                |title| title.text.clone(),
            ),
            bullets: build_bullets(&found.facts),
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
    const HEADINGS_MIN: usize = 3;
    const TAGS_MIN: usize = 2;
    let parts = split_message(prompt);
    let is_heading = |sentence: &&ProseSentence<'_>| sentence.shape == SentenceShape::Heading;
    // A plan or the template of a command is written for its own task.
    let is_document = parts.sentences.iter().filter(is_heading).count() >= HEADINGS_MIN
        || prompt.matches("</").count() >= TAGS_MIN
        || prompt_text(prompt).lines().any(|line| line.trim_start().starts_with("</"));
    if parts.is_pasted() || is_document {
        return Vec::new();
    }
    // A quotation is not the user's rule.
    let quotes: Vec<&str> =
        prompt.lines().filter(|line| line.trim_start().starts_with('>')).collect();
    let is_quoted = |raw: &str| quotes.iter().any(|line| line.contains(raw));
    parts
        .sentences
        .into_iter()
        .filter(|sentence| !is_quoted(sentence.raw))
        .map(|sentence| skip_lead_in(&sentence.plain).to_owned())
        .filter(|sentence| is_instruction(sentence))
        .collect()
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
            first_and_last_bytes(answer, 2_000)
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
            keywords.count_text(first_and_last_bytes(&event.text, 2_000)[0], 1);
        });
    }
    keywords.into_keywords()
}
