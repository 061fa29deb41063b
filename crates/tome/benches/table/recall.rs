//! Recall through the shipped daemon: indexing cost, time until an event is found, and query times
//! per tier, next to SQLite's full-text index and a line scan.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tokio_stream::StreamExt;
use tome_proto::{Client, draft_from_wire, limits, v1};
use tome_testkit::World;

use crate::corpus::Corpus;
use crate::daemon::{BenchDaemon, wait_until_settled};
use crate::fts::Fts;
use crate::report::{Aim, FigureUnit, Row};
use crate::scan::LineScanner;
use crate::timing::{Timings, ms, rate};
use crate::{Bench, Scale, machine, world};

const CWD: &str = "/home/dev/app";
const LARGE_COUNT: u64 = 1_000_000;
const HITS: u32 = 10;

// Targets for a million events.
const AIM_WORDS_MS: f64 = 3.0;
const AIM_FUSED_MS: f64 = 8.0;
const AIM_MEMORY_MB: f64 = 200.0;
const AIM_INDEX_SHARE: f64 = 0.6;
const AIM_LAG_MS: f64 = 1_000.0;

/// Indexes without progress for this long are considered stuck.
const STUCK_TIMEOUT: Duration = Duration::from_secs(300);
const TIERS: [&str; 4] = ["literal", "bm25", "vectors", "fused"];
const MORE_EVENTS: u64 = 20;
/// Scans are slow.
const SCANS: u64 = 5;

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let corpus = Corpus::new();
    let mut counts = bench.scale.pick(vec![10_000, 100_000], vec![2_000]);
    counts.extend(bench.large.then_some(LARGE_COUNT));
    let mut rows = Vec::new();
    for count in counts {
        rows.extend(RecallBench { corpus: &corpus, count, scale: bench.scale }.measure(bench)?);
    }
    Ok(rows)
}

/// Recall measurements with a given number of events.
struct RecallBench<'a> {
    corpus: &'a Corpus,
    count: u64,
    scale: Scale,
}

/// Timings of one tier: as seen by the client, and per stage as reported by the daemon.
#[derive(Default)]
struct TierTimings {
    seen: Timings,
    inside: Timings,
    stages: BTreeMap<String, Timings>,
}

impl RecallBench<'_> {
    fn measure(&self, bench: &Bench) -> Result<Vec<Row>> {
        let world = world();
        let mut rows = bench.block_on(self.load(&world))?;
        let (fts, fts_took) = self.build_baseline(&world)?;
        let scanner = LineScanner::detect();
        let project = project_folder(&world)?;
        let (mut fts_times, mut scan_times) = (Timings::default(), Timings::default());
        for n in 0..self.query_count() {
            fts_times.add(fts.search(&self.corpus.query(n, self.count))?);
        }
        for n in 0..SCANS {
            let query = self.corpus.query(n, self.count);
            scan_times.add(scanner.search(&query, &project.join("sessions"))?);
        }
        let timings = bench.block_on(self.query_all_tiers(&world, &mut rows))?;
        for (tier, timings) in TIERS.into_iter().zip(&timings) {
            let baseline = match tier {
                "literal" => Some((scanner.name(), &scan_times)),
                "bm25" | "fused" => Some(("SQLite FTS5", &fts_times)),
                _ => None,
            };
            rows.extend(self.tier_rows(tier, timings, baseline));
        }
        rows.extend(self.disk_rows(&world, &project)?);
        rows.extend(bench.block_on(self.measure_rebuild(&world, &project, fts_took))?);
        Ok(rows)
    }

    fn label(&self, what: &str) -> String {
        format!("{}k events: {what}", self.count / 1_000)
    }

    fn query_count(&self) -> u64 {
        self.scale.pick(200, 40)
    }

    /// Stores the events and waits until both indexes have them.
    async fn load(&self, world: &World) -> Result<Vec<Row>> {
        let (daemon, client) = BenchDaemon::start(world).await?;
        let begun = Instant::now();
        let firsts = (0..self.count).step_by(limits::BATCH_EVENTS_MAX);
        let (corpus, count) = (Corpus::new(), self.count);
        let batches = firsts.map(move |first| {
            let numbers = first..count.min(first + limits::BATCH_EVENTS_MAX as u64);
            v1::IngestEventsRequest { events: numbers.map(|n| corpus.event(n, CWD)).collect() }
        });
        let mut answers = client.ingest_stream(tokio_stream::iter(batches)).await?;
        let mut created = 0;
        while let Some(answer) = answers.next().await {
            created += u64::from(answer?.created);
        }
        ensure!(created == self.count, "{} were sent and {created} were created", self.count);
        wait_until_indexed(&client, CWD).await?;
        let searchable = begun.elapsed();
        wait_until_settled(&client).await?;
        client.flush().await?;
        client.compact().await?;
        daemon.stop(client).await?;
        Ok(vec![Row::new(
            self.label("made, stored and in both indexes"),
            FigureUnit::PerSecond,
            rate(self.count, searchable),
        )])
    }

    fn build_baseline(&self, world: &World) -> Result<(Fts, Duration)> {
        Fts::build(&world.folder("fts").join("said.sqlite"), self.corpus, self.count)
    }
}

