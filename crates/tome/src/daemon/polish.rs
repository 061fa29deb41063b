//! Contents in a language model's words, where one is configured: closed nodes are worded anew in the
//! background, one call at a time, within the day's budget.
//!
//! What the built-in summarizer made stays until a better version stands beside it. A model that is
//! away, slow, over its budget or talks nonsense costs nothing but time: it is asked again later.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tome_contents::{
    ModelSummarizer, ProjectNode, ReplaceOutcome, SummaryError, list_unpolished, load_source,
    replace_summary,
};
use tome_home::{HomeError, Store};
use tome_llm::{
    AnthropicModel, CancelToken, CommandLine, CommandModel, CommandSettings, LanguageModel,
    Metered, ModelEndpoint, ModelFailure, OpenAiModel, Retry, Retrying,
};
use tome_model::Clock;
use tome_proto::v1;

use super::models::DayBudget;
use super::state::Daemon;
use crate::config::{Settings, SummarizerKind};
use crate::model_key::KeySource;

/// How often the daemon looks for something to word.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Nodes looked up at a time.
const NODES_MAX: usize = 16;
/// A node for which the model found no usable words so often is left as it is.
const TRIES_MAX: u32 = 3;
/// Tries of one call, and the pause after the first.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);

/// The model, and what became of it so far.
pub struct Polish {
    summarizer: Result<ModelSummarizer, String>,
    name: String,
    stop: CancelToken,
    polished: AtomicU64,
    rest: Mutex<Rest>,
}

/// When to go on, and what not to try again.
#[derive(Default)]
struct Rest {
    until: Option<Instant>,
    problem: String,
    tries: HashMap<String, u32>,
}

impl Polish {
    /// The model that the settings name; `None` when they name none. Nothing is sent yet.
    pub fn new(
        settings: &Settings,
        budget: &Arc<DayBudget>,
        clock: &Arc<dyn Clock>,
    ) -> Option<Self> {
        let asked = &settings.summarizer;
        if asked.kind == SummarizerKind::Extractive {
            return None;
        }
        let stop = CancelToken::default();
        let model = model(settings, &stop).map(|model| {
            let today = Arc::clone(clock);
            let metered = Metered::new(model, Arc::clone(budget), move || today.today());
            let retry = Retry { attempts: ATTEMPTS, base: PAUSE, seed: clock.now().0 };
            Arc::new(Retrying::new(metered, retry, stop.clone())) as Arc<dyn LanguageModel>
        });
        let name = match &model {
            Ok(model) => model.name().to_owned(),
            Err(_) => format!("{:?}", asked.kind).to_lowercase(),
        };
        let summarizer = model.map(|model| {
            let room = (ModelSummarizer::INPUT_TOKENS_MAX, ModelSummarizer::ANSWER_TOKENS_MAX);
            ModelSummarizer::new(model, room.0, room.1)
        });
        Some(Self {
            summarizer: summarizer.map_err(|failure| failure.to_string()),
            name,
            stop,
            polished: AtomicU64::new(0),
            rest: Mutex::default(),
        })
    }

    /// What it has done; what that cost is with the budget.
    pub fn reading(&self) -> v1::ModelMeter {
        let problem = match &self.summarizer {
            Ok(_) => self.rest().problem.clone(),
            Err(problem) => problem.clone(),
        };
        v1::ModelMeter {
            name: self.name.clone(),
            polished: self.polished.load(Ordering::Relaxed),
            problem,
            ..v1::ModelMeter::default()
        }
    }

