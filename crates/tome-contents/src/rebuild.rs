//! Rebuilds all contents from events: nodes that differ get a new version, nodes that should not
//! exist are removed, and nothing else is written.
//!
//! Works through one session, then one period at a time, so memory does not grow with the ledger.
//! The worker's memo marks a rebuild in progress; an interrupted one is started again by the
//! worker.

use std::collections::BTreeSet;

use tome_ledger::{Ledger, Work};
use tome_model::{Clock, NodeId, Period, SessionId};

use super::changes::{Care, Changes};
use super::limits::TRIES_MAX;
use super::rollup::roll;
use super::stitch::{Part, stitch_whole};
use super::worker::{CONTENTS, catch_up_contents, is_overtaken};
use super::{ContentsSettings, Summarizer};
use tome_home::HomeError;

/// Counts of a rebuild.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rebuilt {
    /// Sessions processed.
    pub sessions: u64,
    /// Segments and periods compared.
    pub compared: u64,
    /// Nodes that differed or were missing, and were written.
    pub nodes: u64,
    /// Nodes that should not have existed.
    pub removed: u64,
}

/// Rebuilds all contents from the events and then catches up with the outbox.
pub fn rebuild_contents(
    ledger: &Ledger,
    settings: &ContentsSettings,
    summarizer: &dyn Summarizer,
    clock: &dyn Clock,
) -> Result<Rebuilt, HomeError> {
    let mut rebuilt = rebuild_upto_cursor(ledger, settings, summarizer, clock)?;
    let caught_up = catch_up_contents(ledger, settings, summarizer, clock)?;
    rebuilt.nodes += caught_up.nodes;
    rebuilt.removed += caught_up.removed;
    Ok(rebuilt)
}

/// Rebuilds the contents from the events before the worker's cursor.
pub(super) fn rebuild_upto_cursor(
    ledger: &Ledger,
    settings: &ContentsSettings,
    summarizer: &dyn Summarizer,
    clock: &dyn Clock,
) -> Result<Rebuilt, HomeError> {
    let memo = settings.fingerprint(summarizer.name());
    let mut rebuild = Rebuild {
        ledger,
        settings,
        summarizer,
        clock,
        under_way: format!("rebuilding: {memo}"),
        done: Rebuilt::default(),
    };
    rebuild.sessions()?;
    for project in ledger.contents_projects()? {
        rebuild.strays(&project)?;
        rebuild.periods(&project)?;
    }
    let done = rebuild.done;
    if ledger.cursor(CONTENTS)? > 0 && ledger.memo(CONTENTS)? != memo {
        rebuild.commit(Some(&memo), |_, _| Ok(()))?;
    }
    Ok(done)
}

struct Rebuild<'a> {
    ledger: &'a Ledger,
    settings: &'a ContentsSettings,
    summarizer: &'a dyn Summarizer,
    clock: &'a dyn Clock,
    under_way: String,
    done: Rebuilt,
}

impl<'a> Rebuild<'a> {
    fn sessions(&mut self) -> Result<(), HomeError> {
        let mut last: Option<SessionId> = None;
        while let Some(session) = self.ledger.next_session(last.as_ref())? {
            let mut done = BTreeSet::new();
            let mut left: BTreeSet<String> = self.first_project(&session)?.into_iter().collect();
            while let Some(project) = left.pop_first() {
                let others = self.session(&project, &session)?;
                done.insert(project);
                left.extend(others.into_iter().filter(|other| !done.contains(other)));
            }
            self.done.sessions += 1;
            last = Some(session);
        }
        Ok(())
    }

    fn first_project(&self, session: &SessionId) -> Result<Option<String>, HomeError> {
        let range =
            tome_ledger::EventRange { session: Some(session.clone()), ..Default::default() };
        let first = self.ledger.events(&range).next().transpose()?;
        Ok(first.map(|(_, event)| event.project))
    }

    fn session(
        &mut self,
        project: &str,
        session: &SessionId,
    ) -> Result<BTreeSet<String>, HomeError> {
        let (ledger, settings, summarizer) = (self.ledger, self.settings, self.summarizer);
        self.commit(None, |changes, upto_seq| {
            let part = Part { ledger, settings, project, session, upto_seq };
            stitch_whole(part, summarizer, changes)
        })
    }

    /// Takes out segments that no session knows of.
    fn strays(&mut self, project: &str) -> Result<(), HomeError> {
        let mut after: Option<NodeId> = None;
        loop {
            let heads = self.ledger.heads(project, "toc:segment:", after.as_ref()).take(256);
            let heads = heads.collect::<Result<Vec<_>, _>>()?;
            let Some(last) = heads.last() else {
                return Ok(());
            };
            after = Some(last.id.clone());
            for head in heads.iter().filter(|head| !head.removed) {
                self.done.compared += 1;
                if !is_known(self.ledger, project, &head.id)? {
                    self.commit(None, |changes, _| changes.remove(project, &head.id))?;
                }
            }
        }
    }

    fn periods(&mut self, project: &str) -> Result<(), HomeError> {
        let mut level = BTreeSet::new();
        for head in self.ledger.heads(project, "toc:segment:", None) {
            let head = head?;
            level.extend(head.id.day().filter(|_| !head.removed));
        }
        for prefix in ["toc:day:", "toc:week:", "toc:month:", "toc:year:"] {
            for head in self.ledger.heads(project, prefix, None) {
                let head = head?;
                level.extend(head.id.period().filter(|_| !head.removed));
            }
            for period in &level {
                let (project, summarizer) = (project.to_owned(), self.summarizer);
                self.done.compared += 1;
                self.commit(None, |changes, _| roll(changes, summarizer, &project, *period))?;
            }
            level = level.iter().filter_map(Period::parent).collect();
        }
        Ok(())
    }

    /// Computes changes and commits them, retrying on conflicts. Without changes it writes nothing
    /// except a new memo.
    fn commit<T>(
        &mut self,
        memo: Option<&str>,
        mut work_out: impl FnMut(&mut Changes<'a>, u64) -> Result<T, HomeError>,
    ) -> Result<T, HomeError> {
        let mut tries = 0;
        loop {
            let seq = self.ledger.cursor(CONTENTS)?;
            let mut changes = Changes::new(self.ledger, self.clock.now(), Care::Thorough);
            let result = work_out(&mut changes, seq)?;
            if changes.is_empty() && memo.is_none() {
                return Ok(result);
            }
            let counted = changes.counted();
            let work = Work {
                worker: CONTENTS.to_owned(),
                from_seq: seq,
                upto_seq: seq,
                memo: Some(memo.unwrap_or(&self.under_way).to_owned()),
                ..Work::default()
            };
            match self.ledger.commit(changes.into_work(work)) {
                Ok(()) => {
                    self.done.nodes += counted.written;
                    self.done.removed += counted.removed;
                    return Ok(result);
                }
                Err(error) if is_overtaken(&error) && tries < TRIES_MAX => tries += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Whether the session of a segment knows it.
fn is_known(ledger: &Ledger, project: &str, id: &NodeId) -> Result<bool, HomeError> {
    let Some(node) = ledger.node(project, id, None)? else {
        return Ok(false);
    };
    let (Some((first, _)), [session]) = (&node.source, node.sessions.as_slice()) else {
        return Ok(false);
    };
    let Some(position) = ledger.position(first)? else {
        return Ok(false);
    };
    let stretch = ledger.stretch_before(project, session, position.mark())?;
    Ok(stretch.is_some_and(|stretch| stretch.first == position.mark() && stretch.id == *id))
}
