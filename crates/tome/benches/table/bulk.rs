//! Bulk ingestion throughput.

use std::io::{BufWriter, Write};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tokio_stream::StreamExt;
use tome_model::EventLine;
use tome_proto::{Client, draft_from_wire, limits, v1};

use crate::daemon::BenchDaemon;
use crate::report::{Aim, FigureUnit, Row};
use crate::sqlite::Sqlite;
use crate::timing::rate;
use crate::{Bench, machine, sample, world};

const AIM_PER_SECOND: f64 = 100_000.0;

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let count: u64 = bench.scale.pick(200_000, 20_000);
    let batches = build_batches("bulk", count, "/home/dev/app");
    let sqlite = time_sqlite(&batches)?;
    let file = time_file(bench, count)?;
    let (stream, resident_mb) = time_stream(bench, batches, count)?;
    let baseline = "SQLite, 1000 a commit";
    let row = |what: &str, time| {
        Row::new(format!("{what}, {count} events"), FigureUnit::PerSecond, rate(count, time))
            .against(baseline, rate(count, sqlite))
            .aim(Aim::AtLeast(AIM_PER_SECOND))
    };
    let mut rows =
        vec![row("IngestEvents over the socket", stream), row("tome ingest FILE, whole run", file)];
    rows.extend(
        resident_mb.map(|mb| Row::new("memory right after the stream", FigureUnit::Megabytes, mb)),
    );
    Ok(rows)
}

/// Events in batches of the maximum size.
pub fn build_batches(stream: &str, count: u64, cwd: &str) -> Vec<Vec<v1::Draft>> {
    let size = limits::BATCH_EVENTS_MAX as u64;
    let firsts = (0..count).step_by(limits::BATCH_EVENTS_MAX);
    firsts
        .map(|first| {
            (first..count.min(first + size)).map(|n| sample::event(stream, n, 1024, cwd)).collect()
        })
        .collect()
}

/// Sends batches through one bulk stream; returns when the last one is acknowledged.
pub async fn send_batches(
    client: &Client,
    batches: Vec<Vec<v1::Draft>>,
    count: u64,
) -> Result<Duration> {
    let start = Instant::now();
    let requests = batches.into_iter().map(|events| v1::IngestEventsRequest { events });
    let mut answers = client.ingest_stream(tokio_stream::iter(requests)).await?;
    let mut created = 0;
    while let Some(answer) = answers.next().await {
        created += u64::from(answer?.created);
    }
    let time = start.elapsed();
    ensure!(created == count, "{count} events were sent and {created} were created");
    Ok(time)
}

fn time_stream(
    bench: &Bench,
    batches: Vec<Vec<v1::Draft>>,
    count: u64,
) -> Result<(Duration, Option<f64>)> {
    let world = world();
    bench.block_on(async {
        let (daemon, client) = BenchDaemon::start(&world).await?;
        let time = send_batches(&client, batches, count).await?;
        let resident_mb = machine::resident_mb(daemon.pid());
        daemon.stop(client).await?;
        Ok((time, resident_mb))
    })
}

/// The same through the command line, including reading and parsing, with a running daemon.
fn time_file(bench: &Bench, count: u64) -> Result<Duration> {
    let world = world();
    let path = world.path().join("events.jsonl");
    let mut file = BufWriter::new(std::fs::File::create(&path)?);
    for n in 0..count {
        let draft = draft_from_wire(sample::event("file", n, 1024, "/home/dev/app"))?;
        writeln!(file, "{}", EventLine::from(draft).to_json())?;
    }
    file.flush()?;
    drop(file);
    let (daemon, client) = bench.block_on(BenchDaemon::start(&world))?;
    let start = Instant::now();
    let ran = world.tome(&["ingest", path.to_str().context("the world's path is text")?, "--json"]);
    let time = start.elapsed();
    ensure!(ran.code == 0, "tome ingest: {}", ran.stderr);
    let created = ran.json().get("created").and_then(serde_json::Value::as_u64);
    ensure!(created == Some(count), "tome ingest stored {created:?} of {count}");
    bench.block_on(daemon.stop(client))?;
    Ok(time)
}

fn time_sqlite(batches: &[Vec<v1::Draft>]) -> Result<Duration> {
    let world = world();
    let mut sqlite = Sqlite::open(&world.path().join("events.sqlite"))?;
    let start = Instant::now();
    for batch in batches {
        sqlite.append_all(batch)?;
    }
    Ok(start.elapsed())
}
