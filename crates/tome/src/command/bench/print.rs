//! Output of the benchmark: a table for people, JSON for programs.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use serde_json::{Value, json};

use super::ask::Asked;
use super::score::{Scored, Scores};
use super::set::Set;
use crate::render::{BOLD, DIM, PLAIN, YELLOW, count, counted, table};

/// The measurements of one data set.
pub struct Measured {
    pub set: Set,
    pub projects: usize,
    /// Time to store all documents.
    pub stored: Duration,
    /// Time from then until all indexes were up to date.
    pub indexed: Duration,
    pub limit: u32,
    pub tiers: Vec<Asked>,
    pub warnings: Vec<String>,
}

const HEADS: [&str; 15] = [
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
    ">tokens",
    ">p50 ms",
    ">p99 ms",
];

/// Explains the less obvious columns.
pub const LEGEND: &str = "\
all@k: share of queries with all answers in the top k. abstained: no hits for queries without an answer.
refused: no hits for queries with one. tokens: citations and texts of all hits. ms: client-side latency.";

impl Measured {
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let answerable = self.set.queries.iter().filter(|query| !query.gold.is_empty()).count();
        writeln!(
            out,
            "{BOLD}{}{PLAIN}  {DIM}{} in {}, {} ({} with an answer), limit {}; stored in {}, indexed {} later{PLAIN}",
            self.set.name,
            counted(self.set.documents.len() as u64, "document", "documents"),
            counted(self.projects as u64, "project", "projects"),
            counted(self.set.queries.len() as u64, "query", "queries"),
            count(answerable as u64),
            self.limit,
            seconds(self.stored),
            seconds(self.indexed),
        )?;
        let rows: Vec<Vec<String>> =
            self.tiers.iter().map(|asked| row(&asked.tier, &Scores::of(&asked.scored))).collect();
        table(out, &HEADS, &rows)?;
        for warning in &self.warnings {
            writeln!(out, "  {YELLOW}{warning}{PLAIN}")?;
        }
        writeln!(out)
    }

    pub fn json(&self) -> Value {
        let tiers: Vec<Value> = self
            .tiers
            .iter()
            .map(|asked| {
                let types = self.by_type(asked);
                json!({"tier": asked.tier, "scores": Scores::of(&asked.scored), "types": types})
            })
            .collect();
        json!({
            "set": self.set.name, "documents": self.set.documents.len(),
            "queries": self.set.queries.len(), "projects": self.projects, "limit": self.limit,
            "stored_ms": self.stored.as_secs_f64() * 1e3,
            "indexed_ms": self.indexed.as_secs_f64() * 1e3,
            "tiers": tiers, "warnings": self.warnings,
        })
    }

    fn by_type(&self, asked: &Asked) -> BTreeMap<&str, Scores> {
        let mut types: BTreeMap<&str, Vec<&Scored>> = BTreeMap::new();
        for (query, scored) in self.set.queries.iter().zip(&asked.scored) {
            types.entry(&query.kind).or_default().push(scored);
        }
        types.into_iter().map(|(kind, scored)| (kind, Scores::of(scored))).collect()
    }
}

fn row(tier: &str, scores: &Scores) -> Vec<String> {
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
    ];
    let decimals = |figure: Option<f64>, decimals: usize| {
        figure.map_or("–".to_owned(), |figure| format!("{figure:.decimals$}"))
    };
    let mut cells = vec![tier.to_owned(), count(scores.queries as u64)];
    cells.extend(shares.map(share));
    cells.push(decimals(scores.tokens, 0));
    cells.push(decimals(scores.p50_ms, 2));
    cells.push(decimals(scores.p99_ms, 2));
    cells
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
