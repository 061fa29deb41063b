//! Builds the configured chat model, for `tome chat` and reflections, and gives processes other than the
//! daemon access to the daily token budget.

use std::sync::Arc;
use std::time::Duration;

use tome_llm::{
    AnthropicModel, Budget, ChatModel, Endpoint, Metered, ModelFailure, Needed, OpenAiModel,
    Reserved, Retry, Retrying, Spent, Stop,
};
use tome_model::Clock;
use tome_proto::v1;

use crate::config::{ChatProvider, Settings, SummarizerKind};
use crate::model_key::KeySource;
use crate::reach::{Reach, ReachError, Start};

/// Attempts per call, and the pause after the first.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);

pub const HOW_TO_CONFIGURE: &str = "set chat.provider (anthropic, or openai for any compatible endpoint), chat.model and the API key (in ANTHROPIC_API_KEY, OPENAI_API_KEY or chat.key_file); `tome config` lists all settings";

/// Builds the configured chat model; `None` if none is configured. The model retries transient errors,
/// charges every attempt to `budget`, and stops waiting at `stop`. Sends nothing yet.
pub fn chat_model(
    settings: &Settings,
    budget: impl Budget + 'static,
    clock: &Arc<dyn Clock>,
    stop: &Stop,
) -> Result<Option<Arc<dyn ChatModel>>, ModelFailure> {
    let Some(asked) = asked(settings)? else { return Ok(None) };
    let endpoint = asked.endpoint(settings)?;
    let model: Box<dyn ChatModel> = match asked.vendor {
        Vendor::Anthropic => Box::new(AnthropicModel::new(&endpoint, asked.model)?),
        Vendor::OpenAi => Box::new(OpenAiModel::new(&endpoint, asked.model)?),
    };
    let today = Arc::clone(clock);
    let metered = Metered::new(model, budget, move || today.today());
    let retry = Retry { attempts: ATTEMPTS, base: PAUSE, seed: clock.now().0 };
    Ok(Some(Arc::new(Retrying::new(metered, retry, stop.clone()))))
}

/// The settings sections that configure the model, for error messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sections {
    /// Section with endpoint and key.
    pub place: &'static str,
    /// Section with the model's name.
    pub model: &'static str,
}

impl Sections {
    pub fn of(settings: &Settings) -> Self {
        let place = asked(settings).ok().flatten().map_or("chat", |asked| asked.section);
        let model = if settings.chat.model.is_empty() { place } else { "chat" };
        Self { place, model }
    }
}

#[derive(Clone, Copy)]
enum Vendor {
    Anthropic,
    OpenAi,
}

/// The effective settings of the model.
struct Asked<'s> {
    vendor: Vendor,
    /// `chat` or `summarizer`.
    section: &'static str,
    model: &'s str,
    base_url: &'s str,
    key_env: &'s str,
    key_file: &'s str,
}

fn asked(settings: &Settings) -> Result<Option<Asked<'_>>, ModelFailure> {
    let (chat, summarizer) = (&settings.chat, &settings.summarizer);
    let own = |vendor| Asked {
        vendor,
        section: "chat",
        model: &chat.model,
        base_url: &chat.base_url,
        key_env: &chat.key_env,
        key_file: &chat.key_file,
    };
    let summarizers = |vendor| Asked {
        vendor,
        section: "summarizer",
        model: if chat.model.is_empty() { &summarizer.model } else { &chat.model },
        base_url: &summarizer.base_url,
        key_env: &summarizer.key_env,
        key_file: &summarizer.key_file,
    };
    let asked = match (chat.provider, summarizer.kind) {
        (Some(ChatProvider::Nobody), _) => return Ok(None),
        (Some(ChatProvider::Anthropic), _) => own(Vendor::Anthropic),
        (Some(ChatProvider::OpenAi), _) => own(Vendor::OpenAi),
        // A key or URL without a provider is a mistake rather than intent.
        (None, _)
            if [&chat.base_url, &chat.key_env, &chat.key_file].iter().any(|it| !it.is_empty()) =>
        {
            let said = "chat.provider is not set: set it to anthropic or openai for the other chat.* settings to apply";
            return Err(ModelFailure::Misconfigured(said.to_owned()));
        }
        (None, SummarizerKind::Anthropic) => summarizers(Vendor::Anthropic),
        (None, SummarizerKind::OpenAi) => summarizers(Vendor::OpenAi),
        (None, SummarizerKind::Extractive | SummarizerKind::Command) => return Ok(None),
    };
    if asked.model.is_empty() {
        let said = format!("{}.model is not set", asked.section);
        return Err(ModelFailure::Misconfigured(said));
    }
    Ok(Some(asked))
}

impl Asked<'_> {
    fn endpoint(&self, settings: &Settings) -> Result<Endpoint, ModelFailure> {
        let (usual_url, usual_env) = match self.vendor {
            Vendor::Anthropic => (AnthropicModel::BASE_URL, "ANTHROPIC_API_KEY"),
            Vendor::OpenAi => (OpenAiModel::BASE_URL, "OPENAI_API_KEY"),
        };
        let key = KeySource {
            section: self.section,
            key_env: self.key_env,
            usual_env,
            key_file: self.key_file,
            home: settings.home.root(),
        };
        let base_url = if self.base_url.is_empty() { usual_url } else { self.base_url };
        Ok(Endpoint {
            base_url: base_url.to_owned(),
            key: key.read()?,
            timeout: settings.chat.timeout,
            proxy: None,
        })
    }
}

/// The daily token budget, kept by the daemon, which is started if necessary. Blocking: do not use on a
/// runtime thread.
#[derive(Debug, Clone)]
pub struct DaemonBudget(pub Reach);

impl Budget for DaemonBudget {
    /// Ignores `_day`: the daemon determines the day.
    fn reserve(&self, _day: &str, needed: Needed) -> Result<Reserved, ModelFailure> {
        let request = v1::ReserveRequest {
            input_tokens: needed.input_tokens,
            output_tokens_max: needed.output_tokens_max,
        };
        let asked = self.wait(async {
            self.0.ask(Start::IfAway, async |client| client.reserve_tokens(request).await).await
        });
        let answer = asked.map_err(|problem| ModelFailure::Uncounted {
            said: format!("the daemon's token budget is not available: {problem}"),
        })?;
        match answer.over_budget {
            None => Ok(Reserved { id: answer.id, needed }),
            Some(over) => Err(ModelFailure::OverBudget {
                spent: over.spent,
                budget: over.budget,
                needed: over.needed,
            }),
        }
    }

    /// If the call fails, the daemon charges the reserved input tokens.
    fn settle(&self, _day: &str, reserved: &Reserved, spent: &Spent) {
        let request = v1::SettleRequest {
            id: reserved.id,
            input_tokens: reserved.needed.input_tokens,
            output_tokens_max: reserved.needed.output_tokens_max,
            input_tokens_spent: spent.input_tokens,
            output_tokens_spent: spent.output_tokens,
            failure: spent.failure.clone().unwrap_or_default(),
        };
        let _ = self.wait(async {
            let settle =
                async |client: &tome_proto::Client| client.settle_tokens(request.clone()).await;
            self.0.ask(Start::IfAway, settle).await
        });
    }
}

impl DaemonBudget {
    fn wait<T>(&self, work: impl Future<Output = Result<T, ReachError>>) -> Result<T, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        runtime.block_on(work).map_err(|error| error.to_string())
    }
}
