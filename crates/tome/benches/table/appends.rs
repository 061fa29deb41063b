//! Acknowledged appends: one event per call, each synced before the same client's next one.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tome_proto::{draft_from_wire, limits, v1};
use tome_testkit::World;

use crate::daemon::{BenchDaemon, connect};
use crate::machine::SyncProbe;
use crate::report::{Aim, FigureUnit, Row};
use crate::sqlite::Sqlite;
use crate::timing::rate;
use crate::{Bench, sample, world};

/// Acknowledged appends and the time they took.
#[derive(Default)]
struct AppendCount {
    count: u64,
    time: Duration,
}

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let world = world();
    let (daemon, client) = bench.block_on(BenchDaemon::start(&world))?;
    let database = world.path().join("events.sqlite");
    drop(Sqlite::open(&database)?);
    let slice = Duration::from_millis(bench.scale.pick(1200, 500));
    let next = AtomicU64::new(0);
    let (mut rows, mut acknowledged) = (Vec::new(), 1);
    // Creates the store, which is not measured here.
    let first = draft_from_wire(event(&next))?;
    bench.block_on(async { Ok(client.ingest(first, limits::CALL_TIMEOUT).await?) })?;
    for clients in [1, 8] {
        let (mut tome, mut sqlite) = (AppendCount::default(), AppendCount::default());
        let mut floor = AppendCount::default();
        for _ in 0..bench.scale.pick(4, 2) {
            tome.add(bench, count_tome_appends(&world, clients, slice, &next), slice)?;
            sqlite.add(
                bench,
                async { count_sqlite_appends(&database, clients, slice, &next) },
                slice,
            )?;
            floor.add(bench, async { count_syncs(&world, slice) }, slice)?;
        }
        acknowledged += tome.count;
        let who = format!("{clients} {}", if clients == 1 { "client" } else { "clients" });
        let row = |baseline, figure: &AppendCount| {
            Row::new(format!("{who}, 1 KB, synced"), FigureUnit::PerSecond, tome.rate())
                .against(baseline, figure.rate())
        };
        let against = row("SQLite WAL FULL", &sqlite);
        rows.push(if clients == 8 { against.aim(Aim::TimesBaseline(3.0)) } else { against });
        rows.push(row("1 KB + fdatasync alone", &floor));
    }
    let created = bench.block_on(async { Ok(client.get_status(false).await?.created) })?;
    ensure!(
        created == acknowledged,
        "{acknowledged} events were acknowledged and {created} stored"
    );
    bench.block_on(daemon.stop(client))?;
    Ok(rows)
}

impl AppendCount {
    fn rate(&self) -> f64 {
        rate(self.count, self.time)
    }

    fn add(
        &mut self,
        bench: &Bench,
        work: impl Future<Output = Result<u64>>,
        slice: Duration,
    ) -> Result<()> {
        self.count += bench.block_on(work)?;
        self.time += slice;
        Ok(())
    }
}

fn event(next: &AtomicU64) -> v1::Draft {
    sample::event("append", next.fetch_add(1, Ordering::Relaxed), 1024, "/home/dev/app")
}

/// Counts the appends of concurrent clients, each with its own connection.
async fn count_tome_appends(
    world: &World,
    clients: usize,
    slice: Duration,
    next: &AtomicU64,
) -> Result<u64> {
    let mut connections = Vec::new();
    for _ in 0..clients {
        connections.push(connect(world).await?);
    }
    let until = Instant::now() + slice;
    let mut tasks = tokio::task::JoinSet::new();
    let base = next.fetch_add(1 << 24, Ordering::Relaxed);
    for (which, client) in (0u64..).zip(connections) {
        let mine = AtomicU64::new(base + (which << 20));
        tasks.spawn(async move {
            let mut count = 0;
            while Instant::now() < until {
                let answer =
                    client.ingest(draft_from_wire(event(&mine))?, limits::CALL_TIMEOUT).await?;
                ensure!(answer.created, "{} was there before", answer.id);
                count += 1;
            }
            Ok(count)
        });
    }
    let mut count: u64 = 0;
    while let Some(one) = tasks.join_next().await {
        count += one.context("a client failed")??;
    }
    Ok(count)
}

/// Baseline: a single writer that appends to a file and syncs it.
fn count_syncs(world: &World, slice: Duration) -> Result<u64> {
    let mut probe = SyncProbe::open(world.path())?;
    let until = Instant::now() + slice;
    let mut count = 0;
    while Instant::now() < until {
        probe.append()?;
        count += 1;
    }
    Ok(count)
}

/// Baseline: SQLite with a thread and a connection per client.
fn count_sqlite_appends(
    path: &Path,
    clients: usize,
    slice: Duration,
    next: &AtomicU64,
) -> Result<u64> {
    let connections: Vec<Sqlite> =
        (0..clients).map(|_| Sqlite::open(path)).collect::<Result<_>>()?;
    let until = Instant::now() + slice;
    let append = |sqlite: Sqlite| -> Result<u64> {
        let mut count = 0;
        while Instant::now() < until {
            sqlite.append(&event(next))?;
            count += 1;
        }
        Ok(count)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            connections.into_iter().map(|one| scope.spawn(|| append(one))).collect();
        let counts = threads
            .into_iter()
            .map(|thread| thread.join().map_err(|_| anyhow::anyhow!("a thread failed"))?);
        counts.sum()
    })
}
