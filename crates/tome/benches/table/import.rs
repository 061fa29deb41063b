//! Import throughput of transcripts on disk.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tome_model::Millis;
use tome_testkit::World;

use crate::daemon::BenchDaemon;
use crate::report::{FigureUnit, Row};
use crate::timing::rate;
use crate::{Bench, sample, world};

/// Turns per session: a prompt, a reply, a tool call with its result, and the final message.
const TURNS: u64 = 50;

/// Events per turn; a session has one more for its start.
const TURN_EVENTS: u64 = 4;

const FIRST_MS: u64 = 1_790_000_000_000;

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let sessions: u64 = bench.scale.pick(500, 20);
    let events = sessions * (TURNS * TURN_EVENTS + 1);
    let world = world();
    let folder = world.folder("person/.claude/projects/-home-dev-app");
    let mut bytes = 0;
    for n in 0..sessions {
        bytes += write_session(&folder, n, "/home/dev/app")?;
    }
    let parsing = time_parsing(&folder)?;
    let (daemon, client) = bench.block_on(BenchDaemon::start(&world))?;
    let first = time_import(&world, "imported", events)?;
    let again = time_import(&world, "already_there", events)?;
    bench.block_on(daemon.stop(client))?;
    let rows = [("tome import, nothing stored before", first), ("the same again", again)];
    let rows = rows.into_iter().flat_map(|(what, time)| {
        [
            Row::new(
                format!("{what}, {sessions} sessions"),
                FigureUnit::MegabytesPerSecond,
                mb(bytes, time),
            )
            .against("parsing the lines", mb(bytes, parsing)),
            Row::new(format!("{what}, {events} events"), FigureUnit::PerSecond, rate(events, time))
                .against("parsing the lines", rate(events, parsing)),
        ]
    });
    Ok(rows.collect())
}

fn mb(bytes: u64, time: Duration) -> f64 {
    rate(bytes, time) / 1_000_000.0
}

/// Writes a transcript in Claude Code's format; returns its size.
pub fn write_session(folder: &Path, n: u64, cwd: &str) -> Result<u64> {
    let session = format!("5e551011-0000-4000-8000-{n:012}");
    let path = folder.join(format!("{session}.jsonl"));
    let mut file = BufWriter::new(File::create(&path)?);
    let mut numbers = sample::SampleRng::from(n);
    let mut at = FIRST_MS + n * 3_600_000;
    let put = |file: &mut BufWriter<File>, at: u64, id: String, fields: Value| -> Result<()> {
        let mut record = json!({
            "parentUuid": "1531c291-181c-4798-bb17-b7f3ce266a8d", "isSidechain": false, "uuid": id,
            "timestamp": Millis(at).to_string(), "userType": "external", "entrypoint": "cli",
            "cwd": cwd, "sessionId": session, "version": "2.1.325", "gitBranch": "main",
        });
        if let (Value::Object(fields), Some(record)) = (fields, record.as_object_mut()) {
            record.extend(fields);
        }
        writeln!(file, "{record}")?;
        Ok(())
    };
    for turn in 0..TURNS {
        let call = format!("toolu_{n:06}_{turn:06}");
        let block = |block: Value| {
            json!({"type": "assistant", "message": {"id": format!("msg_{n}_{turn}"),
            "role": "assistant", "model": "claude-sonnet-4-6", "content": [block],
            "usage": {"input_tokens": 100, "output_tokens": 17, "service_tier": "standard"}}})
        };
        let records = [
            json!({"type": "user", "promptId": format!("p{turn}"),
                "message": {"role": "user", "content": sample::text(&mut numbers, 300)}}),
            block(json!({"type": "text", "text": sample::text(&mut numbers, 200)})),
            block(
                json!({"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "cargo test"}}),
            ),
            json!({"type": "user", "message": {"role": "user", "content": [{"tool_use_id": call,
                "type": "tool_result", "content": sample::text(&mut numbers, 2_000)}]}}),
            json!({"type": "assistant", "message": {"id": format!("end_{n}_{turn}"), "role": "assistant",
                "content": [{"type": "text", "text": sample::text(&mut numbers, 600)}]}}),
        ];
        for (step, record) in records.into_iter().enumerate() {
            at += 3_000;
            put(&mut file, at, format!("{n:08}-{turn:04}-{step}"), record)?;
        }
    }
    file.flush()?;
    Ok(path.metadata()?.len())
}

/// Baseline: parses every line as JSON.
fn time_parsing(folder: &Path) -> Result<Duration> {
    let start = Instant::now();
    for entry in std::fs::read_dir(folder)? {
        for line in BufReader::new(File::open(entry?.path())?).lines() {
            let record: Value = serde_json::from_str(&line?)?;
            ensure!(record.is_object(), "a line is a record");
        }
    }
    Ok(start.elapsed())
}

fn time_import(world: &World, counted: &str, events: u64) -> Result<Duration> {
    let start = Instant::now();
    let ran = world.tome(&["import", "--json"]);
    let time = start.elapsed();
    ensure!(ran.code == 0, "tome import: {}", ran.stderr);
    let found = ran.json().get(counted).and_then(Value::as_u64).context("a count")?;
    ensure!(found == events, "{found} of {events} events were {counted}");
    Ok(time)
}
