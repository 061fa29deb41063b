//! Commits, pull requests and rebases, from the output of git and its clients.

pub(crate) mod commit_message;
pub(crate) mod commit_subject;
pub(crate) mod commits;
pub(crate) mod pulls;
pub(crate) mod undone;
