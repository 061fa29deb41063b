//! Memory of the idle daemon.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tome_proto::{Client, EventListQuery, draft_from_wire, limits};

use crate::daemon::BenchDaemon;
use crate::import::write_session;
use crate::recall::wait_until_indexed;
use crate::report::{Aim, FigureUnit, Row};
use crate::{Bench, Scale, bulk, machine, sample, world};

/// Before any work.
const AIM_FRESH_MB: f64 = 30.0;
/// After work, with stores and their indexes open.
const AIM_OPEN_MB: f64 = 60.0;
/// After work, once all of them are closed.
const AIM_CLOSED_MB: f64 = 40.0;
const STORES: u64 = 10;
/// Time for background work such as flushes to finish.
const SETTLE: Duration = Duration::from_millis(700);
/// Time for the deep vectors of the imported transcripts.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(900);
/// Unused stores are closed after this long.
const IDLE_CLOSE: (&str, &str) = ("TOME_STORE_IDLE_CLOSE", "5s");

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let mut rows = measure_events(bench)?;
    rows.extend(measure_import(bench)?);
    Ok(rows)
}

fn measure_events(bench: &Bench) -> Result<Vec<Row>> {
    let world = world();
    let events = bench.scale.pick(50_000, 10_000);
    bench.block_on(async {
        let (daemon, client) = BenchDaemon::start_with(&world, &[IDLE_CLOSE]).await?;
        let pid = daemon.pid();
        let mut rows = vec![measure_idle("after start", pid, AIM_FRESH_MB).await?];
        append_event(&client, 0).await?;
        rows.push(measure_idle("1 open store", pid, AIM_FRESH_MB).await?);
        for project in 1..STORES {
            append_event(&client, project).await?;
        }
        rows.push(measure_idle(&format!("{STORES} open stores"), pid, AIM_OPEN_MB).await?);
        bulk::send_batches(
            &client,
            bulk::build_batches("memory", events, "/home/dev/app0"),
            events,
        )
        .await?;
        read_all(&client).await?;
        let what = format!("{STORES} stores, {events} events in and out");
        rows.push(measure_idle(&what, pid, AIM_OPEN_MB).await?);
        // Waits for seconds, which a short run does not have.
        if bench.scale == Scale::Full {
            wait_until_indexed(&client, "/home/dev/app0").await?;
            // Their deep vectors would take half an hour.
            let what = "after that, indexed except for deep vectors";
            rows.push(measure_idle(what, pid, AIM_OPEN_MB).await?);
        }
        daemon.stop(client).await?;
        Ok(rows)
    })
}

/// Transcripts of as many projects as there were stores before.
fn measure_import(bench: &Bench) -> Result<Vec<Row>> {
    let world = world();
    let folder = world.folder("person/.claude/projects/-home-dev-app");
    let mut bytes = 0;
    for n in 0..bench.scale.pick(100, 10) {
        bytes += write_session(&folder, n, &format!("/home/dev/app{}", n % STORES))?;
    }
    bench.block_on(async {
        let (daemon, client) = BenchDaemon::start_with(&world, &[IDLE_CLOSE]).await?;
        let ran = world.tome(&["import"]);
        ensure!(ran.code == 0, "tome import: {}", ran.stderr);
        wait_until_indexed(&client, "/home/dev/app0").await?;
        let what = format!("{} MB of transcripts imported, indexed", bytes / 1_000_000);
        let mut rows = vec![measure_idle(&what, daemon.pid(), AIM_OPEN_MB).await?];
        if bench.scale == Scale::Full {
            wait_until_closed(&client).await?;
            let what = "after that, deep vectors computed, stores closed as unused";
            rows.push(measure_idle(what, daemon.pid(), AIM_CLOSED_MB).await?);
        }
        daemon.stop(client).await?;
        Ok(rows)
    })
}

async fn measure_idle(what: &str, pid: u32, aim_mb: f64) -> Result<Row> {
    tokio::time::sleep(SETTLE).await;
    let mb = machine::resident_mb(pid).context("the daemon's memory is not in /proc")?;
    Ok(Row::new(what, FigureUnit::Megabytes, mb).aim(Aim::Under(aim_mb)))
}

async fn append_event(client: &Client, project: u64) -> Result<()> {
    let event = sample::event(&format!("m{project}"), 0, 1024, &format!("/home/dev/app{project}"));
    client.ingest(draft_from_wire(event)?, limits::CALL_TIMEOUT).await?;
    Ok(())
}

async fn read_all(client: &Client) -> Result<()> {
    let mut query = EventListQuery { limit: 1000, ..EventListQuery::default() };
    while let Some(next) = client.list_events(query.clone()).await?.continuation {
        query.continuation = next;
    }
    Ok(())
}

async fn wait_until_closed(client: &Client) -> Result<()> {
    // A store stays open until its deep vectors are computed.
    for _ in 0..CLOSE_TIMEOUT.as_secs() {
        if client.get_status(false).await?.stores.is_empty() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    bail!("the stores stay open")
}
