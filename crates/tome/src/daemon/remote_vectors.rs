//! Vectors from an endpoint, where one is configured: what is stored is sent to it in the background,
//! a few texts at a time, on a thread of its own.
//!
//! Nothing waits for it. Words are indexed by `reading.rs` meanwhile, and questions are answered from
//! them. An endpoint that is away or refuses is asked again later, after a pause that grows; nothing is
//! sent when nothing has changed.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use tome_home::Store;
use tome_llm::{
    ApiKey, CancelToken, EmbeddingsClient, ModelEndpoint, ModelFailure, OpenAiModel, Retry,
    WaitOutcome,
};
use tome_recall::RecallError;
use tome_recall::{EndpointEmbedder, IndexUpdate};
use tome_redact::Redactor;

use super::state::Daemon;
use crate::config::{EmbedProvider, EmbedSettings, Settings};

/// How often the daemon looks whether there is something to send. One look at a store that has nothing
/// new costs a look at its cursors.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long it waits when an index cannot be written.
const RETRY_AFTER: Duration = Duration::from_secs(30);
/// Stores that nobody has opened and that are looked at after the start, those written to last first.
const STORES_AT_START_MAX: usize = 64;

/// The endpoint that the settings name; `None` where the built-in embedder is used. Nothing is sent yet.
pub fn embedder(settings: &Settings) -> Result<Option<EndpointEmbedder>> {
    let asked = &settings.embed;
    if asked.provider == EmbedProvider::Builtin {
        return Ok(None);
    }
    let redactor = Redactor::new(&settings.redact).context("capture.redact in the config")?;
    let redactor = Arc::new(redactor);
    Ok(Some(match clients(asked) {
        Ok((patient, quick)) => EndpointEmbedder::new(patient, quick, redactor),
        Err(failure) => {
            let name = format!("openai/{}", asked.model);
            EndpointEmbedder::unusable(name, failure.to_string(), redactor)
        }
    }))
}

/// One that may take its time, and one for questions.
fn clients(asked: &EmbedSettings) -> Result<(EmbeddingsClient, EmbeddingsClient), ModelFailure> {
    let missing = |said: &str| Err(ModelFailure::Misconfigured(said.to_owned()));
    if asked.model.is_empty() {
        return missing("embed.model is not set: name the model to ask");
    }
    if asked.dimensions == 0 {
        return missing("embed.dimensions is not set: say how many numbers a vector of it has");
    }
    let or = |given: &str, usual: &str| {
        if given.is_empty() { usual.to_owned() } else { given.to_owned() }
    };
    let key = std::env::var(or(&asked.key_env, "OPENAI_API_KEY")).ok();
    let endpoint = ModelEndpoint {
        base_url: or(&asked.base_url, OpenAiModel::BASE_URL),
        key: key.filter(|key| !key.is_empty()).map(|key| ApiKey::new(&key)).transpose()?,
        timeout: asked.timeout,
        proxy: None,
    };
    let quick =
        ModelEndpoint { timeout: asked.question_timeout.min(asked.timeout), ..endpoint.clone() };
    // The embedder itself knows when to ask again.
    let once = Retry { attempts: 1, base: Duration::ZERO, seed: 0 };
    let client = |endpoint: &ModelEndpoint| {
        EmbeddingsClient::new(
            endpoint,
            &asked.model,
            asked.dimensions,
            once,
            CancelToken::default(),
        )
    };
    Ok((client(&endpoint)?, client(&quick)?))
}

/// Sends what is new until the daemon leaves.
pub async fn run(daemon: Arc<Daemon>) {
    let Some(far) = daemon.models.remote.clone() else { return };
    let stop = CancelToken::default();
    let work = Work { daemon: Arc::clone(&daemon), far, stop: stop.clone() };
    // Not one of the runtime's threads: the daemon does not wait for an endpoint when it leaves. What
    // is cut off on the way is not in the index, and is sent again.
    let begun = std::thread::Builder::new().name("tome-far".to_owned()).spawn(|| work.run());
    if let Err(error) = begun {
        daemon.log.say(&format!("cannot start the thread that has vectors made: {error}"));
    }
    daemon.leaving().await;
    stop.cancel();
}

struct Work {
    daemon: Arc<Daemon>,
    far: Arc<EndpointEmbedder>,
    stop: CancelToken,
}

impl Work {
    fn run(self) {
        // A daemon that was ended, or another embedder, may have left some behind.
        let mut left = self.daemon.engine.stores().list_paths();
        left.truncate(STORES_AT_START_MAX);
        let mut said = None;
        while self.stop.wait(LOOK_EVERY) == WaitOutcome::Elapsed {
            let is_well = self.far.is_backing_off() || self.look(&mut left);
            self.tell(&mut said);
            // An endpoint has pauses of its own.
            if !is_well && !self.far.is_backing_off() {
                self.stop.wait(RETRY_AFTER);
            }
        }
    }

    /// Has everything sent that is new. Says whether all went well.
    fn look(&self, left: &mut Vec<PathBuf>) -> bool {
        let stop = || self.stop.is_cancelled();
        for store in self.daemon.engine.stores().open_stores() {
            if !self.keep_up(&store) {
                return false;
            }
        }
        while let Some(path) = left.last().filter(|_| !stop()) {
            let was_open = self.daemon.engine.stores().is_open(path);
            // One that cannot be opened is told by whoever reads it.
            let opened = self.daemon.engine.stores().open(path).ok();
            let is_well = opened.is_none_or(|store| self.keep_up(&store));
            if !was_open {
                self.daemon.engine.stores().close(path);
                self.daemon.engine.recall().close_unused();
            }
            if !is_well {
                return false;
            }
            left.pop();
        }
        self.is_well("notes", &self.daemon.engine.recall().catch_up_note_vectors(&stop))
    }

    fn keep_up(&self, store: &Store) -> bool {
        let kept =
            self.daemon.engine.recall().catch_up_vectors(store, &|| self.stop.is_cancelled());
        self.is_well(&store.path().display().to_string(), &kept)
    }

    /// What the endpoint says is told once, by `tell`; anything else here.
    fn is_well(&self, of: &str, kept: &Result<IndexUpdate, RecallError>) -> bool {
        if let Err(error) = kept
            && self.far.status().problem.is_none()
        {
            self.daemon.log.say(&format!("no vectors of {of}: {}", error.explained()));
        }
        kept.is_ok()
    }

    /// Says when the endpoint begins to fail, fails in another way, or answers again.
    fn tell(&self, said: &mut Option<String>) {
        let problem = self.far.status().problem;
        if *said == problem {
            return;
        }
        self.daemon.log.say(&match &problem {
            Some(problem) => format!("no vectors for now: {problem}; asked again later"),
            None => "the endpoint makes vectors again".to_owned(),
        });
        *said = problem;
    }
}
