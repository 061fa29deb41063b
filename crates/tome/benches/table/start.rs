//! Startup: time until a daemon answers, and until a closed store accepts an event.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tome_proto::{Client, draft_from_wire, limits};
use tome_testkit::World;

use crate::daemon::{BenchDaemon, time_command, true_command};
use crate::report::{Aim, FigureUnit, Row};
use crate::sqlite::Sqlite;
use crate::timing::Timings;
use crate::{Bench, bulk, sample, world};

const PROJECTS: u64 = 5;
const AIM_MS: f64 = 50.0;

#[derive(Default)]
struct StartTimings {
    nothing: Timings,
    empty: Timings,
    after_stop: Timings,
    after_kill: Timings,
    append_new: Timings,
    append_after_stop: Timings,
    append_after_kill: Timings,
    append_after_load: Timings,
    append_sqlite: Timings,
}

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let events = bench.scale.pick(20_000, 2_000);
    let rounds = bench.scale.pick(20, 5);
    let (world, mut starts) = (world(), StartTimings::default());
    bench.block_on(fill_projects(&world, events, &mut starts))?;
    let database = world.path().join("events.sqlite");
    for batch in bulk::build_batches("p0", events, &project_folder(0)) {
        Sqlite::open(&database)?.append_all(&batch)?;
    }
    for round in 0..rounds {
        starts.nothing.add(time_command(&mut true_command(&world), b"")?.0);
        bench.block_on(time_empty_home(&mut starts, events + round))?;
        bench.block_on(time_filled_home(&world, &mut starts, events + 2 * round))?;
        let start = Instant::now();
        Sqlite::open(&database)?.append(&sample::event(
            "p0",
            events + round,
            1024,
            &project_folder(0),
        ))?;
        starts.append_sqlite.add(start.elapsed());
    }
    Ok(start_rows(&starts, events))
}

/// Fills the projects and kills the daemon, so that the next one finds everything in its journals.
/// Then measures the first append to each.
async fn fill_projects(world: &World, events: u64, starts: &mut StartTimings) -> Result<()> {
    let (daemon, client) = BenchDaemon::start(world).await?;
    for project in 0..PROJECTS {
        let batches = bulk::build_batches(&format!("p{project}"), events, &project_folder(project));
        bulk::send_batches(&client, batches, events).await?;
    }
    drop(client);
    daemon.kill();
    let (daemon, client) = BenchDaemon::start(world).await?;
    for project in 0..PROJECTS {
        starts.append_after_load.add(time_append(&client, project, events + 1_000_000).await?);
    }
    daemon.stop(client).await
}

/// Starts with an empty home.
async fn time_empty_home(starts: &mut StartTimings, n: u64) -> Result<()> {
    let world = world();
    let (daemon, client) = BenchDaemon::start(&world).await?;
    starts.empty.add(daemon.started_in);
    starts.append_new.add(time_append(&client, 0, n).await?);
    daemon.stop(client).await
}

/// Starts with existing projects: once after a clean stop, and once after a kill with an event in
/// every journal.
async fn time_filled_home(world: &World, starts: &mut StartTimings, n: u64) -> Result<()> {
    let (daemon, client) = BenchDaemon::start(world).await?;
    starts.after_stop.add(daemon.started_in);
    starts.append_after_stop.add(time_append(&client, n % PROJECTS, n).await?);
    for project in 0..PROJECTS {
        time_append(&client, project, n + 2_000_000).await?;
    }
    drop(client);
    daemon.kill();
    let (daemon, client) = BenchDaemon::start(world).await?;
    starts.after_kill.add(daemon.started_in);
    starts.append_after_kill.add(time_append(&client, n % PROJECTS, n + 1).await?);
    daemon.stop(client).await
}

async fn time_append(client: &Client, project: u64, n: u64) -> Result<Duration> {
    let draft =
        draft_from_wire(sample::event(&format!("p{project}"), n, 1024, &project_folder(project)))?;
    let start = Instant::now();
    let answer = client.ingest(draft, limits::CALL_TIMEOUT).await?;
    let time = start.elapsed();
    ensure!(answer.created, "{} was there before", answer.id);
    Ok(time)
}

fn project_folder(project: u64) -> String {
    format!("/home/dev/project{project}")
}

fn start_rows(starts: &StartTimings, events: u64) -> Vec<Row> {
    let start = |what: &str, times: &Timings| {
        Row::new(format!("{what}, p50 of {}", times.len()), FigureUnit::Ms, times.percentile(50))
            .against("/bin/true", starts.nothing.percentile(50))
            .aim(Aim::Under(AIM_MS))
    };
    let first = |what: &str, times: &Timings| {
        Row::new(
            format!("first append, {what}, p50 of {}", times.len()),
            FigureUnit::Ms,
            times.percentile(50),
        )
        .against("SQLite open + append", starts.append_sqlite.percentile(50))
    };
    vec![
        start("empty home", &starts.empty),
        start(&format!("{PROJECTS} projects x {events}, clean stop"), &starts.after_stop),
        start(&format!("{PROJECTS} projects x {events}, SIGKILL"), &starts.after_kill),
        first("a new project", &starts.append_new),
        first(&format!("{events} there, clean stop"), &starts.append_after_stop),
        first(&format!("{events} there, SIGKILL"), &starts.append_after_kill),
        first(&format!("{events} in journals, SIGKILL"), &starts.append_after_load),
    ]
}
