//! Reads Gemini CLI's chats. The update log is read twice: first to find the remaining messages and
//! where each was last written, then to read them. Only positions are kept in memory, not messages.
//! An old chat is one JSON value, whose messages are read one by one.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use tome_home::{FinalLink, open_regular, read_regular, read_regular_text};

use super::lines::{LINE_BYTES_MAX, LineReader};
use super::sources::TranscriptSource;
use super::{RecordSink, line_too_long_message, transcript_origin};
use crate::agents::transcript::{ChatHeader, GeminiChatReader, chat_folder_in, parse_record};
use crate::agents::transcript_record::{RecordOutcome, RecordOutcomes, RecordSkipReason};

/// The marker beside the chats contains one path.
const MARKER_BYTES_MAX: u64 = 16 * 1024;
/// The list of projects has one line per project.
const PROJECTS_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Messages searched for the chat's folder: the harness's own message comes first.
const HEAD_MESSAGES: usize = 3;

/// Position of a message: a line, or an element of a list in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MessagePosition {
    number: u64,
    offset: u64,
    length: u64,
    within: Option<usize>,
}

/// The messages that remain after all updates, in order.
#[derive(Default)]
struct ChatIndex {
    header: ChatHeader,
    folder: Option<String>,
    positions: Vec<MessagePosition>,
    by_id: HashMap<String, usize>,
    ids: Vec<String>,
    rewound: u64,
}

impl ChatIndex {
    fn apply_record(&mut self, record: &Map<String, Value>, position: MessagePosition) {
        if let Some(Value::Object(set)) = record.get("$set") {
            self.header.merge(set);
            let messages = set.get("messages").and_then(Value::as_array).into_iter().flatten();
            for (within, message) in messages.enumerate() {
                let Value::Object(message) = message else { continue };
                self.upsert_message(message, MessagePosition { within: Some(within), ..position });
            }
        } else if let Some(Value::String(id)) = record.get("$rewindTo") {
            self.rewind(id);
        } else if record.contains_key("projectHash") || record.contains_key("sessionId") {
            self.header.merge(record);
        } else {
            self.upsert_message(record, position);
        }
    }

    /// A later write of a message replaces it at its original place.
    fn upsert_message(&mut self, message: &Map<String, Value>, position: MessagePosition) {
        if self.positions.len() < HEAD_MESSAGES && self.folder.is_none() {
            self.folder = chat_folder_in(message);
        }
        let id = message.get("id").and_then(Value::as_str).unwrap_or_default();
        let existing = self.by_id.get(id).and_then(|at| self.positions.get_mut(*at));
        match existing {
            Some(existing) if !id.is_empty() => *existing = position,
            _ => {
                if !id.is_empty() {
                    self.by_id.insert(id.to_owned(), self.positions.len());
                }
                self.positions.push(position);
                self.ids.push(id.to_owned());
            }
        }
    }

    /// Removes a message and everything after it.
    fn rewind(&mut self, id: &str) {
        let Some(at) = self.by_id.get(id).copied() else { return };
        self.rewound += (self.positions.len() - at) as u64;
        self.positions.truncate(at);
        for id in self.ids.drain(at..) {
            self.by_id.remove(&id);
        }
    }
}

pub fn read_update_log(source: &TranscriptSource, sink: &mut dyn RecordSink) -> Result<()> {
    let mut file = open_regular(&source.path, FinalLink::Follow)?;
    let index = build_chat_index(&file, sink)?;
    let mut chat = build_chat_reader(source, &index.header, index.folder.as_deref());
    for _ in 0..index.rewound {
        sink.accept(RecordOutcome::Skipped(RecordSkipReason::Rewound), 0)?;
    }
    let mut steps = RecordOutcomes::new();
    let mut list: (u64, Vec<Value>) = (u64::MAX, Vec::new());
    for position in index.positions {
        let message = match position.within {
            None => read_record_at(&mut file, position)?,
            Some(within) => {
                if list.0 != position.offset {
                    list = (position.offset, take_messages(read_record_at(&mut file, position)?));
                }
                match list.1.get_mut(within).map(Value::take) {
                    Some(Value::Object(message)) => message,
                    _ => continue,
                }
            }
        };
        chat.read_message(message, &mut steps);
        for step in steps.drain(..) {
            sink.accept(step, position.number)?;
        }
    }
    finish_chat(&mut chat, sink)
}

fn finish_chat(chat: &mut GeminiChatReader, sink: &mut dyn RecordSink) -> Result<()> {
    let mut steps = RecordOutcomes::new();
    chat.finish(&mut steps);
    for step in steps {
        sink.accept(step, 0)?;
    }
    Ok(())
}

fn build_chat_index(file: &File, sink: &mut dyn RecordSink) -> Result<ChatIndex> {
    let mut index = ChatIndex::default();
    let mut lines = LineReader::new(file);
    while let Some(line) = lines.next_line()? {
        sink.add_bytes_read(line.length);
        if line.is_too_long {
            sink.report_damage(line.number, line_too_long_message());
            continue;
        }
        let (offset, length) = (line.offset, line.length);
        let position = MessagePosition { number: line.number, offset, length, within: None };
        match parse_record(line.bytes) {
            Ok(Some(record)) => index.apply_record(&record, position),
            Ok(None) => {}
            Err(_) if !line.is_ended => {
                sink.accept(RecordOutcome::Skipped(RecordSkipReason::Unfinished), line.number)?;
            }
            Err(reason) => sink.report_damage(line.number, reason),
        }
    }
    Ok(index)
}

