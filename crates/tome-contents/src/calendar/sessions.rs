//! Lists sessions and opens the page of one.

use std::collections::BTreeSet;

use super::Calendar;
use crate::session_page::{build_session_page, list_session};
use crate::{SessionListing, SessionPage};
use tome_home::{HomeError, catch_up_session_stats};
use tome_ledger::Ledger;
use tome_model::{SessionId, SessionStats, truncate_to};

/// Candidates named when a prefix is ambiguous.
const CANDIDATES_MAX: usize = 4;

impl Calendar {
    /// Returns the latest sessions of a project or of all, latest first, and notes on stores that
    /// could not be read.
    pub fn list_sessions(
        &self,
        project: Option<&str>,
        sessions_max: usize,
    ) -> Result<(Vec<SessionListing>, Vec<String>), HomeError> {
        let mut latest: Vec<SessionStats> = Vec::new();
        let skipped = self.for_each_project(project, |store, project| {
            for stats in load_stats(store)? {
                if stats.project == project {
                    latest.push(stats);
                }
            }
            latest
                .sort_by(|a, b| b.last_at.cmp(&a.last_at).then_with(|| a.session.cmp(&b.session)));
            latest.truncate(sessions_max);
            Ok(())
        })?;
        let mut listed = Vec::with_capacity(latest.len());
        for stats in &latest {
            let Some(path) = self.stores.find_store_path(&stats.project) else { continue };
            listed.push(list_session(&*self.stores.open(&path)?, stats)?);
        }
        Ok((listed, skipped))
    }

    /// Returns the page of a session, given its id or a unique prefix of it.
    pub fn session_page(&self, id: &str, project: Option<&str>) -> Result<SessionPage, HomeError> {
        let wanted = id.trim();
        let mut like: BTreeSet<(SessionId, String)> = BTreeSet::new();
        self.for_each_project(project, |store, project| {
            for stats in load_stats(store)? {
                if stats.project == project && stats.session.as_str().starts_with(wanted) {
                    like.insert((stats.session, stats.project));
                }
            }
            Ok(())
        })?;
        let exact: Vec<_> = like.iter().filter(|(id, _)| id.as_str() == wanted).collect();
        let found: Vec<_> = if exact.is_empty() { like.iter().collect() } else { exact };
        let ids: BTreeSet<&SessionId> = found.iter().map(|(id, _)| id).collect();
        if ids.len() > 1 {
            let some = ids.iter().take(CANDIDATES_MAX).map(ToString::to_string).collect();
            return Err(HomeError::Ambiguous { prefix: wanted.to_owned(), some });
        }
        // A session that was split over projects is shown where it belongs: in the first with a page.
        for (session, project) in found {
            let Some(path) = self.stores.find_store_path(project) else { continue };
            let store = self.stores.open(&path)?;
            if let Some(page) = build_session_page(&store, project, session)? {
                return Ok(page);
            }
        }
        Err(HomeError::NotFound(format!("no session {}", truncate_to(wanted, 120))))
    }
}

/// The statistics of all sessions of a store, up to its latest event.
fn load_stats(store: &Ledger) -> Result<Vec<SessionStats>, HomeError> {
    catch_up_session_stats(store)?;
    Ok(store.all_session_stats()?)
}
