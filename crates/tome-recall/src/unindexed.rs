//! Matches pages directly that an index does not have yet, or not in their current version.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::Instant;

use tome_finder::{EntryFilter, IndexEntry, IndexHit};
use tome_home::layout;
use tome_ledger::Ledger;

use super::candidate_pool::{CandidatePool, IndexSetSearch};
use super::indexer::{IndexSet, IndexableFile, node_entries};
use crate::RecallError;

/// Maximum number of changed nodes that a query reads directly.
const CHANGED_MAX: usize = 200;

impl CandidatePool {
    /// Scans the nodes that changed since the index read them.
    pub(super) fn scan_changed_nodes(
        &mut self,
        search: &IndexSetSearch<'_>,
        ledger: &Ledger,
        cursor: u64,
    ) -> Result<u64, RecallError> {
        // Read one extra change to detect truncation.
        let mut changed = ledger.changed_nodes(cursor, CHANGED_MAX + 1)?;
        self.report.record_behind(changed.len() as u64);
        if changed.len() > CHANGED_MAX {
            changed.truncate(CHANGED_MAX);
            self.report
                .report_unread("recently changed contents: try again in a moment".to_owned());
        }
        for change in &changed {
            let Some(node) = ledger.node(&change.project, &change.id, None)? else { continue };
            let grips = node.bullets.iter().flat_map(|bullet| &bullet.grips);
            let grips: Result<Vec<_>, _> =
                grips.filter_map(|grip| ledger.grip(&change.project, grip).transpose()).collect();
            let mut entries = node_entries(&change.project, &node, &grips?);
            entries.retain(|entry| search.filter.admits(&entry.meta()));
            self.match_entries(search, &entries);
        }
        Ok(changed.len() as u64)
    }

    /// Scans the files that the index does not have in their current version.
    pub(super) fn scan_unindexed_files(
        &mut self,
        search: &IndexSetSearch<'_>,
        index_set: &IndexSet,
        files: &[IndexableFile],
        indexed: &HashSet<String>,
    ) -> Result<u64, RecallError> {
        let since = Instant::now();
        // A file names the folder of its session.
        let session = search.filter.session.as_deref().map(layout::session_dir_name);
        let filter = EntryFilter { session, ..search.filter.clone() };
        let (mut scanned, mut unchanged, mut late) = (0, 0, 0u64);
        for file in files {
            if indexed.contains(&file.stamp()) {
                unchanged += 1;
                continue;
            }
            if !filter.admits(&file.meta()) {
                continue;
            }
            if search.plan.effort.is_scan_over(since) {
                late += 1;
                continue;
            }
            scanned += 1;
            let mut entries = search.indexer.build_file_entries(file);
            // Not everything in a file of lessons is one.
            entries.retain(|entry| filter.admits(&entry.meta()));
            self.match_entries(search, &entries);
        }
        if late > 0 {
            self.report.report_unread(format!("{late} notes that are not indexed yet"));
        }
        // Deleted files are not hits, but still affect the index's statistics until it is updated.
        let gone = indexed.len().saturating_sub(unchanged) as u64;
        if scanned + gone > 0 {
            self.report.record_behind(scanned + gone);
            index_set.is_outdated.store(true, Ordering::Relaxed);
        }
        Ok(scanned)
    }

    /// Matches entries as the index would have them.
    fn match_entries(&mut self, search: &IndexSetSearch<'_>, entries: &[IndexEntry]) {
        for entry in entries {
            let title = format!("{} {}", entry.title, entry.keywords);
            let matched = search.plan.matcher.match_with_title(&title, &entry.text);
            let Some(matched) = matched else { continue };
            let hit = IndexHit {
                key: entry.key.clone(),
                range: entry.range,
                source: entry.source,
                at: entry.at,
                line: entry.line,
                score: matched.score(),
            };
            self.candidates.add_matched_entry(search.set_index, &hit);
        }
    }
}
