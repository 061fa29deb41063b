//! A turn: the request, the work, and the reaction of the user.

pub(crate) mod changed_files;
pub(crate) mod finished_steps;
pub(crate) mod plan;
pub(crate) mod prompt;
pub(crate) mod reaction;
pub(crate) mod reference;
pub(crate) mod replaced;
pub(crate) mod request;
pub(crate) mod request_score;
pub(crate) mod rule;
pub(crate) mod turn;
