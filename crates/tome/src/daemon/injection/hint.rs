//! Hints for a prompt. A search that outlasts the hook's deadline continues; its hints are saved
//! for the session's next prompt.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tome_engine::{PromptHint, append_late_hints, choose_hints, render_hints};
use tome_model::Event;
use tome_recall::is_worth_searching;
use tonic::Status;

use super::dispatch::ComposedInjection;
use super::request::HookRequest;
use super::{InjectionsService, require_injector};
use crate::daemon::calls::CallKind;
use crate::daemon::grpc_status::{recall_status, status_of};
use crate::daemon::state::Daemon;

/// Time limit for hints; later ones come with the agent's next step.
const HINT_TIMEOUT: Duration = Duration::from_millis(40);

/// Passes hints from the search to the call, while the call waits.
#[derive(Default)]
enum HintSlot {
    #[default]
    Waiting,
    Ready(Vec<PromptHint>),
    /// The call stopped waiting.
    Abandoned,
}

impl InjectionsService {
    /// Composes the hints for a prompt, including late ones of the prompt before.
    pub(super) async fn compose_hints(
        &self,
        request: &Arc<HookRequest>,
        event: Event,
    ) -> Result<Option<ComposedInjection>, Status> {
        if !request.settings.hints {
            return Ok(None);
        }
        let for_thread = Arc::clone(request);
        let session_hints = self.0.run_blocking(CallKind::Ledger, move |daemon| {
            let session = for_thread.session.as_str();
            require_injector(daemon)
                .map(|injector| injector.load_hints(&for_thread.project, session))
        });
        let session_hints = session_hints.await??;
        let fresh = if is_worth_searching(&event.text) {
            self.find_hints(request, event, session_hints.given.clone()).await
        } else {
            Vec::new()
        };
        let mut hints = append_late_hints(fresh, session_hints.late, &session_hints.given);
        Ok(render_hints(&hints, request.budget).map(|(text, count)| {
            hints.truncate(count);
            ComposedInjection { hints, ..ComposedInjection::new("hints", text) }
        }))
    }

    /// Searches for hints until the deadline.
    async fn find_hints(
        &self,
        request: &Arc<HookRequest>,
        event: Event,
        earlier: BTreeSet<String>,
    ) -> Vec<PromptHint> {
        let slot = Arc::new(Mutex::new(HintSlot::default()));
        let (daemon, for_thread, shared) =
            (Arc::clone(&self.0), Arc::clone(request), Arc::clone(&slot));
        // A task of its own, so that the search continues after the deadline, even if it only gets
        // its permit then.
        let task = tokio::spawn(async move {
            let searched = daemon.run_blocking(CallKind::Recall, move |daemon| {
                search_hints(daemon, &for_thread, &event, &earlier, &shared)
            });
            // A failed search has no hints.
            searched.await.and_then(|searched| searched)
        });
        let deadline = if request.has_extra_time() {
            request.read_deadline
        } else {
            request.read_deadline.min(request.started + HINT_TIMEOUT)
        };
        let _ = tokio::time::timeout_at(deadline, task).await;
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *slot, HintSlot::Abandoned) {
            HintSlot::Ready(hints) => hints,
            HintSlot::Waiting | HintSlot::Abandoned => Vec::new(),
        }
    }
}

fn search_hints(
    daemon: &Daemon,
    request: &HookRequest,
    event: &Event,
    earlier: &BTreeSet<String>,
    slot: &Mutex<HintSlot>,
) -> Result<(), Status> {
    let (project, session) = (&request.project, request.session.as_str());
    let injector = require_injector(daemon)?;
    let hits = injector.find_hits(project, session, &event.text);
    let hits = hits.map_err(|error| recall_status(&error))?;
    let hints = choose_hints(&hits, session, &event.text, earlier);
    let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    if !matches!(*slot, HintSlot::Abandoned) {
        *slot = HintSlot::Ready(hints);
        return Ok(());
    }
    drop(slot);
    if hints.is_empty() {
        Ok(())
    } else {
        injector.defer_hints(project, session, hints).map_err(|error| status_of(&error))
    }
}
