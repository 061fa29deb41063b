//! Several messages on one line, which protocol version 2025-03-26 has and the others do not: their
//! answers go out together, as one list, once the last of them is there.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::in_flight::Share;

/// The lists that are not whole yet.
#[derive(Debug, Default)]
pub struct Batches(Mutex<Vec<Batch>>);

#[derive(Debug)]
struct Batch {
    waiting: Vec<Value>,
    answers: Vec<Value>,
    /// What the answers take of the memory for requests in flight.
    shares: Vec<Share>,
}

/// A message that can be sent now, and what is given back once it is written.
#[derive(Debug)]
pub struct Outgoing {
    pub message: Value,
    pub shares: Vec<Share>,
}

impl Batches {
    /// A line with requests of these ids, of which some are answered already. Returns what is to be
    /// sent at once.
    pub fn begin(&self, waiting: Vec<Value>, answers: Vec<Value>) -> Option<Value> {
        if waiting.is_empty() {
            return Some(answers).filter(|answers| !answers.is_empty()).map(Value::Array);
        }
        self.all().push(Batch { waiting, answers, shares: Vec::new() });
        None
    }

    /// What is to be sent now that this answer is there: itself, the list that it completes, or
    /// nothing yet.
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

    /// A request that is taken back is not waited for. Returns the list that is whole without it.
    pub fn forget(&self, id: &Value) -> Option<Outgoing> {
        let mut all = self.all();
        let at = all.iter().position(|batch| batch.waiting.contains(id))?;
        settle(&mut all, at, id)
    }

    fn all(&self) -> std::sync::MutexGuard<'_, Vec<Batch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for one less. A list that is whole leaves, unless there is nothing in it.
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
    fn answers_go_out_together() {
        let batches = Batches::default();
        let answer = |id: i64| json!({"id": id, "result": {}});
        let sent = |id: i64| batches.answer(answer(id), None).map(|sent| sent.message);
        assert_eq!(batches.begin(vec![json!(1), json!(2)], vec![json!("refused")]), None);
        assert_eq!(sent(7), Some(answer(7)), "of no list");
        assert_eq!(sent(2), None);
        let whole = json!(["refused", answer(2), answer(1)]);
        assert_eq!(sent(1), Some(whole));
        assert_eq!(sent(1), Some(answer(1)), "it is over");
    }

    #[test]
    fn what_is_taken_back_is_not_waited_for() {
        let batches = Batches::default();
        assert_eq!(batches.begin(vec![], vec![]), None);
        assert_eq!(batches.begin(vec![], vec![json!(1)]), Some(json!([1])));
        batches.begin(vec![json!("a"), json!("b")], vec![]);
        let answer = json!({"id": "a"});
        assert!(batches.answer(answer.clone(), None).is_none());
        let whole = batches.forget(&json!("b")).map(|sent| sent.message);
        assert_eq!(whole, Some(json!([answer])));
        batches.begin(vec![json!("c")], vec![]);
        assert!(batches.forget(&json!("c")).is_none(), "nothing is left to be sent");
        assert!(batches.forget(&json!("c")).is_none());
    }
}
