//! Summarizes a session: its first request, its latest requests, the agent's final message and open
//! work. Read directly from the session's events, so it is available at once and verbatim; excludes
//! tool output.

use std::collections::BTreeSet;

use serde_json::Value;
use tome_contents::{
    describe_prompt, ends_with_announcement, is_narration, is_task_list_tool, list_commits,
    list_edited_files, prompt_text, read_tool_call,
};
use tome_ledger::{EventRange, Ledger, ScanDirection};
use tome_model::{Event, EventId, EventKind, Millis, Scope, SessionId};
use tome_notebook::OVERVIEW_TEMPLATE;
use tome_topics::resolve_repository_path;

use super::{Injector, open_work};
use crate::triggers::texts::is_own_text;
use tome_home::{HomeError, NotebookOwner};

/// Events read backwards to find another session. If the current session alone has more, none is
/// found.
const EVENTS_BACK_MAX: usize = 4_000;
/// Sessions examined before giving up.
const SESSIONS_MAX: usize = 24;
/// Events read from the beginning and from the end of a session.
const HEAD_EVENTS_MAX: usize = 60;
const TAIL_EVENTS_MAX: usize = 400;
const REQUESTS_MAX: usize = 3;
/// The agent of `tome chat`, and how many of its sessions are passed over.
const CHAT_AGENT: &str = "tome";
const CHATS_SKIPPED_MAX: usize = 8;
/// A shorter prompt ("yes", "go on") means nothing by itself; a shorter final message states no
/// result.
const REQUEST_WORDS_MIN: usize = 3;
/// Calls after the last message that are told.
const CALLS_MAX: usize = 3;
const CLOSING_WORDS_MIN: usize = 8;
/// Bytes of a word that is likely a key.
const TOKEN_BYTES_MIN: usize = 20;
/// Begins the notice that Claude Code records when the user stops the agent.
const INTERRUPTION: &str = "[Request interrupted by user";

/// The state of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionState {
    /// The session's id.
    pub session: String,
    /// Whether this is the session that receives the text.
    pub is_own: bool,
    /// The session's agent.
    pub agent: String,
    /// Time of the first event.
    pub first_at: Millis,
    /// Time of the last event.
    pub last_at: Millis,
    /// The first meaningful request.
    pub first_request: String,
    /// The latest requests in order, without the first one.
    pub latest_requests: Vec<String>,
    /// The user's last message if it is too short to be a request: "yes", "2".
    pub last_words: Option<String>,
    /// The agent's final message.
    pub closing: String,
    /// Whether that message ended the agent's work: no tool was called after it.
    pub is_finished: bool,
    /// The event of the final message, for a citation.
    pub closing_event: Option<String>,
    /// Its last calls after that message, each in a line with how it ended.
    pub last_calls: Vec<String>,
    /// The commits made in it, the latest first.
    pub commits: Vec<String>,
    /// Files that it edited after its last commit, the latest first.
    pub edited: Vec<String>,
    /// Unfinished plan steps and pending issues.
    pub open: Vec<String>,
    /// The last request, if no answer to it was recorded.
    pub unanswered: Option<String>,
}

impl Injector {
    /// Returns the state of the most recently active session of a project, except `current`. Skips
    /// subagents, `tome chat --offline` and sessions without requests.
    pub(super) fn load_last_session(
        &self,
        project: &str,
        current: Option<&SessionId>,
    ) -> Result<Option<SessionState>, HomeError> {
        let last = self.load_sessions_since(project, current, Millis(0), 1)?.pop();
        let is_chat = |state: &SessionState| state.agent == CHAT_AGENT;
        if !last.as_ref().is_some_and(is_chat) {
            return Ok(last);
        }
        // A chat with Tome itself is not where the work stopped; it counts only if there is no
        // other session.
        let earlier = self.load_sessions_since(project, current, Millis(0), CHATS_SKIPPED_MAX)?;
        Ok(earlier.into_iter().find(|state| !is_chat(state)).or(last))
    }

