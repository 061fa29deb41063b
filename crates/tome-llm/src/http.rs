//! HTTP POST of JSON with timeouts, a response limit, no redirects, and classified failures.
//! Independent of the model's protocol.
//!
//! For a complete response the endpoint's timeout limits the whole call. For a stream it limits each
//! period of silence, and a stream that keeps sending may take half an hour.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tome_model::truncate_to;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::typestate::WithBody;

use crate::limits::{
    CONNECT_TIMEOUT, IDLE_AGENTS_MAX, MESSAGE_BYTES_MAX, RESPONSE_BYTES_MAX, STREAM_TIMEOUT,
};
use crate::{ApiKey, ModelFailure, classify};

/// The HTTP endpoint of a model.
#[derive(Debug, Clone)]
pub struct ModelEndpoint {
    /// Base URL without the protocol's path: `https://api.anthropic.com`, `http://127.0.0.1:11434/v1`.
    pub base_url: String,
    /// The API key, if the endpoint needs one.
    pub key: Option<ApiKey>,
    /// Limits a complete response as a whole; in a stream it limits each period of silence.
    pub timeout: Duration,
    /// A proxy as `http://host:port`. The environment is not consulted.
    pub proxy: Option<String>,
}

#[derive(Debug)]
pub(crate) struct HttpClient {
    agent: ureq::Agent,
    url: String,
    key: Option<ApiKey>,
    timeout: Duration,
    streaming: Config,
    /// Agents with idle connections. Each stream uses one exclusively.
    idle_agents: Mutex<Vec<ureq::Agent>>,
}

impl HttpClient {
    /// Creates a client for `path` below the base URL. Sends nothing.
    pub(crate) fn new(endpoint: &ModelEndpoint, path: &str) -> Result<Self, ModelFailure> {
        let url = format!("{}{path}", validate_base_url(&endpoint.base_url)?);
        // Set it even if it is `None`; otherwise ureq reads the environment.
        let proxy = endpoint.proxy.as_deref().map(ureq::Proxy::new).transpose().map_err(|_| {
            ModelFailure::Misconfigured(
                "the proxy is not an address such as http://host:port".to_owned(),
            )
        })?;
        // Use the system's root certificates, because a company may have its own.
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let connect_max = CONNECT_TIMEOUT.min(endpoint.timeout);
        let config = || {
            ureq::Agent::config_builder()
                .proxy(proxy.clone())
                .tls_config(tls.clone())
                // Statuses are classified below, and a redirect would send the key to another host.
                .http_status_as_error(false)
                .max_redirects(0)
                .max_redirects_will_error(false)
                .timeout_connect(Some(connect_max))
                .user_agent(concat!("tome/", env!("CARGO_PKG_VERSION")))
        };
        let streaming = config()
            .timeout_resolve(Some(connect_max))
            .timeout_recv_response(Some(endpoint.timeout))
            .timeout_per_read(Some(endpoint.timeout))
            .timeout_per_write(Some(endpoint.timeout))
            .timeout_global(Some(STREAM_TIMEOUT.max(endpoint.timeout)));
        Ok(Self {
            agent: config().timeout_global(Some(endpoint.timeout)).build().new_agent(),
            url,
            key: endpoint.key.clone(),
            timeout: endpoint.timeout,
            streaming: streaming.build(),
            idle_agents: Mutex::default(),
        })
    }

    /// Takes an agent for exclusive use; [`HttpClient::return_agent`] gives it back.
    pub(crate) fn take_agent(&self) -> ureq::Agent {
        let spare = self.idle_agents.lock().unwrap_or_else(PoisonError::into_inner).pop();
        spare.unwrap_or_else(|| self.streaming.new_agent())
    }

    pub(crate) fn return_agent(&self, agent: ureq::Agent) {
        let mut spare = self.idle_agents.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < IDLE_AGENTS_MAX {
            spare.push(agent);
        }
    }

