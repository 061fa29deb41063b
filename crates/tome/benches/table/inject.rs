//! Latency of hooks that inject text, with many events stored and indexed, at each injection point.
//! `said` counts how often a hook injected something; not every query has an answer.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio_stream::StreamExt;
use tome_proto::{Client, limits, v1};
use tome_testkit::World;

use crate::corpus::Corpus;
use crate::daemon::{BenchDaemon, true_command, wait_until_settled};
use crate::recall::wait_until_indexed;
use crate::report::{Aim, FigureUnit, Row};
use crate::timing::Timings;
use crate::{Bench, world};

/// Deadlines of a hook; a session start may take longer.
const DEADLINES: [Aim; 2] = [Aim::Under(100.0), Aim::Under(100.0)];
const DEADLINES_AT_START: [Aim; 2] = [Aim::Under(300.0), Aim::Under(300.0)];
/// Limits for p50 and p99, with and without a search for hints.
const WITH_HINT: [Aim; 2] = [Aim::WithinOfBaseline(12.0), Aim::WithinOfBaseline(35.0)];
const WITHOUT_HINT: [Aim; 2] = [Aim::WithinOfBaseline(3.0), Aim::WithinOfBaseline(10.0)];
/// Hooks that wait in vain for a hint take at least this long.
const LATE_HINT: Duration = Duration::from_millis(40);
/// Maximum percentage of prompts that wait in vain.
const LATE_HINT_PERCENT_MAX: f64 = 5.0;
/// Concurrent hooks.
const CONCURRENT_HOOKS: u64 = 50;
/// Notes in the project's notebook.
const NOTES: u64 = 50;

/// Timings of hooks at one injection point, and how often they injected text.
#[derive(Default)]
struct InjectionTimings {
    times: Timings,
    injected: u64,
    in_vain: u64,
}

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let world = world();
    let cwd = world.folder("project").to_string_lossy().into_owned();
    let count = bench.scale.pick(100_000, 2_000);
    let (daemon, client) = bench.block_on(BenchDaemon::start(&world))?;
    bench.block_on(load(&client, count, &cwd))?;
    write_notes(&world, &cwd)?;
    let rounds = bench.scale.pick(100, 20);
    let (mut start, mut prompt, mut tool) =
        <(InjectionTimings, InjectionTimings, InjectionTimings)>::default();
    let (mut long, mut short) = <(InjectionTimings, InjectionTimings)>::default();
    let mut nothing = Timings::default();
    let corpus = Corpus::new();
    // The first round opens stores and indexes and is not measured.
    for n in 0..=rounds {
        let session = format!("bench-{n}");
        let query = corpus.query(n, count);
        let steps = [
            (
                &mut start,
                build_payload(&session, &cwd, "SessionStart", &json!({"source": "startup"})),
            ),
            (
                &mut prompt,
                build_payload(&session, &cwd, "UserPromptSubmit", &json!({"prompt": query})),
            ),
            (
                &mut long,
                build_payload(&session, &cwd, "UserPromptSubmit", &long_prompt(&corpus, n, count)),
            ),
            (
                &mut short,
                build_payload(
                    &session,
                    &cwd,
                    "UserPromptSubmit",
                    &json!({"prompt": "yes, please continue"}),
                ),
            ),
            (&mut tool, build_payload(&session, &cwd, "PostToolUse", &tool_call(n))),
        ];
        for (moment, payload) in steps {
            let (took, injected) =
                run_hook(&mut world.command(&["hook", "claude-code"]), &payload)?;
            if n > 0 {
                moment.times.add(took);
                moment.injected += u64::from(injected);
                moment.in_vain += u64::from(took >= LATE_HINT);
            }
        }
        let (took, _) = run_hook(&mut true_command(&world), "{}")?;
        nothing.add(took);
    }
    let burst = time_concurrent_prompts(&world, &cwd, &corpus, count)?;
    bench.block_on(daemon.stop(client))?;
    let cold = time_cold_starts(&world, &cwd, bench.scale.pick(10, 3))?;
    let mut rows = Vec::new();
    for (what, moment, aims) in [
        ("session start", &start, DEADLINES_AT_START),
        ("prompt of a few words", &prompt, WITH_HINT),
        ("prompt of 1 KB", &long, WITH_HINT),
        ("prompt without a hint", &short, WITHOUT_HINT),
        ("50 prompts at once", &burst, DEADLINES),
        ("tool result", &tool, WITHOUT_HINT),
        ("session start, daemon away", &cold, DEADLINES_AT_START),
    ] {
        rows.extend(injection_rows(count, what, moment, aims, &nothing));
    }
    Ok(rows)
}

/// Stores events and waits until contents and indexes have them.
async fn load(client: &Client, count: u64, cwd: &str) -> Result<()> {
    let firsts = (0..count).step_by(limits::BATCH_EVENTS_MAX);
    let (corpus, theirs) = (Corpus::new(), cwd.to_owned());
    let batches = firsts.map(move |first| {
        let numbers = first..count.min(first + limits::BATCH_EVENTS_MAX as u64);
        v1::IngestEventsRequest { events: numbers.map(|n| corpus.event(n, &theirs)).collect() }
    });
    let mut answers = client.ingest_stream(tokio_stream::iter(batches)).await?;
    let mut created = 0;
    while let Some(answer) = answers.next().await {
        created += u64::from(answer?.created);
    }
    ensure!(created == count, "{count} were sent and {created} were created");
    wait_until_indexed(client, cwd).await?;
    wait_until_settled(client).await
}

