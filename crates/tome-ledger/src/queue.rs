//! The queue of appends for the writer.
//!
//! Bounded by bytes: a push blocks while the queue is full. An append larger than the bound is accepted
//! when the queue is empty.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::limits::{GROUP_BYTES_MAX, GROUP_EVENTS_MAX, QUEUE_BYTES_MAX};
use crate::{Appended, LedgerError, NewEvent};

/// Called when an append is synced or has failed.
pub(crate) type Done = Box<dyn FnOnce(Result<Vec<Appended>, LedgerError>) + Send>;

/// Events to append, with their callback.
pub(crate) struct Request {
    pub(crate) events: Vec<NewEvent>,
    pub(crate) done: Done,
    bytes: usize,
}

impl Request {
    pub(crate) fn new(events: Vec<NewEvent>, done: Done) -> Self {
        let bytes = events.iter().map(NewEvent::bytes_len).sum();
        Self { events, done, bytes }
    }
}

#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    /// Signals a push or the closing of the queue.
    filled: Condvar,
    /// Signals a removal or the closing of the queue.
    drained: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Request>,
    bytes: usize,
    closed: bool,
}

impl Queue {
    /// Adds a request, or returns it if the queue is closed.
    pub(crate) fn push(&self, request: Request) -> Result<(), Request> {
        let mut state = self.lock();
        while !state.closed && state.bytes > 0 && state.bytes + request.bytes > QUEUE_BYTES_MAX {
            state = self.drained.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return Err(request);
        }
        state.bytes += request.bytes;
        state.waiting.push_back(request);
        self.filled.notify_one();
        Ok(())
    }

    /// Waits for requests and removes one group of them. Empty if the queue is closed and drained.
    pub(crate) fn take_group(&self) -> Vec<Request> {
        let mut state = self.lock();
        while state.waiting.is_empty() && !state.closed {
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let (mut bytes, mut events, mut count) = (0, 0, 0);
        for request in &state.waiting {
            bytes += request.bytes;
            events += request.events.len();
            if count > 0 && (bytes > GROUP_BYTES_MAX || events > GROUP_EVENTS_MAX) {
                break;
            }
            count += 1;
        }
        let group: Vec<Request> = state.waiting.drain(..count).collect();
        state.bytes -= group.iter().map(|request| request.bytes).sum::<usize>();
        self.drained.notify_all();
        group
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Rejects further requests. Queued ones are still processed.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_all();
        self.drained.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is consistent even if a holder of the lock panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
