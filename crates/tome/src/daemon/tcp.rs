//! Connections over TCP. Anybody on the machine can open one, so until a connection has shown the
//! token it is worth nothing: it has a deadline, and gives way to newer ones when there are many.
//! Connections that have shown it are counted apart. Neither takes descriptors from the socket that
//! hooks and commands use.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::Sleep;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::Connected;

/// How long a connection may take until its first call with the token.
const ADMISSION_TIMEOUT: Duration = Duration::from_secs(10);

/// Connections that have not shown the token, and that have, at most; fewer where the process may
/// have few descriptors.
const PENDING_MAX: u64 = 64;
const ADMITTED_MAX: u64 = 128;

/// After an accept that failed for want of descriptors, the next one would fail at once too.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The TCP connections of the daemon.
pub struct TcpConnections {
    /// Those that have not shown the token, the oldest first, and how to close them.
    pending: Mutex<VecDeque<(u64, oneshot::Sender<()>)>>,
    pending_max: usize,
    admitted: Arc<Semaphore>,
}

impl TcpConnections {
    /// Accepts connections until the daemon leaves.
    pub fn accept(
        listener: TcpListener,
        descriptors: u64,
        leaving: impl Future<Output = ()> + Send + 'static,
    ) -> ReceiverStream<io::Result<TcpConnection>> {
        let share = |most: u64, part: u64| usize::try_from(most.min(descriptors / part).max(4));
        let connections = Arc::new(Self {
            pending: Mutex::default(),
            pending_max: share(PENDING_MAX, 16).unwrap_or(4),
            admitted: Arc::new(Semaphore::new(share(ADMITTED_MAX, 8).unwrap_or(4))),
        });
        let (accepted, incoming) = mpsc::channel(1);
        tokio::spawn(async move {
            let accepting = async {
                let mut number = 0;
                loop {
                    let Ok((stream, _)) = listener.accept().await else {
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                        continue;
                    };
                    number += 1;
                    if accepted.send(Ok(connections.begin(number, stream))).await.is_err() {
                        return;
                    }
                }
            };
            tokio::select! { () = accepting => {}, () = leaving => {} }
        });
        ReceiverStream::new(incoming)
    }

    /// A new connection. The oldest one without the token makes room for it: a client of Tome shows
    /// its token within milliseconds.
    fn begin(self: &Arc<Self>, number: u64, stream: TcpStream) -> TcpConnection {
        let (close, closed) = oneshot::channel();
        let mut pending = self.pending();
        pending.push_back((number, close));
        while pending.len() > self.pending_max {
            if let Some((_, close)) = pending.pop_front() {
                let _ = close.send(());
            }
        }
        drop(pending);
        // Answers are small, and somebody waits for each.
        let _ = stream.set_nodelay(true);
        TcpConnection {
            stream,
            state: Arc::new(State {
                number,
                connections: Arc::clone(self),
                is_admitted: AtomicBool::new(false),
                permit: Mutex::default(),
            }),
            deadline: Box::pin(tokio::time::sleep(ADMISSION_TIMEOUT)),
            closed: Some(closed),
        }
    }

    fn pending(&self) -> MutexGuard<'_, VecDeque<(u64, oneshot::Sender<()>)>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a connection has shown the token.
struct State {
    number: u64,
    connections: Arc<TcpConnections>,
    is_admitted: AtomicBool,
    permit: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Drop for State {
    fn drop(&mut self) {
        self.connections.pending().retain(|(number, _)| *number != self.number);
    }
}

/// What a call knows of its connection.
#[derive(Clone)]
pub struct Admission(Arc<State>);

impl Admission {
    /// Notes that the connection has shown the token. `false` when too many others have.
    pub fn admit(&self) -> bool {
        let state = &self.0;
        let mut permit = state.permit.lock().unwrap_or_else(PoisonError::into_inner);
        if permit.is_none() {
            let Ok(granted) = Arc::clone(&state.connections.admitted).try_acquire_owned() else {
                return false;
            };
            *permit = Some(granted);
            state.is_admitted.store(true, Ordering::Release);
            state.connections.pending().retain(|(number, _)| *number != state.number);
        }
        true
    }
}

/// A connection, closed unless it shows the token in time.
pub struct TcpConnection {
    stream: TcpStream,
    state: Arc<State>,
    deadline: Pin<Box<Sleep>>,
    /// Resolves when it has to make room; `None` once that cannot happen any more.
    closed: Option<oneshot::Receiver<()>>,
}

impl TcpConnection {
    /// Why nothing more is read from it or written to it, if so. Checked on both ways: a client that
    /// does not read its answers keeps the connection from being read too.
    fn poll_closed(&mut self, cx: &mut Context<'_>) -> Option<io::Error> {
        if self.state.is_admitted.load(Ordering::Acquire) {
            return None;
        }
        if let Some(closed) = &mut self.closed
            && let Poll::Ready(outcome) = Pin::new(closed).poll(cx)
        {
            self.closed = None;
            // The sender is dropped when the connection is admitted.
            if outcome.is_ok() {
                return Some(io::ErrorKind::ConnectionAborted.into());
            }
        }
        let is_late = self.deadline.as_mut().poll(cx).is_ready();
        is_late.then(|| io::ErrorKind::TimedOut.into())
    }
}

impl AsyncRead for TcpConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.poll_closed(cx) {
            Some(error) => Poll::Ready(Err(error)),
            None => Pin::new(&mut self.stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for TcpConnection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.poll_closed(cx) {
            Some(error) => Poll::Ready(Err(error)),
            None => Pin::new(&mut self.stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.poll_closed(cx) {
            Some(error) => Poll::Ready(Err(error)),
            None => Pin::new(&mut self.stream).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

impl Connected for TcpConnection {
    type ConnectInfo = Admission;

    fn connect_info(&self) -> Admission {
        Admission(Arc::clone(&self.state))
    }
}
