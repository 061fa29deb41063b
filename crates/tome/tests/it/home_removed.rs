//! A daemon whose home was removed or replaced exits and does not touch the replacement.

use tome_testkit::{eventually, is_alive};

use crate::support::{daemon_up, line, texts, world};

#[test]
fn a_daemon_exits_when_its_home_is_removed() {
    let world = world();
    world.ingest(&line("a", 1_000, "before"));
    let pid = daemon_up(&world);
    // The daemon may be creating files meanwhile.
    eventually("the home to be removed", || {
        let _ = std::fs::remove_dir_all(world.home());
        (!world.home().exists()).then_some(())
    });
    eventually("the daemon to leave", || (!is_alive(pid)).then_some(()));
    world.ingest(&line("b", 2_000, "after"));
    assert_eq!(texts(&world.events()), ["after"]);
}

#[test]
fn a_daemon_does_not_touch_a_replaced_home() {
    let world = world();
    world.ingest(&line("a", 1_000, "old"));
    let old = daemon_up(&world);
    std::fs::rename(world.home(), world.path().join("moved-away")).unwrap();
    world.ingest(&line("b", 2_000, "new"));
    let new = daemon_up(&world);
    assert_ne!(old, new);
    eventually("the old daemon to leave", || (!is_alive(old)).then_some(()));
    assert!(is_alive(new));
    assert!(world.socket().exists(), "the new daemon's socket is its own");
    assert_eq!(texts(&world.events()), ["new"]);
}

#[test]
fn a_daemon_without_its_socket_is_replaced() {
    let world = world();
    world.ingest(&line("a", 1_000, "kept"));
    let old = daemon_up(&world);
    std::fs::remove_file(world.socket()).unwrap();
    eventually("the daemon to leave", || (!is_alive(old)).then_some(()));
    assert_eq!(texts(&world.events()), ["kept"]);
}