    /// Returns the states of sessions active after `since`, the latest first.
    pub(super) fn load_sessions_since(
        &self,
        project: &str,
        current: Option<&SessionId>,
        since: Millis,
        count: usize,
    ) -> Result<Vec<SessionState>, HomeError> {
        let Some(path) = self.stores.find_store_path(project) else { return Ok(Vec::new()) };
        let store = self.stores.open(&path)?;
        let range = EventRange { direction: ScanDirection::Backward, ..EventRange::default() };
        let mut seen: BTreeSet<SessionId> = current.cloned().into_iter().collect();
        let (own_count, mut states) = (seen.len(), Vec::new());
        for found in store.events(&range).take(EVENTS_BACK_MAX) {
            let (_, event) = found?;
            if event.at <= since || seen.len() - own_count >= SESSIONS_MAX || states.len() >= count
            {
                break;
            }
            if event.project != project || !seen.insert(event.session.clone()) {
                continue;
            }
            states.extend(self.load_session_state(&store, project, &event.session)?);
        }
        Ok(states)
    }

    /// Returns the state of a session; `None` if it is skipped or has no requests.
    pub(super) fn load_session_state(
        &self,
        store: &Ledger,
        project: &str,
        session: &SessionId,
    ) -> Result<Option<SessionState>, HomeError> {
        let Some(read) = SessionEvents::load(store, project, session)? else { return Ok(None) };
        let Some(mut state) = read.summarize() else { return Ok(None) };
        state.open.extend(self.read_pending_issues(project, session)?);
        state.open.dedup();
        // A number is shorter than an id, and opens the same way.
        let id = state.closing_event.as_deref().and_then(|id| EventId::parse(id).ok());
        if let Some(id) = id
            && let Some(position) = store.position(&id)?
        {
            state.closing_event = Some(format!("#{}", position.order_key().seq));
        }
        Ok(Some(state))
    }

    /// Returns when a session was last active before its current start.
    pub(super) fn find_last_activity(
        &self,
        project: &str,
        session: &SessionId,
    ) -> Result<Option<Millis>, HomeError> {
        let Some(path) = self.stores.find_store_path(project) else { return Ok(None) };
        let store = self.stores.open(&path)?;
        let range = EventRange {
            session: Some(session.clone()),
            direction: ScanDirection::Backward,
            ..EventRange::default()
        };
        for found in store.events(&range).take(HEAD_EVENTS_MAX) {
            let (_, event) = found?;
            if event.kind != EventKind::SessionStart {
                return Ok(Some(event.at));
            }
        }
        Ok(None)
    }

    /// The pending issues in a session's overview, if it has one.
    fn read_pending_issues(
        &self,
        project: &str,
        session: &SessionId,
    ) -> Result<Vec<String>, HomeError> {
        let name = Some(session.as_str().to_owned());
        let whose =
            NotebookOwner { scope: Scope::Session, cwd: Some(project.to_owned()), session: name };
        let text = self.notebooks.open(&whose)?.read_note("overview.md").map(|note| note.text);
        let text = text.ok().filter(|text| text.trim() != OVERVIEW_TEMPLATE.trim());
        Ok(text
            .map(|text| open_work::parse_pending_issues(&self.redact_text(&text)))
            .unwrap_or_default())
    }
}

/// The first and last events of a session.
struct SessionEvents {
    head: Vec<Event>,
    /// The latest first.
    tail: Vec<Event>,
}

impl SessionEvents {
    /// Reads a session; `None` if it is a subagent's or offline.
    fn load(store: &Ledger, project: &str, session: &SessionId) -> Result<Option<Self>, HomeError> {
        let read = |direction, count| -> Result<Vec<Event>, HomeError> {
            let range =
                EventRange { session: Some(session.clone()), direction, ..EventRange::default() };
            let mut events = Vec::new();
            for found in store.events(&range).take(count) {
                let (_, event) = found?;
                if event.project == project && !event.meta.contains_key("subagent") {
                    events.push(event);
                }
            }
            Ok(events)
        };
        let head = read(ScanDirection::Forward, HEAD_EVENTS_MAX)?;
        if head.iter().any(is_subagent_or_offline) {
            return Ok(None);
        }
        let tail = read(ScanDirection::Backward, TAIL_EVENTS_MAX)?;
        Ok(Some(Self { head, tail }))
    }

