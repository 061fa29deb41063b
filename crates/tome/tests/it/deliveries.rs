//! Every delivery is stored, spooled, or recorded as lost, whatever happens to hook, daemon, spool
//! lock and disk.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};
use tome_testkit::{
    CommandResult, Signal, World, eventually, eventually_within, pause, send_signal,
};

use crate::support::{daemon_up, line, prompt, status, texts, world};

/// Longer than any hook waits.
const SUSPENDED: Duration = Duration::from_millis(400);

/// A world whose daemon is started only by `tome start`.
fn quiet_world() -> World {
    let world = world();
    std::fs::write(world.config_file(), "[daemon]\nautostart = false\n").unwrap();
    world
}

fn start(world: &World) {
    let ran = world.tome(&["start"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

/// A prompt without an id.
fn nameless(text: &str, cwd: &Path) -> String {
    let payload = json!({"session_id": "s1", "cwd": cwd, "hook_event_name": "UserPromptSubmit",
                         "prompt": text});
    payload.to_string()
}

/// A hook with production deadlines, and the writer of its standard input.
fn spawn_hook(world: &World, args: &[&str]) -> (Child, std::io::PipeWriter) {
    let args = [&["hook"], args].concat();
    spawn(&mut world.command(&args))
}

fn spawn(command: &mut Command) -> (Child, std::io::PipeWriter) {
    let (stdin, pen) = std::io::pipe().unwrap();
    let child = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    command.stdin(Stdio::null());
    (child, pen)
}

fn hand_over(mut pen: std::io::PipeWriter, payload: &str) {
    pen.write_all(payload.as_bytes()).unwrap();
}

/// Waits for a hook and checks that it exits successfully and silently.
fn finish(child: Child) {
    assert_eq!(CommandResult::from(child.wait_with_output().unwrap()), CommandResult::silent());
}

/// Waits until a process sleeps, which means that it is blocked, or has left its work to another one, which
/// a busy machine may not show in time.
fn waits(pid: u32) {
    eventually("the hook to wait", || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['S', 'Z'])).then_some(())
    });
}

fn suspend(pid: u32) {
    assert!(send_signal(pid, Signal::Stop));
    pause(SUSPENDED);
    assert!(send_signal(pid, Signal::Continue));
}

fn lost(world: &World) -> u64 {
    status(world)["lost"]["events"].as_u64().unwrap()
}

fn spool_file(world: &World) -> PathBuf {
    world.home().join("spool/events.jsonl")
}

