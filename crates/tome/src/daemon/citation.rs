//! The gRPC service that opens citations. It drains the spool first, so that the newest events can
//! be cited.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tome_contents::{ExpandedGrip, LocatedNode, event_texts};
use tome_home::HomeError;
use tome_model::Event;
use tome_proto::v1::citations_server::Citations;
use tome_proto::v1::open_response::Content;
use tome_proto::{event_to_wire, v1};
use tome_recall::{
    Citation, Citations as CitationOpener, CitedContent, OpenedCitation, TranscriptsRebuilt,
    Viewpoint,
};
use tonic::{Request, Response, Status};

use super::calls::CallKind;
use super::contents::{grip_to_wire, node_to_wire};
use super::drain::drain;
use super::grpc_status::{invalid_argument, status_of};
use super::request_fields::non_empty_owned;
use super::state::Daemon;

pub struct CitationsService(pub Arc<Daemon>);

/// Results of stores buffered for a client that reads slowly.
const PROGRESS_QUEUE_MAX: usize = 16;
/// Events on either side of a cited one, and bytes of the texts around it.
const AROUND_EVENTS_MAX: usize = 50;
const CITED_TURN_BYTES_MAX: usize = 2 << 20;

#[tonic::async_trait]
impl Citations for CitationsService {
    type RebuildMessagesStream = ReceiverStream<Result<v1::RebuildMessagesResponse, Status>>;

    async fn open(
        &self,
        request: Request<v1::OpenRequest>,
    ) -> Result<Response<v1::OpenResponse>, Status> {
        let request = request.into_inner();
        let citation: Citation = request
            .citation
            .parse()
            .map_err(|error: tome_model::InvalidInput| invalid_argument(&error))?;
        let from = Viewpoint {
            project: non_empty_owned(request.project),
            session: non_empty_owned(request.session_id),
        };
        let (with_turn, around) = (request.with_turn, request.around as usize);
        let opening = self.0.run_blocking(CallKind::Ledger, move |daemon| {
            drain(daemon);
            let citations = build_citation_opener(daemon);
            let opened = citations.open(&citation, &from)?;
            let turn = match &opened.content {
                CitedContent::Event(event) if with_turn => citations
                    .load_around(event, (around > 0).then_some(around.min(AROUND_EVENTS_MAX)))?,
                _ => Vec::new(),
            };
            Ok((opened, turn))
        });
        let (opened, turn) = opening.await?.map_err(|error: HomeError| status_of(&error))?;
        let cited = match &opened.content {
            CitedContent::Event(event) => Some(event.id.clone()),
            _ => None,
        };
        let number = turn.iter().find(|(_, event)| Some(&event.id) == cited.as_ref());
        let number = number.map_or(0, |(number, _)| *number);
        let (turn_numbers, turn) = fit_events(turn);
        let opened = opened_to_wire(opened);
        Ok(Response::new(v1::OpenResponse { turn, turn_numbers, number, ..opened }))
    }

    /// Rebuilds store by store, and continues if the client disconnects.
    async fn rebuild_messages(
        &self,
        request: Request<v1::RebuildMessagesRequest>,
    ) -> Result<Response<Self::RebuildMessagesStream>, Status> {
        let project = non_empty_owned(request.into_inner().project);
        let (progress, responses) = mpsc::channel(PROGRESS_QUEUE_MAX);
        let daemon = Arc::clone(&self.0);
        tokio::spawn(async move {
            let work = daemon.run_blocking(CallKind::Ledger, move |daemon| {
                drain(daemon);
                rebuild_transcripts(daemon, project.as_deref(), &|store| {
                    let _ = progress.blocking_send(Ok(store));
                });
            });
            let _ = work.await;
        });
        Ok(Response::new(ReceiverStream::new(responses)))
    }
}

fn build_citation_opener(daemon: &Daemon) -> CitationOpener {
    let (notebooks, contents) =
        (Arc::clone(daemon.engine.notebooks()), Arc::clone(daemon.engine.contents()));
    CitationOpener::new(notebooks, contents, Arc::clone(daemon.engine.transcripts()))
}

