//! Prompts that were typed while the agent worked. New versions of Claude Code record each as an attachment when
//! the agent gets it; of old ones only the operations of the queue tell it.

use std::collections::{HashSet, VecDeque};

use tome_model::Millis;

use crate::agents::fields::PayloadFields;

/// Prompts that wait at a time; people type a handful.
const WAITING_MAX: usize = 100;

/// The queue of prompts, as the operations in a transcript leave it.
#[derive(Default)]
pub(super) struct QueuedPrompts {
    waiting: VecDeque<String>,
    /// Taken from the queue while the agent worked, with the time.
    taken: Vec<(String, Millis)>,
    /// Those that an attachment recorded before the queue did.
    attached: HashSet<String>,
    /// Those that were told without an attachment.
    told: HashSet<String>,
}

impl QueuedPrompts {
    /// Follows an operation of the queue at a time.
    pub(super) fn read_operation(&mut self, record: &mut PayloadFields, at: Millis) {
        let text = record.take_text("content").trim().to_owned();
        match record.get_str("operation") {
            Some("enqueue") if !text.is_empty() && self.waiting.len() < WAITING_MAX => {
                self.waiting.push_back(text);
            }
            // It begins a turn, with a record of its own.
            Some("dequeue") => {
                self.waiting.pop_front();
            }
            Some("remove") => {
                let named = self.waiting.iter().position(|waiting| *waiting == text);
                let Some(text) = self.waiting.remove(named.unwrap_or(0)) else { return };
                if !self.attached.remove(&text) {
                    self.taken.push((text, at));
                }
            }
            // The user took all of it back into the input.
            Some("popAll") => self.waiting.clear(),
            _ => {}
        }
    }

    /// Notes the attachment of a prompt. Returns whether the prompt was told without it.
    pub(super) fn read_attachment(&mut self, text: &str) -> bool {
        let text = text.trim();
        match self.taken.iter().position(|(taken, _)| taken == text) {
            Some(at) => drop(self.taken.remove(at)),
            None if self.told.remove(text) => return true,
            None => drop(self.attached.insert(text.to_owned())),
        }
        false
    }

    /// Returns the prompts that the agent got, now that it went on, without what a program queued and without
    /// commands of the harness.
    pub(super) fn take_submitted(&mut self) -> Vec<(String, Millis)> {
        let mut taken = std::mem::take(&mut self.taken);
        taken.retain(|(text, _)| !text.starts_with(['<', '/', '!']));
        self.told.extend(taken.iter().map(|(text, _)| text.clone()));
        taken
    }
}
