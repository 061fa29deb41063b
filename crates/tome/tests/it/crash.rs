//! The short crash test. The long one is `cargo run -p tome-testkit --bin torture`.

use std::time::Duration;

use tome_testkit::{Plan, Siege, Until};

use crate::scene::world;

/// What is acknowledged survives SIGKILL, once and whole; what a hook took is stored or counted.
#[test]
fn what_is_acknowledged_survives_kill_9() {
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
