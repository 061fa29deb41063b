//! One POST of JSON and what came of it: time-outs, a cap on the response, no redirect, and failures
//! sorted by what a caller can do. Nothing here knows a protocol.

use std::time::Duration;

use serde_json::Value;
use tome_model::truncate_to;
use ureq::http::{HeaderMap, Uri};
use ureq::tls::{RootCerts, TlsConfig};

use crate::limits::{CONNECT_MAX, RESPONSE_BYTES_MAX, SAID_BYTES_MAX};
use crate::{ApiKey, ModelFailure};

/// Where a model answers.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// `https://api.anthropic.com`, `http://127.0.0.1:11434/v1`: what comes before the protocol's path.
    pub base_url: String,
    /// The key, where one is needed.
    pub key: Option<ApiKey>,
    /// A call takes no longer than this, all told.
    pub timeout: Duration,
    /// `http://host:port` of a proxy; none is looked for elsewhere.
    pub proxy: Option<String>,
}

/// Sends to one endpoint.
#[derive(Debug)]
pub(crate) struct Http {
    agent: ureq::Agent,
    url: String,
    key: Option<ApiKey>,
    timeout: Duration,
}

impl Http {
    /// For `path` below the endpoint's address. Nothing is sent yet.
    pub(crate) fn new(endpoint: &Endpoint, path: &str) -> Result<Self, ModelFailure> {
        let url = format!("{}{path}", checked_base(&endpoint.base_url)?);
        // Set even if there is none, or the client would read the environment for it.
        let proxy = endpoint.proxy.as_deref().map(ureq::Proxy::new).transpose().map_err(|_| {
            ModelFailure::Misconfigured(
                "the proxy is not an address such as http://host:port".to_owned(),
            )
        })?;
        // The roots that the system trusts, as every other program here does: a company may have its own.
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let config = ureq::Agent::config_builder()
            .proxy(proxy)
            .tls_config(tls)
            // The answer is read for its status here, and a redirect would carry the key elsewhere.
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT_MAX.min(endpoint.timeout)))
            .timeout_global(Some(endpoint.timeout))
            .user_agent(concat!("tome/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self {
            agent: config.new_agent(),
            url,
            key: endpoint.key.clone(),
            timeout: endpoint.timeout,
        })
    }

    /// Sends `body` and gives the answer's JSON if its status is 2xx. `{key}` in the value of a
    /// header stands for the key; without a key such a header is left out.
    pub(crate) fn post(
        &self,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Result<Value, ModelFailure> {
        let mut request = self.agent.post(&self.url).header("content-type", "application/json");
        for (name, value) in headers {
            match (value.contains("{key}"), &self.key) {
                (false, _) => request = request.header(*name, *value),
                (true, Some(key)) => {
                    request = request.header(*name, value.replace("{key}", key.expose()));
                }
                (true, None) => {}
            }
        }
        let mut response =
            request.send(body.to_string().as_bytes()).map_err(|error| self.failed(error))?;
        let status = response.status().as_u16();
        let retry_after = retry_after(response.headers());
        let read = response.body_mut().with_config().limit(RESPONSE_BYTES_MAX).read_to_vec();
        if (200..300).contains(&status) {
            let read = read.map_err(|error| self.failed(error))?;
            return serde_json::from_slice(&read)
                .map_err(|error| ModelFailure::Malformed { said: format!("not JSON: {error}") });
        }
        // Whatever became of the body of an error, its status says enough.
        Err(self.sorted(status, retry_after, &read.unwrap_or_default()))
    }

    /// A status that is no success.
    fn sorted(&self, status: u16, retry_after: Option<Duration>, body: &[u8]) -> ModelFailure {
        let said = self.short(&format!("{status} {}", said_in(body)));
        match status {
            429 | 503 | 529 => ModelFailure::Busy { retry_after, said },
            500.. => ModelFailure::Down { said },
            401 | 403 => ModelFailure::Unauthorized { said },
            404 => ModelFailure::NotFound { said },
            300..=399 => ModelFailure::NotFound {
                said: format!("{said} the endpoint has moved: give its new address as base URL"),
            },
            _ => ModelFailure::Rejected { status, said },
        }
    }

    /// A call that brought no whole answer.
    fn failed(&self, error: ureq::Error) -> ModelFailure {
        use ureq::Error;
        match error {
            Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
                ModelFailure::Down { said: "no connection in time".to_owned() }
            }
            Error::Timeout(_) => ModelFailure::TimedOut { after: self.timeout },
            Error::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => {
                ModelFailure::TimedOut { after: self.timeout }
            }
            Error::BodyExceedsLimit(most) => {
                ModelFailure::Malformed { said: format!("longer than {most} bytes") }
            }
            Error::Protocol(_) | Error::LargeResponseHeader(..) => {
                ModelFailure::Malformed { said: self.short(&format!("not HTTP: {error}")) }
            }
            other => ModelFailure::Down { said: self.short(&other.to_string()) },
        }
    }

    /// What somebody said, in one short line, without the key.
    pub(crate) fn short(&self, said: &str) -> String {
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        // First the key, then the cut: half a key is also too much of it.
        let said = self.key.as_ref().map_or(said.clone(), |key| key.cut_from(&said));
        truncate_to(&said, SAID_BYTES_MAX).to_owned()
    }
}

/// The base address without a slash at its end, if it is one: `http` or `https`, a host, and no
/// password, which would end up in logs.
fn checked_base(base_url: &str) -> Result<&str, ModelFailure> {
    let base = base_url.trim().trim_end_matches('/');
    let refused = |why: &str| Err(ModelFailure::Misconfigured(format!("the base URL {why}")));
    let Ok(uri) = base.parse::<Uri>() else {
        return refused("is not an address such as http://127.0.0.1:11434/v1");
    };
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return refused("has to begin with http:// or https://");
    }
    match uri.authority() {
        Some(authority) if authority.as_str().contains('@') => {
            refused("must not hold a password: give it as the key")
        }
        Some(authority) if !authority.host().is_empty() && uri.query().is_none() => Ok(base),
        _ => refused("has to be a host and a path, such as https://api.openai.com/v1"),
    }
}

/// What an error's body says, in the shapes that endpoints use.
fn said_in(body: &[u8]) -> String {
    let Ok(json) = serde_json::from_slice::<Value>(body) else {
        return String::from_utf8_lossy(body.get(..2_000).unwrap_or(body)).into_owned();
    };
    ["/error/message", "/error", "/message", "/detail"]
        .iter()
        .find_map(|place| json.pointer(place).and_then(Value::as_str))
        .map_or_else(|| json.to_string(), str::to_owned)
}

/// The pause that the endpoint asks for. Seconds and milliseconds are understood; a date is not,
/// because nobody here knows the time.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| -> Option<f64> {
        headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok()
    };
    let seconds = number("retry-after-ms").map(|ms| ms / 1_000.0).or_else(|| number("retry-after"));
    Duration::try_from_secs_f64(seconds?).ok()
}
