//! Runs every query of a data set through recall and scores the responses.

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use indicatif::ProgressBar;
use serde_json::{Value, json};
use tome_proto::{Client, ClientError, v1};
use tome_text::estimate_tokens;

use crate::dataset::{BenchQuery, DataSet};
use crate::fts5::Fts5Baseline;
use crate::metrics::{HitScore, QueryScore};
use crate::resolver::CitationResolver;
use crate::timeline::EventTimeline;

/// The tiers of recall, and the baseline.
pub const TIERS: [&str; 5] = ["literal", "bm25", "vectors", "fused", FTS5];
/// The tier that is not recall's: the full-text search of `SQLite`.
const FTS5: &str = "fts5";

/// The scores of all queries in one tier.
pub struct TierResult {
    pub tier: String,
    /// One per query, in order.
    pub scored: Vec<QueryScore>,
    /// Responses that came from another tier.
    pub from_other_tiers: usize,
    /// Queries that recall rejected as invalid.
    pub rejected: usize,
    /// Citations that could not be opened.
    pub unresolved: usize,
}

pub struct QueryRunner<'a> {
    pub client: &'a Client,
    pub set: &'a DataSet,
    pub timeline: &'a EventTimeline,
    pub limit: u32,
    pub bar: &'a ProgressBar,
}

impl QueryRunner<'_> {
    /// Runs every query in one tier, and writes a row for each to `rows`.
    pub async fn run_tier(
        &self,
        tier: &str,
        rows: &mut Option<Box<dyn Write>>,
    ) -> Result<TierResult> {
        if tier == FTS5 {
            return self.run_baseline(rows);
        }
        let mut resolver = CitationResolver::new(self.client, self.timeline);
        let mut result = TierResult {
            tier: tier.to_owned(),
            scored: Vec::with_capacity(self.set.queries.len()),
            from_other_tiers: 0,
            rejected: 0,
            unresolved: 0,
        };
        self.bar.set_message(format!("querying {tier}"));
        for query in &self.set.queries {
            let answered = self.run_query(tier, query).await;
            let (answer, took) =
                answered.with_context(|| format!("query {} of {}", query.id, self.set.name))?;
            result.rejected += usize::from(answer.is_none());
            let answer = answer.unwrap_or_default();
            result.from_other_tiers += usize::from(!answer.hits.is_empty() && answer.tier != tier);
            let mut hits = Vec::with_capacity(answer.hits.len());
            for hit in &answer.hits {
                hits.push(resolver.resolve_documents(&query.group, &hit.citation).await?);
            }
            let scored = QueryScore {
                ranks: QueryScore::find_ranks(&hits, &query.gold),
                gold: query.gold.len(),
                hits: score_hits(&answer, &hits, query),
                tokens: answer.hits.iter().map(count_hit_tokens).sum(),
                took,
            };
            let found = answer.hits.iter().zip(&hits).map(|(hit, documents)| {
                json!({"citation": hit.citation, "confidence": hit.confidence, "documents": documents})
            });
            self.write_row(rows, tier, query, &scored, &found.collect::<Vec<Value>>())?;
            result.scored.push(scored);
            self.bar.inc(1);
        }
        result.unresolved = resolver.unresolved;
        Ok(result)
    }

    /// Runs one query; `None` if recall rejected it as invalid.
    async fn run_query(
        &self,
        tier: &str,
        query: &BenchQuery,
    ) -> Result<(Option<v1::RecallResponse>, Duration)> {
        let request = v1::RecallRequest {
            query: query.text.clone(),
            scope: "all".to_owned(),
            across: "project".to_owned(),
            limit: Some(self.limit),
            project: self.timeline.project_root(&query.group),
            tier: tier.to_owned(),
            ..v1::RecallRequest::default()
        };
        let begun = Instant::now();
        let answer = self.client.recall(request).await;
        let took = begun.elapsed();
        match answer {
            Ok(answer) => Ok((Some(answer), took)),
            Err(ClientError::Invalid(_)) => Ok((None, took)),
            Err(error) => Err(error.into()),
        }
    }

    /// Runs every query against the baseline, whose hits are documents rather than citations.
    fn run_baseline(&self, rows: &mut Option<Box<dyn Write>>) -> Result<TierResult> {
        self.bar.set_message(format!("querying {FTS5}"));
        let baseline = Fts5Baseline::build(self.set)?;
        let mut scored = Vec::with_capacity(self.set.queries.len());
        for query in &self.set.queries {
            let begun = Instant::now();
            let found = baseline.search(&query.group, &query.text, self.limit)?;
            let took = begun.elapsed();
            let hits: Vec<Vec<String>> = found.into_iter().map(|document| vec![document]).collect();
            let score = QueryScore {
                ranks: QueryScore::find_ranks(&hits, &query.gold),
                gold: query.gold.len(),
                hits: hits.iter().map(|documents| score_hit("", documents, query)).collect(),
                tokens: 0,
                took,
            };
            let found = hits.iter().map(|documents| json!({"documents": documents}));
            self.write_row(rows, FTS5, query, &score, &found.collect::<Vec<Value>>())?;
            scored.push(score);
            self.bar.inc(1);
        }
        let tier = FTS5.to_owned();
        Ok(TierResult { tier, scored, from_other_tiers: 0, rejected: 0, unresolved: 0 })
    }

    fn write_row(
        &self,
        rows: &mut Option<Box<dyn Write>>,
        tier: &str,
        query: &BenchQuery,
        scored: &QueryScore,
        hits: &[Value],
    ) -> Result<()> {
        let Some(rows) = rows else { return Ok(()) };
        let row = json!({
            "set": self.set.name, "id": query.id, "type": query.kind, "tier": tier,
            "gold": query.gold, "ranks": scored.ranks, "hits": hits, "tokens": scored.tokens,
            "latency_ms": scored.took.as_secs_f64() * 1e3,
        });
        writeln!(rows, "{row}").context("cannot write the rows")
    }
}

/// Scores the hits of a response, given the documents that each of them opens.
fn score_hits(
    answer: &v1::RecallResponse,
    documents: &[Vec<String>],
    query: &BenchQuery,
) -> Vec<HitScore> {
    let hits = answer.hits.iter().zip(documents);
    hits.map(|(hit, documents)| score_hit(&hit.confidence, documents, query)).collect()
}

fn score_hit(confidence: &str, documents: &[String], query: &BenchQuery) -> HitScore {
    HitScore {
        confidence: confidence.to_owned(),
        is_relevant: documents.iter().any(|document| query.gold.contains(document)),
    }
}

/// Estimates the tokens that a hit adds to a model's context: its citation and text.
fn count_hit_tokens(hit: &v1::RecallHit) -> u64 {
    estimate_tokens(&hit.citation) + estimate_tokens(&hit.text)
}
