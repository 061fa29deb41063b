//! The recall tools: `recall_memory` answers with cited hits, `teleport_query` with pointers into
//! the contents.
//!
//! A text answer never exceeds its token budget and says how to get more.

mod pack;
mod pointers;
mod render;
#[cfg(test)]
mod tests;
mod timeline;

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tome_model::{Agent, InvalidInput, Millis, truncate_to};

use super::ToolAnswer;
use super::answer::{ToolError, insert_field, truncate_bytes};
use super::args::ToolArgs;
use super::call::ToolInvocation;
use super::quoting::FENCE_TOKENS;
use tome_contents::{Contents, Instruction, ListedInstruction, find_concerned, rank_instructions};
use tome_recall::{
    Across, Confidence, HitOrder, HitUnit, QueryOrigin, RecallAnswer, RecallFilter, RecallHit,
    RecallQuery, RecallScope, source_name,
};

pub(super) use pointers::teleport_query;

type Result<T> = std::result::Result<T, ToolError>;

/// Default and maximum hits.
const HITS_DEFAULT: usize = 5;
const HITS_MAX: usize = 50;
/// Hits that can be passed over with a cursor.
const SKIP_MAX: usize = 1_000;

/// Default, minimum and maximum token budget of a text answer.
const TOKENS_DEFAULT: usize = 400;
/// Defaults of a timeline, which has a short line per turn.
const TIMELINE_HITS_DEFAULT: usize = 24;
const TIMELINE_TOKENS_DEFAULT: usize = 1_200;
const TOKENS_MIN: usize = 160;
const TOKENS_MAX: usize = 8_000;

/// Standing instructions below the hits, and in their own list.
const INSTRUCTIONS_MAX: usize = 2;
const INSTRUCTIONS_LISTED_MAX: usize = 20;
const INSTRUCTION_CHARS_MAX: usize = 160;

/// Days named on which there are results outside of the time asked for.
const DAYS_OUTSIDE_MAX: usize = 3;

/// Characters of a topic's label.
const TOPIC_CHARS_MAX: usize = 80;

/// Bytes of a query repeated in JSON.
const ECHOED_QUERY_BYTES_MAX: usize = 500;

pub(super) fn recall_memory(call: &ToolInvocation<'_>, args: &mut ToolArgs) -> Result<ToolAnswer> {
    let scope = args.take_text(&["scope"])?.filter(|scope| !scope.is_empty());
    if scope.as_deref() == Some("instructions") {
        return list_instructions(call, args);
    }
    if scope.as_deref() == Some("topics") {
        return super::topics::search_topics(call, args);
    }
    let query = require_query(args)?;
    let scope = scope.map(|scope| scope.parse::<RecallScope>()).transpose();
    let scope = scope.map_err(|error| ToolError::invalid(error.to_string()))?.unwrap_or_default();
    let order: HitOrder = take_named(args, &["sort"])?.unwrap_or_default();
    let is_timeline = order == HitOrder::Time;
    let (hits_default, tokens_default) = if is_timeline {
        (TIMELINE_HITS_DEFAULT, TIMELINE_TOKENS_DEFAULT)
    } else {
        (HITS_DEFAULT, TOKENS_DEFAULT)
    };
    let limit = args.take_count(&["limit"], HITS_MAX)?.unwrap_or(hits_default);
    if limit == 0 {
        return Err(ToolError::invalid("limit must be at least 1"));
    }
    let skip = args.take_count(&["cursor"], SKIP_MAX)?.unwrap_or(0);
    let across: Option<Across> = take_named(args, &["across"])?;
    let tokens_max =
        args.take_count(&["tokens"], TOKENS_MAX)?.map_or(tokens_default, |n| n.max(TOKENS_MIN));
    let narrow = TimeAndAgents::parse(call, args)?;
    args.reject_unknown()?;
    let mut recall_query = resolve_caller(call, across)?.into_query(query, narrow);
    recall_query.filter.scope = scope;
    recall_query.order = order;
    recall_query.unit = HitUnit::Turn;
    // The budget covers the whole text answer; recall itself would count only the hits' texts.
    recall_query.limits.hits = limit;
    recall_query.limits.skip = skip;
    let answer = call.recall()?.search(&recall_query)?;
    let is_quoted = !call.is_for_person();
    let fence = if is_quoted { FENCE_TOKENS } else { 0 };
    let format = pack::AnswerFormat {
        query: &recall_query.text,
        // Names a command, for people only.
        topic: if is_quoted { None } else { find_shared_topic(call, &recall_query, &answer) },
        skip,
        tokens_max: tokens_max - fence,
        is_quoted,
    };
    let mut notes = match skip {
        0 => find_instructions(call, &recall_query, &answer),
        _ => Vec::new(),
    };
    notes.extend(find_outside_time(call, &recall_query, &answer)?);
    let timeline = is_timeline.then(|| timeline::pack_timeline(&answer, &notes, &format));
    let packed = timeline.flatten().unwrap_or_else(|| pack::pack_answer(&answer, &notes, &format));
    let turns = answer.turns();
    let (more, next) = pack::count_more(&answer, &turns, packed.turns);
    let is_shown = |turn: &&Vec<&RecallHit>| {
        packed.turns > 0 && (more == 0 || turn.first().is_some_and(|first| first.position < next))
    };
    let mut json = answer_json(&answer, &recall_query.text);
    let shown = turns.iter().filter(is_shown).map(|turn| turn_json(turn));
    insert_field(&mut json, "hits", shown.collect());
    insert_field(&mut json, "more", more.into());
    let cursor = (more > 0 && packed.turns > 0).then_some(next);
    insert_field(&mut json, "cursor", cursor.into());
    insert_field(&mut json, "tokens", (packed.tokens + fence as u64).into());
    Ok(ToolAnswer::from_text(packed.text, json))
}