    fn summarize(&self) -> Option<SessionState> {
        let (first, last) = (self.head.first()?, self.tail.first()?);
        let is_request = |event: &&Event| {
            // Editors put their own tags before the user's text.
            let typed = prompt_text(&event.text);
            event.kind == EventKind::UserMessage
                && !is_own_text(&event.text)
                && !typed.trim().is_empty()
                && !typed.trim_start().starts_with('<')
                && !is_client_command(&event.text)
        };
        let says = |event: &&Event| {
            let typed = prompt_text(&event.text);
            tome_text::count_words(&typed) >= REQUEST_WORDS_MIN
                || typed.trim_start().starts_with('/')
        };
        let requests: Vec<&Event> = self.tail.iter().filter(is_request).collect();
        let first_request = self.head.iter().filter(is_request).find(says);
        let first_request = first_request
            .or_else(|| requests.iter().rev().copied().find(|event| says(event)))
            .or_else(|| self.head.iter().find(is_request))?;
        let first_text = describe_prompt(&first_request.text);
        let mut latest: Vec<String> = Vec::new();
        for event in requests.iter().copied().filter(|event| says(event)) {
            let text = describe_prompt(&event.text);
            // A prompt is repeated where the agent was interrupted.
            let is_listed = text == first_text && !latest.is_empty() || latest.contains(&text);
            if latest.len() < REQUESTS_MAX && event.id != first_request.id && !is_listed {
                latest.push(text);
            }
        }
        let last_words = requests.first().filter(|event| !says(event));
        let last_words = last_words.map(|event| prompt_text(&event.text).trim().to_owned());
        // One long token is a key or an address that was asked for.
        let is_token = |words: &String| {
            words.split_whitespace().any(|word| word.is_ascii() && word.len() >= TOKEN_BYTES_MIN)
        };
        let last_words = last_words.filter(|words| !is_token(words));
        latest.reverse();
        let answers = || self.tail.iter().filter(|event| is_answer(event));
        let last_answer = answers().next();
        let is_work = |event: &Event| {
            let name = event.tool.as_ref().map(|tool| tool.name.as_str());
            event.kind == EventKind::ToolResult && !name.is_some_and(is_task_list_tool)
        };
        let mut after =
            self.tail.iter().take_while(|event| last_answer.is_none_or(|end| event.id != end.id));
        let is_finished = !after.any(is_work);
        // An earlier answer is none to the last request.
        let asked = requests.iter().find(|event| says(event));
        let asked_at = asked.map_or(Millis(0), |prompt| prompt.at);
        let closes = |event: &&&Event| event.at >= asked_at && is_conclusion(event);
        let closing = answers()
            .find(|event| event.kind == EventKind::AssistantStop && closes(&event))
            .or_else(|| answers().find(|event| closes(&event)))
            .filter(|_| is_finished)
            .or(last_answer);
        let is_answered = |prompt: &Event| answers().any(|answer| answer.at >= prompt.at);
        // "Now let me write the plan" ends nothing.
        let announces = closing
            .is_some_and(|event| is_narration(&event.text) || ends_with_announcement(&event.text));
        let is_finished = is_finished && !announces;
        let unanswered = requests.first().filter(|prompt| !is_answered(prompt));
        Some(SessionState {
            session: first.session.as_str().to_owned(),
            is_own: false,
            agent: first.agent.as_str().to_owned(),
            first_at: first.at,
            last_at: last.at,
            first_request: first_text,
            latest_requests: latest,
            last_words,
            closing: closing.map(|event| event.text.clone()).unwrap_or_default(),
            is_finished,
            closing_event: closing.map(|event| event.id.as_str().to_owned()),
            last_calls: if is_finished { Vec::new() } else { self.describe_last_calls(closing) },
            commits: self.list_commits(),
            edited: self.list_uncommitted_files(),
            open: open_work::collect_open_work(&self.tail, closing),
            unanswered: unanswered.map(|event| describe_prompt(&event.text)),
        })
    }
}

impl SessionEvents {
    /// The commits of the events that were read, the latest first.
    fn list_commits(&self) -> Vec<String> {
        let mut commits = list_commits(self.tail.iter().rev());
        commits.reverse();
        commits
    }

