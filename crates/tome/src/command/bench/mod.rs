//! `tome bench recall`: measures recall against queries with known answers.
//!
//! It uses the same paths as real use: documents are stored as `tome ingest` stores them, and queries go
//! over the daemon's socket. Only documents that a returned citation opens count, so an empty store
//! scores zero.

mod dataset;
mod indexing_wait;
mod metrics;
mod print;
mod resolver;
mod runner;
mod sandbox;
mod time_formats;
mod timeline;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use tome_proto::Client;

use super::{Outcome, ingest};
use crate::cli::GlobalOptions;
use crate::cli::bench::BenchRecallArgs;
use crate::platform;
use crate::render::format_counted;
use dataset::DataSet;
use print::{LEGEND, SetReport};
use runner::{QueryRunner, TIERS, TierResult};
use sandbox::BenchSandbox;
use timeline::EventTimeline;

pub fn run_recall(global: &GlobalOptions, asked: &BenchRecallArgs) -> Result<Outcome> {
    let folders = dataset::find_data_sets(&asked.data)?;
    // Read all sets before measuring, so that a bad line is reported at once.
    let sets: Vec<DataSet> =
        folders.iter().map(|folder| DataSet::read(folder)).collect::<Result<_>>()?;
    let mut rows = asked.rows.as_deref().map(open_rows_file).transpose()?;
    let house = BenchSandbox::new(global)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        tokio::select! {
            // Polled first, so that a signal cannot leave a daemon behind.
            biased;
            () = platform::wait_for_termination() => bail!("interrupted"),
            done = measure_sets(&house, sets, asked, global.json, &mut rows) => done,
        }
    })?;
    Ok(Outcome::Done)
}

/// Measures the sets one after the other, and prints each as soon as it is done.
async fn measure_sets(
    house: &BenchSandbox,
    sets: Vec<DataSet>,
    asked: &BenchRecallArgs,
    json: bool,
    rows: &mut Option<Box<dyn Write>>,
) -> Result<()> {
    let client = house.start_daemon().await?;
    for set in sets {
        let bar = progress_bar();
        let measured = measure_set(house, &client, set, asked, &bar, rows).await;
        bar.finish_and_clear();
        let measured = measured?;
        match json {
            true => crate::terminal::write_json(&measured.to_json())?,
            false => measured.print(&mut crate::terminal::stdout())?,
        }
    }
    if !json {
        writeln!(crate::terminal::stdout(), "{LEGEND}")?;
    }
    if let Some(rows) = rows {
        rows.flush().context("cannot write the rows")?;
    }
    Ok(())
}

async fn measure_set(
    house: &BenchSandbox,
    client: &Client,
    set: DataSet,
    asked: &BenchRecallArgs,
    bar: &ProgressBar,
    rows: &mut Option<Box<dyn Write>>,
) -> Result<SetReport> {
    let folder = house.projects_folder(&set.name);
    let timeline = EventTimeline::build(&set, &folder);
    let mut warnings = collect_set_warnings(&set, &timeline);
    let (stored, rejected) = store_documents(client, &timeline, &folder, bar).await?;
    warnings.extend(rejected);
    let begun = Instant::now();
    let roots: Vec<String> = timeline.projects.values().cloned().collect();
    let indexed =
        indexing_wait::wait_until_searchable(client, &roots, bar).await?.duration_since(begun);
    let tiers: Vec<&str> = match asked.tier.is_empty() {
        true => TIERS.to_vec(),
        false => asked.tier.iter().map(String::as_str).collect(),
    };
    bar.reset();
    bar.set_length((tiers.len() * set.queries.len()) as u64);
    let asking = QueryRunner { client, set: &set, timeline: &timeline, limit: asked.limit, bar };
    let mut measured = Vec::with_capacity(tiers.len());
    for tier in tiers {
        let asked = asking.run_tier(tier, rows).await?;
        warnings.extend(collect_tier_warnings(&asked));
        measured.push(asked);
    }
    let projects = timeline.projects.len();
    Ok(SetReport {
        set,
        projects,
        store_time: stored,
        index_time: indexed,
        limit: asked.limit,
        tiers: measured,
        warnings,
    })
}

/// Stores the documents as `tome ingest` does. Returns the time it took, and warnings about rejected
/// documents.
async fn store_documents(
    client: &Client,
    timeline: &EventTimeline,
    folder: &Path,
    bar: &ProgressBar,
) -> Result<(Duration, Vec<String>)> {
    for root in timeline.projects.values() {
        std::fs::create_dir_all(root).with_context(|| format!("cannot create {root}"))?;
    }
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;
    let lines: String = timeline.events.iter().map(|event| event.to_json() + "\n").collect();
    let file = folder.join("events.jsonl");
    tome_home::write_atomic(&file, lines.as_bytes())?;
    bar.set_message("storing");
    let begun = Instant::now();
    let report = ingest::stream_lines(client, Some(file), bar).await?;
    let stored = begun.elapsed();
    let rejected = report
        .rejected
        .iter()
        .take(5)
        .map(|one| format!("the document in line {} was rejected: {}", one.line, one.reason));
    let mut rejected: Vec<String> = rejected.collect();
    if report.rejected.len() > rejected.len() {
        rejected.push(format!("{} documents were rejected in total", report.rejected.len()));
    }
    Ok((stored, rejected))
}

/// Warnings about the data set.
fn collect_set_warnings(set: &DataSet, timeline: &EventTimeline) -> Vec<String> {
    let say = |number: usize, text: &str| {
        (number > 0)
            .then(|| format!("{} {text}", format_counted(number as u64, "document", "documents")))
    };
    let untimed =
        say(timeline.untimed, "without a readable time: placed one minute after the previous one");
    let repeated = say(
        timeline.repeated,
        "share an id with another one of the group: either counts as a match",
    );
    let missing = say(set.missing, "listed as answers are missing from the query's group");
    [untimed, repeated, missing].into_iter().flatten().collect()
}

fn collect_tier_warnings(asked: &TierResult) -> Vec<String> {
    let tier = &asked.tier;
    let say = |number: usize, text: &str| (number > 0).then(|| format!("{tier}: {number} {text}"));
    let by_others = say(asked.from_other_tiers, "responses came from another tier");
    let refused = say(asked.rejected, "queries were rejected and count as unanswered");
    let unopened = say(asked.unresolved, "citations could not be opened");
    [by_others, refused, unopened].into_iter().flatten().collect()
}

fn open_rows_file(path: &Path) -> Result<Box<dyn Write>> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(Box::new(BufWriter::new(file)))
}

fn progress_bar() -> ProgressBar {
    if !crate::terminal::is_stderr_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}, {human_pos} done, {elapsed}")
    {
        bar.set_style(style);
    }
    bar
}
