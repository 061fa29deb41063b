//! Chat models: the interface, its messages, and implementations.
//!
//! [`AnthropicModel`] and [`OpenAiModel`] talk to an endpoint, [`ScriptedChat`] replays responses.
//! [`Retrying`] and [`Metered`] wrap another model: they repeat failed calls and keep to a [`Budget`].

pub use tome_llm::{
    AnthropicModel, ApiKey, Budget, CallCost, CancelToken, ChatMessage, ChatModel, ChatRequest,
    ChatResponse, ChatRole, ContentPart, CostEstimate, MeterSnapshot, MeterState, Metered,
    ModelEndpoint, ModelFailure, OpenAiModel, Prices, Reservation, Retry, Retrying, ScriptedChat,
    StopReason, StreamEvent, SystemPart, TokenMeter, ToolCall, ToolDefinition, ToolResult, Usage,
    WaitOutcome,
};
