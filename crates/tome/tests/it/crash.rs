//! Short crash test. The long one is `cargo run -p tome-testkit --bin torture`.

use std::time::Duration;

use tome_testkit::{Plan, Siege, Until};

use crate::scene::world;

/// Acknowledged events survive SIGKILL, once and complete; every event a hook accepted is stored or
/// counted.
#[test]
fn acknowledged_events_survive_kill_9() {
    let world = world();
    let plan = Plan {
        seed: 2026,
        writers: 6,
        until: Until::Rounds(3),
        blows_max: 3,
        blow_every_max: Duration::from_millis(400),
    };
    let report = Siege::new(&world, plan).run(|_| {});
    println!("{report}");
    assert!(report.kills > 0 && report.acknowledged > 0, "{report}");
    assert_eq!((report.lost, report.duplicates, report.torn), (0, 0, 0), "{report}");
    assert_eq!(report.violations, Vec::new(), "{report}");
}
