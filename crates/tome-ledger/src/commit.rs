//! Commits of projections: their results and cursors, written atomically.

use std::sync::PoisonError;

use tome_model::{SessionId, SessionStats};

use crate::limits::PROJECTION_NAME_BYTES_MAX;
use crate::{
    Durability, Family, GripWrite, KeyRange, KvBatch, Ledger, LedgerError, NodeWrite,
    ScanDirection, SegmentWrite, cursor_value, key,
};

/// Results of a projection and its new cursor, written atomically.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProjectionCommit {
    /// The projection's name.
    pub projection: String,
    /// The projection's cursor when it began. If another commit has moved it since, the same events were
    /// processed twice, and this commit is rejected.
    pub from_seq: u64,
    /// The new cursor: everything up to this number of the outbox is processed.
    pub upto_seq: u64,
    /// State that the projection stores beside its cursor, such as its settings. `None` keeps it.
    pub memo: Option<String>,
    /// Current session statistics.
    pub session_stats: Vec<SessionStats>,
    /// Node changes, at most one per node.
    pub nodes: Vec<NodeWrite>,
    /// Changes of segment boundaries, at most one per position.
    pub segments: Vec<SegmentWrite>,
    /// Grip changes.
    pub grips: Vec<GripWrite>,
}

impl Ledger {
    /// Returns a projection's cursor: everything up to this number is processed. 0 if it never ran.
    pub fn cursor(&self, projection: &str) -> Result<u64, LedgerError> {
        match self.get(Family::Checkpoints, cursor_key(projection)?)? {
            Some(bytes) => cursor_value::decode_cursor(projection, &bytes).map(|(seq, _)| seq),
            None => Ok(0),
        }
    }

    /// Returns the state that a projection stores beside its cursor; empty if there is none.
    pub fn memo(&self, projection: &str) -> Result<String, LedgerError> {
        match self.get(Family::Checkpoints, cursor_key(projection)?)? {
            Some(bytes) => cursor_value::decode_cursor(projection, &bytes).map(|(_, memo)| memo),
            None => Ok(String::new()),
        }
    }

    /// Writes a projection's results and its cursor atomically. They are not synced: if they are lost, the
    /// projection repeats its work. A cursor never moves backwards or ahead of the events.
    pub fn commit(&self, work: ProjectionCommit) -> Result<(), LedgerError> {
        let ProjectionCommit {
            projection,
            from_seq,
            upto_seq,
            memo,
            session_stats,
            nodes,
            segments,
            grips,
        } = work;
        self.shared.check_writable()?;
        let mut last_change = self.commits.lock().unwrap_or_else(PoisonError::into_inner);
        let at = self.cursor(&projection)?;
        let problem = match upto_seq {
            _ if from_seq != at => Some("another commit has moved it"),
            upto if upto < at => Some("a cursor never moves backwards"),
            upto if upto > self.last_seq() => Some("no event has that number yet"),
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(LedgerError::InvalidCommit { projection, at, upto: upto_seq, problem });
        }
        let mut batch = KvBatch::default();
        for stats in &session_stats {
            let key = key::session_stats_key(&stats.session, &stats.project);
            batch.put(Family::SessionStats, &key, &cursor_value::encode_session_stats(stats)?);
        }
        let changed = self.put_nodes(&mut batch, nodes)?;
        Self::put_segments(&mut batch, &segments)?;
        self.put_grips(&mut batch, &grips)?;
        self.put_node_changes(&mut batch, &changed, &mut last_change)?;
        let memo = match memo {
            Some(memo) => memo,
            None => self.memo(&projection)?,
        };
        let cursor = cursor_value::encode_cursor(upto_seq, &memo);
        batch.put(Family::Checkpoints, cursor_key(&projection)?, &cursor);
        self.write(&batch, Durability::Buffered)
    }

    /// Returns the statistics of a session in a project.
    pub fn session_stats(
        &self,
        session: &SessionId,
        project: &str,
    ) -> Result<Option<SessionStats>, LedgerError> {
        let key = key::session_stats_key(session, project);
        match self.get(Family::SessionStats, &key)? {
            Some(bytes) => cursor_value::decode_session_stats(&key, &bytes).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the statistics of all sessions, in order of their ids.
    pub fn all_session_stats(&self) -> Result<Vec<SessionStats>, LedgerError> {
        self.scan(Family::SessionStats, KeyRange::ALL, ScanDirection::Forward)
            .map(|pair| {
                pair.and_then(|(key, bytes)| cursor_value::decode_session_stats(&key, &bytes))
            })
            .filter_map(|stats| self.skip_damage(stats).transpose())
            .collect()
    }
}

fn cursor_key(projection: &str) -> Result<&[u8], LedgerError> {
    if projection.is_empty() || projection.len() > PROJECTION_NAME_BYTES_MAX {
        return Err(LedgerError::InvalidCommit {
            projection: tome_model::truncate_to(projection, PROJECTION_NAME_BYTES_MAX).to_owned(),
            at: 0,
            upto: 0,
            problem: "a projection's name must have 1 to 128 bytes",
        });
    }
    Ok(projection.as_bytes())
}
