//! Builds the configured chat model, for `tome chat` and reflections.

use std::sync::Arc;
use std::time::Duration;

use tome_chat::ModelSections;
use tome_llm::{
    AnthropicModel, Budget, CancelToken, ChatModel, Metered, ModelEndpoint, ModelFailure,
    OpenAiModel, Retry, Retrying,
};
use tome_model::Clock;

use crate::config::{ChatProvider, Settings, SummarizerKind};
use crate::model_key::KeySource;

/// Attempts per call, and the pause after the first.
const ATTEMPTS: u32 = 3;
const RETRY_PAUSE: Duration = Duration::from_secs(1);

pub const MODEL_SETUP_HINT: &str = "set chat.provider (anthropic, or openai for any compatible endpoint), chat.model and the API key (in ANTHROPIC_API_KEY, OPENAI_API_KEY or chat.key_file); `tome config --all` lists all settings";

/// Builds the configured chat model; `None` if none is configured. The model retries transient errors,
/// charges every attempt to `budget`, and stops waiting at `stop`. Sends nothing yet.
pub fn build_chat_model(
    settings: &Settings,
    budget: impl Budget + 'static,
    clock: &Arc<dyn Clock>,
    stop: &CancelToken,
) -> Result<Option<Arc<dyn ChatModel>>, ModelFailure> {
    let Some(config) = resolve_model_config(settings)? else { return Ok(None) };
    let endpoint = config.build_endpoint(settings)?;
    let model: Box<dyn ChatModel> = match config.vendor {
        ModelVendor::Anthropic => Box::new(AnthropicModel::new(&endpoint, config.model)?),
        ModelVendor::OpenAi => Box::new(OpenAiModel::new(&endpoint, config.model)?),
    };
    let today = Arc::clone(clock);
    let metered = Metered::new(model, budget, move || today.today());
    let retry = Retry { attempts: ATTEMPTS, base: RETRY_PAUSE, seed: clock.now().0 };
    Ok(Some(Arc::new(Retrying::new(metered, retry, stop.clone()))))
}

/// Finds the settings sections that configure the model.
pub fn find_model_sections(settings: &Settings) -> ModelSections {
    let endpoint =
        resolve_model_config(settings).ok().flatten().map_or("chat", |config| config.section);
    let model = if settings.chat.model.is_empty() { endpoint } else { "chat" };
    ModelSections { endpoint, model }
}

#[derive(Clone, Copy)]
enum ModelVendor {
    Anthropic,
    OpenAi,
}

/// The effective settings of the model.
struct ModelConfig<'s> {
    vendor: ModelVendor,
    /// `chat` or `summarizer`.
    section: &'static str,
    model: &'s str,
    base_url: &'s str,
    key_env: &'s str,
    key_file: &'s str,
}

fn resolve_model_config(settings: &Settings) -> Result<Option<ModelConfig<'_>>, ModelFailure> {
    let (chat, summarizer) = (&settings.chat, &settings.summarizer);
    let own = |vendor| ModelConfig {
        vendor,
        section: "chat",
        model: &chat.model,
        base_url: &chat.base_url,
        key_env: &chat.key_env,
        key_file: &chat.key_file,
    };
    let summarizers = |vendor| ModelConfig {
        vendor,
        section: "summarizer",
        model: if chat.model.is_empty() { &summarizer.model } else { &chat.model },
        base_url: &summarizer.base_url,
        key_env: &summarizer.key_env,
        key_file: &summarizer.key_file,
    };
    let config = match (chat.provider, summarizer.kind) {
        (Some(ChatProvider::Disabled), _) => return Ok(None),
        (Some(ChatProvider::Anthropic), _) => own(ModelVendor::Anthropic),
        (Some(ChatProvider::OpenAi), _) => own(ModelVendor::OpenAi),
        // A key or URL without a provider is a mistake rather than intent.
        (None, _)
            if [&chat.base_url, &chat.key_env, &chat.key_file].iter().any(|it| !it.is_empty()) =>
        {
            let message = "chat.provider is not set: set it to anthropic or openai for the other chat.* settings to apply";
            return Err(ModelFailure::Misconfigured(message.to_owned()));
        }
        (None, SummarizerKind::Anthropic) => summarizers(ModelVendor::Anthropic),
        (None, SummarizerKind::OpenAi) => summarizers(ModelVendor::OpenAi),
        (None, SummarizerKind::Extractive | SummarizerKind::Command) => return Ok(None),
    };
    if config.model.is_empty() {
        let message = format!("{}.model is not set", config.section);
        return Err(ModelFailure::Misconfigured(message));
    }
    Ok(Some(config))
}

impl ModelConfig<'_> {
    fn build_endpoint(&self, settings: &Settings) -> Result<ModelEndpoint, ModelFailure> {
        let (usual_url, usual_env) = match self.vendor {
            ModelVendor::Anthropic => (AnthropicModel::BASE_URL, "ANTHROPIC_API_KEY"),
            ModelVendor::OpenAi => (OpenAiModel::BASE_URL, "OPENAI_API_KEY"),
        };
        let key = KeySource {
            section: self.section,
            key_env: self.key_env,
            usual_env,
            key_file: self.key_file,
            home: settings.home.root(),
        };
        let base_url = if self.base_url.is_empty() { usual_url } else { self.base_url };
        Ok(ModelEndpoint {
            base_url: base_url.to_owned(),
            key: key.read_key()?,
            timeout: settings.chat.timeout,
            proxy: None,
        })
    }
}
