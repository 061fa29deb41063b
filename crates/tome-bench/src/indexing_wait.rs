//! Waits until every index contains everything that was stored.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use indicatif::ProgressBar;
use tome_contents::CONTENTS_PROJECTION;
use tome_proto::{Client, v1};

/// Fails if an index makes no progress for this long.
const STALL_TIMEOUT: Duration = Duration::from_secs(180);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Contents are indexed after the events, and nothing reports how far that is: they count as complete
/// once they have not changed for this long.
const SETTLE_TIME: Duration = Duration::from_millis(500);

/// The tiers that have an index.
const INDEXED_TIERS: [&str; 2] = ["bm25", "vectors"];
/// Beginning of the names of the projections that compute deep vectors.
const DEEP_VECTORS_PREFIX: &str = "deep/";
/// Query for checking the state of an index.
const PROBE_QUERY: &str = "anything";
/// Number of hits compared between two checks of the contents.
const PROBE_HITS: u32 = 100;

/// Waits until the contents and both indexes of each project are complete. Returns the time of the last
/// change.
pub async fn wait_until_searchable(
    client: &Client,
    roots: &[String],
    bar: &ProgressBar,
) -> Result<Instant> {
    wait_until_indexed(client, roots, bar).await?;
    let mut since = Instant::now();
    let mut before = list_indexed_contents(client, roots).await?;
    while since.elapsed() < SETTLE_TIME {
        tokio::time::sleep(SETTLE_TIME / 10).await;
        let now = list_indexed_contents(client, roots).await?;
        if now != before {
            (before, since) = (now, Instant::now());
        }
    }
    Ok(since)
}

/// Waits until both indexes of each project, and the contents of all, have processed every event.
///
/// Polls one project after the other: a query opens the project's store, and polling all of them at
/// once would keep the daemon busy opening stores.
async fn wait_until_indexed(client: &Client, roots: &[String], bar: &ProgressBar) -> Result<()> {
    for (number, root) in roots.iter().enumerate() {
        let left = roots.len() - number;
        for tier in INDEXED_TIERS {
            let mut patience = ProgressTimeout::new(
                bar,
                format!(
                    " in {}",
                    tome_terminal::format_counted(left as u64, "project", "projects")
                ),
            );
            while let Some(behind) = count_index_backlog(client, root, tier).await? {
                patience.wait_for_progress(behind).await?;
            }
        }
    }
    let mut patience = ProgressTimeout::new(bar, String::new());
    loop {
        match count_contents_backlog(client).await? {
            0 => return Ok(()),
            behind => patience.wait_for_progress(behind).await?,
        }
    }
}

/// Polls with a timeout that restarts whenever there is progress.
struct ProgressTimeout<'a> {
    bar: &'a ProgressBar,
    suffix: String,
    behind: u64,
    since: Instant,
}

impl<'a> ProgressTimeout<'a> {
    fn new(bar: &'a ProgressBar, suffix: String) -> Self {
        Self { bar, suffix, behind: u64::MAX, since: Instant::now() }
    }

    async fn wait_for_progress(&mut self, behind: u64) -> Result<()> {
        self.bar.set_message(format!(
            "indexing, {} to go{}",
            tome_terminal::format_count(behind),
            self.suffix
        ));
        if behind != self.behind {
            (self.behind, self.since) = (behind, Instant::now());
        }
        if self.since.elapsed() > STALL_TIMEOUT {
            bail!(
                "indexing made no progress for three minutes: {} to go; see run/daemon.log in the benchmark's home",
                tome_terminal::format_counted(behind, "event", "events")
            );
        }
        tokio::time::sleep(POLL_INTERVAL).await;
        Ok(())
    }
}

/// Number of events that the contents of all stores have not processed yet, or that lack deep
/// vectors.
async fn count_contents_backlog(client: &Client) -> Result<u64> {
    let stores = client.get_workers().await?;
    if let Some(bad) = stores.iter().find(|store| !store.problem.is_empty()) {
        bail!("{} cannot be read: {}", bad.path, bad.problem);
    }
    // Only the contents matter here; session statistics are computed on demand.
    let projections = stores.iter().flat_map(|store| &store.workers);
    let counts = |projection: &&v1::Worker| {
        projection.name == CONTENTS_PROJECTION || projection.name.starts_with(DEEP_VECTORS_PREFIX)
    };
    Ok(projections.filter(counts).map(|projection| projection.behind).sum())
}

/// Number of events that an index has not read yet; `None` if it is up to date.
async fn count_index_backlog(client: &Client, root: &str, tier: &str) -> Result<Option<u64>> {
    let request = v1::RecallRequest {
        query: PROBE_QUERY.to_owned(),
        project: root.to_owned(),
        tier: tier.to_owned(),
        limit: Some(0),
        ..v1::RecallRequest::default()
    };
    let answer = client.recall(request).await?;
    // Another tier answers while an index does not exist yet.
    Ok((answer.tier != tier || answer.behind > 0).then_some(answer.behind.max(1)))
}

/// Returns everything of the contents in the vector index, which is written last. The relevance
/// threshold is off, so the query does not matter.
async fn list_indexed_contents(client: &Client, roots: &[String]) -> Result<Vec<(String, String)>> {
    let mut contents = Vec::new();
    for root in roots {
        let request = v1::RecallRequest {
            query: PROBE_QUERY.to_owned(),
            scope: "contents".to_owned(),
            project: root.to_owned(),
            tier: "vectors".to_owned(),
            limit: Some(PROBE_HITS),
            ignore_threshold: true,
            ..v1::RecallRequest::default()
        };
        let hits = client.recall(request).await?.hits.into_iter();
        contents.extend(hits.map(|hit| (hit.citation, hit.text)));
    }
    Ok(contents)
}