fn spooled(world: &World) -> Vec<Value> {
    let text = std::fs::read_to_string(spool_file(world)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Starts the daemon if necessary and checks that exactly these texts are stored and nothing is
/// lost.
fn ends_stored(world: &World, expected: &[&str]) {
    start(world);
    let stored = eventually_within(Duration::from_secs(30), || {
        let events = world.events();
        let mut stored: Vec<String> = texts(&events).iter().map(ToString::to_string).collect();
        stored.sort_unstable();
        (stored.len() >= expected.len()).then_some(stored)
    });
    assert_eq!(stored.unwrap_or_default(), expected);
    assert_eq!(lost(world), 0);
    eventually("the spool to be drained", || {
        (status(world)["spool"]["waiting_events"] == 0).then_some(())
    });
    assert_eq!(world.events().len(), expected.len());
}

/// A proxy between hooks and daemon that forwards requests and drops responses.
struct Interceptor {
    connected: mpsc::Receiver<()>,
}

impl Interceptor {
    /// Replaces the daemon's socket.
    fn install(world: &World) -> Self {
        let behind = world.socket().with_extension("behind");
        if world.socket().exists() {
            std::fs::rename(world.socket(), &behind).unwrap();
        }
        std::fs::create_dir_all(world.socket().parent().unwrap()).unwrap();
        let listener = UnixListener::bind(world.socket()).unwrap();
        let (told, connected) = mpsc::channel();
        std::thread::spawn(move || {
            for hook in listener.incoming().map_while(Result::ok) {
                let daemon = UnixStream::connect(&behind).ok();
                let told = told.clone();
                std::thread::spawn(move || pass_on(hook, daemon.as_ref(), &told));
            }
        });
        Self { connected }
    }

    /// Waits until a hook is connected.
    fn wait(&self) {
        self.connected.recv_timeout(Duration::from_secs(20)).unwrap();
    }

    /// Restores the daemon's socket, if there is one. A daemon that noticed the missing socket has
    /// exited and must be started again.
    fn remove(self, world: &World) {
        let behind = world.socket().with_extension("behind");
        std::fs::remove_file(world.socket()).unwrap();
        if behind.exists() {
            std::fs::rename(behind, world.socket()).unwrap();
            eventually("a daemon that stays", || {
                start(world);
                let pid = world.daemon_pid();
                // Longer than the interval at which the daemon checks its socket.
                pause(Duration::from_millis(700));
                (pid.is_some() && world.daemon_pid() == pid).then_some(())
            });
        }
    }
}

fn pass_on(mut hook: UnixStream, daemon: Option<&UnixStream>, told: &mpsc::Sender<()>) {
    let _ = told.send(());
    if let Some(answers) = daemon.and_then(|daemon| daemon.try_clone().ok()) {
        // Responses are read, so that the daemon does not block, and discarded.
        std::thread::spawn(move || std::io::copy(&mut &answers, &mut std::io::sink()));
    }
    let mut chunk = [0; 4096];
    while let Ok(1..) = hook.read(&mut chunk).inspect(|read| {
        if let (Some(mut daemon), Some(bytes)) = (daemon, chunk.get(..*read)) {
            let _ = daemon.write_all(bytes);
        }
    }) {}
    // The hook is gone; the daemon still finishes its request. An open connection would keep it from
    // stopping.
    pause(SUSPENDED);
    let _ = daemon.map(|daemon| daemon.shutdown(Shutdown::Both));
}

#[test]
fn a_hook_suspended_before_its_payload_is_stored_once() {
    let world = quiet_world();
    start(&world);
    let (hook, pen) = spawn_hook(&world, &["claude-code"]);
    waits(hook.id());
    assert!(send_signal(hook.id(), Signal::Stop));
    hand_over(pen, &nameless("said while it slept", world.path()));
    pause(SUSPENDED);
    assert!(send_signal(hook.id(), Signal::Continue));
    finish(hook);
    assert_eq!(lost(&world), 0);
    ends_stored(&world, &["said while it slept"]);
}

#[test]
fn a_hook_suspended_while_waiting_for_the_daemon_is_stored_once() {
    let world = quiet_world();
    let daemon = Interceptor::install(&world);
    let (hook, pen) = spawn_hook(&world, &["claude-code"]);
    hand_over(pen, &nameless("to a daemon that says nothing", world.path()));
    daemon.wait();
    suspend(hook.id());
    finish(hook);
    // A hook that is out of time leaves the spool to another process.
    eventually("the event in the spool", || {
        (texts(&spooled(&world)) == ["to a daemon that says nothing"]).then_some(())
    });
    daemon.remove(&world);
    assert_eq!(lost(&world), 0);
    ends_stored(&world, &["to a daemon that says nothing"]);
}

/// At any point of its short life.
#[test]
fn hooks_suspended_at_any_time_are_stored_once() {
    let world = quiet_world();
    start(&world);
    let expected: Vec<String> = (10..34).map(|n| format!("number {n}")).collect();
    std::thread::scope(|scope| {
        for (text, after_ms) in expected.iter().zip(0..) {
            let world = &world;
            scope.spawn(move || {
                let (hook, pen) = spawn_hook(world, &["claude-code"]);
                hand_over(pen, &nameless(text, world.path()));
                pause(Duration::from_millis(after_ms));
                suspend(hook.id());
                finish(hook);
            });
        }
    });
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    ends_stored(&world, &expected);
}

/// The daemon stores the event but its response is lost: the hook spools what is already stored.
#[test]
fn a_lost_response_does_not_duplicate_the_event() {
    let world = quiet_world();
    start(&world);
    let between = Interceptor::install(&world);
    world.hook(&["claude-code"], nameless("said once", world.path()));
    between.remove(&world);
    eventually("the event in the ledger", || (world.events().len() == 1).then_some(()));
    ends_stored(&world, &["said once"]);
}

/// The same, and the hook hands its event to another process after the folder has moved to another
/// project. It is still the same event.
#[test]
fn a_delivery_means_the_same_on_every_path() {
    let world = quiet_world();
    start(&world);
    world.hook(&["claude-code"], prompt("before"));
    std::fs::create_dir_all(world.home().join("spool")).unwrap();
    let lock = std::fs::File::create(world.home().join("spool/lock")).unwrap();
    lock.lock().unwrap();
    let cwd = world.folder("app/src");
    let between = Interceptor::install(&world);
    let (hook, pen) = spawn_hook(&world, &["claude-code"]);
    hand_over(pen, &nameless("said once", &cwd));
    between.wait();
    finish(hook);
    world.write("app/.git/HEAD", "ref: refs/heads/main\n");
    between.remove(&world);
    drop(lock);
    eventually("the second copy", || {
        let daemon = &status(&world)["daemon"];
        let is_there = daemon["drained"].as_u64()? + daemon["duplicates"].as_u64()? > 0;
        // On a busy machine the hook may have run out of time and recorded its event as lost instead.
        (is_there || world.home().join("run/lost").exists()).then_some(())
    });
    ends_stored(&world, &["before", "said once"]);
}

/// While the spool's lock is held the hook returns, and the event is written once when it is free.
#[test]
fn a_locked_spool_does_not_lose_the_event() {
    let world = quiet_world();
    std::fs::create_dir_all(world.home().join("spool")).unwrap();
    let lock = std::fs::File::create(world.home().join("spool/lock")).unwrap();
    lock.lock().unwrap();
    for text in ["first", "second"] {
        let (hook, pen) = spawn_hook(&world, &["claude-code"]);
        hand_over(pen, &nameless(text, world.path()));
        finish(hook);
    }
    assert_eq!(spooled(&world), Vec::<Value>::new());
    drop(lock);
    eventually("both in the spool", || (spooled(&world).len() == 2).then_some(()));
    ends_stored(&world, &["first", "second"]);
}

/// Recorded as lost, then stored by a daemon whose response was late: the record is withdrawn.
#[test]
fn an_event_recorded_as_lost_that_arrives_is_not_lost() {
    let world = quiet_world();
    start(&world);
    std::fs::write(world.home().join("spool"), "not a folder").unwrap();
    let between = Interceptor::install(&world);
    world.hook(&["claude-code"], nameless("given up", world.path()));
    let recorded = std::fs::read_to_string(world.home().join("run/lost")).unwrap();
    assert_eq!(recorded.lines().skip(1).filter(|slot| !slot.trim().is_empty()).count(), 1);
    between.remove(&world);
    eventually("the event in the ledger", || (world.events().len() == 1).then_some(()));
    // A busy daemon may notice only now that its socket was gone, and exit.
    eventually("no loss", || {
        start(&world);
        (lost(&world) == 0).then_some(())
    });
}

/// A delivery that never arrives stays recorded, once, until it has been reported.
#[test]
fn a_lost_event_stays_recorded() {
    let world = quiet_world();
    start(&world);
    assert_eq!(world.tome(&["stop"]).code, 0);
    std::fs::write(world.home().join("spool"), "not a folder").unwrap();
    for text in ["one", "two", "two"] {
        world.hook(&["claude-code"], nameless(text, world.path()));
    }
    assert_eq!(lost(&world), 3);
    std::fs::remove_file(world.home().join("spool")).unwrap();
    world.hook(&["claude-code"], nameless("after", world.path()));
    start(&world);
    assert_eq!(texts(&world.events()), ["after"]);
    assert_eq!(lost(&world), 3);
    assert_eq!(world.tome(&["status", "--reset-lost"]).code, 0);
    assert_eq!(lost(&world), 0);
}

/// More concurrent hooks than processors, with production deadlines.
#[test]
fn fifty_concurrent_hooks_lose_nothing() {
    let world = world();
    daemon_up_now(&world);
    let expected: Vec<String> = (10..60).map(|n| format!("number {n}")).collect();
    std::thread::scope(|scope| {
        for text in &expected {
            let world = &world;
            scope.spawn(move || {
                let payload = nameless(text, world.path());
                let mut command = world.command(&["hook", "claude-code"]);
                World::run_hook_command(command.env("TOME_HOOK_PATIENCE", "1"), payload);
            });
        }
    });
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    ends_stored(&world, &expected);
}

fn daemon_up_now(world: &World) {
    start(world);
    daemon_up(world);
}

/// A spooled event with a changed letter fails its checksum and is set aside. Lines of earlier
/// versions have no checksum and are stored.
#[test]
fn a_spooled_line_that_was_changed_is_set_aside() {
    let world = quiet_world();
    world.hook(&["claude-code"], nameless("keep the tests", world.path()));
    world.hook(&["claude-code"], nameless("untouched", world.path()));
    let text = std::fs::read_to_string(spool_file(&world)).unwrap();
    let text =
        text.replace("keep the tests", "beep the tests") + &line("old", 1_000, "from before");
    std::fs::write(spool_file(&world), text).unwrap();
    start(&world);
    let events =
        eventually("what is whole", || Some(world.events()).filter(|events| events.len() >= 2));
    assert_eq!(texts(&events), ["from before", "untouched"]);
    assert_eq!(status(&world)["spool"]["damaged_lines"], 1);
    let aside = std::fs::read_to_string(world.home().join("spool/damaged.jsonl")).unwrap();
    assert!(aside.contains("beep the tests"), "{aside}");
    let doctor = world.tome(&["doctor"]);
    assert!(doctor.stdout.contains("1 damaged line moved to"), "{}", doctor.stdout);
}

/// A hook that may not write any file (`ulimit -f 0`).
fn limited(world: &World, payload: &str) {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 0 && exec \"$0\" hook claude-code"]).arg(world.program());
    let like = world.command(&[]);
    command.env_clear().current_dir(world.folder("elsewhere"));
    for (name, value) in like.get_envs() {
        command.env(name, value.unwrap());
    }
    World::run_hook_command(command.env("TOME_HOOK_PATIENCE", "20"), payload);
}

