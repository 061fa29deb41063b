//! Titles, bullets, and the pages of periods and sessions.

pub(crate) mod bullets;
pub(crate) mod draft_activity;
pub(crate) mod fallback_title;
pub(crate) mod period_page;
pub(crate) mod recurrent_title;
pub(crate) mod segment_title;
pub(crate) mod session;
pub(crate) mod task_titles;
pub(crate) mod title_candidates;
pub(crate) mod title_text;
pub(crate) mod title_weight;
pub(crate) mod undone_commits;
pub(crate) mod work;
