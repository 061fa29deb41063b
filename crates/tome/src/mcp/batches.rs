//! JSON-RPC batches, which only protocol version 2025-03-26 allows: the responses are sent together
//! as one list once the last one is complete.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::in_flight::BudgetPermit;

/// The incomplete batches.
#[derive(Debug, Default)]
pub struct RequestBatches(Mutex<Vec<RequestBatch>>);

#[derive(Debug)]
struct RequestBatch {
    waiting: Vec<Value>,
    answers: Vec<Value>,
    /// Memory budget held by the responses.
    shares: Vec<BudgetPermit>,
}

/// A message ready to be sent, and the budget to release after it is written.
#[derive(Debug)]
pub struct OutgoingMessage {
    pub message: Value,
    pub shares: Vec<BudgetPermit>,
}

impl RequestBatches {
    /// Registers a batch with the ids of its pending requests and the responses available so far.
    /// Returns the list to send if none is pending.
    pub fn begin_batch(&self, waiting: Vec<Value>, answers: Vec<Value>) -> Option<Value> {
        if waiting.is_empty() {
            return Some(answers).filter(|answers| !answers.is_empty()).map(Value::Array);
        }
        self.lock_batches().push(RequestBatch { waiting, answers, shares: Vec::new() });
        None
    }

    /// Adds a response. Returns the response itself, the list that it completes, or nothing yet.
    pub fn add_response(
        &self,
        answer: Value,
        share: Option<BudgetPermit>,
    ) -> Option<OutgoingMessage> {
        let id = answer.get("id").cloned().unwrap_or_default();
        let mut all = self.lock_batches();
        let Some(at) = all.iter().position(|batch| batch.waiting.contains(&id)) else {
            return Some(OutgoingMessage { message: answer, shares: share.into_iter().collect() });
        };
        let batch = all.get_mut(at)?;
        batch.answers.push(answer);
        batch.shares.extend(share);
        finish_request(&mut all, at, &id)
    }

    /// Stops waiting for a cancelled request. Returns the list if that completes it.
    pub fn cancel_request(&self, id: &Value) -> Option<OutgoingMessage> {
        let mut all = self.lock_batches();
        let at = all.iter().position(|batch| batch.waiting.contains(id))?;
        finish_request(&mut all, at, id)
    }

    fn lock_batches(&self) -> std::sync::MutexGuard<'_, Vec<RequestBatch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a request from a batch. Returns the list if it is complete and not empty.
fn finish_request(all: &mut Vec<RequestBatch>, at: usize, id: &Value) -> Option<OutgoingMessage> {
    let batch = all.get_mut(at)?;
    let found = batch.waiting.iter().position(|waiting| waiting == id)?;
    batch.waiting.swap_remove(found);
    if !batch.waiting.is_empty() {
        return None;
    }
    let RequestBatch { answers, shares, .. } = all.swap_remove(at);
    (!answers.is_empty()).then_some(OutgoingMessage { message: Value::Array(answers), shares })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn responses_of_a_batch_are_sent_together() {
        let batches = RequestBatches::default();
        let answer = |id: i64| json!({"id": id, "result": {}});
        let sent = |id: i64| batches.add_response(answer(id), None).map(|sent| sent.message);
        assert_eq!(batches.begin_batch(vec![json!(1), json!(2)], vec![json!("refused")]), None);
        assert_eq!(sent(7), Some(answer(7)), "not part of a batch");
        assert_eq!(sent(2), None);
        let whole = json!(["refused", answer(2), answer(1)]);
        assert_eq!(sent(1), Some(whole));
        assert_eq!(sent(1), Some(answer(1)), "the batch is complete");
    }

    #[test]
    fn a_batch_does_not_wait_for_cancelled_requests() {
        let batches = RequestBatches::default();
        assert_eq!(batches.begin_batch(vec![], vec![]), None);
        assert_eq!(batches.begin_batch(vec![], vec![json!(1)]), Some(json!([1])));
        batches.begin_batch(vec![json!("a"), json!("b")], vec![]);
        let answer = json!({"id": "a"});
        assert!(batches.add_response(answer.clone(), None).is_none());
        let whole = batches.cancel_request(&json!("b")).map(|sent| sent.message);
        assert_eq!(whole, Some(json!([answer])));
        batches.begin_batch(vec![json!("c")], vec![]);
        assert!(batches.cancel_request(&json!("c")).is_none(), "nothing is left to send");
        assert!(batches.cancel_request(&json!("c")).is_none());
    }
}
