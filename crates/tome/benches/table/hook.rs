//! Hook latency, which an agent waits for at every step.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use tome_proto::{Client, EventListQuery, draft_from_wire, limits};
use tome_testkit::World;

use crate::daemon::{BenchDaemon, connect, time_command, true_command};
use crate::report::{Aim, FigureUnit, Row};
use crate::timing::Timings;
use crate::{Bench, sample, world};

/// Guaranteed maximum for a hook, whatever the daemon does.
const DEADLINE_MS: f64 = 100.0;

/// Maximum time for a background process to store the event of a late hook.
const HANDOVER_TIMEOUT: Duration = Duration::from_secs(30);

/// Concurrent hooks.
const CONCURRENT_HOOKS: u64 = 50;

/// One kind of payload, with its timings.
struct HookPayload {
    name: &'static str,
    make: fn(u64, &str) -> String,
    nothing: Timings,
    alive: Timings,
    away: Timings,
}

impl HookPayload {
    fn new(name: &'static str, make: fn(u64, &str) -> String) -> Self {
        Self {
            name,
            make,
            nothing: Timings::default(),
            alive: Timings::default(),
            away: Timings::default(),
        }
    }
}

/// Test worlds: one home with a daemon, and one without, where autostart is disabled.
struct HookWorlds {
    alive: World,
    away: World,
    cwd: String,
}

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let (alive, away) = (world(), world());
    let cwd = alive.folder("project").to_string_lossy().into_owned();
    let worlds = HookWorlds { alive, away, cwd };
    let (daemon, client) = bench.block_on(BenchDaemon::start(&worlds.alive))?;
    let mut payloads = [
        HookPayload::new("1 KB prompt", |n, cwd| sample::prompt_payload(n, 1024, cwd)),
        HookPayload::new("100 KB tool result", |n, cwd| sample::tool_payload(n, 100 * 1024, cwd)),
    ];
    let rounds = bench.scale.pick(220, 50);
    let new = time_new_projects(bench, &worlds.alive, bench.scale.pick(10, 3))?;
    // The first round creates the store and the spool and is not measured.
    let first = sample::event("warm", 0, 1024, &worlds.cwd);
    bench.block_on(async {
        Ok(client.ingest(draft_from_wire(first)?, limits::CALL_TIMEOUT).await?)
    })?;
    for n in 0..=rounds {
        for payload in &mut payloads {
            run_round(&worlds, payload, n)?;
        }
    }
    let crowd = time_concurrent_hooks(&worlds.alive, CONCURRENT_HOOKS, &worlds.cwd)?;
    let more = 1 + 2 * new.len() as u64 + CONCURRENT_HOOKS;
    let missing = count_missing(bench, &worlds, &client, 2 * (rounds + 1), more)?;
    bench.block_on(daemon.stop(client))?;
    let nothing = payloads.first().map_or(f64::NAN, |payload| payload.nothing.percentile(50));
    let mut rows: Vec<Row> = payloads.iter().flat_map(payload_rows).collect();
    rows.push(
        Row::new(
            format!("first of a new project, alive, p50 of {}", new.len()),
            FigureUnit::Ms,
            new.percentile(50),
        )
        .against("/bin/true", nothing)
        .aim(Aim::Under(DEADLINE_MS)),
    );
    for percent in [50, 99] {
        let what = format!("{CONCURRENT_HOOKS} hooks at once, alive, p{percent}");
        rows.push(
            Row::new(what, FigureUnit::Ms, crowd.percentile(percent)).against("/bin/true", nothing),
        );
    }
    rows.extend(missing);
    Ok(rows)
}

/// The first event of a project creates its store; the hook spools the event if that takes too
/// long.
fn time_new_projects(bench: &Bench, world: &World, count: u64) -> Result<Timings> {
    let mut times = Timings::default();
    for n in 0..count {
        let cwd = world.folder(&format!("new{n}")).to_string_lossy().into_owned();
        // A distinct prompt: the same one in another project would be the same event.
        let input = sample::prompt_payload(2_000_000 + n, 1024, &cwd);
        let mut command = world.command(&["hook", "claude-code"]);
        let (time, status) = time_command(&mut command, input.as_bytes())?;
        ensure!(status.success(), "{command:?} ended with {status}");
        times.add(time);
        // Make sure that the store exists before the next project.
        bench.block_on(async {
            let client = connect(world).await?;
            let event = sample::event(&format!("new{n}"), 0, 100, &cwd);
            Ok(client.ingest(draft_from_wire(event)?, limits::CALL_TIMEOUT).await?)
        })?;
    }
    Ok(times)
}

