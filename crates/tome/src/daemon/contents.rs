//! The gRPC service for contents. It drains the spool first, and the contents catch up before it
//! answers.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tome_contents::{
    BulletEvidence, Contents, ContentsEntry, ContentsListing, ContentsQuery, Depth, LocatedNode,
    PageRequest, ProjectNode, ProjectShare, SessionFact, SessionList, SessionListing, SessionPage,
    SessionQuery, StoreRebuildResult, StoreVerifyResult,
};
use tome_home::HomeError;
use tome_model::{Agent, EventId, Grip, InvalidInput, Level, Millis, NodeId, SessionId};
use tome_proto::v1::contents_server;
use tome_proto::{event_to_wire, limits, v1};
use tonic::{Request, Response, Status};

use super::calls::CallKind;
use super::drain::drain;
use super::grpc_status::{invalid_argument, status_of};
use super::indexes::store_projections;
use super::request_fields::non_empty;
use super::state::Daemon;

pub struct ContentsService(pub Arc<Daemon>);

/// Results of stores buffered for a client that reads slowly.
const PROGRESS_QUEUE_MAX: usize = 16;

/// Sessions in one list.
const SESSIONS_DEFAULT: u32 = 20;
const SESSIONS_MAX: u32 = 1_000;

impl ContentsService {
    /// Drains the spool and runs a query on the contents. `read` also gets a notice if events are
    /// still in the spool.
    async fn query<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Contents, Option<String>) -> Result<T, HomeError> + Send + 'static,
    ) -> Result<Response<T>, Status> {
        let answer = self.0.run_blocking(CallKind::Ledger, move |daemon| {
            let waiting = drain(daemon);
            read(daemon.engine.contents(), waiting)
        });
        Ok(Response::new(answer.await?.map_err(|error| status_of(&error))?))
    }
}

#[tonic::async_trait]
impl contents_server::Contents for ContentsService {
    type RebuildContentsStream = ReceiverStream<Result<v1::RebuildContentsResponse, Status>>;

    async fn get_toc_root(
        &self,
        request: Request<v1::GetTocRootRequest>,
    ) -> Result<Response<v1::GetTocRootResponse>, Status> {
        let request = request.into_inner();
        let depth = match request.depth {
            0 => Depth::Recent,
            levels => Depth::Levels(levels as usize),
        };
        let query = parse_query(&request.project, &request.agents, depth, request.limit)?;
        self.query(move |contents, waiting| {
            let ContentsListing { entries, mut skipped, .. } = contents.list_root(&query)?;
            skipped.extend(waiting);
            let entries = entries.into_iter().map(entry_to_wire).collect();
            Ok(v1::GetTocRootResponse { entries, skipped })
        })
        .await
    }

    async fn get_node(
        &self,
        request: Request<v1::GetNodeRequest>,
    ) -> Result<Response<v1::GetNodeResponse>, Status> {
        let request = request.into_inner();
        let version = Some(request.version).filter(|version| *version > 0);
        self.query(move |contents, _| {
            let found = contents.find_node(&request.id, version, non_empty(&request.project))?;
            Ok(v1::GetNodeResponse { nodes: found.into_iter().map(node_to_wire).collect() })
        })
        .await
    }

    async fn browse_toc(
        &self,
        request: Request<v1::BrowseTocRequest>,
    ) -> Result<Response<v1::BrowseTocResponse>, Status> {
        let request = request.into_inner();
        if !request.node_id.is_empty() && !request.time.is_empty() {
            return Err(Status::invalid_argument("give either node_id or time, not both"));
        }
        let depth = Depth::Levels(request.depth.max(1) as usize);
        let query = parse_query(&request.project, &request.agents, depth, request.limit)?;
        let after = non_empty(&request.continuation).map(NodeId::parse).transpose();
        let page = PageRequest {
            newest_first: request.newest_first,
            after: after.map_err(|_| {
                Status::invalid_argument("continuation is not from a BrowseToc response")
            })?,
            entries_max: query.below_max,
        };
        self.query(move |contents, waiting| {
            let mut response = browse(contents, &request, &query, &page)?;
            response.skipped.extend(waiting);
            Ok(response)
        })
        .await
    }

