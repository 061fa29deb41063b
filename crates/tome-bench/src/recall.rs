//! Measures data sets one after the other: stores the documents, waits for the indexes, runs the queries.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use indicatif::ProgressBar;
use tome_proto::Client;
use tome_terminal::{Outcome, format_counted, progress_bar};

use crate::args::BenchRecallArgs;
use crate::dataset::{self, DataSet};
use crate::indexing_wait;
use crate::print::{LEGEND, SetReport};
use crate::program::{BenchOptions, MeasuredProgram};
use crate::runner::{QueryRunner, TIERS, TierResult};
use crate::sandbox::BenchSandbox;
use crate::timeline::EventTimeline;

/// Rejected documents listed.
const REJECTED_SHOWN: usize = 5;
const PROGRESS_TEMPLATE: &str = "{spinner} {msg}, {human_pos} done, {elapsed}";

/// Measures recall on every data set, and prints the results.
pub fn run_recall(
    program: &impl MeasuredProgram,
    options: &BenchOptions,
    args: &BenchRecallArgs,
) -> Result<Outcome> {
    let folders = dataset::find_data_sets(&args.data)?;
    // Read all sets before measuring, so that a bad line is reported at once.
    let sets: Vec<DataSet> =
        folders.iter().map(|folder| DataSet::read(folder)).collect::<Result<_>>()?;
    let mut rows = args.rows.as_deref().map(open_rows_file).transpose()?;
    let sandbox = BenchSandbox::new(program, options)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        tokio::select! {
            // Polled first, so that a signal cannot leave a daemon behind.
            biased;
            () = program.wait_for_termination() => bail!("interrupted"),
            done = measure_sets(&sandbox, sets, args, options.json, &mut rows) => done,
        }
    })?;
    Ok(Outcome::Done)
}

/// Measures the sets one after the other, and prints each as soon as it is done.
async fn measure_sets(
    sandbox: &BenchSandbox<'_, impl MeasuredProgram>,
    sets: Vec<DataSet>,
    args: &BenchRecallArgs,
    json: bool,
    rows: &mut Option<Box<dyn Write>>,
) -> Result<()> {
    let client = sandbox.start_daemon().await?;
    for set in sets {
        let bar = progress_bar(None, PROGRESS_TEMPLATE);
        let measured = measure_set(sandbox, &client, set, args, &bar, rows).await;
        bar.finish_and_clear();
        let measured = measured?;
        if json {
            tome_terminal::write_json(&measured.to_json())?;
        } else {
            measured.print(&mut tome_terminal::stdout())?;
        }
    }
    if !json {
        writeln!(tome_terminal::stdout(), "{LEGEND}")?;
    }
    if let Some(rows) = rows {
        rows.flush().context("cannot write the rows")?;
    }
    Ok(())
}

async fn measure_set(
    sandbox: &BenchSandbox<'_, impl MeasuredProgram>,
    client: &Client,
    set: DataSet,
    args: &BenchRecallArgs,
    bar: &ProgressBar,
    rows: &mut Option<Box<dyn Write>>,
) -> Result<SetReport> {
    let folder = sandbox.projects_folder(&set.name);
    let timeline = EventTimeline::build(&set, &folder);
    let mut warnings = collect_set_warnings(&set, &timeline);
    let (stored, rejected) =
        store_documents(sandbox.program, client, &timeline, &folder, bar).await?;
    warnings.extend(rejected);
    let begun = Instant::now();
    let roots: Vec<String> = timeline.projects.values().cloned().collect();
    let indexed =
        indexing_wait::wait_until_searchable(client, &roots, bar).await?.duration_since(begun);
    let tiers: Vec<&str> = if args.tier.is_empty() {
        TIERS.to_vec()
    } else {
        args.tier.iter().map(String::as_str).collect()
    };
    bar.reset();
    bar.set_length((tiers.len() * set.queries.len()) as u64);
    let runner = QueryRunner { client, set: &set, timeline: &timeline, limit: args.limit, bar };
    let mut measured = Vec::with_capacity(tiers.len());
    for tier in tiers {
        let result = runner.run_tier(tier, rows).await?;
        warnings.extend(collect_tier_warnings(&result));
        measured.push(result);
    }
    let projects = timeline.projects.len();
    Ok(SetReport {
        set,
        projects,
        store_time: stored,
        index_time: indexed,
        limit: args.limit,
        tiers: measured,
        warnings,
    })
}

/// Stores the documents as `tome ingest` does. Returns the time it took, and warnings about rejected
/// documents.
async fn store_documents(
    program: &impl MeasuredProgram,
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
    let rejected = program.store_lines(client, &file, bar).await?;
    let stored = begun.elapsed();
    let first = rejected.iter().take(REJECTED_SHOWN);
    let mut warnings: Vec<String> = first
        .map(|(line, reason)| format!("the document in line {line} was rejected: {reason}"))
        .collect();
    if rejected.len() > REJECTED_SHOWN {
        warnings.push(format!("{} documents were rejected in total", rejected.len()));
    }
    Ok((stored, warnings))
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

fn collect_tier_warnings(result: &TierResult) -> Vec<String> {
    let tier = &result.tier;
    let say = |number: usize, text: &str| (number > 0).then(|| format!("{tier}: {number} {text}"));
    let by_others = say(result.from_other_tiers, "responses came from another tier");
    let refused = say(result.rejected, "queries were rejected and count as unanswered");
    let unopened = say(result.unresolved, "citations could not be opened");
    [by_others, refused, unopened].into_iter().flatten().collect()
}

fn open_rows_file(path: &Path) -> Result<Box<dyn Write>> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(Box::new(BufWriter::new(file)))
}
