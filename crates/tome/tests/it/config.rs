//! Settings: sources and precedence, and invalid values.

use serde_json::{Value, json};
use tome_testkit::{CommandResult, World};

use crate::support::{daemon_up, prompt, texts, world};

fn config(world: &World, variables: &[(&str, &str)], flags: &[&str]) -> CommandResult {
    let mut command = world.command(&[flags, &["config", "--json"]].concat());
    command.env_remove("TOME_DAEMON_IDLE_EXIT");
    World::run(command.envs(variables.iter().copied()), b"")
}

fn setting(ran: &CommandResult, key: &str) -> (String, String) {
    let settings = ran.json()["settings"].clone();
    let found = settings.as_array().unwrap().iter().find(|one| one["key"] == key).cloned();
    let found = found.unwrap_or_else(|| panic!("no {key} in {settings}"));
    let part = |name: &str| found[name].as_str().unwrap().to_owned();
    (part("value"), part("from"))
}

#[cfg(not(feature = "rocksdb"))]
#[test]
fn an_engine_missing_from_the_build_is_reported() {
    let world = world();
    let ran = world.tome(&["--set", "store.engine=rocksdb", "events"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("build with --features rocksdb"), "{}", ran.stderr);
}

#[test]
fn flags_override_variables_override_the_file_override_defaults() {
    let world = world();
    let key = "daemon.idle_exit";
    let is = |ran: &CommandResult, value: &str, from: &str| {
        assert_eq!(setting(ran, key), (value.to_owned(), from.to_owned()));
        assert_eq!(ran.code, 0);
    };
    is(&config(&world, &[], &[]), "30m", "default");
    std::fs::write(world.config_file(), "[daemon]\nidle_exit = \"1h\"\n").unwrap();
    let file = world.config_file();
    is(&config(&world, &[], &[]), "1h", file.to_str().unwrap());
    let variable = [("TOME_DAEMON_IDLE_EXIT", "2h")];
    is(&config(&world, &variable, &[]), "2h", "$TOME_DAEMON_IDLE_EXIT");
    let flag = ["--set", "daemon.idle_exit=3h"];
    is(&config(&world, &variable, &flag), "3h", "flag");
    let twice = ["--set", "daemon.idle_exit=3h", "--set", "daemon.idle_exit=never"];
    is(&config(&world, &variable, &twice), "never", "flag");
}

#[test]
fn the_home_follows_the_same_precedence() {
    let world = world();
    let home = |command: &mut std::process::Command| {
        let config = World::run(command, b"").json();
        (
            config["home"].as_str().unwrap().to_owned(),
            config["home_from"].as_str().unwrap().to_owned(),
        )
    };
    let person = world.folder("person");
    let mut plain = world.command(&["config", "--json"]);
    let expected = person.join(".local/share/tome").display().to_string();
    assert_eq!(home(plain.env_remove("TOME_HOME")), (expected, "default".into()));
    let mut xdg = world.command(&["config", "--json"]);
    let expected = person.join("data/tome").display().to_string();
    xdg.env_remove("TOME_HOME").env("XDG_DATA_HOME", person.join("data"));
    assert_eq!(home(&mut xdg), (expected, "default".into()));
    let expected = world.home().display().to_string();
    assert_eq!(home(&mut world.command(&["config", "--json"])), (expected, "$TOME_HOME".into()));
    let flagged = home(&mut world.command(&["--home", "/far/away", "config", "--json"]));
    assert_eq!(flagged, ("/far/away".into(), "flag".into()));
}

#[test]
fn the_default_config_file_is_read() {
    let world = world();
    let file = world.write("person/.config/tome/config.toml", "[store]\nmode = \"unified\"\n");
    let ran = world.tome(&["config", "--json"]);
    assert_eq!(setting(&ran, "store.mode"), ("unified".into(), file.display().to_string()));
    let mut xdg = world.command(&["config", "--json"]);
    let other = world.write("xdg/tome/config.toml", "[store]\nidle_close = \"9m\"\n");
    let ran = World::run(xdg.env("XDG_CONFIG_HOME", world.folder("xdg")), b"");
    assert_eq!(setting(&ran, "store.idle_close"), ("9m".into(), other.display().to_string()));
    assert_eq!(setting(&ran, "store.mode").1, "default");
}

/// Checks for exit code 2 and the location of the mistake, from every command that needs settings.
fn check_refused(world: &World, variables: &[(&str, &str)], flags: &[&str], named: &[&str]) {
    for args in [&["events"][..], &["start"], &["status"], &[]] {
        let mut command = world.command(&[flags, args].concat());
        let ran = World::run(command.envs(variables.iter().copied()), b"");
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "tome {args:?}: {}", ran.stderr);
        for part in named {
            assert!(ran.stderr.contains(part), "{part} in {}", ran.stderr);
        }
    }
    let shown = config(world, variables, flags);
    assert_eq!(shown.code, 2);
    assert_ne!(shown.json()["problems"], json!([]));
    let mut doctor = world.command(&[flags, &["doctor", "--json"]].concat());
    let doctor = World::run(doctor.envs(variables.iter().copied()), b"");
    assert_eq!((doctor.code, &doctor.json()["ok"]), (1, &Value::Bool(false)));
}

