//! Matches pages directly that an index does not have yet, or not in their current version.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::Instant;

use tome_finder::{ByteRange, EntryKey, IndexEntry, IndexHit};
use tome_ledger::Ledger;

use super::candidate::RecallCandidate;
use super::collect::{CandidatePool, SCAN_TIME_MAX, SetSearch};
use super::indexer::{IndexSet, IndexableFile, node_entries, parse_note_sections};
use crate::RecallError;

/// Maximum number of changed nodes that a query reads directly.
const CHANGED_MAX: usize = 200;

impl CandidatePool {
    /// Scans the nodes that changed since the index read them.
    pub(super) fn scan_changed_nodes(
        &mut self,
        visit: &SetSearch<'_>,
        ledger: &Ledger,
        cursor: u64,
    ) -> Result<u64, RecallError> {
        // One extra change tells that there are more.
        let mut changed = ledger.changed_nodes(cursor, CHANGED_MAX + 1)?;
        self.behind = self.behind.max(changed.len() as u64);
        if changed.len() > CHANGED_MAX {
            changed.truncate(CHANGED_MAX);
            self.report_unread("recently changed contents: try again in a moment".to_owned());
        }
        for change in &changed {
            let Some(node) = ledger.node(&change.project, &change.id, None)? else { continue };
            let grips = node.bullets.iter().flat_map(|bullet| &bullet.grips);
            let grips: Result<Vec<_>, _> =
                grips.filter_map(|grip| ledger.grip(&change.project, grip).transpose()).collect();
            for entry in node_entries(&change.project, &node, &grips?) {
                self.match_entry(visit, &entry);
            }
        }
        Ok(changed.len() as u64)
    }

    /// Scans the files that the index does not have in their current version.
    pub(super) fn scan_unindexed_files(
        &mut self,
        visit: &SetSearch<'_>,
        desk: &IndexSet,
        files: &[IndexableFile],
        known: &HashSet<String>,
    ) -> Result<u64, RecallError> {
        let since = Instant::now();
        let (mut looked, mut had, mut late) = (0, 0, 0u64);
        for file in files {
            if known.contains(&file.stamp()) {
                had += 1;
                continue;
            }
            if !file.matches_filter(&visit.filter) {
                continue;
            }
            if since.elapsed() > SCAN_TIME_MAX {
                late += 1;
                continue;
            }
            looked += 1;
            let Some(text) = visit.indexer.read_file_text(&file.page) else { continue };
            self.match_note(visit, file, &text);
        }
        if late > 0 {
            self.report_unread(format!("{late} notes that are not indexed yet"));
        }
        // Deleted files are no hits, but still affect the index's statistics until it is updated.
        let gone = known.len().saturating_sub(had) as u64;
        if looked + gone > 0 {
            self.behind = self.behind.max(looked + gone);
            desk.is_outdated.store(true, Ordering::Relaxed);
        }
        Ok(looked)
    }

    fn match_note(&mut self, visit: &SetSearch<'_>, file: &IndexableFile, text: &str) {
        for section in parse_note_sections(&file.page, text).sections {
            let part = ByteRange {
                from: u32::try_from(section.range.start).unwrap_or(u32::MAX),
                to: u32::try_from(section.range.end).unwrap_or(u32::MAX),
            };
            let title = format!("{} {}", file.name, section.heading);
            let said = text.get(section.range).unwrap_or_default();
            let Some(look) = visit.plan.matcher.match_with_title(&title, said) else { continue };
            let found = IndexHit {
                key: EntryKey::Named(file.page.name()),
                range: part,
                source: file.source(),
                at: file.modified,
                line: section.line,
                score: look.score(),
            };
            if let Some(candidate) =
                self.add_candidate(RecallCandidate::from_hit(visit.set_index, &found))
            {
                candidate.literal_score = Some(found.score);
            }
        }
    }

    fn match_entry(&mut self, visit: &SetSearch<'_>, entry: &IndexEntry) {
        let title = format!("{} {}", entry.title, entry.keywords);
        if !visit.filter.admits(entry) {
            return;
        }
        let Some(look) = visit.plan.matcher.match_with_title(&title, &entry.text) else { return };
        let found = IndexHit {
            key: entry.key.clone(),
            range: entry.range,
            source: entry.source,
            at: entry.at,
            line: entry.line,
            score: look.score(),
        };
        if let Some(candidate) =
            self.add_candidate(RecallCandidate::from_hit(visit.set_index, &found))
        {
            candidate.literal_score = Some(found.score);
        }
    }
}
