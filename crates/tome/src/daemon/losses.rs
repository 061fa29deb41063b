//! Removes losses that hooks recorded but whose events arrived after all: a daemon that timed out
//! may have stored the event, and an unsynced spool may hold it.

use std::collections::BTreeSet;

use super::state::Daemon;
use crate::hook::lost;

/// Removes recorded losses whose deliveries are in an open store. An arriving event opens its
/// store; one stored before a crash is found when its store is next opened.
pub fn remove_arrived(daemon: &Daemon) {
    let home = &daemon.settings.home;
    let recorded = lost::list_lost_deliveries(home);
    if recorded.is_empty() {
        return;
    }
    let mut arrived = BTreeSet::new();
    for store in daemon.engine.stores().open_stores() {
        for id in &recorded {
            match store.has_delivery(*id) {
                Ok(true) => drop(arrived.insert(*id)),
                Ok(false) => {}
                // An unreadable store is reported elsewhere.
                Err(_) => break,
            }
        }
    }
    if arrived.is_empty() {
        return;
    }
    match lost::remove_arrived(home, &arrived) {
        Ok(()) => {
            daemon
                .log
                .write(&format!("{} deliveries recorded as lost have arrived", arrived.len()));
        }
        // Retried at the next run.
        Err(error) => daemon.log.write(&format!("cannot remove recorded losses: {error}")),
    }
}