    /// The calls after the agent's last message, in order.
    fn describe_last_calls(&self, closing: Option<&Event>) -> Vec<String> {
        let after =
            self.tail.iter().take_while(|event| closing.is_none_or(|end| event.id != end.id));
        let is_work = |event: &Event| {
            let name = event.tool.as_ref().map(|tool| tool.name.as_str());
            event.kind == EventKind::ToolResult && !name.is_some_and(is_task_list_tool)
        };
        let mut calls: Vec<String> = after
            .filter_map(|event| {
                if event.text.starts_with(INTERRUPTION) {
                    return Some("interrupted by the user".to_owned());
                }
                let call = read_tool_call(event).filter(|_| is_work(event))?;
                let words = call.outcome.words();
                let ended = match (call.outcome.has_passed(), words.is_empty()) {
                    (Some(true), _) => " (passed)".to_owned(),
                    (_, true) => String::new(),
                    (_, false) => format!(
                        " ({words}{})",
                        call.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default()
                    ),
                };
                Some(format!("{}{}{ended}", call.prompt_mark(), call.line))
            })
            .take(CALLS_MAX)
            .collect();
        calls.reverse();
        calls
    }

    /// The files that were edited after the last commit of the session, or since the events that were read.
    fn list_uncommitted_files(&self) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        for event in &self.tail {
            let Some(tool) = event.tool.as_ref().filter(|_| event.kind == EventKind::ToolResult)
            else {
                continue;
            };
            let Some(call) = read_tool_call(event) else { continue };
            if call.commit.is_some() && call.outcome.has_passed() != Some(false) {
                break;
            }
            if call.outcome.has_passed() == Some(false) {
                continue;
            }
            for path in list_edited_files(tool) {
                // The agent's own files elsewhere are not part of the project.
                let path = resolve_repository_path(path, &event.cwd, &event.project);
                files.extend(path.filter(|path| !files.contains(path)));
            }
        }
        files
    }
}

/// Whether a prompt is a command to the agent's client itself rather than to the agent.
fn is_client_command(prompt: &str) -> bool {
    #[rustfmt::skip]
    const COMMANDS: [&str; 28] = [
        "add-dir", "agents", "approvals", "bug", "clear", "compact", "config", "context", "cost", "doctor", "exit",
        "export", "help", "hooks", "ide", "login", "logout", "mcp", "memory", "model", "new", "permissions", "quit",
        "rename", "resume", "status", "theme", "usage",
    ];
    let name =
        prompt.trim_start().strip_prefix('/').and_then(|rest| rest.split_whitespace().next());
    // `/src/main.rs` is a path.
    name.is_some_and(|name| COMMANDS.contains(&name) || name.contains('/'))
}

fn is_subagent_or_offline(event: &Event) -> bool {
    let is_subagent = event.kind == EventKind::SubagentStart && event.meta.contains_key("parent");
    let model = event.meta.get("model").and_then(Value::as_str);
    let is_offline = event.kind == EventKind::SessionStart && model == Some("offline");
    is_subagent || is_offline
}

fn is_answer(event: &Event) -> bool {
    matches!(event.kind, EventKind::AssistantStop | EventKind::AssistantMessage)
        && !event.text.trim().is_empty()
}

fn is_conclusion(event: &Event) -> bool {
    tome_text::count_words(&event.text) >= CLOSING_WORDS_MIN
}

#[cfg(test)]
mod tests {
    use super::*;
    use tome_model::{Agent, Role, Tool};

    fn event(number: u64, kind: EventKind, text: &str, tool: Option<&str>) -> Event {
        let tool = tool.map(|name| Tool {
            name: name.to_owned(),
            input: Value::Null,
            output: Value::Null,
        });
        Event {
            id: EventId::parse(&format!("event-{number}")).unwrap(),
            session: SessionId::parse("s1").unwrap(),
            agent: Agent::parse("claude-code").unwrap(),
            kind,
            role: Role::Assistant,
            text: text.to_owned(),
            tool,
            at: Millis(number * 60_000),
            arrived: Millis(number * 60_000),
            project: "/app".to_owned(),
            cwd: "/app".to_owned(),
            meta: serde_json::Map::default().into_iter().collect(),
        }
    }

    /// Whether the session is finished, and its closing message.
    fn summarize(last: &[(EventKind, &str, Option<&str>)]) -> (bool, String) {
        const SUMMARY: &str =
            "The lexer accepts unicode identifiers and all of its tests pass now.";
        let mut events = vec![
            event(1, EventKind::UserMessage, "make the lexer accept unicode", None),
            event(2, EventKind::AssistantStop, SUMMARY, None),
            event(3, EventKind::UserMessage, "run the tests again please", None),
        ];
        events.extend((4..).zip(last).map(|(n, (kind, text, tool))| event(n, *kind, text, *tool)));
        let tail = events.iter().rev().cloned().collect();
        let state = SessionEvents { head: events, tail }.summarize().unwrap();
        (state.is_finished, state.closing)
    }

