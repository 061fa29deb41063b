//! Matches pages directly that an index does not have yet, or not in their current version.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::Instant;

use tome_finder::{Entry, Found, Key, Part};
use tome_ledger::Ledger;

use super::candidate::Candidate;
use super::gather::{Gathered, LOOK_TIME, Visit};
use super::keeper::{Desk, FileFound, of_node, said_in};
use crate::RecallError;

/// Maximum number of changed nodes that a query reads directly.
const CHANGED_MAX: usize = 200;

impl Gathered {
    /// Scans the nodes that changed since the index read them.
    pub(super) fn look_at_changed(
        &mut self,
        visit: &Visit<'_>,
        ledger: &Ledger,
        cursor: u64,
    ) -> Result<u64, RecallError> {
        // One extra change tells that there are more.
        let mut changed = ledger.changed_nodes(cursor, CHANGED_MAX + 1)?;
        self.behind = self.behind.max(changed.len() as u64);
        if changed.len() > CHANGED_MAX {
            changed.truncate(CHANGED_MAX);
            self.leave_out("recently changed contents: try again in a moment".to_owned());
        }
        for change in &changed {
            let Some(node) = ledger.node(&change.project, &change.id, None)? else { continue };
            let grips = node.bullets.iter().flat_map(|bullet| &bullet.grips);
            let grips: Result<Vec<_>, _> =
                grips.filter_map(|grip| ledger.grip(&change.project, grip).transpose()).collect();
            for entry in of_node(&change.project, &node, &grips?) {
                self.look_at_entry(visit, &entry);
            }
        }
        Ok(changed.len() as u64)
    }

    /// Scans the files that the index does not have in their current version.
    pub(super) fn look_at_files(
        &mut self,
        visit: &Visit<'_>,
        desk: &Desk,
        files: &[FileFound],
        known: &HashSet<String>,
    ) -> Result<u64, RecallError> {
        let since = Instant::now();
        let (mut looked, mut had, mut late) = (0, 0, 0u64);
        for file in files {
            if known.contains(&file.stamp()) {
                had += 1;
                continue;
            }
            if !file.is_wanted(&visit.filter) {
                continue;
            }
            if since.elapsed() > LOOK_TIME {
                late += 1;
                continue;
            }
            looked += 1;
            let Some(text) = visit.keeper.text_of_file(&file.page) else { continue };
            self.look_at_note(visit, file, &text);
        }
        if late > 0 {
            self.leave_out(format!("{late} notes that are not indexed yet"));
        }
        // Deleted files are no hits, but still affect the index's statistics until it is updated.
        let gone = known.len().saturating_sub(had) as u64;
        if looked + gone > 0 {
            self.behind = self.behind.max(looked + gone);
            desk.wanting.store(true, Ordering::Relaxed);
        }
        Ok(looked)
    }

    fn look_at_note(&mut self, visit: &Visit<'_>, file: &FileFound, text: &str) {
        for section in said_in(&file.page, text).sections {
            let part = Part {
                from: u32::try_from(section.range.start).unwrap_or(u32::MAX),
                to: u32::try_from(section.range.end).unwrap_or(u32::MAX),
            };
            let title = format!("{} {}", file.name, section.heading);
            let said = text.get(section.range).unwrap_or_default();
            let Some(look) = visit.plan.needle.look_under(&title, said) else { continue };
            let found = Found {
                key: Key::Named(file.page.name()),
                part,
                source: file.source(),
                at: file.modified,
                line: section.line,
                score: look.score(),
            };
            if let Some(candidate) = self.add(Candidate::of(visit.number, &found)) {
                candidate.looked = Some(found.score);
            }
        }
    }

    fn look_at_entry(&mut self, visit: &Visit<'_>, entry: &Entry) {
        let title = format!("{} {}", entry.title, entry.keywords);
        if !visit.filter.admits(entry) {
            return;
        }
        let Some(look) = visit.plan.needle.look_under(&title, &entry.text) else { return };
        let found = Found {
            key: entry.key.clone(),
            part: entry.part,
            source: entry.source,
            at: entry.at,
            line: entry.line,
            score: look.score(),
        };
        if let Some(candidate) = self.add(Candidate::of(visit.number, &found)) {
            candidate.looked = Some(found.score);
        }
    }
}
