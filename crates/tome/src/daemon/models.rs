//! Language models in the daemon: their usage and problems, and the gRPC service over which all processes of the
//! home share one daily budget.

use std::sync::Arc;

use tome_llm::{Budget, CallCost, CostEstimate, ModelFailure, Reservation};
use tome_proto::v1;
use tome_proto::v1::models_server;
use tonic::{Request, Response, Status};

use super::calls::CallKind;
use super::state::Daemon;

/// Usage and problems of the models today; `None` if no model is configured or was used.
pub fn model_meter(daemon: &Daemon) -> Option<v1::ModelMeter> {
    let usage = daemon.models.budget.snapshot();
    let (chat_name, chat_problem) = match &daemon.models.chat.model {
        Ok(None) => (String::new(), String::new()),
        Ok(Some(model)) => (model.name().to_owned(), String::new()),
        Err(problem) => (String::new(), problem.to_string()),
    };
    let rewriter_meter =
        daemon.models.rewriter.as_ref().map(|rewriter| rewriter.meter()).unwrap_or_default();
    let has_any =
        [&rewriter_meter.name, &chat_name, &chat_problem].iter().any(|text| !text.is_empty());
    (has_any || usage.today.calls > 0).then(|| v1::ModelMeter {
        calls: usage.today.calls,
        failures: usage.today.failures,
        tokens: usage.today.tokens(),
        daily_tokens: daemon.models.budget.daily_tokens,
        chat_name,
        chat_problem,
        ..rewriter_meter
    })
}

pub struct ModelsService(pub Arc<Daemon>);

#[tonic::async_trait]
impl models_server::Models for ModelsService {
    async fn reserve(
        &self,
        request: Request<v1::ReserveRequest>,
    ) -> Result<Response<v1::ReserveResponse>, Status> {
        let _guard = self.0.activity.begin();
        let request = request.into_inner();
        let estimate = CostEstimate {
            input_tokens: request.input_tokens,
            output_tokens_max: request.output_tokens_max,
        };
        let response = match self.0.models.budget.reserve(&self.0.engine.clock().today(), estimate)
        {
            Ok(reservation) => v1::ReserveResponse { id: reservation.id, over_budget: None },
            Err(ModelFailure::OverBudget { spent, budget, needed }) => v1::ReserveResponse {
                id: 0,
                over_budget: Some(v1::OverBudget { spent, budget, needed }),
            },
            Err(failure) => return Err(Status::internal(failure.to_string())),
        };
        Ok(Response::new(response))
    }

    async fn settle(
        &self,
        request: Request<v1::SettleRequest>,
    ) -> Result<Response<v1::SettleResponse>, Status> {
        let request = request.into_inner();
        let estimate = CostEstimate {
            input_tokens: request.input_tokens,
            output_tokens_max: request.output_tokens_max,
        };
        let reservation = Reservation { id: request.id, estimate };
        let spent = CallCost {
            input_tokens: request.input_tokens_spent,
            output_tokens: request.output_tokens_spent,
            failure: Some(request.failure).filter(|why| !why.is_empty()),
        };
        let settle = move |daemon: &Arc<Daemon>| {
            daemon.models.budget.settle(&daemon.engine.clock().today(), &reservation, &spent);
        };
        self.0.run_blocking(CallKind::Ledger, settle).await?;
        Ok(Response::new(v1::SettleResponse {}))
    }

    async fn reading(
        &self,
        _: Request<v1::ReadingRequest>,
    ) -> Result<Response<v1::ReadingResponse>, Status> {
        let _guard = self.0.activity.begin();
        let usage = self.0.models.budget.snapshot();
        Ok(Response::new(v1::ReadingResponse {
            day: usage.today.day,
            calls: usage.today.calls,
            failures: usage.today.failures,
            input_tokens: usage.today.input_tokens,
            output_tokens: usage.today.output_tokens,
            daily_tokens: self.0.models.budget.daily_tokens,
            tokens_left: usage.tokens_left.unwrap_or(u64::MAX),
            last_failure: usage.today.last_failure.unwrap_or_default(),
        }))
    }
}
