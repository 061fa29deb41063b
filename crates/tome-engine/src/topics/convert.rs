//! From a stored segment to its record.

use tome_contents::{ActivityFact, TurnActivity, load_activity};
use tome_home::{HomeError, Store};
use tome_model::{CommandOutcome, FactKind, Node};
use tome_topics::{
    CommandRecord, DeletionRecord, ErrorRecord, FactRecord, FileRecord, MoveRecord, SegmentRecord,
    TurnRecord, defers_choice, find_second_thoughts, resolve_repository_path,
};

/// Characters of a segment's text that are embedded.
const TEXT_CHARS_MAX: usize = 2_000;
/// Statements kept of a segment.
const FACTS_MAX: usize = 40;

/// A record without its vector, and the text to embed.
pub(super) struct PendingRecord {
    pub(super) record: SegmentRecord,
    pub(super) text: String,
}

/// Builds the record of a segment; `None` if its events cannot be read or hold no work.
pub(super) fn build_record(
    store: &Store,
    project: &str,
    node: &Node,
) -> Result<Option<PendingRecord>, HomeError> {
    let (Some(session), Some(agent)) = (node.sessions.first(), node.agents.first()) else {
        return Ok(None);
    };
    let Some(activity) = load_activity(store, project, node)? else { return Ok(None) };
    let has_work = activity
        .turns
        .iter()
        .any(|turn| turn.title.is_some() || !turn.files.is_empty() || !turn.commands.is_empty());
    if !has_work && activity.facts.is_empty() {
        return Ok(None);
    }
    let turns = activity.turns.into_iter().map(|turn| build_turn(turn, project)).collect();
    let kept = activity.facts.into_iter().filter(is_kept).take(FACTS_MAX);
    let facts = kept.map(|fact| FactRecord {
        kind: fact.kind,
        text: fact.text,
        weight: fact.weight,
        number: fact.number,
        at: fact.at,
        turn: fact.turn,
    });
    let mut text = node.title.clone();
    for part in node.bullets.iter().map(|bullet| &bullet.text).chain(&node.keywords) {
        text.push('\n');
        text.push_str(part);
    }
    let record = SegmentRecord {
        id: node.id.clone(),
        session: session.clone(),
        agent: agent.clone(),
        first_at: node.first_at,
        last_at: node.last_at,
        number: activity.number,
        title: node.title.clone(),
        branch: activity.branch,
        continues: activity.continues,
        turns,
        facts: facts.collect(),
        terms: node.keywords.clone(),
        vector: Vec::new(),
    };
    let text = tome_text::first_chars(&text, TEXT_CHARS_MAX).to_owned();
    Ok(Some(PendingRecord { record, text }))
}

/// Whether pages show a statement.
fn is_kept(fact: &ActivityFact) -> bool {
    !(fact.kind == FactKind::Decision && defers_choice(&fact.text))
        && matches!(
            fact.kind,
            FactKind::Commit
                | FactKind::PullRequest
                | FactKind::Decision
                | FactKind::Problem
                | FactKind::Outcome
                | FactKind::Convention
                | FactKind::Correction
        )
}

fn build_turn(turn: TurnActivity, project: &str) -> TurnRecord {
    let relative = |path: &str| resolve_repository_path(path, &turn.cwd, project);
    let files = turn.files.iter().filter_map(|file| {
        Some(FileRecord {
            path: relative(&file.path)?,
            action: file.action,
            times: file.times,
            number: file.number,
        })
    });
    let moves = turn.moves.iter().filter_map(|one| {
        Some(MoveRecord {
            from: relative(&one.from)?,
            to: relative(&one.to)?,
            number: one.number,
            at: one.at,
        })
    });
    let deletions = turn.deletions.iter().filter_map(|one| {
        Some(DeletionRecord { path: relative(&one.path)?, number: one.number, at: one.at })
    });
    let errors = turn.commands.iter().filter_map(|run| {
        Some(ErrorRecord {
            text: run.message.clone()?,
            command: run.name.clone(),
            number: run.number,
        })
    });
    TurnRecord {
        number: turn.number,
        at: turn.at,
        files: files.collect(),
        moves: moves.collect(),
        deletions: deletions.collect(),
        errors: errors.collect(),
        commands: turn
            .commands
            .iter()
            .map(|run| CommandRecord {
                name: run.name.clone(),
                // Topics count what passed and failed; a record has no other outcome.
                outcome: match run.outcome {
                    CommandOutcome::TimedOut => CommandOutcome::Unknown,
                    outcome => outcome,
                },
                number: run.number,
                at: run.at,
            })
            .collect(),
        why: turn.title,
        second_thoughts: turn.prompt.as_deref().and_then(find_second_thoughts),
        packages: turn.packages,
        issues: turn.issues,
    }
}