impl RecallBench<'_> {
    /// Sends the same queries to every tier, then measures how soon a new event is found.
    async fn query_all_tiers(
        &self,
        world: &World,
        rows: &mut Vec<Row>,
    ) -> Result<Vec<TierTimings>> {
        let (daemon, client) = BenchDaemon::start(world).await?;
        wait_until_indexed(&client, CWD).await?;
        let mut all = Vec::new();
        for tier in TIERS {
            all.push(self.query_tier(&client, tier).await?);
        }
        for (what, mb) in [
            ("memory after that, resident", machine::resident_mb(daemon.pid())),
            ("memory after that, its own", machine::anonymous_mb(daemon.pid())),
        ] {
            let mb = mb.context("the daemon's memory is not in /proc")?;
            let row = Row::new(self.label(what), FigureUnit::Megabytes, mb);
            rows.push(row.aim(Aim::Under(AIM_MEMORY_MB)));
        }
        rows.extend(self.measure_lag(&client).await?);
        daemon.stop(client).await?;
        Ok(all)
    }

    async fn query_tier(&self, client: &Client, tier: &str) -> Result<TierTimings> {
        let mut timings = TierTimings::default();
        let (begun, budget) = (Instant::now(), self.scale.pick(15, 3));
        for n in 0..self.query_count() {
            let query = self.corpus.query(n, self.count);
            let sent = Instant::now();
            // Fused is what a question gets that names no tier, with the instructions and the topic beside it.
            let named = if tier == "fused" { "" } else { tier };
            let answer = client.recall(recall_request(&query, named)).await?;
            timings.seen.add(sent.elapsed());
            ensure!(answer.tier == tier, "{tier} was asked and {} answered", answer.tier);
            let took = |stage: &v1::RecallStage| Duration::from_micros(stage.took_us);
            timings.inside.add(answer.stages.iter().map(took).sum());
            // A stage that occurs once per index or project counts as one.
            let mut sums: BTreeMap<&str, Duration> = BTreeMap::new();
            for stage in &answer.stages {
                *sums.entry(&stage.name).or_default() += took(stage);
            }
            for (name, took) in sums {
                timings.stages.entry(name.to_owned()).or_default().add(took);
            }
            if begun.elapsed().as_secs() >= budget {
                break;
            }
        }
        Ok(timings)
    }

    /// Time from sending an event until it is found, and until the index has it.
    async fn measure_lag(&self, client: &Client) -> Result<Vec<Row>> {
        let (mut found, mut indexed) = (Timings::default(), Timings::default());
        for n in 0..MORE_EVENTS {
            let word = format!("quixotic{n}zephyr");
            let mut draft = self.corpus.event(self.count + 4 * n, CWD);
            draft.text = format!("{} {word}", draft.text);
            let begun = Instant::now();
            client.ingest(draft_from_wire(draft)?, limits::CALL_TIMEOUT).await?;
            for (tier, times) in [("", &mut found), ("bm25", &mut indexed)] {
                while client.recall(recall_request(&word, tier)).await?.hits.is_empty() {
                    ensure!(begun.elapsed() < STUCK_TIMEOUT, "{word} is never found");
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                times.add(begun.elapsed());
            }
        }
        let row = |what: &str, times: &Timings| {
            Row::new(self.label(what), FigureUnit::Ms, times.percentile(50))
                .aim(Aim::Under(AIM_LAG_MS))
        };
        Ok(vec![
            row("one more event, until recall finds it, p50", &found),
            row("one more event, until bm25 has it, p50", &indexed),
        ])
    }

    fn tier_rows(
        &self,
        tier: &str,
        timings: &TierTimings,
        beside: Option<(&str, &Timings)>,
    ) -> Vec<Row> {
        let figure = |what: &str, percent: usize| {
            let seen = timings.seen.percentile(percent);
            let row = Row::new(self.label(&format!("{tier}, {what}")), FigureUnit::Ms, seen);
            match beside {
                Some((name, times)) => row.against(name, times.percentile(percent)),
                None => row,
            }
        };
        let mut half = figure("p50", 50);
        half.aim = match tier {
            "bm25" => Some(Aim::Under(AIM_WORDS_MS)),
            "fused" => Some(Aim::Under(AIM_FUSED_MS)),
            _ => None,
        };
        let mut rows = vec![half, figure(&format!("p99 of {}", timings.seen.len()), 99)];
        let inside = timings.inside.percentile(50);
        rows.push(Row::new("  its stages in the daemon, p50", FigureUnit::Ms, inside));
        if tier == "fused" {
            rows.extend(timings.stages.iter().map(|(name, times)| {
                Row::new(format!("    {name}, p50"), FigureUnit::Ms, times.percentile(50))
            }));
        }
        rows
    }

    /// Disk space per event, by component.
    fn disk_rows(&self, world: &World, project: &Path) -> Result<Vec<Row>> {
        #[expect(clippy::cast_precision_loss, reason = "bytes of a bench need not be exact")]
        let bytes = |path: PathBuf| machine::disk_bytes(&path) as f64;
        #[expect(clippy::cast_precision_loss, reason = "counts of a bench are small")]
        let each = |bytes: f64| bytes / self.count as f64;
        let fts = each(bytes(world.path().join("fts")));
        let (words, meanings) =
            (bytes(project.join("finder/bm25")), bytes(project.join("finder/vectors")));
        #[expect(clippy::cast_precision_loss, reason = "bytes of a bench need not be exact")]
        let text: f64 = (0..self.count).map(|n| self.corpus.event_text(n).len() as f64).sum();
        ensure!(words > 0.0 && meanings > 0.0, "an index is not on disk");
        let row =
            |what: &str, bytes: f64| Row::new(self.label(what), FigureUnit::Bytes, each(bytes));
        Ok(vec![
            row("text of an event", text),
            row("disk for it, ledger", bytes(project.join("ledger"))),
            row("disk for it, messages.jsonl", bytes(project.join("sessions"))),
            row("disk for it, bm25", words).against("SQLite FTS5, no texts", fts),
            row("disk for it, vectors", meanings),
            Row::new(
                self.label("indexes, of the text"),
                FigureUnit::Times,
                (words + meanings) / text,
            )
            .aim(Aim::Under(AIM_INDEX_SHARE)),
        ])
    }

    /// Deletes each index and measures how long the daemon takes to rebuild it.
    async fn measure_rebuild(
        &self,
        world: &World,
        project: &Path,
        fts: Duration,
    ) -> Result<Vec<Row>> {
        #[expect(clippy::cast_precision_loss, reason = "counts of a bench are small")]
        let each = |time: Duration| ms(time) * 1e3 / self.count as f64;
        let mut rows = Vec::new();
        for index in ["bm25", "vectors"] {
            std::fs::remove_dir_all(project.join("finder").join(index))?;
            let (daemon, client) = BenchDaemon::start(world).await?;
            let begun = Instant::now();
            wait_until_indexed(&client, CWD).await?;
            let took = each(begun.elapsed());
            let row =
                Row::new(self.label(&format!("{index} made anew, an event")), FigureUnit::Us, took);
            rows.push(match index {
                "bm25" => row.against("SQLite FTS5, 1000 a commit", each(fts)),
                _ => row,
            });
            daemon.stop(client).await?;
        }
        Ok(rows)
    }
}