    async fn expand_grip(
        &self,
        request: Request<v1::ExpandGripRequest>,
    ) -> Result<Response<v1::ExpandGripResponse>, Status> {
        let request = request.into_inner();
        let side = |count: Option<u32>| {
            count.unwrap_or(limits::GRIP_EVENTS_DEFAULT).min(limits::GRIP_EVENTS_MAX) as usize
        };
        let around = (side(request.before), side(request.after));
        self.query(move |contents, _| {
            let expanded = contents.find_grip(&request.id, around, non_empty(&request.project))?;
            let events = |events: Vec<_>| events.into_iter().map(event_to_wire).collect();
            Ok(v1::ExpandGripResponse {
                project: expanded.project,
                grip: Some(grip_to_wire(expanded.grip)),
                before: events(expanded.before),
                events: events(expanded.events),
                after: events(expanded.after),
            })
        })
        .await
    }

    async fn get_versions(
        &self,
        request: Request<v1::GetVersionsRequest>,
    ) -> Result<Response<v1::GetVersionsResponse>, Status> {
        let request = request.into_inner();
        self.query(move |contents, _| {
            let found = contents.node_versions(&request.id, non_empty(&request.project))?;
            let versions = found.into_iter().map(version_to_wire).collect();
            Ok(v1::GetVersionsResponse { versions })
        })
        .await
    }

    async fn list_sessions(
        &self,
        request: Request<v1::ListSessionsRequest>,
    ) -> Result<Response<v1::ListSessionsResponse>, Status> {
        let request = request.into_inner();
        let limit = match request.limit {
            0 => SESSIONS_DEFAULT,
            limit => limit.min(SESSIONS_MAX),
        };
        // A demonstration is not the user's work.
        let offline_chats = self.0.settings.home.offline_root();
        let outside = request.project.is_empty().then_some(offline_chats);
        let query = parse_session_query(request, limit as usize)
            .map_err(|error| invalid_argument(&error))?;
        let query = SessionQuery { outside, ..query };
        self.query(move |contents, waiting| {
            let SessionList { sessions, total, mut skipped } = contents.list_sessions(&query)?;
            skipped.extend(waiting);
            let sessions = sessions.into_iter().map(session_to_wire).collect();
            Ok(v1::ListSessionsResponse { sessions, skipped, total })
        })
        .await
    }

    async fn get_session(
        &self,
        request: Request<v1::GetSessionRequest>,
    ) -> Result<Response<v1::GetSessionResponse>, Status> {
        let request = request.into_inner();
        self.query(move |contents, _| {
            let project = non_empty(&request.project);
            if !request.only_listing {
                return Ok(session_page_to_wire(contents.session_page(&request.id, project)?));
            }
            let session = contents.find_session(&request.id, project)?;
            let session = Some(session_to_wire(session));
            Ok(v1::GetSessionResponse { session, ..v1::GetSessionResponse::default() })
        })
        .await
    }

    async fn verify_contents(
        &self,
        request: Request<v1::VerifyContentsRequest>,
    ) -> Result<Response<v1::VerifyContentsResponse>, Status> {
        let request = request.into_inner();
        self.query(move |contents, _| {
            let stores =
                contents.verify(non_empty(&request.project)).into_iter().map(verify_result_to_wire);
            Ok(v1::VerifyContentsResponse { stores: stores.collect() })
        })
        .await
    }

    /// Rebuilds store by store, and continues if the client disconnects.
    async fn rebuild_contents(
        &self,
        request: Request<v1::RebuildContentsRequest>,
    ) -> Result<Response<Self::RebuildContentsStream>, Status> {
        let project = request.into_inner().project;
        let (progress, responses) = mpsc::channel(PROGRESS_QUEUE_MAX);
        let daemon = Arc::clone(&self.0);
        tokio::spawn(async move {
            let work = daemon.run_blocking(CallKind::Ledger, move |daemon| {
                drain(daemon);
                daemon.engine.contents().rebuild(non_empty(&project), |store| {
                    let _ = progress.blocking_send(Ok(rebuild_result_to_wire(store)));
                });
            });
            let _ = work.await;
        });
        Ok(Response::new(ReceiverStream::new(responses)))
    }

    async fn get_workers(
        &self,
        _: Request<v1::GetWorkersRequest>,
    ) -> Result<Response<v1::GetWorkersResponse>, Status> {
        let stores = self.0.run_blocking(CallKind::Ledger, |daemon| {
            drain(daemon);
            let reports = daemon.engine.contents().store_reports().into_iter();
            reports.map(|report| store_projections(daemon, report)).collect()
        });
        Ok(Response::new(v1::GetWorkersResponse { stores: stores.await? }))
    }
}

