//! The appends that wait for the writer.
//!
//! Bounded by what they weigh: whoever comes when it is full waits until there is room. One append
//! that is heavier than the bound is let in when the queue is empty.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::limits::{GROUP_BYTES_MAX, GROUP_EVENTS_MAX, QUEUE_BYTES_MAX};
use crate::{Appended, LedgerError, NewEvent};

/// What is called when an append is done.
pub(crate) type Done = Box<dyn FnOnce(Result<Vec<Appended>, LedgerError>) + Send>;

/// Some events and who waits for them.
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
    /// Something came in, or the queue was closed.
    filled: Condvar,
    /// Something was taken out, or the queue was closed.
    drained: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Request>,
    bytes: usize,
    closed: bool,
}

impl Queue {
    /// Adds a request, or gives it back if the queue is closed.
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

    /// Waits for requests and takes as many as belong into one group; none when the queue is
    /// closed and empty.
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

    /// How many requests wait.
    pub(crate) fn len(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Lets nothing more in. What waits is still taken.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_all();
        self.drained.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that runs under the lock leaves the state half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
