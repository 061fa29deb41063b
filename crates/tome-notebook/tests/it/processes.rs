//! Several processes on one notebook: no write is lost, and a kill leaves the old or the new
//! content.

use std::io::ErrorKind;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use tome_model::{Scope, SystemClock};
use tome_notebook::{Notebook, NotebookError};

use crate::fixture::{Fixture, agent};

const WRITES: usize = 1000;

/// Runs this test binary as another process that does one job.
fn worker(fixture: &Fixture, job: &str) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "processes::child_process_entry", "--ignored", "--nocapture"])
        .env("NOTEBOOK_ROOT", fixture.root())
        .env("NOTEBOOK_JOB", job)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process")
}

/// Does what the error asks for while the other process holds the lock for long: it waits for a disk
/// that others may keep busy.
fn until_unlocked<T>(write: impl Fn() -> Result<T, NotebookError>) -> T {
    loop {
        match write() {
            Err(NotebookError::Io { cause, .. }) if cause.kind() == ErrorKind::WouldBlock => {}
            written => return written.expect("written"),
        }
    }
}

/// Entry point of the worker processes, not a test of its own.
#[test]
#[ignore = "runs in a worker process started by the other tests"]
fn child_process_entry() {
    let (Ok(root), Ok(job)) = (std::env::var("NOTEBOOK_ROOT"), std::env::var("NOTEBOOK_JOB"))
    else {
        return;
    };
    let notebook = Notebook::new(Scope::Project, root, Arc::new(SystemClock));
    let by = agent();
    if let Some(name) = job.strip_prefix("append ") {
        for number in 0..WRITES {
            let entry = format!("- {name} {number}");
            until_unlocked(|| notebook.append_entry(&by, "log.md", &entry, None, None));
            if number % 10 == 0 {
                let note = format!("{name}_{number}.md");
                until_unlocked(|| notebook.write_note(&by, &note, &entry, None, None));
            }
        }
        return;
    }
    for number in 0.. {
        let text = if number % 2 == 0 { "old\n".repeat(20_000) } else { "new\n".repeat(20_000) };
        notebook.write_note(&by, "big.md", &text, None, None).expect("written");
        if number == 0 {
            println!("started");
        }
    }
}

#[test]
fn two_processes_lose_nothing() {
    let fixture = Fixture::new();
    let workers = [worker(&fixture, "append left"), worker(&fixture, "append right")];
    for mut worker in workers {
        assert!(worker.wait().expect("it ends").success());
    }
    let notebook = fixture.open();
    let text = notebook.read_note("log.md").expect("a note").text;
    for name in ["left", "right"] {
        let expected: Vec<String> =
            (0..WRITES).map(|number| format!("- {name} {number}")).collect();
        let found: Vec<&str> =
            text.lines().filter(|line| line.starts_with(&format!("- {name} "))).collect();
        assert_eq!(found, expected);
    }
    assert_eq!(notebook.list_notes().expect("a list").len(), 201);
    assert_eq!(fixture.index(), fixture.rebuilt());
    assert_eq!(notebook.read_history(None).expect("a log").len(), 2 * WRITES + 200);
}

#[test]
#[cfg(unix)]
fn a_kill_leaves_the_old_or_the_new_content() {
    use std::io::BufRead;
    let fixture = Fixture::new();
    for round in 0..12_u64 {
        let mut child = worker(&fixture, "overwrite");
        let lines = std::io::BufReader::new(child.stdout.take().expect("its output")).lines();
        let started = lines.map_while(Result::ok).find(|line| line.ends_with("started"));
        assert!(started.is_some());
        // A different pause in each round, so that the kill hits different moments.
        let (_keep, silence) = std::sync::mpsc::channel::<()>();
        let _ = silence.recv_timeout(std::time::Duration::from_micros(round * 700 % 5000));
        child.kill().expect("killed");
        child.wait().expect("it ends");
        let notebook = fixture.open();
        let text = notebook.read_note("big.md").expect("a note").text;
        assert!(text == "old\n".repeat(20_000) || text == "new\n".repeat(20_000), "{}", text.len());
        assert_eq!(notebook.list_notes().expect("a list").len(), 1);
        assert_eq!(fixture.index(), fixture.rebuilt());
        let left: Vec<_> = std::fs::read_dir(fixture.root()).expect("a folder").flatten().collect();
        let left: Vec<String> =
            left.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        assert!(!left.iter().any(|name| name.ends_with(".tmp")), "{left:?}");
        for version in notebook.read_history(Some("big.md")).expect("a log") {
            notebook.read_version("big.md", &version.version).expect("a version");
        }
    }
}
