//! Disk space per event, after compaction.

use anyhow::Result;

use crate::daemon::{BenchDaemon, wait_until_settled};
use crate::report::{FigureUnit, Row};
use crate::sqlite::Sqlite;
use crate::{Bench, bulk, machine, sample, world};

const CWD: &str = "/home/dev/app";

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let count = bench.scale.pick(20_000, 4_000);
    let mut rows = measure_disk(bench, "1 KB each", count, |_| 1024)?;
    rows.extend(measure_disk(bench, "100 B to 20 KB", count, |n| {
        sample::mixed_bytes(&mut sample::SampleRng::from(n))
    })?);
    Ok(rows)
}

fn measure_disk(
    bench: &Bench,
    what: &str,
    count: u64,
    bytes: fn(u64) -> usize,
) -> Result<Vec<Row>> {
    let world = world();
    let events: Vec<_> = (0..count).map(|n| sample::event("disk", n, bytes(n), CWD)).collect();
    let raw: u64 = events.iter().map(sample::raw_bytes).sum();
    let batches: Vec<_> = events.chunks(200).map(<[_]>::to_vec).collect();
    let folder = world.folder("sqlite");
    let mut sqlite = Sqlite::open(&folder.join("events.sqlite"))?;
    for batch in &batches {
        sqlite.append_all(batch)?;
    }
    sqlite.pack()?;
    let (running, stopped) = bench.block_on(async {
        let (daemon, client) = BenchDaemon::start(&world).await?;
        bulk::send_batches(&client, batches, count).await?;
        wait_until_settled(&client).await?;
        client.flush().await?;
        client.compact().await?;
        let running = machine::disk_bytes(&world.home().join("projects"));
        daemon.stop(client).await?;
        Ok((running, machine::disk_bytes(&world.home().join("projects"))))
    })?;
    #[expect(clippy::cast_precision_loss, reason = "counts of a bench are small")]
    let each = |bytes: u64| bytes as f64 / count as f64;
    let packed = each(machine::disk_bytes(&folder));
    Ok(vec![
        Row::new(
            format!("{what}, {count} events, compacted and stopped"),
            FigureUnit::Bytes,
            each(stopped),
        )
        .against("raw fields", each(raw)),
        Row::new("  the same", FigureUnit::Bytes, each(stopped))
            .against("SQLite, vacuumed", packed),
        Row::new("  compacted, the daemon still running", FigureUnit::Bytes, each(running))
            .against("SQLite, vacuumed", packed),
    ])
}