    fn rest(&self) -> std::sync::MutexGuard<'_, Rest> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_resting(&self) -> bool {
        self.rest().until.is_some_and(|until| Instant::now() < until)
    }

    /// Words what is closed in one store, until nothing is left or the model needs a rest.
    fn polish(&self, daemon: &Daemon, store: &Store) -> Result<(), HomeError> {
        let Ok(summarizer) = &self.summarizer else { return Ok(()) };
        let mut after = None;
        loop {
            let page = list_unpolished(store, after.as_deref(), NODES_MAX)?;
            for found in &page.nodes {
                if self.is_resting() || daemon.is_leaving() {
                    return Ok(());
                }
                self.word(daemon, store, summarizer, found)?;
            }
            after = page.more_after;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    fn word(
        &self,
        daemon: &Daemon,
        store: &Store,
        summarizer: &ModelSummarizer,
        found: &ProjectNode,
    ) -> Result<(), HomeError> {
        let name = format!("{} {} {}", found.project, found.node.id, found.node.version);
        if self.rest().tries.get(&name).is_some_and(|tries| *tries >= TRIES_MAX) {
            return Ok(());
        }
        let Some(source) = load_source(store, &daemon.settings.contents, found)? else {
            return Ok(());
        };
        let summary = source.summarize(summarizer);
        match summary {
            Ok(summary) => {
                let now = daemon.engine.clock().now();
                let done = replace_summary(store, found, &source, summary, &self.name, now)?;
                if matches!(done, ReplaceOutcome::Version(_)) {
                    self.polished.fetch_add(1, Ordering::Relaxed);
                }
                self.rest().problem.clear();
            }
            Err(error) => self.give_it_a_rest(name, &error),
        }
        Ok(())
    }

    fn give_it_a_rest(&self, name: String, error: &SummaryError) {
        let mut rest = self.rest();
        rest.problem = error.to_string();
        let pause = match error {
            SummaryError::Later { after_s, .. } => Some(Duration::from_secs(*after_s)),
            // Looked at again often enough to notice a new day.
            SummaryError::OverBudget => Some(Duration::from_secs(600)),
            SummaryError::Unusable(_) => {
                *rest.tries.entry(name).or_default() += 1;
                None
            }
        };
        rest.until = pause.and_then(|pause| Instant::now().checked_add(pause));
    }
}

/// Words contents until the daemon leaves.
pub async fn run(daemon: Arc<Daemon>) {
    let Some(polish) = daemon.models.polish.clone() else { return };
    let mut look = tokio::time::interval(LOOK_EVERY);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = daemon.leaving() => {
                polish.stop.cancel();
                return;
            }
            _ = look.tick() => {}
        }
        if polish.is_resting() {
            continue;
        }
        let (theirs, own) = (Arc::clone(&daemon), Arc::clone(&polish));
        let work = tokio::task::spawn_blocking(move || {
            for store in theirs.engine.stores().open_stores() {
                if let Err(error) = own.polish(&theirs, &store) {
                    theirs.log.say(&format!("cannot word {}: {error}", store.path().display()));
                }
            }
        });
        tokio::select! {
            () = daemon.leaving() => {
                // What is under way is ended; the built-in words stay.
                polish.stop.cancel();
                return;
            }
            // One that panics is logged by its thread.
            _ = work => {}
        }
    }
}

fn model(settings: &Settings, stop: &CancelToken) -> Result<Box<dyn LanguageModel>, ModelFailure> {
    let asked = &settings.summarizer;
    let or = |given: &str, usual: &str| {
        if given.is_empty() { usual.to_owned() } else { given.to_owned() }
    };
    let endpoint = |url: &str, usual_env: &str| -> Result<ModelEndpoint, ModelFailure> {
        let key = KeySource {
            section: "summarizer",
            key_env: &asked.key_env,
            usual_env,
            key_file: &asked.key_file,
            home: settings.home.root(),
        };
        Ok(ModelEndpoint {
            base_url: or(&asked.base_url, url),
            key: key.read_key()?,
            timeout: asked.timeout,
            proxy: None,
        })
    };
    Ok(match asked.kind {
        SummarizerKind::Anthropic | SummarizerKind::OpenAi if asked.model.is_empty() => {
            let said = "summarizer.model is not set: name the model to ask";
            return Err(ModelFailure::Misconfigured(said.to_owned()));
        }
        SummarizerKind::Anthropic => {
            let endpoint = endpoint(AnthropicModel::BASE_URL, "ANTHROPIC_API_KEY")?;
            Box::new(AnthropicModel::new(&endpoint, &asked.model)?)
        }
        SummarizerKind::OpenAi => {
            let endpoint = endpoint(OpenAiModel::BASE_URL, "OPENAI_API_KEY")?;
            Box::new(OpenAiModel::new(&endpoint, &asked.model)?)
        }
        SummarizerKind::Command | SummarizerKind::Extractive => {
            let command = CommandSettings {
                line: CommandLine::Shell(asked.command.clone()),
                timeout: asked.timeout,
                dir: Some(settings.home.root().to_path_buf()),
                // A command that is an agent itself must not record what Tome asks it.
                variables: vec![("TOME_HOOK_OFF".to_owned(), "1".to_owned())],
            };
            Box::new(CommandModel::new(command, stop.clone())?)
        }
    })
}
