//! Reading a range of events by time, page by page.

use std::time::Instant;

use anyhow::{Result, ensure};
use tome_model::Millis;
use tome_proto::{Client, EventListQuery};

use crate::daemon::{BenchDaemon, wait_until_settled};
use crate::report::{FigureUnit, Row};
use crate::sqlite::Sqlite;
use crate::timing::Timings;
use crate::{Bench, bulk, sample, world};

const READ_EVENTS: u64 = 10_000;
const STORED_EVENTS: u64 = 50_000;
const CWD: &str = "/home/dev/app";

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let world = world();
    let (daemon, client) = bench.block_on(BenchDaemon::start(&world))?;
    let stored = bench.scale.pick(STORED_EVENTS, 2 * READ_EVENTS);
    let mut sqlite = Sqlite::open(&world.path().join("events.sqlite"))?;
    let batches = bulk::build_batches("read", stored, CWD);
    for batch in &batches {
        sqlite.append_all(batch)?;
    }
    sqlite.index_time()?;
    bench.block_on(async {
        bulk::send_batches(&client, batches, stored).await?;
        wait_until_settled(&client).await?;
        Ok(client.flush().await?)
    })?;
    let span = sample::span_ms(stored / 2, READ_EVENTS);
    let mut rows = Vec::new();
    for page in [1_000, 10_000] {
        let (mut tome, mut base, mut bytes) = (Timings::default(), Timings::default(), 0);
        for _ in 0..bench.scale.pick(9, 4) {
            let start = Instant::now();
            bytes = bench.block_on(read_range(&client, span, page))?;
            tome.add(start.elapsed());
            let start = Instant::now();
            let read = sqlite.read(span.0, span.1)?;
            base.add(start.elapsed());
            ensure!(
                read == (READ_EVENTS, bytes),
                "SQLite read {read:?}, Tome {READ_EVENTS} events and {bytes} bytes"
            );
        }
        rows.extend(as_rows(page, bytes, &tome, &base));
    }
    bench.block_on(daemon.stop(client))?;
    Ok(rows)
}

/// Reads the range; returns the bytes of the texts, which must match SQLite's.
async fn read_range(client: &Client, (from, to): (u64, u64), limit: u32) -> Result<u64> {
    let mut query = EventListQuery {
        from: Some(Millis(from)),
        to: Some(Millis(to)),
        project: Some(CWD.to_owned()),
        limit,
        ..EventListQuery::default()
    };
    let (mut count, mut bytes) = (0, 0);
    loop {
        let page = client.list_events(query.clone()).await?;
        count += page.events.len() as u64;
        for event in &page.events {
            let output = event.tool.as_ref().map_or(0, |tool| tool.output.to_string().len());
            bytes += (event.text.len() + output) as u64;
        }
        match page.continuation {
            Some(next) => query.continuation = next,
            None => break,
        }
    }
    ensure!(count == READ_EVENTS, "{count} events were read instead of {READ_EVENTS}");
    Ok(bytes)
}

fn as_rows(page: u32, bytes: u64, tome: &Timings, base: &Timings) -> Vec<Row> {
    let each = |count: u64, unit: FigureUnit, scale: f64, what: String| {
        #[expect(clippy::cast_precision_loss, reason = "counts of a bench are small")]
        let of = |times: &Timings| count as f64 / scale / (times.percentile(50) / 1e3);
        Row::new(what, unit, of(tome)).against("SQLite, in process", of(base))
    };
    vec![
        each(
            READ_EVENTS,
            FigureUnit::PerSecond,
            1.0,
            format!("GetEvents, {page} a page at most, p50 of {}", tome.len()),
        ),
        each(bytes, FigureUnit::MegabytesPerSecond, 1e6, "  the same in text".to_owned()),
    ]
}
