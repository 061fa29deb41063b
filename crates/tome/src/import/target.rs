//! The stores with which an import compares and to which it adds: over gRPC for the command,
//! directly for the daemon.

use anyhow::{Result, bail};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tome_home::{Projects, SessionIndex, resolve_project_root};
use tome_model::{Agent, Draft, Event, SessionId};
use tome_proto::{Client, EventListQuery, draft_to_wire, limits};

use super::EventOrigin;
use crate::event_stream::IngestBatch;

pub type EventCallback<'a> = &'a mut dyn FnMut(&Event);

pub trait ImportTarget {
    /// Returns the project in which a session is stored, or else that of the folder in which it
    /// began.
    fn resolve_project(&self, agent: &Agent, session: &SessionId, began_in: &str) -> String;

    /// Calls `each` with every stored event of a session in a project.
    fn load_stored_events(
        &self,
        agent: &Agent,
        session: &SessionId,
        project: &str,
        each: EventCallback<'_>,
    ) -> Result<()>;

    /// Not called in a dry run.
    fn store_events(&mut self, drafts: Vec<OutgoingEvent>) -> Result<()>;
}

pub struct OutgoingEvent {
    pub draft: Draft,
    pub from: EventOrigin,
    pub bytes: usize,
}

pub struct DaemonTarget {
    pub client: Client,
    pub handle: Handle,
    pub to: mpsc::Sender<IngestBatch<EventOrigin>>,
    /// Projects and sessions of this home; `None` if the daemon serves another home.
    pub known: Option<(Projects, Option<SessionIndex>)>,
}

impl ImportTarget for DaemonTarget {
    fn resolve_project(&self, agent: &Agent, session: &SessionId, began_in: &str) -> String {
        let Some((projects, sessions)) = &self.known else { return resolve_project_root(began_in) };
        let stored = sessions.as_ref().and_then(|sessions| sessions.find_project(agent, session));
        stored.unwrap_or_else(|| projects.resolve_project_or_guess(began_in, None))
    }

    fn load_stored_events(
        &self,
        agent: &Agent,
        session: &SessionId,
        project: &str,
        each: EventCallback<'_>,
    ) -> Result<()> {
        let mut query = EventListQuery {
            session: Some(session.as_str().to_owned()),
            project: self.known.is_some().then(|| project.to_owned()),
            agents: vec![agent.as_str().to_owned()],
            limit: limits::PAGE_EVENTS_MAX,
            ..EventListQuery::default()
        };
        loop {
            let page = self.handle.block_on(self.client.list_events(query.clone()))?;
            page.events.iter().for_each(&mut *each);
            match page.continuation {
                Some(next) => query.continuation = next,
                None => return Ok(()),
            }
        }
    }

    fn store_events(&mut self, drafts: Vec<OutgoingEvent>) -> Result<()> {
        let mut batch = IngestBatch::default();
        for OutgoingEvent { draft, from, bytes } in drafts {
            batch.push(draft_to_wire(draft), from, bytes);
        }
        if self.to.blocking_send(batch).is_err() {
            bail!(StreamClosed);
        }
        Ok(())
    }
}

/// The receiver was closed; the reason is reported where it was closed.
#[derive(Debug, thiserror::Error)]
#[error("the stream to the daemon ended")]
pub struct StreamClosed;
