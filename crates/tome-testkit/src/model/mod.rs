//! A scripted language model on loopback: Anthropic's Messages (`…/messages`) and chat completions
//! (`…/chat/completions`), streamed if the request asks for it.
//!
//! Requests are recorded, and the script is followed, in order of arrival. Serves at most
//! [`CONNECTIONS_MAX`] connections at a time. Dropping the server closes its connections and joins
//! its threads.

mod anthropic;
mod connection;
mod openai;
mod request;
mod scripted_answer;

use std::collections::VecDeque;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

pub use request::ModelRequest;
pub use scripted_answer::ScriptedAnswer;

/// Further connections are closed at once.
const CONNECTIONS_MAX: usize = 64;

/// The server. Runs until it is dropped.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<ServerState>,
    thread: Option<JoinHandle<()>>,
}

/// Chooses the response to a request.
type Director = Box<dyn FnMut(&ModelRequest) -> ScriptedAnswer + Send>;

struct ServerState {
    director: Mutex<Director>,
    requests: Mutex<Vec<ModelRequest>>,
    hung_up: Mutex<usize>,
    connections: Mutex<usize>,
    streams: Mutex<Vec<TcpStream>>,
    over: (Mutex<bool>, Condvar),
}

impl ModelServer {
    /// Answers requests with the script in order; after its end, with a 500.
    pub fn start(script: impl IntoIterator<Item = ScriptedAnswer>) -> Self {
        let mut script: VecDeque<ScriptedAnswer> = script.into_iter().collect();
        Self::directed(move |_| {
            script
                .pop_front()
                .unwrap_or_else(|| ScriptedAnswer::status(500, "the script has ended"))
        })
    }

    /// Answers every request with the result of `director`.
    ///
    /// # Panics
    /// If no loopback port is available.
    pub fn directed(
        director: impl FnMut(&ModelRequest) -> ScriptedAnswer + Send + 'static,
    ) -> Self {
        let bound = TcpListener::bind("127.0.0.1:0");
        #[expect(clippy::expect_used, reason = "a test needs a port")]
        let (listener, address) = bound
            .and_then(|listener| listener.local_addr().map(|address| (listener, address)))
            .expect("a port on loopback");
        let shared = Arc::new(ServerState {
            director: Mutex::new(Box::new(director)),
            requests: Mutex::default(),
            hung_up: Mutex::default(),
            connections: Mutex::default(),
            streams: Mutex::default(),
            over: (Mutex::new(false), Condvar::new()),
        });
        let theirs = Arc::clone(&shared);
        let thread = std::thread::spawn(move || serve(&listener, &theirs));
        Self { address, shared, thread: Some(thread) }
    }

    /// `http://127.0.0.1:port`, the base URL of an Anthropic client.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// `http://127.0.0.1:port/v1`, the base URL of a chat completions client.
    pub fn openai_url(&self) -> String {
        format!("{}/v1", self.url())
    }

    /// Returns the requests so far, in order.
    pub fn requests(&self) -> Vec<ModelRequest> {
        lock(&self.shared.requests).clone()
    }

    /// Number of connections so far.
    pub fn connections(&self) -> usize {
        *lock(&self.shared.connections)
    }

    /// Number of clients that disconnected before the end of a response.
    pub fn disconnects(&self) -> usize {
        *lock(&self.shared.hung_up)
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        *lock(&self.shared.over.0) = true;
        self.shared.over.1.notify_all();
        for stream in lock(&self.shared.streams).iter() {
            // It may be closed already.
            let _ = stream.shutdown(Shutdown::Both);
        }
        // Wakes a pending `accept`.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl ServerState {
    fn is_over(&self) -> bool {
        *lock(&self.over.0)
    }

    /// Waits for the server to end, at most `time`; returns whether it has ended.
    fn wait_until_over(&self, time: Duration) -> bool {
        let held = lock(&self.over.0);
        let waited = self.over.1.wait_timeout_while(held, time, |over| !*over);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

fn serve(listener: &TcpListener, shared: &Arc<ServerState>) {
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    while let Ok((stream, _)) = listener.accept() {
        if shared.is_over() {
            break;
        }
        threads.retain(|thread| !thread.is_finished());
        let Ok(known) = stream.try_clone() else { continue };
        if threads.len() >= CONNECTIONS_MAX {
            continue;
        }
        *lock(&shared.connections) += 1;
        let mut streams = lock(&shared.streams);
        streams.retain(|stream| stream.peer_addr().is_ok());
        streams.push(known);
        drop(streams);
        let theirs = Arc::clone(shared);
        threads.push(std::thread::spawn(move || {
            // A client may disconnect as part of a test; also close the clone of its stream.
            let _ = connection::serve_connection(&stream, &theirs);
            let _ = stream.shutdown(Shutdown::Both);
        }));
    }
    for stream in lock(&shared.streams).iter() {
        let _ = stream.shutdown(Shutdown::Both);
    }
    for thread in threads {
        let _ = thread.join();
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
