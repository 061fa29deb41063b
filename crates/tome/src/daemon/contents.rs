//! The contents, over the wire. Whoever asks sees what has arrived: the spool is drained and the
//! worker catches up first.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tome_contents::{
    Calendar, CalendarEntry, CalendarListing, CalendarPage, CalendarQuery, Depth, LocatedNode,
    ProjectNode, ProjectShare, StoreRebuildResult, StoreVerifyResult,
};
use tome_home::HomeError;
use tome_model::{Agent, Grip, Level, ModelError, NodeId};
use tome_proto::v1::contents_server::Contents;
use tome_proto::{event_to_wire, limits, v1};
use tonic::{Request, Response, Status};

use super::drain::drain;
use super::grpc_status::status_of;
use super::indexes::store_workers;
use super::state::Daemon;

/// The contents service.
pub struct ContentsService(pub Arc<Daemon>);

/// Stores whose rebuild has been done and not been told yet.
const REBUILT_WAITING_MAX: usize = 16;

impl ContentsService {
    /// Asks the calendar on a thread made for waiting.
    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Calendar, Option<String>) -> Result<T, HomeError> + Send + 'static,
    ) -> Result<Response<T>, Status> {
        let answer = self.0.wait_for(move |daemon| {
            let waiting = drain(daemon);
            question(daemon.engine.calendar(), waiting)
        });
        Ok(Response::new(answer.await?.map_err(|error| status_of(&error))?))
    }
}

#[tonic::async_trait]
impl Contents for ContentsService {
    type RebuildContentsStream = ReceiverStream<Result<v1::RebuildContentsResponse, Status>>;

