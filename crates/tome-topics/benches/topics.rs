//! How long it takes to find the topics of many segments: `cargo bench -p tome-topics`.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench is a program for its developers"
)]

use std::collections::BTreeSet;
use std::hint::black_box;
use std::time::Instant;

use tome_model::{Agent, FileAction, Millis, NodeId, SessionId};
use tome_topics::{FileRecord, GroupIds, SegmentRecord, TopicMap, TurnRecord, quantize};

/// A stream of numbers without a pattern, the same in every run.
fn mix(value: u64) -> u64 {
    let mut x = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

fn unit(value: u64) -> f32 {
    f32::from(u16::try_from(mix(value) >> 48).unwrap_or(0)) / 32_768.0 - 1.0
}

fn segment(number: u64, segments: u64) -> SegmentRecord {
    // About forty segments per piece of work.
    let work = mix(number) % (segments / 40).max(1);
    let vector: Vec<f32> =
        (0..256).map(|i| unit(work * 1_000 + i) + 0.9 * unit(number * 5_000 + i + 77)).collect();
    let at = Millis(1_700_000_000_000 + number * 1_800_000);
    let ulid = format!("{number:026}");
    let file = |name: u64| FileRecord {
        path: format!("src/part{}/file{name}.rs", name % 30),
        action: FileAction::Changed,
        times: 1,
        number,
    };
    SegmentRecord {
        id: NodeId::parse(&format!(
            "toc:segment:2026-{:02}-{:02}:{ulid}",
            number / 28 % 12 + 1,
            number % 28 + 1
        ))
        .unwrap(),
        session: SessionId::parse(&format!("s{}", number / 4)).unwrap(),
        agent: Agent::parse("codex").unwrap(),
        first_at: at,
        last_at: at,
        number,
        title: format!("Change the part{work} of module{}", work % 50),
        branch: None,
        continues: None,
        turns: vec![TurnRecord {
            number,
            at,
            files: (0..4).map(|i| file(work * 6 + mix(number + i * 31) % 8)).collect(),
            ..TurnRecord::default()
        }],
        facts: Vec::new(),
        terms: vec![format!("part{work}"), format!("module{}", work % 50), "shared".to_owned()],
        vector: quantize(&vector),
    }
}

fn main() {
    for segments in [1_000_u64, 5_000, 20_000, 50_000] {
        let records: Vec<SegmentRecord> = (0..segments).map(|n| segment(n, segments)).collect();
        let copy = records.clone();
        let begun = Instant::now();
        let map = TopicMap::build(copy, &GroupIds::default());
        let took = begun.elapsed();
        let status = black_box(map.status());
        let new = vec![segment(segments + 1, segments)];
        let begun = Instant::now();
        black_box(map.join(new, &BTreeSet::new()));
        let joined = begun.elapsed();
        println!(
            "{segments:>6} segments: {:>7.1} ms, one more {:>6.1} ms, {} groups, {} in none",
            took.as_secs_f64() * 1_000.0,
            joined.as_secs_f64() * 1_000.0,
            status.groups,
            status.ungrouped
        );
    }
}
