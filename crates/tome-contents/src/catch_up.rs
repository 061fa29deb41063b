//! Catching up: follows the outbox and keeps the contents up to date.
//!
//! It processes events in batches and commits each batch's changes together with the cursor, so it
//! can be killed at any point. The result depends only on the events before the cursor, not on
//! their order of arrival.

use std::collections::{BTreeMap, BTreeSet};

use tome_ledger::{Ledger, OrderKey, ProjectionCommit};
use tome_model::{Clock, SessionId};

use super::build_periods::roll_up_changed;
use super::event_text::event_texts;
use super::limits::{BATCH_BYTES, COMMIT_RETRIES_MAX};
use super::pending_changes::{CONTENTS_PROJECTION, Comparison, PendingChanges, is_conflict};
use super::rebuild::{ContentsRebuildReport, rebuild_to_cursor};
use super::resegment::{EventCache, SessionReader, resegment};
use super::{ContentsSettings, Summarizer};
use tome_home::HomeError;

/// Counts of a catch-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ContentsCatchUpReport {
    /// Events processed.
    pub events: u64,
    /// Nodes written.
    pub nodes: u64,
    /// Nodes removed.
    pub removed: u64,
    /// Whether a full rebuild was needed: the settings changed, or an earlier rebuild was
    /// interrupted.
    pub rebuilt: bool,
}

/// Rebuilds all contents from the events and then catches up with the outbox.
pub fn rebuild_contents(
    ledger: &Ledger,
    settings: &ContentsSettings,
    summarizer: &dyn Summarizer,
    clock: &dyn Clock,
) -> Result<ContentsRebuildReport, HomeError> {
    let mut rebuilt = rebuild_to_cursor(ledger, settings, summarizer, clock)?;
    let caught_up = catch_up_contents(ledger, settings, summarizer, clock)?;
    rebuilt.nodes += caught_up.nodes;
    rebuilt.removed += caught_up.removed;
    Ok(rebuilt)
}

/// Processes all events that arrived since the last run. Safe to call concurrently: a run that
/// loses a race retries on the new state.
pub fn catch_up_contents(
    ledger: &Ledger,
    settings: &ContentsSettings,
    summarizer: &dyn Summarizer,
    clock: &dyn Clock,
) -> Result<ContentsCatchUpReport, HomeError> {
    let memo = settings.fingerprint(summarizer.name());
    let mut done = ContentsCatchUpReport::default();
    let mut tries = 0;
    loop {
        let from_seq = ledger.cursor(CONTENTS_PROJECTION)?;
        if from_seq > 0 && ledger.memo(CONTENTS_PROJECTION)? != memo {
            let rebuilt = rebuild_to_cursor(ledger, settings, summarizer, clock)?;
            done.nodes += rebuilt.nodes;
            done.removed += rebuilt.removed;
            done.rebuilt = true;
            continue;
        }
        let Some(batch) = OutboxBatch::read_next(ledger, from_seq, settings.batch_events)? else {
            return Ok(done);
        };
        let (upto_seq, events) = (batch.upto_seq, batch.events);
        let changes = batch.build_changes(ledger, settings, summarizer, clock)?;
        let counted = changes.counts();
        let work = ProjectionCommit {
            projection: CONTENTS_PROJECTION.to_owned(),
            from_seq,
            upto_seq,
            ..ProjectionCommit::default()
        };
        let work = ProjectionCommit { memo: Some(memo.clone()), ..changes.into_work(work) };
        match ledger.commit(work) {
            Ok(()) => {
                done.events += events;
                done.nodes += counted.written;
                done.removed += counted.removed;
                tries = 0;
            }
            // Another run moved the cursor, so it has done part of the work.
            Err(error)
                if is_conflict(&error) && ledger.cursor(CONTENTS_PROJECTION)? != from_seq =>
            {
                tries = 0;
            }
            Err(error) if is_conflict(&error) && tries < COMMIT_RETRIES_MAX => tries += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

/// Events that are processed in one commit.
struct OutboxBatch {
    upto_seq: u64,
    events: u64,
    read: EventCache,
    /// Positions of new events, by project and session.
    new: BTreeMap<(String, SessionId), BTreeSet<OrderKey>>,
}

impl OutboxBatch {
    fn read_next(
        ledger: &Ledger,
        from_seq: u64,
        events_max: usize,
    ) -> Result<Option<Self>, HomeError> {
        let entries = ledger.read_outbox(from_seq, events_max.max(1))?;
        let mut batch =
            Self { upto_seq: from_seq, events: 0, read: EventCache::new(), new: BTreeMap::new() };
        let mut bytes = 0;
        for entry in entries {
            if bytes > BATCH_BYTES {
                break;
            }
            batch.upto_seq = entry.seq;
            batch.events += 1;
            let Some(event) = ledger.event_at(&entry.position)? else {
                continue;
            };
            bytes += event_texts(&event).map(|text| text.len()).sum::<usize>();
            let whose = (event.project.clone(), event.session.clone());
            batch.new.entry(whose).or_default().insert(entry.position.order_key());
            batch.read.insert(entry.seq, event);
        }
        Ok((batch.upto_seq > from_seq).then_some(batch))
    }

    fn build_changes<'a>(
        mut self,
        ledger: &'a Ledger,
        settings: &ContentsSettings,
        summarizer: &dyn Summarizer,
        clock: &dyn Clock,
    ) -> Result<PendingChanges<'a>, HomeError> {
        let mut changes = PendingChanges::new(ledger, clock.now(), Comparison::Nodes);
        for ((project, session), new) in &self.new {
            let upto_seq = self.upto_seq;
            let part = SessionReader { ledger, settings, project, session, upto_seq };
            resegment(part, summarizer, new, &mut self.read, &mut changes)?;
        }
        roll_up_changed(&mut changes, summarizer)?;
        Ok(changes)
    }
}