#[test]
fn a_bad_value_is_reported_with_its_source() {
    let world = world();
    check_refused(
        &world,
        &[("TOME_STORE_MODE", "scattered")],
        &[],
        &["store.mode", "TOME_STORE_MODE", "unified"],
    );
    check_refused(&world, &[], &["--set", "daemon.tcp=far away"], &["daemon.tcp", "flag"]);
    check_refused(&world, &[], &["--set", "no.such=1"], &["no.such"]);
    check_refused(&world, &[], &["--set", "nonsense"], &["nonsense"]);
    check_refused(&world, &[], &["--set", "embed.model"], &["--set embed.model=VALUE"]);
    let file = world.config_file();
    let file = file.to_str().unwrap();
    for (text, named) in [
        ("[capture]\ntext_max_bytes = 12\n", "capture.text_max_bytes"),
        ("[daemon]\nidle_exit = \"soon\"\n", "daemon.idle_exit"),
        ("[daemon]\nidel_exit = \"1h\"\n", "daemon.idel_exit"),
        ("[demon]\nidle_exit = \"1h\"\n", "demon.idle_exit"),
        ("loose = 1\n", "loose"),
        ("this is not toml\n", "config.toml"),
        ("[store]\nmode = [\"unified\"]\n", "store.mode"),
    ] {
        std::fs::write(world.config_file(), text).unwrap();
        check_refused(&world, &[], &[], &[named, file]);
    }
}

#[test]
fn an_explicit_config_file_must_exist() {
    let world = world();
    check_refused(&world, &[("TOME_CONFIG", "/no/such/file.toml")], &[], &["/no/such/file.toml"]);
    check_refused(&world, &[], &["--config", "/no/such/file.toml"], &["/no/such/file.toml"]);
}

/// A hook records even with a broken configuration.
#[test]
fn a_hook_records_despite_a_broken_configuration() {
    let world = world();
    let broken = [
        "this is not toml",
        "[store]\nmode = \"x\"\n",
        "[capture]\nredact = [{name=\"\", pattern=\"(\"}]\n",
    ];
    for (n, text) in broken.iter().enumerate() {
        std::fs::write(world.config_file(), text).unwrap();
        world.hook(&["claude-code"], prompt(&format!("number {n}")));
    }
    std::fs::remove_file(world.config_file()).unwrap();
    world.tome(&["start"]);
    daemon_up(&world);
    assert_eq!(texts(&world.events()), ["number 0", "number 1", "number 2"]);
}

#[test]
fn a_daemon_started_by_a_client_has_its_settings() {
    let world = world();
    let ran = world.tome(&["--set", "store.mode=unified", "start"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(crate::support::status(&world)["daemon"]["store_mode"], "unified");
}

#[test]
fn settings_that_differ_are_shown_and_all_on_request() {
    let world = world();
    for columns in ["60", "80", "100", "160"] {
        let run = |args: &[&str]| World::run(world.command(args).env("COLUMNS", columns), b"");
        let some = run(&["config", "--set", "inject.hints=off"]);
        assert_eq!((some.code, some.stderr.as_str()), (0, ""));
        for part in ["inject.hints = off", "default: on", "daemon.idle_exit = 2m", "--all"] {
            assert!(some.stdout.contains(part), "{part} in {}", some.stdout);
        }
        assert!(!some.stdout.contains("store.mode"), "{}", some.stdout);
        let all = run(&["config", "--all"]);
        assert!(all.stdout.contains("store.mode = per-project"), "{}", all.stdout);
        for line in some.stdout.lines().chain(all.stdout.lines()) {
            let is_path = line.contains('/');
            assert!(is_path || line.chars().count() <= columns.parse().unwrap(), "{line}");
        }
        assert!(!all.stdout.contains('\u{1b}'), "no colours into a pipe");
    }
}
