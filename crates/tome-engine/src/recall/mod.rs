//! Recall: question in, cited hits out.
//!
//! Understand the question, gather candidates from every tier there is, fuse them by reciprocal
//! rank, cite, and pack. Every index may be missing or behind: the texts themselves are looked at then.

#[allow(dead_code, unused_imports)]
pub(crate) mod literal;
mod question;

use std::sync::Arc;

use tome_finder::Embedder;
use tome_model::Clock;

use crate::{Calendar, EngineError, Notebooks, Stores};

pub use question::{
    Across, Elsewhere, RecallAnswer, RecallHit, RecallQuestion, Stage, Tier, Within, source_name,
};

/// Recall over one home.
pub struct Recall {
    stores: Arc<Stores>,
    notebooks: Arc<Notebooks>,
    calendar: Arc<Calendar>,
    embedder: Arc<dyn Embedder>,
    clock: Arc<dyn Clock>,
}

impl Recall {
    /// Recall over these stores and notebooks.
    pub fn new(
        stores: Arc<Stores>,
        notebooks: Arc<Notebooks>,
        calendar: Arc<Calendar>,
        embedder: Arc<dyn Embedder>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { stores, notebooks, calendar, embedder, clock }
    }

    /// Answers a question.
    pub fn ask(&self, _question: &RecallQuestion) -> Result<RecallAnswer, EngineError> {
        todo!()
    }
}
