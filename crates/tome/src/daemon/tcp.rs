//! TCP connections. Any local user can open one, so a connection without the token has a deadline,
//! and is closed to make room for newer ones. Connections with the token are counted separately.
//! Neither kind takes descriptors from the socket that hooks and commands use.

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

/// Time until a connection's first call with the token.
const ADMISSION_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum connections without and with the token; fewer if the process has few descriptors.
const PENDING_MAX: u64 = 64;
const ADMITTED_MAX: u64 = 128;

/// Delay after a failed accept: without free descriptors the next one would fail at once.
const ACCEPT_RETRY_AFTER: Duration = Duration::from_millis(50);

pub struct TcpConnections {
    /// Connections without the token, the oldest first, each with the sender that closes it.
    pending: Mutex<VecDeque<(u64, oneshot::Sender<()>)>>,
    pending_max: usize,
    admitted: Arc<Semaphore>,
}

impl TcpConnections {
    /// Accepts connections until the daemon stops.
    pub fn accept(
        listener: TcpListener,
        descriptors: u64,
        stop_requested: impl Future<Output = ()> + Send + 'static,
    ) -> ReceiverStream<io::Result<TcpConnection>> {
        let limit = |max: u64, divisor: u64| {
            usize::try_from(max.min(descriptors / divisor).max(4)).unwrap_or(4)
        };
        let connections = Arc::new(Self {
            pending: Mutex::default(),
            pending_max: limit(PENDING_MAX, 16),
            admitted: Arc::new(Semaphore::new(limit(ADMITTED_MAX, 8))),
        });
        let (accepted, incoming) = mpsc::channel(1);
        tokio::spawn(async move {
            let accepting = async {
                let mut id = 0;
                loop {
                    let Ok((stream, _)) = listener.accept().await else {
                        tokio::time::sleep(ACCEPT_RETRY_AFTER).await;
                        continue;
                    };
                    id += 1;
                    if accepted.send(Ok(connections.register(id, stream))).await.is_err() {
                        return;
                    }
                }
            };
            tokio::select! { () = accepting => {}, () = stop_requested => {} }
            connections.close_pending();
        });
        ReceiverStream::new(incoming)
    }

    /// Registers a new connection, and closes the oldest ones without the token if there are too
    /// many. Tome's own clients send the token within milliseconds.
    fn register(self: &Arc<Self>, id: u64, stream: TcpStream) -> TcpConnection {
        let (close, closed) = oneshot::channel();
        let mut pending = self.pending();
        pending.push_back((id, close));
        while pending.len() > self.pending_max {
            if let Some((_, close)) = pending.pop_front() {
                let _ = close.send(());
            }
        }
        drop(pending);
        // Responses are small, and a client waits for each.
        let _ = stream.set_nodelay(true);
        TcpConnection {
            stream,
            state: Arc::new(ConnectionState {
                id,
                connections: Arc::clone(self),
                is_admitted: AtomicBool::new(false),
                permit: Mutex::default(),
            }),
            deadline: Box::pin(tokio::time::sleep(ADMISSION_TIMEOUT)),
            closed: Some(closed),
        }
    }

    /// Closes the connections without the token: they have no call to finish, and a stopping daemon
    /// would wait for their deadline.
    fn close_pending(&self) {
        for (_, close) in std::mem::take(&mut *self.pending()) {
            let _ = close.send(());
        }
    }

    fn pending(&self) -> MutexGuard<'_, VecDeque<(u64, oneshot::Sender<()>)>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state of a connection, shared with its calls.
struct ConnectionState {
    id: u64,
    connections: Arc<TcpConnections>,
    is_admitted: AtomicBool,
    permit: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Drop for ConnectionState {
    fn drop(&mut self) {
        self.connections.pending().retain(|(id, _)| *id != self.id);
    }
}

/// Lets a call admit its connection.
#[derive(Clone)]
pub struct Admission(Arc<ConnectionState>);

impl Admission {
    /// Marks the connection as having shown the token; false if there are too many.
    pub fn admit(&self) -> bool {
        let state = &self.0;
        let mut permit = state.permit.lock().unwrap_or_else(PoisonError::into_inner);
        if permit.is_none() {
            let Ok(granted) = Arc::clone(&state.connections.admitted).try_acquire_owned() else {
                return false;
            };
            *permit = Some(granted);
            state.is_admitted.store(true, Ordering::Release);
            state.connections.pending().retain(|(id, _)| *id != state.id);
        }
        true
    }
}

/// A connection that closes unless it shows the token in time.
pub struct TcpConnection {
    stream: TcpStream,
    state: Arc<ConnectionState>,
    deadline: Pin<Box<Sleep>>,
    /// Resolves when the connection must make room; `None` once that cannot happen anymore.
    closed: Option<oneshot::Receiver<()>>,
}

impl TcpConnection {
    /// Why the connection is closed, if it is. Checked on reads and writes: a client that does not
    /// read its responses also blocks reading.
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
