//! Listens on the owner's socket, and on TCP with a token if configured.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::task::JoinSet;
use tome_home::write_atomic;
use tome_proto::v1::backup_server::BackupServer;
use tome_proto::v1::capture_server::CaptureServer;
use tome_proto::v1::citations_server::CitationsServer;
use tome_proto::v1::contents_server::ContentsServer;
use tome_proto::v1::daemon_server::DaemonServer;
use tome_proto::v1::events_server::EventsServer;
use tome_proto::v1::injections_server::InjectionsServer;
use tome_proto::v1::models_server::ModelsServer;
use tome_proto::v1::notebook_server::NotebookServer;
use tome_proto::v1::projects_server::ProjectsServer;
use tome_proto::v1::recall_server::RecallServer;
use tome_proto::v1::reflections_server::ReflectionsServer;
use tome_proto::v1::tools_server::ToolsServer;
use tome_proto::v1::topics_server::TopicsServer;
use tome_proto::{limits, v1};
use tonic::service::{InterceptorLayer, Routes};
use tonic::transport::Server;
use tonic::{Request, Status};

use super::backup::BackupService;
use super::capture::CaptureService;
use super::citation::CitationsService;
use super::contents::ContentsService;
use super::daemon_service::DaemonService;
use super::events::EventsService;
use super::injection::InjectionsService;
use super::models::ModelsService;
use super::notebook::NotebookService;
use super::projects::ProjectsService;
use super::recall::RecallService;
use super::reflect::ReflectionsService;
use super::state::Daemon;
use super::tcp::{Admission, TcpConnections};
use super::tools::ToolsService;
use super::topics::TopicsService;
use crate::platform::{self, OwnerSocket};

/// Concurrent calls per connection. Tome's own clients make one; other programs may stream.
const STREAMS_MAX: u32 = 128;

/// Size of a call's headers: path, token, and little else.
const HEADER_BYTES_MAX: u32 = 16 * 1024;

/// Interval of keepalive pings to TCP clients, and the time they have to reply.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(60);
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(20);

/// The running servers.
pub struct Servers(JoinSet<()>);

impl Servers {
    /// Waits until all calls in flight have finished.
    pub async fn wait(mut self) {
        while self.0.join_next().await.is_some() {}
    }
}

/// Starts all servers. Every address is bound before the first is served, so that a daemon that
/// responds is complete.
pub async fn start(daemon: &Arc<Daemon>) -> Result<Servers> {
    let mut servers = JoinSet::new();
    let mut endpoints = Vec::new();
    let routes = build_routes(daemon).await?;
    let home = &daemon.settings.home;
    let socket = platform::bind_socket(home.root())
        .with_context(|| format!("cannot listen on a socket for {}", home.root().display()))?;
    let tcp = bind_tcp(daemon, socket.is_some()).await?;
    let token = tcp.as_ref().map(|_| load_or_create_token(daemon)).transpose()?;
    if let Some(socket) = &socket {
        daemon.set_socket(&socket.path);
        endpoints.push(socket.path.display().to_string());
    }
    if let Some(listener) = &tcp {
        endpoints.push(
            listener.local_addr().context("cannot read the address of the listener")?.to_string(),
        );
    }
    daemon.set_endpoints(endpoints);
    if let Some(OwnerSocket { path, incoming }) = socket {
        let served = socket_server()
            .add_routes(routes.clone())
            .serve_with_incoming_shutdown(incoming, stop_requested(daemon));
        let daemon = Arc::clone(daemon);
        let id = platform::file_id_at(&path);
        servers.spawn(async move {
            log_server_error(&daemon, served.await);
            // Keep a socket that another daemon has created meanwhile.
            if !platform::is_replaced(&path, id) {
                let _ = std::fs::remove_file(path);
            }
        });
    }
    if let (Some(listener), Some(token)) = (tcp, token) {
        let guard = InterceptorLayer::new(move |request| check_token(request, &token));
        let incoming = TcpConnections::accept(listener, daemon.descriptors, stop_requested(daemon));
        let served = tcp_server()
            .layer(guard)
            .add_routes(routes)
            .serve_with_incoming_shutdown(incoming, stop_requested(daemon));
        let daemon = Arc::clone(daemon);
        servers.spawn(async move { log_server_error(&daemon, served.await) });
    }
    Ok(Servers(servers))
}

