//! JSON-RPC batches, which only protocol version 2025-03-26 allows: the responses are sent together
//! as one list once the last one is complete.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::in_flight::Share;

/// The incomplete batches.
#[derive(Debug, Default)]
pub struct Batches(Mutex<Vec<Batch>>);

#[derive(Debug)]
struct Batch {
    waiting: Vec<Value>,
    answers: Vec<Value>,
    /// Memory budget held by the responses.
    shares: Vec<Share>,
}

/// A message ready to be sent, and the budget to release after it is written.
#[derive(Debug)]
pub struct Outgoing {
    pub message: Value,
    pub shares: Vec<Share>,
}

impl Batches {
    /// Registers a batch with the ids of its pending requests and the responses available so far.
    /// Returns the list to send if none is pending.
    pub fn begin(&self, waiting: Vec<Value>, answers: Vec<Value>) -> Option<Value> {
        if waiting.is_empty() {
            return Some(answers).filter(|answers| !answers.is_empty()).map(Value::Array);
        }
        self.all().push(Batch { waiting, answers, shares: Vec::new() });
        None
    }

    /// Adds a response. Returns the response itself, the list that it completes, or nothing yet.
    pub fn answer(&self, answer: Value, share: Option<Share>) -> Option<Outgoing> {
        let id = answer.get("id").cloned().unwrap_or_default();
        let mut all = self.all();
        let Some(at) = all.iter().position(|batch| batch.waiting.contains(&id)) else {
            return Some(Outgoing { message: answer, shares: share.into_iter().collect() });
        };
        let batch = all.get_mut(at)?;
        batch.answers.push(answer);
        batch.shares.extend(share);
        settle(&mut all, at, &id)
    }

    /// Stops waiting for a cancelled request. Returns the list if that completes it.
    pub fn forget(&self, id: &Value) -> Option<Outgoing> {
        let mut all = self.all();
        let at = all.iter().position(|batch| batch.waiting.contains(id))?;
        settle(&mut all, at, id)
    }

    fn all(&self) -> std::sync::MutexGuard<'_, Vec<Batch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a request from a batch. Returns the list if it is complete and not empty.
fn settle(all: &mut Vec<Batch>, at: usize, id: &Value) -> Option<Outgoing> {
    let batch = all.get_mut(at)?;
    let found = batch.waiting.iter().position(|waiting| waiting == id)?;
    batch.waiting.swap_remove(found);
    if !batch.waiting.is_empty() {
        return None;
    }
    let Batch { answers, shares, .. } = all.swap_remove(at);
    (!answers.is_empty()).then_some(Outgoing { message: Value::Array(answers), shares })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn responses_of_a_batch_are_sent_together() {
        let batches = Batches::default();
        let answer = |id: i64| json!({"id": id, "result": {}});
        let sent = |id: i64| batches.answer(answer(id), None).map(|sent| sent.message);
        assert_eq!(batches.begin(vec![json!(1), json!(2)], vec![json!("refused")]), None);
        assert_eq!(sent(7), Some(answer(7)), "not part of a batch");
        assert_eq!(sent(2), None);
        let whole = json!(["refused", answer(2), answer(1)]);
        assert_eq!(sent(1), Some(whole));
        assert_eq!(sent(1), Some(answer(1)), "the batch is complete");
    }

    #[test]
    fn a_batch_does_not_wait_for_cancelled_requests() {
        let batches = Batches::default();
        assert_eq!(batches.begin(vec![], vec![]), None);
        assert_eq!(batches.begin(vec![], vec![json!(1)]), Some(json!([1])));
        batches.begin(vec![json!("a"), json!("b")], vec![]);
        let answer = json!({"id": "a"});
        assert!(batches.answer(answer.clone(), None).is_none());
        let whole = batches.forget(&json!("b")).map(|sent| sent.message);
        assert_eq!(whole, Some(json!([answer])));
        batches.begin(vec![json!("c")], vec![]);
        assert!(batches.forget(&json!("c")).is_none(), "nothing is left to send");
        assert!(batches.forget(&json!("c")).is_none());
    }
}
