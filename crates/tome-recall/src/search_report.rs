//! A report on the search itself, for the answer.

use std::time::{Duration, Instant};

use super::{SearchStage, Tier};

/// The tiers that a query used, how far behind they were, and the records it could not search.
#[derive(Default)]
pub(super) struct SearchReport {
    /// Lowest tier used for any index set; `None` before the first.
    pub tier: Option<Tier>,
    /// Number of records that an index has not read yet.
    pub behind: u64,
    /// Descriptions of records that could not be searched.
    pub unread: Vec<String>,
    /// Number of events without a vector that answers, in all index sets.
    missing_vectors: u64,
    /// Why some of them have none.
    vectors_problem: Option<String>,
    pub stages: Vec<SearchStage>,
}

impl SearchReport {
    /// Records a step that began at `since` and ends now.
    pub(super) fn record_stage(&mut self, name: &str, since: Instant, found: String) {
        self.record_stage_duration(name, since.elapsed(), found);
    }

    pub(super) fn record_stage_duration(&mut self, name: &str, took: Duration, found: String) {
        self.stages.push(SearchStage { name: name.to_owned(), found, took });
    }

    /// Records which indexes of a pair responded.
    pub(super) fn record_tier(&mut self, has_bm25: bool, has_vectors: bool) {
        let tier = match (has_bm25, has_vectors) {
            (true, true) => Tier::Fused,
            (true, false) => Tier::Bm25,
            (false, true) => Tier::Vectors,
            (false, false) => Tier::Literal,
        };
        self.tier = Some(self.tier.map_or(tier, |lowest| lowest.min(tier)));
    }

    /// Records that an index lacks this many records.
    pub(super) fn record_behind(&mut self, records: u64) {
        self.behind = self.behind.max(records);
    }

    /// Records that this many events have no vector that answers, and the reason if it is known.
    pub(super) fn record_missing_vectors(&mut self, events: u64, problem: Option<String>) {
        self.missing_vectors += events;
        self.vectors_problem = self.vectors_problem.take().or(problem);
    }

    /// Reports the missing vectors of all index sets at once.
    pub(super) fn report_missing_vectors(&mut self, embedder: &str) {
        let events = match self.missing_vectors {
            0 => return,
            1 => "1 event".to_owned(),
            events => format!("{events} events"),
        };
        let still = || format!("{embedder} is still embedding them");
        let problem = self.vectors_problem.take().unwrap_or_else(still);
        self.report_unread(format!("vectors of {events}: {problem}"));
    }

    /// Reports a problem once.
    pub(super) fn report_unread(&mut self, problem: String) {
        if !self.unread.contains(&problem) {
            self.unread.push(problem);
        }
    }
}