/// Binds TCP if configured. Platforms without an owner-only socket always use TCP on loopback, and
/// write the address to a file.
async fn bind_tcp(daemon: &Daemon, has_socket: bool) -> Result<Option<tokio::net::TcpListener>> {
    let loopback = (!has_socket).then_some(SocketAddr::from(([127, 0, 0, 1], 0)));
    let Some(address) = daemon.settings.daemon_tcp.or(loopback) else { return Ok(None) };
    let listener = tokio::net::TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen at {address} (daemon.tcp)"))?;
    if !has_socket {
        let address =
            listener.local_addr().context("cannot read the address of the listener")?.to_string();
        write_atomic(&daemon.settings.home.daemon_address(), address.as_bytes())?;
    }
    Ok(Some(listener))
}

/// The server for the owner's socket. Requests may be large, because only the owner can connect.
fn socket_server() -> Server {
    Server::builder()
        .initial_stream_window_size(4 * 1024 * 1024)
        .initial_connection_window_size(8 * 1024 * 1024)
        .max_concurrent_streams(STREAMS_MAX)
        .http2_max_header_list_size(HEADER_BYTES_MAX)
}

/// The server for TCP, where any local user can connect and send data before the token is checked.
/// Buffers are smaller, and dead clients are detected.
fn tcp_server() -> Server {
    socket_server()
        .initial_stream_window_size(512 * 1024)
        .initial_connection_window_size(1024 * 1024)
        .http2_keepalive_interval(Some(KEEPALIVE_INTERVAL))
        .http2_keepalive_timeout(Some(KEEPALIVE_TIMEOUT))
}

