//! Lists sessions, and finds them by their ids or unique prefixes of them.

use std::path::Path;

use anyhow::Result;
use tome_proto::{Client, ClientError, v1};
use tome_terminal::{format_counted, one_line, truncate_end};

use super::project_scope::resolve_project;
use super::screen::Screen;
use super::{CommandContext, CommandError};
use crate::connect::ConnectError;

/// Sessions that are searched for those whose ids begin alike, and listed of them.
const SESSIONS_SEARCHED_MAX: u32 = 1_000;
const CANDIDATES_SHOWN: usize = 8;
/// Characters shown of the id of a session.
const ID_CHARS_SHOWN: usize = 8;
const TITLE_CHARS_MAX: usize = 160;

/// The beginning of a session's id, which names it almost always.
pub fn shorten_session(id: &str) -> String {
    one_line(id, 60).chars().take(ID_CHARS_SHOWN).collect()
}

/// Finds a session: of the given project, or else of the current project first and then of all.
/// `None` if there is no such session.
pub fn find_session(
    context: &CommandContext,
    id: &str,
    project: Option<&Path>,
) -> Result<Option<v1::Session>> {
    Ok(get_session(context, id, project, true)?.and_then(|found| found.session))
}

/// Loads the page of a session, which is found in the same way.
pub fn load_session_page(
    context: &CommandContext,
    id: &str,
    project: Option<&Path>,
) -> Result<Option<v1::GetSessionResponse>> {
    get_session(context, id, project, false)
}

pub fn list_sessions(
    context: &CommandContext,
    request: &v1::ListSessionsRequest,
) -> Result<v1::ListSessionsResponse> {
    let list = async |client: &Client| client.list_sessions(request.clone()).await;
    Ok(context.connector.call_blocking(list)?)
}

/// Completes the id of a session. An unknown id is returned unchanged.
pub fn complete_session(context: &CommandContext, id: Option<&str>) -> Result<Option<String>> {
    let Some(id) = id.filter(|id| !id.trim().is_empty()) else { return Ok(None) };
    let found = find_session(context, id, None)?;
    Ok(Some(found.map_or_else(|| id.to_owned(), |session| session.id)))
}

fn get_session(
    context: &CommandContext,
    id: &str,
    project: Option<&Path>,
    only_listing: bool,
) -> Result<Option<v1::GetSessionResponse>> {
    let near = resolve_project(context, project)?;
    let wide = project.is_none().then(String::new);
    for project in near.into_iter().chain(wide) {
        let request =
            v1::GetSessionRequest { project: project.clone(), id: id.to_owned(), only_listing };
        let get = async |client: &Client| client.get_session(request.clone()).await;
        match context.connector.call_blocking(get) {
            Ok(found) => return Ok(Some(found)),
            Err(ConnectError::Client(ClientError::NotFound(_))) => {}
            Err(ConnectError::Client(ClientError::Invalid(message))) => {
                let refusal = refuse_ambiguous(context, id, &project)?;
                return Err(refusal.unwrap_or(CommandError::bad_input(message)).into());
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

/// The refusal of an id that no session has.
pub fn refuse_unknown(id: &str) -> CommandError {
    CommandError::not_found(format!("no session {}", one_line(id, 120)))
        .with_hint("`tome sessions` lists sessions with their ids")
}

/// The refusal of an id with which several sessions begin, which lists them. `None` if not several do.
fn refuse_ambiguous(
    context: &CommandContext,
    id: &str,
    project: &str,
) -> Result<Option<CommandError>> {
    let request = v1::ListSessionsRequest {
        project: project.to_owned(),
        limit: SESSIONS_SEARCHED_MAX,
        ..v1::ListSessionsRequest::default()
    };
    let mut sessions = list_sessions(context, &request)?.sessions;
    sessions.retain(|session| session.id.starts_with(id.trim()));
    let screen = Screen::new(context);
    Ok((sessions.len() > 1).then(|| describe_ambiguous(&screen, id, &sessions, project.is_empty())))
}

fn describe_ambiguous(
    screen: &Screen,
    id: &str,
    sessions: &[v1::Session],
    is_wide: bool,
) -> CommandError {
    let count = format_counted(sessions.len() as u64, "session", "sessions");
    let mut message = format!("{} matches {count}:", one_line(id, 80));
    let shown = sessions.get(..CANDIDATES_SHOWN.min(sessions.len())).unwrap_or_default();
    let columns = shown.iter().map(|session| session.short_id.chars().count()).max().unwrap_or(0);
    for session in shown {
        let when = screen.when(session.last_at_ms);
        let project = is_wide.then(|| format!("{}: ", screen.projects.name(&session.project)));
        let title = one_line(&session.title, TITLE_CHARS_MAX);
        let short = one_line(&session.short_id, 80);
        let project = project.unwrap_or_default();
        let line = format!("  {short:<columns$}  {when:<12}  {project}{title}");
        message.push_str(&format!("\n{}", truncate_end(&line, screen.line_width())));
    }
    if let hidden @ 1.. = sessions.len().saturating_sub(shown.len()) {
        message.push_str(&format!("\n  and {hidden} more"));
    }
    CommandError::bad_input(message).with_hint("type more of the id")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_that_begin_alike_are_listed_with_their_titles() {
        let session = |id: &str, hours: u64, title: &str| v1::Session {
            short_id: id.to_owned(),
            project: "/home/dev/app".to_owned(),
            title: title.to_owned(),
            last_at_ms: 1_794_735_000_000 - hours * 3_600_000,
            ..v1::Session::default()
        };
        let title = "Accept unicode identifiers in the lexer and in the parser, with tests";
        let mut found = vec![session("419f42f0", 2, title), session("419f42f1-aa", 9_000, "Build")];
        let shown = |found: &[v1::Session], width| {
            let screen = Screen::for_test(1_794_735_000_000, width);
            describe_ambiguous(&screen, "419f", found, true).message
        };
        expect_test::expect![[r#"
            419f matches 2 sessions:
              419f42f0     2 h ago       app: Accept unicode identifier…
              419f42f1-aa  Nov 5, 2025   app: Build"#]]
        .assert_eq(&shown(&found, 60));
        found.extend((0..8).map(|number| session("419f43", number, "Explain the parser")));
        for width in [60, 80, 100, 160] {
            let text = shown(&found, width);
            assert!(text.ends_with("\n  and 2 more"), "{text}");
            for line in text.lines() {
                assert!(tome_terminal::display_width(line) <= width, "{width}: {line}");
            }
        }
    }
}
