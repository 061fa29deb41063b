//! Access to the daily token budget, for processes other than the daemon.

use tome_client::DaemonConnector;
use tome_llm::{Budget, CallCost, CostEstimate, ModelFailure, Reservation};
use tome_proto::v1;

/// The daily token budget, kept by the daemon, which is started if necessary. Blocking: do not use on a
/// runtime thread.
#[derive(Debug, Clone)]
pub struct DaemonBudget(pub DaemonConnector);

impl Budget for DaemonBudget {
    /// Ignores `_day`: the daemon determines the day.
    fn reserve(&self, _day: &str, needed: CostEstimate) -> Result<Reservation, ModelFailure> {
        let request = v1::ReserveRequest {
            input_tokens: needed.input_tokens,
            output_tokens_max: needed.output_tokens_max,
        };
        let reserved = self.0.call_blocking(async |client| client.reserve_tokens(request).await);
        let answer = reserved.map_err(|error| ModelFailure::BudgetUnavailable {
            message: format!("the daemon's token budget is not available: {error}"),
        })?;
        match answer.over_budget {
            None => Ok(Reservation { id: answer.id, estimate: needed }),
            Some(over) => Err(ModelFailure::OverBudget {
                spent: over.spent,
                budget: over.budget,
                needed: over.needed,
            }),
        }
    }

    /// If the call fails, the daemon charges the reserved input tokens.
    fn settle(&self, _day: &str, reserved: &Reservation, spent: &CallCost) {
        let request = v1::SettleRequest {
            id: reserved.id,
            input_tokens: reserved.estimate.input_tokens,
            output_tokens_max: reserved.estimate.output_tokens_max,
            input_tokens_spent: spent.input_tokens,
            output_tokens_spent: spent.output_tokens,
            failure: spent.failure.clone().unwrap_or_default(),
        };
        let _ = self.0.call_blocking(async |client| client.settle_tokens(request.clone()).await);
    }
}
