//! Facts: the statements about a segment, each with its evidence.

pub(crate) mod checks;
pub(crate) mod choices;
pub(crate) mod contradiction;
pub(crate) mod corrected;
pub(crate) mod draft_fact;
pub(crate) mod issue_facts;
pub(crate) mod overturned;
pub(crate) mod problems;
pub(crate) mod prompt_facts;
pub(crate) mod pull_facts;
pub(crate) mod result_score;
pub(crate) mod segment_facts;
