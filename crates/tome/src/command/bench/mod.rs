//! `tome bench recall`: how well recall finds again what questions with known answers ask for.
//!
//! Nothing is special about it: documents come in as `tome ingest` brings them, the daemon is this
//! program, questions are asked over its socket. Scored are only documents that the returned
//! citations open, so an empty store scores nothing.

mod ask;
mod house;
mod moment;
mod print;
mod resolve;
mod score;
mod set;
mod timeline;
mod wait;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use tome_proto::Client;

use super::{Outcome, ingest};
use crate::cli::Global;
use crate::cli::bench::Recall;
use crate::platform;
use crate::render::counted;
use ask::{Asked, Asking, TIERS};
use house::House;
use print::{LEGEND, Measured};
use set::Set;
use timeline::Timeline;

pub fn recall(global: &Global, asked: &Recall) -> Result<Outcome> {
    let folders = set::folders(&asked.data)?;
    // All of them are read before anything is measured: a bad line is said at once.
    let sets: Vec<Set> = folders.iter().map(|folder| Set::read(folder)).collect::<Result<_>>()?;
    let mut rows = asked.rows.as_deref().map(rows_into).transpose()?;
    let house = House::new(global)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        tokio::select! {
            // First, so that a signal is heard before there is a daemon to be left behind.
            biased;
            () = platform::end_requested() => bail!("stopped before it was done"),
            done = measure_all(&house, sets, asked, global.json, &mut rows) => done,
        }
    })?;
    Ok(Outcome::Done)
}

/// Measures the sets one after the other, and shows each as soon as it is done.
async fn measure_all(
    house: &House,
    sets: Vec<Set>,
    asked: &Recall,
    json: bool,
    rows: &mut Option<Box<dyn Write>>,
) -> Result<()> {
    let client = house.start().await?;
    for set in sets {
        let bar = progress();
        let measured = measure(house, &client, set, asked, &bar, rows).await;
        bar.finish_and_clear();
        let measured = measured?;
        match json {
            true => crate::terminal::write_json(&measured.json())?,
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

async fn measure(
    house: &House,
    client: &Client,
    set: Set,
    asked: &Recall,
    bar: &ProgressBar,
    rows: &mut Option<Box<dyn Write>>,
) -> Result<Measured> {
    let folder = house.projects(&set.name);
    let timeline = Timeline::of(&set, &folder);
    let mut warnings = warnings(&set, &timeline);
    let (stored, rejected) = store(client, &timeline, &folder, bar).await?;
    warnings.extend(rejected);
    let begun = Instant::now();
    let roots: Vec<String> = timeline.projects.values().cloned().collect();
    let indexed = wait::until_searchable(client, &roots, bar).await?.duration_since(begun);
    let tiers: Vec<&str> = match asked.tier.is_empty() {
        true => TIERS.to_vec(),
        false => asked.tier.iter().map(String::as_str).collect(),
    };
    bar.reset();
    bar.set_length((tiers.len() * set.queries.len()) as u64);
    let asking = Asking { client, set: &set, timeline: &timeline, limit: asked.limit, bar };
    let mut measured = Vec::with_capacity(tiers.len());
    for tier in tiers {
        let asked = asking.tier(tier, rows).await?;
        warnings.extend(doubts(&asked));
        measured.push(asked);
    }
    let projects = timeline.projects.len();
    Ok(Measured { set, projects, stored, indexed, limit: asked.limit, tiers: measured, warnings })
}

/// Stores the documents as `tome ingest` does. Returns how long that took, and what was not taken.
async fn store(
    client: &Client,
    timeline: &Timeline,
    folder: &Path,
    bar: &ProgressBar,
) -> Result<(Duration, Vec<String>)> {
    for root in timeline.projects.values() {
        std::fs::create_dir_all(root).with_context(|| format!("cannot make {root}"))?;
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let lines: String = timeline.events.iter().map(|event| event.to_json() + "\n").collect();
    let file = folder.join("events.jsonl");
    tome_home::write_atomic(&file, lines.as_bytes())?;
    bar.set_message("storing");
    let begun = Instant::now();
    let report = ingest::send(client, Some(file), bar).await?;
    let stored = begun.elapsed();
    let rejected = report
        .rejected
        .iter()
        .take(5)
        .map(|one| format!("the document in line {} was not stored: {}", one.line, one.reason));
    let mut rejected: Vec<String> = rejected.collect();
    if report.rejected.len() > rejected.len() {
        rejected.push(format!("{} documents were not stored in all", report.rejected.len()));
    }
    Ok((stored, rejected))
}

/// What there is to say of the data.
fn warnings(set: &Set, timeline: &Timeline) -> Vec<String> {
    let say = |number: usize, text: &str| {
        (number > 0).then(|| format!("{} {text}", counted(number as u64, "document", "documents")))
    };
    let untimed =
        say(timeline.untimed, "without a time that can be read: a minute after the one before");
    let repeated =
        say(timeline.repeated, "with an id that another of the group has: either counts");
    let missing = say(set.missing, "that should answer a query and are not in its group");
    [untimed, repeated, missing].into_iter().flatten().collect()
}

/// What there is to say of the answers.
fn doubts(asked: &Asked) -> Vec<String> {
    let tier = &asked.tier;
    let say = |number: usize, text: &str| (number > 0).then(|| format!("{tier}: {number} {text}"));
    let by_others = say(asked.by_others, "answers came from another tier");
    let refused = say(asked.refused, "queries were not taken, and count as unanswered");
    let unopened = say(asked.unopened, "citations could not be opened");
    [by_others, refused, unopened].into_iter().flatten().collect()
}

fn rows_into(path: &Path) -> Result<Box<dyn Write>> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(Box::new(BufWriter::new(file)))
}

fn progress() -> ProgressBar {
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