#[test]
fn a_limit_on_file_sizes_does_not_end_the_hook() {
    let world = quiet_world();
    start(&world);
    limited(&world, &nameless("through the socket", world.path()));
    assert_eq!(texts(&world.events()), ["through the socket"]);
    assert_eq!(world.tome(&["stop"]).code, 0);
    limited(&world, &nameless("into the void", world.path()));
    assert_eq!(lost(&world), 1);
    start(&world);
    assert_eq!(texts(&world.events()), ["through the socket"]);
    assert_eq!(lost(&world), 1);
}

/// OpenCode writes the payload long after starting the hook. At a session start the hook waits for
/// it, because there is nothing to inject without it.
#[test]
fn a_session_start_waits_for_its_payload() {
    let world = quiet_world();
    start(&world);
    let args = ["hook", "opencode", "session.created"];
    let (mut hook, pen) = spawn(world.command(&args).env("TOME_HOOK_PATIENCE", "20"));
    // Longer than any other hook waits (35 ms, times twenty), and a third of the limit of a start.
    pause(Duration::from_millis(1_200));
    assert!(hook.try_wait().unwrap().is_none(), "it did not wait");
    let info = json!({"id": "ses_1", "directory": world.path()});
    let payload = json!({"event": {"type": "session.created", "properties": {"info": info}},
                         "directory": world.path()});
    hand_over(pen, &payload.to_string());
    let told = CommandResult::from(hook.wait_with_output().unwrap());
    assert!(told.json()["context"].as_str().unwrap().contains("<tome-memory"), "{told:?}");
    let events = world.events();
    assert_eq!(crate::support::strings(&events, "kind"), ["session_start"]);
}