    async fn get_toc_root(
        &self,
        request: Request<v1::GetTocRootRequest>,
    ) -> Result<Response<v1::GetTocRootResponse>, Status> {
        let asked = request.into_inner();
        let depth = match asked.depth {
            0 => Depth::Recent,
            levels => Depth::Levels(levels as usize),
        };
        let ask = ask(&asked.project, &asked.agents, depth, asked.limit)?;
        self.ask(move |calendar, waiting| {
            let CalendarListing { entries, mut skipped, .. } = calendar.list_root(&ask)?;
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
        let asked = request.into_inner();
        let version = Some(asked.version).filter(|version| *version > 0);
        self.ask(move |calendar, _| {
            let found = calendar.find_node(&asked.id, version, given(&asked.project))?;
            Ok(v1::GetNodeResponse { nodes: found.into_iter().map(node_to_wire).collect() })
        })
        .await
    }

    async fn browse_toc(
        &self,
        request: Request<v1::BrowseTocRequest>,
    ) -> Result<Response<v1::BrowseTocResponse>, Status> {
        let asked = request.into_inner();
        if !asked.node_id.is_empty() && !asked.time.is_empty() {
            return Err(Status::invalid_argument("give either node_id or time, not both"));
        }
        let depth = Depth::Levels(asked.depth.max(1) as usize);
        let ask = ask(&asked.project, &asked.agents, depth, asked.limit)?;
        let after = given(&asked.continuation).map(NodeId::parse).transpose();
        let page = CalendarPage {
            newest_first: asked.newest_first,
            after: after
                .map_err(|_| Status::invalid_argument("continuation was not made by BrowseToc"))?,
            entries_max: ask.below_max,
        };
        self.ask(move |calendar, waiting| {
            let mut answer = browse(calendar, &asked, &ask, &page)?;
            answer.skipped.extend(waiting);
            Ok(answer)
        })
        .await
    }

    async fn expand_grip(
        &self,
        request: Request<v1::ExpandGripRequest>,
    ) -> Result<Response<v1::ExpandGripResponse>, Status> {
        let asked = request.into_inner();
        let side = |count: Option<u32>| {
            count.unwrap_or(limits::GRIP_EVENTS_DEFAULT).min(limits::GRIP_EVENTS_MAX) as usize
        };
        let around = (side(asked.before), side(asked.after));
        self.ask(move |calendar, _| {
            let found = calendar.find_grip(&asked.id, around, given(&asked.project))?;
            let events = |events: Vec<_>| events.into_iter().map(event_to_wire).collect();
            Ok(v1::ExpandGripResponse {
                project: found.project,
                grip: Some(grip_to_wire(found.grip)),
                before: events(found.before),
                events: events(found.events),
                after: events(found.after),
            })
        })
        .await
    }

    async fn get_versions(
        &self,
        request: Request<v1::GetVersionsRequest>,
    ) -> Result<Response<v1::GetVersionsResponse>, Status> {
        let asked = request.into_inner();
        self.ask(move |calendar, _| {
            let found = calendar.node_versions(&asked.id, given(&asked.project))?;
            let versions = found.into_iter().map(version_to_wire).collect();
            Ok(v1::GetVersionsResponse { versions })
        })
        .await
    }

    async fn verify_contents(
        &self,
        request: Request<v1::VerifyContentsRequest>,
    ) -> Result<Response<v1::VerifyContentsResponse>, Status> {
        let asked = request.into_inner();
        self.ask(move |calendar, _| {
            let stores = calendar.verify(given(&asked.project)).into_iter().map(checked_to_wire);
            Ok(v1::VerifyContentsResponse { stores: stores.collect() })
        })
        .await
    }

    /// Store by store. Whoever asked may be gone by then; it is done all the same.
    async fn rebuild_contents(
        &self,
        request: Request<v1::RebuildContentsRequest>,
    ) -> Result<Response<Self::RebuildContentsStream>, Status> {
        let project = request.into_inner().project;
        let (told, waiting) = mpsc::channel(REBUILT_WAITING_MAX);
        let daemon = Arc::clone(&self.0);
        tokio::spawn(async move {
            let work = daemon.wait_for(move |daemon| {
                drain(daemon);
                daemon.engine.calendar().rebuild(given(&project), |store| {
                    let _ = told.blocking_send(Ok(rebuilt_to_wire(store)));
                });
            });
            let _ = work.await;
        });
        Ok(Response::new(ReceiverStream::new(waiting)))
    }

    async fn get_workers(
        &self,
        _: Request<v1::GetWorkersRequest>,
    ) -> Result<Response<v1::GetWorkersResponse>, Status> {
        let stores = self.0.wait_for(|daemon| {
            drain(daemon);
            let reports = daemon.engine.calendar().store_reports().into_iter();
            reports.map(|report| store_workers(daemon, report)).collect()
        });
        Ok(Response::new(v1::GetWorkersResponse { stores: stores.await? }))
    }
}

fn given(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn ask(
    project: &str,
    agents: &[String],
    depth: Depth,
    limit: u32,
) -> Result<CalendarQuery, Status> {
    let agents: Result<Vec<Agent>, ModelError> =
        agents.iter().map(|name| Agent::parse(name)).collect();
    let below_max = match limit {
        0 => limits::PAGE_NODES_DEFAULT,
        limit => limit.min(limits::PAGE_NODES_MAX),
    };
    Ok(CalendarQuery {
        project: given(project).map(str::to_owned),
        agents: agents.map_err(|error| Status::invalid_argument(error.to_string()))?,
        depth,
        below_max: below_max as usize,
    })
}

fn browse(
    calendar: &Calendar,
    asked: &v1::BrowseTocRequest,
    ask: &CalendarQuery,
    page: &CalendarPage,
) -> Result<v1::BrowseTocResponse, HomeError> {
    let listing = match (given(&asked.node_id), given(&asked.time)) {
        (Some(id), _) => {
            let id = calendar.resolve_node_id(id, ask.project.as_deref())?;
            calendar.list_below(&id, ask)?
        }
        (_, Some(time)) => calendar.list_time(time, ask)?,
        _ => calendar.list_root(ask)?,
    };
    let (listing, next) = listing.into_page(page);
    Ok(v1::BrowseTocResponse {
        entries: listing.entries.into_iter().map(entry_to_wire).collect(),
        continuation: next.map(|id| id.to_string()).unwrap_or_default(),
        said: listing.interpreted_as.unwrap_or_default(),
        from_ms: listing.range.map(|(from, _)| from.0),
        to_ms: listing.range.map(|(_, to)| to.0),
        skipped: listing.skipped,
    })
}

fn level(id: &NodeId) -> String {
    let name = match id.level() {
        Level::Year => "year",
        Level::Month => "month",
        Level::Week => "week",
        Level::Day => "day",
        Level::Segment => "segment",
    };
    name.to_owned()
}

fn period(id: &NodeId) -> String {
    id.period().map(|period| period.title()).unwrap_or_default()
}

fn names(agents: Vec<Agent>) -> Vec<String> {
    agents.into_iter().map(Into::into).collect()
}

fn entry_to_wire(entry: CalendarEntry) -> v1::TocEntry {
    let share = |share: ProjectShare| v1::Share {
        project: share.project,
        title: share.title,
        events: share.events,
    };
    v1::TocEntry {
        level: level(&entry.id),
        period: period(&entry.id),
        id: entry.id.into(),
        title: entry.title,
        first_at_ms: entry.first_at.0,
        last_at_ms: entry.last_at.0,
        events: entry.events,
        tokens: entry.tokens,
        sessions: entry.sessions,
        agents: names(entry.agents),
        open: entry.open,
        shares: entry.shares.into_iter().map(share).collect(),
        entries: entry.entries.into_iter().map(entry_to_wire).collect(),
        children: entry.children,
    }
}

pub(super) fn node_to_wire(found: LocatedNode) -> v1::Node {
    let LocatedNode { project, node, parent, children } = found;
    let (first, last) =
        node.source.map_or_else(Default::default, |(first, last)| (first.into(), last.into()));
    let bullets = node.bullets.into_iter().map(|bullet| v1::Bullet {
        text: bullet.text,
        grips: bullet.grips.into_iter().map(Into::into).collect(),
        unsupported: bullet.unsupported,
    });
    v1::Node {
        project,
        level: level(&node.id),
        period: period(&node.id),
        parent: parent.map(Into::into).unwrap_or_default(),
        id: node.id.into(),
        version: node.version,
        open: node.open,
        title: node.title,
        bullets: bullets.collect(),
        keywords: node.keywords,
        children: children.into_iter().map(entry_to_wire).collect(),
        first_at_ms: node.first_at.0,
        last_at_ms: node.last_at.0,
        events: node.events,
        tokens: node.tokens,
        agents: names(node.agents),
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

fn checked_to_wire(store: StoreVerifyResult) -> v1::StoreChecked {
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

fn rebuilt_to_wire(store: StoreRebuildResult) -> v1::RebuildContentsResponse {
    let mut told = v1::RebuildContentsResponse {
        store: store.path.display().to_string(),
        stores_done: u32::try_from(store.done).unwrap_or(u32::MAX),
        stores: u32::try_from(store.stores).unwrap_or(u32::MAX),
        ..v1::RebuildContentsResponse::default()
    };
    match store.outcome {
        Ok(rebuilt) => {
            told.sessions = rebuilt.sessions;
            told.compared = rebuilt.compared;
            told.written = rebuilt.nodes;
            told.removed = rebuilt.removed;
        }
        Err(error) => told.problem = error.explained(),
    }
    told
}
