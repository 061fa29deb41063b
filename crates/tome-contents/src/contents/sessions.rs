//! Lists sessions and opens the page of one.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Contents;
use crate::session_list::{find_first_folder, find_last_location, shorten_id};
use crate::session_page::build_session_page;
use crate::{SessionList, SessionListing, SessionPage, SessionQuery};
use tome_home::{HomeError, Projection, catch_up_session_stats};
use tome_ledger::Ledger;
use tome_model::{SessionId, SessionStats, truncate_to};

/// Candidates named when a prefix is ambiguous.
const CANDIDATES_MAX: usize = 4;

/// The sessions that an id or a prefix names.
struct SessionMatches {
    /// One session, in each project that has events of it; empty if there is none.
    found: Vec<(SessionId, String)>,
    /// The ids of all sessions, in order.
    ids: Vec<SessionId>,
}

impl Contents {
    /// Returns the latest sessions that a query selects, or the best matches of its words, and notes on stores that could not be read.
    pub fn list_sessions(&self, query: &SessionQuery) -> Result<SessionList, HomeError> {
        let (mut ids, mut latest) = (BTreeSet::new(), Vec::<SessionStats>::new());
        let skipped = self.for_each_project(query.project.as_deref(), |store, project| {
            for stats in load_stats(store)?.into_iter().filter(|stats| stats.project == project) {
                ids.insert(stats.session.clone());
                if query.matches_stats(&stats) {
                    latest.push(stats);
                }
            }
            Ok(())
        })?;
        latest.sort_by(|a, b| b.last_at.cmp(&a.last_at).then_with(|| a.session.cmp(&b.session)));
        let ids: Vec<SessionId> = ids.into_iter().collect();
        let mut list = SessionList { skipped, ..SessionList::default() };
        let mut ranked: Vec<(SessionListing, u32)> = Vec::new();
        for stats in &latest {
            let is_full = ranked.len() >= query.sessions_max;
            if is_full && !query.needs_reading() {
                list.total += 1;
                continue;
            }
            let Some(path) = self.stores.find_store_path(&stats.project) else { continue };
            let store = self.stores.open(&path)?;
            let Some((mut listing, rank)) = query.read_listing(&store, stats)? else { continue };
            list.total += 1;
            // Among equals the latest stay first.
            let index = ranked.partition_point(|(_, other)| *other >= rank);
            if index < query.sessions_max {
                listing.short_id = shorten_id(listing.id.as_str(), &ids);
                listing.cwd = find_first_folder(&store, &stats.project, &stats.session)?;
                listing.worktree =
                    find_last_location(&store, &stats.project, &stats.session)?.worktree;
                ranked.insert(index, (listing, rank));
                ranked.truncate(query.sessions_max);
            }
        }
        list.sessions = ranked.into_iter().map(|(listing, _)| listing).collect();
        Ok(list)
    }

    /// Returns the page of a session, given its id or a unique prefix of it.
    pub fn session_page(&self, id: &str, project: Option<&str>) -> Result<SessionPage, HomeError> {
        let SessionMatches { found, ids } = self.find_sessions(id, project)?;
        // A session that was split over projects is shown where it belongs: in the first with a page.
        for (session, project) in &found {
            let Some(path) = self.stores.find_store_path(project) else { continue };
            let store = self.stores.open(&path)?;
            self.catch_up_session(&store);
            if let Some(mut page) = build_session_page(&store, project, session)? {
                page.session.short_id = shorten_id(session.as_str(), &ids);
                return Ok(page);
            }
        }
        Err(session_not_found(id))
    }

    /// Returns the id of a session and its project, given the id or a unique prefix of it.
    pub fn resolve_session(
        &self,
        id: &str,
        project: Option<&str>,
    ) -> Result<(SessionId, String), HomeError> {
        let matches = self.find_sessions(id, project)?;
        matches.found.into_iter().next().ok_or_else(|| session_not_found(id))
    }

