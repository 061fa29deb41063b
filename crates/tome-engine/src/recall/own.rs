//! The prompt that a question comes of. An agent asks recall while it works on what the person said
//! last, and that very prompt, recorded a moment ago, has more of the question's words than anything
//! else. The agent has it before its eyes: it is no answer to itself.

use tome_ledger::{Direction, EventRange};
use tome_model::{EventId, EventKind, Millis, SessionId};

use super::candidate::What;
use super::rank::Ranked;
use super::{Recall, RecallQuestion};
use crate::EngineError;

/// So far back the prompt is looked for. Behind more events than this it may well have gone from the
/// agent's context, and is then worth finding.
const EVENTS_BACK_MAX: usize = 256;

/// Where the session is not told, the agent's latest prompt is the one that it works on, if it is no
/// older than this: an agent that only has the tools, and no hooks, leaves none.
const GUESS_MS_MAX: u64 = 6 * 60 * 60 * 1000;

/// The newest prompt of the session that asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnPrompt {
    session: String,
    id: EventId,
    at: Millis,
}

impl Recall {
    /// The prompt that an agent works on in a project: the newest of its session, or, where that is
    /// not told, the agent's own newest.
    pub fn own_prompt(
        &self,
        project: &str,
        session: Option<&str>,
        agent: &str,
    ) -> Result<Option<OwnPrompt>, EngineError> {
        let Some(path) = self.keeper.stores.existing(project) else { return Ok(None) };
        let store = self.keeper.stores.open(&path)?;
        let session = session.map(SessionId::parse).transpose()?;
        let not_before = Millis(self.clock.now().0.saturating_sub(GUESS_MS_MAX));
        let range = EventRange {
            from: session.is_none().then_some(not_before),
            session: session.clone(),
            direction: Direction::Backward,
            ..EventRange::default()
        };
        for found in store.events(&range).take(EVENTS_BACK_MAX) {
            let (_, event) = found?;
            let is_its = session.is_some() || event.agent.as_str() == agent;
            if is_its && event.kind == EventKind::UserMessage && event.project == project {
                let session = event.session.as_str().to_owned();
                return Ok(Some(OwnPrompt { session, id: event.id, at: event.at }));
            }
        }
        Ok(None)
    }

    /// Takes the prompt out, and what the contents say of it: its grips, and the stretch of this
    /// session that is under way. Whatever else that stretch holds is still found by itself.
    pub(super) fn without_own(
        &self,
        question: &RecallQuestion,
        ranked: &mut Vec<Ranked>,
    ) -> Result<(), EngineError> {
        let Some(own) = &question.own_prompt else { return Ok(()) };
        let mut failed = None;
        ranked.retain(|one| match self.is_own(own, one) {
            Ok(is_own) => !is_own,
            Err(error) => {
                failed = Some(error);
                true
            }
        });
        failed.map_or(Ok(()), Err)
    }

    fn is_own(&self, own: &OwnPrompt, one: &Ranked) -> Result<bool, EngineError> {
        let Some(body) = &one.candidate.body else { return Ok(false) };
        if body.session.as_deref() != Some(own.session.as_str()) {
            return Ok(false);
        }
        Ok(match &body.what {
            What::Event { id, .. } => *id == own.id,
            What::Grip { .. } => one.candidate.at == own.at,
            What::Node { id } => {
                let Some(path) = self.keeper.stores.existing(&body.project) else {
                    return Ok(false);
                };
                let node = self.keeper.stores.open(&path)?.node(&body.project, id, None)?;
                node.is_some_and(|node| node.last_at >= own.at)
            }
            What::Line { .. } | What::File { .. } => false,
        })
    }
}