fn write_notes(world: &World, cwd: &str) -> Result<()> {
    for n in 0..NOTES {
        let path = if n < 3 { format!("facts/f{n}.md") } else { format!("note{n}.md") };
        let content = format!("# Note {n}\n\n- what is known of part {n}, in a line or two\n");
        let arguments = json!({"path": path, "content": content}).to_string();
        let mut command = world.command(&["tool", "memory_write", "-"]);
        let ran = World::run(command.current_dir(cwd), arguments.as_bytes());
        ensure!(ran.code == 0, "a note was not written: {}", ran.stderr);
    }
    Ok(())
}

/// Session starts without a running daemon; each starts one, which is stopped again.
fn time_cold_starts(world: &World, cwd: &str, count: u64) -> Result<InjectionTimings> {
    let mut moment = InjectionTimings::default();
    for n in 0..count {
        let session = format!("cold-{n}");
        let payload = build_payload(&session, cwd, "SessionStart", &json!({"source": "startup"}));
        let (took, injected) = run_hook(&mut world.command(&["hook", "claude-code"]), &payload)?;
        moment.times.add(took);
        moment.injected += u64::from(injected);
        let stopped = world.tome(&["stop"]);
        ensure!(stopped.code == 0, "the daemon did not stop: {}", stopped.stderr);
        // A hook starts no second daemon shortly after the last attempt.
        let _ = std::fs::remove_file(world.home().join("run/start.lock"));
    }
    Ok(moment)
}

fn build_payload(session: &str, cwd: &str, event: &str, more: &Value) -> String {
    let mut payload = json!({"session_id": session, "cwd": cwd, "hook_event_name": event});
    if let (Some(payload), Some(more)) = (payload.as_object_mut(), more.as_object()) {
        payload.extend(more.clone());
    }
    payload.to_string()
}

/// A prompt of about 1 KB about one event.
fn long_prompt(corpus: &Corpus, n: u64, count: u64) -> Value {
    let query = corpus.query(n + 7, count);
    // The most common words of the corpus, as in real prompts.
    let around = "and then it should still be in there, but not when there is more of it than we have now, so ".repeat(10);
    json!({"prompt": format!("{query}. {around}")})
}

/// Concurrent prompts of different sessions.
fn time_concurrent_prompts(
    world: &World,
    cwd: &str,
    corpus: &Corpus,
    count: u64,
) -> Result<InjectionTimings> {
    let mut moment = InjectionTimings::default();
    let payloads: Vec<String> = (0..CONCURRENT_HOOKS)
        .map(|n| {
            let prompt = json!({"prompt": corpus.query(n + 500, count)});
            build_payload(&format!("burst-{n}"), cwd, "UserPromptSubmit", &prompt)
        })
        .collect();
    let ran: Vec<Result<(Duration, bool)>> = std::thread::scope(|scope| {
        let hooks: Vec<_> = payloads
            .iter()
            .map(|payload| {
                scope.spawn(|| run_hook(&mut world.command(&["hook", "claude-code"]), payload))
            })
            .collect();
        let done = hooks.into_iter().map(std::thread::ScopedJoinHandle::join);
        done.map(|ran| ran.unwrap_or_else(|_| Err(anyhow::anyhow!("a hook panicked")))).collect()
    });
    for one in ran {
        let (took, injected) = one?;
        moment.times.add(took);
        moment.injected += u64::from(injected);
    }
    Ok(moment)
}

fn tool_call(n: u64) -> Value {
    json!({"tool_name": "Read", "tool_use_id": format!("toolu_bench_{n:012}"),
           "tool_input": {"file_path": "src/a.rs"}, "tool_response": "fn main() {}"})
}

/// Runs a command; returns its run time and whether it printed anything.
fn run_hook(command: &mut Command, input: &str) -> Result<(Duration, bool)> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let begun = Instant::now();
    let mut child = command.spawn()?;
    child.stdin.take().context("no pipe")?.write_all(input.as_bytes()).ok();
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "{command:?} ended with {}", output.status);
    Ok((begun.elapsed(), !output.stdout.is_empty()))
}

#[expect(clippy::cast_precision_loss, reason = "counts of a bench are small")]
fn injection_rows(
    count: u64,
    what: &str,
    moment: &InjectionTimings,
    aims: [Aim; 2],
    nothing: &Timings,
) -> Vec<Row> {
    let rounds = moment.times.len();
    let has_hint = aims == WITH_HINT;
    let mut rows: Vec<Row> = [50, 99]
        .into_iter()
        .zip(aims)
        .map(|(percent, aim)| {
            let what = format!("{}k events: {what}, p{percent} of {rounds}", count / 1_000);
            Row::new(what, FigureUnit::Ms, moment.times.percentile(percent))
                .against("/bin/true", nothing.percentile(percent))
                .aim(aim)
        })
        .collect();
    let count = count / 1_000;
    let label = format!("{count}k events: {what}, said something, of {rounds}");
    rows.push(Row::new(label, FigureUnit::Count, moment.injected as f64));
    if has_hint {
        let what = format!("{count}k events: {what}, hint too late, of {rounds} at most");
        let row = Row::new(what, FigureUnit::Count, moment.in_vain as f64);
        rows.push(row.aim(Aim::Under(rounds as f64 * LATE_HINT_PERCENT_MAX / 100.0)));
    }
    rows
}
