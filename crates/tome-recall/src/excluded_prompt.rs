//! Excludes the turn that a query comes from. An agent queries recall while it works on the user's
//! last prompt, and that prompt, recorded a moment ago, matches the query better than anything
//! else. The agent already has the whole turn in its context.

use std::collections::BTreeSet;

use tome_ledger::{EventRange, ScanDirection};
use tome_model::{Event, EventKind, Millis, SessionId};

use super::candidate::CandidateRecord;
use super::rank::RankedCandidate;
use super::{ExcludedPrompt, Recall, RecallQuery};
use crate::RecallError;

/// Number of recent events searched for the prompt. A prompt further back may have left the agent's
/// context and is then worth finding.
const EVENTS_BACK_MAX: usize = 256;

/// Maximum age of a prompt that is assumed to be the agent's if the session is unknown. An agent
/// with tools but no hooks records none.
const ASSUMED_AGE_MS_MAX: u64 = 6 * 60 * 60 * 1000;

impl ExcludedPrompt {
    fn from_event(event: Event) -> Self {
        let session = event.session.as_str().to_owned();
        Self { session, id: event.id, at: event.at, text: event.text }
    }
}

impl Recall {
    /// Finds the prompts that an agent may be working on: the newest one of its session. If the
    /// session is unknown, those of all its turns without a recorded end, otherwise its newest.
    pub fn find_excluded_prompts(
        &self,
        project: &str,
        session: Option<&str>,
        agent: &str,
    ) -> Result<Vec<ExcludedPrompt>, RecallError> {
        let Some(path) = self.indexer.stores.find_store_path(project) else {
            return Ok(Vec::new());
        };
        let store = self.indexer.stores.open(&path)?;
        let session = session.map(SessionId::parse).transpose()?;
        let not_before = Millis(self.clock.now().0.saturating_sub(ASSUMED_AGE_MS_MAX));
        let range = EventRange {
            from: session.is_none().then_some(not_before),
            session: session.clone(),
            direction: ScanDirection::Backward,
            ..EventRange::default()
        };
        let (mut open, mut newest) = (Vec::new(), None);
        // Sessions whose newest prompt or end of turn was seen.
        let mut seen: BTreeSet<SessionId> = BTreeSet::new();
        for found in store.events(&range).take(EVENTS_BACK_MAX) {
            let (_, event) = found?;
            let is_its = session.is_some() || event.agent.as_str() == agent;
            if !is_its || event.project != project {
                continue;
            }
            match event.kind {
                EventKind::UserMessage if session.is_some() => {
                    return Ok(vec![ExcludedPrompt::from_event(event)]);
                }
                EventKind::UserMessage => {
                    let is_open = seen.insert(event.session.clone());
                    let prompt = ExcludedPrompt::from_event(event);
                    if is_open {
                        open.push(prompt.clone());
                    }
                    newest = newest.or(Some(prompt));
                }
                EventKind::AssistantStop | EventKind::SessionEnd => {
                    seen.insert(event.session);
                }
                _ => {}
            }
        }
        Ok(if open.is_empty() { newest.into_iter().collect() } else { open })
    }

    /// Drops the current turn, and its sources and open segment in the contents. Other events of
    /// that segment can still be found themselves.
    pub(super) fn drop_current_turn(
        &self,
        query: &RecallQuery,
        ranked: &mut Vec<RankedCandidate>,
    ) -> Result<(), RecallError> {
        let mut failed = None;
        ranked.retain(|one| {
            query.origin.excluded_prompts().iter().all(|prompt| {
                match self.is_in_current_turn(prompt, one) {
                    Ok(is_own) => !is_own,
                    Err(error) => {
                        failed = Some(error);
                        true
                    }
                }
            })
        });
        failed.map_or(Ok(()), Err)
    }

    fn is_in_current_turn(
        &self,
        prompt: &ExcludedPrompt,
        ranked: &RankedCandidate,
    ) -> Result<bool, RecallError> {
        let Some(body) = &ranked.candidate.body else { return Ok(false) };
        if body.session.as_deref() != Some(prompt.session.as_str()) {
            return Ok(false);
        }
        Ok(match &body.record {
            CandidateRecord::Event { id, .. } => {
                *id == prompt.id || ranked.candidate.at >= prompt.at
            }
            CandidateRecord::Grip { .. } => ranked.candidate.at >= prompt.at,
            CandidateRecord::Node { id } => {
                let Some(path) = self.indexer.stores.find_store_path(&body.project) else {
                    return Ok(false);
                };
                let node = self.indexer.stores.open(&path)?.node(&body.project, id, None)?;
                node.is_some_and(|node| node.last_at >= prompt.at)
            }
            CandidateRecord::ForeignLine { .. } | CandidateRecord::File { .. } => false,
        })
    }
}
