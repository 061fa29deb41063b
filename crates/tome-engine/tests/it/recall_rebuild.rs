//! Results do not depend on how an index came to be: one that grew through commits, edits,
//! deletions and late events and one built from scratch give identical results.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tome_recall::{RecallAnswer, RecallQuery, Tier};

use crate::engine_fixture::{EngineFixture, MINUTE_MS, MORNING_MS};

/// Every query runs in each tier.
const TIERS: [Tier; 4] = [Tier::Literal, Tier::Bm25, Tier::Vectors, Tier::Fused];

const QUESTIONS: [&str; 10] = [
    "the cache is cold",
    "check_retry_7 in src/ledger.rs",
    "which build waits for the socket",
    "herons nest in March",
    "缓存的过期时间是多少",
    "error E0502",
    "who wrote the long report about snapshots",
    "the same words again and again",
    "overview of what is pending",
    "deploy in the evening",
];

/// Number of small commits.
const ROUNDS: u64 = 5;

fn event(round: u64, n: u64) -> Value {
    let words = ["cache", "socket", "retry", "ledger", "snapshot", "deploy", "index"];
    let word = |by: u64| words[usize::try_from((round * 5 + n) * by % 7).unwrap()];
    let text = match n {
        0 => "The same words again and again.".to_owned(),
        1 => format!("缓存的过期时间改成了{round}分钟。"),
        2 => format!("error[E050{round}]: cannot borrow `{}` as mutable", word(3)),
        3 => format!("A long report about the {}. ", word(2)).repeat(180),
        _ => format!(
            "Build {round} waits for the {}: check_{}_{n} in src/{}.rs.",
            word(1),
            word(2),
            word(3)
        ),
    };
    // Later rounds contain earlier events, so that segments are cut again.
    let at = MORNING_MS + if n % 4 == 3 { 40 - round } else { round * 50 + n } * MINUTE_MS;
    let mut event = json!({
        "id": format!("r{round}-{n}"), "at": at, "session_id": format!("s{}", n % 3),
        "kind": if n.is_multiple_of(2) { "user_message" } else { "assistant_message" }, "text": text,
    });
    if n == 5 {
        event["kind"] = json!("tool_result");
        event["tool"] = json!({"name": "Bash", "input": {"command": "cargo test"}, "output": text});
        event["text"] = json!("");
    }
    event
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Changes notes by hand, as an editor or a checkout does.
fn edit_notes(fixture: &EngineFixture, round: u64) {
    let notes = fixture.project().join("memory/facts");
    write(
        &notes.join("birds.md"),
        &format!("# Birds\n\nThe herons nest in March, seen {round} times.\n"),
    );
    write(
        &notes.join(format!("round-{round}.md")),
        "# Round\n\nThe cache is cold in the morning.\n",
    );
    if round > 0 {
        fs::remove_file(notes.join(format!("round-{}.md", round - 1))).unwrap();
    }
    // Same content, new modification time.
    let same = notes.join("same.md");
    write(&same, "# Same\n\nThe same words again, in a note.\n");
    let touched = SystemTime::UNIX_EPOCH + Duration::from_millis(MORNING_MS + round * 1_000);
    fs::File::options().write(true).open(&same).unwrap().set_modified(touched).unwrap();
    let detail = fixture.project().join("sessions/s1/working-memory/detail");
    write(&detail.join("plan.md"), &format!("# Plan\n\nDeploy number {round} in the evening.\n"));
}

/// The answers of every tier, without their stages, which count what was read.
fn answers(fixture: &EngineFixture) -> Vec<RecallAnswer> {
    let ask = |(question, tier)| {
        let answer = fixture.search(&RecallQuery { tier: Some(tier), ..fixture.query(question) });
        RecallAnswer { stages: Vec::new(), ..answer }
    };
    let queries = QUESTIONS.into_iter().flat_map(|question| TIERS.map(|tier| (question, tier)));
    queries.map(ask).collect()
}

#[test]
fn a_grown_index_and_a_rebuilt_one_give_the_same_results() {
    let fixture = EngineFixture::new();
    let any = fixture.query("the cache");
    for round in 0..ROUNDS {
        fixture.ingest((0..9).map(|n| event(round, n)));
        edit_notes(&fixture, round);
        fixture.search_indexed(&any);
    }
    let grown = answers(&fixture);
    let found = grown.iter().filter(|answer| !answer.hits.is_empty()).count();
    assert!(found > grown.len() / 2, "{found} of {} questions find something", grown.len());
    fs::remove_dir_all(fixture.project().join("finder")).unwrap();
    fixture.search_indexed(&any);
    for (grown, rebuilt) in grown.iter().zip(answers(&fixture)) {
        assert_eq!(*grown, rebuilt, "rebuilt while the home is open");
    }
    let fixture = fixture.reopen(|fixture| {
        fs::remove_dir_all(fixture.project().join("finder")).unwrap();
    });
    fixture.search_indexed(&any);
    for (grown, rebuilt) in grown.iter().zip(answers(&fixture)) {
        assert_eq!(*grown, rebuilt, "rebuilt after the home was opened again");
    }
}
