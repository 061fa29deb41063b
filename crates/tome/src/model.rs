//! The conversation model that is configured, for `tome chat` and for reflecting; and the day's budget as
//! another process than the daemon has it.

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

/// Tries of one call, and the pause after the first.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);

/// How to come by a model, for whoever has none.
pub const HOW_TO_CONFIGURE: &str = "set chat.provider (anthropic, or openai for any compatible endpoint), chat.model and, unless the variable ANTHROPIC_API_KEY or OPENAI_API_KEY has it, chat.key_file; `tome config` shows every setting";

/// The conversation model that the settings name; `None` when they name none. It asks again what may
/// pass, counts every try on `budget`, and ends its pauses at `stop`. Nothing is sent yet.
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

/// The sections of the settings whose keys count for the model, for whoever has to change them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sections {
    /// Of the address and the key.
    pub place: &'static str,
    /// Of its name.
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

/// Where the settings say that the model is.
struct Asked<'s> {
    vendor: Vendor,
    /// The section that says it: `chat` or `summarizer`.
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
        // A key or an address without a provider was meant for something.
        (None, _)
            if [&chat.base_url, &chat.key_env, &chat.key_file].iter().any(|it| !it.is_empty()) =>
        {
            let said = "chat.provider is not set: say anthropic or openai, for the rest of chat.* to count";
            return Err(ModelFailure::Misconfigured(said.to_owned()));
        }
        (None, SummarizerKind::Anthropic) => summarizers(Vendor::Anthropic),
        (None, SummarizerKind::OpenAi) => summarizers(Vendor::OpenAi),
        (None, SummarizerKind::Extractive | SummarizerKind::Command) => return Ok(None),
    };
    if asked.model.is_empty() {
        let said = format!("{}.model is not set: name the model to ask", asked.section);
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

/// The day's budget, kept by the daemon: it is asked before every call, and started where it is away.
/// Blocks, so it does not belong on a thread of a runtime.
#[derive(Debug, Clone)]
pub struct DaemonBudget(pub Reach);

impl Budget for DaemonBudget {
    /// The daemon says itself which day it is.
    fn reserve(&self, _day: &str, needed: Needed) -> Result<Reserved, ModelFailure> {
        let request = v1::ReserveRequest {
            input_tokens: needed.input_tokens,
            output_tokens_max: needed.output_tokens_max,
        };
        let asked = self.wait(async {
            self.0.ask(Start::IfAway, async |client| client.reserve_tokens(request).await).await
        });
        let answer = asked.map_err(|problem| ModelFailure::Uncounted {
            said: format!("the daemon cannot be asked: {problem}"),
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

    /// Where it does not get through, the daemon counts what the call was to read.
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