/// Reads a record again; yields an empty one if the file was overwritten in the meantime.
fn read_record_at(file: &mut File, position: MessagePosition) -> Result<Map<String, Value>> {
    file.seek(SeekFrom::Start(position.offset))?;
    let mut bytes = Vec::new();
    file.take(position.length.min(LINE_BYTES_MAX)).read_to_end(&mut bytes)?;
    Ok(parse_record(bytes.trim_ascii()).ok().flatten().unwrap_or_default())
}

fn take_messages(mut record: Map<String, Value>) -> Vec<Value> {
    let list = record.get_mut("$set").and_then(|set| set.get_mut("messages")).map(Value::take);
    match list {
        Some(Value::Array(messages)) => messages,
        _ => Vec::new(),
    }
}

/// Reads a chat of an old version.
pub fn read_conversation(source: &TranscriptSource, sink: &mut dyn RecordSink) -> Result<()> {
    let mut head = ConversationHead::default();
    let mut read = |message: Map<String, Value>| {
        if head.messages < HEAD_MESSAGES && head.folder.is_none() {
            head.folder = chat_folder_in(&message);
        }
        head.messages += 1;
        Ok(())
    };
    let mut header = ChatHeader::default();
    // A truncated chat still has its header.
    let _ = parse_conversation(&source.path, &mut header, &mut read)?;
    let mut chat = build_chat_reader(source, &header, head.folder.as_deref());
    let mut steps = RecordOutcomes::new();
    let broken = parse_conversation(&source.path, &mut ChatHeader::default(), &mut |message| {
        chat.read_message(message, &mut steps);
        steps.drain(..).try_for_each(|step| sink.accept(step, 0))
    })?;
    sink.add_bytes_read(source.bytes);
    if let Some((line, reason)) = broken {
        sink.report_damage(line, reason);
    }
    finish_chat(&mut chat, sink)
}

#[derive(Default)]
struct ConversationHead {
    folder: Option<String>,
    messages: usize,
}

type MessageCallback<'a> = &'a mut dyn FnMut(Map<String, Value>) -> Result<()>;

/// Parses a chat's header and passes its messages to `each`. Returns the error position if it is
/// truncated.
fn parse_conversation(
    path: &Path,
    header: &mut ChatHeader,
    each: MessageCallback<'_>,
) -> Result<Option<(u64, String)>> {
    let file = BufReader::with_capacity(256 * 1024, open_regular(path, FinalLink::Follow)?);
    let mut json = serde_json::Deserializer::from_reader(file);
    let mut failed = None;
    let read = ConversationVisitor { header, each, failed: &mut failed }.deserialize(&mut json);
    match (failed, read) {
        (Some(error), _) => Err(error),
        (None, Ok(())) => Ok(None),
        (None, Err(error)) => {
            let line = error.line() as u64;
            Ok(Some((line, format!("the chat is truncated: {error}"))))
        }
    }
}

/// Deserializes a chat, passing messages on one by one.
struct ConversationVisitor<'a, 'e> {
    header: &'a mut ChatHeader,
    each: MessageCallback<'e>,
    failed: &'a mut Option<anyhow::Error>,
}

impl<'de> DeserializeSeed<'de> for ConversationVisitor<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ConversationVisitor<'_, '_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a chat")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "messages" => {
                    map.next_value_seed(MessageListVisitor {
                        each: &mut *self.each,
                        failed: self.failed,
                    })?;
                }
                "sessionId" | "startTime" | "kind" => {
                    let value = map.next_value::<Value>()?;
                    self.header.merge(&Map::from_iter([(name, value)]));
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

struct MessageListVisitor<'a, 'e> {
    each: MessageCallback<'e>,
    failed: &'a mut Option<anyhow::Error>,
}

impl<'de> DeserializeSeed<'de> for MessageListVisitor<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for MessageListVisitor<'_, '_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(message) = list.next_element::<Value>()? {
            let Value::Object(message) = message else { continue };
            if let Err(error) = (self.each)(message) {
                *self.failed = Some(error);
                return Err(serde::de::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

/// Creates the chat's reader. Its folder comes from the marker beside the chats, the list of
/// projects, or the chat's first message.
fn build_chat_reader(
    source: &TranscriptSource,
    header: &ChatHeader,
    named: Option<&str>,
) -> GeminiChatReader {
    let mut origin = transcript_origin(source);
    let chats = source.path.ancestors().find(|path| path.ends_with("chats"));
    let project = chats.and_then(Path::parent);
    let folder = project.and_then(find_project_folder);
    if let Some(folder) = folder.or_else(|| named.map(str::to_owned)) {
        origin.cwd = folder;
    }
    GeminiChatReader::new(origin, header)
}

fn find_project_folder(project: &Path) -> Option<String> {
    let marker = project.join(".project_root");
    let marked = read_regular_text(&marker, FinalLink::Follow, MARKER_BYTES_MAX).ok();
    let marked = marked.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    marked.or_else(|| find_listed_folder(project).ok().flatten())
}

/// Looks up the folder by the short name under which its chats are stored.
fn find_listed_folder(project: &Path) -> Result<Option<String>> {
    let root = project.parent().and_then(Path::parent).context("no folder above")?;
    let list: Value = serde_json::from_slice(&read_regular(
        &root.join("projects.json"),
        FinalLink::Follow,
        PROJECTS_BYTES_MAX,
    )?)?;
    let name = project.file_name().and_then(|name| name.to_str());
    let projects = list.get("projects").and_then(Value::as_object).into_iter().flatten();
    let mut found = projects.filter(|(_, short)| short.as_str() == name);
    Ok(found.next().map(|(folder, _)| folder.clone()))
}
