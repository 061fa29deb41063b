//! The remote endpoint that computes vectors, if one is configured.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use tome_llm::{
    ApiKey, CancelToken, EmbeddingsClient, ModelEndpoint, ModelFailure, OpenAiModel, Retry,
};
use tome_recall::EndpointEmbedder;
use tome_redact::Redactor;

use crate::config::{EmbedProvider, EmbedSettings, Settings};

/// The configured endpoint; `None` for the built-in embedder. Sends nothing.
pub fn build_embedder(settings: &Settings) -> Result<Option<EndpointEmbedder>> {
    let config = &settings.embed;
    if config.provider == EmbedProvider::Builtin {
        return Ok(None);
    }
    let redactor = Redactor::new(&settings.redact).context("capture.redact in the config")?;
    let redactor = Arc::new(redactor);
    Ok(Some(match build_clients(config) {
        Ok((background, query)) => EndpointEmbedder::new(background, query, redactor),
        Err(failure) => {
            let name = format!("openai/{}", config.model);
            EndpointEmbedder::unusable(name, failure.to_string(), redactor)
        }
    }))
}

/// Builds a client for indexing, and one with a shorter timeout for queries.
fn build_clients(
    config: &EmbedSettings,
) -> Result<(EmbeddingsClient, EmbeddingsClient), ModelFailure> {
    let missing = |problem: &str| Err(ModelFailure::Misconfigured(problem.to_owned()));
    if config.model.is_empty() {
        return missing("embed.model is not set");
    }
    if config.dimensions == 0 {
        return missing("embed.dimensions is not set: give the length of the model's vectors");
    }
    let or_default = |given: &str, default: &str| {
        if given.is_empty() { default.to_owned() } else { given.to_owned() }
    };
    let key = std::env::var(or_default(&config.key_env, "OPENAI_API_KEY")).ok();
    let endpoint = ModelEndpoint {
        base_url: or_default(&config.base_url, OpenAiModel::BASE_URL),
        key: key.filter(|key| !key.is_empty()).map(|key| ApiKey::new(&key)).transpose()?,
        timeout: config.timeout,
        proxy: None,
    };
    let query =
        ModelEndpoint { timeout: config.question_timeout.min(config.timeout), ..endpoint.clone() };
    // One attempt: the embedder has its own backoff.
    let once = Retry { attempts: 1, base: Duration::ZERO, seed: 0 };
    let client = |endpoint: &ModelEndpoint| {
        EmbeddingsClient::new(
            endpoint,
            &config.model,
            config.dimensions,
            once,
            CancelToken::default(),
        )
    };
    Ok((client(&endpoint)?, client(&query)?))
}