fn session_to_wire(session: SessionListing) -> v1::Session {
    v1::Session {
        resume: session.resume_command().unwrap_or_default(),
        id: session.id.into(),
        agent: session.agent.into(),
        project: session.project,
        title: session.title,
        // A detached HEAD is on no branch.
        branch: session.branch.filter(|branch| branch != "HEAD").unwrap_or_default(),
        worktree: session.worktree.unwrap_or_default(),
        first_at_ms: session.first_at.0,
        last_at_ms: session.last_at.0,
        events: session.events,
        prompts: session.prompts,
        commits: session.commits,
        short_id: session.short_id,
        cwd: session.cwd,
        conclusion: session.conclusion.unwrap_or_default(),
        facts: session.facts.into_iter().map(fact_to_wire).collect(),
    }
}

fn fact_to_wire(fact: SessionFact) -> v1::SessionFact {
    v1::SessionFact {
        kind: fact.kind.as_str().to_owned(),
        text: fact.text,
        event: fact.event.into(),
        at_ms: fact.at.0,
        number: fact.number,
        branch: fact.branch.unwrap_or_default(),
    }
}

fn parse_session_query(
    request: v1::ListSessionsRequest,
    sessions_max: usize,
) -> Result<SessionQuery, InvalidInput> {
    Ok(SessionQuery {
        project: non_empty(&request.project).map(str::to_owned),
        from: request.from_ms.map(Millis),
        to: request.to_ms.map(Millis),
        agents: request.agents.iter().map(|name| Agent::parse(name)).collect::<Result<_, _>>()?,
        branch: non_empty(&request.branch).map(str::to_owned),
        words: request.words,
        ids: request.ids.iter().map(|id| SessionId::parse(id)).collect::<Result<_, _>>()?,
        sessions_max,
        with_facts: request.with_facts,
        outside: None,
    })
}

fn session_page_to_wire(page: SessionPage) -> v1::GetSessionResponse {
    let id = |event: Option<EventId>| event.map(String::from).unwrap_or_default();
    let turns = page.turns.into_iter().map(|turn| v1::SessionTurn {
        at_ms: turn.at.0,
        prompt: turn.prompt,
        prompt_event: id(turn.prompt_event),
        conclusion: turn.conclusion.unwrap_or_default(),
        answer_event: id(turn.answer_event),
        events: turn.events,
        changed_files: turn.changed_files,
        commits: turn.commits,
        interrupted: turn.is_interrupted,
    });
    let files = page.files.into_iter().map(|file| v1::FileChange {
        path: file.path,
        action: file.action.to_owned(),
        edits: file.edits,
    });
    let facts = page.facts.into_iter().map(fact_to_wire);
    v1::GetSessionResponse {
        session: Some(session_to_wire(page.session)),
        turns: turns.collect(),
        files: files.collect(),
        facts: facts.collect(),
        truncated: page.is_truncated,
    }
}

fn parse_query(
    project: &str,
    agents: &[String],
    depth: Depth,
    limit: u32,
) -> Result<ContentsQuery, Status> {
    let agents: Result<Vec<Agent>, InvalidInput> =
        agents.iter().map(|name| Agent::parse(name)).collect();
    let below_max = match limit {
        0 => limits::PAGE_NODES_DEFAULT,
        limit => limit.min(limits::PAGE_NODES_MAX),
    };
    Ok(ContentsQuery {
        project: non_empty(project).map(str::to_owned),
        agents: agents.map_err(|error| invalid_argument(&error))?,
        depth,
        below_max: below_max as usize,
    })
}

fn browse(
    contents: &Contents,
    request: &v1::BrowseTocRequest,
    query: &ContentsQuery,
    page: &PageRequest,
) -> Result<v1::BrowseTocResponse, HomeError> {
    let listing = match (non_empty(&request.node_id), non_empty(&request.time)) {
        (Some(id), _) => {
            let id = contents.resolve_node_id(id, query.project.as_deref())?;
            contents.list_below(&id, query)?
        }
        (_, Some(time)) => contents.list_time(time, query)?,
        _ => contents.list_root(query)?,
    };
    let (listing, next) = listing.into_page(page);
    Ok(v1::BrowseTocResponse {
        entries: listing.entries.into_iter().map(entry_to_wire).collect(),
        continuation: next.map(|id| id.to_string()).unwrap_or_default(),
        interpreted_as: listing.interpreted_as.unwrap_or_default(),
        from_ms: listing.range.map(|(from, _)| from.0),
        to_ms: listing.range.map(|(_, to)| to.0),
        skipped: listing.skipped,
    })
}

fn level_name(id: &NodeId) -> String {
    let name = match id.level() {
        Level::Year => "year",
        Level::Month => "month",
        Level::Week => "week",
        Level::Day => "day",
        Level::Segment => "segment",
    };
    name.to_owned()
}

