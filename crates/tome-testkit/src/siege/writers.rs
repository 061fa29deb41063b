//! Writers that run while the daemon is killed: single calls, bulk streams, `tome ingest` and
//! hooks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tome_model::{Draft, EventLine};
use tome_proto::{Client, draft_to_wire, v1};

use super::book::{Book, hook_session, id_of, line_of};
use super::hooks;
use crate::{Chance, World, pause};

/// Timeout after which a writer considers the connection dead.
const ANSWER_WITHIN: Duration = Duration::from_secs(8);

/// Writes until `over` is set. `whom` is the round and the writer.
pub(super) fn write(
    world: &World,
    book: &Book,
    chance: Chance,
    whom: (u32, u64),
    over: &AtomicBool,
) {
    let writer = Writer { world, book, whom, over };
    match whom.1 % 4 {
        0 => writer.connected(chance, Manner::OneByOne),
        1 => writer.connected(chance, Manner::InBulk),
        2 => writer.ingest(chance),
        _ => writer.hook(chance),
    }
}

#[derive(Clone, Copy)]
enum Manner {
    OneByOne,
    InBulk,
}

struct Writer<'a> {
    world: &'a World,
    book: &'a Book,
    whom: (u32, u64),
    over: &'a AtomicBool,
}

impl Writer<'_> {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    fn line(&self, n: u64) -> EventLine {
        line_of(&id_of(self.whom.0, self.whom.1, n), self.world.path())
    }

    fn draft(&self, n: u64) -> Option<Draft> {
        self.line(n).into_draft().ok()
    }

    /// Reconnects whenever the connection is lost and continues: unacknowledged events are sent
    /// again.
    fn connected(&self, mut chance: Chance, manner: Manner) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return };
        let mut n = 0;
        while !self.is_over() {
            runtime.block_on(async {
                if let Ok(client) = self.world.client().await {
                    match manner {
                        Manner::OneByOne => self.one_by_one(&client, &mut n).await,
                        Manner::InBulk => self.in_bulk(&client, &mut n, &mut chance).await,
                    }
                }
            });
            pause(Duration::from_millis(2));
        }
    }

    async fn one_by_one(&self, client: &Client, n: &mut u64) {
        while !self.is_over() {
            let Some(draft) = self.draft(*n) else { return };
            match client.ingest(draft, ANSWER_WITHIN).await {
                Ok(answer) => self.book.acknowledged([answer.id]),
                Err(_) => return,
            }
            *n += 1;
        }
    }

    async fn in_bulk(&self, client: &Client, n: &mut u64, chance: &mut Chance) {
        let (batches, outgoing) = tokio::sync::mpsc::channel(1);
        let Ok(mut answers) = client.ingest_stream(ReceiverStream::new(outgoing)).await else {
            return;
        };
        while !self.is_over() {
            let size = chance.between(1, 60);
            let events = (*n..*n + size).filter_map(|n| self.draft(n)).map(draft_to_wire);
            let request = v1::IngestEventsRequest { events: events.collect() };
            if batches.send(request).await.is_err() {
                return;
            }
            match tokio::time::timeout(ANSWER_WITHIN, answers.next()).await {
                Ok(Some(Ok(answer))) if answer.rejected.is_empty() => {
                    self.book
                        .acknowledged((*n..*n + size).map(|n| id_of(self.whom.0, self.whom.1, n)));
                }
                _ => return,
            }
            *n += size;
        }
    }

    fn ingest(&self, mut chance: Chance) {
        let mut n = 0;
        while !self.is_over() {
            let size = chance.between(1, 200);
            let lines: String = (n..n + size).map(|n| self.line(n).to_json() + "\n").collect();
            let ran = self.world.tome_with(&["ingest"], lines);
            if ran.code == 0 {
                self.book.acknowledged((n..n + size).map(|n| id_of(self.whom.0, self.whom.1, n)));
                n += size;
            }
        }
    }

    fn hook(&self, mut chance: Chance) {
        let session = hook_session(self.whom.0);
        for n in 0.. {
            if self.is_over() {
                return;
            }
            let mark = id_of(self.whom.0, self.whom.1, n);
            let ended = hooks::run(self.world, &mut chance, &session, &mark, n);
            self.book.hooked(mark, ended);
        }
    }
}
