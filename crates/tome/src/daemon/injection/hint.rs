//! Hints for a prompt. Recall goes on when the hook has given up; what it finds then is kept for the
//! session's next prompt.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tome_engine::{PromptHint, append_late_hints, choose_hints, render_hints};
use tome_model::Event;
use tome_recall::is_worth_searching;
use tonic::Status;

use super::answer::Said;
use super::request::Asked;
use super::{InjectionsService, injector};
use crate::daemon::calls::CallKind;
use crate::daemon::grpc_status::{recall_status, status_of};
use crate::daemon::state::Daemon;

/// An agent waits no longer than this for hints: what is found later comes with its next step.
const HINT_WITHIN: Duration = Duration::from_millis(40);

/// Where what was found is handed over, as long as somebody waits for it.
#[derive(Default)]
enum Found {
    #[default]
    NotYet,
    InTime(Vec<PromptHint>),
    /// Nobody waits any more.
    TooLate,
}

impl InjectionsService {
    /// Hints for a prompt, and those that came too late for the one before.
    pub(super) async fn hint(
        &self,
        asked: &Arc<Asked>,
        event: Event,
    ) -> Result<Option<Said>, Status> {
        if !asked.settings.hints {
            return Ok(None);
        }
        let theirs = Arc::clone(asked);
        let hinted = self.0.wait_for(move |daemon| {
            let session = theirs.session.as_str();
            injector(daemon).map(|injector| injector.load_hints(&theirs.project, session))
        });
        let hinted = hinted.await??;
        let fresh = match is_worth_searching(&event.text) {
            true => self.look(asked, event, hinted.given.clone()).await,
            false => Vec::new(),
        };
        let mut hints = append_late_hints(fresh, hinted.late, &hinted.given);
        Ok(render_hints(&hints, asked.room).map(|(composed, count)| {
            hints.truncate(count);
            Said { hints, ..Said::new("hints", composed) }
        }))
    }

    /// Looks for hints until the hook has to be answered.
    async fn look(
        &self,
        asked: &Arc<Asked>,
        event: Event,
        given: BTreeSet<String>,
    ) -> Vec<PromptHint> {
        let found = Arc::new(Mutex::new(Found::default()));
        let (daemon, theirs, place) = (Arc::clone(&self.0), Arc::clone(asked), Arc::clone(&found));
        // On its own, so that it goes on: also if its turn comes only when nobody waits any more.
        let looking = tokio::spawn(async move {
            let looked = daemon.run_blocking(CallKind::Recall, move |daemon| {
                look(daemon, &theirs, &event, &given, &place)
            });
            // What cannot be looked through has no hints.
            looked.await.and_then(|looked| looked)
        });
        let until = match asked.is_patient() {
            true => asked.ready,
            false => asked.ready.min(asked.began + HINT_WITHIN),
        };
        let _ = tokio::time::timeout_at(until, looking).await;
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *found, Found::TooLate) {
            Found::InTime(hints) => hints,
            Found::NotYet | Found::TooLate => Vec::new(),
        }
    }
}

fn look(
    daemon: &Daemon,
    asked: &Asked,
    event: &Event,
    given: &BTreeSet<String>,
    place: &Mutex<Found>,
) -> Result<(), Status> {
    let (project, session) = (&asked.project, asked.session.as_str());
    let injector = injector(daemon)?;
    let hits = injector.find_hits(project, session, &event.text);
    let hits = hits.map_err(|error| recall_status(&error))?;
    let hints = choose_hints(&hits, session, &event.text, given);
    let mut found = place.lock().unwrap_or_else(PoisonError::into_inner);
    if !matches!(*found, Found::TooLate) {
        *found = Found::InTime(hints);
        return Ok(());
    }
    drop(found);
    match hints.is_empty() {
        true => Ok(()),
        false => injector.defer_hints(project, session, hints).map_err(|error| status_of(&error)),
    }
}
