//! The gRPC service for recall. It drains the spool first, so that the newest events are found.

use std::str::FromStr;
use std::sync::Arc;

use tome_model::{Agent, EventKind, Millis, ModelError};
use tome_proto::v1::recall_server::Recall;
use tome_proto::{limits, v1};
use tome_recall::{
    Across, Confidence, OtherProjectHits, QueryOrigin, QuerySyntax, RecallAnswer, RecallError,
    RecallFilter, RecallHit, RecallLimits, RecallQuery, SearchStage, ThresholdPolicy, Tier,
    source_name,
};
use tonic::{Request, Response, Status};

use super::calls::CallKind;
use super::drain::drain;
use super::grpc_status::{invalid_argument, recall_status};
use super::request_fields::{non_empty, non_empty_owned};
use super::state::Daemon;

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
                daemon.scheduler.indexes_lag();
            }
            Ok::<_, RecallError>(answer)
        });
        let answer = tokio::time::timeout(limits::RECALL_TIMEOUT, answer).await.map_err(|_| {
            let within = limits::RECALL_TIMEOUT.as_secs();
            Status::deadline_exceeded(format!("recall did not finish within {within} s"))
        })?;
        let answer = answer?.map_err(|error| recall_status(&error))?;
        Ok(Response::new(answer_to_wire(answer)))
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
    let (since, until) = (request.from_ms.map(Millis), request.to_ms.map(Millis));
    if let (Some(since), Some(until)) = (since, until)
        && since >= until
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
            since,
            until,
        },
        limits: RecallLimits {
            hits: limit as usize,
            tokens: Some(request.tokens_max as usize).filter(|most| *most > 0),
        },
        tier: parse_name(&request.tier)?,
        threshold: match request.no_floor {
            true => ThresholdPolicy::Ignore,
            false => ThresholdPolicy::Enforce,
        },
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
fn parse_name<T: FromStr<Err = ModelError>>(name: &str) -> Result<Option<T>, Status> {
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
        elsewhere: answer.other_projects.into_iter().map(other_project).collect(),
        time: answer.time.unwrap_or_default(),
        stages: answer.stages.into_iter().map(stage).collect(),
        confidence: confidence_name(answer.confidence),
    }
}

fn hit_to_wire(hit: RecallHit) -> v1::RecallHit {
    let rank = |(tier, rank, score): (Tier, usize, f32)| v1::TierRank {
        tier: tier.as_str().to_owned(),
        rank: u32::try_from(rank).unwrap_or(u32::MAX),
        score,
    };
    v1::RecallHit {
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
    }
}

/// The name of a confidence; empty if there is none.
fn confidence_name(confidence: Option<Confidence>) -> String {
    confidence.map(Confidence::as_str).unwrap_or_default().to_owned()
}