/// Runs every variant once, in rotating order.
fn run_round(worlds: &HookWorlds, payload: &mut HookPayload, n: u64) -> Result<()> {
    let input = (payload.make)(n, &worlds.cwd);
    for turn in 0..3 {
        let (mut command, times) = match (n + turn) % 3 {
            0 => (true_command(&worlds.alive), &mut payload.nothing),
            1 => (worlds.alive.command(&["hook", "claude-code"]), &mut payload.alive),
            _ => {
                let mut command = worlds.away.command(&["hook", "claude-code"]);
                command.env("TOME_DAEMON_AUTOSTART", "false");
                (command, &mut payload.away)
            }
        };
        let (time, status) = time_command(&mut command, input.as_bytes())?;
        ensure!(status.success(), "{command:?} ended with {status}");
        if n > 0 {
            times.add(time);
        }
    }
    Ok(())
}

/// Counts events that were sent but not stored, next to the losses that the program reports itself.
/// A deadline on a busy machine may lose events, but every loss must be reported.
fn count_missing(
    bench: &Bench,
    worlds: &HookWorlds,
    client: &Client,
    sent: u64,
    more: u64,
) -> Result<Vec<Row>> {
    let stored = bench.block_on(count_settled_events(client, sent + more))?;
    let spool = std::fs::read_to_string(worlds.away.home().join("spool/events.jsonl"))?;
    // A hook that misses its deadline may hand its delivery to another process and still have
    // written it: both lines are one event.
    let spooled: HashSet<Option<String>> = spool.lines().map(delivery_id).collect();
    let spooled = spooled.len() as u64;
    let row = |daemon: &str, world: &World, handed: u64, found: u64| {
        ensure!(found <= handed, "{handed} events became {found}");
        let status = world.tome(&["status", "--json"]).json();
        let reported = status.pointer("/lost/events").and_then(serde_json::Value::as_f64);
        let row = Row::new(
            format!("missing of {handed}, {daemon}"),
            FigureUnit::Count,
            as_figure(handed - found),
        );
        Ok(row
            .against("reported by tome status", reported.unwrap_or(f64::NAN))
            .aim(Aim::Under(1.0)))
    };
    Ok(vec![
        row("daemon alive", &worlds.alive, sent + more, stored)?,
        row("daemon dead", &worlds.away, sent, spooled)?,
    ])
}

fn delivery_id(line: &str) -> Option<String> {
    let line: serde_json::Value = serde_json::from_str(line).ok()?;
    Some(line.get("delivery")?.as_str()?.to_owned())
}

/// Runs many hooks at once, as parallel subagents do.
fn time_concurrent_hooks(world: &World, hooks: u64, cwd: &str) -> Result<Timings> {
    let mut times = Timings::default();
    let timed: Vec<Result<_>> = std::thread::scope(|scope| {
        let run = |n: u64| {
            let input = sample::prompt_payload(1_000_000 + n, 1024, cwd);
            let mut command = world.command(&["hook", "claude-code"]);
            scope.spawn(move || time_command(&mut command, input.as_bytes()))
        };
        let running: Vec<_> = (0..hooks).map(run).collect();
        let ended = running.into_iter().map(std::thread::ScopedJoinHandle::join);
        ended.map(|ended| ended.unwrap_or_else(|_| bail!("a thread of the bench failed"))).collect()
    });
    for timed in timed {
        let (time, status) = timed?;
        ensure!(status.success(), "a hook ended with {status}");
        times.add(time);
    }
    Ok(times)
}

/// Waits until the events that hooks handed over have arrived, or until the timeout; returns the
/// count.
async fn count_settled_events(client: &Client, expected: u64) -> Result<u64> {
    let begun = Instant::now();
    loop {
        let stored = count_events(client).await?;
        if stored >= expected || begun.elapsed() > HANDOVER_TIMEOUT {
            return Ok(stored);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Counts all events. Reading drains the spool first.
async fn count_events(client: &Client) -> Result<u64> {
    let (mut stored, mut query) = (0, EventListQuery { limit: 1000, ..EventListQuery::default() });
    loop {
        let page = client.list_events(query.clone()).await?;
        stored += page.events.len() as u64;
        match page.continuation {
            Some(next) => query.continuation = next,
            None => return Ok(stored),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of a bench are small")]
fn as_figure(count: u64) -> f64 {
    count as f64
}

fn payload_rows(payload: &HookPayload) -> Vec<Row> {
    let mut rows = Vec::new();
    for (daemon, times) in
        [("daemon alive", &payload.alive), ("daemon dead, spooled", &payload.away)]
    {
        for (percent, within_ms) in [(50, 3.0), (99, 10.0)] {
            let what = format!("{}, {daemon}, p{percent} of {}", payload.name, times.len());
            rows.push(
                Row::new(what, FigureUnit::Ms, times.percentile(percent))
                    .against("/bin/true", payload.nothing.percentile(percent))
                    .aim(Aim::WithinOfBaseline(within_ms)),
            );
        }
    }
    rows
}
