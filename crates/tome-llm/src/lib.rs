//! Clients for language models: [`LanguageModel`] completes a prompt, [`ChatModel`] streams replies
//! with text and tool calls, and [`EmbeddingsClient`] computes vectors.
//!
//! The crate reads neither the wall clock nor the environment: keys, proxies, days and seeds are
//! parameters. Its calls block, so run them on their own thread.
//!
//! Wrappers compose: `Retrying(Metered(AnthropicModel))` retries transient failures, counts every
//! attempt, and rejects calls once the daily budget is spent.

mod anthropic;
mod budget;
mod chat;
mod command;
mod embeddings;
mod error;
mod group;
mod http;
mod key;
mod key_file;
pub mod limits;
mod meter;
mod metered;
mod model;
mod openai;
mod prices;
mod retry;
mod scripted;
mod scripted_chat;
mod sorting;
mod stop;
mod stream;
mod talk;

pub use anthropic::AnthropicModel;
pub use budget::{Budget, CallCost, CostEstimate, Reservation};
pub use command::{CommandLine, CommandModel, CommandSettings};
pub use embeddings::EmbeddingsClient;
pub use error::ModelFailure;
pub use http::ModelEndpoint;
pub use key::ApiKey;
pub use meter::{MeterSnapshot, MeterState, TokenMeter};
pub use metered::Metered;
pub use model::{Completion, CompletionRequest, LanguageModel};
pub use openai::OpenAiModel;
pub use prices::Prices;
pub use retry::{Retry, Retrying};
pub use scripted::ScriptedModel;
pub use scripted_chat::ScriptedChat;
pub use stop::{CancelToken, WaitOutcome};
pub use talk::{
    ChatMessage, ChatModel, ChatRequest, ChatResponse, ChatRole, ContentPart, StopReason,
    StreamEvent, SystemPart, ToolCall, ToolDefinition, ToolResult, Usage,
};
