//! Made-up segments.

use tome_model::{Agent, CommandOutcome, FactKind, FileAction, Millis, NodeId, SessionId};
use tome_topics::{
    CommandRecord, FactRecord, FileRecord, GroupIds, SegmentRecord, TopicMap, TurnRecord, quantize,
};

pub const DAY_MS: u64 = 24 * 3_600_000;
pub const START_MS: u64 = 1_772_000_000_000;
/// Crockford's letters, for the ULID in a segment's id.
const ULID: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

pub fn segment_id(day: usize, number: usize) -> NodeId {
    let mut tail: Vec<char> = vec!['0'; 26];
    let mut rest = number;
    for slot in tail.iter_mut().rev() {
        *slot = char::from(ULID[rest % 32]);
        rest /= 32;
    }
    let tail: String = tail.into_iter().collect();
    NodeId::parse(&format!("toc:segment:2026-03-{:02}:{tail}", day % 28 + 1)).unwrap()
}

/// A segment of one of several pieces of work, each with files, a branch and words of its own.
pub fn segment(number: usize, work: usize) -> SegmentRecord {
    let at = Millis(START_MS + number as u64 * DAY_MS / 4);
    let file = |path: String, action| FileRecord { path, action, times: 2, number: 1 };
    let mut vector = vec![0.05_f32; 32];
    vector[work % 32] = 1.0;
    vector[(work * 7 + 3) % 32] = 0.6;
    vector[number % 32] += 0.1;
    SegmentRecord {
        id: segment_id(number / 4, number),
        session: SessionId::parse(&format!("s{}", number / 2)).unwrap(),
        agent: Agent::parse(["codex", "claude-code"][number % 2]).unwrap(),
        first_at: at,
        last_at: Millis(at.0 + 60_000),
        number: number as u64 * 10 + 1,
        title: format!("Work on the widget{work} parser"),
        branch: (work.is_multiple_of(3)).then(|| format!("feature/{work}")),
        continues: None,
        turns: vec![TurnRecord {
            number: number as u64 * 10 + 1,
            at,
            why: Some(format!("Make widget{work} faster")),
            files: vec![
                file(format!("src/widget{work}.rs"), FileAction::Changed),
                file("Cargo.toml".to_owned(), FileAction::Changed),
            ],
            commands: vec![CommandRecord {
                name: "cargo test".to_owned(),
                outcome: CommandOutcome::Passed,
                number: number as u64 * 10 + 5,
                at,
            }],
            ..TurnRecord::default()
        }],
        facts: vec![FactRecord {
            kind: FactKind::Decision,
            text: format!("Use a table in widget{work}.rs because it is faster"),
            weight: 5,
            number: number as u64 * 10 + 3,
            at,
            turn: 0,
        }],
        terms: vec![format!("widget{work}.rs"), format!("parse_widget{work}"), "parser".to_owned()],
        vector: quantize(&vector),
    }
}

pub fn build(segments: &[SegmentRecord]) -> TopicMap {
    TopicMap::build(segments.to_vec(), &GroupIds::default())
}

pub fn memberships(map: &TopicMap) -> Vec<Vec<String>> {
    let members = map.group_ids().groups.values();
    let mut groups: Vec<Vec<String>> =
        members.map(|segments| segments.iter().cloned().collect()).collect();
    groups.sort();
    groups
}
