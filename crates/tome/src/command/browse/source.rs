//! Answers the requests of the browser from the daemon.

use tome_browse::{
    BrowseAnswer, BrowseSource, ContentsPage, Filters, Item, ListKind, ListPage, ListQuery,
    NotebookScope, ProjectRange, RequestKind, ResumeCommand, ScopeFilter, SpeakerFilter,
    TimeFilter,
};
use tome_contents::parse_time_phrase;
use tome_model::{Clock, SystemClock, Zone};
use tome_proto::{Client, ClientError, limits, v1};
use tome_terminal::{format_counted, one_line};

use super::items::{entry_item, hit_item, note_item, segment_items, session_item};
use crate::command::CommandContext;
use crate::command::project_name::ProjectNames;
use crate::command::screen::Screen;
use crate::command::time_labels::TimeLabels;
use crate::connect::{ConnectError, DaemonConnector};

/// Columns of the card of an item, which is wrapped again.
const CARD_COLUMNS: usize = 1_000;
/// Nodes below a node of the contents.
const NODES_MAX: u32 = 500;
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
const SEGMENT_PREFIX: &str = "toc:segment:";

/// The reason why a request has no answer.
pub struct Refusal(pub String);

impl From<ConnectError> for Refusal {
    fn from(error: ConnectError) -> Self {
        Self(error.to_string())
    }
}

impl From<std::io::Error> for Refusal {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

pub struct DaemonSource {
    connector: DaemonConnector,
    labels: TimeLabels,
    zone: Zone,
    user_home: Option<String>,
    projects: ProjectNames,
    /// The root of the current project; empty if there is none.
    project: String,
}

impl DaemonSource {
    pub fn new(context: &CommandContext, project: String) -> Self {
        Self {
            connector: context.connector.clone(),
            labels: TimeLabels::from_settings(&context.settings),
            zone: context.settings.contents.zone.clone(),
            user_home: std::env::home_dir().map(|home| home.to_string_lossy().into_owned()),
            projects: ProjectNames::load(context),
            project,
        }
    }

    pub fn call<T>(
        &self,
        question: impl AsyncFn(&Client) -> Result<T, ClientError>,
    ) -> Result<T, Refusal> {
        Ok(self.connector.call_blocking(question)?)
    }

    pub fn screen(&self, width: usize) -> Screen {
        Screen {
            now: SystemClock.now(),
            labels: self.labels.clone(),
            width: Some(width),
            home: self.user_home.clone(),
            projects: self.projects.clone(),
        }
    }

    /// The project to search; empty for all.
    fn project_of(&self, filters: &Filters) -> String {
        match filters.range {
            ProjectRange::Project => self.project.clone(),
            ProjectRange::All => String::new(),
        }
    }

    /// The beginning of the time to search.
    fn first_moment(&self, filters: &Filters) -> Option<u64> {
        let now = SystemClock.now();
        let today = || parse_time_phrase("today", now, &self.zone).map(|span| span.from.0);
        match filters.period {
            TimeFilter::Any => None,
            TimeFilter::Today => today(),
            TimeFilter::Week => Some(now.0.saturating_sub(7 * DAY_MS)),
            TimeFilter::Month => Some(now.0.saturating_sub(30 * DAY_MS)),
        }
    }

    fn list(&self, query: &ListQuery) -> Result<ListPage, Refusal> {
        match (query.words.as_str(), query.filters.scope) {
            ("", ScopeFilter::Notes) => self.list_notes(NotebookScope::Project),
            ("", ScopeFilter::Lessons) => self.list_notes(NotebookScope::Coder),
            ("", _) => self.list_sessions(query),
            _ => self.recall(query),
        }
    }

    fn list_sessions(&self, query: &ListQuery) -> Result<ListPage, Refusal> {
        let request = v1::ListSessionsRequest {
            project: self.project_of(&query.filters),
            limit: u32::try_from(query.limit).unwrap_or(u32::MAX),
            from_ms: self.first_moment(&query.filters),
            agents: query.filters.agent.iter().cloned().collect(),
            ..v1::ListSessionsRequest::default()
        };
        let listed = self.call(async |client| client.list_sessions(request.clone()).await)?;
        let screen = self.screen(CARD_COLUMNS);
        let items: Vec<Item> =
            listed.sessions.iter().map(|session| session_item(&screen, session)).collect();
        let has_more = listed.total > items.len() as u64;
        let notice = listed.skipped.first().map(|store| format!("skipped: {store}"));
        let notice = notice.unwrap_or_default();
        Ok(ListPage { kind: ListKind::Sessions, items, has_more, notice, is_behind: false })
    }

    fn list_notes(&self, scope: NotebookScope) -> Result<ListPage, Refusal> {
        let kind = ListKind::Notes;
        let (name, project) = match scope {
            NotebookScope::Coder => ("coder", ""),
            _ if self.project.is_empty() => return Ok(ListPage { kind, ..ListPage::default() }),
            _ => ("project", self.project.as_str()),
        };
        let notebook = v1::Whose {
            scope: name.to_owned(),
            cwd: project.to_owned(),
            session_id: String::new(),
        };
        let listed = self.call(async |client| client.list_notes(notebook.clone()).await)?;
        let screen = self.screen(CARD_COLUMNS);
        let items =
            listed.notes.iter().map(|note| note_item(&screen, scope, project, note)).collect();
        let notice = match listed.left_out {
            0 => String::new(),
            more => format!("{} more: type to search", format_counted(more, "note", "notes")),
        };
        Ok(ListPage { kind, items, has_more: false, notice, is_behind: false })
    }

