//! Daemons of another version: an older one is replaced, a newer one is left running.
//!
//! The other version is this test program itself, run again as a process that implements the
//! protocol.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use tokio::sync::Notify;
use tokio_stream::wrappers::UnixListenerStream;
use tome_proto::v1;
use tome_proto::v1::capture_server::{Capture, CaptureServer};
use tome_proto::v1::daemon_server::{Daemon, DaemonServer};
use tome_testkit::{World, eventually};
use tonic::{Request, Response, Status, Streaming};

use crate::support::{daemon_up, prompt, status, texts, world};

const HOME: &str = "TEST_OTHER_DAEMON_HOME";
const VERSION: &str = "TEST_OTHER_DAEMON_VERSION";

#[test]
#[ignore = "not a test: the process that the tests below start as a daemon of another version"]
fn other_daemon() {
    let (Some(home), Ok(version)) = (std::env::var_os(HOME), std::env::var(VERSION)) else {
        return;
    };
    let run = PathBuf::from(home).join("run");
    std::fs::create_dir_all(&run).unwrap();
    let mut lock = std::fs::File::create(run.join("daemon.lock")).unwrap();
    lock.try_lock().unwrap();
    writeln!(lock, "{} {version}", std::process::id()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = tokio::net::UnixListener::bind(run.join("tome.sock")).unwrap();
        let other = Other { version, leave: Arc::new(Notify::new()) };
        let leave = Arc::clone(&other.leave);
        tonic::transport::Server::builder()
            .add_service(DaemonServer::new(other.clone()))
            .add_service(CaptureServer::new(other))
            .serve_with_incoming_shutdown(UnixListenerStream::new(listener), async move {
                leave.notified().await;
            })
            .await
            .unwrap();
    });
    std::fs::remove_file(run.join("tome.sock")).unwrap();
}

/// A daemon of another version, which reports its version, stores nothing, and exits on request.
#[derive(Clone)]
struct Other {
    version: String,
    leave: Arc<Notify>,
}

#[tonic::async_trait]
impl Daemon for Other {
    async fn status(
        &self,
        _: Request<v1::StatusRequest>,
    ) -> Result<Response<v1::StatusResponse>, Status> {
        Ok(Response::new(v1::StatusResponse {
            version: self.version.clone(),
            pid: std::process::id(),
            ..v1::StatusResponse::default()
        }))
    }

    async fn shutdown(
        &self,
        _: Request<v1::ShutdownRequest>,
    ) -> Result<Response<v1::ShutdownResponse>, Status> {
        self.leave.notify_one();
        Ok(Response::new(v1::ShutdownResponse { pid: std::process::id() }))
    }

    async fn flush(
        &self,
        _: Request<v1::FlushRequest>,
    ) -> Result<Response<v1::FlushResponse>, Status> {
        Ok(Response::new(v1::FlushResponse { stores: 42 }))
    }

    async fn compact(
        &self,
        _: Request<v1::CompactRequest>,
    ) -> Result<Response<v1::CompactResponse>, Status> {
        Err(Status::unimplemented("not in this version"))
    }

    async fn merge_sessions(
        &self,
        _: Request<v1::MergeSessionsRequest>,
    ) -> Result<Response<v1::MergeSessionsResponse>, Status> {
        Err(Status::unimplemented("not in this version"))
    }

    async fn verify_stores(
        &self,
        _: Request<v1::VerifyStoresRequest>,
    ) -> Result<Response<v1::VerifyStoresResponse>, Status> {
        Err(Status::unimplemented("not in this version"))
    }

    async fn repair_stores(
        &self,
        _: Request<v1::RepairStoresRequest>,
    ) -> Result<Response<v1::RepairStoresResponse>, Status> {
        Err(Status::unimplemented("not in this version"))
    }
}

#[tonic::async_trait]
impl Capture for Other {
    type IngestEventsStream = tokio_stream::Empty<Result<v1::IngestEventsResponse, Status>>;

    async fn ingest_event(
        &self,
        _: Request<v1::IngestEventRequest>,
    ) -> Result<Response<v1::IngestEventResponse>, Status> {
        Ok(Response::new(v1::IngestEventResponse {
            id: "taken".into(),
            created: true,
            daemon_version: self.version.clone(),
        }))
    }

    async fn ingest_events(
        &self,
        _: Request<Streaming<v1::IngestEventsRequest>>,
    ) -> Result<Response<Self::IngestEventsStream>, Status> {
        Err(Status::unimplemented("not in this version"))
    }
}

/// Starts a daemon of another version in a world, and waits until it answers.
fn other(world: &World, version: &str) -> Child {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["daemon_version::other_daemon", "--exact", "--ignored", "--quiet"])
        .env(HOME, world.home())
        .env(VERSION, version)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    eventually("the other daemon", || {
        let answers = world.socket().exists() && status(world)["daemon"]["version"] == version;
        answers.then_some(())
    });
    child
}

#[test]
fn an_older_daemon_is_replaced() {
    for args in [&["start"][..], &["admin", "flush"]] {
        let world = world();
        let mut older = other(&world, "0.0.1");
        let ran = world.tome(args);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(older.wait().unwrap().success(), "it was asked, not killed");
        let daemon = status(&world)["daemon"].clone();
        assert_eq!(daemon["version"], env!("CARGO_PKG_VERSION"));
    }
}

#[test]
fn a_hook_has_an_older_daemon_replaced_in_the_background() {
    let world = world();
    let mut older = other(&world, "0.0.1");
    world.hook(&["claude-code"], prompt("to the old one"));
    eventually("the older daemon to leave", || older.try_wait().unwrap());
    assert_ne!(daemon_up(&world), older.id());
    world.hook(&["claude-code"], prompt("to the new one"));
    assert!(texts(&world.events()).contains(&"to the new one"));
}

#[test]
fn a_newer_daemon_is_left_running() {
    let world = world();
    let mut newer = other(&world, "99.0.0");
    let started = world.tome(&["start", "--json"]).json();
    assert_eq!((&started["version"], &started["pid"]), (&"99.0.0".into(), &newer.id().into()));
    let flushed = world.tome(&["admin", "flush", "--json"]).json();
    assert_eq!(flushed["stores"], 42, "it is the newer one that works");
    world.hook(&["claude-code"], prompt("hi"));
    assert!(newer.try_wait().unwrap().is_none(), "it goes on");
    assert_eq!(world.tome(&["stop"]).code, 0);
    assert!(newer.wait().unwrap().success());
}
