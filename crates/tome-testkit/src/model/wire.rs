//! A connection: reads requests and writes the scripted responses until the client leaves or a
//! response ends the connection.

use std::io::{BufReader, ErrorKind, Result, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::answer::{Answer, Break, Kind, Said, Way};
use super::{Asked, Shared, anthropic, lock, openai};

/// Timeout of reads and writes.
const IO_MAX: Duration = Duration::from_secs(20);
/// Interval at which a waiting server checks whether the client is still connected.
const LOOK: Duration = Duration::from_millis(10);

pub(super) fn converse(stream: &TcpStream, shared: &Shared) -> Result<()> {
    stream.set_read_timeout(Some(IO_MAX))?;
    stream.set_write_timeout(Some(IO_MAX))?;
    // Send every piece by itself, like a model that is still generating.
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while answered(stream, &mut reader, shared)? == After::Stays {}
    Ok(())
}

/// Whether the connection stays open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Stays,
    Ends,
}

fn answered(
    stream: &TcpStream,
    reader: &mut BufReader<&TcpStream>,
    shared: &Shared,
) -> Result<After> {
    let asked = Asked::read(reader)?;
    let mut all = lock(&shared.asked);
    all.push(asked.clone());
    let number = all.len();
    // Under the same lock, so that the script follows the order of the recorded requests.
    let answer = (lock(&shared.director))(&asked);
    drop(all);
    let written = Connection { stream, shared }.answer(&answer, &asked, number);
    if written.is_err() && !shared.is_over() {
        *lock(&shared.hung_up) += 1;
    }
    written
}

struct Connection<'a> {
    stream: &'a TcpStream,
    shared: &'a Shared,
}

impl Connection<'_> {
    fn answer(&self, answer: &Answer, asked: &Asked, number: usize) -> Result<After> {
        match &answer.kind {
            Kind::Said(said) => self.say(said, answer, asked, number),
            Kind::Whole { status, body } => self.whole(*status, &answer.headers, body),
            Kind::Chunks(parts) => {
                self.head(200, &answer.headers, &[("transfer-encoding", "chunked")])?;
                self.pieces(parts.iter().map(String::as_bytes), &answer.way)
            }
            Kind::Raw(bytes) => self.write(bytes).map(|()| After::Ends),
            Kind::Silence => self.wait(Duration::MAX).map(|()| After::Ends),
            Kind::Drip => {
                self.head(200, &answer.headers, &[("content-length", "100000")])?;
                while !self.shared.is_over() {
                    self.write(b" ")?;
                    self.wait(LOOK)?;
                }
                Ok(After::Ends)
            }
            Kind::Flood => {
                self.head(200, &answer.headers, &[("connection", "close")])?;
                let part = [b' '; 64 * 1024];
                // Ends when the client disconnects, at 128 MiB at the latest.
                (0..2048).try_for_each(|_| self.write(&part))?;
                Ok(After::Ends)
            }
        }
    }

    fn say(&self, said: &Said, answer: &Answer, asked: &Asked, number: usize) -> Result<After> {
        let model = asked.body.get("model").cloned().unwrap_or_default();
        if answer.way.whole || !asked.wants_stream() {
            let body = if asked.is_anthropic() {
                anthropic::message(said, &model, number)
            } else {
                openai::completion(said, &model, number)
            };
            return self.whole(200, &answer.headers, &body.to_string());
        }
        let events = if asked.is_anthropic() {
            anthropic::events(said, &model, number)
        } else {
            openai::chunks(said, &asked.body, number)
        };
        let framing = [("content-type", "text/event-stream"), ("transfer-encoding", "chunked")];
        self.head(200, &answer.headers, &framing)?;
        let Some(bytes) = answer.way.piece_bytes else {
            return self.pieces(events.iter().map(String::as_bytes), &answer.way);
        };
        self.pieces(events.concat().as_bytes().chunks(bytes), &answer.way)
    }

    fn whole(&self, status: u16, headers: &[(String, String)], body: &str) -> Result<After> {
        let length = body.len().to_string();
        let framing = [("content-type", "application/json"), ("content-length", length.as_str())];
        self.head(status, headers, &framing)?;
        self.write(body.as_bytes()).map(|()| After::Stays)
    }

    fn head(&self, status: u16, own: &[(String, String)], framing: &[(&str, &str)]) -> Result<()> {
        let mut head = format!("HTTP/1.1 {status} Said\r\n");
        let own = own.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in framing.iter().copied().chain(own) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        self.write(format!("{head}\r\n").as_bytes())
    }

    fn pieces<'p>(&self, pieces: impl Iterator<Item = &'p [u8]>, way: &Way) -> Result<After> {
        let (breaks_after, breaks) = way.breaks.unzip();
        for (sent, piece) in pieces.enumerate() {
            if Some(sent) == breaks_after {
                if breaks == Some(Break::Silent) {
                    self.wait(Duration::MAX)?;
                }
                return Ok(After::Ends);
            }
            if let Some(pause) = way.pause {
                self.wait(pause)?;
            }
            let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
            chunk.extend_from_slice(piece);
            chunk.extend_from_slice(b"\r\n");
            self.write(&chunk)?;
        }
        self.write(b"0\r\n\r\n").map(|()| After::Stays)
    }

    fn write(&self, bytes: &[u8]) -> Result<()> {
        let mut stream = self.stream;
        stream.write_all(bytes)?;
        stream.flush()
    }

    /// Waits for `time` or until the server ends; fails if the client has disconnected.
    fn wait(&self, time: Duration) -> Result<()> {
        let mut left = time;
        while !left.is_zero() {
            let slice = left.min(LOOK);
            if self.shared.over_within(slice) {
                return Ok(());
            }
            if self.is_alone()? {
                return Err(ErrorKind::ConnectionAborted.into());
            }
            left -= slice;
        }
        Ok(())
    }

    fn is_alone(&self) -> Result<bool> {
        self.stream.set_nonblocking(true)?;
        let seen = self.stream.peek(&mut [0]);
        self.stream.set_nonblocking(false)?;
        Ok(match seen {
            Ok(bytes) => bytes == 0,
            Err(error) => error.kind() != ErrorKind::WouldBlock,
        })
    }
}