    fn recall(&self, query: &ListQuery) -> Result<ListPage, Refusal> {
        let (filters, screen) = (&query.filters, self.screen(CARD_COLUMNS));
        let kinds: &[&str] = match filters.speaker {
            SpeakerFilter::Anyone => &[],
            SpeakerFilter::User => &["user_message"],
            SpeakerFilter::Agent => &["assistant_message", "assistant_stop"],
            SpeakerFilter::Tool => &["tool_result"],
        };
        let scope = match filters.scope {
            ScopeFilter::All => "all",
            ScopeFilter::Sessions => "messages",
            ScopeFilter::Notes => "notes",
            ScopeFilter::Lessons => "coder",
            ScopeFilter::Contents => "contents",
        };
        let across = match (filters.range, self.project.as_str()) {
            (ProjectRange::All, _) | (_, "") => "all",
            (ProjectRange::Project, _) => "project",
        };
        let mut page = ListPage { kind: ListKind::Hits, ..ListPage::default() };
        loop {
            let missing = query.limit.saturating_sub(page.items.len());
            let request = v1::RecallRequest {
                query: query.words.clone(),
                scope: scope.to_owned(),
                across: across.to_owned(),
                limit: Some(
                    u32::try_from(missing).unwrap_or(u32::MAX).min(limits::RECALL_HITS_MAX),
                ),
                skip: u32::try_from(page.items.len()).unwrap_or(u32::MAX),
                project: self.project.clone(),
                agents: filters.agent.iter().cloned().collect(),
                kinds: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
                from_ms: self.first_moment(filters),
                ..v1::RecallRequest::default()
            };
            let answer = self.call(async |client| client.recall(request.clone()).await)?;
            page.items.extend(answer.hits.iter().map(|hit| hit_item(&screen, hit)));
            page.has_more = answer.more > 0;
            page.notice = index_notice(&answer);
            page.is_behind = answer.behind > 0;
            let is_done = answer.hits.is_empty() || !page.has_more;
            if is_done || page.items.len() >= query.limit {
                return Ok(page);
            }
        }
    }

    pub fn load_nodes(&self, project: &str, id: &str) -> Result<Vec<v1::Node>, Refusal> {
        let request =
            v1::GetNodeRequest { project: project.to_owned(), id: id.to_owned(), version: 0 };
        Ok(self.call(async |client| client.get_node(request.clone()).await)?.nodes)
    }

    fn open_contents(&self, filters: &Filters, id: &str) -> Result<ContentsPage, Refusal> {
        let (project, screen) = (self.project_of(filters), self.screen(CARD_COLUMNS));
        let mut page = ContentsPage { node: id.to_owned(), ..ContentsPage::default() };
        let nodes = match id {
            "" => Vec::new(),
            id => self.load_nodes(&project, id)?,
        };
        if let Some(node) = nodes.first() {
            page.period = node.period.clone();
            page.parent = Some(node.parent.clone());
        }
        if id.starts_with(SEGMENT_PREFIX) {
            page.items = nodes.iter().flat_map(|node| segment_items(&screen, node)).collect();
            return Ok(page);
        }
        let request = v1::BrowseTocRequest {
            project: project.clone(),
            node_id: id.to_owned(),
            limit: NODES_MAX,
            newest_first: true,
            ..v1::BrowseTocRequest::default()
        };
        let contents = self.call(async |client| client.browse_toc(request.clone()).await)?;
        page.items =
            contents.entries.iter().map(|entry| entry_item(&screen, entry, &project)).collect();
        page.notice =
            contents.skipped.first().map(|store| format!("skipped: {store}")).unwrap_or_default();
        Ok(page)
    }

    fn find_resume(&self, item: &Item) -> Result<ResumeCommand, Refusal> {
        let request = v1::GetSessionRequest {
            project: item.project.clone(),
            id: item.session.clone(),
            only_listing: true,
        };
        let response = self.call(async |client| client.get_session(request.clone()).await)?;
        let session = response.session.unwrap_or_default();
        if session.resume.is_empty() {
            let agent = one_line(&session.agent, 60);
            return Err(Refusal(format!("sessions of {agent} cannot be resumed")));
        }
        let folder = self.projects.session_folder(&session.project, &session.cwd);
        Ok(ResumeCommand {
            has_folder: std::path::Path::new(&folder).is_dir(),
            session: session.id,
            project: session.project,
            title: session.title,
            folder,
            command: session.resume,
        })
    }
}

/// Says what was not searched. Events that are not indexed yet were: their texts are read.
fn index_notice(answer: &v1::RecallResponse) -> String {
    answer.unread.first().map(|unread| format!("skipped: {unread}")).unwrap_or_default()
}

impl BrowseSource for DaemonSource {
    fn answer(&self, request: &RequestKind) -> Result<BrowseAnswer, String> {
        let answer = match request {
            RequestKind::List(query) => self.list(query).map(BrowseAnswer::List),
            RequestKind::Contents { filters, node } => {
                self.open_contents(filters, node).map(BrowseAnswer::Contents)
            }
            RequestKind::Preview { item, width } => {
                self.render_preview(item, *width).map(BrowseAnswer::Preview)
            }
            RequestKind::Resume(item) => self.find_resume(item).map(BrowseAnswer::Resume),
        };
        answer.map_err(|Refusal(reason)| reason)
    }
}
