//! Clients for language models: [`LanguageModel`] completes a prompt, [`ChatModel`] streams replies
//! with text and tool calls, and [`EmbeddingsClient`] computes vectors.
//!
//! The crate reads neither the wall clock nor the environment: keys, proxies, days and seeds are
//! parameters. Its calls block, so run them on their own thread.
//!
//! Wrappers compose: `Retrying(Metered(AnthropicModel))` retries transient failures, counts every
//! attempt, and rejects calls once the daily budget is spent.

mod anthropic;
mod api_key;
mod budget;
mod cancel;
mod chat;
mod classify;
mod command;
mod conversation;
mod embeddings;
mod error;
mod http;
mod key_file;
mod language_model;
pub mod limits;
mod meter;
mod metered;
mod openai;
mod prices;
mod process_group;
mod retry;
mod scripted;
mod scripted_chat;
mod stream;

pub use anthropic::AnthropicModel;
pub use api_key::ApiKey;
pub use budget::{Budget, CallCost, CostEstimate, Reservation};
pub use cancel::{CancelToken, WaitOutcome};
pub use command::{CommandLine, CommandModel, CommandSettings};
pub use conversation::{
    ChatMessage, ChatModel, ChatRequest, ChatResponse, ChatRole, ContentPart, StopReason,
    StreamEvent, SystemPart, ToolCall, ToolDefinition, ToolResult, Usage,
};
pub use embeddings::EmbeddingsClient;
pub use error::ModelFailure;
pub use http::ModelEndpoint;
pub use language_model::{Completion, CompletionRequest, LanguageModel};
pub use meter::{MeterSnapshot, MeterState, TokenMeter};
pub use metered::Metered;
pub use openai::OpenAiModel;
pub use prices::Prices;
pub use retry::{Retry, Retrying};
pub use scripted::ScriptedModel;
pub use scripted_chat::ScriptedChat;