    /// Returns a session as a line of a list, given its id or a unique prefix of it.
    pub fn find_session(
        &self,
        id: &str,
        project: Option<&str>,
    ) -> Result<SessionListing, HomeError> {
        let SessionMatches { found, ids } = self.find_sessions(id, project)?;
        for (session, project) in &found {
            let Some(path) = self.stores.find_store_path(project) else { continue };
            let store = self.stores.open(&path)?;
            self.catch_up_session(&store);
            let Some(stats) = store.session_stats(session, project)? else { continue };
            if let Some((mut listing, _)) = SessionQuery::default().read_listing(&store, &stats)? {
                listing.short_id = shorten_id(session.as_str(), &ids);
                listing.cwd = find_first_folder(&store, project, session)?;
                listing.worktree = find_last_location(&store, project, session)?.worktree;
                return Ok(listing);
            }
        }
        Err(session_not_found(id))
    }

    /// Brings what a page shows up to date. On a full disk, the page is what it was.
    fn catch_up_session(&self, store: &Arc<Ledger>) {
        let _ = catch_up_session_stats(store);
        let _ = self.catch_up(store, &|| false);
    }

    /// Finds the session with an id or a unique prefix of it.
    fn find_sessions(&self, id: &str, project: Option<&str>) -> Result<SessionMatches, HomeError> {
        let wanted = id.trim();
        let all = match project {
            Some(root) => self.stored_sessions(root),
            None => self.indexed_sessions(wanted)?,
        };
        let mut found: Vec<_> =
            all.iter().filter(|(id, _)| id.as_str().starts_with(wanted)).cloned().collect();
        if found.iter().any(|(id, _)| id.as_str() == wanted) {
            found.retain(|(id, _)| id.as_str() == wanted);
        }
        let candidates: BTreeSet<&SessionId> = found.iter().map(|(id, _)| id).collect();
        if candidates.len() > 1 {
            let some = candidates.iter().take(CANDIDATES_MAX).map(ToString::to_string).collect();
            return Err(HomeError::Ambiguous { prefix: wanted.to_owned(), some });
        }
        let mut ids: Vec<SessionId> = all.into_iter().map(|(id, _)| id).collect();
        ids.dedup();
        Ok(SessionMatches { found, ids })
    }

    /// The sessions of a project, from its store.
    fn stored_sessions(&self, root: &str) -> BTreeSet<(SessionId, String)> {
        let mut all = BTreeSet::new();
        // Without bringing contents up to date, which needs space on the disk.
        for path in self.store_paths(Some(root)) {
            let was_open = self.stores.is_open(&path);
            let stats = self.stores.open(&path).and_then(|store| load_stats(&store));
            if !was_open {
                self.stores.close(&path);
            }
            // A store that cannot be read is reported by what reads its events.
            let stats = stats.unwrap_or_default().into_iter();
            let stats = stats.filter(|stats| stats.project == root);
            all.extend(stats.map(|stats| (stats.session, stats.project)));
        }
        all
    }

    /// The sessions of all projects, from the index of sessions: opening hundreds of stores to learn
    /// that none has an id would take seconds. The index does not list events without a session.
    fn indexed_sessions(&self, wanted: &str) -> Result<BTreeSet<(SessionId, String)>, HomeError> {
        let projects = self.stores.projects();
        let listed = self.stores.session_index()?.load_sessions()?.into_iter();
        let mut all: BTreeSet<(SessionId, String)> =
            listed.map(|(id, root)| (id, projects.canonical_root(&root))).collect();
        if wanted == SessionId::UNKNOWN {
            all.extend(projects.all().iter().flat_map(|(root, _)| self.stored_sessions(root)));
        }
        Ok(all)
    }
}

fn session_not_found(id: &str) -> HomeError {
    HomeError::NotFound(format!("no session {}", truncate_to(id.trim(), 120)))
}

/// The statistics of all sessions of a store, up to its latest event if the store can be written.
fn load_stats(store: &Ledger) -> Result<Vec<SessionStats>, HomeError> {
    // On a full disk, what is stored can still be read.
    let _ = catch_up_session_stats(store);
    Ok(store.all_session_stats()?)
}
