//! Language models in the daemon: the day's budget, one for all processes of the home, and its way over
//! the wire. The daemon has it for as long as it runs, whether it asks a model itself or not.
//!
//! What was used today is kept in `run/summarizer.json`, written whole after every call:
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

use super::polish::Polish;
use super::state::Daemon;
use crate::chat_model::build_chat_model;
use crate::config::Settings;

/// The day's budget, kept over restarts.
pub struct DayBudget {
    meter: TokenMeter,
    daily_tokens: u64,
    memo: PathBuf,
    /// Held while the memo is written, so that a later state is not overwritten by an earlier one.
    writing: Mutex<()>,
    clock: Arc<dyn Clock>,
}

impl DayBudget {
    /// Goes on from where the last daemon was.
    pub fn new(settings: &Settings, clock: &Arc<dyn Clock>) -> Self {
        let memo = settings.home.run().join("summarizer.json");
        let state = std::fs::read(&memo).ok();
        let state: MeterState =
            state.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let daily_tokens = settings.summarizer.daily_tokens;
        Self {
            meter: TokenMeter::new(Some(daily_tokens), state),
            daily_tokens,
            memo,
            writing: Mutex::default(),
            clock: Arc::clone(clock),
        }
    }

    /// What was used today.
    pub fn reading(&self) -> MeterSnapshot {
        self.meter.snapshot(&self.clock.today())
    }
}

impl Budget for DayBudget {
    fn reserve(&self, day: &str, needed: CostEstimate) -> Result<Reservation, ModelFailure> {
        self.meter.reserve(day, needed)
    }

    fn settle(&self, day: &str, reserved: &Reservation, spent: &CallCost) {
        self.meter.settle(day, reserved, spent);
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let state = serde_json::to_vec(&self.meter.state()).unwrap_or_default();
        // What cannot be written is still counted, until the daemon leaves.
        let _ = tome_home::write_atomic(&self.memo, &state);
    }
}

/// The model that takes part in conversations, as the daemon has it.
pub struct Chat {
    /// None is configured, or one that cannot work.
    pub model: Result<Option<Arc<dyn ChatModel>>, ModelFailure>,
    /// Ends what is under way when the daemon leaves.
    pub stop: CancelToken,
}

impl Chat {
    pub fn new(settings: &Settings, budget: &Arc<DayBudget>, clock: &Arc<dyn Clock>) -> Self {
        let stop = CancelToken::default();
        Self { model: build_chat_model(settings, Arc::clone(budget), clock, &stop), stop }
    }
}

/// The models that the daemon uses, where they are configured, under one budget.
pub struct Models {
    /// The daily budget of all of them.
    pub budget: Arc<DayBudget>,
    /// Rewords contents.
    pub polish: Option<Arc<Polish>>,
    /// Takes part in conversations.
    pub chat: Chat,
    /// Makes vectors.
    pub remote: Option<Arc<EndpointEmbedder>>,
}

impl Models {
    pub fn new(
        settings: &Settings,
        remote: Option<Arc<EndpointEmbedder>>,
        clock: &Arc<dyn Clock>,
    ) -> Self {
        let budget = Arc::new(DayBudget::new(settings, clock));
        Self {
            polish: Polish::new(settings, &budget, clock).map(Arc::new),
            chat: Chat::new(settings, &budget, clock),
            budget,
            remote,
        }
    }
}

/// What models did and cost today; `None` where there are none.
pub fn meter(daemon: &Daemon) -> Option<v1::ModelMeter> {
    let reading = daemon.models.budget.reading();
    let (chat_name, chat_problem) = match &daemon.models.chat.model {
        Ok(None) => (String::new(), String::new()),
        Ok(Some(model)) => (model.name().to_owned(), String::new()),
        Err(problem) => (String::new(), problem.to_string()),
    };
    let worded = daemon.models.polish.as_ref().map(|polish| polish.reading()).unwrap_or_default();
    let has_any = [&worded.name, &chat_name, &chat_problem].iter().any(|text| !text.is_empty());
    (has_any || reading.today.calls > 0).then(|| v1::ModelMeter {
        calls: reading.today.calls,
        failures: reading.today.failures,
        tokens: reading.today.tokens(),
        daily_tokens: daemon.models.budget.daily_tokens,
        chat_name,
        chat_problem,
        ..worded
    })
}

/// The models service.
pub struct ModelsService(pub Arc<Daemon>);

#[tonic::async_trait]
impl models_server::Models for ModelsService {
    async fn reserve(
        &self,
        request: Request<v1::ReserveRequest>,
    ) -> Result<Response<v1::ReserveResponse>, Status> {
        let _busy = self.0.begin();
        let asked = request.into_inner();
        let needed = CostEstimate {
            input_tokens: asked.input_tokens,
            output_tokens_max: asked.output_tokens_max,
        };
        let answer = match self.0.models.budget.reserve(&self.0.engine.clock().today(), needed) {
            Ok(reserved) => v1::ReserveResponse { id: reserved.id, over_budget: None },
            Err(ModelFailure::OverBudget { spent, budget, needed }) => v1::ReserveResponse {
                id: 0,
                over_budget: Some(v1::OverBudget { spent, budget, needed }),
            },
            Err(failure) => return Err(Status::internal(failure.to_string())),
        };
        Ok(Response::new(answer))
    }

    async fn settle(
        &self,
        request: Request<v1::SettleRequest>,
    ) -> Result<Response<v1::SettleResponse>, Status> {
        let asked = request.into_inner();
        let needed = CostEstimate {
            input_tokens: asked.input_tokens,
            output_tokens_max: asked.output_tokens_max,
        };
        let reserved = Reservation { id: asked.id, estimate: needed };
        let spent = CallCost {
            input_tokens: asked.input_tokens_spent,
            output_tokens: asked.output_tokens_spent,
            failure: Some(asked.failure).filter(|why| !why.is_empty()),
        };
        let settle = move |daemon: &Daemon| {
            daemon.models.budget.settle(&daemon.engine.clock().today(), &reserved, &spent);
        };
        self.0.wait_for(settle).await?;
        Ok(Response::new(v1::SettleResponse {}))
    }

    async fn reading(
        &self,
        _: Request<v1::ReadingRequest>,
    ) -> Result<Response<v1::ReadingResponse>, Status> {
        let _busy = self.0.begin();
        let reading = self.0.models.budget.reading();
        Ok(Response::new(v1::ReadingResponse {
            day: reading.today.day,
            calls: reading.today.calls,
            failures: reading.today.failures,
            input_tokens: reading.today.input_tokens,
            output_tokens: reading.today.output_tokens,
            daily_tokens: self.0.models.budget.daily_tokens,
            tokens_left: reading.tokens_left.unwrap_or(u64::MAX),
            last_failure: reading.today.last_failure.unwrap_or_default(),
        }))
    }
}
