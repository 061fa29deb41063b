//! A session in a project, as recorded in the ledger, and the lines of its transcript.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::sync::PoisonError;

use tome_ledger::{EventPosition, EventRange, Ledger};
use tome_model::{Event, SessionId};

use super::scan::{TranscriptScan, parse_event_id};
use super::{TRANSCRIPT_PROJECTION, Transcripts};
use tome_home::layout::MESSAGES;
use tome_home::{FinalLink, HomeError, layout, open_regular};

/// Maximum length of a foreign line to return.
const FOREIGN_LINE_BYTES_MAX: u64 = 64 * 1024;

/// A session's events in one project.
pub(super) struct ProjectSession<'a> {
    pub(super) ledger: &'a Ledger,
    pub(super) project: &'a str,
    pub(super) session: &'a SessionId,
    /// The file should contain everything up to this number of the outbox.
    pub(super) committed_seq: u64,
    pub(super) folder: PathBuf,
}

/// A line of a session's transcript.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionTranscriptLine {
    /// An event, read from the ledger.
    Event(Box<Event>),
    /// A line written by another program or torn by a crash, decoded lossily.
    Foreign(String),
    /// The line does not exist.
    Missing {
        /// Number of lines in the transcript.
        lines: u32,
    },
}

impl ProjectSession<'_> {
    /// Returns whether the file lacks an event that it should contain.
    pub(super) fn lacks_lines(&self, scan: &TranscriptScan) -> Result<bool, HomeError> {
        for position in self.positions() {
            let position = position?;
            if position.seq <= self.committed_seq
                && scan.find_line(&position.id).is_none()
                // A session may span several projects that share a ledger.
                && self.ledger.event_at(&position)?.is_some_and(|event| self.contains(&event))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Its events in order of arrival, read lazily.
    pub(super) fn events(
        &self,
    ) -> Result<impl Iterator<Item = Result<Event, HomeError>>, HomeError> {
        let mut positions = self.positions().collect::<Result<Vec<EventPosition>, _>>()?;
        positions.sort_unstable_by_key(|position| position.seq);
        let found = positions.into_iter().map(|position| self.ledger.event_at(&position));
        Ok(found.filter_map(|event| match event {
            Ok(event) => event.filter(|event| self.contains(event)).map(Ok),
            Err(error) => Some(Err(error.into())),
        }))
    }

    fn contains(&self, event: &Event) -> bool {
        event.project == self.project
    }

    fn positions(&self) -> impl Iterator<Item = Result<EventPosition, tome_ledger::LedgerError>> {
        let range = EventRange { session: Some(self.session.clone()), ..EventRange::default() };
        self.ledger.positions(&range)
    }
}

impl Transcripts {
    /// Returns a line of a session's transcript, counted from 1. Rebuilds the transcript first if
    /// it is missing or truncated. A session without events has no lines.
    pub fn read_line(
        &self,
        ledger: &Ledger,
        project: &str,
        session: &SessionId,
        number: u32,
    ) -> Result<SessionTranscriptLine, HomeError> {
        let project_session =
            self.project_session(ledger, project, session, ledger.cursor(TRANSCRIPT_PROJECTION)?)?;
        if project_session.events()?.next().transpose()?.is_none() {
            // Reading must not create a folder.
            return Ok(SessionTranscriptLine::Missing { lines: 0 });
        }
        let transcript = self.cache.get(&project_session.folder);
        let mut transcript = transcript.lock().unwrap_or_else(PoisonError::into_inner);
        let scan = transcript.refresh(&project_session)?;
        if number == 0 || number > scan.lines {
            return Ok(SessionTranscriptLine::Missing { lines: scan.lines });
        }
        let path = project_session.folder.join(MESSAGES);
        let text = read_file_line(&path, number).map_err(HomeError::file("read", &path))?;
        if let Some(id) = parse_event_id(&text)
            && scan.find_line(&id) == Some(number)
            && let Some(event) = ledger.event(&id)?
        {
            return Ok(SessionTranscriptLine::Event(Box::new(event)));
        }
        Ok(SessionTranscriptLine::Foreign(String::from_utf8_lossy(&text).into_owned()))
    }

    /// Finds the session whose folder has this name among those with events in this ledger.
    pub fn find_session(
        &self,
        ledger: &Ledger,
        folder: &str,
    ) -> Result<Option<SessionId>, HomeError> {
        let mut after = None;
        while let Some(session) = ledger.next_session(after.as_ref())? {
            if layout::session_dir_name(session.as_str()) == folder {
                return Ok(Some(session));
            }
            after = Some(session);
        }
        Ok(None)
    }
}

/// Parses the session id from a folder name; `None` if the name is a hash.
pub(crate) fn parse_session_folder(folder: &str) -> Option<SessionId> {
    let id = match folder.strip_prefix('~') {
        Some(escaped) => unescape(escaped)?,
        None => folder.to_owned(),
    };
    SessionId::parse(&id).ok().filter(|_| layout::session_dir_name(&id) == folder)
}

/// Decodes `%XX` escapes.
fn unescape(escaped: &str) -> Option<String> {
    let mut parts = escaped.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (hex, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(hex, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

/// Reads a line without its terminator, truncated to a maximum length.
fn read_file_line(path: &std::path::Path, number: u32) -> std::io::Result<Vec<u8>> {
    let mut reader = BufReader::with_capacity(64 * 1024, open_regular(path, FinalLink::Refuse)?);
    for _ in 1..number {
        reader.skip_until(b'\n')?;
    }
    let mut line = Vec::new();
    reader.take(FOREIGN_LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
    if line.ends_with(b"\n") {
        line.pop();
    }
    Ok(line)
}
