//! Taking back what hooks had recorded as lost and what arrived all the same: a daemon that did not
//! answer in time may have stored the event, and a spool that could not be synced may hold it.

use std::collections::BTreeSet;

use super::state::Daemon;
use crate::hook::lost;

/// Takes back the losses whose deliveries are in a store that is open. What arrives opens its store, and
/// what arrived before a crash is found when its store is next opened.
pub fn take_back_arrived(daemon: &Daemon) {
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
                // A store that cannot be read says so elsewhere.
                Err(_) => break,
            }
        }
    }
    if arrived.is_empty() {
        return;
    }
    match lost::remove_arrived(home, &arrived) {
        Ok(()) => daemon
            .log
            .say(&format!("{} deliveries that were recorded as lost have arrived", arrived.len())),
        // Tried again at the next look.
        Err(error) => daemon.log.say(&format!("cannot take back losses: {error}")),
    }
}
