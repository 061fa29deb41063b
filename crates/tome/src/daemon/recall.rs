//! The gRPC service for recall. It drains the spool first, so that the newest events are found.

use std::str::FromStr;
use std::sync::Arc;

use tome_contents::{Instruction, ListedInstruction, find_concerned, rank_instructions};
use tome_home::HomeError;
use tome_model::{Agent, EventKind, InvalidInput, Millis};
use tome_proto::v1::recall_server::Recall;
use tome_proto::{limits, v1};
use tome_recall::{
    Across, Confidence, OtherProjectHits, OtherStatement, QueryOrigin, QuerySyntax, RecallAnswer,
    RecallError, RecallFilter, RecallHit, RecallLimits, RecallQuery, SearchStage, ThresholdPolicy,
    Tier, TurnPart, source_name,
};
use tome_topics::Topic;
use tonic::{Request, Response, Status};

use super::calls::CallKind;
use super::drain::drain;
use super::grpc_status::{invalid_argument, recall_status, status_of};
use super::request_fields::{non_empty, non_empty_owned};
use super::state::Daemon;

/// Instructions that an answer repeats.
const INSTRUCTIONS_MAX: usize = 3;

pub struct RecallService(pub Arc<Daemon>);

#[tonic::async_trait]
impl Recall for RecallService {
    async fn recall(
        &self,
        request: Request<v1::RecallRequest>,
    ) -> Result<Response<v1::RecallResponse>, Status> {
        let query = parse_query(request.into_inner())?;
        let answer = self.0.run_blocking(CallKind::Recall, move |daemon| {
            let waiting = drain(daemon);
            let mut answer = daemon.engine.recall().search(&query)?;
            answer.unread.extend(waiting);
            if answer.behind > 0 || (query.tier.is_none() && answer.tier < Tier::Fused) {
                daemon.scheduler.schedule_open_stores();
            }
            let instructions = find_instructions(daemon, &query, &answer);
            let topic = find_shared_topic(daemon, &query, &answer);
            Ok::<_, RecallError>((answer, instructions, topic))
        });
        let answer = tokio::time::timeout(limits::RECALL_TIMEOUT, answer).await.map_err(|_| {
            let within = limits::RECALL_TIMEOUT.as_secs();
            Status::deadline_exceeded(format!("recall did not finish within {within} s"))
        })?;
        let (answer, instructions, topic) = answer?.map_err(|error| recall_status(&error))?;
        let instructions = instructions.into_iter().map(instruction_to_wire).collect();
        let (topic_id, topic_label) =
            topic.map(|topic| (topic.id, topic.label)).unwrap_or_default();
        Ok(Response::new(v1::RecallResponse {
            instructions,
            topic_id,
            topic_label,
            ..answer_to_wire(answer)
        }))
    }

    async fn list_instructions(
        &self,
        request: Request<v1::ListInstructionsRequest>,
    ) -> Result<Response<v1::ListInstructionsResponse>, Status> {
        let v1::ListInstructionsRequest { project, query } = request.into_inner();
        let listed = self.0.run_blocking(CallKind::Ledger, move |daemon| {
            drain(daemon);
            let all = daemon.engine.contents().list_instructions(&project)?;
            let kept = match query.trim() {
                "" => all,
                query => rank_instructions(&all, query).into_iter().cloned().collect(),
            };
            Ok(kept)
        });
        let listed = listed.await?.map_err(|error: HomeError| status_of(&error))?;
        let instructions = listed.into_iter().map(instruction_to_wire).collect();
        Ok(Response::new(v1::ListInstructionsResponse { instructions }))
    }
}

/// The instructions that concern a query of one project or its answer. If they cannot be read, the
/// search still succeeds.
fn find_instructions(
    daemon: &Daemon,
    query: &RecallQuery,
    answer: &RecallAnswer,
) -> Vec<ListedInstruction> {
    let Some(project) = query.filter.project.as_deref() else { return Vec::new() };
    if query.limits.hits == 0 || query.syntax == QuerySyntax::Regex || query.tier.is_some() {
        return Vec::new();
    }
    let all = daemon.engine.contents().instructions_at_hand(project).unwrap_or_default();
    let about = find_concerned(&all, &query.text, &answer.texts());
    about.into_iter().take(INSTRUCTIONS_MAX).cloned().collect()
}

/// The topic that two or more hits in the project belong to. If the topics cannot be read, the
/// search still succeeds.
fn find_shared_topic(daemon: &Daemon, query: &RecallQuery, answer: &RecallAnswer) -> Option<Topic> {
    let project = query.filter.project.as_deref()?;
    let map = daemon.engine.topics().load_if_quick(project).ok()??;
    let hits = answer.hits.iter().filter(|hit| hit.project == project);
    map.shared_group(hits.filter_map(|hit| Some((hit.session.as_deref()?, hit.at?))))
}

fn instruction_to_wire(listed: ListedInstruction) -> v1::Instruction {
    let Instruction { number, event, at, session, project, text } = listed.instruction;
    v1::Instruction {
        number,
        event_id: event.to_string(),
        at_ms: at.0,
        session_id: session.as_str().to_owned(),
        project,
        text,
        replaced_by: listed.replaced_by.unwrap_or(0),
    }
}

