//! TCP: opt-in, loopback only, with a token.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;

use tome_proto::v1::StatusRequest;
use tome_proto::v1::daemon_client::DaemonClient;
use tome_testkit::World;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

use crate::support::{line, prompt, status, texts, world};

/// Adds the token to every call, if there is one.
#[derive(Clone)]
pub struct Bearer(Option<MetadataValue<Ascii>>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            request.metadata_mut().insert("authorization", token.clone());
        }
        Ok(request)
    }
}

pub type Wire = InterceptedService<Channel, Bearer>;

/// A channel over a unix socket.
pub async fn over_socket(path: &Path) -> Wire {
    let endpoint = Endpoint::from_shared(format!("unix://{}", path.display())).unwrap();
    InterceptedService::new(endpoint.connect().await.unwrap(), Bearer(None))
}

pub async fn health(wire: Wire) -> Result<String, Status> {
    let answer = HealthClient::new(wire).check(HealthCheckRequest::default()).await?;
    Ok(format!("{:?}", answer.into_inner().status()))
}

/// The services listed by reflection.
pub async fn services(wire: Wire) -> Result<Vec<String>, Status> {
    let ask = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let mut answers = ServerReflectionClient::new(wire)
        .server_reflection_info(tokio_stream::iter([ask]))
        .await?
        .into_inner();
    let answer = answers.message().await?.and_then(|answer| answer.message_response);
    match answer {
        Some(MessageResponse::ListServicesResponse(list)) => {
            Ok(list.service.into_iter().map(|service| service.name).collect())
        }
        other => panic!("{other:?}"),
    }
}

async fn over_tcp(address: SocketAddr, token: Option<&str>) -> Wire {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let channel = endpoint.connect().await.unwrap();
    let bearer = token.map(|token| format!("Bearer {token}").parse().unwrap());
    InterceptedService::new(channel, Bearer(bearer))
}

/// Starts a daemon that also listens on TCP; returns the address.
fn on_tcp(world: &World) -> SocketAddr {
    let started = World::run(world.command(&["start"]).env("TOME_DAEMON_TCP", "0"), b"");
    assert_eq!(started.code, 0, "{}", started.stderr);
    let endpoints = status(world)["daemon"]["endpoints"].clone();
    let address: SocketAddr = endpoints[1].as_str().unwrap().parse().unwrap();
    assert!(address.ip().is_loopback(), "{address}");
    address
}

fn token(world: &World) -> String {
    let text = std::fs::read_to_string(world.home().join("run/token")).unwrap();
    text.trim().to_owned()
}

#[test]
fn tcp_is_off_by_default() {
    let world = world();
    world.tome(&["start"]);
    let endpoints = status(&world)["daemon"]["endpoints"].clone();
    assert_eq!(endpoints.as_array().unwrap().len(), 1, "{endpoints}");
    assert!(!world.home().join("run/token").exists());
    // No socket of the process listens on TCP: its inodes are in no table of listeners.
    let pid = world.daemon_pid().unwrap();
    let inodes: Vec<String> = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .filter_map(|fd| std::fs::read_link(fd.ok()?.path()).ok())
        .filter_map(|target| {
            let inode = target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
            Some(inode.to_owned())
        })
        .collect();
    assert!(!inodes.is_empty(), "it has its unix socket");
    for table in ["tcp", "tcp6"] {
        let table = std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        for row in table.lines() {
            let inode = row.split_whitespace().nth(9).unwrap_or_default();
            assert!(!inodes.contains(&inode.to_owned()), "{row}");
        }
    }
}

#[test]
fn requests_without_the_token_are_rejected() {
    let world = world();
    let address = on_tcp(&world);
    let right = token(&world);
    assert!(right.len() >= 32);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let wrong = format!("{right}x");
        for token in [None, Some(""), Some("wrong"), Some(wrong.as_str())] {
            let wire = over_tcp(address, token).await;
            let code = |answer: Result<(), Status>| answer.unwrap_err().code();
            let daemon = DaemonClient::new(wire.clone()).status(StatusRequest::default()).await;
            assert_eq!(code(daemon.map(drop)), Code::Unauthenticated, "{token:?}");
            assert_eq!(code(health(wire.clone()).await.map(drop)), Code::Unauthenticated);
            assert_eq!(code(services(wire.clone()).await.map(drop)), Code::Unauthenticated);
            let left = DaemonClient::new(wire).shutdown(tome_proto::v1::ShutdownRequest {}).await;
            assert_eq!(code(left.map(drop)), Code::Unauthenticated);
        }
        let wire = over_tcp(address, Some(&right)).await;
        let answer =
            DaemonClient::new(wire.clone()).status(StatusRequest::default()).await.unwrap();
        assert_eq!(Some(answer.into_inner().pid), world.daemon_pid());
        assert_eq!(health(wire.clone()).await.unwrap(), "Serving");
        assert!(services(wire).await.unwrap().contains(&"tome.v1.Events".to_owned()));
    });
}

#[test]
fn the_command_line_can_use_tcp() {
    let (here, there) = (world(), world());
    let address = on_tcp(&here);
    here.ingest(&line("a", 1_000, "over there"));
    // The first read of a new store creates its tables, which may exceed a hook's 100 ms; an event
    // spooled here would not be drained by the other home.
    assert_eq!(here.tome(&["toc", "--all-projects"]).code, 0);
    let token = token(&here);
    let far = |args: &[&str], token: Option<&str>| {
        let mut command = there.command(args);
        command.env("TOME_DAEMON_ENDPOINT", address.to_string());
        if let Some(token) = token {
            command.env("TOME_TOKEN", token);
        }
        World::run(&mut command, b"")
    };
    let listed = far(&["events", "--json"], Some(&token));
    assert_eq!((listed.code, texts(&listed.json_lines())), (0, vec!["over there"]));
    let mut hook = there.command(&["hook", "codex"]);
    hook.env("TOME_DAEMON_ENDPOINT", address.to_string()).env("TOME_TOKEN", &token);
    World::run_hook_command(&mut hook, prompt("by tcp"));
    assert_eq!(here.events().len(), 2);
    for token in [None, Some("wrong")] {
        let refused = far(&["events"], token);
        assert_eq!((refused.code, refused.stdout.as_str()), (3, ""), "{token:?}");
        assert!(refused.stderr.contains("token"), "{}", refused.stderr);
    }
    // The same home finds its own token.
    let mut own = here.command(&["events", "--json"]);
    own.env("TOME_DAEMON_ENDPOINT", address.to_string());
    assert_eq!(World::run(&mut own, b"").code, 0);
    // No daemon there: an error, and none is started.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut nobody = there.command(&["events"]);
    let ran = World::run(nobody.env("TOME_DAEMON_ENDPOINT", free.to_string()), b"");
    assert_eq!((ran.code, ran.stdout.as_str()), (3, ""));
    assert!(there.daemon_pid().is_none());
}

#[test]
fn the_token_is_stable() {
    let world = world();
    on_tcp(&world);
    let first = token(&world);
    world.tome(&["stop"]);
    let address = on_tcp(&world);
    assert_eq!(token(&world), first);
    assert!(TcpStream::connect(address).is_ok());
    world.tome(&["stop"]);
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn a_port_in_use_is_reported() {
    let world = world();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ran = World::run(world.command(&["start"]).env("TOME_DAEMON_TCP", &address), b"");
    assert_eq!(ran.code, 3);
    assert!(ran.stderr.contains(&address), "{}", ran.stderr);
}
