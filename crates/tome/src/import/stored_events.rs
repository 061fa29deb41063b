//! Matches events read from a transcript with a session's stored events.
//!
//! Where hooks and transcripts share an id, that decides. Otherwise an event is matched by content:
//! a tool call by its call id, or by tool and input; text by role and text without whitespace; a
//! start, an end or a compaction by its kind. The nearest candidate in time wins,
//! within a window, and each stored event matches only once. Stored text was redacted and capped,
//! so drafts are sealed before the comparison.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};
use tome_engine::Sealer;
use tome_model::{Agent, Draft, Event, EventId, EventKind, Identity, Millis, Tool};

use crate::agents::AgentProfile;
use crate::agents::transcript::canonical_tool_name;
use crate::agents::transcript_record::SCRIPT_START_META_KEY;

/// A hook runs within moments of its event, but the agent may write its transcript late.
const MATCH_WINDOW_MS: u64 = 60_000;

/// A compaction takes a while and may be reported before and after.
const LIFECYCLE_WINDOW_MS: u64 = 300_000;

/// Subagents with different ids in hook and transcript are the same if they are this close in time.
const SUBAGENT_WINDOW_MS: u64 = 10_000;

/// A stop may be reported this long before its final message is written.
const STOP_LEAD_MS: u64 = 2_000;

/// Meta fields that identify the turn, depending on the agent.
const TURN_ID_FIELDS: [&str; 2] = ["prompt_id", "turn_id"];

type EventFingerprint = [u8; 16];

struct StoredCandidate {
    id: EventId,
    kind: EventKind,
    at: Millis,
    call: Option<String>,
    turn: Option<String>,
    is_matched: bool,
}

/// The stored events of a session, indexed for matching.
pub struct StoredEvents {
    agent: Agent,
    stored: Vec<StoredCandidate>,
    ids: HashMap<EventId, usize>,
    calls: HashMap<String, Vec<usize>>,
    by_fingerprint: HashMap<EventFingerprint, Vec<usize>>,
    starts: Vec<Millis>,
    /// Final messages of turns, for agents whose stops repeat the whole turn.
    stops: Vec<(Millis, String)>,
    /// Ids of drafts that were not stored.
    unmatched: HashSet<EventId>,
}

impl StoredEvents {
    pub fn new(agent: Agent) -> Self {
        Self {
            agent,
            stored: Vec::new(),
            ids: HashMap::new(),
            calls: HashMap::new(),
            by_fingerprint: HashMap::new(),
            starts: Vec::new(),
            stops: Vec::new(),
            unmatched: HashSet::new(),
        }
    }

    pub fn insert(&mut self, event: &Event) {
        let index = self.stored.len();
        let (turn, call) = (turn_id(&event.meta), call_id(event.kind, &event.meta));
        self.ids.insert(event.id.clone(), index);
        if event.has_no_result() {
            // The result, if it is written after all, is another event.
            let (id, kind, at) = (event.id.clone(), event.kind, event.at);
            self.stored.push(StoredCandidate { id, kind, at, call, turn, is_matched: false });
            return;
        }
        if let Some(call) = &call {
            self.calls.entry(call.clone()).or_default().push(index);
        }
        let (id, kind, at) = (event.id.clone(), event.kind, event.at);
        self.stored.push(StoredCandidate { id, kind, at, call, turn, is_matched: false });
        for likeness in self.fingerprints(event.kind, &event.text, event.tool.as_ref(), &event.meta)
        {
            self.by_fingerprint.entry(likeness).or_default().push(index);
        }
        let profile = AgentProfile::of_agent(&self.agent);
        match event.kind {
            EventKind::SessionStart => self.starts.push(event.at),
            EventKind::AssistantStop if profile.repeats_messages_at_stop => {
                self.stops.push((event.at, strip_whitespace(&event.text)));
            }
            _ => {}
        }
    }

