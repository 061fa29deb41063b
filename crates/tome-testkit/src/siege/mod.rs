//! The crash test: writers send events while the daemon is killed and suspended at random moments.
//! After every round it checks that acknowledged events are stored once and intact.
//!
//! The seed determines the signals, their order and their delays; the progress of the writers
//! depends on the machine.

mod book;
mod hooks;
mod report;
mod writers;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tome_proto::{Client, Query, v1};

use crate::{Chance, Signal, World, eventually_within, pause, send};
use book::Book;
pub use report::Report;

/// Time for a detached process of a hook to finish.
const SETTLED_WITHIN: Duration = Duration::from_secs(70);

/// When the test ends.
#[derive(Debug, Clone, Copy)]
pub enum Until {
    /// After this many rounds.
    Rounds(u32),
    /// After the first round that ends later than this.
    Passed(Duration),
    /// After the daemon was killed this often.
    Kills(u64),
}

/// The parameters of a crash test.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Seed of the random numbers.
    pub seed: u64,
    /// Concurrent writers: single calls, bulk streams, `tome ingest` and hooks in turn.
    pub writers: u64,
    /// When the test ends.
    pub until: Until,
    /// Limit of kills per round.
    pub blows_max: u64,
    /// The longest pause between two kills.
    pub blow_every_max: Duration,
}

/// A crash test in a test environment.
pub struct Siege<'a> {
    world: &'a World,
    plan: Plan,
    chance: Chance,
    book: Book,
    report: Report,
}

impl<'a> Siege<'a> {
    /// Creates a crash test.
    pub fn new(world: &'a World, plan: Plan) -> Self {
        Self {
            world,
            plan,
            chance: Chance::from_seed(plan.seed),
            book: Book::default(),
            report: Report::default(),
        }
    }

    /// Runs the test; calls `each` with the report after every round.
    pub fn run(mut self, mut each: impl FnMut(&Report)) -> Report {
        let began = Instant::now();
        self.start();
        for round in 0.. {
            let goes_on = match self.plan.until {
                Until::Rounds(rounds) => round < rounds,
                Until::Passed(length) => began.elapsed() < length,
                Until::Kills(kills) => self.report.kills < kills,
            };
            if !goes_on {
                break;
            }
            self.round(round);
            self.report.rounds += 1;
            each(&self.report);
        }
        self.check_everything();
        self.report
    }

    /// Runs writers while the daemon is killed, then stops both and checks the events.
    fn round(&mut self, round: u32) {
        let over = AtomicBool::new(false);
        let (world, seed, book) = (self.world, self.plan.seed, self.book.clone());
        std::thread::scope(|scope| {
            for writer in 0..self.plan.writers {
                let (over, book) = (&over, &book);
                let chance = Chance::of(seed ^ u64::from(round), writer);
                scope.spawn(move || writers::write(world, book, chance, (round, writer), over));
            }
            for _ in 0..self.chance.between(1, self.plan.blows_max + 1) {
                let most = u64::try_from(self.plan.blow_every_max.as_millis()).unwrap_or(u64::MAX);
                pause(Duration::from_millis(self.chance.between(5, most)));
                self.strike();
            }
            over.store(true, Ordering::SeqCst);
        });
        self.start();
        self.check_round(round);
    }

    fn strike(&mut self) {
        let Some(pid) = self.world.daemon_pid() else {
            return self.start();
        };
        if self.chance.one_in(3) && send(pid, Signal::Stop) {
            self.report.hangs += 1;
            pause(Duration::from_millis(self.chance.between(20, 250)));
            send(pid, Signal::Continue);
        }
        if send(pid, Signal::Kill) {
            self.report.kills += 1;
        }
        // Sometimes leave it to hooks and `tome ingest` to start the next daemon.
        if !self.chance.one_in(4) {
            self.start();
        }
    }

    /// Starts the daemon and records how long it took.
    fn start(&mut self) {
        let began = Instant::now();
        let ran = self.world.tome(&["start"]);
        self.report.recoveries.push(began.elapsed());
        if ran.code != 0 {
            self.report.violation(format!("`tome start` failed: {}", ran.stderr.trim()));
        }
    }

