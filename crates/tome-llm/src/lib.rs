//! Language-model clients: a prompt goes in, a text or a failure with a name comes out. A conversation
//! goes in, and a reply with words and tool calls streams out of a [`ChatModel`]. Texts go in and vectors
//! come out of [`Embeddings`].
//!
//! This crate knows no note, no event, no ledger, no wall clock and no environment: keys, proxies,
//! days and seeds come in as values. Its calls block, so they belong on a thread of their own.
//!
//! The pieces go around each other: `Retrying(Metered(AnthropicModel))` asks again what may pass,
//! counts every try, and refuses once the day's budget is spent.

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
pub use budget::{Budget, Needed, Reserved, Spent};
pub use command::{CommandLine, CommandModel, CommandSettings};
pub use embeddings::Embeddings;
pub use error::ModelFailure;
pub use http::Endpoint;
pub use key::ApiKey;
pub use meter::{Meter, MeterReading, MeterState};
pub use metered::Metered;
pub use model::{Completion, LanguageModel, Prompt};
pub use openai::OpenAiModel;
pub use prices::Prices;
pub use retry::{Retry, Retrying};
pub use scripted::Scripted;
pub use scripted_chat::ScriptedChat;
pub use stop::{Stop, Waited};
pub use talk::{
    ChatModel, End, Heard, Message, OfferedTool, Part, Reply, Role, SystemPart, Talk, ToolCall,
    ToolResult, Usage,
};
