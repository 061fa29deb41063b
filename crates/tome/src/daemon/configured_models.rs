//! The language models that the settings name, under one budget.

use std::sync::Arc;

use tome_llm::{CancelToken, ChatModel, ModelFailure};
use tome_model::Clock;
use tome_recall::EndpointEmbedder;

use super::daily_budget::DailyBudget;
use super::node_rewriter::NodeRewriter;
use crate::chat_model::build_chat_model;
use crate::config::Settings;

/// The daemon's conversation model.
pub struct ChatHandle {
    /// `Ok(None)` if no model is configured; an error if the configuration cannot work.
    pub model: Result<Option<Arc<dyn ChatModel>>, ModelFailure>,
    /// Cancels running requests when the daemon stops.
    pub stop: CancelToken,
}

impl ChatHandle {
    pub fn new(settings: &Settings, budget: &Arc<DailyBudget>, clock: &Arc<dyn Clock>) -> Self {
        let stop = CancelToken::default();
        Self { model: build_chat_model(settings, Arc::clone(budget), clock, &stop), stop }
    }
}

/// The configured models, under one budget.
pub struct ConfiguredModels {
    pub budget: Arc<DailyBudget>,
    /// Rewrites the built-in summaries of closed nodes.
    pub rewriter: Option<Arc<NodeRewriter>>,
    /// Holds conversations.
    pub chat: ChatHandle,
    /// Computes vectors.
    pub remote: Option<Arc<EndpointEmbedder>>,
}

impl ConfiguredModels {
    pub fn new(
        settings: &Settings,
        remote: Option<Arc<EndpointEmbedder>>,
        clock: &Arc<dyn Clock>,
    ) -> Self {
        let budget = Arc::new(DailyBudget::new(settings, clock));
        Self {
            rewriter: NodeRewriter::new(settings, &budget, clock).map(Arc::new),
            chat: ChatHandle::new(settings, &budget, clock),
            budget,
            remote,
        }
    }
}