/// Checks every field of a request and builds the query.
fn parse_query(request: v1::RecallRequest) -> Result<RecallQuery, Status> {
    check_query(&request.query)?;
    let project = non_empty_owned(request.project);
    let session = non_empty_owned(request.session_id);
    let across = parse_name(&request.across)?.unwrap_or(match project {
        Some(_) => Across::Project,
        None => Across::All,
    });
    match across {
        Across::Session if session.is_none() => {
            return Err(Status::invalid_argument("across session needs session_id"));
        }
        Across::Project if project.is_none() => {
            return Err(Status::invalid_argument("across project needs the project's root"));
        }
        _ => {}
    }
    for agent in &request.agents {
        Agent::parse(agent).map_err(|error| invalid_argument(&error))?;
    }
    for kind in &request.kinds {
        EventKind::from_str(kind).map_err(|error| invalid_argument(&error))?;
    }
    let (from, to) = (request.from_ms.map(Millis), request.to_ms.map(Millis));
    if let (Some(from), Some(to)) = (from, to)
        && from >= to
    {
        return Err(Status::invalid_argument("the end of the time range must be after its start"));
    }
    let limit = request.limit.unwrap_or(limits::RECALL_HITS_DEFAULT).min(limits::RECALL_HITS_MAX);
    Ok(RecallQuery {
        text: request.query,
        syntax: if request.regex { QuerySyntax::Regex } else { QuerySyntax::Words },
        origin: QueryOrigin::Person,
        filter: RecallFilter {
            scope: parse_name(&request.scope)?.unwrap_or_default(),
            across,
            project,
            session,
            agents: request.agents,
            kinds: request.kinds,
            from,
            to,
        },
        limits: RecallLimits {
            hits: limit as usize,
            skip: request.skip.min(limits::RECALL_SKIP_MAX) as usize,
            tokens: Some(request.tokens_max as usize).filter(|most| *most > 0),
        },
        tier: parse_name(&request.tier)?,
        threshold: if request.ignore_threshold {
            ThresholdPolicy::Ignore
        } else {
            ThresholdPolicy::Enforce
        },
        order: parse_name(&request.sort)?.unwrap_or_default(),
        unit: parse_name(&request.unit)?.unwrap_or_default(),
    })
}

fn check_query(query: &str) -> Result<(), Status> {
    if query.trim().is_empty() {
        return Err(Status::invalid_argument("the query is empty: say what to look for"));
    }
    let (bytes, bytes_max) = (query.len(), limits::RECALL_QUERY_BYTES_MAX);
    if bytes > bytes_max {
        return Err(Status::invalid_argument(format!(
            "the query is too long: {bytes} bytes, at most {bytes_max} are allowed"
        )));
    }
    Ok(())
}

/// Parses a name; `None` if it is empty.
fn parse_name<T: FromStr<Err = InvalidInput>>(name: &str) -> Result<Option<T>, Status> {
    non_empty(name).map(str::parse).transpose().map_err(|error| invalid_argument(&error))
}

fn answer_to_wire(answer: RecallAnswer) -> v1::RecallResponse {
    let other_project =
        |other: OtherProjectHits| v1::Elsewhere { project: other.project, hits: other.hits as u64 };
    let stage = |stage: SearchStage| v1::RecallStage {
        name: stage.name,
        found: stage.found,
        took_us: u64::try_from(stage.took.as_micros()).unwrap_or(u64::MAX),
    };
    v1::RecallResponse {
        tier: answer.tier.as_str().to_owned(),
        behind: answer.behind,
        unread: answer.unread,
        hits: answer.hits.into_iter().map(hit_to_wire).collect(),
        more: answer.more as u64,
        next: answer.next as u64,
        elsewhere: answer.other_projects.into_iter().map(other_project).collect(),
        time: answer.time.unwrap_or_default(),
        stages: answer.stages.into_iter().map(stage).collect(),
        confidence: confidence_name(answer.confidence),
        instructions: Vec::new(),
        ..v1::RecallResponse::default()
    }
}

fn hit_to_wire(hit: RecallHit) -> v1::RecallHit {
    let rank = |(tier, rank, score): (Tier, usize, f32)| v1::TierRank {
        tier: tier.as_str().to_owned(),
        rank: u32::try_from(rank).unwrap_or(u32::MAX),
        score,
    };
    let part = |part: TurnPart| v1::TurnPart { number: part.number, text: part.text };
    let other = |other: OtherStatement| v1::OtherStatement {
        relation: other.relation.as_str().to_owned(),
        text: other.text,
        at_ms: other.at.0,
        number: other.number,
    };
    v1::RecallHit {
        id: hit.id,
        turn: hit.turn.prompt_number.unwrap_or(0),
        prompt: hit.turn.prompt.map(part),
        answer: hit.turn.answer.map(part),
        others: hit.others.into_iter().map(other).collect(),
        source: source_name(hit.source).to_owned(),
        citation: hit.citation,
        file: hit.file.unwrap_or_default(),
        line: hit.line.unwrap_or_default(),
        text: hit.text,
        title: hit.title,
        at_ms: hit.at.map(|at| at.0),
        project: hit.project,
        session_id: hit.session.unwrap_or_default(),
        agent: hit.agent.unwrap_or_default(),
        kind: hit.kind,
        score: hit.score,
        ranks: hit.ranks.into_iter().map(rank).collect(),
        also: hit.also,
        confidence: confidence_name(Some(hit.confidence)),
        branch: hit.turn.branch.unwrap_or_default(),
    }
}

/// The name of a confidence; empty if there is none.
fn confidence_name(confidence: Option<Confidence>) -> String {
    confidence.map(Confidence::as_str).unwrap_or_default().to_owned()
}
