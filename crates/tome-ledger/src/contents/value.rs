//! Values of the contents, packed as in codec.rs. Each is the postcard encoding of its struct below,
//! with the fields in that order; a node of version 1 ends before `work`, a segment of version 1 before the
//! time and number of its request; the first period of a segment has its fourth bit since version 3; its turns follow since version 4. Times are milliseconds; kinds and reasons are codes. Data in the key is
//! not repeated.

use serde::{Deserialize, Serialize};
use tome_model::{
    Agent, Bullet, EventId, EventKind, Fact, FactKind, Grip, GripId, Level, Millis, Node, NodeId,
    SessionId, Work,
};

use super::{NodeHeader, SegmentEntry, SegmentStartReason, TurnEntry};
use crate::codec::{KvLocation, decode, pack, unpack};
use crate::{LedgerError, OrderKey};

const NODE_VERSION: u8 = 2;
/// Nodes without facts, written before version 2.
const NODE_VERSION_WITHOUT_WORK: u8 = 1;
const HEADER_VERSION: u8 = 1;
const SEGMENT_VERSION: u8 = 4;
/// Before segments knew their turns.
const SEGMENT_VERSION_WITHOUT_TURNS: u8 = 3;
/// Before a week could lie in two months.
const SEGMENT_VERSION_WITHOUT_SHARED_WEEKS: u8 = 2;
/// Before segments knew the request that they end with.
const SEGMENT_VERSION_WITHOUT_REQUEST: u8 = 1;
const GRIP_VERSION: u8 = 1;

#[derive(Serialize)]
struct StoredNodeRef<'a> {
    open: bool,
    title: &'a str,
    bullets: Vec<(&'a str, &'a [GripId], bool)>,
    keywords: &'a [String],
    children: &'a [NodeId],
    first_at: u64,
    last_at: u64,
    events: u64,
    tokens: u64,
    agents: &'a [Agent],
    sessions: &'a [SessionId],
    session_count: u64,
    source: &'a Option<(EventId, EventId)>,
    summarizer: &'a str,
    made_at: u64,
    work: Vec<StoredWorkRef<'a>>,
}

/// Branch, sessions, turns, commits, weight and facts.
type StoredWorkRef<'a> = (Option<&'a str>, &'a [SessionId], u64, u64, u64, Vec<StoredFactRef<'a>>);

/// Kind, text, time, weight and grips.
type StoredFactRef<'a> = (u8, &'a str, u64, u32, &'a [GripId]);

type StoredWork = (Option<String>, Vec<SessionId>, u64, u64, u64, Vec<StoredFact>);

type StoredFact = (u8, String, u64, u32, Vec<GripId>);

/// `StoredNodeRef` for reading.
#[derive(Deserialize)]
struct StoredNode {
    open: bool,
    title: String,
    bullets: Vec<(String, Vec<GripId>, bool)>,
    keywords: Vec<String>,
    children: Vec<NodeId>,
    first_at: u64,
    last_at: u64,
    events: u64,
    tokens: u64,
    agents: Vec<Agent>,
    sessions: Vec<SessionId>,
    session_count: u64,
    source: Option<(EventId, EventId)>,
    summarizer: String,
    made_at: u64,
}

pub(super) fn encode_node(node: &Node) -> Result<Vec<u8>, LedgerError> {
    let bullets =
        node.bullets.iter().map(|one| (one.text.as_str(), one.grips.as_slice(), one.unsupported));
    let out = StoredNodeRef {
        open: node.open,
        title: &node.title,
        bullets: bullets.collect(),
        keywords: &node.keywords,
        children: &node.children,
        first_at: node.first_at.0,
        last_at: node.last_at.0,
        events: node.events,
        tokens: node.tokens,
        agents: &node.agents,
        sessions: &node.sessions,
        session_count: node.session_count,
        source: &node.source,
        summarizer: &node.summarizer,
        made_at: node.made_at.0,
        work: node.work.iter().map(work_ref).collect(),
    };
    pack(NODE_VERSION, &out).map_err(|problem| rejected_error(node.id.as_str(), problem))
}

pub(super) fn decode_node(
    location: KvLocation<'_>,
    id: NodeId,
    version: u32,
    bytes: &[u8],
) -> Result<Node, LedgerError> {
    let known = [NODE_VERSION, NODE_VERSION_WITHOUT_WORK];
    let (format, body) = unpack(location, &known, bytes)?;
    let (read, work): (StoredNode, Vec<StoredWork>) = match format {
        NODE_VERSION_WITHOUT_WORK => (decode(location, &body)?, Vec::new()),
        _ => decode(location, &body)?,
    };
    let work = work.into_iter().map(|work| decode_work(location, work));
    let bullets = read.bullets.into_iter();
    let bullets = bullets.map(|(text, grips, unsupported)| Bullet { text, grips, unsupported });
    Ok(Node {
        id,
        version,
        open: read.open,
        title: read.title,
        bullets: bullets.collect(),
        keywords: read.keywords,
        children: read.children,
        first_at: Millis(read.first_at),
        last_at: Millis(read.last_at),
        events: read.events,
        tokens: read.tokens,
        agents: read.agents,
        sessions: read.sessions,
        session_count: read.session_count,
        source: read.source,
        summarizer: read.summarizer,
        made_at: Millis(read.made_at),
        work: work.collect::<Result<_, _>>()?,
    })
}

