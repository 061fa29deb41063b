//! The crash test: writers send events while the daemon is killed and suspended at random moments.
//! After every round it checks that acknowledged events are stored once and intact.
//!
//! The seed determines the signals, their order and their delays; the progress of the writers
//! depends on the machine.

mod expected_events;
mod hooks;
mod report;
mod writers;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tome_proto::{Client, EventListQuery, v1};

use crate::{SeededRng, Signal, World, eventually_within, pause, send_signal};
use expected_events::ExpectedEvents;
pub use report::CrashTestReport;

/// Time for a detached process of a hook to finish.
const SETTLED_WITHIN: Duration = Duration::from_secs(70);

/// When the test ends.
#[derive(Debug, Clone, Copy)]
pub enum StopCondition {
    /// After this many rounds.
    Rounds(u32),
    /// After the first round that ends later than this.
    Passed(Duration),
    /// After the daemon was killed this often.
    Kills(u64),
}

/// The parameters of a crash test.
#[derive(Debug, Clone, Copy)]
pub struct CrashTestPlan {
    /// Seed of the random numbers.
    pub seed: u64,
    /// Concurrent writers: single calls, bulk streams, `tome ingest` and hooks in turn.
    pub writers: u64,
    /// When the test ends.
    pub until: StopCondition,
    /// Limit of kills per round.
    pub kills_max: u64,
    /// The longest pause between two kills.
    pub kill_pause_max: Duration,
}

/// A crash test in a test environment.
pub struct CrashTest<'a> {
    world: &'a World,
    plan: CrashTestPlan,
    chance: SeededRng,
    book: ExpectedEvents,
    report: CrashTestReport,
}

impl<'a> CrashTest<'a> {
    /// Creates a crash test.
    pub fn new(world: &'a World, plan: CrashTestPlan) -> Self {
        Self {
            world,
            plan,
            chance: SeededRng::from_seed(plan.seed),
            book: ExpectedEvents::default(),
            report: CrashTestReport::default(),
        }
    }

    /// Runs the test; calls `each` with the report after every round.
    pub fn run(mut self, mut each: impl FnMut(&CrashTestReport)) -> CrashTestReport {
        let began = Instant::now();
        self.start_daemon();
        for round in 0.. {
            let goes_on = match self.plan.until {
                StopCondition::Rounds(rounds) => round < rounds,
                StopCondition::Passed(length) => began.elapsed() < length,
                StopCondition::Kills(kills) => self.report.kills < kills,
            };
            if !goes_on {
                break;
            }
            self.run_round(round);
            self.report.rounds += 1;
            each(&self.report);
        }
        self.check_everything();
        self.report
    }

    /// Runs writers while the daemon is killed, then stops both and checks the events.
    fn run_round(&mut self, round: u32) {
        let over = AtomicBool::new(false);
        let (world, seed, book) = (self.world, self.plan.seed, self.book.clone());
        std::thread::scope(|scope| {
            for writer in 0..self.plan.writers {
                let (over, book) = (&over, &book);
                let chance = SeededRng::for_worker(seed ^ u64::from(round), writer);
                scope
                    .spawn(move || writers::run_writer(world, book, chance, (round, writer), over));
            }
            for _ in 0..self.chance.in_range(1, self.plan.kills_max + 1) {
                let most = u64::try_from(self.plan.kill_pause_max.as_millis()).unwrap_or(u64::MAX);
                pause(Duration::from_millis(self.chance.in_range(5, most)));
                self.kill_daemon();
            }
            over.store(true, Ordering::SeqCst);
        });
        self.start_daemon();
        self.check_round(round);
    }

    fn kill_daemon(&mut self) {
        let Some(pid) = self.world.daemon_pid() else {
            return self.start_daemon();
        };
        if self.chance.one_in(3) && send_signal(pid, Signal::Stop) {
            self.report.hangs += 1;
            pause(Duration::from_millis(self.chance.in_range(20, 250)));
            send_signal(pid, Signal::Continue);
        }
        if send_signal(pid, Signal::Kill) {
            self.report.kills += 1;
        }
        // Sometimes leave it to hooks and `tome ingest` to start the next daemon.
        if !self.chance.one_in(4) {
            self.start_daemon();
        }
    }

    /// Starts the daemon and records how long it took.
    fn start_daemon(&mut self) {
        let began = Instant::now();
        let ran = self.world.tome(&["start"]);
        self.report.recoveries.push(began.elapsed());
        if ran.code != 0 {
            self.report.record_violation(format!("`tome start` failed: {}", ran.stderr.trim()));
        }
    }

