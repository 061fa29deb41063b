//! The stores with which an import compares and to which it adds: over gRPC for the command,
//! directly for the daemon.

use anyhow::{Result, bail};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tome_home::{Projects, SessionIndex, project_root};
use tome_model::{Agent, Draft, Event, SessionId};
use tome_proto::{Client, Query, draft_to_wire, limits};

use super::From;
use crate::bulk::Batch;

pub type Each<'a> = &'a mut dyn FnMut(&Event);

pub trait Target {
    /// Returns the project in which a session is stored, or else that of the folder in which it
    /// began.
    fn project_of(&self, agent: &Agent, session: &SessionId, began_in: &str) -> String;

    /// Calls `each` with every stored event of a session in a project.
    fn stored(
        &self,
        agent: &Agent,
        session: &SessionId,
        project: &str,
        each: Each<'_>,
    ) -> Result<()>;

    /// Not called in a dry run.
    fn store(&mut self, drafts: Vec<Outgoing>) -> Result<()>;
}

pub struct Outgoing {
    pub draft: Draft,
    pub from: From,
    pub bytes: usize,
}

pub struct Remote {
    pub client: Client,
    pub handle: Handle,
    pub to: mpsc::Sender<Batch<From>>,
    /// Projects and sessions of this home; `None` if the daemon serves another home.
    pub known: Option<(Projects, Option<SessionIndex>)>,
}

impl Target for Remote {
    fn project_of(&self, agent: &Agent, session: &SessionId, began_in: &str) -> String {
        let Some((projects, sessions)) = &self.known else { return project_root(began_in) };
        let stored = sessions.as_ref().and_then(|sessions| sessions.project_of(agent, session));
        stored.unwrap_or_else(|| projects.root_of(began_in, None))
    }

    fn stored(
        &self,
        agent: &Agent,
        session: &SessionId,
        project: &str,
        each: Each<'_>,
    ) -> Result<()> {
        let mut query = Query {
            session: Some(session.as_str().to_owned()),
            project: self.known.is_some().then(|| project.to_owned()),
            agents: vec![agent.as_str().to_owned()],
            limit: limits::PAGE_EVENTS_MAX,
            ..Query::default()
        };
        loop {
            let page = self.handle.block_on(self.client.events(query.clone()))?;
            page.events.iter().for_each(&mut *each);
            match page.continuation {
                Some(next) => query.continuation = next,
                None => return Ok(()),
            }
        }
    }

    fn store(&mut self, drafts: Vec<Outgoing>) -> Result<()> {
        let mut batch = Batch::default();
        for Outgoing { draft, from, bytes } in drafts {
            batch.push(draft_to_wire(draft), from, bytes);
        }
        if self.to.blocking_send(batch).is_err() {
            bail!(Stopped);
        }
        Ok(())
    }
}

/// The receiver was closed; the reason is reported where it was closed.
#[derive(Debug, thiserror::Error)]
#[error("the stream to the daemon ended")]
pub struct Stopped;