fn recall_request(query: &str, tier: &str) -> v1::RecallRequest {
    v1::RecallRequest {
        query: query.to_owned(),
        project: CWD.to_owned(),
        limit: Some(HITS),
        tier: tier.to_owned(),
        ..v1::RecallRequest::default()
    }
}

/// Waits until the projections report that contents and both indexes are complete, then confirms it
/// with a query.
pub async fn wait_until_indexed(client: &Client, project: &str) -> Result<()> {
    let (begun, mut since, mut last) = (Instant::now(), Instant::now(), u64::MAX);
    loop {
        let projections = client.get_workers().await?;
        // Deep vectors of as many events take hours; they come while queries are answered.
        let projections = projections.iter().flat_map(|store| &store.workers);
        let behind: u64 = projections
            .filter(|projection| !projection.name.starts_with("deep/"))
            .map(|projection| projection.behind)
            .sum();
        if behind == 0 {
            let project = project.to_owned();
            let request =
                v1::RecallRequest { limit: Some(0), project, ..recall_request("anything", "") };
            let answer = client.recall(request).await?;
            if answer.tier == "fused" && answer.behind == 0 {
                return Ok(());
            }
        }
        if behind != last {
            (last, since) = (behind, Instant::now());
        }
        if since.elapsed() > STUCK_TIMEOUT {
            bail!("the workers make no progress: {behind} to go");
        }
        // Polling costs the daemon time that it needs for the work.
        tokio::time::sleep((begun.elapsed() / 20).max(Duration::from_millis(2))).await;
    }
}

fn project_folder(world: &World) -> Result<PathBuf> {
    let folders = std::fs::read_dir(world.home().join("projects"))?;
    let folders: Vec<PathBuf> =
        folders.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    match folders.as_slice() {
        [one] => Ok(one.clone()),
        _ => bail!("one project was stored, and there are {}", folders.len()),
    }
}