fn period_title(id: &NodeId) -> String {
    id.period().map(|period| period.title()).unwrap_or_default()
}

fn agent_names(agents: Vec<Agent>) -> Vec<String> {
    agents.into_iter().map(Into::into).collect()
}

fn entry_to_wire(entry: ContentsEntry) -> v1::TocEntry {
    let share = |share: ProjectShare| v1::Share {
        project: share.project,
        title: share.title,
        events: share.events,
    };
    v1::TocEntry {
        level: level_name(&entry.id),
        period: period_title(&entry.id),
        id: entry.id.into(),
        title: entry.title,
        first_at_ms: entry.first_at.0,
        last_at_ms: entry.last_at.0,
        events: entry.events,
        tokens: entry.tokens,
        sessions: entry.sessions,
        agents: agent_names(entry.agents),
        open: entry.open,
        shares: entry.shares.into_iter().map(share).collect(),
        entries: entry.entries.into_iter().map(entry_to_wire).collect(),
        children: entry.children,
    }
}

pub(super) fn node_to_wire(found: LocatedNode) -> v1::Node {
    let LocatedNode { project, node, parent, children, title_numbers, mut evidence } = found;
    evidence.resize(node.bullets.len(), BulletEvidence::default());
    let (first, last) =
        node.source.map_or_else(Default::default, |(first, last)| (first.into(), last.into()));
    let bullets = node.bullets.into_iter().zip(evidence);
    let bullets = bullets.map(|(bullet, evidence)| v1::Bullet {
        text: bullet.text,
        grips: bullet.grips.into_iter().map(Into::into).collect(),
        unsupported: bullet.unsupported,
        numbers: evidence.numbers,
        changed_by: evidence.later_change.map_or(0, |change| change.number),
        at_ms: evidence.at.map_or(0, |at| at.0),
    });
    v1::Node {
        project,
        level: level_name(&node.id),
        period: period_title(&node.id),
        parent: parent.map(Into::into).unwrap_or_default(),
        id: node.id.into(),
        version: node.version,
        open: node.open,
        title: node.title,
        title_numbers,
        bullets: bullets.collect(),
        keywords: node.keywords,
        children: children.into_iter().map(entry_to_wire).collect(),
        first_at_ms: node.first_at.0,
        last_at_ms: node.last_at.0,
        events: node.events,
        tokens: node.tokens,
        agents: agent_names(node.agents),
        sessions: node.sessions.into_iter().map(Into::into).collect(),
        session_count: node.session_count,
        first_event: first,
        last_event: last,
        summarizer: node.summarizer,
        made_at_ms: node.made_at.0,
    }
}

pub(super) fn grip_to_wire(grip: Grip) -> v1::Grip {
    v1::Grip {
        id: grip.id.into(),
        node_id: grip.node.into(),
        excerpt: grip.excerpt,
        hash: grip.hash,
        first_event: grip.first.into(),
        last_event: grip.last.into(),
        at_ms: grip.at.0,
        kind: grip.kind.as_str().to_owned(),
    }
}

fn version_to_wire(ProjectNode { project, node }: ProjectNode) -> v1::NodeVersion {
    v1::NodeVersion {
        project,
        version: node.version,
        made_at_ms: node.made_at.0,
        title: node.title,
        summarizer: node.summarizer,
        events: node.events,
        open: node.open,
    }
}

fn verify_result_to_wire(store: StoreVerifyResult) -> v1::StoreChecked {
    let path = store.path.display().to_string();
    match store.outcome {
        Ok(report) => v1::StoreChecked {
            store: path,
            nodes: report.nodes,
            grips: report.grips,
            finding_count: report.problem_count,
            findings: report.problems,
            problem: String::new(),
        },
        Err(error) => {
            let problem = error.explained();
            v1::StoreChecked { store: path, problem, ..v1::StoreChecked::default() }
        }
    }
}

fn rebuild_result_to_wire(store: StoreRebuildResult) -> v1::RebuildContentsResponse {
    let mut response = v1::RebuildContentsResponse {
        store: store.path.display().to_string(),
        stores_done: u32::try_from(store.done).unwrap_or(u32::MAX),
        stores: u32::try_from(store.stores).unwrap_or(u32::MAX),
        ..v1::RebuildContentsResponse::default()
    };
    match store.outcome {
        Ok(rebuilt) => {
            response.sessions = rebuilt.sessions;
            response.compared = rebuilt.compared;
            response.written = rebuilt.nodes;
            response.removed = rebuilt.removed;
        }
        Err(error) => response.problem = error.explained(),
    }
    response
}
