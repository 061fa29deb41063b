//! Selects the candidates worth reading, and reads their texts.

use std::collections::HashMap;

use tome_finder::RecordKind;

use super::candidate::{RecallCandidate, load_bodies};
use super::candidate_pool::CandidatePool;
use super::indexer::Indexer;
use super::plan::RecallPlan;
use super::rank::{CandidateVectors, tie_break_key};
use super::weights::{SIMILARITY_WEIGHT, WIDE_SETS_READ_MIN};
use super::{Tier, parallel};
use crate::RecallError;

/// Minimum number of texts per thread.
const TEXTS_PER_THREAD: usize = 16;
/// The same if stores have to be opened for them.
const STORES_PER_THREAD: usize = 2;

impl CandidatePool {
    /// Selects the candidates worth reading: the best of each tier, pages and events separately.
    pub(super) fn select_for_reading(&mut self, plan: &RecallPlan) {
        let mut keep = vec![false; self.candidates.list.len()];
        for is_event in [true, false] {
            for tier in [Tier::Bm25, Tier::Vectors, Tier::Literal] {
                let score = |candidate: &RecallCandidate| match tier {
                    Tier::Bm25 => candidate.bm25_score,
                    Tier::Vectors => {
                        candidate.similarities.first().copied().or(candidate.static_similarity)
                    }
                    _ => candidate.literal_score,
                };
                let mut order: Vec<(usize, f32)> = self
                    .candidates
                    .list
                    .iter()
                    .enumerate()
                    .filter(|(_, candidate)| (candidate.source == RecordKind::Event) == is_event)
                    .filter_map(|(index, candidate)| Some((index, score(candidate)?)))
                    .collect();
                // Break ties deterministically, whatever order an index returned.
                let tied = |index: usize| self.candidates.list.get(index).map(tie_break_key);
                order.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| tied(a.0).cmp(&tied(b.0))));
                let most = if is_event {
                    plan.effort.events_read_max(tier)
                } else {
                    plan.effort.pages_read_max()
                };
                // With many stores, almost every text requires opening another one.
                let most = if self.sets.is_wide { most / 2 } else { most };
                for (index, _) in order.into_iter().take(most) {
                    if let Some(keep) = keep.get_mut(index) {
                        *keep = true;
                    }
                }
            }
        }
        if self.sets.is_wide {
            self.keep_best_sets(&mut keep, plan.hits_max.max(WIDE_SETS_READ_MIN));
        }
        // Deterministic order, whichever index found them first.
        self.candidates.retain_sorted(keep, tie_break_key);
    }

    /// Keeps only the candidates of the index sets with the best ones, because each set requires
    /// opening a store.
    fn keep_best_sets(&self, keep: &mut [bool], sets_max: usize) {
        let mut best: HashMap<usize, f32> = HashMap::new();
        let kept = self.candidates.list.iter().zip(&*keep).filter(|(_, keep)| **keep);
        for (candidate, _) in kept {
            let similarity =
                candidate.similarities.first().copied().or(candidate.static_similarity);
            let words = candidate.bm25_score.or(candidate.literal_score).unwrap_or(0.0);
            let score = words + SIMILARITY_WEIGHT * similarity.unwrap_or(0.0);
            let best = best.entry(candidate.set_index).or_default();
            *best = best.max(score);
        }
        let mut order: Vec<(usize, f32)> = best.into_iter().collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        order.truncate(sets_max);
        for (candidate, keep) in self.candidates.list.iter().zip(keep) {
            *keep &= order.iter().any(|(set_index, _)| *set_index == candidate.set_index);
        }
    }

    /// Reads the texts of all candidates.
    pub(super) fn read_all(&mut self, indexer: &Indexer) -> Result<(), RecallError> {
        self.read_candidates(0, indexer, |_, _| ()).map(drop)
    }

    /// Reads the texts of the candidates from `first` on, those of one page together, and applies
    /// `visit` to each.
    pub(super) fn read_candidates<R: Send>(
        &mut self,
        first: usize,
        indexer: &Indexer,
        visit: impl Fn(&mut RecallCandidate, Option<CandidateVectors<'_>>) -> R + Sync,
    ) -> Result<Vec<R>, RecallError> {
        let (sets, is_wide) = (&self.sets, self.sets.is_wide);
        let read =
            |page: &mut [RecallCandidate]| -> Result<(Vec<R>, Option<RecallError>), RecallError> {
                let searched_set = page.first().and_then(|one| sets.get(one.set_index));
                let opened = searched_set.map(|searched_set| {
                    let open = searched_set.open(indexer)?;
                    load_bodies(page, indexer, open.ledger.as_deref())?;
                    Ok((open, &searched_set.query_vectors))
                });
                let (opened, problem) = match opened.transpose() {
                    Ok(opened) => (opened, None),
                    // In a wide query, one unreadable store must not fail the others.
                    Err(error) if is_wide => (None, Some(error)),
                    Err(error) => return Err(error),
                };
                let vectors = opened.as_ref().map(|(open, query_vectors)| CandidateVectors {
                    vectors: open.vectors.as_deref().zip(query_vectors.vectors.as_ref()),
                    deep: open.deep.as_deref().zip(query_vectors.deep.as_ref()),
                });
                Ok((page.iter_mut().map(|candidate| visit(candidate, vectors)).collect(), problem))
            };
        let candidates = self.candidates.list.get_mut(first..).unwrap_or_default();
        let is_same =
            |a: &RecallCandidate, b: &RecallCandidate| a.set_index == b.set_index && a.key == b.key;
        let mut pages: Vec<(usize, &mut [RecallCandidate])> =
            candidates.chunk_by_mut(is_same).enumerate().collect();
        if is_wide {
            // Group pages by index set, so that each is opened once.
            pages.sort_by_key(|(_, page)| page.first().map(|one| one.set_index));
        }
        let work = |(index, page)| (index, read(page));
        // Where file descriptors are few, stores are opened one after the other.
        let opens_many = is_wide && indexer.stores.index_sets_max() > 0;
        let per_thread = if opens_many { STORES_PER_THREAD } else { TEXTS_PER_THREAD };
        let mut pages_read = parallel::map(pages, per_thread, work);
        pages_read.sort_by_key(|(index, _)| *index);
        let mut all = Vec::new();
        for (_, page) in pages_read {
            let (results, problem) = page?;
            all.extend(results);
            if let Some(problem) = problem {
                self.report.report_unread(problem.explained());
            }
        }
        Ok(all)
    }
}
