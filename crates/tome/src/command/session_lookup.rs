//! Finds sessions by their ids or unique prefixes of them.

use std::path::Path;

use anyhow::Result;
use tome_proto::{Client, ClientError, v1};

use super::CommandContext;
use super::events::resolve_project;
use crate::connect::ConnectError;

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
        let request = v1::GetSessionRequest { project, id: id.to_owned(), only_listing };
        let get = async |client: &Client| client.get_session(request.clone()).await;
        match context.connector.call_blocking(get) {
            Ok(found) => return Ok(Some(found)),
            Err(ConnectError::Client(ClientError::NotFound(_))) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}
