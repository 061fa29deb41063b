//! `cargo bench`: measures the shipped program from outside, in isolated test homes.
//!
//! Every figure is shown next to a baseline from the same run, because absolute times on a shared
//! machine mean little, and next to its target. Inputs are counted back: a figure for events that
//! were not stored is an error, not a row.
//!
//! ```text
//! cargo bench                          everything, in less than four minutes
//! cargo bench -- --quick               the same with less of it, in less than 40 seconds
//! cargo bench -- --only hook           one group: hook, bulk, import, appends, read, start, notes,
//!                                      contents, recall, mcp, inject, memory or disk
//! cargo bench -- --only recall --large recall among a million events too; half an hour and 10 GB of disk
//! cargo bench -- --json                one JSON object a row
//! ```

#![allow(missing_docs, reason = "a benchmark has no public surface")]

mod appends;
mod bulk;
mod contents;
mod corpus;
mod daemon;
mod disk;
mod fts;
mod hook;
mod import;
mod inject;
mod machine;
mod mcp;
mod memory;
mod notes;
mod read;
mod recall;
mod report;
mod sample;
mod scan;
mod sqlite;
mod start;
mod timing;

use std::future::Future;
use std::io::Write;
use std::time::Instant;

use anyhow::{Result, bail};
use report::Row;
use tome_testkit::World;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// For a table to be quoted.
    Full,
    /// Enough to notice that something is badly wrong.
    Quick,
}

impl Scale {
    pub fn pick<T>(self, full: T, quick: T) -> T {
        match self {
            Self::Full => full,
            Self::Quick => quick,
        }
    }
}

type Measure = fn(&Bench) -> Result<Vec<Row>>;

const GROUPS: &[(&str, &str, Measure)] = &[
    (
        "hook",
        "hook: from its start to its end, /bin/true given the same input in the same loop",
        hook::measure,
    ),
    (
        "appends",
        "appends: one event a call, each waits until it is synced; slices alternate",
        appends::measure,
    ),
    ("read", "read: 10,000 events of 1 KB by time, whole", read::measure),
    ("bulk", "bulk: events of 1 KB, all of them synced", bulk::measure),
    (
        "import",
        "import: transcripts of Claude Code, with the daemon running; parsing their lines as JSON beside it",
        import::measure,
    ),
    (
        "start",
        "start: from spawning the daemon to its first answer, and the first append then",
        start::measure,
    ),
    (
        "notes",
        "notes: a notebook of 10, 1,000 and 10,000 notes; every write changes the index too",
        notes::measure,
    ),
    (
        "contents",
        "contents: from the first event sent to the answer that has them all, built-in summarizer",
        contents::measure,
    ),
    (
        "recall",
        "recall: found again among events of 1 KB, 200 a session; questions of 3 to 6 words, half with a name",
        recall::measure,
    ),
    ("mcp", "mcp: from spawning the server to its answer, and a tool call over it", mcp::measure),
    (
        "inject",
        "inject: a hook and what it says to its agent, from its start to its end",
        inject::measure,
    ),
    ("memory", "memory: resident, of the daemon", memory::measure),
    ("disk", "disk: bytes an event takes", disk::measure),
];

pub struct Bench {
    pub scale: Scale,
    /// Whether to include measurements with a million events.
    pub large: bool,
    runtime: tokio::runtime::Runtime,
}

impl Bench {
    pub fn block_on<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        self.runtime.block_on(work)
    }
}

pub fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_tome"))
}

struct BenchArgs {
    scale: Scale,
    large: bool,
    only: Vec<String>,
    json: bool,
}

fn main() -> Result<()> {
    let args = parse_args()?;
    let bench = Bench {
        scale: args.scale,
        large: args.large,
        runtime: tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?,
    };
    let mut out = std::io::stdout().lock();
    let (begun, mut failed) = (Instant::now(), Vec::new());
    let facts = machine::describe_machine(world().path())?;
    if args.json {
        writeln!(
            out,
            "{}",
            serde_json::json!({ "machine": facts, "quick": args.scale == Scale::Quick })
        )?;
    } else {
        writeln!(out, "machine: {facts}")?;
        writeln!(out, "sample:  {}", sample::describe_compressibility())?;
    }
    for (name, title, measure) in GROUPS {
        if !args.only.is_empty() && !args.only.iter().any(|only| only == name) {
            continue;
        }
        let rows = match measure(&bench) {
            Ok(rows) => rows,
            // Continue with the other groups.
            Err(error) => {
                failed.push(*name);
                writeln!(out, "\n{title}\n  FAILED: {error:#}")?;
                continue;
            }
        };
        if args.json {
            for row in &rows {
                writeln!(out, "{}", row.json(name))?;
            }
        } else {
            report::print_rows(&mut out, title, &rows)?;
        }
    }
    if !args.json {
        let now = machine::describe_load(world().path())?;
        writeln!(out, "\n{:.0} s; now {now}", begun.elapsed().as_secs_f64())?;
    }
    if !failed.is_empty() {
        bail!("could not be measured: {}", failed.join(", "));
    }
    Ok(())
}

fn parse_args() -> Result<BenchArgs> {
    let mut chosen = BenchArgs { scale: Scale::Full, large: false, only: Vec::new(), json: false };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            // Added by cargo itself.
            "--bench" => {}
            "--quick" => chosen.scale = Scale::Quick,
            "--large" => chosen.large = true,
            "--json" => chosen.json = true,
            "--only" => chosen.only.extend(args.next()),
            other => {
                bail!("unknown argument {other:?}: use --quick, --large, --only GROUP or --json")
            }
        }
    }
    if let Some(only) =
        chosen.only.iter().find(|only| GROUPS.iter().all(|(name, ..)| name != *only))
    {
        let names: Vec<&str> = GROUPS.iter().map(|(name, ..)| *name).collect();
        bail!("unknown group {only:?}: use one of {}", names.join(", "));
    }
    Ok(chosen)
}
