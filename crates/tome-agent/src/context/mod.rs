//! The context window: system prompt, overview, index of notes and recent turns.
//!
//! ```text
//! system   prompt and protocol            identical in every request, so providers can cache it
//!          overview.md                    changes when it is written
//! user     index of notes · latest compaction · current task     unchanged until turns leave
//!          recent turns, calls together with their results
//!          <context_meta> …               added at prompts and at every tenth of the window, then kept
//! ```
//!
//! A request only grows at its end until the window is full; then the older half leaves at once. Its
//! size is bounded however long the session is, and its prefix stays cacheable for many requests.

mod cap;
mod settings;
mod unit;
mod usage_note;

use std::collections::VecDeque;

use thiserror::Error;
use tome_llm::{ChatMessage, ChatRequest, ChatRole, ContentPart, SystemPart, ToolDefinition};

use crate::limits::{PART_OVERHEAD_TOKENS, TURN_TOKENS_MIN};

pub use cap::cap_tokens;
pub(crate) use cap::fence_capped;
pub use settings::ContextSettings;
pub use unit::ContextUnit;

use tome_text::estimate_tokens_conservatively;
use unit::message_tokens;

/// The turns in view and everything needed to build the next request.
#[derive(Debug, Clone)]
pub struct ContextWindow {
    settings: ContextSettings,
    system: String,
    tools: Vec<ToolDefinition>,
    head: String,
    task: Option<String>,
    units: VecDeque<ContextUnit>,
    tokens: u64,
    compacted: CompactionTotals,
    /// Tokens reserved for system prompt, tools, head and reply, whether used or not, so that the
    /// budget of the turns does not change.
    reserved_tokens: u64,
    /// Number of times the budget was halved because a request exceeded the model's context.
    halvings: u32,
    /// The tenth of the window at which the last usage note was added.
    noted_tenth: Option<u64>,
}

/// The system prompt, the tools and the reserved budgets leave no tokens for a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "a window of {window} tokens is too small: prompt and tools alone need {needed}; offer fewer tools or raise the window"
)]
pub struct WindowTooSmall {
    /// The configured context window, in tokens.
    pub window: u64,
    /// The smallest window that would work, in tokens.
    pub needed: u64,
}

/// Totals of the turns that have left the window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompactionTotals {
    /// Number of messages that left.
    pub messages: u64,
    /// Number of compactions.
    pub compactions: u64,
    /// Summary of the latest compaction and the path of its note.
    pub latest: Option<String>,
}

impl ContextWindow {
    /// Creates an empty context. Fails if system prompt and tools leave no tokens for a conversation.
    pub fn new(
        settings: ContextSettings,
        system: String,
        tools: Vec<ToolDefinition>,
    ) -> Result<Self, WindowTooSmall> {
        let reserved_tokens = estimate_tokens_conservatively(&system)
            + tools.iter().map(tool_tokens).sum::<u64>()
            + settings.overview_budget()
            + settings.index_budget()
            + settings.summary_budget()
            + settings.task_budget()
            + u64::from(settings.reply_budget())
            + 16 * PART_OVERHEAD_TOKENS;
        let needed = reserved_tokens + TURN_TOKENS_MIN;
        if settings.window_tokens < needed {
            return Err(WindowTooSmall { window: settings.window_tokens, needed });
        }
        Ok(Self {
            settings,
            system,
            tools,
            head: String::new(),
            task: None,
            units: VecDeque::new(),
            tokens: 0,
            compacted: CompactionTotals::default(),
            reserved_tokens,
            halvings: 0,
            noted_tenth: None,
        })
    }

    /// Token budget of the turns.
    pub fn turn_budget(&self) -> u64 {
        let budget = self.settings.window_tokens.saturating_sub(self.reserved_tokens);
        (budget >> self.halvings).max(TURN_TOKENS_MIN / 2)
    }

    /// Token budget of one tool result, when `together` results share a message.
    pub fn result_budget(&self, together: usize) -> u64 {
        let share = self.turn_budget() / 2 / u64::try_from(together.max(1)).unwrap_or(u64::MAX);
        self.settings.result_tokens_max.min(self.turn_budget() / 4).min(share)
    }

    pub(crate) fn summary_budget(&self) -> u64 {
        self.settings.summary_budget()
    }

    /// The units in the window, oldest first.
    pub fn units(&self) -> impl Iterator<Item = &ContextUnit> {
        self.units.iter()
    }

