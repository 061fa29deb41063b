//! How long contents take: of some events at once, and of one more event on a large ledger.
//!
//! ```text
//! cargo bench -p tome-contents --bench contents
//! ```
//!
//! Events are prompts, replies and tool calls of about a kilobyte, 40 to a session, a minute apart,
//! on a real store. The least summarizer does next to nothing, so that it shows what lies around the
//! built-in one.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench is a program for its developers"
)]

use std::time::{Duration, Instant};

use tome_contents::{
    ContentsSettings, Evidence, Extractive, RollupInput, SegmentInput, Summarizer, Summary,
    SummaryBullet, SummaryError, Support, catch_up_contents, rebuild_contents,
};
use tome_ledger::{Ledger, NewEvent};
use tome_model::{
    Agent, Clock, Draft, EventId, EventKind, Identity, Millis, NodeId, Role, SessionId, Tool, Zone,
};
use tome_text::estimate_tokens;

const PROJECT: &str = "/home/dev/app";
const START_MS: u64 = 1_767_225_600_000;

struct Still;

impl Clock for Still {
    fn now(&self) -> Millis {
        Millis(START_MS)
    }
}

/// The least that a summarizer can do.
struct Least;

impl Summarizer for Least {
    fn name(&self) -> &'static str {
        "extractive"
    }

    fn summarize_segment(&self, input: &SegmentInput<'_>) -> Result<Summary, SummaryError> {
        let bullets = input.events.iter().enumerate().take(4).map(|(event, one)| {
            let excerpt: String = one.text.chars().take(60).collect();
            let text = excerpt.clone();
            SummaryBullet { text, support: Support::Excerpts(vec![Evidence { event, excerpt }]) }
        });
        let bullets = bullets.collect();
        Ok(Summary {
            title: "a segment".into(),
            bullets,
            keywords: vec!["k".into(); 5],
            work: Vec::new(),
        })
    }

    fn summarize_period(&self, input: &RollupInput<'_>) -> Result<Summary, SummaryError> {
        let bullets = (0..input.children.len().min(5)).map(|child| SummaryBullet {
            text: "a bullet".into(),
            support: Support::Bullets(vec![(child, 0)]),
        });
        let bullets = bullets.collect();
        Ok(Summary {
            title: input.period.into(),
            bullets,
            keywords: vec!["k".into(); 5],
            work: Vec::new(),
        })
    }
}

fn event(n: u64) -> NewEvent {
    let at = Millis(START_MS + n * 60_000);
    let text = format!("Step {n}: look at src/lexer/mod.rs, where the parser of module {n} ends. ");
    let kind = match n % 40 {
        39 => EventKind::SessionEnd,
        k if k % 3 == 0 => EventKind::UserMessage,
        k if k % 3 == 1 => EventKind::AssistantMessage,
        _ => EventKind::ToolResult,
    };
    let tool = (kind == EventKind::ToolResult).then(|| Tool {
        name: "Bash".into(),
        input: serde_json::json!({ "command": format!("cargo test -p crate-{n}") }),
        output: serde_json::json!({ "stdout": "test result: ok. 12 passed; 0 failed\n".repeat(24) }),
    });
    let draft = Draft {
        identity: Identity::Fixed(EventId::parse(&format!("e{n}")).unwrap()),
        at,
        session: SessionId::parse(&format!("session-{}", n / 40)).unwrap(),
        agent: Agent::parse("codex").unwrap(),
        cwd: PROJECT.into(),
        project: None,
        kind,
        role: Role::User,
        text: text.repeat(12),
        tool,
        meta: serde_json::Map::new(),
    };
    NewEvent::encode(draft, PROJECT.into(), at)
}

fn filled(dir: &std::path::Path, events: u64) -> Ledger {
    let ledger = Ledger::open(dir).unwrap();
    for from in (0..events).step_by(1_000) {
        let new = (from..events.min(from + 1_000)).map(event).collect();
        ledger.append(new).unwrap();
    }
    ledger
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}

/// The built-in summarizer, on a new ledger each time. The first time compiles patterns, too.
fn measure_built_in(settings: &ContentsSettings, events: u64, repetitions: usize) {
    let catch_up = |ledger: &Ledger| {
        timed(|| catch_up_contents(ledger, settings, &Extractive, &Still).unwrap()).0
    };
    let mut at_once = Vec::new();
    let mut one_more = Vec::new();
    for _ in 0..repetitions {
        let folder = tempfile::tempdir().unwrap();
        let ledger = filled(folder.path(), events);
        at_once.push(catch_up(&ledger));
        for next in events..events + 40 {
            ledger.append(vec![event(next)]).unwrap();
            one_more.push(catch_up(&ledger));
        }
    }
    let first = at_once[0];
    at_once.sort_unstable();
    one_more.sort_unstable();
    let (took, worst) = (at_once[at_once.len() / 2], one_more[one_more.len() - 1]);
    #[allow(clippy::cast_precision_loss, reason = "a rate to print")]
    let rate = events as f64 / took.as_secs_f64();
    println!(
        "{events:>7} built-in at once   {took:>10.1?}  {rate:>8.0} events/s, first {first:.1?}"
    );
    let median = one_more[one_more.len() / 2];
    println!("{events:>7} built-in, one more {median:>10.1?}  median, {worst:.1?} at worst");
}

fn main() {
    let settings = ContentsSettings::in_zone(Zone::utc());
    for (events, repetitions) in [(240, 9), (10_000, 3)] {
        measure_built_in(&settings, events, repetitions);
    }
    for events in [240, 1_000, 10_000, 100_000] {
        let folder = tempfile::tempdir().unwrap();
        let ledger = filled(folder.path(), events);
        let catch_up = || catch_up_contents(&ledger, &settings, &Least, &Still).unwrap();
        let (took, done) = timed(catch_up);
        let per_s = done.events as f64 / took.as_secs_f64();
        println!(
            "{events:>7} events at once    {took:>10.1?}  {per_s:>8.0} events/s, {} nodes",
            done.nodes
        );
        let mut more = Vec::new();
        for n in events..events + 50 {
            ledger.append(vec![event(n)]).unwrap();
            more.push(timed(catch_up).0);
        }
        more.sort();
        println!(
            "{events:>7} and one more       {:>10.1?}  median, {:.1?} at worst",
            more[25], more[49]
        );
        let (took, _) = timed(|| rebuild_contents(&ledger, &settings, &Least, &Still).unwrap());
        println!("{events:>7} made anew          {took:>10.1?}");
        let year = NodeId::parse("toc:year:2026").unwrap();
        let (took, _) = timed(|| {
            (0..1_000).for_each(|_| {
                ledger.node(PROJECT, &year, None).unwrap().unwrap();
            });
        });
        println!("{events:>7} read a node        {:>10.1?}", took / 1_000);
    }
    let texts = [
        ("prose", "The parser looks at the next token and decides what to do with it. "),
        ("code", "    let mut found: Vec<Segment> = Vec::new(); // 12 of them\n"),
        ("chinese", "我们昨天决定使用事件日志作为唯一的事实来源。"),
    ];
    for (name, text) in texts {
        let text = text.repeat(10_000_000 / text.len());
        let (took, tokens) = timed(|| estimate_tokens(&text));
        let mb_per_s = text.len() as f64 / 1e6 / took.as_secs_f64();
        println!(
            "{name:>7} tokens             {mb_per_s:>7.0} MB/s  {tokens} of {} bytes",
            text.len()
        );
    }
}
