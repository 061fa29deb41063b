//! The command line of `tome bench`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `tome bench`
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Measure recall against queries with known answers
    Recall(BenchRecallArgs),
}

const BENCH_RECALL_HELP: &str = "\
A data set is a folder with three files; DIR is one, or holds several:
  docs.jsonl     {\"id\", \"text\", \"group\", \"ts\"}    one document per line; group and ts are optional
  queries.jsonl  {\"id\", \"text\", \"group\", \"type\"}  one query per line, run against its group only
  qrels.tsv      query id, document id, 1           tab-separated; queries without a line have no answer
Each group becomes a project and each document an event at its time. Every query runs through the real
recall, once per tier; a document counts only if a returned citation opens it. The tier fts5 is not
part of recall: it is the full-text search of SQLite over the same documents, as a baseline.
The benchmark uses a temporary home and never touches your own memory. With --home DIR the home is kept,
and the next run reuses what is already stored and indexed.";

/// `tome bench recall`
#[derive(Debug, Args)]
#[command(after_help = BENCH_RECALL_HELP)]
pub struct BenchRecallArgs {
    /// Folder with a data set, or with several data sets
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// Number of hits to request
    #[arg(
        long,
        value_name = "K",
        default_value_t = 10,
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    pub limit: u32,
    /// Only this tier (retrieval method), or the baseline fts5; repeatable [default: all]
    #[arg(long, value_name = "TIER", value_parser = ["literal", "bm25", "vectors", "fused", "fts5"])]
    pub tier: Vec<String>,
    /// Write one JSON line per query and tier to this file
    #[arg(long, value_name = "FILE")]
    pub rows: Option<PathBuf>,
}