    fn check_round(&mut self, round: u32) {
        let range = book::moments_of(round);
        let listed =
            self.list(Query { from: Some(range.start), to: Some(range.end), ..Query::default() });
        self.book.compare(round, &listed, &mut self.report);
        self.check_hooks();
    }

    /// Checks that every delivery so far is stored, or recorded as lost, exactly once. A detached
    /// process of a hook may take a while.
    fn check_hooks(&mut self) {
        let began = Instant::now();
        loop {
            // Query the losses first: an event that arrives in between then counts only once.
            let lost = self.lost();
            let listed = self.list(Query { from: Some(book::HOOKS_FROM), ..Query::default() });
            let balance = self.book.balance(&listed, &mut self.report);
            let is_settled = balance.is_settled(lost);
            if balance.duplicates > 0 || balance.foreign > 0 {
                self.report.duplicates += balance.duplicates;
                self.report.violation(format!("hooks: {balance:?}"));
                return;
            }
            if is_settled {
                return;
            }
            if began.elapsed() > SETTLED_WITHIN {
                self.report.lost += balance.missing.saturating_sub(lost);
                self.report.violation(format!("hooks: {lost} recorded as lost, {balance:?}"));
                return;
            }
            pause(Duration::from_millis(100));
        }
    }

    /// Checks all events, and that the counters agree with them.
    fn check_everything(&mut self) {
        let listed = self.list(Query::default());
        self.book.compare_all(&listed, &mut self.report);
        self.report.events = listed.len() as u64;
        let status = self.asked(async |client: Client| client.status(true).await);
        if let Some(status) = status {
            self.check_counts(&status);
        }
        let caught_up = eventually_within(Duration::from_secs(20), || {
            let status = self.asked_quietly(async |client: Client| client.status(false).await)?;
            let behind: u64 = status.stores.iter().map(|store| store.behind).sum();
            (behind == 0).then_some(())
        });
        if caught_up.is_none() {
            self.report.violation("session statistics are still behind after 20 s".into());
        }
        let waiting = self.world.tome(&["status", "--json"]).json();
        let spool = waiting.get("spool").cloned().unwrap_or_default();
        // A hook killed during a write leaves a partial line.
        for (name, most) in [("waiting_events", 0), ("damaged_lines", self.report.hooks_killed)] {
            let count = spool.get(name).and_then(serde_json::Value::as_u64);
            if count.is_none_or(|count| count > most) {
                self.report.violation(format!("unexpected spool status: {spool}"));
            }
        }
    }

    fn check_counts(&mut self, status: &v1::StatusResponse) {
        let tallied: u64 = status.projects.iter().map(|project| project.events).sum();
        let appended: u64 = status.stores.iter().map(|store| store.events).sum();
        if tallied != self.report.events || appended != self.report.events {
            self.report.violation(format!(
                "{} events are listed, {tallied} are counted, {appended} were appended",
                self.report.events
            ));
        }
        for store in status.stores.iter().filter(|store| !store.refusing.is_empty()) {
            self.report.violation(format!("{} rejects writes: {}", store.path, store.refusing));
        }
    }

    fn list(&mut self, query: Query) -> Vec<tome_model::Event> {
        let listed = self.asked(async |client: Client| {
            let mut events = Vec::new();
            let mut query = Query { limit: 2_000, ..query };
            loop {
                let page = client.events(query.clone()).await?;
                events.extend(page.events);
                match page.continuation {
                    Some(next) => query.continuation = next,
                    None => return Ok(events),
                }
            }
        });
        listed.unwrap_or_default()
    }

    fn lost(&self) -> u64 {
        let status = self.world.tome(&["status", "--json"]).json();
        let lost = status.get("lost").and_then(|lost| lost.get("events"));
        lost.and_then(serde_json::Value::as_u64).unwrap_or(0)
    }

    fn asked<T>(
        &mut self,
        work: impl AsyncFnOnce(Client) -> Result<T, tome_proto::ClientError>,
    ) -> Option<T> {
        match self.world.ask(work) {
            Ok(answer) => Some(answer),
            Err(error) => {
                self.report.violation(format!("the daemon failed: {error}"));
                None
            }
        }
    }

    fn asked_quietly<T>(
        &self,
        work: impl AsyncFnOnce(Client) -> Result<T, tome_proto::ClientError>,
    ) -> Option<T> {
        self.world.ask(work).ok()
    }
}
