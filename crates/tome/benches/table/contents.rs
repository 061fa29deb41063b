//! The contents through the shipped daemon: time until all events are in the contents, cost of one
//! more event, and query times.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tome_proto::{Client, draft_from_wire, v1};

use crate::daemon::BenchDaemon;
use crate::report::{Aim, FigureUnit, Row};
use crate::timing::{Timings, ms, rate};
use crate::{Bench, bulk, machine, sample, world};

const CWD: &str = "/home/dev/app";
const AIM_PER_SECOND: f64 = 10_000.0;
const QUERIES: usize = 200;
const MORE_EVENTS: u64 = 40;

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for count in bench.scale.pick(vec![240, 10_000, 100_000], vec![240, 5_000]) {
        rows.extend(bench.block_on(measure_count(count))?);
    }
    Ok(rows)
}

async fn measure_count(count: u64) -> Result<Vec<Row>> {
    let world = world();
    let (daemon, client) = BenchDaemon::start(&world).await?;
    let begun = Instant::now();
    let stored =
        bulk::send_batches(&client, bulk::build_batches("contents", count, CWD), count).await?;
    let root = toc_root(&client).await?;
    let time = begun.elapsed();
    let seen: u64 =
        root.entries.iter().filter(|entry| entry.level == "year").map(|year| year.events).sum();
    ensure!(seen == count, "{count} events were sent, the contents hold {seen}");
    let what = |what: &str| format!("{what}, {count} events");
    let mut rows = vec![
        Row::new(what("stored and in the contents"), FigureUnit::Ms, ms(time))
            .against("stored alone", ms(stored)),
        Row::new(what("stored and in the contents"), FigureUnit::PerSecond, rate(count, time))
            .aim(Aim::AtLeast(AIM_PER_SECOND)),
    ];
    if count == 240
        && let Some(first) = rows.first_mut()
    {
        first.aim = Some(Aim::Under(50.0));
    }
    let year = root.entries.iter().find(|entry| entry.level == "year").map(|year| year.id.clone());
    let year = year.unwrap_or_default();
    let mut more = Timings::default();
    for n in count..count + MORE_EVENTS {
        let begun = Instant::now();
        client
            .ingest(
                draft_from_wire(sample::event("contents", n, 1024, CWD))?,
                Duration::from_secs(10),
            )
            .await?;
        check_node(&client, &year).await?;
        more.add(begun.elapsed());
    }
    let (mut roots, mut nodes) = (Timings::default(), Timings::default());
    for _ in 0..QUERIES {
        let begun = Instant::now();
        toc_root(&client).await?;
        roots.add(begun.elapsed());
        let begun = Instant::now();
        check_node(&client, &year).await?;
        nodes.add(begun.elapsed());
    }
    rows.push(Row::new(
        what("one more event, until it is in the year, p50"),
        FigureUnit::Ms,
        more.percentile(50),
    ));
    rows.push(Row::new(what("GetTocRoot, p50"), FigureUnit::Ms, roots.percentile(50)));
    rows.push(
        Row::new(what("GetNode of the year, p50"), FigureUnit::Ms, nodes.percentile(50))
            .aim(Aim::Under(1.0)),
    );
    rows.extend(
        machine::resident_mb(daemon.pid())
            .map(|mb| Row::new(what("memory then"), FigureUnit::Megabytes, mb)),
    );
    daemon.stop(client).await?;
    Ok(rows)
}

async fn toc_root(client: &Client) -> Result<v1::GetTocRootResponse> {
    let request =
        v1::GetTocRootRequest { project: CWD.to_owned(), ..v1::GetTocRootRequest::default() };
    Ok(client.get_toc_root(request).await?)
}

async fn check_node(client: &Client, id: &str) -> Result<()> {
    let request = v1::GetNodeRequest {
        id: id.to_owned(),
        project: CWD.to_owned(),
        ..v1::GetNodeRequest::default()
    };
    ensure!(!client.get_node(request).await?.nodes.is_empty(), "{id} is not there");
    Ok(())
}