    /// Number of turns in the window, not counting one whose prompt has left.
    pub fn count_turns(&self) -> usize {
        self.units.iter().filter(|unit| unit.opens_turn()).count()
    }

    /// Totals of the turns that have left the window.
    pub fn compacted(&self) -> &CompactionTotals {
        &self.compacted
    }

    /// Estimated tokens of the next request, including the reply.
    pub fn used_tokens(&self) -> u64 {
        self.reserved_tokens + self.tokens
    }

    /// Appends a unit, shrunk if it is too large for the budget.
    pub fn push(&mut self, mut unit: ContextUnit) {
        if unit.messages().is_empty() {
            return;
        }
        let budget = self.turn_budget() / 4 * 3;
        if unit.tokens() > budget {
            unit.shrink_to(budget);
        }
        self.add_usage_note(&mut unit);
        self.tokens += unit.tokens();
        self.units.push_back(unit);
    }

    /// Adds a usage note to a unit that is about to be appended, at prompts and whenever another tenth
    /// of the window is reached.
    fn add_usage_note(&mut self, unit: &mut ContextUnit) {
        let ends_with_user = unit.messages().last().is_some_and(|last| last.role == ChatRole::User);
        let tenth = self.usage_tenth(unit.tokens());
        if ends_with_user && (unit.opens_turn() || self.noted_tenth != Some(tenth)) {
            self.noted_tenth = Some(tenth);
            unit.add_note(usage_note::render(self, unit));
        }
    }

    fn usage_tenth(&self, added_tokens: u64) -> u64 {
        (self.used_tokens() + added_tokens).saturating_mul(10) / self.settings.window_tokens.max(1)
    }

    /// Whether units must be evicted before the next request.
    pub fn is_full(&self) -> bool {
        (self.tokens > self.turn_budget() || self.count_turns() > self.settings.turns_max)
            && self.units.len() > 1
    }

    /// Removes the older half and returns it. The last unit always stays.
    pub fn evict(&mut self) -> Vec<ContextUnit> {
        let (budget, turns_max) = (self.turn_budget(), self.settings.turns_max);
        let tokens_kept = if self.tokens > budget { budget / 2 } else { budget };
        let turns_kept = if self.count_turns() > turns_max { turns_max / 2 } else { turns_max };
        let turns_kept = turns_kept.max(1);
        let mut evicted = Vec::new();
        let mut turns = self.count_turns();
        while (self.tokens > tokens_kept || turns > turns_kept) && self.units.len() > 1 {
            let Some(unit) = self.units.pop_front() else { break };
            self.tokens = self.tokens.saturating_sub(unit.tokens());
            turns -= usize::from(unit.opens_turn());
            evicted.push(unit);
        }
        // Do not keep the rest of a finished turn without its prompt.
        while turns > 0 && self.units.front().is_some_and(|unit| !unit.opens_turn()) {
            let Some(unit) = self.units.pop_front() else { break };
            self.tokens = self.tokens.saturating_sub(unit.tokens());
            evicted.push(unit);
        }
        if let Some(last) = self.units.back_mut().filter(|last| last.tokens() > budget) {
            let before = last.tokens();
            last.shrink_to(budget);
            self.tokens = self.tokens.saturating_sub(before.saturating_sub(last.tokens()));
        }
        self.task = self.find_evicted_task(&evicted);
        self.compacted.messages +=
            evicted.iter().map(|unit| unit.messages().len() as u64).sum::<u64>();
        evicted
    }

    /// Returns the prompt of the current turn if it has left the window.
    fn find_evicted_task(&self, evicted: &[ContextUnit]) -> Option<String> {
        if self.units.front().is_none_or(ContextUnit::opens_turn) {
            return None;
        }
        let prompt = evicted.iter().rev().find(|unit| unit.opens_turn());
        let first_text = |unit: &ContextUnit| match unit.messages().first()?.parts.first()? {
            ContentPart::Text(text) => Some(text.clone()),
            ContentPart::ToolCall(_) | ContentPart::ToolResult(_) => None,
        };
        prompt.and_then(first_text).or_else(|| self.task.clone())
    }

    /// Halves the turn budget after a request was too long. Returns `false` at the minimum.
    pub fn halve_budget(&mut self) -> bool {
        let before = self.turn_budget();
        // Stop counting at the minimum, however many requests fail.
        if before > TURN_TOKENS_MIN / 2 {
            self.halvings += 1;
        }
        let budget = self.turn_budget();
        if let Some(last) = self.units.back_mut()
            && last.tokens() > budget / 2
        {
            let was = last.tokens();
            last.shrink_to(budget / 2);
            self.tokens = self.tokens.saturating_sub(was.saturating_sub(last.tokens()));
        }
        budget < before
    }

