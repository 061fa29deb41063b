//! Matches events read from a transcript with a session's stored events.
//!
//! Where hooks and transcripts share an id, that decides. Otherwise an event is matched by content:
//! a tool call by its call id, or by tool and input; text by role and text without whitespace; a
//! start, an end or a compaction by its kind. Of several candidates the nearest in time wins,
//! within a window, and each stored event matches only once. Stored text was redacted and capped,
//! so drafts are sealed before the comparison.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};
use tome_engine::Sealer;
use tome_model::{Agent, Draft, Event, EventId, EventKind, Identity, Millis, Tool};

use crate::agents::transcript::tool_called;

/// A hook runs within moments of its event, but the agent may write its transcript late.
const NEAR_MS: u64 = 60_000;

/// A compaction takes a while and may be reported before and after.
const MOMENT_MS: u64 = 300_000;

/// Subagents with different ids in hook and transcript are the same if they are this close in time.
const UNNAMED_MS: u64 = 10_000;

/// A stop may be reported this long before its final message is written.
const STOP_MS: u64 = 2_000;

/// Meta fields that identify the turn, depending on the agent.
const NATIVE: [&str; 2] = ["prompt_id", "turn_id"];

type Likeness = [u8; 16];

struct Stored {
    id: EventId,
    kind: EventKind,
    at: Millis,
    call: Option<String>,
    turn: Option<String>,
    is_taken: bool,
}

/// The stored events of a session, indexed for matching.
pub struct Known {
    agent: Agent,
    stored: Vec<Stored>,
    ids: HashMap<EventId, usize>,
    calls: HashMap<String, Vec<usize>>,
    alike: HashMap<Likeness, Vec<usize>>,
    starts: Vec<Millis>,
    /// Final messages of turns, for agents whose stops repeat the whole turn.
    stops: Vec<(Millis, String)>,
    /// Ids of drafts that were not stored.
    fresh: HashSet<EventId>,
}

impl Known {
    pub fn new(agent: Agent) -> Self {
        Self {
            agent,
            stored: Vec::new(),
            ids: HashMap::new(),
            calls: HashMap::new(),
            alike: HashMap::new(),
            starts: Vec::new(),
            stops: Vec::new(),
            fresh: HashSet::new(),
        }
    }

    pub fn add(&mut self, event: &Event) {
        let place = self.stored.len();
        let (turn, call) = (turn_of(&event.meta), call_of(event.kind, &event.meta));
        self.ids.insert(event.id.clone(), place);
        if let Some(call) = &call {
            self.calls.entry(call.clone()).or_default().push(place);
        }
        let (id, kind, at) = (event.id.clone(), event.kind, event.at);
        self.stored.push(Stored { id, kind, at, call, turn, is_taken: false });
        for likeness in self.likenesses(event.kind, &event.text, event.tool.as_ref(), &event.meta) {
            self.alike.entry(likeness).or_default().push(place);
        }
        match event.kind {
            EventKind::SessionStart => self.starts.push(event.at),
            EventKind::AssistantStop if self.agent.as_str() == "gemini" => {
                self.stops.push((event.at, spaceless(&event.text)));
            }
            _ => {}
        }
    }

    /// Returns whether a draft is stored. A stored event that matches is not matched again.
    pub fn has(&mut self, draft: &Draft, sealer: &Sealer) -> bool {
        if let Identity::Fixed(id) = &draft.identity {
            if let Some(place) = self.ids.get(id).copied() {
                self.take(place);
                return true;
            }
            if !self.fresh.insert(id.clone()) {
                return true;
            }
        }
        if self.stored.is_empty() {
            return false;
        }
        let found = self.find(draft, sealer);
        if let Some(place) = found {
            self.take(place);
        }
        found.is_some() || self.has_started(draft) || self.is_in_a_stop(draft, sealer)
    }

    fn take(&mut self, place: usize) {
        if let Some(stored) = self.stored.get_mut(place) {
            stored.is_taken = true;
        }
    }

    /// Returns stored events that are missing from the transcript although a duplicate under
    /// another id matched. Only meaningful after the whole transcript was compared.
    pub fn duplicates(&self) -> Vec<EventId> {
        let mut found = HashSet::new();
        for places in self.alike.values() {
            let stored = || places.iter().filter_map(|place| self.stored.get(*place));
            for one in stored().filter(|one| !one.is_taken) {
                let is_twin = |other: &Stored| {
                    let is_other_call = one.call.is_some() && other.call.is_some();
                    let is_other_turn = one.turn.is_some() && other.turn.is_some();
                    other.is_taken
                        && other.kind.default_role() == one.kind.default_role()
                        && !(is_other_call && one.call != other.call)
                        && !(is_other_turn && one.turn != other.turn)
                        && one.at.distance_ms(other.at) <= NEAR_MS
                };
                if stored().any(is_twin) {
                    found.insert(one.id.clone());
                }
            }
        }
        let mut found: Vec<EventId> = found.into_iter().collect();
        found.sort();
        found
    }