async fn build_routes(daemon: &Arc<Daemon>) -> Result<Routes> {
    let (reporter, health) = tonic_health::server::health_reporter();
    reporter.set_serving::<CaptureServer<CaptureService>>().await;
    reporter.set_serving::<EventsServer<EventsService>>().await;
    reporter.set_serving::<DaemonServer<DaemonService>>().await;
    reporter.set_serving::<ToolsServer<ToolsService>>().await;
    reporter.set_serving::<NotebookServer<NotebookService>>().await;
    reporter.set_serving::<ContentsServer<ContentsService>>().await;
    reporter.set_serving::<RecallServer<RecallService>>().await;
    reporter.set_serving::<CitationsServer<CitationsService>>().await;
    reporter.set_serving::<InjectionsServer<InjectionsService>>().await;
    reporter.set_serving::<ModelsServer<ModelsService>>().await;
    reporter.set_serving::<ReflectionsServer<ReflectionsService>>().await;
    reporter.set_serving::<TopicsServer<TopicsService>>().await;
    reporter.set_serving::<BackupServer<BackupService>>().await;
    reporter.set_serving::<ProjectsServer<ProjectsService>>().await;
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(v1::DESCRIPTORS)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .build_v1()
        .context("cannot build the gRPC server reflection service")?;
    let capture = CaptureServer::new(CaptureService(Arc::clone(daemon)))
        .max_decoding_message_size(limits::MESSAGE_BYTES_MAX);
    let events = EventsServer::new(EventsService(Arc::clone(daemon)))
        .max_encoding_message_size(limits::MESSAGE_BYTES_MAX);
    let control = DaemonServer::new(DaemonService(Arc::clone(daemon)));
    let tools = ToolsServer::new(ToolsService(Arc::clone(daemon)))
        .max_decoding_message_size(limits::NOTE_MESSAGE_BYTES_MAX)
        .max_encoding_message_size(limits::NOTE_MESSAGE_BYTES_MAX);
    let notebook = NotebookServer::new(NotebookService(Arc::clone(daemon)))
        .max_encoding_message_size(limits::NOTE_MESSAGE_BYTES_MAX);
    let contents = ContentsServer::new(ContentsService(Arc::clone(daemon)))
        .max_encoding_message_size(limits::MESSAGE_BYTES_MAX);
    let recall = RecallServer::new(RecallService(Arc::clone(daemon)))
        .max_decoding_message_size(limits::RECALL_MESSAGE_BYTES_MAX)
        .max_encoding_message_size(limits::RECALL_MESSAGE_BYTES_MAX);
    let citations = CitationsServer::new(CitationsService(Arc::clone(daemon)))
        .max_encoding_message_size(limits::MESSAGE_BYTES_MAX);
    let injections = InjectionsServer::new(InjectionsService(Arc::clone(daemon)))
        .max_encoding_message_size(limits::MESSAGE_BYTES_MAX);
    let models = ModelsServer::new(ModelsService(Arc::clone(daemon)));
    let reflections = ReflectionsServer::new(ReflectionsService(Arc::clone(daemon)));
    let topics = TopicsServer::new(TopicsService(Arc::clone(daemon)))
        .max_encoding_message_size(limits::MESSAGE_BYTES_MAX);
    let backup = BackupServer::new(BackupService(Arc::clone(daemon)))
        .max_decoding_message_size(limits::MESSAGE_BYTES_MAX)
        .max_encoding_message_size(limits::MESSAGE_BYTES_MAX);
    let projects = ProjectsServer::new(ProjectsService(Arc::clone(daemon)))
        .max_encoding_message_size(limits::MESSAGE_BYTES_MAX);
    Ok(Routes::new(health)
        .add_service(reflection)
        .add_service(capture)
        .add_service(events)
        .add_service(control)
        .add_service(tools)
        .add_service(notebook)
        .add_service(contents)
        .add_service(recall)
        .add_service(citations)
        .add_service(injections)
        .add_service(models)
        .add_service(reflections)
        .add_service(topics)
        .add_service(backup)
        .add_service(projects))
}

fn stop_requested(daemon: &Arc<Daemon>) -> impl Future<Output = ()> + use<> {
    let daemon = Arc::clone(daemon);
    async move { daemon.stop_requested().await }
}

fn log_server_error(daemon: &Daemon, served: Result<(), tonic::transport::Error>) {
    if let Err(error) = served {
        daemon.log.write(&format!("stopped listening: {error}"));
        daemon.stop();
    }
}

/// Reads the token from `run/token`, or creates it.
fn load_or_create_token(daemon: &Daemon) -> Result<String> {
    let path = daemon.settings.home.daemon_token();
    if let Some(token) = tome_client::read_token(&path) {
        return Ok(token);
    }
    let token = generate_token()?;
    write_atomic(&path, token.as_bytes())?;
    Ok(token)
}

fn generate_token() -> Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("cannot generate a token: {error}"))?;
    Ok(blake3::Hash::from_bytes(bytes).to_hex().to_string())
}

/// Accepts a call that carries the token, and admits its connection. Compares hashes, in constant
/// time.
fn check_token(request: Request<()>, token: &str) -> Result<Request<()>, Status> {
    let given = request.metadata().get("authorization").and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    if blake3::hash(given.as_bytes()) == blake3::hash(token.as_bytes()) {
        if request.extensions().get::<Admission>().is_none_or(Admission::admit) {
            Ok(request)
        } else {
            Err(Status::resource_exhausted("too many connections; close some"))
        }
    } else {
        Err(Status::unauthenticated(
            "the bearer token is missing or wrong; it is in run/token in the daemon's home (or set TOME_TOKEN)",
        ))
    }
}