/// A process group limited to a tenth of a processor, where the user may create one.
struct Starved(PathBuf);

impl Starved {
    fn new() -> Option<Self> {
        let name = format!("tome-test-{}", std::process::id());
        let first = Path::new("/sys/fs/cgroup/cpu").join(&name);
        let second = Path::new("/sys/fs/cgroup").join(&name);
        let set = |group: &Path, file: &str, text: &str| std::fs::write(group.join(file), text);
        let made = std::fs::create_dir(&first).and_then(|()| {
            set(&first, "cpu.cfs_period_us", "100000")?;
            set(&first, "cpu.cfs_quota_us", "10000")
        });
        if made.is_ok() {
            return Some(Self(first));
        }
        let _ = std::fs::remove_dir(&first);
        let made =
            std::fs::create_dir(&second).and_then(|()| set(&second, "cpu.max", "10000 100000"));
        if made.is_err() {
            let _ = std::fs::remove_dir(&second);
        }
        made.is_ok().then_some(Self(second))
    }
}

impl Drop for Starved {
    fn drop(&mut self) {
        // Background processes of hooks may still be in it.
        let _ = eventually_within(Duration::from_secs(30), || std::fs::remove_dir(&self.0).ok());
    }
}

#[test]
fn hooks_starved_of_cpu_lose_nothing() {
    let Some(starved) = Starved::new() else {
        println!("skipped: no control group can be made here");
        return;
    };
    let world = quiet_world();
    start(&world);
    let expected: Vec<String> = (10..26).map(|n| format!("number {n}")).collect();
    std::thread::scope(|scope| {
        for text in &expected {
            let (world, procs) = (&world, starved.0.join("cgroup.procs"));
            scope.spawn(move || {
                let mut command = Command::new("sh");
                command.args(["-c", "echo $$ > \"$1\" && exec \"$0\" hook claude-code"]);
                command.arg(world.program()).arg(procs);
                command.env_clear().current_dir(world.folder("elsewhere"));
                for (name, value) in world.command(&[]).get_envs() {
                    command.env(name, value.unwrap());
                }
                let (hook, pen) = spawn(&mut command);
                hand_over(pen, &nameless(text, world.path()));
                finish(hook);
            });
        }
    });
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    ends_stored(&world, &expected);
}