    fn find(&self, draft: &Draft, sealer: &Sealer) -> Option<usize> {
        if let Some(call) = call_of(draft.kind, &draft.meta)
            && let Some(place) = self.nearest(self.calls.get(&call), draft, NEAR_MS)
        {
            return Some(place);
        }
        let sealed = sealed(draft, sealer);
        let likenesses =
            self.likenesses(draft.kind, &sealed.text, sealed.tool.as_ref(), &draft.meta);
        likenesses.iter().enumerate().find_map(|(rank, likeness)| {
            let within = match draft.kind {
                EventKind::Compaction | EventKind::SessionEnd => MOMENT_MS,
                EventKind::SubagentStart | EventKind::SubagentStop if rank > 0 => UNNAMED_MS,
                _ => NEAR_MS,
            };
            self.nearest(self.alike.get(likeness), draft, within)
        })
    }

    fn nearest(&self, places: Option<&Vec<usize>>, draft: &Draft, within: u64) -> Option<usize> {
        let turn = turn_of(&draft.meta).filter(|_| draft.kind == EventKind::UserMessage);
        let free = places?.iter().filter_map(|place| {
            let stored = self.stored.get(*place).filter(|stored| !stored.is_taken)?;
            // The same text in another turn is another prompt.
            let is_other = turn.is_some() && stored.turn.is_some() && turn != stored.turn;
            let away = stored.at.distance_ms(draft.at);
            (!is_other && away <= within).then_some((away, *place))
        });
        free.min().map(|(_, place)| place)
    }

    /// The first message may come long after the start that a hook recorded.
    fn has_started(&self, draft: &Draft) -> bool {
        draft.kind == EventKind::SessionStart
            && self.starts.iter().any(|at| at.0 <= draft.at.0.saturating_add(NEAR_MS))
    }

    /// Whether the next stop after this message contains it.
    fn is_in_a_stop(&self, draft: &Draft, sealer: &Sealer) -> bool {
        if draft.kind != EventKind::AssistantMessage || self.stops.is_empty() {
            return false;
        }
        let words = spaceless(&sealed(draft, sealer).text);
        let next = self.stops.iter().filter(|(at, _)| at.0.saturating_add(STOP_MS) >= draft.at.0);
        // The previous stop may have been recorded a moment late, so two are checked.
        !words.is_empty() && next.take(2).any(|(_, stop)| stop.contains(&words))
    }

    /// Returns the fingerprints of an event, most specific first.
    fn likenesses(
        &self,
        kind: EventKind,
        text: &str,
        tool: Option<&Tool>,
        meta: &Map<String, Value>,
    ) -> Vec<Likeness> {
        let words = || likeness(&[kind.default_role().as_str(), &spaceless(text)]);
        let named = |name: &str| meta.get(name).and_then(Value::as_str).unwrap_or_default();
        let is_loose = matches!(self.agent.as_str(), "codex" | "copilot");
        let mut found = Vec::new();
        match (kind, tool) {
            (EventKind::ToolResult, Some(tool)) => {
                let name = tool_called(&self.agent, &tool.name);
                found.push(likeness(&["tool", name, &tool.input.to_string()]));
            }
            (EventKind::SessionStart, _) => {}
            (EventKind::SessionEnd, _) => found.push(likeness(&["end"])),
            (EventKind::Compaction, _) => found.push(likeness(&["compaction", named("phase")])),
            (EventKind::SubagentStart, _) => {
                found.push(likeness(&["subagent start", named("subagent")]));
                found.extend(is_loose.then(|| likeness(&["subagent start"])));
            }
            (EventKind::SubagentStop, _) => {
                found.extend((!text.trim().is_empty()).then(words));
                found.push(likeness(&["subagent stop", named("subagent")]));
                found.extend(is_loose.then(|| likeness(&["subagent stop"])));
            }
            _ if !text.trim().is_empty() => found.push(words()),
            _ => {}
        }
        found
    }
}

/// Seals the parts of a draft that are compared.
fn sealed(draft: &Draft, sealer: &Sealer) -> Draft {
    let tool = draft.tool.as_ref().map(|tool| Tool {
        name: tool.name.clone(),
        input: tool.input.clone(),
        output: Value::Null,
    });
    sealer.seal(Draft {
        identity: draft.identity.clone(),
        at: draft.at,
        session: draft.session.clone(),
        agent: draft.agent.clone(),
        cwd: String::new(),
        project: None,
        kind: draft.kind,
        role: draft.role,
        text: draft.text.clone(),
        tool,
        meta: Map::new(),
    })
}

fn call_of(kind: EventKind, meta: &Map<String, Value>) -> Option<String> {
    let id = meta.get("tool_use_id").or_else(|| meta.get("call_id"))?;
    id.as_str().filter(|_| kind == EventKind::ToolResult).map(str::to_owned)
}

fn turn_of(meta: &Map<String, Value>) -> Option<String> {
    NATIVE.iter().find_map(|name| meta.get(*name)?.as_str().map(str::to_owned))
}

fn likeness(parts: &[&str]) -> Likeness {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    hasher.finalize().as_bytes().first_chunk().copied().unwrap_or_default()
}

fn spaceless(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
