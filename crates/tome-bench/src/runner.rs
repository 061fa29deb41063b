//! Runs every query of a data set through recall and scores the responses.

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use indicatif::ProgressBar;
use serde_json::{Value, json};
use tome_proto::{Client, ClientError, v1};
use tome_text::estimate_tokens;

use crate::dataset::{BenchQuery, DataSet};
use crate::metrics::QueryScore;
use crate::resolver::CitationResolver;
use crate::timeline::EventTimeline;

pub const TIERS: [&str; 4] = ["literal", "bm25", "vectors", "fused"];

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
        let mut resolver = CitationResolver::new(self.client, self.timeline);
        let mut asked = TierResult {
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
            asked.rejected += usize::from(answer.is_none());
            let answer = answer.unwrap_or_default();
            asked.from_other_tiers += usize::from(!answer.hits.is_empty() && answer.tier != tier);
            let mut hits = Vec::with_capacity(answer.hits.len());
            for hit in &answer.hits {
                hits.push(resolver.resolve_documents(&query.group, &hit.citation).await?);
            }
            let scored = QueryScore {
                ranks: QueryScore::find_ranks(&hits, &query.gold),
                gold: query.gold.len(),
                hits: hits.len(),
                tokens: answer.hits.iter().map(count_hit_tokens).sum(),
                took,
            };
            if let Some(rows) = rows {
                let row = self.build_row(tier, query, &scored, &answer, &hits);
                writeln!(rows, "{row}").context("cannot write the rows")?;
            }
            asked.scored.push(scored);
            self.bar.inc(1);
        }
        asked.unresolved = resolver.unresolved;
        Ok(asked)
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

    fn build_row(
        &self,
        tier: &str,
        query: &BenchQuery,
        scored: &QueryScore,
        answer: &v1::RecallResponse,
        hits: &[Vec<String>],
    ) -> Value {
        let hits: Vec<Value> = answer
            .hits
            .iter()
            .zip(hits)
            .map(|(hit, documents)| json!({"citation": hit.citation, "documents": documents}))
            .collect();
        json!({
            "set": self.set.name, "id": query.id, "type": query.kind, "tier": tier,
            "gold": query.gold, "ranks": scored.ranks, "hits": hits, "tokens": scored.tokens,
            "latency_ms": scored.took.as_secs_f64() * 1e3,
        })
    }
}

/// Estimates the tokens that a hit adds to a model's context: its citation and text.
fn count_hit_tokens(hit: &v1::RecallHit) -> u64 {
    estimate_tokens(&hit.citation) + estimate_tokens(&hit.text)
}