fn work_ref(work: &Work) -> StoredWorkRef<'_> {
    let facts = work
        .facts
        .iter()
        .map(|fact| (fact.kind.code(), fact.text.as_str(), fact.at.0, fact.weight, fact.grips()));
    let branch = work.branch.as_deref();
    (branch, &work.sessions, work.turns, work.commits, work.weight, facts.collect())
}

fn decode_work(location: KvLocation<'_>, stored: StoredWork) -> Result<Work, LedgerError> {
    let (branch, sessions, turns, commits, weight, facts) = stored;
    let facts = facts.into_iter().map(|(kind, text, at, weight, grips)| {
        FactKind::from_code(kind)
            .and_then(|kind| Fact::new(kind, text, Millis(at), weight, grips))
            .ok_or_else(|| location.corrupt("it holds a fact of no known kind or without evidence"))
    });
    Ok(Work { branch, sessions, turns, commits, weight, facts: facts.collect::<Result<_, _>>()? })
}

#[derive(Serialize, Deserialize)]
struct StoredHeader {
    id: NodeId,
    version: u32,
    base: u32,
    removed: bool,
    open: bool,
    title: String,
    first_at: u64,
    last_at: u64,
    events: u64,
    tokens: u64,
    children: u64,
    session_count: u64,
    agents: Vec<Agent>,
    firsts: [u64; 4],
}

pub(super) fn encode_header(head: NodeHeader) -> Result<Vec<u8>, LedgerError> {
    let stored = StoredHeader {
        id: head.id,
        version: head.version,
        base: head.base,
        removed: head.removed,
        open: head.open,
        title: head.title,
        first_at: head.first_at.0,
        last_at: head.last_at.0,
        events: head.events,
        tokens: head.tokens,
        children: head.children,
        session_count: head.session_count,
        agents: head.agents,
        firsts: head.firsts,
    };
    pack(HEADER_VERSION, &stored).map_err(|problem| rejected_error(stored.id.as_str(), problem))
}

pub(super) fn decode_header(
    location: KvLocation<'_>,
    bytes: &[u8],
) -> Result<NodeHeader, LedgerError> {
    let (_, body) = unpack(location, &[HEADER_VERSION], bytes)?;
    let read: StoredHeader = decode(location, &body)?;
    if !location.key.ends_with(read.id.as_str().as_bytes()) {
        return Err(location.corrupt(format!("it says that it is {}", read.id)));
    }
    Ok(NodeHeader {
        id: read.id,
        version: read.version,
        base: read.base,
        removed: read.removed,
        open: read.open,
        title: read.title,
        first_at: Millis(read.first_at),
        last_at: Millis(read.last_at),
        events: read.events,
        tokens: read.tokens,
        children: read.children,
        session_count: read.session_count,
        agents: read.agents,
        firsts: read.firsts,
    })
}

#[derive(Serialize, Deserialize)]
struct StoredSegment {
    id: NodeId,
    last_at: u64,
    last_seq: u64,
    events: u64,
    weight: u64,
    began: u8,
    ended: bool,
    /// 0 for none, 1 for a year, 2 a month, 3 a week, 4 a day; and 8 if its week began before.
    first_of: u8,
}

/// Time and number of the first event, whether it is a prompt and objects, words, files.
type StoredTurn = (u64, u64, bool, bool, Vec<u32>, Vec<u32>);

type StoredTurnRef<'a> = (u64, u64, bool, bool, &'a [u32], &'a [u32]);

const CONTINUES_WEEK: u8 = 8;

const LEVELS: [Level; 4] = [Level::Year, Level::Month, Level::Week, Level::Day];

pub(super) fn encode_segment(segment: &SegmentEntry) -> Result<Vec<u8>, LedgerError> {
    let index = |level: Level| LEVELS.iter().position(|one| *one == level);
    let first_of = segment.first_of.and_then(index).map_or(0, |index| index + 1);
    let stored = StoredSegment {
        id: segment.id.clone(),
        last_at: segment.last.at.0,
        last_seq: segment.last.seq,
        events: segment.events,
        weight: segment.weight,
        began: segment.began.code(),
        ended: segment.ended,
        first_of: u8::try_from(first_of).unwrap_or(0)
            | if segment.continues_week { CONTINUES_WEEK } else { 0 },
    };
    let request = segment.request.map(|request| (request.at.0, request.seq));
    let turns: Vec<StoredTurnRef<'_>> = segment.turns.iter().map(stored_turn).collect();
    pack(SEGMENT_VERSION, &(stored, request, turns))
        .map_err(|problem| rejected_error(segment.id.as_str(), problem))
}

