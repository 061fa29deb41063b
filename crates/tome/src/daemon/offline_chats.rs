//! Leaves the sessions of `tome chat --offline` out of lists: a demonstration is not the user's work.

use tome_contents::SessionList;
use tome_home::Home;

/// Sessions that are read beyond the limit of a list, in place of offline chats.
pub const SPARE_SESSIONS: u32 = 20;

/// Leaves the offline chats out of a list of all projects, and cuts it to `sessions_max`.
pub fn without_offline_chats(
    home: &Home,
    mut list: SessionList,
    is_wide: bool,
    sessions_max: u32,
) -> SessionList {
    if is_wide {
        let found = list.sessions.len();
        list.sessions.retain(|session| !home.is_offline_project(&session.project));
        list.total = list.total.saturating_sub((found - list.sessions.len()) as u64);
    }
    list.sessions.truncate(sessions_max as usize);
    list
}