    /// Sends `body` and returns the JSON of a 2xx response. `{key}` in a header's value is replaced by
    /// the key; without a key such a header is omitted.
    pub(crate) fn post(
        &self,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Result<Value, ModelFailure> {
        let request = self.request(&self.agent, headers);
        let mut response = request
            .send(body.to_string().as_bytes())
            .map_err(|error| self.classify_error(error))?;
        let status = response.status().as_u16();
        let retry_after = classify::parse_retry_after(response.headers());
        let read = response.body_mut().with_config().limit(RESPONSE_BYTES_MAX).read_to_vec();
        if (200..300).contains(&status) {
            let read = read.map_err(|error| self.classify_error(error))?;
            return serde_json::from_slice(&read).map_err(|error| ModelFailure::Malformed {
                message: format!("not JSON: {error}"),
            });
        }
        // Even if the error's body cannot be read, its status is known.
        let failure = classify::classify_status(status, retry_after, &read.unwrap_or_default());
        Err(self.redact_failure(failure))
    }

    pub(crate) fn request(
        &self,
        agent: &ureq::Agent,
        headers: &[(&str, &str)],
    ) -> ureq::RequestBuilder<WithBody> {
        let mut request = agent.post(&self.url).header("content-type", "application/json");
        for (name, value) in headers {
            match (value.contains("{key}"), &self.key) {
                (false, _) => request = request.header(*name, *value),
                (true, Some(key)) => {
                    request = request.header(*name, value.replace("{key}", key.expose()));
                }
                (true, None) => {}
            }
        }
        request
    }

    /// Shortens the failure's message and removes the key from it.
    pub(crate) fn redact_failure(&self, mut failure: ModelFailure) -> ModelFailure {
        if let Some(message) = failure.message_mut() {
            *message = self.redact_message(message);
        }
        failure
    }

    /// Converts a transport error to a failure.
    pub(crate) fn classify_error(&self, error: ureq::Error) -> ModelFailure {
        use ureq::Error;
        match error {
            Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
                ModelFailure::Unreachable { message: "timed out while connecting".to_owned() }
            }
            Error::Timeout(_) => ModelFailure::TimedOut { after: self.timeout },
            Error::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => {
                ModelFailure::TimedOut { after: self.timeout }
            }
            Error::BodyExceedsLimit(most) => {
                ModelFailure::Malformed { message: format!("longer than {most} bytes") }
            }
            Error::Protocol(_) | Error::LargeResponseHeader(..) => ModelFailure::Malformed {
                message: self.redact_message(&format!("not HTTP: {error}")),
            },
            other => ModelFailure::Unreachable { message: self.redact_message(&other.to_string()) },
        }
    }

    /// Shortens a foreign message to one line and removes the key.
    pub(crate) fn redact_message(&self, message: &str) -> String {
        let message = tome_text::collapse_whitespace(message);
        // Remove the key before cutting: even half a key must not leak.
        let message = self.key.as_ref().map_or(message.clone(), |key| key.redact(&message));
        truncate_to(&message, MESSAGE_BYTES_MAX).to_owned()
    }
}

/// Validates a base URL and removes a trailing slash. It must be `http` or `https` with a host, and
/// without a password, which would end up in logs.
fn validate_base_url(base_url: &str) -> Result<&str, ModelFailure> {
    let base = base_url.trim().trim_end_matches('/');
    let refused = |why: &str| Err(ModelFailure::Misconfigured(format!("the base URL {why}")));
    let Ok(uri) = base.parse::<Uri>() else {
        return refused("is not an address such as http://127.0.0.1:11434/v1");
    };
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return refused("must begin with http:// or https://");
    }
    match uri.authority() {
        Some(authority) if authority.as_str().contains('@') => {
            refused("must not contain a password: configure it as the key")
        }
        Some(authority) if !authority.host().is_empty() && uri.query().is_none() => Ok(base),
        _ => refused("must be a host and a path, such as https://api.openai.com/v1"),
    }
}