fn stored_turn(turn: &TurnEntry) -> StoredTurnRef<'_> {
    let OrderKey { at, seq } = turn.first;
    (at.0, seq, turn.has_prompt, turn.objects, &turn.prompt_words, &turn.edited_files)
}

pub(super) fn decode_segment(
    location: KvLocation<'_>,
    bytes: &[u8],
) -> Result<SegmentEntry, LedgerError> {
    let known = [
        SEGMENT_VERSION,
        SEGMENT_VERSION_WITHOUT_TURNS,
        SEGMENT_VERSION_WITHOUT_SHARED_WEEKS,
        SEGMENT_VERSION_WITHOUT_REQUEST,
    ];
    let (format, body) = unpack(location, &known, bytes)?;
    let (read, request, turns): (StoredSegment, Option<(u64, u64)>, Vec<StoredTurn>) = match format
    {
        SEGMENT_VERSION_WITHOUT_REQUEST => (decode(location, &body)?, None, Vec::new()),
        SEGMENT_VERSION_WITHOUT_SHARED_WEEKS | SEGMENT_VERSION_WITHOUT_TURNS => {
            let (read, request) = decode(location, &body)?;
            (read, request, Vec::new())
        }
        _ => decode(location, &body)?,
    };
    let turn = |(at, seq, has_prompt, objects, prompt_words, edited_files)| TurnEntry {
        first: OrderKey { at: Millis(at), seq },
        has_prompt,
        objects,
        prompt_words,
        edited_files,
    };
    let (_, prefix) =
        location.key.split_last_chunk::<16>().ok_or_else(|| location.corrupt("it is too short"))?;
    let (at, seq) = crate::key::split_order_prefix(*prefix);
    let continues_week =
        format >= SEGMENT_VERSION_WITHOUT_TURNS && read.first_of & CONTINUES_WEEK != 0;
    let code = if continues_week { read.first_of & !CONTINUES_WEEK } else { read.first_of };
    let first_of = match usize::from(code).checked_sub(1) {
        Some(level) => Some(
            *LEVELS.get(level).ok_or_else(|| location.corrupt("it is the first of no period"))?,
        ),
        None => None,
    };
    Ok(SegmentEntry {
        id: read.id,
        first: OrderKey { at, seq },
        last: OrderKey { at: Millis(read.last_at), seq: read.last_seq },
        events: read.events,
        weight: read.weight,
        began: SegmentStartReason::from_code(read.began)
            .ok_or_else(|| location.corrupt("it began for no known reason"))?,
        ended: read.ended,
        first_of,
        continues_week,
        request: request.map(|(at, seq)| OrderKey { at: Millis(at), seq }),
        turns: turns.into_iter().map(turn).collect(),
    })
}

#[derive(Serialize)]
struct StoredGripRef<'a> {
    node: &'a NodeId,
    excerpt: &'a str,
    hash: &'a str,
    first: &'a EventId,
    last: &'a EventId,
    at: u64,
    kind: u8,
    /// Whether a closed version needs it.
    closed: bool,
}

/// `StoredGripRef` for reading.
#[derive(Deserialize)]
struct StoredGrip {
    node: NodeId,
    excerpt: String,
    hash: String,
    first: EventId,
    last: EventId,
    at: u64,
    kind: u8,
    closed: bool,
}

pub(super) fn encode_grip(grip: &Grip, closed: bool) -> Result<Vec<u8>, LedgerError> {
    let out = StoredGripRef {
        node: &grip.node,
        excerpt: &grip.excerpt,
        hash: &grip.hash,
        first: &grip.first,
        last: &grip.last,
        at: grip.at.0,
        kind: grip.kind.code(),
        closed,
    };
    pack(GRIP_VERSION, &out).map_err(|problem| rejected_error(grip.id.as_str(), problem))
}

/// Decodes a grip, and whether a closed version needs it.
pub(super) fn decode_grip(
    location: KvLocation<'_>,
    id: GripId,
    bytes: &[u8],
) -> Result<(Grip, bool), LedgerError> {
    let (_, body) = unpack(location, &[GRIP_VERSION], bytes)?;
    let read: StoredGrip = decode(location, &body)?;
    let grip = Grip {
        id,
        node: read.node,
        excerpt: read.excerpt,
        hash: read.hash,
        first: read.first,
        last: read.last,
        at: Millis(read.at),
        kind: EventKind::from_code(read.kind)
            .ok_or_else(|| location.corrupt("its event is of no known kind"))?,
    };
    Ok((grip, read.closed))
}

fn rejected_error(name: &str, problem: String) -> LedgerError {
    LedgerError::Rejected { name: name.to_owned(), problem }
}
