//! Indexes the nodes of the contents and their sources.

use tome_finder::IndexBatch;
use tome_ledger::Ledger;

use super::index_set::{IndexPair, UpdatePass};
use super::index_slot::parse_cursor;
use super::pages::PageKey;
use super::writers::IndexWriters;
use super::{Indexer, entries};
use crate::RecallError;

impl Indexer {
    /// Indexes the nodes that changed; all nodes at first.
    pub(super) fn index_nodes(
        &self,
        pair: &IndexPair,
        ledger: &Ledger,
        pass: UpdatePass,
        stop: &dyn Fn() -> bool,
    ) -> Result<u64, RecallError> {
        let writers = IndexWriters::open(pair, pass)?;
        let nodes_max = self.batch_limits(pass).nodes;
        let mut put = 0;
        while !stop() {
            // If the cursors differ, start from the lower one: indexing a node again replaces it.
            let from = writers.min_cursor();
            if from.is_empty() && pass.has_bm25() {
                put += self.index_all_nodes(&writers, ledger, nodes_max)?;
                continue;
            }
            // In order of changes, so that a slow embedder can resume where it was.
            let _one_portion = self.lock_batch(pass);
            let step = read_changed_nodes(ledger, parse_cursor(&from), nodes_max)?;
            let Some((nodes, upto)) = step else { break };
            put += nodes.len() as u64;
            let batch = build_node_batch(ledger, &nodes)?;
            writers.write(IndexBatch { cursor: upto.to_string(), ..batch })?;
        }
        Ok(put)
    }

    /// Indexes all nodes in batches. The cursor advances only with the last batch: an interrupted
    /// run starts again and replaces what is there.
    fn index_all_nodes(
        &self,
        writers: &IndexWriters,
        ledger: &Ledger,
        nodes_max: usize,
    ) -> Result<u64, RecallError> {
        // Nodes that change during this pass are indexed again afterwards.
        let upto = ledger.last_node_change()?;
        let (mut put, mut nodes) = (0, Vec::new());
        for project in ledger.contents_projects()? {
            for head in ledger.node_headers(&project, "", None) {
                nodes.push((project.clone(), head?.id));
                put += 1;
                if nodes.len() >= nodes_max {
                    let _one_portion = self.lock_batch(UpdatePass::Both);
                    writers.write_keeping_cursors(build_node_batch(ledger, &nodes)?)?;
                    nodes.clear();
                }
            }
        }
        let _one_portion = self.lock_batch(UpdatePass::Both);
        let batch = build_node_batch(ledger, &nodes)?;
        writers.write(IndexBatch { cursor: upto.to_string(), ..batch })?;
        Ok(put)
    }
}

/// Nodes with their projects, and the number of the last change.
pub(super) type ChangedNodes = (Vec<(String, tome_model::NodeId)>, u64);

/// Builds a batch that replaces the entries of nodes and of their sources.
pub(super) fn build_node_batch(
    ledger: &Ledger,
    nodes: &[(String, tome_model::NodeId)],
) -> Result<IndexBatch, RecallError> {
    let mut batch = IndexBatch::default();
    for (project, id) in nodes {
        let page = PageKey::Node { project: project.clone(), id: id.clone() };
        batch.removed.push(page.name());
        let Some(node) = ledger.node(project, id, None)? else { continue };
        let grips = node.bullets.iter().flat_map(|bullet| &bullet.grips);
        let grips: Result<Vec<_>, _> =
            grips.filter_map(|grip| ledger.grip(project, grip).transpose()).collect();
        batch.added.extend(entries::node_entries(project, &node, &grips?));
    }
    Ok(batch)
}

pub(super) fn read_changed_nodes(
    ledger: &Ledger,
    from: u64,
    nodes_max: usize,
) -> Result<Option<ChangedNodes>, RecallError> {
    let changed = ledger.changed_nodes(from, nodes_max)?;
    let Some(upto) = changed.last().map(|change| change.seq) else { return Ok(None) };
    Ok(Some((changed.into_iter().map(|change| (change.project, change.id)).collect(), upto)))
}
