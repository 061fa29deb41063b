//! The queue of appends for the writer.
//!
//! Bounded by bytes: a push blocks while the queue is full. An append larger than the bound is accepted
//! when the queue is empty.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::limits::{GROUP_BYTES_MAX, GROUP_EVENTS_MAX, QUEUE_BYTES_MAX};
use crate::{AppendedEvent, LedgerError, NewEvent};

/// Called when an append is synced or has failed.
pub(crate) type AppendCallback = Box<dyn FnOnce(Result<Vec<AppendedEvent>, LedgerError>) + Send>;

/// Events to append, with their callback.
pub(crate) struct AppendRequest {
    pub(crate) events: Vec<NewEvent>,
    pub(crate) done: AppendCallback,
    bytes: usize,
}

impl AppendRequest {
    pub(crate) fn new(events: Vec<NewEvent>, done: AppendCallback) -> Self {
        let bytes = events.iter().map(NewEvent::bytes_len).sum();
        Self { events, done, bytes }
    }
}

#[derive(Default)]
pub(crate) struct AppendQueue {
    state: Mutex<QueueState>,
    /// Signals a push or the closing of the queue.
    filled: Condvar,
    /// Signals a removal or the closing of the queue.
    drained: Condvar,
}

#[derive(Default)]
struct QueueState {
    waiting: VecDeque<AppendRequest>,
    bytes: usize,
    closed: bool,
}

impl AppendQueue {
    /// Adds a request, or returns it if the queue is closed.
    pub(crate) fn push(&self, request: AppendRequest) -> Result<(), AppendRequest> {
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
    pub(crate) fn take_group(&self) -> Vec<AppendRequest> {
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
        let group: Vec<AppendRequest> = state.waiting.drain(..count).collect();
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

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        // The state is consistent even if a holder of the lock panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
