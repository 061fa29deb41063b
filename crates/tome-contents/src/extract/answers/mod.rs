//! The conclusion of an answer, and how informative it is.

pub(crate) mod answer;
pub(crate) mod answer_score;
pub(crate) mod caveat;
pub(crate) mod direct_answer;
pub(crate) mod informative;
pub(crate) mod passage;
pub(crate) mod preamble;
pub(crate) mod run_in;
pub(crate) mod statement;
pub(crate) mod unfinished;
pub(crate) mod verdict;
