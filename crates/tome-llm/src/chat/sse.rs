//! Decodes server-sent events from chunks of any size.
//!
//! Lines end with LF, CRLF or CR. Data lines are joined until an empty line. Comments and other fields
//! are ignored, because both protocols put the event type into the data.

use crate::ModelFailure;
use crate::limits::SSE_EVENT_BYTES_MAX;

#[derive(Debug, Default)]
pub(crate) struct SseDecoder {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_cr: bool,
}

type SseSink<'a> = &'a mut dyn FnMut(&[u8]) -> Result<(), ModelFailure>;

impl SseDecoder {
    /// Passes each event that these bytes complete to `sink`.
    pub(crate) fn feed(&mut self, bytes: &[u8], sink: SseSink<'_>) -> Result<(), ModelFailure> {
        for byte in bytes {
            let second_half = std::mem::take(&mut self.after_cr) && *byte == b'\n';
            match byte {
                b'\n' if second_half => {}
                b'\n' | b'\r' => {
                    self.after_cr = *byte == b'\r';
                    self.end_line(sink)?;
                }
                _ if self.line.len() + self.data.len() >= SSE_EVENT_BYTES_MAX => {
                    let message = format!("an event of more than {SSE_EVENT_BYTES_MAX} bytes");
                    return Err(ModelFailure::Malformed { message });
                }
                _ => self.line.push(*byte),
            }
        }
        Ok(())
    }

    /// Returns the data of the last event if the server omitted the final empty line.
    pub(crate) fn finish(mut self) -> Option<Vec<u8>> {
        self.process_line();
        self.has_data.then_some(self.data)
    }

    fn end_line(&mut self, sink: SseSink<'_>) -> Result<(), ModelFailure> {
        if !self.line.is_empty() {
            self.process_line();
            return Ok(());
        }
        let data = std::mem::take(&mut self.data);
        if std::mem::take(&mut self.has_data) { sink(&data) } else { Ok(()) }
    }

    fn process_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let Some(value) = line.strip_prefix(b"data") else { return };
        let value = match value {
            [] => value,
            [b':', b' ', value @ ..] | [b':', value @ ..] => value,
            // Another field whose name starts with `data`.
            _ => return,
        };
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events_of(pieces: &[&[u8]]) -> Vec<String> {
        let (mut events, mut decoded) = (SseDecoder::default(), Vec::new());
        for piece in pieces {
            let mut sink = |data: &[u8]| {
                decoded.push(String::from_utf8_lossy(data).into_owned());
                Ok(())
            };
            events.feed(piece, &mut sink).unwrap();
        }
        let rest = events.finish().map(|data| format!("rest {}", String::from_utf8_lossy(&data)));
        decoded.into_iter().chain(rest).collect()
    }

    #[test]
    fn every_form_of_event_is_decoded() {
        for (stream, expected) in [
            ("data: one\n\ndata: two\n\n", vec!["one", "two"]),
            ("data: one\r\n\r\ndata: two\r\n\r\n", vec!["one", "two"]),
            ("data: one\r\rdata: two\r\r", vec!["one", "two"]),
            ("data:one\n\n", vec!["one"]),
            ("data:  one\n\n", vec![" one"]),
            (": a comment\n\n: ping\ndata: one\n\n", vec!["one"]),
            ("event: x\nid: 7\nretry: 10\ndata: one\n\n", vec!["one"]),
            ("event: x\n\ndata: one\n\n", vec!["one"]),
            ("data: one\ndata: two\n\n", vec!["one\ntwo"]),
            ("data\n\n", vec![""]),
            ("database: one\n\n", vec![]),
            ("\n\n\n", vec![]),
            ("data: no end", vec!["rest no end"]),
            ("data: no end\n", vec!["rest no end"]),
            ("data: 記憶\n\n", vec!["記憶"]),
        ] {
            assert_eq!(events_of(&[stream.as_bytes()]), expected, "{stream:?}");
            let bytes: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
            assert_eq!(events_of(&bytes), expected, "{stream:?} byte by byte");
        }
    }

    #[test]
    fn an_endless_event_is_rejected() {
        let mut none = |_: &[u8]| Ok(());
        let long = vec![b'x'; SSE_EVENT_BYTES_MAX + 1];
        assert!(SseDecoder::default().feed(&long, &mut none).is_err());
        let lines = b"data: xxxxxxx\n".repeat(SSE_EVENT_BYTES_MAX / 8 + 1);
        assert!(SseDecoder::default().feed(&lines, &mut none).is_err());
    }
}
