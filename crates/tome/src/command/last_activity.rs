//! The last activity, for screens that have nothing to show in a period.

use anyhow::Result;
use tome_proto::{Client, v1};

use super::CommandContext;
use super::screen::Screen;

/// The time of the last event; `None` if nothing is recorded. An empty project stands for all.
pub fn find_last_activity(context: &CommandContext, project: &str) -> Result<Option<u64>> {
    let request = v1::ListSessionsRequest {
        project: project.to_owned(),
        limit: 1,
        ..v1::ListSessionsRequest::default()
    };
    let list = async |client: &Client| client.list_sessions(request.clone()).await;
    let latest = context.connector.call_blocking(list)?.sessions.into_iter().next();
    Ok(latest.map(|session| session.last_at_ms))
}

/// Such as `; last activity: Feb 12, 2026 (tome toc 2026-02-12)`; empty without any. `command` gets
/// the day.
pub fn describe_last_activity(
    context: &CommandContext,
    screen: &Screen,
    project: &str,
    command: &str,
) -> Result<String> {
    let Some(at) = find_last_activity(context, project)? else { return Ok(String::new()) };
    let (when, day) = (screen.labels.format_date(at), screen.labels.format_iso_date(at));
    let flag = screen.projects.flag(project);
    Ok(format!("; last activity: {when} ({command} {day}{flag})"))
}
