//! Repeated prompts: an earlier prompt with the same wording is replaced by the answer it got,
//! because the prompt itself is no useful hit. Without an answer it is dropped.

use std::collections::HashSet;

use tome_finder::{Part, Source};
use tome_ledger::{EventRange, Ledger, Mark};
use tome_model::{Event, EventKind, SessionId};
use tome_text::plain_words;

use super::candidate::{Body, Candidate, What};
use super::gather::Gathered;
use super::rank::Ranked;
use super::{Recall, RecallHit, RecallQuestion};
use crate::RecallError;

/// Events read after a prompt to find its answer; longer turns are cut off here.
const TURN_EVENTS_MAX: usize = 200;
/// Repeated prompts whose answers are looked up; further ones are dropped.
const COPIES_MAX: usize = 6;

impl Recall {
    /// Replaces repetitions of the query by their answers.
    pub(super) fn answer_copies(
        &self,
        question: &RecallQuestion,
        gathered: &Gathered,
        ranked: &mut Vec<Ranked>,
    ) -> Result<(), RecallError> {
        let asked = Asked::of(question);
        if asked.0.is_empty() {
            return Ok(());
        }
        let mut looked_up = 0;
        let mut kept = Vec::with_capacity(ranked.len());
        for mut one in std::mem::take(ranked) {
            let is_copy = one.candidate.body.as_ref().is_some_and(|body| asked.is_copy(body));
            if is_copy {
                looked_up += 1;
                let asked = gathered.asked.get(one.candidate.desk);
                let answer = match asked.filter(|_| looked_up <= COPIES_MAX) {
                    Some(asked) => match asked.open(&self.keeper)?.ledger {
                        Some(ledger) => answer_of(&ledger, &one.candidate)?,
                        None => None,
                    },
                    None => None,
                };
                let Some((mark, event)) = answer else { continue };
                let answer = Candidate::of_event(one.candidate.desk, mark, &event);
                one.candidate = answer;
                one.best = Part::default();
            }
            kept.push(one);
        }
        // The answer may also be a hit of its own.
        let mut seen = HashSet::new();
        kept.retain(|one| one.candidate.source != Source::Event || seen.insert(one.candidate.id()));
        *ranked = kept;
        Ok(())
    }
}

/// Drops titles and bullets of the contents that only repeat the query.
pub(super) fn drop_bare_questions(question: &RecallQuestion, hits: &mut Vec<RecallHit>) {
    let asked = Asked::of(question);
    hits.retain(|hit| {
        let is_summary = matches!(hit.source, Source::Node | Source::Grip);
        !(is_summary && asked.says(&hit.text))
    });
}

/// The words of the live prompts, lower case.
struct Asked(Vec<Vec<String>>);

impl Asked {
    fn of(question: &RecallQuestion) -> Self {
        let texts = question.live_questions.iter().map(|text| plain_words(text).collect());
        Self(texts.filter(|words: &Vec<String>| !words.is_empty()).collect())
    }

    fn says(&self, text: &str) -> bool {
        const OPENINGS: [&str; 3] = ["Asked: ", "Also asked: ", "Said: "];
        let opened = OPENINGS.iter().find_map(|opening| text.strip_prefix(opening));
        !self.0.is_empty() && self.0.contains(&plain_words(opened.unwrap_or(text)).collect())
    }

    fn is_copy(&self, body: &Body) -> bool {
        let is_said = body.kind == EventKind::UserMessage.as_str();
        let is_event =
            matches!(body.what, What::Event { .. } | What::Grip { .. } | What::Line { .. });
        is_said && is_event && self.0.contains(&plain_words(&body.text).collect())
    }
}

/// The last words of the agent in the turn that a prompt began.
fn answer_of(ledger: &Ledger, prompt: &Candidate) -> Result<Option<(Mark, Event)>, RecallError> {
    let Some(body) = &prompt.body else { return Ok(None) };
    let (Some(mark), Some(session)) = (body.mark(), &body.session) else { return Ok(None) };
    let range = EventRange {
        session: Some(SessionId::parse(session)?),
        after: Some(mark),
        ..EventRange::default()
    };
    let mut answer = None;
    for pair in ledger.events(&range).take(TURN_EVENTS_MAX) {
        let (position, event) = pair?;
        match event.kind {
            EventKind::UserMessage | EventKind::SessionEnd => break,
            EventKind::AssistantMessage | EventKind::AssistantStop
                if event.project == body.project && !event.text.trim().is_empty() =>
            {
                answer = Some((position.mark(), event));
            }
            _ => {}
        }
    }
    Ok(answer)
}
