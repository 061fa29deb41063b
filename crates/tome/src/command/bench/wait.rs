//! Waiting until everything that was stored can be found by every index.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use indicatif::ProgressBar;
use tome_contents::CONTENTS;
use tome_proto::{Client, v1};

use crate::render;

/// An index that makes no progress for this long has stopped.
const PATIENCE: Duration = Duration::from_secs(180);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);
/// What is made of the events follows them into the indexes, and no count says how far it is: it is
/// there when it stays the same for this long.
const CALM: Duration = Duration::from_millis(500);

/// The ways of finding that have an index.
const INDEXED: [&str; 2] = ["bm25", "vectors"];
/// What is asked to see how far an index is.
const PROBE: &str = "anything";
/// How much of the contents is compared.
const PROBE_HITS: u32 = 100;

/// Waits until the contents hold every event, and both indexes of each project. Returns when that
/// was first so.
pub async fn until_searchable(
    client: &Client,
    roots: &[String],
    bar: &ProgressBar,
) -> Result<Instant> {
    until_followed(client, roots, bar).await?;
    let mut since = Instant::now();
    let mut before = contents(client, roots).await?;
    while since.elapsed() < CALM {
        tokio::time::sleep(CALM / 10).await;
        let now = contents(client, roots).await?;
        if now != before {
            (before, since) = (now, Instant::now());
        }
    }
    Ok(since)
}

/// Waits until both indexes of each project have every event, and the contents of all of them.
///
/// One project after the other: asking opens its store, and asking all of them again and again would
/// keep the daemon from reading any.
async fn until_followed(client: &Client, roots: &[String], bar: &ProgressBar) -> Result<()> {
    for (number, root) in roots.iter().enumerate() {
        let left = roots.len() - number;
        for tier in INDEXED {
            let mut patience = Patience::new(
                bar,
                format!(" in {}", render::counted(left as u64, "project", "projects")),
            );
            while let Some(behind) = index_behind(client, root, tier).await? {
                patience.wait(behind).await?;
            }
        }
    }
    let mut patience = Patience::new(bar, String::new());
    loop {
        match contents_behind(client).await? {
            0 => return Ok(()),
            behind => patience.wait(behind).await?,
        }
    }
}

/// Waiting for as long as there is progress.
struct Patience<'a> {
    bar: &'a ProgressBar,
    place: String,
    behind: u64,
    since: Instant,
}

impl<'a> Patience<'a> {
    fn new(bar: &'a ProgressBar, place: String) -> Self {
        Self { bar, place, behind: u64::MAX, since: Instant::now() }
    }

    async fn wait(&mut self, behind: u64) -> Result<()> {
        self.bar.set_message(format!("indexing, {} to go{}", render::count(behind), self.place));
        if behind != self.behind {
            (self.behind, self.since) = (behind, Instant::now());
        }
        if self.since.elapsed() > PATIENCE {
            bail!(
                "the indexes make no progress any more: {} to go; the log is run/daemon.log in the bench's home",
                render::counted(behind, "event", "events")
            );
        }
        tokio::time::sleep(PAUSE).await;
        Ok(())
    }
}

/// How many events the contents of all stores have yet to see.
async fn contents_behind(client: &Client) -> Result<u64> {
    let stores = client.workers().await?;
    if let Some(bad) = stores.iter().find(|store| !store.problem.is_empty()) {
        bail!("{} cannot be read: {}", bad.path, bad.problem);
    }
    // Sessions are counted when somebody asks for the counts.
    let workers = stores.iter().flat_map(|store| &store.workers);
    Ok(workers.filter(|worker| worker.name == CONTENTS).map(|worker| worker.behind).sum())
}

/// How much an index has yet to read; `None` when it has everything.
async fn index_behind(client: &Client, root: &str, tier: &str) -> Result<Option<u64>> {
    let request = v1::RecallRequest {
        query: PROBE.to_owned(),
        project: root.to_owned(),
        tier: tier.to_owned(),
        limit: Some(0),
        ..v1::RecallRequest::default()
    };
    let answer = client.recall(request).await?;
    // Another tier answers while an index is not there yet.
    Ok((answer.tier != tier || answer.behind > 0).then_some(answer.behind.max(1)))
}

/// What the index that is written last has of the contents, whatever it is asked.
async fn contents(client: &Client, roots: &[String]) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for root in roots {
        let request = v1::RecallRequest {
            query: PROBE.to_owned(),
            scope: "contents".to_owned(),
            project: root.to_owned(),
            tier: "vectors".to_owned(),
            limit: Some(PROBE_HITS),
            no_floor: true,
            ..v1::RecallRequest::default()
        };
        let hits = client.recall(request).await?.hits.into_iter();
        found.extend(hits.map(|hit| (hit.citation, hit.text)));
    }
    Ok(found)
}
