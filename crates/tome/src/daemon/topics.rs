//! The gRPC service for topics. It drains the spool first, and the topics catch up before it answers.

use std::sync::Arc;

use tome_engine::path_in_project;
use tome_home::HomeError;
use tome_model::{InvalidInput, truncate_to};
use tome_proto::v1;
use tome_proto::v1::topics_server::Topics;
use tome_topics::{
    FileLookup, PageFact, ProblemState, RelatedTopic, Topic, TopicKind, TopicMap, TopicPage,
};
use tonic::{Request, Response, Status};

use super::calls::CallKind;
use super::drain::drain;
use super::grpc_status::status_of;
use super::state::Daemon;

pub struct TopicsService(pub Arc<Daemon>);

/// Topics in one list.
const TOPICS_DEFAULT: usize = 10;
const TOPICS_MAX: usize = 500;
/// Entries, sessions and files of one page; more would not fit a message.
const LINES_DEFAULT: usize = 40;
const LINES_MAX: usize = 3_000;

impl TopicsService {
    /// Drains the spool and runs a query on the topics of a project.
    async fn query<T: Send + 'static>(
        &self,
        project: String,
        read: impl FnOnce(&TopicMap) -> Result<T, HomeError> + Send + 'static,
    ) -> Result<Response<T>, Status> {
        if project.is_empty() {
            return Err(Status::invalid_argument("topics belong to a project: give its root"));
        }
        let answer = self.0.run_blocking(CallKind::Recall, move |daemon| {
            drain(daemon);
            read(&*daemon.engine.topics().load(&project)?)
        });
        Ok(Response::new(answer.await?.map_err(|error| status_of(&error))?))
    }
}

#[tonic::async_trait]
impl Topics for TopicsService {
    async fn get_topic_graph_status(
        &self,
        request: Request<v1::GetTopicGraphStatusRequest>,
    ) -> Result<Response<v1::GetTopicGraphStatusResponse>, Status> {
        self.query(request.into_inner().project, |map| {
            let (status, activity) = (map.status(), map.activity());
            Ok(v1::GetTopicGraphStatusResponse {
                segments: status.segments,
                ungrouped: status.ungrouped,
                groups: status.groups,
                named: status.named,
                sessions: activity.sessions,
                first_at_ms: if activity.segments == 0 { 0 } else { activity.first_at.0 },
                last_at_ms: activity.last_at.0,
            })
        })
        .await
    }

    async fn get_top_topics(
        &self,
        request: Request<v1::GetTopTopicsRequest>,
    ) -> Result<Response<v1::GetTopTopicsResponse>, Status> {
        let request = request.into_inner();
        let kind = parse_kind(&request.kind).map_err(|error| status_of(&error))?;
        self.query(request.project, move |map| {
            let topics = map.top(kind, limit_of(request.limit));
            Ok(v1::GetTopTopicsResponse { topics: topics.into_iter().map(topic_to_wire).collect() })
        })
        .await
    }

    async fn get_topics_by_query(
        &self,
        request: Request<v1::GetTopicsByQueryRequest>,
    ) -> Result<Response<v1::GetTopicsByQueryResponse>, Status> {
        let request = request.into_inner();
        self.query(request.project, move |map| {
            let topics = map.search(&request.query, limit_of(request.limit));
            let topics = topics.into_iter().map(topic_to_wire).collect();
            Ok(v1::GetTopicsByQueryResponse { topics })
        })
        .await
    }

    async fn get_related_topics(
        &self,
        request: Request<v1::GetRelatedTopicsRequest>,
    ) -> Result<Response<v1::GetRelatedTopicsResponse>, Status> {
        let request = request.into_inner();
        self.query(request.project, move |map| {
            let id = map.resolve(&request.id).ok_or_else(|| unknown_topic(&request.id))?;
            let related = map.related(&id).into_iter().map(related_to_wire).collect();
            Ok(v1::GetRelatedTopicsResponse { related })
        })
        .await
    }

    async fn get_topic_page(
        &self,
        request: Request<v1::GetTopicPageRequest>,
    ) -> Result<Response<v1::GetTopicPageResponse>, Status> {
        let v1::GetTopicPageRequest { project, id, path, cwd, limit } = request.into_inner();
        let root = project.clone();
        self.query(project, move |map| {
            let page = if path.is_empty() {
                map.page(&id).map(page_to_wire).ok_or_else(|| unknown_topic(&id))
            } else {
                file_page(map, &path_in_project(&path, &cwd, &root))
            };
            page.map(|page| limit_page(page, limit))
        })
        .await
    }
}

