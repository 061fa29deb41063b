//! A model on loopback that answers from a script: Anthropic's Messages (`…/messages`) and chat
//! completions (`…/chat/completions`), as a stream where the request asks for one and whole where not.
//!
//! Every request is kept in the order of its arrival, and the script goes in that order. At most
//! [`CONNECTIONS_MAX`] connections are served at a time. When the server is
//! dropped its connections are shut and its threads are joined, whatever they were doing.

mod answer;
mod anthropic;
mod asked;
mod openai;
mod wire;

use std::collections::VecDeque;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

pub use answer::Answer;
pub use asked::Asked;

/// More connections than this at a time are hung up on.
const CONNECTIONS_MAX: usize = 64;

/// The server. It answers until it is dropped.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// Says what a request gets.
type Director = Box<dyn FnMut(&Asked) -> Answer + Send>;

struct Shared {
    director: Mutex<Director>,
    asked: Mutex<Vec<Asked>>,
    hung_up: Mutex<usize>,
    connections: Mutex<usize>,
    streams: Mutex<Vec<TcpStream>>,
    over: (Mutex<bool>, Condvar),
}

impl ModelServer {
    /// Answers the first request with the first answer, and so on; what comes after the last one
    /// gets a 500 that says so.
    pub fn start(script: impl IntoIterator<Item = Answer>) -> Self {
        let mut script: VecDeque<Answer> = script.into_iter().collect();
        Self::directed(move |_| {
            script.pop_front().unwrap_or_else(|| Answer::status(500, "the script is over"))
        })
    }

    /// Answers every request with what `director` makes of it.
    ///
    /// # Panics
    /// When there is no port on loopback.
    pub fn directed(director: impl FnMut(&Asked) -> Answer + Send + 'static) -> Self {
        let bound = TcpListener::bind("127.0.0.1:0");
        #[expect(clippy::expect_used, reason = "a test without a port cannot go on")]
        let (listener, address) = bound
            .and_then(|listener| listener.local_addr().map(|address| (listener, address)))
            .expect("a port on loopback");
        let shared = Arc::new(Shared {
            director: Mutex::new(Box::new(director)),
            asked: Mutex::default(),
            hung_up: Mutex::default(),
            connections: Mutex::default(),
            streams: Mutex::default(),
            over: (Mutex::new(false), Condvar::new()),
        });
        let theirs = Arc::clone(&shared);
        let thread = std::thread::spawn(move || serve(&listener, &theirs));
        Self { address, shared, thread: Some(thread) }
    }

    /// `http://127.0.0.1:port`: what an Anthropic client takes as its base.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// `http://127.0.0.1:port/v1`: what a client of chat completions takes as its base.
    pub fn openai_url(&self) -> String {
        format!("{}/v1", self.url())
    }

    /// What was asked so far, in order.
    pub fn asked(&self) -> Vec<Asked> {
        lock(&self.shared.asked).clone()
    }

    /// Over how many connections.
    pub fn connections(&self) -> usize {
        *lock(&self.shared.connections)
    }

    /// How many clients hung up while they were still owed something.
    pub fn hung_up(&self) -> usize {
        *lock(&self.shared.hung_up)
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        *lock(&self.shared.over.0) = true;
        self.shared.over.1.notify_all();
        for stream in lock(&self.shared.streams).iter() {
            // One that is closed already is what is wanted.
            let _ = stream.shutdown(Shutdown::Both);
        }
        // Ends an `accept` that nobody came for.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn is_over(&self) -> bool {
        *lock(&self.over.0)
    }

    /// Waits until the server ends, or for this long; says whether it has ended.
    fn over_within(&self, time: Duration) -> bool {
        let held = lock(&self.over.0);
        let waited = self.over.1.wait_timeout_while(held, time, |over| !*over);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

fn serve(listener: &TcpListener, shared: &Arc<Shared>) {
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
            // A client that goes away is part of the script; the clone of its stream is closed too.
            let _ = wire::converse(&stream, &theirs);
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