fn rebuild_transcripts(
    daemon: &Daemon,
    project: Option<&str>,
    report: &dyn Fn(v1::RebuildMessagesResponse),
) {
    let paths = match project {
        Some(root) => daemon.engine.stores().find_store_path(root).into_iter().collect(),
        None => daemon.engine.stores().list_paths(),
    };
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    for (done, path) in (1..).zip(&paths) {
        let was_open = daemon.engine.stores().is_open(path);
        let rebuilt = rebuilt_to_wire(rebuild_store(daemon, path, project));
        report(v1::RebuildMessagesResponse {
            store: path.display().to_string(),
            stores_done: count(done),
            stores: count(paths.len()),
            ..rebuilt
        });
        if !was_open {
            daemon.engine.stores().close(path);
        }
    }
}

fn rebuild_store(
    daemon: &Daemon,
    path: &Path,
    project: Option<&str>,
) -> Result<TranscriptsRebuilt, HomeError> {
    daemon.engine.transcripts().rebuild(&*daemon.engine.stores().open(path)?, project)
}

fn rebuilt_to_wire(outcome: Result<TranscriptsRebuilt, HomeError>) -> v1::RebuildMessagesResponse {
    match outcome {
        Ok(rebuilt) => v1::RebuildMessagesResponse {
            files: rebuilt.files,
            changed: rebuilt.changed,
            events: rebuilt.events,
            foreign: rebuilt.foreign,
            ..v1::RebuildMessagesResponse::default()
        },
        Err(error) => {
            let problem = error.explained();
            v1::RebuildMessagesResponse { problem, ..v1::RebuildMessagesResponse::default() }
        }
    }
}

fn opened_to_wire(opened: OpenedCitation) -> v1::OpenResponse {
    v1::OpenResponse {
        project: opened.project,
        session_id: opened.session.map(Into::into).unwrap_or_default(),
        session_assumed: opened.session_assumed,
        file: opened.file.map(|file| file.to_string_lossy().into_owned()).unwrap_or_default(),
        line: opened.line.unwrap_or(0),
        content: Some(match opened.content {
            CitedContent::Event(event) => Content::Event(event_to_wire(*event)),
            CitedContent::ForeignLine(text) => Content::Foreign(text),
            CitedContent::Lines { first, lines, total } => {
                Content::Lines(v1::NoteLines { first, lines, total })
            }
            CitedContent::Nodes(nodes) => Content::Nodes(nodes_to_wire(nodes)),
            CitedContent::Grip(grip) => Content::Grip(expanded_to_wire(*grip)),
        }),
        turn: Vec::new(),
        turn_numbers: Vec::new(),
        number: 0,
    }
}

/// The events of a turn as far as a message holds them; long texts are cut.
fn fit_events(turn: Vec<(u64, Event)>) -> (Vec<u64>, Vec<v1::Event>) {
    let mut bytes = 0;
    turn.into_iter()
        .take_while(|(_, event)| {
            bytes += event_texts(event).map(|text| text.len()).sum::<usize>();
            bytes <= CITED_TURN_BYTES_MAX
        })
        .map(|(number, event)| (number, event_to_wire(event)))
        .unzip()
}

fn nodes_to_wire(nodes: Vec<LocatedNode>) -> v1::GetNodeResponse {
    v1::GetNodeResponse { nodes: nodes.into_iter().map(node_to_wire).collect() }
}

fn expanded_to_wire(expanded: ExpandedGrip) -> v1::ExpandGripResponse {
    let events = |events: Vec<_>| events.into_iter().map(event_to_wire).collect();
    v1::ExpandGripResponse {
        project: expanded.project,
        grip: Some(grip_to_wire(expanded.grip)),
        before: events(expanded.before),
        events: events(expanded.events),
        after: events(expanded.after),
    }
}