    /// Returns whether a draft is stored. A stored event that matches is not matched again.
    pub fn match_draft(&mut self, draft: &Draft, sealer: &Sealer) -> bool {
        if let Identity::Fixed(id) = &draft.identity {
            if let Some(index) = self.ids.get(id).copied() {
                self.mark_matched(index);
                return true;
            }
            if !self.unmatched.insert(id.clone()) {
                return true;
            }
        }
        if self.stored.is_empty() {
            return false;
        }
        let matched = self.find_match(draft, sealer);
        if let Some(index) = matched {
            self.mark_matched(index);
        }
        matched.is_some() || self.has_session_start(draft) || self.is_part_of_stop(draft, sealer)
    }

    /// Whether the result of this call is stored.
    pub fn has_call(&self, id: &str) -> bool {
        self.calls.contains_key(id)
    }

    fn mark_matched(&mut self, index: usize) {
        if let Some(stored) = self.stored.get_mut(index) {
            stored.is_matched = true;
        }
    }

    /// Returns stored events that are missing from the transcript although a duplicate under
    /// another id matched. Only meaningful after the whole transcript was compared.
    pub fn find_duplicates(&self) -> Vec<EventId> {
        let mut duplicates = HashSet::new();
        for indexes in self.by_fingerprint.values() {
            let stored = || indexes.iter().filter_map(|index| self.stored.get(*index));
            for candidate in stored().filter(|candidate| !candidate.is_matched) {
                let is_twin = |other: &StoredCandidate| {
                    let is_other_call = candidate.call.is_some() && other.call.is_some();
                    let is_other_turn = candidate.turn.is_some() && other.turn.is_some();
                    other.is_matched
                        && other.kind.default_role() == candidate.kind.default_role()
                        && !(is_other_call && candidate.call != other.call)
                        && !(is_other_turn && candidate.turn != other.turn)
                        && candidate.at.distance_ms(other.at) <= MATCH_WINDOW_MS
                };
                if stored().any(is_twin) {
                    duplicates.insert(candidate.id.clone());
                }
            }
        }
        let mut duplicates: Vec<EventId> = duplicates.into_iter().collect();
        duplicates.sort();
        duplicates
    }

    fn find_match(&self, draft: &Draft, sealer: &Sealer) -> Option<usize> {
        if let Some(call) = call_id(draft.kind, &draft.meta)
            && let Some(index) = self.find_nearest(self.calls.get(&call), draft, MATCH_WINDOW_MS)
        {
            return Some(index);
        }
        let sealed = seal_for_comparison(draft, sealer);
        let likenesses =
            self.fingerprints(draft.kind, &sealed.text, sealed.tool.as_ref(), &draft.meta);
        likenesses.iter().enumerate().find_map(|(rank, likeness)| {
            let within = match draft.kind {
                EventKind::Compaction | EventKind::SessionEnd => LIFECYCLE_WINDOW_MS,
                EventKind::SubagentStart | EventKind::SubagentStop if rank > 0 => {
                    SUBAGENT_WINDOW_MS
                }
                _ => MATCH_WINDOW_MS,
            };
            self.find_nearest(self.by_fingerprint.get(likeness), draft, within)
        })
    }

    fn find_nearest(
        &self,
        indexes: Option<&Vec<usize>>,
        draft: &Draft,
        within: u64,
    ) -> Option<usize> {
        let turn = turn_id(&draft.meta).filter(|_| draft.kind == EventKind::UserMessage);
        let free = indexes?.iter().filter_map(|index| {
            let stored = self.stored.get(*index).filter(|stored| !stored.is_matched)?;
            // The same text in another turn is another prompt.
            let is_other = turn.is_some() && stored.turn.is_some() && turn != stored.turn;
            let distance_ms = distance_ms(draft, stored.at);
            (!is_other && distance_ms <= within).then_some((distance_ms, *index))
        });
        free.min().map(|(_, index)| index)
    }

    /// The first message may come long after the start that a hook recorded.
    fn has_session_start(&self, draft: &Draft) -> bool {
        draft.kind == EventKind::SessionStart
            && self.starts.iter().any(|at| at.0 <= draft.at.0.saturating_add(MATCH_WINDOW_MS))
    }