/// If nothing is found within the time asked for, says when the best results outside of it are from.
fn find_outside_time(
    call: &ToolInvocation<'_>,
    query: &RecallQuery,
    answer: &RecallAnswer,
) -> Result<Option<String>> {
    let is_limited = query.filter.from.is_some() || query.filter.to.is_some();
    if !is_limited || !answer.hits.is_empty() || query.limits.skip > 0 {
        return Ok(None);
    }
    let mut anytime = query.clone();
    (anytime.filter.from, anytime.filter.to) = (None, None);
    let found = call.recall()?.search(&anytime)?;
    let days: BTreeSet<String> =
        found.hits.iter().filter_map(|hit| hit.at).map(render::render_day).collect();
    let days: Vec<String> = days.into_iter().take(DAYS_OUTSIDE_MAX).collect();
    let note =
        || format!("(outside of that time there are results, such as of {})", days.join(", "));
    Ok((!days.is_empty()).then(note))
}

/// A line on the topic that two or more hits belong to.
fn find_shared_topic(
    call: &ToolInvocation<'_>,
    query: &RecallQuery,
    answer: &RecallAnswer,
) -> Option<String> {
    let project = query.filter.project.as_deref()?;
    let map = call.topics().ok()?.load_if_quick(project).ok()??;
    let hits = answer.hits.iter().filter(|hit| hit.project == project);
    let topic =
        map.shared_group(hits.filter_map(|hit| Some((hit.session.as_deref()?, hit.at?))))?;
    let label = crate::quote::quote_line(&topic.label, TOPIC_CHARS_MAX);
    Some(format!("(also in topic {label}: `tome topics show {}`)", topic.id))
}

/// Lists the standing instructions of the user in the caller's project, or in all.
fn list_instructions(call: &ToolInvocation<'_>, args: &mut ToolArgs) -> Result<ToolAnswer> {
    let query = args.take_text(&["query", "question"])?.unwrap_or_default();
    let limit = args.take_count(&["limit"], HITS_MAX)?.unwrap_or(INSTRUCTIONS_LISTED_MAX);
    let across: Option<Across> = take_named(args, &["across"])?;
    let tokens_max = args.take_count(&["tokens"], TOKENS_MAX)?.unwrap_or(TOKENS_MAX);
    args.reject_unknown()?;
    let RecallCaller { across, project, session, .. } = resolve_caller(call, across)?;
    let projects = call.contents()?.stores().projects();
    let roots = match across {
        Across::All => projects.all().into_iter().map(|(root, _)| root).collect(),
        Across::Project | Across::Session => Vec::from_iter(project.clone()),
    };
    let mut all = Vec::new();
    for root in roots {
        all.extend(call.list_instructions(&root)?);
    }
    if across == Across::Session {
        all.retain(|one| Some(one.instruction.session.as_str()) == session.as_deref());
    }
    let cite = |one: &ListedInstruction| {
        let Instruction { number, project: root, .. } = &one.instruction;
        call.cite_event(*number, root, project.as_deref())
    };
    let about = rank_instructions(&all, &query);
    // Words that no instruction shares do not hide what the user always wants.
    let is_unmatched = about.is_empty() && !query.trim().is_empty();
    let shown: Vec<&ListedInstruction> = if about.is_empty() {
        all.iter().filter(|one| one.replaced_by.is_none()).collect()
    } else {
        about
    };
    let (mut lines, mut json) = (Vec::new(), Vec::new());
    let mut tokens = 0;
    for one in shown.iter().take(limit) {
        let id = cite(one)?;
        let line = render_instruction(one, &id);
        tokens += tome_text::estimate_tokens(&line);
        // The first one is told in any case.
        if tokens > tokens_max as u64 && !lines.is_empty() {
            break;
        }
        lines.push(line);
        let Instruction { at, text, .. } = &one.instruction;
        json.push(json!({ "id": id, "at": at, "text": text }));
    }
    let more = shown.len() - lines.len();
    if lines.is_empty() {
        lines.push("No standing instructions.".to_owned());
    } else if is_unmatched {
        lines.insert(0, "None has these words; the user's standing instructions are:".to_owned());
    }
    if more > 0 && !json.is_empty() {
        lines.push(format!("({more} more; call again with a higher limit or more tokens)"));
    }
    let text = lines.join("\n");
    Ok(ToolAnswer::from_text(text, json!({ "instructions": json })))
}

