//! Output of the benchmark: a table for people, JSON for programs.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use serde_json::{Value, json};
use tome_terminal::{BOLD, DIM, RESET, YELLOW, format_count, format_counted, print_table};

use crate::dataset::DataSet;
use crate::metrics::{AverageScores, QueryScore};
use crate::runner::TierResult;

/// The measurements of one data set.
pub struct SetReport {
    pub set: DataSet,
    pub projects: usize,
    /// Time to store all documents.
    pub store_time: Duration,
    /// Time from then until all indexes were up to date.
    pub index_time: Duration,
    pub limit: u32,
    pub tiers: Vec<TierResult>,
    pub warnings: Vec<String>,
}

const TABLE_HEADERS: [&str; 17] = [
    "tier",
    ">queries",
    ">R@1",
    ">R@5",
    ">R@10",
    ">all@5",
    ">all@10",
    ">Hit@5",
    ">nDCG@10",
    ">MRR@10",
    ">abstained",
    ">refused",
    ">strong",
    ">likely",
    ">tokens",
    ">p50 ms",
    ">p99 ms",
];

/// Explains the less obvious columns.
pub const LEGEND: &str = "\
all@k: share of queries with all answers in the top k. abstained: no hits, or only weak
ones, for queries without an answer. refused: no hits for queries with one. strong, likely: share of
such hits that are relevant. tokens: citations and texts of all hits. ms: client-side latency.";

impl SetReport {
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let answerable = self.set.queries.iter().filter(|query| !query.gold.is_empty()).count();
        writeln!(
            out,
            "{BOLD}{}{RESET}  {DIM}{} in {}, {} ({} with an answer), limit {}; stored in {}, indexed {} later{RESET}",
            self.set.name,
            format_counted(self.set.documents.len() as u64, "document", "documents"),
            format_counted(self.projects as u64, "project", "projects"),
            format_counted(self.set.queries.len() as u64, "query", "queries"),
            format_count(answerable as u64),
            self.limit,
            format_seconds(self.store_time),
            format_seconds(self.index_time),
        )?;
        let rows: Vec<Vec<String>> = self
            .tiers
            .iter()
            .map(|result| render_row(&result.tier, &AverageScores::average(&result.scored)))
            .collect();
        print_table(out, &TABLE_HEADERS, &rows)?;
        for warning in &self.warnings {
            writeln!(out, "  {YELLOW}{warning}{RESET}")?;
        }
        writeln!(out)
    }

    pub fn to_json(&self) -> Value {
        let tiers: Vec<Value> = self
            .tiers
            .iter()
            .map(|result| {
                let types = self.score_by_type(result);
                let scores = AverageScores::average(&result.scored);
                json!({"tier": result.tier, "scores": scores, "types": types})
            })
            .collect();
        json!({
            "set": self.set.name, "documents": self.set.documents.len(),
            "queries": self.set.queries.len(), "projects": self.projects, "limit": self.limit,
            "stored_ms": self.store_time.as_secs_f64() * 1e3,
            "indexed_ms": self.index_time.as_secs_f64() * 1e3,
            "tiers": tiers, "warnings": self.warnings,
        })
    }

    fn score_by_type(&self, result: &TierResult) -> BTreeMap<&str, AverageScores> {
        let mut types: BTreeMap<&str, Vec<&QueryScore>> = BTreeMap::new();
        for (query, scored) in self.set.queries.iter().zip(&result.scored) {
            types.entry(&query.kind).or_default().push(scored);
        }
        types.into_iter().map(|(kind, scored)| (kind, AverageScores::average(scored))).collect()
    }
}

fn render_row(tier: &str, scores: &AverageScores) -> Vec<String> {
    let share =
        |figure: Option<f64>| figure.map_or("–".to_owned(), |figure| format!("{figure:.3}"));
    let shares = [
        scores.r1,
        scores.r5,
        scores.r10,
        scores.recall_all5,
        scores.recall_all10,
        scores.hit5,
        scores.ndcg10,
        scores.mrr10,
        scores.abstention_accuracy,
        scores.false_refusals,
        scores.strong_relevant,
        scores.likely_relevant,
    ];
    let decimals = |figure: Option<f64>, decimals: usize| {
        figure.map_or("–".to_owned(), |figure| format!("{figure:.decimals$}"))
    };
    let mut cells = vec![tier.to_owned(), format_count(scores.queries as u64)];
    cells.extend(shares.map(share));
    cells.push(decimals(scores.tokens, 0));
    cells.push(decimals(scores.p50_ms, 2));
    cells.push(decimals(scores.p99_ms, 2));
    cells
}

fn format_seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
