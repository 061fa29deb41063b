//! Finds out whether a later turn of a session changed the files of a result again.
//!
//! A segment is written before that happens, so the answer is computed when a page is read, from an outline of
//! each turn in the index of its session: the words of its prompt and the files that it changed, as hashes.

use tome_ledger::{Ledger, OrderKey, TurnEntry};
use tome_model::{Event, FactKind, GripId, Millis, Node, SessionId};
use tome_text::first_chars;

use crate::extract::{
    TermSet, cut_turns, find_changed_paths, has_objection, is_prompt, prompt_text,
};
use crate::segment::mark_before;
use tome_home::HomeError;

/// Characters of a prompt whose words count; what follows is mostly pasted.
const PROMPT_CHARS_MAX: usize = 600;
/// Files of a turn that are kept.
const FILES_MAX: usize = 64;
/// Segments of a session that are read for one statement.
const SEGMENTS_MAX: usize = 500;
/// Segments that one turn is followed through, backwards.
const TURN_SEGMENTS_MAX: usize = 20;
/// Words of a statement that a later prompt must have, to be about the same.
const SHARED_WORDS_MIN: usize = 2;
/// The same, of a prompt that says that something is not as it should be.
const OBJECTION_WORDS_MIN: usize = 1;

/// A later turn about a result, which changed files that the turn of the result had changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaterChange {
    /// The number of its prompt.
    pub number: u64,
    /// When it began.
    pub at: Millis,
}

/// Outlines the turns of a segment for the index of its session.
pub(crate) fn outline_turns(events: &[Event], order_keys: &[OrderKey]) -> Vec<TurnEntry> {
    let outline = |range: std::ops::Range<usize>| {
        let own = events.get(range.clone())?;
        let prompt = own.iter().position(is_prompt);
        let first = *order_keys.get(range.start + prompt.unwrap_or(0))?;
        let words = prompt.and_then(|at| own.get(at)).map(|event| prompt_text(&event.text));
        let words = words.unwrap_or_default();
        let mut files: Vec<u32> = own.iter().flat_map(find_changed_paths).map(hash_word).collect();
        files.sort_unstable();
        files.dedup();
        files.truncate(FILES_MAX);
        Some(TurnEntry {
            first,
            has_prompt: prompt.is_some(),
            objects: has_objection(first_chars(&words, PROMPT_CHARS_MAX)),
            prompt_words: hash_words(first_chars(&words, PROMPT_CHARS_MAX)),
            edited_files: files,
        })
    };
    cut_turns(events).into_iter().filter_map(outline).collect()
}

/// For each result on a page, the next turn about it that changed its files again.
pub(crate) fn find_later_changes(
    ledger: &Ledger,
    project: &str,
    node: &Node,
) -> Result<Vec<Option<LaterChange>>, HomeError> {
    let facts = node.work.iter().flat_map(|work| &work.facts);
    let results: Vec<_> = facts.filter(|fact| fact.kind == FactKind::Outcome).collect();
    let mut changes = Vec::with_capacity(node.bullets.len());
    for bullet in &node.bullets {
        let is_told = |grips: &[GripId]| grips.iter().all(|grip| bullet.grips.contains(grip));
        let result = results.iter().find(|fact| is_told(fact.grips()));
        let grip = result.and_then(|fact| Some((fact.grips().last()?, fact.text.as_str())));
        changes.push(match grip {
            Some((grip, text)) => find_later_change(ledger, project, grip, text)?,
            None => None,
        });
    }
    Ok(changes)
}

fn find_later_change(
    ledger: &Ledger,
    project: &str,
    grip: &GripId,
    text: &str,
) -> Result<Option<LaterChange>, HomeError> {
    let Some(grip) = ledger.grip(project, grip)? else { return Ok(None) };
    let Some(position) = ledger.position(&grip.last)? else { return Ok(None) };
    let Some(event) = ledger.event_at(&position)? else { return Ok(None) };
    let turns = load_turns(ledger, project, &event.session, position.order_key())?;
    Ok(find_changing_turn(&turns, position.order_key(), text))
}

/// Loads the outlines of the turns from the one that an event belongs to on.
fn load_turns(
    ledger: &Ledger,
    project: &str,
    session: &SessionId,
    event: OrderKey,
) -> Result<Vec<TurnEntry>, HomeError> {
    let mut from = event;
    for _ in 0..TURN_SEGMENTS_MAX {
        let Some(segment) = ledger.segment_before(project, session, from)? else { break };
        from = segment.first;
        let begins_turn = segment.turns.iter().any(|turn| turn.has_prompt && turn.first <= event);
        if begins_turn || segment.turns.is_empty() {
            break;
        }
        from = mark_before(from);
    }
    let mut turns = Vec::new();
    for segment in ledger.segments(project, session, from).take(SEGMENTS_MAX) {
        turns.extend(segment?.turns);
    }
    Ok(turns)
}

/// Finds the first later turn whose prompt is about what an earlier one came to, and that changed files which that
/// turn had changed. `event` is the one that states the result, `text`.
pub(crate) fn find_changing_turn(
    turns: &[TurnEntry],
    event: OrderKey,
    text: &str,
) -> Option<LaterChange> {
    let begins = |turn: &TurnEntry| turn.has_prompt;
    let own = turns.iter().rposition(|turn| begins(turn) && turn.first <= event).unwrap_or(0);
    let after = turns.get(own + 1..)?;
    let next = after.iter().position(begins)?;
    let own: Vec<&TurnEntry> = turns.get(own..=own + next)?.iter().collect();
    let words = hash_words(text);
    let mut prompt = None;
    for (index, turn) in after.get(next..)?.iter().enumerate() {
        if begins(turn) {
            let shared = words.iter().filter(|word| turn.prompt_words.contains(word)).count();
            // The prompt right after a result needs no word of it to object to it.
            let shared = shared + usize::from(index == 0);
            let needed = if turn.objects { OBJECTION_WORDS_MIN } else { SHARED_WORDS_MIN };
            let change = LaterChange { number: turn.first.seq, at: turn.first.at };
            prompt = (shared >= needed).then_some(change);
        }
        let edits = |file| own.iter().any(|own| own.edited_files.contains(file));
        if prompt.is_some() && turn.edited_files.iter().any(edits) {
            return prompt;
        }
    }
    None
}

fn hash_words(text: &str) -> Vec<u32> {
    let mut words: Vec<u32> =
        TermSet::from_text(text).into_terms().map(|term| hash_word(&term)).collect();
    words.sort_unstable();
    words.dedup();
    words
}

fn hash_word(word: &str) -> u32 {
    let hash = blake3::hash(word.as_bytes());
    let [a, b, c, d, ..] = *hash.as_bytes();
    u32::from_le_bytes([a, b, c, d])
}
