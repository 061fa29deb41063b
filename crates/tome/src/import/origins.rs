//! Finds the folder in which each session began: the working directory of its earliest record.
//!
//! A session belongs to the project in which it began. One session may be spread over several
//! files, and its directory may change, so all files are read before the first event is sent: the
//! project of an event then depends on neither the order of files nor of records.

use std::collections::HashMap;

use anyhow::Result;
use tome_model::{Agent, Millis, SessionId};

use super::Sink;
use super::find::Source;
use super::read::Reader;
use crate::agents::transcript::Step;

#[derive(Debug, Default)]
pub struct Origins(HashMap<(Agent, SessionId), (Millis, String)>);

impl Origins {
    /// Reads every source. Errors are reported later, when the events are read.
    pub fn read<'a>(mut reader: Reader, sources: impl Iterator<Item = &'a Source>) -> Self {
        let mut origins = Self::default();
        for source in sources {
            let _ = reader.read(source, &mut origins);
        }
        origins
    }

    pub fn of(&self, agent: &Agent, session: &SessionId) -> Option<&str> {
        self.0.get(&(agent.clone(), session.clone())).map(|(_, cwd)| cwd.as_str())
    }
}

impl Sink for Origins {
    fn step(&mut self, step: Step, _: u64) -> Result<()> {
        let Step::Event(draft) = step else { return Ok(()) };
        let began = (draft.at, draft.cwd);
        self.0
            .entry((draft.agent, draft.session))
            .and_modify(|first| {
                if began < *first {
                    first.clone_from(&began);
                }
            })
            .or_insert_with(|| began.clone());
        Ok(())
    }

    fn damaged(&mut self, _: u64, _: String) {}

    fn read(&mut self, _: u64) {}
}
