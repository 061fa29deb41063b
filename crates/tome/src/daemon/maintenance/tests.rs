use super::*;

const MINUTE: Duration = Duration::from_secs(60);

/// Ten minutes idle, everything closed, 90 MB held, ordinary settings.
fn idle_after_an_import() -> Idleness {
    Idleness {
        idle: 10 * MINUTE,
        has_open_stores: false,
        resident_bytes: 90 << 20,
        idle_exit: Some(120 * MINUTE),
        idle_close: 5 * MINUTE,
    }
}

#[test]
fn an_idle_daemon_that_holds_much_memory_stops() {
    assert_eq!(idle_after_an_import().reason_to_stop(), Some("idle: stopping to return memory"));
}

#[test]
fn a_daemon_keeps_running_while_it_is_small_or_used() {
    let small = Idleness { resident_bytes: 20 << 20, ..idle_after_an_import() };
    let open = Idleness { has_open_stores: true, ..idle_after_an_import() };
    let recent = Idleness { idle: MINUTE, ..idle_after_an_import() };
    for idleness in [small, open, recent] {
        assert_eq!(idleness.reason_to_stop(), None);
    }
}

#[test]
fn a_small_daemon_stops_after_its_idle_time() {
    let idleness =
        Idleness { idle: 120 * MINUTE, resident_bytes: 20 << 20, ..idle_after_an_import() };
    assert_eq!(idleness.reason_to_stop(), Some("idle: stopping"));
}

#[test]
fn a_daemon_told_to_keep_running_never_stops_by_itself() {
    let idleness = Idleness { idle: 1_000 * MINUTE, idle_exit: None, ..idle_after_an_import() };
    assert_eq!(idleness.reason_to_stop(), None);
}
