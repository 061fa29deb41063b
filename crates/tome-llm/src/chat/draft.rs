//! Accumulates a reply while it streams in, reports each piece, and enforces size limits.

use std::collections::HashSet;

use crate::limits::{REPLY_BYTES_MAX, REPLY_PARTS_MAX};
use crate::{Heard, ModelFailure, Part, Talk, ToolCall};

pub(crate) struct Draft<'a> {
    heard: &'a mut dyn FnMut(Heard<'_>),
    parts: Vec<Part>,
    bytes: usize,
}

/// Index of a part in the reply.
pub(crate) type Slot = usize;

impl<'a> Draft<'a> {
    pub(crate) fn new(heard: &'a mut dyn FnMut(Heard<'_>)) -> Self {
        Self { heard, parts: Vec::new(), bytes: 0 }
    }

    pub(crate) fn open_text(&mut self) -> Result<Slot, ModelFailure> {
        self.open(Part::Text(String::new()))
    }

    /// Begins a call; unknown fields are empty.
    pub(crate) fn open_call(&mut self, id: &str, name: &str) -> Result<Slot, ModelFailure> {
        self.grow(id.len() + name.len())?;
        let (id, name) = (id.to_owned(), name.to_owned());
        if !name.is_empty() {
            (self.heard)(Heard::Call { name: &name });
        }
        self.open(Part::Call(ToolCall { id, name, arguments: String::new() }))
    }

    /// Appends to a text, or to the arguments of a call.
    pub(crate) fn add(&mut self, slot: Slot, more: &str) -> Result<(), ModelFailure> {
        self.grow(more.len())?;
        match self.parts.get_mut(slot) {
            Some(Part::Text(text)) if !more.is_empty() => {
                text.push_str(more);
                (self.heard)(Heard::Text(more));
            }
            Some(Part::Call(call)) => call.arguments.push_str(more),
            _ => {}
        }
        Ok(())
    }

    /// Fills in fields that were unknown when the call began.
    pub(crate) fn complete_call(&mut self, slot: Slot, id: &str, name: &str) {
        let Some(Part::Call(call)) = self.parts.get_mut(slot) else { return };
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.name.is_empty() && !name.is_empty() {
            name.clone_into(&mut call.name);
            (self.heard)(Heard::Call { name });
        }
    }

    pub(crate) fn has_calls(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Call(_)))
    }

    /// Estimates the output tokens, for endpoints that do not report them.
    pub(crate) fn budget_tokens(&self) -> u64 {
        self.parts.iter().map(Part::budget_tokens).sum()
    }

    /// Returns the parts, without empty texts. Missing arguments become an empty object, and a missing
    /// or duplicate id is replaced by a unique one.
    pub(crate) fn into_parts(self, talk: &Talk) -> Vec<Part> {
        let mut taken = ids_in(talk);
        let mut parts = self.parts;
        parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
        for part in &mut parts {
            let Part::Call(call) = part else { continue };
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

    fn open(&mut self, part: Part) -> Result<Slot, ModelFailure> {
        if self.parts.len() >= REPLY_PARTS_MAX {
            let said = format!("more than {REPLY_PARTS_MAX} parts");
            return Err(ModelFailure::Malformed { said });
        }
        self.parts.push(part);
        Ok(self.parts.len() - 1)
    }

    fn grow(&mut self, bytes: usize) -> Result<(), ModelFailure> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > REPLY_BYTES_MAX {
            let said = format!("longer than {REPLY_BYTES_MAX} bytes");
            return Err(ModelFailure::Malformed { said });
        }
        Ok(())
    }
}

fn ids_in(talk: &Talk) -> HashSet<String> {
    let parts = talk.messages.iter().flat_map(|message| &message.parts);
    parts
        .filter_map(|part| match part {
            Part::Call(call) => Some(call.id.clone()),
            Part::Text(_) | Part::Result(_) => None,
        })
        .collect()
}
