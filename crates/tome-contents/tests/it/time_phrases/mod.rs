//! Time phrases in several zones.

mod phrases;
mod questions;

use proptest::prelude::*;
use tome_model::{Millis, Zone};

const ZONES: &[&str] = &[
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "America/St_Johns",
    "America/Sao_Paulo",
    "America/Havana",
    "America/Goose_Bay",
    "Asia/Kathmandu",
    "Asia/Beirut",
    "Asia/Gaza",
    "Africa/Casablanca",
    "Africa/Monrovia",
    "Antarctica/Troll",
    "Antarctica/Casey",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Pacific/Kwajalein",
    "Pacific/Kiritimati",
    "Pacific/Chatham",
    "-11:00",
    "+14:00",
];

fn zone(name: &str) -> Zone {
    Zone::parse(name).unwrap()
}

fn at(text: &str) -> Millis {
    Millis::parse("at", text).unwrap()
}

fn any_zone() -> impl Strategy<Value = Zone> {
    proptest::sample::select(ZONES).prop_map(zone)
}

/// Any valid moment, mostly in recent decades.
fn any_moment() -> impl Strategy<Value = Millis> {
    prop_oneof![
        6 => 0u64..2_000_000_000_000,
        2 => 0u64..=253_402_207_200_000,
        1 => Just(0u64),
        1 => Just(253_402_207_200_000),
    ]
    .prop_map(Millis)
}