    #[test]
    fn a_session_is_finished_if_no_work_follows_its_last_message() {
        let work = (EventKind::ToolResult, "", Some("Bash"));
        let tasks = (EventKind::ToolResult, "", Some("TodoWrite"));
        let announced = (EventKind::AssistantMessage, "Running them.", None);
        let done = (EventKind::AssistantStop, "Done, all pass.", None);
        let (is_finished, closing) = summarize(&[announced, work, done]);
        // The summary answers an earlier request.
        assert_eq!((is_finished, closing.as_str()), (true, "Done, all pass."));
        assert!(summarize(&[work, done, tasks]).0);
        assert_eq!(summarize(&[announced, work]), (false, "Running them.".to_owned()));
    }

    fn state_of(last: &[(EventKind, &str, Option<&str>)]) -> SessionState {
        let mut events =
            vec![event(1, EventKind::UserMessage, "make the lexer accept unicode", None)];
        events.extend((2..).zip(last).map(|(n, (kind, text, tool))| event(n, *kind, text, *tool)));
        let tail = events.iter().rev().cloned().collect();
        SessionEvents { head: events, tail }.summarize().unwrap()
    }

    #[test]
    fn the_last_request_is_what_the_user_typed_last() {
        let ask = |text| (EventKind::UserMessage, text, None);
        let answer =
            (EventKind::AssistantStop, "The lexer accepts them; one test is still red.", None);
        let edited = "<ide_opened_file>The user opened src/lexer.rs.</ide_opened_file>\nNow fix the red test";
        let state = state_of(&[answer, ask(edited)]);
        assert_eq!(state.latest_requests, ["Now fix the red test"]);
        let state = state_of(&[answer, ask("/review src/lexer.rs"), answer, ask("/model")]);
        assert_eq!(state.latest_requests, ["/review src/lexer.rs"]);
        assert_eq!(state.last_words, None);
        let state = state_of(&[answer, ask("now fix the red test"), answer, ask("go on")]);
        assert_eq!(state.last_words.as_deref(), Some("go on"));
        let state = state_of(&[answer, ask("q8w7e6r5t4y3u2i1o0p9a8s7")]);
        assert_eq!(state.last_words, None);
        // The prompt that began the session, sent again.
        let state = state_of(&[
            answer,
            ask("fix the red test"),
            answer,
            ask("make the lexer accept unicode"),
        ]);
        assert_eq!(state.latest_requests.last().unwrap(), "make the lexer accept unicode");
    }

    #[test]
    fn what_ended_the_work_is_told() {
        let said = (
            EventKind::AssistantMessage,
            "All tests pass. I'm running the linter once more.",
            None,
        );
        assert!(!state_of(&[said]).is_finished);
        let offer = (
            EventKind::AssistantStop,
            "All tests pass. Let me know if you want the linter, too.",
            None,
        );
        assert!(state_of(&[offer]).is_finished);
        let mut edit = event(
            3,
            EventKind::ToolResult,
            "The user doesn't want to proceed with this tool use.",
            Some("Edit"),
        );
        edit.tool.as_mut().unwrap().input = serde_json::json!({"file_path": "/app/src/lexer.rs"});
        edit.tool.as_mut().unwrap().output =
            serde_json::json!("The user doesn't want to proceed with this tool use.");
        let mut events = vec![
            event(1, EventKind::UserMessage, "make the lexer accept unicode", None),
            event(2, EventKind::AssistantMessage, "Let me remove that call:", None),
            edit,
        ];
        events.push(event(
            4,
            EventKind::Unknown,
            "[Request interrupted by user for tool use]",
            None,
        ));
        let tail = events.iter().rev().cloned().collect();
        let state = SessionEvents { head: events, tail }.summarize().unwrap();
        assert_eq!(state.last_calls, ["Edit src/lexer.rs (rejected)", "interrupted by the user"]);
        assert!(state.edited.is_empty());
    }
}