    /// Sets the head: the index of notes, the latest compaction and the current task. Called at the
    /// start and after turns have left.
    pub fn set_head(&mut self, index: Option<&str>, latest: Option<String>) {
        if latest.is_some() {
            self.compacted.compactions += 1;
            self.compacted.latest = latest;
        }
        let mut head: Vec<String> = Vec::new();
        // The callers fence these texts and make them fit. Cutting here could break a fence.
        head.extend(index.map(|text| {
            if estimate_tokens_conservatively(text) <= self.settings.index_budget() {
                text.to_owned()
            } else {
                "Available memory: memory_list shows it.".to_owned()
            }
        }));
        let latest = self.compacted.latest.as_deref();
        head.extend(latest.map(|text| {
            if estimate_tokens_conservatively(text) <= self.settings.summary_budget() {
                text.to_owned()
            } else {
                "Earlier turns have left this context: recall_memory finds them.".to_owned()
            }
        }));
        head.extend(self.task.as_deref().map(|task| {
            let task =
                cap_tokens(task, self.settings.task_budget(), "recall_memory has the full text");
            format!("The task at hand, as the person put it:\n{task}")
        }));
        self.head = head.join("\n\n");
        self.refresh_usage_notes();
    }

    /// Replaces all usage notes by a current one. The prefix has changed anyway, so no cache is lost.
    fn refresh_usage_notes(&mut self) {
        self.noted_tenth = None;
        self.units.iter_mut().for_each(|unit| unit.remove_notes(usage_note::OPENING_TAG));
        let last = self.units.pop_back();
        self.tokens = self.units.iter().map(ContextUnit::tokens).sum();
        if let Some(mut last) = last {
            self.add_usage_note(&mut last);
            self.tokens += last.tokens();
            self.units.push_back(last);
        }
    }

    /// Restores the totals of an earlier run of the session.
    pub(crate) fn restore_totals(&mut self, compacted: CompactionTotals) {
        self.compacted = compacted;
    }

    /// Builds the next request.
    pub fn build_request(&self, overview: Option<&str>) -> ChatRequest {
        let mut system = vec![SystemPart { text: self.system.clone(), cache_breakpoint: true }];
        system.extend(overview.map(|text| {
            let text = cap_tokens(
                text,
                self.settings.overview_budget().saturating_sub(30),
                "memory_read overview.md has the full text",
            );
            let text = format!("Current overview of this session (overview.md):\n\n{text}");
            SystemPart { text, cache_breakpoint: false }
        }));
        let head = (!self.head.is_empty()).then(|| ChatMessage::user(self.head.clone()));
        let turns = self.units.iter().flat_map(|unit| unit.messages().iter().cloned());
        ChatRequest {
            system,
            tools: self.tools.clone(),
            messages: merge_roles(head.into_iter().chain(turns)),
            tokens_max: self.settings.reply_budget(),
        }
    }

    /// Estimates the tokens of a request, including tools and reply.
    pub fn request_tokens(request: &ChatRequest) -> u64 {
        let system = request
            .system
            .iter()
            .map(|part| estimate_tokens_conservatively(&part.text) + PART_OVERHEAD_TOKENS);
        let tools = request.tools.iter().map(tool_tokens);
        let messages = request.messages.iter().map(message_tokens);
        system.chain(tools).chain(messages).sum::<u64>() + u64::from(request.tokens_max)
    }
}

fn tool_tokens(tool: &ToolDefinition) -> u64 {
    let schema = estimate_tokens_conservatively(&tool.schema.to_string());
    estimate_tokens_conservatively(&tool.name)
        + estimate_tokens_conservatively(&tool.description)
        + schema
        + PART_OVERHEAD_TOKENS
}

/// Merges consecutive messages of one role and starts with the user, as providers require.
fn merge_roles(messages: impl Iterator<Item = ChatMessage>) -> Vec<ChatMessage> {
    let mut all: Vec<ChatMessage> = Vec::new();
    for message in messages {
        if all.is_empty() && message.role == ChatRole::Assistant {
            all.push(ChatMessage::user("(The conversation goes on.)"));
        }
        match all.last_mut() {
            Some(last) if last.role == message.role => last.parts.extend(message.parts),
            _ => all.push(message),
        }
    }
    all
}