/// The instructions that concern a query or its answer, as lines; none if they cannot be read.
fn find_instructions(
    call: &ToolInvocation<'_>,
    query: &RecallQuery,
    answer: &RecallAnswer,
) -> Vec<String> {
    let Some(project) = query.filter.project.as_deref() else { return Vec::new() };
    let Ok(contents) = call.contents() else { return Vec::new() };
    let all = contents.instructions_at_hand(project).unwrap_or_default();
    let about = find_concerned(&all, &query.text, &answer.texts());
    let render =
        |one: &ListedInstruction| render_instruction(one, &format!("#{}", one.instruction.number));
    about.into_iter().take(INSTRUCTIONS_MAX).map(render).collect()
}

fn render_instruction(one: &ListedInstruction, citation: &str) -> String {
    let Instruction { at, text, .. } = &one.instruction;
    let text = crate::quote::quote_line(text, INSTRUCTION_CHARS_MAX);
    let day: String = at.to_string().chars().take(10).collect();
    format!("User's standing instruction {citation} ({day}): {text}")
}

fn require_query(args: &mut ToolArgs) -> Result<String> {
    let query = args.require_text(&["query", "question"])?;
    if query.trim().is_empty() {
        return Err(ToolError::invalid("query is empty: say what to look for"));
    }
    Ok(query)
}

/// Takes an argument with a fixed set of values.
fn take_named<T>(args: &mut ToolArgs, names: &'static [&'static str]) -> Result<Option<T>>
where
    T: std::str::FromStr<Err = InvalidInput>,
{
    let name = args.take_text(names)?.filter(|name| !name.is_empty());
    let value = name.map(|name| name.parse::<T>()).transpose();
    value.map_err(|error| ToolError::invalid(error.to_string()))
}

/// The time and the agents that a query is limited to.
struct TimeAndAgents {
    from: Option<Millis>,
    to: Option<Millis>,
    agents: Vec<String>,
}

impl TimeAndAgents {
    fn parse(call: &ToolInvocation<'_>, args: &mut ToolArgs) -> Result<Self> {
        let (since, until) = (args.take_text(&["since"])?, args.take_text(&["until"])?);
        let agents = args.take_texts(&["agent", "agents"], |one| vec![one.to_owned()])?;
        for agent in &agents {
            Agent::parse(agent).map_err(|error| ToolError::invalid(error.to_string()))?;
        }
        let parse_field = |field, text: Option<String>| {
            let text = text.filter(|text| !text.trim().is_empty());
            text.map(|text| parse_time_start(call.contents()?, field, &text)).transpose()
        };
        let (from, to) = (parse_field("since", since)?, parse_field("until", until)?);
        if let (Some(from), Some(to)) = (from, to)
            && from >= to
        {
            return Err(ToolError::invalid("until must be later than since (until is exclusive)"));
        }
        Ok(Self { from, to, agents })
    }
}

/// Parses a point in time: RFC 3339, or words such as "last week" for the start of that time.
fn parse_time_start(contents: &Contents, field: &'static str, text: &str) -> Result<Millis> {
    if let Ok(span) = contents.parse_time(text) {
        return Ok(span.from);
    }
    Millis::parse(field, text).map_err(|_| {
        let text = truncate_to(text, 80);
        ToolError::invalid(format!(
            "cannot parse {field} {text:?}: try yesterday, last week, in March, 2026-11-14, or RFC 3339"
        ))
    })
}

