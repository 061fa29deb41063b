//! Standard retrieval metrics (recall, nDCG, MRR) with binary relevance.
//!
//! A hit that opens no document, or one that a higher hit already opened, keeps its rank but scores
//! nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;

/// The labels of a hit's confidence that count.
const STRONG: &str = "strong";
const LIKELY: &str = "likely";
const WEAK: &str = "weak";

/// The score of one query.
pub struct QueryScore {
    /// Ranks of the relevant documents, starting at 1.
    pub ranks: Vec<usize>,
    /// Number of relevant documents; 0 if the query has no answer.
    pub gold: usize,
    pub hits: Vec<HitScore>,
    pub tokens: u64,
    pub took: Duration,
}

/// A hit, in order.
pub struct HitScore {
    /// Strong, likely or weak; empty if the tier does not say.
    pub confidence: String,
    pub is_relevant: bool,
}

impl QueryScore {
    /// Returns whether there is no hit that claims to be an answer.
    fn is_refused(&self) -> bool {
        self.hits.iter().all(|hit| hit.confidence == WEAK)
    }

    /// Computes the ranks of the relevant documents. Each hit is given as the documents that it opens.
    pub fn find_ranks(hits: &[Vec<String>], gold: &BTreeSet<String>) -> Vec<usize> {
        let mut seen = BTreeSet::new();
        let (mut ranks, mut rank) = (Vec::new(), 0);
        for documents in hits {
            for document in documents {
                rank += 1;
                if seen.insert(document) && gold.contains(document) {
                    ranks.push(rank);
                }
            }
            rank += usize::from(documents.is_empty());
        }
        ranks
    }

    fn relevant_in_top(&self, k: usize) -> usize {
        self.ranks.iter().filter(|rank| **rank <= k).count()
    }

    fn recall_at(&self, k: usize) -> f64 {
        ratio(self.relevant_in_top(k), self.gold)
    }

    fn full_recall_at(&self, k: usize) -> f64 {
        f64::from(self.relevant_in_top(k) == self.gold)
    }

    fn hit_rate_at(&self, k: usize) -> f64 {
        f64::from(self.relevant_in_top(k) > 0)
    }

    fn reciprocal_rank_at(&self, k: usize) -> f64 {
        self.ranks.first().filter(|rank| **rank <= k).map_or(0.0, |rank| 1.0 / *rank as f64)
    }

    fn ndcg_at(&self, k: usize) -> f64 {
        let gain = |rank: usize| 1.0 / (rank as f64 + 1.0).log2();
        let ideal: f64 = (1..=self.gold.min(k)).map(gain).sum();
        let found = self.ranks.iter().filter(|rank| **rank <= k).copied();
        // `sum()` of no floats is -0.0.
        let found = found.map(gain).fold(0.0, |sum, gain| sum + gain);
        if ideal > 0.0 { found / ideal } else { 0.0 }
    }
}

/// Aggregated scores. Unless stated otherwise, averages over the queries that have an answer.
#[derive(Debug, Serialize, PartialEq)]
pub struct AverageScores {
    pub queries: usize,
    /// Queries that have an answer.
    pub answerable: usize,
    pub r1: Option<f64>,
    pub r5: Option<f64>,
    pub r10: Option<f64>,
    pub recall_all5: Option<f64>,
    pub recall_all10: Option<f64>,
    pub hit5: Option<f64>,
    pub ndcg10: Option<f64>,
    pub mrr10: Option<f64>,
    /// Share of queries without an answer that got no hits, or only weak ones.
    pub abstention_accuracy: Option<f64>,
    /// Share of queries with an answer that got no hits.
    pub false_refusals: Option<f64>,
    /// Share of strong and of likely hits among those of all queries, and how many of them are relevant.
    pub strong_hits: Option<f64>,
    pub strong_relevant: Option<f64>,
    pub likely_hits: Option<f64>,
    pub likely_relevant: Option<f64>,
    /// Over all queries, like the latencies.
    pub tokens: Option<f64>,
    pub p50_ms: Option<f64>,
    pub p99_ms: Option<f64>,
}

impl AverageScores {
    pub fn average<'a>(queries: impl IntoIterator<Item = &'a QueryScore>) -> Self {
        let all: Vec<&QueryScore> = queries.into_iter().collect();
        let (answerable, others): (Vec<&QueryScore>, Vec<&QueryScore>) =
            all.iter().partition(|query| query.gold > 0);
        let mean = |of: &dyn Fn(&QueryScore) -> f64| {
            compute_mean(answerable.iter().map(|query| of(query)))
        };
        let hits: Vec<&HitScore> = all.iter().flat_map(|query| &query.hits).collect();
        let share_with_label = |label: &'static str| {
            compute_mean(hits.iter().map(|hit| f64::from(hit.confidence == label)))
        };
        let precision_of_label = |label: &str| {
            let labelled: Vec<_> = hits.iter().filter(|hit| hit.confidence == label).collect();
            compute_mean(labelled.into_iter().map(|hit| f64::from(hit.is_relevant)))
        };
        let mut times: Vec<Duration> = all.iter().map(|query| query.took).collect();
        times.sort_unstable();
        Self {
            queries: all.len(),
            answerable: answerable.len(),
            r1: mean(&|query| query.recall_at(1)),
            r5: mean(&|query| query.recall_at(5)),
            r10: mean(&|query| query.recall_at(10)),
            recall_all5: mean(&|query| query.full_recall_at(5)),
            recall_all10: mean(&|query| query.full_recall_at(10)),
            hit5: mean(&|query| query.hit_rate_at(5)),
            ndcg10: mean(&|query| query.ndcg_at(10)),
            mrr10: mean(&|query| query.reciprocal_rank_at(10)),
            abstention_accuracy: compute_mean(
                others.iter().map(|query| f64::from(query.is_refused())),
            ),
            false_refusals: mean(&|query| f64::from(query.hits.is_empty())),
            strong_hits: share_with_label(STRONG),
            strong_relevant: precision_of_label(STRONG),
            likely_hits: share_with_label(LIKELY),
            likely_relevant: precision_of_label(LIKELY),
            tokens: compute_mean(all.iter().map(|query| query.tokens as f64)),
            p50_ms: percentile(&times, 50),
            p99_ms: percentile(&times, 99),
        }
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn compute_mean(figures: impl ExactSizeIterator<Item = f64>) -> Option<f64> {
    let count = figures.len();
    (count > 0).then(|| figures.sum::<f64>() / count as f64)
}

