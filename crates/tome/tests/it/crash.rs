//! Short crash test. The long one is `cargo run -p tome-testkit --bin torture`.

use std::time::Duration;

use tome_testkit::{CrashTest, CrashTestPlan, StopCondition};

use crate::support::world;

/// Acknowledged events survive SIGKILL, once and complete; every event a hook accepted is stored or
/// counted.
#[test]
fn acknowledged_events_survive_kill_9() {
    let world = world();
    let plan = CrashTestPlan {
        seed: 2026,
        writers: 6,
        until: StopCondition::Rounds(3),
        kills_max: 3,
        kill_pause_max: Duration::from_millis(400),
    };
    let report = CrashTest::new(&world, plan).run(|_| {});
    println!("{report}");
    assert!(report.kills > 0 && report.acknowledged > 0, "{report}");
    assert_eq!((report.lost, report.duplicates, report.torn), (0, 0, 0), "{report}");
    assert_eq!(report.violations, Vec::new(), "{report}");
}
