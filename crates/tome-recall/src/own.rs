//! The turn that a question comes from. An agent asks recall while it works on the user's last prompt,
//! and that prompt, recorded a moment ago, has more of the question's words than anything else. The
//! agent has all of its turn before its eyes: none of it is an answer.

use std::collections::BTreeSet;

use tome_ledger::{Direction, EventRange};
use tome_model::{Event, EventId, EventKind, Millis, SessionId};

use super::candidate::What;
use super::rank::Ranked;
use super::{Recall, RecallQuestion};
use crate::RecallError;

/// So far back the prompt is looked for. Behind more events than this it may well have gone from the
/// agent's context, and is then worth finding.
const EVENTS_BACK_MAX: usize = 256;

/// Where the session is not told, a prompt is taken for the agent's own if it is no older than this:
/// an agent that only has the tools, and no hooks, leaves none.
const GUESS_MS_MAX: u64 = 6 * 60 * 60 * 1000;

/// The prompt that began a turn which may be the one that asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnPrompt {
    session: String,
    id: EventId,
    at: Millis,
    /// The prompt's text: an earlier copy of it is no answer either.
    pub text: String,
}

impl OwnPrompt {
    fn of(event: Event) -> Self {
        let session = event.session.as_str().to_owned();
        Self { session, id: event.id, at: event.at, text: event.text }
    }
}

impl Recall {
    /// The prompts that an agent works on in a project: the newest of its session. Where the session is
    /// not told, those of all turns of this agent that nobody has seen end, or else its newest.
    pub fn own_prompts(
        &self,
        project: &str,
        session: Option<&str>,
        agent: &str,
    ) -> Result<Vec<OwnPrompt>, RecallError> {
        let Some(path) = self.keeper.stores.existing(project) else { return Ok(Vec::new()) };
        let store = self.keeper.stores.open(&path)?;
        let session = session.map(SessionId::parse).transpose()?;
        let not_before = Millis(self.clock.now().0.saturating_sub(GUESS_MS_MAX));
        let range = EventRange {
            from: session.is_none().then_some(not_before),
            session: session.clone(),
            direction: Direction::Backward,
            ..EventRange::default()
        };
        let (mut open, mut newest) = (Vec::new(), None);
        // Sessions whose newest prompt or end of a turn was seen.
        let mut seen: BTreeSet<SessionId> = BTreeSet::new();
        for found in store.events(&range).take(EVENTS_BACK_MAX) {
            let (_, event) = found?;
            let is_its = session.is_some() || event.agent.as_str() == agent;
            if !is_its || event.project != project {
                continue;
            }
            match event.kind {
                EventKind::UserMessage if session.is_some() => {
                    return Ok(vec![OwnPrompt::of(event)]);
                }
                EventKind::UserMessage => {
                    let is_open = seen.insert(event.session.clone());
                    let own = OwnPrompt::of(event);
                    if is_open {
                        open.push(own.clone());
                    }
                    newest = newest.or(Some(own));
                }
                EventKind::AssistantStop | EventKind::SessionEnd => {
                    seen.insert(event.session);
                }
                _ => {}
            }
        }
        Ok(if open.is_empty() { newest.into_iter().collect() } else { open })
    }

    /// Takes the asking turn out, and what the contents say of it: its grips, and the segment that is
    /// under way. Whatever else that segment holds is still found by itself.
    pub(super) fn without_own(
        &self,
        question: &RecallQuestion,
        ranked: &mut Vec<Ranked>,
    ) -> Result<(), RecallError> {
        let mut failed = None;
        ranked.retain(|one| {
            question.own_prompts.iter().all(|own| match self.is_own(own, one) {
                Ok(is_own) => !is_own,
                Err(error) => {
                    failed = Some(error);
                    true
                }
            })
        });
        failed.map_or(Ok(()), Err)
    }

    fn is_own(&self, own: &OwnPrompt, one: &Ranked) -> Result<bool, RecallError> {
        let Some(body) = &one.candidate.body else { return Ok(false) };
        if body.session.as_deref() != Some(own.session.as_str()) {
            return Ok(false);
        }
        Ok(match &body.what {
            What::Event { id, .. } => *id == own.id || one.candidate.at >= own.at,
            What::Grip { .. } => one.candidate.at >= own.at,
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
