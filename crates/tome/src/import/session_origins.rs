//! Finds the folder in which each session began: the working directory of its earliest record.
//!
//! A session belongs to the project in which it began. One session may be spread over several
//! files, and its directory may change, so all files are read before the first event is sent: the
//! project of an event then depends on neither the order of files nor of records.

use std::collections::HashMap;

use anyhow::Result;
use tome_model::{Agent, Millis, SessionId};

use super::RecordSink;
use super::reader::SourceReader;
use super::sources::TranscriptSource;
use crate::agents::transcript_record::RecordOutcome;

#[derive(Debug, Default)]
pub struct SessionOrigins(HashMap<(Agent, SessionId), (Millis, String)>);

impl SessionOrigins {
    /// Reads every source. Errors are reported later, when the events are read.
    pub fn collect<'a>(
        mut reader: SourceReader,
        sources: impl Iterator<Item = &'a TranscriptSource>,
    ) -> Self {
        let mut origins = Self::default();
        for source in sources {
            let _ = reader.read_source(source, &mut origins);
        }
        origins
    }

    pub fn find_cwd(&self, agent: &Agent, session: &SessionId) -> Option<&str> {
        self.0.get(&(agent.clone(), session.clone())).map(|(_, cwd)| cwd.as_str())
    }
}

impl RecordSink for SessionOrigins {
    fn accept(&mut self, step: RecordOutcome, _: u64) -> Result<()> {
        let RecordOutcome::Event(draft) = step else { return Ok(()) };
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

    fn report_damage(&mut self, _: u64, _: String) {}

    fn add_bytes_read(&mut self, _: u64) {}
}
