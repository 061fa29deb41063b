//! Rewrites the built-in summaries of closed nodes with the configured model, in the background, one
//! call at a time.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tome_contents::{
    ModelSummarizer, ProjectNode, RewriteOutcome, list_nodes_to_rewrite, load_source,
    rewrite_summary,
};
use tome_home::{HomeError, Store};

use super::node_rewriter::NodeRewriter;
use super::state::Daemon;

/// Interval of the check for nodes to rewrite.
const REWRITE_INTERVAL: Duration = Duration::from_secs(2);
/// Nodes per page.
const PAGE_NODES: usize = 16;
/// Attempts per node with an unusable response before it is left as it is.
const NODE_ATTEMPTS_MAX: u32 = 3;

impl NodeRewriter {
    /// Rewrites the closed nodes of one store until none is left or the model must back off.
    fn rewrite_store(&self, daemon: &Daemon, store: &Store) -> Result<(), HomeError> {
        let Ok(summarizer) = &self.summarizer else { return Ok(()) };
        let mut after = None;
        loop {
            let page = list_nodes_to_rewrite(store, after.as_deref(), PAGE_NODES)?;
            for node in &page.nodes {
                if self.is_backing_off() || daemon.is_stopping() {
                    return Ok(());
                }
                self.rewrite_node(daemon, store, summarizer, node)?;
            }
            after = page.more_after;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    fn rewrite_node(
        &self,
        daemon: &Daemon,
        store: &Store,
        summarizer: &ModelSummarizer,
        node: &ProjectNode,
    ) -> Result<(), HomeError> {
        let key = format!("{} {} {}", node.project, node.node.id, node.node.version);
        if self.backoff().attempts.get(&key).is_some_and(|attempts| *attempts >= NODE_ATTEMPTS_MAX)
        {
            return Ok(());
        }
        let Some(source) = load_source(store, &daemon.settings.contents, node)? else {
            return Ok(());
        };
        let summary = source.summarize(summarizer);
        match summary {
            Ok(summary) => {
                let now = daemon.engine.clock().now();
                let done = rewrite_summary(store, node, &source, summary, &self.name, now)?;
                if matches!(done, RewriteOutcome::Version(_)) {
                    self.rewritten.fetch_add(1, Ordering::Relaxed);
                }
                self.backoff().problem.clear();
            }
            Err(error) => self.back_off(key, &error),
        }
        Ok(())
    }
}

/// Rewrites summaries until the daemon stops.
pub async fn run(daemon: Arc<Daemon>) {
    let Some(rewriter) = daemon.models.rewriter.clone() else { return };
    let mut tick = tokio::time::interval(REWRITE_INTERVAL);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = daemon.stop_requested() => {
                rewriter.stop.cancel();
                return;
            }
            _ = tick.tick() => {}
        }
        if rewriter.is_backing_off() {
            continue;
        }
        let (shared, thread_rewriter) = (Arc::clone(&daemon), Arc::clone(&rewriter));
        let work = tokio::task::spawn_blocking(move || {
            for store in shared.engine.stores().open_stores() {
                if let Err(error) = thread_rewriter.rewrite_store(&shared, &store) {
                    shared.log.write(&format!(
                        "cannot rewrite the contents of {}: {error}",
                        store.path().display()
                    ));
                }
            }
        });
        tokio::select! {
            () = daemon.stop_requested() => {
                // The interrupted node keeps its built-in summary.
                rewriter.stop.cancel();
                return;
            }
            // A panic is logged by the thread.
            _ = work => {}
        }
    }
}
