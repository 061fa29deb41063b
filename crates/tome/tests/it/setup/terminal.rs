//! `tome setup` on a terminal: its questions and the effect of the answers. Skipped with a notice
//! if there is no Python to create a terminal.

use std::process::Command;

use tome_testkit::{CommandResult, World};

use super::{one, read, tree};

/// Runs a program on a pseudo-terminal; answers each question with the next line.
const TERMINAL: &str = r#"
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
answers, said, asked = sys.argv[1].split(","), b"", 0
while True:
    try:
        part = os.read(terminal, 65536)
    except OSError:
        break
    if not part:
        break
    said += part
    while asked < min(len(answers), said.count(b"[y/N] ")):
        os.write(terminal, answers[asked].encode() + b"\n")
        asked += 1
sys.stdout.buffer.write(said)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"#;

fn has_python() -> bool {
    let found = Command::new("python3").args(["-c", "import pty; pty.fork"]).output();
    let found = found.is_ok_and(|found| found.status.success());
    if !found {
        eprintln!("skipped: there is no python3 to make a terminal with");
    }
    found
}

/// Runs `tome` with these arguments and answers on a terminal.
fn on_a_terminal(world: &World, args: &[&str], answers: &str) -> CommandResult {
    let own = world.command(args);
    let mut command = Command::new("python3");
    command.args(["-c", TERMINAL, answers]).arg(own.get_program()).args(own.get_args());
    if let Some(folder) = own.get_current_dir() {
        command.current_dir(folder);
    }
    for (name, value) in own.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    World::run(&mut command, b"")
}

#[test]
fn the_answer_no_changes_nothing() {
    if !has_python() {
        return;
    }
    let world = one("codex");
    let before = tree(&world.folder("person"));
    for answer in ["n", "", "what?"] {
        let ran = on_a_terminal(&world, &["setup", "--agent", "codex"], answer);
        assert!(ran.stdout.contains("Apply these changes?"), "{ran:?}");
        assert!(ran.stdout.contains("Nothing was changed."), "{ran:?}");
        assert_eq!(ran.code, 0, "declining is no error: {ran:?}");
        assert_eq!(tree(&world.folder("person")), before);
    }
}

#[test]
fn the_answer_yes_installs_and_offers_an_import() {
    if !has_python() {
        return;
    }
    let world = one("codex");
    crate::import::settle(&world, crate::support::MORNING_MS);
    let ran = on_a_terminal(&world, &["setup", "--agent", "codex"], "y,n");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(read(&world, ".codex/hooks.json").contains("hook codex"));
    assert!(ran.stdout.contains("Import earlier sessions"), "{ran:?}");
    assert!(ran.stdout.contains("type /hooks and trust Tome's"), "{ran:?}");
    assert_eq!(world.events().len(), 0, "no is no");
    // Everything is installed: only the import is offered, into the given home.
    let other = world.path().join("another home");
    let other = other.to_str().unwrap();
    let ran = on_a_terminal(&world, &["--home", other, "setup", "--agent", "codex"], "y,y");
    assert_eq!(ran.code, 0, "{ran:?}");
    let events = world.tome(&["--home", other, "events", "--all-projects", "--json"]);
    assert!(!events.json_lines().is_empty(), "{ran:?}");
    assert_eq!(world.events().len(), 0, "not into the usual home");
    assert_eq!(world.tome(&["--home", other, "stop"]).code, 0);
    // Undo asks as well.
    let ran = on_a_terminal(&world, &["--home", other, "setup", "--undo"], "y");
    assert_eq!(ran.code, 0, "{ran:?}");
}
