//! Language models in the daemon: the daily token budget, which all processes of the home share
//! over gRPC, and the configured models.
//!
//! Today's usage is in `run/summarizer.json`, replaced after every call:
//!
//! `{"day":"2026-11-15","calls":4,"failures":1,"input_tokens":5210,"output_tokens":803,"last_failure":null}`

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tome_llm::{
    Budget, CallCost, CancelToken, ChatModel, CostEstimate, MeterSnapshot, MeterState,
    ModelFailure, Reservation, TokenMeter,
};
use tome_model::Clock;
use tome_proto::v1;
use tome_proto::v1::models_server;
use tome_recall::EndpointEmbedder;
use tonic::{Request, Response, Status};

use super::calls::CallKind;
use super::node_rewriter::NodeRewriter;
use super::state::Daemon;
use crate::chat_model::build_chat_model;
use crate::config::Settings;

/// The daily token budget. Its state survives restarts.
pub struct DailyBudget {
    meter: TokenMeter,
    daily_tokens: u64,
    state_file: PathBuf,
    /// Held while the state is written, so that a later state is not overwritten by an earlier one.
    write_lock: Mutex<()>,
    clock: Arc<dyn Clock>,
}

impl DailyBudget {
    /// Continues from the saved state.
    pub fn new(settings: &Settings, clock: &Arc<dyn Clock>) -> Self {
        let state_file = settings.home.run().join("summarizer.json");
        let state = std::fs::read(&state_file).ok();
        let state: MeterState =
            state.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let daily_tokens = settings.summarizer.daily_tokens;
        Self {
            meter: TokenMeter::new(Some(daily_tokens), state),
            daily_tokens,
            state_file,
            write_lock: Mutex::default(),
            clock: Arc::clone(clock),
        }
    }

    /// Usage of today.
    pub fn snapshot(&self) -> MeterSnapshot {
        self.meter.snapshot(&self.clock.today())
    }
}

impl Budget for DailyBudget {
    fn reserve(&self, day: &str, estimate: CostEstimate) -> Result<Reservation, ModelFailure> {
        self.meter.reserve(day, estimate)
    }

    fn settle(&self, day: &str, reservation: &Reservation, spent: &CallCost) {
        self.meter.settle(day, reservation, spent);
        let _guard = self.write_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let state = serde_json::to_vec(&self.meter.state()).unwrap_or_default();
        // Usage that cannot be written still counts until the daemon stops.
        let _ = tome_home::write_atomic(&self.state_file, &state);
    }
}

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
