//! The language model that rewrites the built-in summaries of closed nodes, if one is configured,
//! within the daily budget, and its state.
//!
//! The built-in summary stays as an earlier version. A model that is down, slow, over budget or
//! returns nonsense is retried later.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tome_contents::{ModelSummarizer, SummaryError};
use tome_llm::{
    AnthropicModel, CancelToken, CommandLine, CommandModel, CommandSettings, LanguageModel,
    Metered, ModelEndpoint, ModelFailure, OpenAiModel, Retry, Retrying,
};
use tome_model::Clock;
use tome_proto::v1;

use super::daily_budget::DailyBudget;
use crate::config::{Settings, SummarizerKind};
use crate::model_key::KeySource;

/// Attempts per call, and the delay after the first.
const CALL_ATTEMPTS_MAX: u32 = 3;
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// The summarizer model and its state.
pub struct NodeRewriter {
    pub summarizer: Result<ModelSummarizer, String>,
    pub name: String,
    pub stop: CancelToken,
    pub rewritten: AtomicU64,
    backoff: Mutex<Backoff>,
}

/// Until when to wait, and failed attempts per node version.
#[derive(Default)]
pub struct Backoff {
    until: Option<Instant>,
    pub problem: String,
    pub attempts: HashMap<String, u32>,
}

impl NodeRewriter {
    /// Builds the configured model; `None` if there is none. Sends nothing.
    pub fn new(
        settings: &Settings,
        budget: &Arc<DailyBudget>,
        clock: &Arc<dyn Clock>,
    ) -> Option<Self> {
        let config = &settings.summarizer;
        if config.kind == SummarizerKind::Extractive {
            return None;
        }
        let stop = CancelToken::default();
        let model = build_model(settings, &stop).map(|model| {
            let today = Arc::clone(clock);
            let metered = Metered::new(model, Arc::clone(budget), move || today.today());
            let retry =
                Retry { attempts: CALL_ATTEMPTS_MAX, base: RETRY_DELAY, seed: clock.now().0 };
            Arc::new(Retrying::new(metered, retry, stop.clone())) as Arc<dyn LanguageModel>
        });
        let name = match &model {
            Ok(model) => model.name().to_owned(),
            Err(_) => format!("{:?}", config.kind).to_lowercase(),
        };
        let summarizer = model.map(|model| {
            let limits = (ModelSummarizer::INPUT_TOKENS_MAX, ModelSummarizer::ANSWER_TOKENS_MAX);
            ModelSummarizer::new(model, limits.0, limits.1)
        });
        Some(Self {
            summarizer: summarizer.map_err(|failure| failure.to_string()),
            name,
            stop,
            rewritten: AtomicU64::new(0),
            backoff: Mutex::default(),
        })
    }

    /// Its name, count and problem; the budget has the cost.
    pub fn meter(&self) -> v1::ModelMeter {
        let problem = match &self.summarizer {
            Ok(_) => self.backoff().problem.clone(),
            Err(problem) => problem.clone(),
        };
        v1::ModelMeter {
            name: self.name.clone(),
            polished: self.rewritten.load(Ordering::Relaxed),
            problem,
            ..v1::ModelMeter::default()
        }
    }

    pub fn backoff(&self) -> std::sync::MutexGuard<'_, Backoff> {
        self.backoff.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_backing_off(&self) -> bool {
        self.backoff().until.is_some_and(|until| Instant::now() < until)
    }

    pub fn back_off(&self, key: String, error: &SummaryError) {
        let mut backoff = self.backoff();
        backoff.problem = error.to_string();
        let pause = match error {
            SummaryError::Later { after_s, .. } => Some(Duration::from_secs(*after_s)),
            // Short enough to notice a new day.
            SummaryError::OverBudget => Some(Duration::from_secs(600)),
            SummaryError::Unusable(_) => {
                *backoff.attempts.entry(key).or_default() += 1;
                None
            }
        };
        backoff.until = pause.and_then(|pause| Instant::now().checked_add(pause));
    }
}

fn build_model(
    settings: &Settings,
    stop: &CancelToken,
) -> Result<Box<dyn LanguageModel>, ModelFailure> {
    let config = &settings.summarizer;
    let or_default = |given: &str, default: &str| {
        if given.is_empty() { default.to_owned() } else { given.to_owned() }
    };
    let endpoint = |url: &str, usual_env: &str| -> Result<ModelEndpoint, ModelFailure> {
        let key = KeySource {
            section: "summarizer",
            key_env: &config.key_env,
            usual_env,
            key_file: &config.key_file,
            home: settings.home.root(),
        };
        Ok(ModelEndpoint {
            base_url: or_default(&config.base_url, url),
            key: key.read_key()?,
            timeout: config.timeout,
            proxy: None,
        })
    };
    Ok(match config.kind {
        SummarizerKind::Anthropic | SummarizerKind::OpenAi if config.model.is_empty() => {
            let problem = "summarizer.model is not set";
            return Err(ModelFailure::Misconfigured(problem.to_owned()));
        }
        SummarizerKind::Anthropic => {
            let endpoint = endpoint(AnthropicModel::BASE_URL, "ANTHROPIC_API_KEY")?;
            Box::new(AnthropicModel::new(&endpoint, &config.model)?)
        }
        SummarizerKind::OpenAi => {
            let endpoint = endpoint(OpenAiModel::BASE_URL, "OPENAI_API_KEY")?;
            Box::new(OpenAiModel::new(&endpoint, &config.model)?)
        }
        SummarizerKind::Command | SummarizerKind::Extractive => {
            let command = CommandSettings {
                line: CommandLine::Shell(config.command.clone()),
                timeout: config.timeout,
                dir: Some(settings.home.root().to_path_buf()),
                // A command that is itself a wired agent must not record these prompts.
                variables: vec![("TOME_HOOK_OFF".to_owned(), "1".to_owned())],
            };
            Box::new(CommandModel::new(command, stop.clone())?)
        }
    })
}
