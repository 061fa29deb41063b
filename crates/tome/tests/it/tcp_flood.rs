//! Many TCP connections without the token affect neither hooks and commands nor clients with the
//! token.

use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

use tome_testkit::World;

use crate::support::{daemon_up, line, prompt, status, texts, world};

/// More than the daemon has descriptors.
const CONNECTIONS: usize = 320;

/// Starts a daemon on TCP with few descriptors; returns it and its address.
fn limited_daemon(world: &World) -> (std::process::Child, SocketAddr) {
    let plain = world.command(&["daemon"]);
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 256; exec \"$0\" daemon"]).arg(world.program());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("TOME_DAEMON_TCP", "0");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let daemon = command.spawn().unwrap();
    daemon_up(world);
    let endpoints = status(world)["daemon"]["endpoints"].clone();
    (daemon, endpoints[1].as_str().unwrap().parse().unwrap())
}

#[test]
fn idle_connections_without_the_token_affect_no_client() {
    let world = world();
    let (mut daemon, address) = limited_daemon(&world);
    // All of them stay open on this side until the end.
    let connections: Vec<TcpStream> =
        (0..CONNECTIONS).map(|_| TcpStream::connect(address).unwrap()).collect();
    for n in 0..4 {
        world.hook(&["claude-code"], prompt(&format!("hook {n}")).replace("turn1", &n.to_string()));
    }
    world.ingest(&line("a", 1_000, "ingested"));
    let events = world.events();
    assert_eq!(events.len(), 5, "{:?}", texts(&events));
    assert_eq!(status(&world)["daemon"]["answers"], true);
    assert_eq!(status(&world)["lost"]["events"], 0);
    // A client with the token still gets in.
    let token = std::fs::read_to_string(world.home().join("run/token")).unwrap();
    let mut remote = world.command(&["events", "--all-projects", "--json"]);
    remote.env("TOME_DAEMON_ENDPOINT", address.to_string());
    remote.env("TOME_TOKEN", token.trim());
    let remote = World::run(&mut remote, b"");
    assert_eq!(remote.json_lines().len(), 5, "{}", remote.stderr);
    // The daemon has closed the surplus: the oldest connections end silently.
    let mut oldest = &connections[0];
    oldest.set_read_timeout(Some(Duration::from_secs(50))).unwrap();
    let ended = oldest.read(&mut [0; 64]).map(|read| read == 0);
    assert!(!matches!(ended, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock));
    assert_eq!(world.tome(&["stop"]).code, 0);
    drop(connections);
    daemon.wait().unwrap();
}
