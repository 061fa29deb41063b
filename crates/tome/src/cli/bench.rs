//! The command line of measuring, as typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `tome bench`
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// Measure how well recall finds again what questions with known answers ask for
    Recall(Recall),
}

const RECALL_HELP: &str = "\
A data set is a folder with three files; DIR is one, or holds several:
  docs.jsonl     {\"id\", \"text\", \"group\", \"ts\"}    one document a line; group and ts may be missing
  queries.jsonl  {\"id\", \"text\", \"group\", \"type\"}  one question a line, asked of its group alone
  qrels.tsv      query id, document id, 1           with tabs; a query without a line has no answer
Each group becomes a project, each document an event at its time; every query is asked through
recall itself, once for each tier, and only the documents that the citations open count.
It all happens in a home of its own, which is thrown away. With --home DIR it is kept, and the next
run finds everything stored and indexed. Your own memory is not touched.";

/// `tome bench recall`
#[derive(Debug, Args)]
#[command(after_help = RECALL_HELP)]
pub struct Recall {
    /// The folder with the data set, or with several
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// Ask for this many hits
    #[arg(
        long,
        value_name = "K",
        default_value_t = 10,
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    pub limit: u32,
    /// Only this way of finding; may be given several times [default: all of them]
    #[arg(long, value_name = "TIER", value_parser = ["literal", "bm25", "vectors", "fused"])]
    pub tier: Vec<String>,
    /// Write a line of JSON for every query and tier into this file
    #[arg(long, value_name = "FILE")]
    pub rows: Option<PathBuf>,
}
