//! The scripted server of the testkit, with the key and prompt of these tests.

use std::time::Duration;

use tome_llm::{ApiKey, Endpoint, Prompt};
use tome_testkit::{Answer, Asked, ModelServer};

/// A key that must never appear in an error.
pub const KEY: &str = "sk-very-secret-0123456789";

pub struct Server {
    pub base_url: String,
    pub model: ModelServer,
}

impl Server {
    pub fn start(script: Vec<Answer>) -> Self {
        let model = ModelServer::start(script);
        Self { base_url: model.url(), model }
    }

    pub fn answering(status: u16, body: impl Into<String>) -> Self {
        Self::start(vec![Answer::http(status, body)])
    }

    pub fn requests(&self) -> Vec<Asked> {
        self.model.asked()
    }

    /// Its endpoint, with a key and a timeout that suits a busy machine.
    pub fn endpoint(&self) -> Endpoint {
        Endpoint {
            base_url: self.base_url.clone(),
            key: Some(ApiKey::new(KEY).unwrap()),
            timeout: Duration::from_secs(20),
            proxy: None,
        }
    }
}

pub fn answer(status: u16, headers: Vec<(&str, &str)>, body: String) -> Answer {
    headers
        .into_iter()
        .fold(Answer::http(status, body), |answer, (name, value)| answer.header(name, value))
}

pub fn prompt() -> Prompt {
    Prompt {
        system: "Summarise.".to_owned(),
        user: "We fixed the parser.".to_owned(),
        tokens_max: 64,
        json: true,
    }
}
