//! Writers that run while the daemon is killed: single calls, bulk streams, `tome ingest` and
//! hooks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tome_model::{Draft, EventLine};
use tome_proto::{Client, draft_to_wire, v1};

use super::expected_events::{ExpectedEvents, event_id, expected_line, hook_session};
use super::hooks;
use crate::{SeededRng, World, pause};

/// Timeout after which a writer considers the connection dead.
const ANSWER_WITHIN: Duration = Duration::from_secs(8);

/// Writes until `over` is set. `whom` is the round and the writer.
pub(super) fn run_writer(
    world: &World,
    book: &ExpectedEvents,
    chance: SeededRng,
    whom: (u32, u64),
    over: &AtomicBool,
) {
    let writer = CrashTestWriter { world, book, whom, over };
    match whom.1 % 4 {
        0 => writer.write_over_socket(chance, SendMode::OneByOne),
        1 => writer.write_over_socket(chance, SendMode::InBulk),
        2 => writer.run_ingest(chance),
        _ => writer.run_hooks(chance),
    }
}

#[derive(Clone, Copy)]
enum SendMode {
    OneByOne,
    InBulk,
}

struct CrashTestWriter<'a> {
    world: &'a World,
    book: &'a ExpectedEvents,
    whom: (u32, u64),
    over: &'a AtomicBool,
}

impl CrashTestWriter<'_> {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    fn event_line(&self, n: u64) -> EventLine {
        expected_line(&event_id(self.whom.0, self.whom.1, n), self.world.path())
    }

    fn build_draft(&self, n: u64) -> Option<Draft> {
        self.event_line(n).into_draft().ok()
    }

    /// Reconnects whenever the connection is lost and continues: unacknowledged events are sent
    /// again.
    fn write_over_socket(&self, mut chance: SeededRng, manner: SendMode) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return };
        let mut n = 0;
        while !self.is_over() {
            runtime.block_on(async {
                if let Ok(client) = self.world.client().await {
                    match manner {
                        SendMode::OneByOne => self.send_one_by_one(&client, &mut n).await,
                        SendMode::InBulk => self.send_in_bulk(&client, &mut n, &mut chance).await,
                    }
                }
            });
            pause(Duration::from_millis(2));
        }
    }

    async fn send_one_by_one(&self, client: &Client, n: &mut u64) {
        while !self.is_over() {
            let Some(draft) = self.build_draft(*n) else { return };
            match client.ingest(draft, ANSWER_WITHIN).await {
                Ok(answer) => self.book.record_acknowledged([answer.id]),
                Err(_) => return,
            }
            *n += 1;
        }
    }

    async fn send_in_bulk(&self, client: &Client, n: &mut u64, chance: &mut SeededRng) {
        let (batches, outgoing) = tokio::sync::mpsc::channel(1);
        let Ok(mut answers) = client.ingest_stream(ReceiverStream::new(outgoing)).await else {
            return;
        };
        while !self.is_over() {
            let size = chance.in_range(1, 60);
            let events = (*n..*n + size).filter_map(|n| self.build_draft(n)).map(draft_to_wire);
            let request = v1::IngestEventsRequest { events: events.collect() };
            if batches.send(request).await.is_err() {
                return;
            }
            match tokio::time::timeout(ANSWER_WITHIN, answers.next()).await {
                Ok(Some(Ok(answer))) if answer.rejected.is_empty() => {
                    self.book.record_acknowledged(
                        (*n..*n + size).map(|n| event_id(self.whom.0, self.whom.1, n)),
                    );
                }
                _ => return,
            }
            *n += size;
        }
    }

    fn run_ingest(&self, mut chance: SeededRng) {
        let mut n = 0;
        while !self.is_over() {
            let size = chance.in_range(1, 200);
            let lines: String =
                (n..n + size).map(|n| self.event_line(n).to_json() + "\n").collect();
            let ran = self.world.tome_with(&["ingest"], lines);
            if ran.code == 0 {
                self.book.record_acknowledged(
                    (n..n + size).map(|n| event_id(self.whom.0, self.whom.1, n)),
                );
                n += size;
            }
        }
    }

    fn run_hooks(&self, mut chance: SeededRng) {
        let session = hook_session(self.whom.0);
        for n in 0.. {
            if self.is_over() {
                return;
            }
            let mark = event_id(self.whom.0, self.whom.1, n);
            let ended = hooks::run_hook(self.world, &mut chance, &session, &mark, n);
            self.book.record_hook(mark, ended);
        }
    }
}
