//! The stores that an import compares with and adds to: over the wire for the command, directly for
//! the daemon.

use anyhow::{Result, bail};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tome_home::{Projects, SessionIndex, project_root};
use tome_model::{Agent, Draft, Event, SessionId};
use tome_proto::{Client, Query, draft_to_wire, limits};

use super::From;
use crate::bulk::Batch;

/// Calls `each` with every stored event.
pub type Each<'a> = &'a mut dyn FnMut(&Event);

/// The stores that an import compares with and adds to.
pub trait Target {
    /// The project of a session: the one it is stored in, or that of the folder it began in.
    fn project_of(&self, agent: &Agent, session: &SessionId, began_in: &str) -> String;

    /// Reads what is stored of a session in a project.
    fn stored(
        &self,
        agent: &Agent,
        session: &SessionId,
        project: &str,
        each: Each<'_>,
    ) -> Result<()>;

    /// Stores events. Not called in a dry run.
    fn store(&mut self, drafts: Vec<Outgoing>) -> Result<()>;
}

/// An event on its way to the stores.
pub struct Outgoing {
    pub draft: Draft,
    pub from: From,
    pub bytes: usize,
}

/// The daemon's stores, over the wire.
pub struct Remote {
    pub client: Client,
    pub handle: Handle,
    pub to: mpsc::Sender<Batch<From>>,
    /// What this home knows; nothing if the daemon serves another one.
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

/// The stores take nothing more; whoever stopped them knows why.
#[derive(Debug, thiserror::Error)]
#[error("the stream to the daemon ended")]
pub struct Stopped;
