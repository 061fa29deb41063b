//! The scripted server of the testkit, with the key and prompt of these tests.

use std::time::Duration;

use tome_llm::{ApiKey, CompletionRequest, ModelEndpoint};
use tome_testkit::{ModelRequest, ModelServer, ScriptedAnswer};

/// A key that must never appear in an error.
pub const KEY: &str = "sk-very-secret-0123456789";

pub struct Server {
    pub base_url: String,
    pub model: ModelServer,
}

impl Server {
    pub fn start(script: Vec<ScriptedAnswer>) -> Self {
        let model = ModelServer::start(script);
        Self { base_url: model.url(), model }
    }

    pub fn answering(status: u16, body: impl Into<String>) -> Self {
        Self::start(vec![ScriptedAnswer::http(status, body)])
    }

    pub fn requests(&self) -> Vec<ModelRequest> {
        self.model.requests()
    }

    /// Its endpoint, with a key and a timeout that suits a busy machine.
    pub fn endpoint(&self) -> ModelEndpoint {
        ModelEndpoint {
            base_url: self.base_url.clone(),
            key: Some(ApiKey::new(KEY).unwrap()),
            timeout: Duration::from_secs(20),
            proxy: None,
        }
    }
}

pub fn answer(status: u16, headers: Vec<(&str, &str)>, body: String) -> ScriptedAnswer {
    headers.into_iter().fold(ScriptedAnswer::http(status, body), |answer, (name, value)| {
        answer.header(name, value)
    })
}

pub fn prompt() -> CompletionRequest {
    CompletionRequest {
        system: "Summarise.".to_owned(),
        user: "We fixed the parser.".to_owned(),
        tokens_max: 64,
        json: true,
    }
}