/// Project and session of the caller.
struct RecallCaller {
    across: Across,
    project: Option<String>,
    session: Option<String>,
    origin: QueryOrigin,
}

/// Resolves the caller's project and session; without a project, all projects.
fn resolve_caller(call: &ToolInvocation<'_>, across: Option<Across>) -> Result<RecallCaller> {
    let session = call.session().map(str::to_owned);
    let projects = call.contents()?.stores().projects();
    let project = call.cwd().map(|cwd| projects.resolve_project_or_guess(cwd, None));
    let across = across.unwrap_or(match project {
        Some(_) => Across::Project,
        None => Across::All,
    });
    match (across, &project, &session) {
        (Across::Session, _, None) => {
            Err(ToolError::invalid("across session needs a session: call from one, or use project"))
        }
        (Across::Project, None, _) => {
            Err(ToolError::invalid("across project needs a working directory: use all"))
        }
        _ => {
            let origin = resolve_origin(call, project.as_deref())?;
            Ok(RecallCaller { across, project, session, origin })
        }
    }
}

/// The origin of the query, with the current prompts of a calling agent: they must not be hits.
fn resolve_origin(call: &ToolInvocation<'_>, project: Option<&str>) -> Result<QueryOrigin> {
    let Some(agent) = call.agent() else { return Ok(QueryOrigin::Person) };
    let prompts = match project {
        Some(project) => call.recall()?.find_excluded_prompts(project, call.session(), agent)?,
        None => Vec::new(),
    };
    Ok(QueryOrigin::Agent { prompts })
}

impl RecallCaller {
    fn into_query(self, query: String, narrow: TimeAndAgents) -> RecallQuery {
        let TimeAndAgents { from, to, agents } = narrow;
        RecallQuery {
            text: query,
            origin: self.origin,
            filter: RecallFilter {
                across: self.across,
                project: self.project,
                session: self.session,
                agents,
                from,
                to,
                ..RecallFilter::default()
            },
            ..RecallQuery::default()
        }
    }
}

/// An answer as JSON, without its hits.
fn answer_json(answer: &RecallAnswer, query: &str) -> Value {
    let elsewhere = answer.other_projects.iter();
    let elsewhere: Vec<Value> =
        elsewhere.map(|other| json!({ "project": other.project, "hits": other.hits })).collect();
    json!({
        "query": truncate_bytes(query, ECHOED_QUERY_BYTES_MAX), "tier": answer.tier.as_str(),
        "behind": answer.behind, "hits": [], "more": answer.more, "elsewhere": elsewhere,
        "time": answer.time, "unread": answer.unread,
        "confidence": answer.confidence.map(Confidence::as_str),
    })
}

/// The first hit of a turn, with the others as its passages.
fn turn_json(hits: &[&RecallHit]) -> Value {
    let Some((first, rest)) = hits.split_first() else { return Value::Null };
    let mut json = hit_json(first);
    let passages: Vec<Value> = rest
        .iter()
        .map(|hit| {
            json!({
                "id": hit.id, "text": hit.text, "kind": hit.kind, "at": hit.at,
                "citation": hit.citation, "score": hit.score,
            })
        })
        .collect();
    let project = render::project_prefix(first);
    let answer = hits.iter().find_map(|hit| hit.turn.answer.as_ref());
    let answer =
        answer.map(|part| json!({ "id": format!("{project}#{}", part.number), "text": part.text }));
    let others: Vec<Value> = hits
        .iter()
        .flat_map(|hit| &hit.others)
        .map(|other| {
            json!({
                "relation": other.relation.as_str(), "id": format!("{project}#{}", other.number),
                "at": other.at, "text": other.text,
            })
        })
        .collect();
    insert_field(&mut json, "passages", passages.into());
    insert_field(&mut json, "answer", answer.into());
    insert_field(&mut json, "others", others.into());
    json
}

fn hit_json(hit: &RecallHit) -> Value {
    json!({
        "source": source_name(hit.source), "citation": hit.citation, "text": hit.text,
        "at": hit.at, "score": hit.score, "title": hit.title, "session": hit.session,
        "agent": hit.agent, "project": hit.project, "kind": hit.kind, "file": hit.file,
        "line": hit.line, "also": hit.also, "id": hit.id, "branch": hit.turn.branch,
        "confidence": hit.confidence.as_str(), "turn": hit.turn.prompt_number,
    })
}
