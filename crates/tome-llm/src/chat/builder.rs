//! Accumulates a reply while it streams in, reports each piece, and enforces size limits.

use std::collections::HashSet;

use crate::limits::{REPLY_BYTES_MAX, REPLY_PARTS_MAX};
use crate::{ChatRequest, ContentPart, ModelFailure, StreamEvent, ToolCall};

pub(crate) struct ResponseBuilder<'a> {
    on_event: &'a mut dyn FnMut(StreamEvent<'_>),
    parts: Vec<ContentPart>,
    bytes: usize,
}

/// Index of a part in the reply.
pub(crate) type PartIndex = usize;

impl<'a> ResponseBuilder<'a> {
    pub(crate) fn new(on_event: &'a mut dyn FnMut(StreamEvent<'_>)) -> Self {
        Self { on_event, parts: Vec::new(), bytes: 0 }
    }

    pub(crate) fn begin_text(&mut self) -> Result<PartIndex, ModelFailure> {
        self.push_part(ContentPart::Text(String::new()))
    }

    /// Begins a call; unknown fields are empty.
    pub(crate) fn begin_call(&mut self, id: &str, name: &str) -> Result<PartIndex, ModelFailure> {
        self.count_bytes(id.len() + name.len())?;
        let (id, name) = (id.to_owned(), name.to_owned());
        if !name.is_empty() {
            (self.on_event)(StreamEvent::ToolCallStart { name: &name });
        }
        self.push_part(ContentPart::ToolCall(ToolCall { id, name, arguments: String::new() }))
    }

    /// Appends to a text, or to the arguments of a call.
    pub(crate) fn append(&mut self, slot: PartIndex, more: &str) -> Result<(), ModelFailure> {
        self.count_bytes(more.len())?;
        match self.parts.get_mut(slot) {
            Some(ContentPart::Text(text)) if !more.is_empty() => {
                text.push_str(more);
                (self.on_event)(StreamEvent::Text(more));
            }
            Some(ContentPart::ToolCall(call)) => call.arguments.push_str(more),
            _ => {}
        }
        Ok(())
    }

    /// Fills in fields that were unknown when the call began.
    pub(crate) fn fill_call(&mut self, slot: PartIndex, id: &str, name: &str) {
        let Some(ContentPart::ToolCall(call)) = self.parts.get_mut(slot) else { return };
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.name.is_empty() && !name.is_empty() {
            name.clone_into(&mut call.name);
            (self.on_event)(StreamEvent::ToolCallStart { name });
        }
    }

    pub(crate) fn has_calls(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, ContentPart::ToolCall(_)))
    }

    /// Estimates the output tokens, for endpoints that do not report them.
    pub(crate) fn estimate_tokens_conservatively(&self) -> u64 {
        self.parts.iter().map(ContentPart::estimate_tokens_conservatively).sum()
    }

    /// Returns the parts, without empty texts. Missing arguments become an empty object, and a missing
    /// or duplicate id is replaced by a unique one.
    pub(crate) fn into_parts(self, request: &ChatRequest) -> Vec<ContentPart> {
        let mut taken = collect_call_ids(request);
        let mut parts = self.parts;
        parts.retain(|part| !matches!(part, ContentPart::Text(text) if text.is_empty()));
        for part in &mut parts {
            let ContentPart::ToolCall(call) = part else { continue };
            if call.arguments.trim().is_empty() {
                "{}".clone_into(&mut call.arguments);
            }
            let mut number = taken.len();
            while call.id.is_empty() || taken.contains(&call.id) {
                number += 1;
                call.id = format!("call_{number}");
            }
            taken.insert(call.id.clone());
        }
        parts
    }

    fn push_part(&mut self, part: ContentPart) -> Result<PartIndex, ModelFailure> {
        if self.parts.len() >= REPLY_PARTS_MAX {
            let message = format!("more than {REPLY_PARTS_MAX} parts");
            return Err(ModelFailure::Malformed { message });
        }
        self.parts.push(part);
        Ok(self.parts.len() - 1)
    }

    fn count_bytes(&mut self, bytes: usize) -> Result<(), ModelFailure> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > REPLY_BYTES_MAX {
            let message = format!("longer than {REPLY_BYTES_MAX} bytes");
            return Err(ModelFailure::Malformed { message });
        }
        Ok(())
    }
}

fn collect_call_ids(request: &ChatRequest) -> HashSet<String> {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    parts
        .filter_map(|part| match part {
            ContentPart::ToolCall(call) => Some(call.id.clone()),
            ContentPart::Text(_) | ContentPart::ToolResult(_) => None,
        })
        .collect()
}