fn file_page(map: &TopicMap, path: &str) -> Result<v1::GetTopicPageResponse, HomeError> {
    let shown = truncate_to(path, 200);
    match map.file_page(path) {
        FileLookup::Found(page) => Ok(page_to_wire(*page)),
        FileLookup::OnlyRead(only_read) => {
            Ok(v1::GetTopicPageResponse { only_read, ..v1::GetTopicPageResponse::default() })
        }
        FileLookup::Folder { id, files, files_total } => {
            let files = match files_total.saturating_sub(files.len() as u64) {
                0 => files.join(", "),
                more => format!("{} and {more} more", files.join(", ")),
            };
            let open = id.map(|id| format!("; open it: tome topics show {id}")).unwrap_or_default();
            let message = format!("{shown} is a folder; changed files in it: {files}{open}");
            Err(HomeError::NotFound(message))
        }
        FileLookup::Several(paths) => {
            let problem = format!(
                "{shown} is the name of several files: give more of the folders before it ({})",
                paths.join(", ")
            );
            Err(InvalidInput::invalid("path", problem).into())
        }
        FileLookup::Unknown(alike) => {
            let hint = if alike.is_empty() {
                String::new()
            } else {
                format!("; did you mean {}?", alike.join(", "))
            };
            Err(HomeError::NotFound(format!("no edit of {shown} is recorded{hint}")))
        }
    }
}

/// Cuts the lists of a page; the totals beside them count all.
fn limit_page(mut page: v1::GetTopicPageResponse, limit: u32) -> v1::GetTopicPageResponse {
    let most = if limit == 0 { LINES_DEFAULT } else { (limit as usize).min(LINES_MAX) };
    page.entries.truncate(most);
    page.sessions.truncate(most);
    page.files.truncate(most);
    page
}

fn unknown_topic(id: &str) -> HomeError {
    let id = truncate_to(id, 120);
    HomeError::NotFound(format!("no topic {id} in this project: `tome topics` lists them"))
}

fn parse_kind(kind: &str) -> Result<TopicKind, HomeError> {
    if kind.is_empty() {
        return Ok(TopicKind::Group);
    }
    kind.parse().map_err(|()| {
        let names: Vec<&str> = TopicKind::ALL.iter().map(|kind| kind.as_str()).collect();
        let kind = truncate_to(kind, 80);
        let problem = format!("{kind:?} is not known: use one of {}", names.join(", "));
        InvalidInput::invalid("kind", problem).into()
    })
}

fn limit_of(limit: u32) -> usize {
    if limit == 0 { TOPICS_DEFAULT } else { (limit as usize).min(TOPICS_MAX) }
}

fn topic_to_wire(topic: Topic) -> v1::Topic {
    let activity = topic.activity;
    v1::Topic {
        id: topic.id,
        kind: topic.kind.as_str().to_owned(),
        label: topic.label,
        title: topic.title,
        days: activity.days,
        first_day: activity.first_day,
        last_day: activity.last_day,
        first_at_ms: activity.first_at.0,
        last_at_ms: activity.last_at.0,
        segments: activity.segments,
        sessions: activity.sessions,
        agents: activity.agents.iter().map(ToString::to_string).collect(),
    }
}

fn related_to_wire(related: RelatedTopic) -> v1::RelatedTopic {
    v1::RelatedTopic { topic: Some(topic_to_wire(related.topic)), reason: related.reason }
}

fn fact_to_wire(fact: PageFact) -> v1::TopicFact {
    v1::TopicFact {
        kind: fact.kind.as_str().to_owned(),
        text: fact.text,
        at_ms: fact.at.0,
        number: fact.number,
        ..v1::TopicFact::default()
    }
}

fn problem_to_wire((fact, state): (PageFact, ProblemState)) -> v1::TopicFact {
    let (state, passed_number) = match state {
        ProblemState::Fixed => ("fixed", 0),
        ProblemState::PassedLater(number) => ("passed_later", number),
        ProblemState::Open => ("open", 0),
    };
    v1::TopicFact { state: state.to_owned(), passed_number, ..fact_to_wire(fact) }
}

fn page_to_wire(page: TopicPage) -> v1::GetTopicPageResponse {
    let facts = |facts: Vec<PageFact>| facts.into_iter().map(fact_to_wire).collect();
    let weeks = page.weeks.into_iter();
    let entries = page.entries.into_iter().map(|entry| v1::TopicEntry {
        at_ms: entry.at.0,
        agent: entry.agent.to_string(),
        session: entry.session.to_string(),
        why: entry.why,
        detail: entry.detail,
        number: entry.number,
    });
    let sessions = page.sessions.into_iter().map(|session| v1::TopicSession {
        id: session.id.to_string(),
        agent: session.agent.to_string(),
        last_at_ms: session.last_at.0,
        title: session.title,
        segments: session.segments,
        number: session.number,
    });
    let files = page.files.into_iter();
    v1::GetTopicPageResponse {
        topic: Some(topic_to_wire(page.topic)),
        forwarded_from: page.forwarded_from.unwrap_or_default(),
        former_names: page.former_names,
        weeks: weeks
            .map(|week| v1::TopicWeek { monday: week.monday, segments: week.segments })
            .collect(),
        entries_total: entries.len() as u64,
        sessions_total: sessions.len() as u64,
        files_total: files.len() as u64,
        entries: entries.collect(),
        sessions: sessions.collect(),
        commits: facts(page.commits),
        files: files
            .map(|file| v1::TopicFile { path: file.path, segments: file.segments })
            .collect(),
        decisions: facts(page.decisions),
        problems: page.problems.into_iter().map(problem_to_wire).collect(),
        statements: facts(page.statements),
        related: page.related.into_iter().map(related_to_wire).collect(),
        only_read: 0,
    }
}
