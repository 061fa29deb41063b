use super::*;

const MINUTE: Duration = Duration::from_mins(1);

/// Ten minutes idle, everything closed, 45 MB held.
fn idle_after_an_import() -> Idleness {
    Idleness {
        idle: 10 * MINUTE,
        quiet: 10 * MINUTE,
        has_open_stores: false,
        resident_bytes: 45 << 20,
        can_restart: true,
        idle_exit: Some(30 * MINUTE),
        idle_close: 5 * MINUTE,
    }
}

#[test]
fn an_idle_daemon_that_holds_much_memory_stops() {
    assert_eq!(idle_after_an_import().reason_to_stop(), Some("idle: stopping to return memory"));
}

#[test]
fn a_daemon_keeps_running_while_it_is_small_used_or_cannot_come_back() {
    let small = Idleness { resident_bytes: 20 << 20, ..idle_after_an_import() };
    let open = Idleness { has_open_stores: true, ..idle_after_an_import() };
    let recent = Idleness { idle: MINUTE, ..idle_after_an_import() };
    let working = Idleness { quiet: MINUTE, ..idle_after_an_import() };
    let alone = Idleness { can_restart: false, ..idle_after_an_import() };
    let brief = Duration::from_secs(5);
    let between_hooks = Idleness { idle: 2 * brief, idle_close: brief, ..idle_after_an_import() };
    for idleness in [small, open, recent, working, alone, between_hooks] {
        assert_eq!(idleness.reason_to_stop(), None);
    }
}

#[test]
fn a_small_daemon_stops_after_its_idle_time() {
    let idleness =
        Idleness { idle: 30 * MINUTE, resident_bytes: 20 << 20, ..idle_after_an_import() };
    assert_eq!(idleness.reason_to_stop(), Some("idle: stopping"));
}

#[test]
fn a_daemon_told_to_keep_running_never_stops_by_itself() {
    let idleness = Idleness { idle: 1_000 * MINUTE, idle_exit: None, ..idle_after_an_import() };
    assert_eq!(idleness.reason_to_stop(), None);
}

#[test]
fn processor_time_ends_a_quiet_period() {
    let mut quiet = QuietPeriod::new();
    let start = quiet.since;
    let idle = quiet.processor;
    quiet.observe(idle);
    assert_eq!(quiet.since, start);
    quiet.observe(idle + 60 * MINUTE);
    assert!(quiet.since > start);
}