/// A percentile of sorted durations, in milliseconds (nearest rank).
fn percentile(sorted: &[Duration], percent: usize) -> Option<f64> {
    let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(at).map(|time| time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(hits: &[&[&str]], gold: &[&str]) -> QueryScore {
        let gold: BTreeSet<String> = gold.iter().map(|id| (*id).to_owned()).collect();
        let hits: Vec<Vec<String>> =
            hits.iter().map(|one| one.iter().map(|id| (*id).to_owned()).collect()).collect();
        QueryScore {
            ranks: QueryScore::find_ranks(&hits, &gold),
            gold: gold.len(),
            tokens: 10,
            took: Duration::from_millis(hits.len() as u64),
            hits: hits
                .iter()
                .map(|documents| HitScore {
                    confidence: STRONG.to_owned(),
                    is_relevant: documents.iter().any(|document| gold.contains(document)),
                })
                .collect(),
        }
    }

    fn is_near(found: Option<f64>, wanted: f64) -> bool {
        found.is_some_and(|found| (found - wanted).abs() < 1e-9)
    }

    #[test]
    fn an_irrelevant_hit_keeps_its_rank() {
        // The first opens nothing, the third opens what the second has opened.
        let one = scored(&[&[], &["a"], &["a"], &["b", "c"]], &["a", "b", "c", "d"]);
        assert_eq!(one.ranks, [2, 4, 5]);
        let scores = AverageScores::average([&one]);
        assert!(is_near(scores.r1, 0.0) && is_near(scores.r5, 0.75), "{scores:?}");
        assert!(is_near(scores.mrr10, 0.5) && is_near(scores.hit5, 1.0), "{scores:?}");
        assert!(is_near(scores.recall_all5, 0.0), "{scores:?}");
        let gain = |rank: f64| 1.0 / (rank + 1.0).log2();
        let ideal = gain(1.0) + gain(2.0) + gain(3.0) + gain(4.0);
        let found = gain(2.0) + gain(4.0) + gain(5.0);
        assert!(is_near(scores.ndcg10, found / ideal), "{scores:?}");
    }

    #[test]
    fn averages_include_only_queries_with_an_answer() {
        let all = [
            scored(&[&["a"], &["b"]], &["a", "b"]),
            scored(&[&["x"], &["y"], &["a"]], &["a"]),
            scored(&[], &["a"]),
            scored(&[], &[]),
            scored(&[&["a"]], &[]),
        ];
        let scores = AverageScores::average(&all);
        assert_eq!((scores.queries, scores.answerable), (5, 3));
        assert!(is_near(scores.r1, 0.5 / 3.0) && is_near(scores.r5, 2.0 / 3.0), "{scores:?}");
        assert!(is_near(scores.recall_all5, 2.0 / 3.0), "{scores:?}");
        assert!(is_near(scores.mrr10, (1.0 + 1.0 / 3.0) / 3.0), "{scores:?}");
        assert!(is_near(scores.abstention_accuracy, 0.5), "{scores:?}");
        assert!(is_near(scores.false_refusals, 1.0 / 3.0), "{scores:?}");
        assert!(is_near(scores.p50_ms, 1.0) && is_near(scores.p99_ms, 3.0), "{scores:?}");
    }

    #[test]
    fn weak_hits_do_not_count_as_answers() {
        let mut answerable = scored(&[&["a"], &["b"]], &["b"]);
        let mut unanswerable = scored(&[&["a"]], &[]);
        unanswerable.hits[0].confidence = WEAK.to_owned();
        answerable.hits[0].confidence = LIKELY.to_owned();
        let scores = AverageScores::average([&answerable, &unanswerable]);
        assert!(is_near(scores.abstention_accuracy, 1.0), "{scores:?}");
        assert!(is_near(scores.false_refusals, 0.0), "{scores:?}");
        assert!(is_near(scores.strong_relevant, 1.0), "{scores:?}");
        assert!(is_near(scores.likely_relevant, 0.0), "{scores:?}");
        assert!(is_near(scores.strong_hits, 1.0 / 3.0), "{scores:?}");
    }

    #[test]
    fn hits_after_rank_ten_do_not_count() {
        let hits: Vec<&[&str]> = (0..10).map(|_| &[][..]).chain([&["a"][..]]).collect();
        let scores = AverageScores::average([&scored(&hits, &["a"])]);
        let all = [scores.r10, scores.ndcg10, scores.mrr10, scores.recall_all10];
        assert!(all.iter().all(|one| is_near(*one, 0.0)), "{scores:?}");
    }

    #[test]
    fn an_empty_query_set_has_no_score() {
        let scores = AverageScores::average([]);
        assert_eq!((scores.queries, scores.r5, scores.p50_ms), (0, None, None));
    }
}