    /// Whether the next stop after this message contains it.
    fn is_part_of_stop(&self, draft: &Draft, sealer: &Sealer) -> bool {
        if draft.kind != EventKind::AssistantMessage || self.stops.is_empty() {
            return false;
        }
        let words = strip_whitespace(&seal_for_comparison(draft, sealer).text);
        let next =
            self.stops.iter().filter(|(at, _)| at.0.saturating_add(STOP_LEAD_MS) >= draft.at.0);
        // The previous stop may have been recorded a moment late, so two are checked.
        !words.is_empty() && next.take(2).any(|(_, stop)| stop.contains(&words))
    }

    /// Returns the fingerprints of an event, most specific first.
    fn fingerprints(
        &self,
        kind: EventKind,
        text: &str,
        tool: Option<&Tool>,
        meta: &Map<String, Value>,
    ) -> Vec<EventFingerprint> {
        let said = if kind == EventKind::UserMessage { strip_namespace(text) } else { text.into() };
        let words =
            || compute_fingerprint(&[kind.default_role().as_str(), &strip_whitespace(&said)]);
        let named = |name: &str| meta.get(name).and_then(Value::as_str).unwrap_or_default();
        let is_loose = AgentProfile::of_agent(&self.agent).renames_subagents;
        let mut all = Vec::new();
        match (kind, tool) {
            (EventKind::ToolResult, Some(tool)) => {
                let name = canonical_tool_name(&self.agent, &tool.name);
                all.push(compute_fingerprint(&["tool", name, &tool.input.to_string()]));
            }
            (EventKind::SessionStart, _) => {}
            (EventKind::SessionEnd, _) => all.push(compute_fingerprint(&["end"])),
            (EventKind::Compaction, _) => {
                all.push(compute_fingerprint(&["compaction", named("phase")]));
            }
            (EventKind::SubagentStart, _) => {
                all.push(compute_fingerprint(&["subagent start", named("subagent")]));
                all.extend(is_loose.then(|| compute_fingerprint(&["subagent start"])));
            }
            (EventKind::SubagentStop, _) => {
                all.extend((!text.trim().is_empty()).then(words));
                all.push(compute_fingerprint(&["subagent stop", named("subagent")]));
                all.extend(is_loose.then(|| compute_fingerprint(&["subagent stop"])));
            }
            _ if !text.trim().is_empty() => all.push(words()),
            _ => {}
        }
        all
    }
}

/// A slash command without the name of its plugin, which transcripts add: `/plugin:review` is `/review`.
fn strip_namespace(text: &str) -> Cow<'_, str> {
    let command = text.trim_start().strip_prefix('/').unwrap_or_default();
    let name = command.split_whitespace().next().unwrap_or_default();
    match name.rsplit_once(':') {
        Some((plugin, _)) if !plugin.contains('/') => {
            let rest = command.get(plugin.len() + 1..).unwrap_or_default();
            Cow::Owned(format!("/{rest}"))
        }
        _ => Cow::Borrowed(text),
    }
}

/// Seals the parts of a draft that are compared.
fn seal_for_comparison(draft: &Draft, sealer: &Sealer) -> Draft {
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

/// Time between a stored event and a draft. The calls of a script have the time of its end, but ran
/// at any time since its start.
fn distance_ms(draft: &Draft, stored_at: Millis) -> u64 {
    let started_at = draft.meta.get(SCRIPT_START_META_KEY).and_then(Value::as_u64).map(Millis);
    match started_at {
        Some(started_at) if stored_at < started_at => stored_at.distance_ms(started_at),
        Some(_) if stored_at <= draft.at => 0,
        _ => stored_at.distance_ms(draft.at),
    }
}

fn call_id(kind: EventKind, meta: &Map<String, Value>) -> Option<String> {
    let id = meta.get("tool_use_id").or_else(|| meta.get("call_id"))?;
    id.as_str().filter(|_| kind == EventKind::ToolResult).map(str::to_owned)
}

fn turn_id(meta: &Map<String, Value>) -> Option<String> {
    TURN_ID_FIELDS.iter().find_map(|name| meta.get(*name)?.as_str().map(str::to_owned))
}

fn compute_fingerprint(parts: &[&str]) -> EventFingerprint {
    tome_model::hash_parts("tome import v1", parts).to_be_bytes()
}

fn strip_whitespace(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
