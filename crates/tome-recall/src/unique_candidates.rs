//! The candidates of a query, each once, whichever tiers found it.

use std::collections::HashMap;

use tome_finder::{EntryKey, IndexHit};

use super::candidate::{CandidateId, RecallCandidate};
use super::literal::ScanMatch;

/// The candidates of a query.
#[derive(Default)]
pub(super) struct UniqueCandidates {
    pub list: Vec<RecallCandidate>,
    /// Candidates not worth reading, with their index scores.
    skipped: HashMap<CandidateId, RecallCandidate>,
    positions: HashMap<CandidateId, usize>,
}

impl UniqueCandidates {
    pub(super) fn position(&self, id: &CandidateId) -> Option<usize> {
        self.positions.get(id).copied()
    }

    /// Returns the candidate with this identity, adding it if it is new.
    pub(super) fn add(&mut self, candidate: RecallCandidate) -> Option<&mut RecallCandidate> {
        let list = &mut self.list;
        let number = *self.positions.entry(candidate.id()).or_insert_with(|| {
            list.push(candidate);
            list.len() - 1
        });
        self.list.get_mut(number)
    }

    pub(super) fn add_bm25_hits(&mut self, set_index: usize, hits: &[IndexHit]) {
        for hit in hits {
            let Some(candidate) = self.add(RecallCandidate::from_hit(set_index, hit)) else {
                continue;
            };
            candidate.chunks.push(hit.range);
            if candidate.bm25_score.is_none_or(|best| hit.score > best) {
                candidate.bm25_score = Some(hit.score);
                candidate.range = hit.range;
            }
        }
    }

    pub(super) fn add_vector_hits<'a>(
        &mut self,
        set_index: usize,
        hits: impl IntoIterator<Item = &'a IndexHit>,
    ) {
        for hit in hits {
            if let Some(candidate) = self.add(RecallCandidate::from_hit(set_index, hit)) {
                candidate.similarities.push(hit.score);
                candidate.chunks.push(hit.range);
            }
        }
    }

    /// Adds results by static vectors. Records with deep vectors, according to `has_deep`, are
    /// compared by those first.
    pub(super) fn add_static_hits(
        &mut self,
        set_index: usize,
        hits: &[IndexHit],
        has_deep: impl Fn(&EntryKey) -> bool,
    ) {
        let (both, only): (Vec<&IndexHit>, Vec<&IndexHit>) =
            hits.iter().partition(|hit| has_deep(&hit.key));
        self.add_vector_hits(set_index, only);
        for hit in both {
            if let Some(candidate) = self.add(RecallCandidate::from_hit(set_index, hit)) {
                let best =
                    candidate.static_similarity.map_or(hit.score, |best| best.max(hit.score));
                candidate.static_similarity = Some(best);
                candidate.chunks.push(hit.range);
            }
        }
    }

    pub(super) fn add_scan_matches(&mut self, set_index: usize, matches: &[ScanMatch]) {
        for one in matches {
            if let Some(candidate) = self.add(RecallCandidate::from_match(set_index, one)) {
                let score = one.text_match.score();
                candidate.literal_score =
                    Some(candidate.literal_score.map_or(score, |best| best.max(score)));
            }
        }
    }

    /// Adds an entry that a scan matched. Its score replaces an earlier one.
    pub(super) fn add_matched_entry(&mut self, set_index: usize, hit: &IndexHit) {
        if let Some(candidate) = self.add(RecallCandidate::from_hit(set_index, hit)) {
            candidate.literal_score = Some(hit.score);
        }
    }

    /// Returns whether an index set has any candidate.
    pub(super) fn has_any_of(&self, set_index: usize) -> bool {
        self.list.iter().rev().any(|candidate| candidate.set_index == set_index)
    }

    /// Keeps the candidates marked in `keep`, in the order of `key`. The others can still be
    /// [taken back](Self::take_skipped).
    pub(super) fn retain_sorted<K: Ord>(
        &mut self,
        keep: Vec<bool>,
        key: impl FnMut(&RecallCandidate) -> K,
    ) {
        let mut keep = keep.into_iter();
        let (kept, skipped): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.list).into_iter().partition(|_| keep.next().unwrap_or(false));
        self.list = kept;
        self.skipped = skipped.into_iter().map(|one| (one.id(), one)).collect();
        self.list.sort_by_cached_key(key);
        self.positions = self.list.iter().enumerate().map(|(n, one)| (one.id(), n)).collect();
    }

    /// Removes and returns a candidate that was not worth reading.
    pub(super) fn take_skipped(&mut self, id: &CandidateId) -> Option<RecallCandidate> {
        self.skipped.remove(id)
    }
}
