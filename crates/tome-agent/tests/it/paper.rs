//! An in-memory implementation of [`Memory`], for tests with many turns.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use tome_agent::event::{Event, Millis};
use tome_agent::{Memory, MemoryError, MemoryTools, SessionEvent, SessionInfo};
use tome_agent::{ToolAnswer, ToolFailure};

pub struct Paper {
    who: SessionInfo,
    pub time: AtomicU64,
    pub notes: Mutex<BTreeMap<String, String>>,
    pub events: Mutex<Vec<SessionEvent>>,
    /// Makes every attempt to record fail.
    pub is_away: Mutex<bool>,
}

impl Paper {
    pub fn new() -> Self {
        Self {
            who: SessionInfo::new("s1", "/app").unwrap(),
            time: AtomicU64::new(1_794_735_000_000),
            notes: Mutex::default(),
            events: Mutex::default(),
            is_away: Mutex::default(),
        }
    }
}

impl MemoryTools for Paper {
    fn call_tool(&self, tool: &str, arguments: &str) -> Result<ToolAnswer, MemoryError> {
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let mut notes = self.notes.lock().unwrap();
        let json = match tool {
            "memory_write" => {
                notes.insert(text("path").to_owned(), text("content").to_owned());
                json!({ "success": true })
            }
            "memory_read" => match notes.get(text("path")) {
                Some(content) => json!({ "content": content }),
                None => {
                    let failure = Some(ToolFailure::NotFound);
                    let text = "no such note".to_owned();
                    return Ok(ToolAnswer { text, json: Value::Null, failure, secrets_cut: 0 });
                }
            },
            "memory_list" if arguments.get("scope").is_none() => {
                let own =
                    json!({ "path": "facts/user.md", "summary": "who the person is", "size": 320 });
                let others = notes.keys().filter(|path| path.contains('/'));
                let others = others.map(|path| json!({ "path": path, "size": 1 }));
                others.chain([own]).collect()
            }
            "memory_list" => json!([]),
            "coder_memory_recall" => json!({ "insights": [{
                "type": "semantic", "title": "Slices", "path": "semantic/semantic.md", "line": 3,
                "text": "**Title:** Slices\nport in slices", "why": "it bears on this",
            }] }),
            "coder_memory_store" => json!({ "success": true }),
            _ => return Err(MemoryError::UnknownTool(tool.to_owned())),
        };
        Ok(ToolAnswer { text: json.to_string(), json, failure: None, secrets_cut: 0 })
    }
}

impl Memory for Paper {
    fn session(&self) -> &SessionInfo {
        &self.who
    }

    fn now(&self) -> Millis {
        Millis(self.time.fetch_add(1, Ordering::Relaxed))
    }

    fn record_events(&self, events: &[SessionEvent]) -> Result<(), MemoryError> {
        if *self.is_away.lock().unwrap() {
            return Err(MemoryError::Unavailable("on holiday".to_owned()));
        }
        let mut kept = self.events.lock().unwrap();
        for event in events {
            if kept.len() < 50_000 && !kept.iter().rev().take(50).any(|one| one.id == event.id) {
                kept.push(event.clone());
            }
        }
        Ok(())
    }

    fn recent_events(&self, newest_max: usize) -> Result<Vec<Event>, MemoryError> {
        let kept = self.events.lock().unwrap();
        let newest = &kept[kept.len().saturating_sub(newest_max)..];
        Ok(newest.iter().map(|event| self.who.to_event(event)).collect())
    }
}
