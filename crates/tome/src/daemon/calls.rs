//! Runs the blocking work of calls on tokio's blocking threads, with a concurrency limit per kind.

use std::sync::Arc;

use tokio::sync::Semaphore;

/// The kind of a call. Each kind has its own limit, so that none can starve another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallKind {
    /// Work on ledgers. A group commit can be as large as the number of calls that wait for it.
    Ledger,
    /// Work on notebooks. A notebook that another program keeps locked must not delay events.
    Notebook,
    /// Recall. Uses a whole core, and may wait for a notebook.
    Recall,
    /// Status. Must work while everything else is blocked.
    Status,
}

const LEDGER_CALLS_MAX: usize = 64;
const NOTEBOOK_CALLS_MAX: usize = 16;
const RECALL_CALLS_MAX: usize = 4;
const STATUS_CALLS_MAX: usize = 4;

/// The concurrency limits of calls.
pub struct CallLimits {
    ledger: Arc<Semaphore>,
    notebook: Arc<Semaphore>,
    recall: Arc<Semaphore>,
    status: Arc<Semaphore>,
}

impl CallLimits {
    pub fn new() -> Self {
        let limit = |calls_max| Arc::new(Semaphore::new(calls_max));
        Self {
            ledger: limit(LEDGER_CALLS_MAX),
            notebook: limit(NOTEBOOK_CALLS_MAX),
            recall: limit(RECALL_CALLS_MAX),
            status: limit(STATUS_CALLS_MAX),
        }
    }

    pub fn semaphore(&self, kind: CallKind) -> &Arc<Semaphore> {
        match kind {
            CallKind::Ledger => &self.ledger,
            CallKind::Notebook => &self.notebook,
            CallKind::Recall => &self.recall,
            CallKind::Status => &self.status,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio::sync::oneshot;

    use super::*;
    use crate::daemon::state::tests::daemon;

    #[tokio::test]
    async fn a_cancelled_call_keeps_its_permit_until_the_work_is_done() {
        let home = tempfile::tempdir().unwrap();
        let daemon = daemon(home.path());
        let (go_on, wait) = mpsc::channel::<()>();
        let (began, begun) = oneshot::channel();
        let caller = Arc::clone(&daemon);
        let call = tokio::spawn(async move {
            caller
                .run_blocking(CallKind::Notebook, move |_| {
                    let _ = began.send(());
                    let _ = wait.recv();
                })
                .await
        });
        begun.await.unwrap();
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
        let permits = daemon.calls.semaphore(CallKind::Notebook);
        assert_eq!(permits.available_permits(), NOTEBOOK_CALLS_MAX - 1);
        drop(go_on);
        let all = permits.acquire_many(u32::try_from(NOTEBOOK_CALLS_MAX).unwrap()).await;
        drop(all.unwrap());
    }
}
