//! `tome events`: selection and order.

use serde_json::{Value, json};
use tome_testkit::World;

use crate::support::{ids, line, line_with, list, strings, world};

/// Events `e1` to `e5`, a second apart, stored out of order.
fn five(world: &World) {
    let lines: String =
        [3, 1, 5, 2, 4].map(|n| line(&format!("e{n}"), n * 1_000, &format!("text {n}"))).concat();
    world.ingest(&lines);
}

fn check(world: &World, args: &[&str], expected: &[&str]) {
    assert_eq!(ids(&list(world, args)), expected, "tome events {args:?}");
}

#[test]
fn a_range_includes_its_start_and_excludes_its_end() {
    let world = world();
    five(&world);
    check(&world, &["--since", "1970-01-01T00:00:02Z"], &["e2", "e3", "e4", "e5"]);
    check(&world, &["--until", "1970-01-01T00:00:02Z"], &["e1"]);
    check(
        &world,
        &["--since", "1970-01-01T00:00:02Z", "--until", "1970-01-01T00:00:04Z"],
        &["e2", "e3"],
    );
    check(&world, &["--since", "1970-01-01T00:00:04Z"], &["e4", "e5"]);
    check(&world, &["--until", "1970-01-02"], &["e1", "e2", "e3", "e4", "e5"]);
    check(&world, &["--since", "1h"], &[]);
    check(&world, &["--since", "yesterday"], &[]);
    check(&world, &["--until", "yesterday"], &["e1", "e2", "e3", "e4", "e5"]);
    // Days begin in the configured zone: in Auckland the second day began at noon UTC.
    world.ingest(&line("e6", 43_200_000, "noon"));
    let zone = ["--set", "contents.zone=Pacific/Auckland", "--since", "1970-01-02"];
    check(&world, &zone, &["e6"]);
    check(&world, &["--since", "1970-01-01T00:00:02Z", "--until", "1970-01-01T00:00:02Z"], &[]);
    check(&world, &["--since", "1970-01-01T00:00:04Z", "--until", "1970-01-01T00:00:02Z"], &[]);
    check(
        &world,
        &["--since", "1970-01-01T00:00:04Z", "--until", "1970-01-01T00:00:02Z", "--limit", "0"],
        &[],
    );
    check(
        &world,
        &["--session", "s1", "--since", "1970-01-01T00:00:04Z", "--until", "1970-01-01T00:00:02Z"],
        &[],
    );
    let wrong = world.tome(&["events", "--since", "soon"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("--since") && wrong.stderr.contains("2026-11-15"));
}

#[test]
fn a_limit_returns_the_latest() {
    let world = world();
    five(&world);
    check(&world, &["--limit", "2"], &["e4", "e5"]);
    check(&world, &["-n", "2", "--newest-first"], &["e5", "e4"]);
    check(&world, &["--limit", "0", "--newest-first"], &["e5", "e4", "e3", "e2", "e1"]);
    check(&world, &["--limit", "4294967295"], &["e1", "e2", "e3", "e4", "e5"]);
    check(&world, &["--limit", "1", "--until", "1970-01-01T00:00:03Z"], &["e2"]);
}

#[test]
fn what_a_limit_leaves_out_is_counted() {
    let world = world();
    five(&world);
    let some = world.tome(&["events", "-n", "2"]);
    assert!(some.stderr.starts_with("showing the latest 2, 3 more; "), "{}", some.stderr);
    let all = world.tome(&["events", "-n", "5"]);
    assert_eq!(all.stderr, "");
}

#[test]
fn events_are_filtered_by_session_agent_and_kind() {
    let world = world();
    let one = |id: &str, at: u64, session: &str, agent: &str, kind: &str| {
        line_with(&json!({"id": id, "at": at, "session_id": session, "agent": agent, "kind": kind}))
    };
    world.ingest(
        &[
            one("a", 1, "s1", "codex", "user_message"),
            one("b", 2, "s1", "codex", "assistant_stop"),
            one("c", 3, "s2", "gemini", "user_message"),
            one("d", 4, "s2", "gemini", "compaction"),
            one("e", 5, "s", "claude-code", "user_message"),
        ]
        .concat(),
    );
    check(&world, &["--session", "s1"], &["a", "b"]);
    check(&world, &["--session", "s"], &["e"]);
    let unknown = world.tome(&["events", "--session", "none such"]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (4, ""), "{}", unknown.stderr);
    check(&world, &["--agent", "gemini"], &["c", "d"]);
    check(&world, &["--agent", "claude"], &["e"]);
    check(&world, &["--agent", "gemini", "--agent", "codex"], &["a", "b", "c", "d"]);
    check(&world, &["--kind", "user_message"], &["a", "c", "e"]);
    check(&world, &["--kind", "compaction", "--kind", "assistant_stop"], &["b", "d"]);
    check(&world, &["--kind", "user_message", "--agent", "codex"], &["a"]);
    check(&world, &["--session", "s1", "--newest-first"], &["b", "a"]);
    check(&world, &["--kind", "user_message", "--limit", "2"], &["c", "e"]);
    for (args, named) in [(["--kind", "shout"], "kind"), (["--agent", "NO"], "agent")] {
        let wrong = world.tome(&[&["events"], &args[..]].concat());
        assert_eq!(wrong.code, 2, "{args:?}");
        assert!(wrong.stderr.contains(named), "{}", wrong.stderr);
    }
}

/// More than a page, in number and in bytes, from two projects with interleaved times.
#[test]
fn many_pages_return_everything() {
    const COUNT: u64 = 2_400;
    let world = world();
    let mut lines = String::new();
    for n in 0..COUNT {
        let cwd = if n % 3 == 0 { "/one" } else { "/two" };
        let text = if n % 10 == 0 { "x".repeat(18_000) } else { n.to_string() };
        lines += &line_with(&json!({
            "id": format!("n{n:05}"), "at": 1_000 + n, "cwd": cwd, "session_id": cwd, "text": text,
        }));
    }
    assert!(lines.len() > 4 * 1024 * 1024);
    world.ingest(&lines);
    let expected: Vec<String> = (0..COUNT).map(|n| format!("n{n:05}")).collect();
    let all = list(&world, &["--limit", "0"]);
    assert_eq!(ids(&all), expected);
    assert_eq!(all[10]["text"].as_str().unwrap().len(), 18_000);
    let mut backwards = list(&world, &["--limit", "0", "--newest-first"]);
    backwards.reverse();
    assert!(backwards == all, "the same events backwards");
    assert_eq!(list(&world, &["--limit", "0", "--session", "/one"]).len(), 800);
    assert_eq!(ids(&list(&world, &["--limit", "1500"])), expected[900..]);
}

#[test]
fn the_default_is_the_current_project() {
    let world = world();
    let (one, two) = (world.folder("one"), world.folder("two"));
    let (src, dot_git) = (world.folder("one/src"), world.folder("one/.git"));
    std::fs::write(dot_git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let at = |id: &str, at: u64, cwd: &std::path::Path| {
        line_with(&json!({"id": id, "at": at, "cwd": cwd}))
    };
    world
        .ingest(&[at("a", 1, &one), at("b", 2, &two), at("c", 3, &src), at("d", 4, &two)].concat());
    let standing = |folder: &std::path::Path, args: &[&str]| -> Vec<Value> {
        let mut command = world.command(&[&["events", "--json"], args].concat());
        World::run(command.current_dir(folder), b"").json_lines()
    };
    assert_eq!(ids(&standing(&one, &[])), ["a", "c"]);
    assert_eq!(ids(&standing(&src, &[])), ["a", "c"]);
    assert_eq!(ids(&standing(&two, &[])), ["b", "d"]);
    assert_eq!(ids(&standing(&one, &["--all-projects"])), ["a", "b", "c", "d"]);
    assert_eq!(ids(&standing(&one, &["--project", "../two"])), ["b", "d"]);
    assert_eq!(ids(&standing(&two, &["--project", src.to_str().unwrap()])), ["a", "c"]);
    // Outside known projects everything is shown, by time.
    assert_eq!(ids(&standing(&world.folder("elsewhere"), &[])), ["a", "b", "c", "d"]);
    assert_eq!(world.tome(&["events", "--project", "/none/such"]).code, 4);
    assert_eq!(world.tome(&["events", "--project", "x", "--all-projects"]).code, 2);
    let roots = standing(&one, &["--all-projects"]);
    let (one, two) = (one.to_str().unwrap(), two.to_str().unwrap());
    assert_eq!(strings(&roots, "project"), [one, two, one, two]);
}

#[test]
fn an_empty_result_is_reported_on_stderr() {
    let world = world();
    let ran = world.tome(&["events"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.contains("nothing recorded yet"), "{}", ran.stderr);
    let json = world.tome(&["events", "--json"]);
    assert_eq!(json, tome_testkit::CommandResult::silent());
}

#[test]
fn one_line_per_event_is_printed() {
    let world = world();
    world.ingest(&line("abcdefghijkl", 1_794_735_000_000, "two\nlines \u{1b}[31mred"));
    let ran = world.tome(&["events"]);
    // Of another year, the line has no minute.
    assert!(ran.stdout.starts_with("#1      Nov 15, "), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("  user         two lines \u{fffd}[31mred\n"), "{}", ran.stdout);
}
