//! Memory of the idle daemon.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use tome_proto::{Client, EventListQuery, draft_from_wire, limits};

use crate::daemon::BenchDaemon;
use crate::report::{Aim, FigureUnit, Row};
use crate::{Bench, Scale, bulk, machine, sample, world};

const AIM_MB: f64 = 30.0;
const STORES: u64 = 10;
/// Time for background work such as flushes to finish.
const SETTLE: Duration = Duration::from_millis(700);

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let world = world();
    let events = bench.scale.pick(50_000, 10_000);
    bench.block_on(async {
        let (daemon, client) =
            BenchDaemon::start_with(&world, &[("TOME_STORE_IDLE_CLOSE", "5s")]).await?;
        let pid = daemon.pid();
        let mut rows = vec![measure_idle("after start", pid).await?];
        append_event(&client, 0).await?;
        rows.push(measure_idle("1 open store", pid).await?);
        for project in 1..STORES {
            append_event(&client, project).await?;
        }
        rows.push(measure_idle(&format!("{STORES} open stores"), pid).await?);
        bulk::send_batches(
            &client,
            bulk::build_batches("memory", events, "/home/dev/app0"),
            events,
        )
        .await?;
        read_all(&client).await?;
        rows.push(
            measure_idle(&format!("{STORES} stores, {events} events in and out"), pid).await?,
        );
        // Waits for seconds, which a quick run should not.
        if bench.scale == Scale::Full {
            wait_until_closed(&client).await?;
            rows.push(measure_idle("after that, its stores closed as unused", pid).await?);
        }
        daemon.stop(client).await?;
        Ok(rows)
    })
}

async fn measure_idle(what: &str, pid: u32) -> Result<Row> {
    tokio::time::sleep(SETTLE).await;
    let mb = machine::resident_mb(pid).context("the daemon's memory is not in /proc")?;
    Ok(Row::new(what, FigureUnit::Megabytes, mb).aim(Aim::Under(AIM_MB)))
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
    for _ in 0..150 {
        if client.get_status(false).await?.stores.is_empty() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    bail!("the stores stay open")
}