    fn check_round(&mut self, round: u32) {
        let range = expected_events::round_range(round);
        let listed = self.list_events(EventListQuery {
            from: Some(range.start),
            to: Some(range.end),
            ..EventListQuery::default()
        });
        self.book.check_round(round, &listed, &mut self.report);
        self.check_hooks();
    }

    /// Checks that every delivery so far is stored, or recorded as lost, exactly once. A detached
    /// process of a hook may take a while.
    fn check_hooks(&mut self) {
        let began = Instant::now();
        loop {
            // Query the losses first: an event that arrives in between then counts only once.
            let lost = self.read_lost_count();
            let listed = self.list_events(EventListQuery {
                from: Some(expected_events::HOOKS_FROM),
                ..EventListQuery::default()
            });
            let balance = self.book.check_deliveries(&listed, &mut self.report);
            let is_settled = balance.is_settled(lost);
            if balance.duplicates > 0 || balance.foreign > 0 {
                self.report.duplicates += balance.duplicates;
                self.report.record_violation(format!("hooks: {balance:?}"));
                return;
            }
            if is_settled {
                return;
            }
            if began.elapsed() > SETTLED_WITHIN {
                self.report.lost += balance.missing.saturating_sub(lost);
                self.report
                    .record_violation(format!("hooks: {lost} recorded as lost, {balance:?}"));
                return;
            }
            pause(Duration::from_millis(100));
        }
    }

    /// Checks all events, and that the counters agree with them.
    fn check_everything(&mut self) {
        let listed = self.list_events(EventListQuery::default());
        self.book.check_all(&listed, &mut self.report);
        self.report.events = listed.len() as u64;
        let status = self.call_daemon(async |client: Client| client.get_status(true).await);
        if let Some(status) = status {
            self.check_counts(&status);
        }
        let caught_up = eventually_within(Duration::from_secs(20), || {
            let status =
                self.try_call_daemon(async |client: Client| client.get_status(false).await)?;
            let behind: u64 = status.stores.iter().map(|store| store.behind).sum();
            (behind == 0).then_some(())
        });
        if caught_up.is_none() {
            self.report.record_violation("session statistics are still behind after 20 s".into());
        }
        let waiting = self.world.tome(&["status", "--json"]).json();
        let spool = waiting.get("spool").cloned().unwrap_or_default();
        // A hook killed during a write leaves a partial line.
        for (name, most) in [("waiting_events", 0), ("damaged_lines", self.report.hooks_killed)] {
            let count = spool.get(name).and_then(serde_json::Value::as_u64);
            if count.is_none_or(|count| count > most) {
                self.report.record_violation(format!("unexpected spool status: {spool}"));
            }
        }
    }

    fn check_counts(&mut self, status: &v1::StatusResponse) {
        let tallied: u64 = status.projects.iter().map(|project| project.events).sum();
        let appended: u64 = status.stores.iter().map(|store| store.events).sum();
        if tallied != self.report.events || appended != self.report.events {
            self.report.record_violation(format!(
                "{} events are listed, {tallied} are counted, {appended} were appended",
                self.report.events
            ));
        }
        for store in status.stores.iter().filter(|store| !store.refusing.is_empty()) {
            self.report
                .record_violation(format!("{} rejects writes: {}", store.path, store.refusing));
        }
    }

    fn list_events(&mut self, query: EventListQuery) -> Vec<tome_model::Event> {
        let listed = self.call_daemon(async |client: Client| {
            let mut events = Vec::new();
            let mut query = EventListQuery { limit: 2_000, ..query };
            loop {
                let page = client.list_events(query.clone()).await?;
                events.extend(page.events);
                match page.continuation {
                    Some(next) => query.continuation = next,
                    None => return Ok(events),
                }
            }
        });
        listed.unwrap_or_default()
    }

    fn read_lost_count(&self) -> u64 {
        let status = self.world.tome(&["status", "--json"]).json();
        let lost = status.get("lost").and_then(|lost| lost.get("events"));
        lost.and_then(serde_json::Value::as_u64).unwrap_or(0)
    }

    fn call_daemon<T>(
        &mut self,
        work: impl AsyncFnOnce(Client) -> Result<T, tome_proto::ClientError>,
    ) -> Option<T> {
        match self.world.with_client(work) {
            Ok(answer) => Some(answer),
            Err(error) => {
                self.report.record_violation(format!("the daemon failed: {error}"));
                None
            }
        }
    }

    fn try_call_daemon<T>(
        &self,
        work: impl AsyncFnOnce(Client) -> Result<T, tome_proto::ClientError>,
    ) -> Option<T> {
        self.world.with_client(work).ok()
    }
}
