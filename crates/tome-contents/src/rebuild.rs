//! Rebuilds all contents from events: nodes that differ get a new version, nodes that should not
//! exist are removed, and nothing else is written.
//!
//! Works through one session, then one period at a time, so memory does not grow with the ledger.
//! The memo of the projection marks a rebuild in progress; an interrupted one is
//! started again when the contents catch up.

use std::collections::BTreeSet;

use tome_ledger::{Ledger, ProjectionCommit};
use tome_model::{Clock, NodeId, Period, SessionId};

use super::build_periods::roll_up_period;
use super::limits::COMMIT_RETRIES_MAX;
use super::pending_changes::{CONTENTS_PROJECTION, Comparison, PendingChanges, is_conflict};
use super::resegment::{SessionReader, resegment_all};
use super::{ContentsSettings, Summarizer};
use tome_home::HomeError;

/// Counts of a rebuild.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ContentsRebuildReport {
    /// Sessions processed.
    pub sessions: u64,
    /// Segments and periods compared.
    pub compared: u64,
    /// Nodes that differed or were missing, and were written.
    pub nodes: u64,
    /// Nodes that should not have existed.
    pub removed: u64,
}

/// Rebuilds the contents from the events before the cursor.
pub(super) fn rebuild_to_cursor(
    ledger: &Ledger,
    settings: &ContentsSettings,
    summarizer: &dyn Summarizer,
    clock: &dyn Clock,
) -> Result<ContentsRebuildReport, HomeError> {
    let memo = settings.fingerprint(summarizer.name());
    let mut rebuild = ContentsRebuild {
        ledger,
        settings,
        summarizer,
        clock,
        in_progress_memo: format!("rebuilding: {memo}"),
        report: ContentsRebuildReport::default(),
    };
    rebuild.rebuild_sessions()?;
    for project in ledger.contents_projects()? {
        rebuild.remove_stray_segments(&project)?;
        rebuild.rebuild_periods(&project)?;
    }
    let done = rebuild.report;
    if ledger.cursor(CONTENTS_PROJECTION)? > 0 && ledger.memo(CONTENTS_PROJECTION)? != memo {
        rebuild.commit(Some(&memo), |_, _| Ok(()))?;
    }
    Ok(done)
}

struct ContentsRebuild<'a> {
    ledger: &'a Ledger,
    settings: &'a ContentsSettings,
    summarizer: &'a dyn Summarizer,
    clock: &'a dyn Clock,
    in_progress_memo: String,
    report: ContentsRebuildReport,
}

impl<'a> ContentsRebuild<'a> {
    fn rebuild_sessions(&mut self) -> Result<(), HomeError> {
        let mut last: Option<SessionId> = None;
        while let Some(session) = self.ledger.next_session(last.as_ref())? {
            let mut done = BTreeSet::new();
            let mut left: BTreeSet<String> =
                self.find_first_project(&session)?.into_iter().collect();
            while let Some(project) = left.pop_first() {
                let others = self.rebuild_session(&project, &session)?;
                done.insert(project);
                left.extend(others.into_iter().filter(|other| !done.contains(other)));
            }
            self.report.sessions += 1;
            last = Some(session);
        }
        Ok(())
    }

    fn find_first_project(&self, session: &SessionId) -> Result<Option<String>, HomeError> {
        let range =
            tome_ledger::EventRange { session: Some(session.clone()), ..Default::default() };
        let first = self.ledger.events(&range).next().transpose()?;
        Ok(first.map(|(_, event)| event.project))
    }

    fn rebuild_session(
        &mut self,
        project: &str,
        session: &SessionId,
    ) -> Result<BTreeSet<String>, HomeError> {
        let (ledger, settings, summarizer) = (self.ledger, self.settings, self.summarizer);
        self.commit(None, |changes, upto_seq| {
            let part = SessionReader { ledger, settings, project, session, upto_seq };
            resegment_all(part, summarizer, changes)
        })
    }

    /// Removes segments that no session record refers to.
    fn remove_stray_segments(&mut self, project: &str) -> Result<(), HomeError> {
        let mut after: Option<NodeId> = None;
        loop {
            let heads = self.ledger.node_headers(project, "toc:segment:", after.as_ref()).take(256);
            let heads = heads.collect::<Result<Vec<_>, _>>()?;
            let Some(last) = heads.last() else {
                return Ok(());
            };
            after = Some(last.id.clone());
            for head in heads.iter().filter(|head| !head.removed) {
                self.report.compared += 1;
                if !has_segment_record(self.ledger, project, &head.id)? {
                    self.commit(None, |changes, _| changes.remove_node(project, &head.id))?;
                }
            }
        }
    }

    fn rebuild_periods(&mut self, project: &str) -> Result<(), HomeError> {
        let mut periods: BTreeSet<Period> = BTreeSet::new();
        for head in self.ledger.node_headers(project, "toc:segment:", None) {
            let head = head?;
            if let Some(day) = head.id.day().filter(|_| !head.removed) {
                periods.insert(day);
                periods.extend(day.ancestors());
            }
        }
        for prefix in ["toc:day:", "toc:week:", "toc:month:", "toc:year:"] {
            for head in self.ledger.node_headers(project, prefix, None) {
                let head = head?;
                periods.extend(head.id.period().filter(|_| !head.removed));
            }
        }
        // Shorter periods sort last, and are the parts of longer ones.
        for period in periods.iter().rev() {
            let (project, summarizer) = (project.to_owned(), self.summarizer);
            self.report.compared += 1;
            self.commit(None, |changes, _| roll_up_period(changes, summarizer, &project, *period))?;
        }
        Ok(())
    }

    /// Computes changes and commits them, retrying on conflicts. Without changes it writes nothing
    /// except a new memo.
    fn commit<T>(
        &mut self,
        memo: Option<&str>,
        mut work_out: impl FnMut(&mut PendingChanges<'a>, u64) -> Result<T, HomeError>,
    ) -> Result<T, HomeError> {
        let mut tries = 0;
        loop {
            let seq = self.ledger.cursor(CONTENTS_PROJECTION)?;
            let mut changes =
                PendingChanges::new(self.ledger, self.clock.now(), Comparison::Everything);
            let result = work_out(&mut changes, seq)?;
            if changes.is_empty() && memo.is_none() {
                return Ok(result);
            }
            let counted = changes.counts();
            let work = ProjectionCommit {
                projection: CONTENTS_PROJECTION.to_owned(),
                from_seq: seq,
                upto_seq: seq,
                memo: Some(memo.unwrap_or(&self.in_progress_memo).to_owned()),
                ..ProjectionCommit::default()
            };
            match self.ledger.commit(changes.into_work(work)) {
                Ok(()) => {
                    self.report.nodes += counted.written;
                    self.report.removed += counted.removed;
                    return Ok(result);
                }
                Err(error) if is_conflict(&error) && tries < COMMIT_RETRIES_MAX => tries += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Whether a session record refers to a segment.
fn has_segment_record(ledger: &Ledger, project: &str, id: &NodeId) -> Result<bool, HomeError> {
    let Some(node) = ledger.node(project, id, None)? else {
        return Ok(false);
    };
    let (Some((first, _)), [session]) = (&node.source, node.sessions.as_slice()) else {
        return Ok(false);
    };
    let Some(position) = ledger.position(first)? else {
        return Ok(false);
    };
    let segment = ledger.segment_before(project, session, position.order_key())?;
    Ok(segment.is_some_and(|segment| segment.first == position.order_key() && segment.id == *id))
}
