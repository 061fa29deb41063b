//! `tome recall`: builds the request from the command line and prints the hits.

mod explain;
mod json;
mod print;
#[cfg(test)]
mod tests;

use std::io::Write;
use std::time::Instant;

use anyhow::Result;
use tome_model::{Agent, Clock, EventKind, SessionId, SystemClock};
use tome_proto::{Client, limits, v1};

use super::project_name::ProjectNames;
use super::project_scope::{refuse_without_project, resolve_project};
use super::session_lookup::find_session;
use super::shell_word::quote_shell;
use super::time_labels::TimeLabels;
use super::{CommandContext, CommandError, Outcome, time};
use crate::cli::recall::RecallArgs;
use tome_terminal::{replace_control_chars, terminal_width};

pub use print::split_project;

/// How much of the query is repeated in the output.
const QUERY_CHARS_MAX: usize = 80;
/// Longest query in a suggested command.
const REPEATED_CHARS_MAX: usize = 200;

pub fn run(context: &CommandContext, args: &RecallArgs) -> Result<Outcome> {
    if args.scope == "instructions" {
        let words = args.query.join(" ");
        let (folder, is_all) = (args.project.as_deref(), args.all_projects);
        return super::instructions::list(context, &words, folder, is_all, false);
    }
    if args.scope == "topics" {
        let (words, folder) = (args.query.join(" "), args.project.as_deref());
        let is_all = args.all_projects;
        return super::topics::list_or_search(context, &words, folder, is_all, args.limit);
    }
    let request = build_request(context, args)?;
    let begun = Instant::now();
    let recall = async |client: &Client| client.recall(request.clone()).await;
    let answer = context.connector.call_blocking(recall)?;
    let took = begun.elapsed();
    if context.json {
        context.print_json(&json::response_json(&request.query, &answer, args.explain))?;
        return Ok(Outcome::Done);
    }
    for unread in &answer.unread {
        writeln!(tome_terminal::stderr(), "skipped: {unread}")?;
    }
    let filters = args.filter_flags();
    let unfiltered = match answer.hits.is_empty() && request.skip == 0 && !filters.is_empty() {
        true => Some(count_unfiltered(context, &request)?),
        false => None,
    };
    let shown = print::ResponsePrinter {
        request: &request,
        labels: &TimeLabels::from_settings(&context.settings),
        now: SystemClock.now(),
        projects: &ProjectNames::load(context),
        show_project: resolve_show_project(args, &request.project),
        repeat: args.flags_to_repeat(),
        filters,
        unfiltered,
        width: terminal_width(),
        explain: args.explain,
    };
    if answer.hits.is_empty() {
        // On standard error, so that standard output stays empty for scripts.
        let out = tome_terminal::stderr().lock();
        shown.print_no_hits(&mut tome_terminal::WrappedWriter::new(out, 2), &answer)?;
    } else {
        let out = tome_terminal::stdout().lock();
        shown.print(&mut tome_terminal::WrappedWriter::new(out, 4), &answer)?;
    }
    if args.explain {
        explain::print_stages(&mut tome_terminal::stdout().lock(), &answer.stages, took)?;
    }
    Ok(Outcome::Done)
}

/// Counts the hits of a query without the filters that found none.
fn count_unfiltered(context: &CommandContext, request: &v1::RecallRequest) -> Result<u64> {
    let request = v1::RecallRequest {
        scope: "all".to_owned(),
        agents: Vec::new(),
        kinds: Vec::new(),
        from_ms: None,
        to_ms: None,
        ..request.clone()
    };
    let recall = async |client: &Client| client.recall(request.clone()).await;
    let answer = context.connector.call_blocking(recall)?;
    Ok(answer.hits.len() as u64 + answer.more)
}

/// Builds the request from the command line.
fn build_request(context: &CommandContext, args: &RecallArgs) -> Result<v1::RecallRequest> {
    let query = args.query.join(" ");
    check_query(&query)?;
    for agent in &args.agent {
        Agent::parse(agent)?;
    }
    for kind in &args.kind {
        kind.parse::<EventKind>()?;
    }
    let (now, zone) = (SystemClock.now(), &context.settings.contents.zone);
    let moment = |field, text: &Option<String>| {
        let parsed = text.as_deref().map(|text| time::parse(field, text, now, zone));
        parsed.transpose()
    };
    let (since, until) = (moment("--since", &args.since)?, moment("--until", &args.until)?);
    if let (Some(since), Some(until)) = (since, until)
        && since >= until
    {
        let refusal = CommandError::bad_input("--until must be later than --since");
        return Err(refusal
            .with_hint("--until is exclusive: to include a day, give the day after it")
            .into());
    }
    let session = find_session_arg(context, args)?;
    let (across, project) = resolve_range(context, args, session.as_ref())?;
    Ok(v1::RecallRequest {
        query,
        scope: args.scope.clone(),
        across,
        limit: Some(args.limit),
        tokens_max: args.tokens.unwrap_or_default(),
        skip: args.skip,
        project,
        session_id: session.map(|session| session.id).unwrap_or_default(),
        agents: args.agent.clone(),
        kinds: args.kind.clone(),
        from_ms: since.map(|at| at.0),
        to_ms: until.map(|at| at.0),
        tier: args.tier.clone().unwrap_or_default(),
        regex: args.regex,
        ignore_threshold: false,
        sort: args.sort.clone(),
        unit: "turn".to_owned(),
    })
}

fn check_query(query: &str) -> Result<()> {
    if query.trim().is_empty() {
        let refusal = CommandError::bad_input("the query is empty");
        return Err(refusal.with_hint("for example: `tome recall why do we use sqlite`").into());
    }
    let (bytes, bytes_max) = (query.len(), limits::RECALL_QUERY_BYTES_MAX);
    if bytes > bytes_max {
        let message = format!("the query is {bytes} bytes long; the maximum is {bytes_max}");
        return Err(CommandError::bad_input(message)
            .with_hint("use only the words that matter")
            .into());
    }
    Ok(())
}

/// Resolves the range to search and the current project; empty if there is none.
fn resolve_range(
    context: &CommandContext,
    args: &RecallArgs,
    session: Option<&v1::Session>,
) -> Result<(String, String)> {
    let across = match (&args.across, &args.session) {
        _ if args.all_projects => Some("all"),
        (Some(across), None) if across == "session" => {
            let refusal = CommandError::bad_input("--across session needs --session ID");
            return Err(refusal.with_hint("`tome sessions` lists sessions with their ids").into());
        }
        (Some(across), Some(_)) if across != "session" => {
            let message = format!(
                "--session limits the search to one session, but --across {across} widens it"
            );
            return Err(CommandError::bad_input(message).with_hint("use only one of them").into());
        }
        (Some(across), _) => Some(across.as_str()),
        (None, Some(_)) => Some("session"),
        (None, None) => None,
    };
    let project = match (session, &args.project) {
        (Some(session), None) => session.project.clone(),
        (_, folder) => resolve_project(context, folder.as_deref())?.unwrap_or_default(),
    };
    if across == Some("project") && project.is_empty() {
        return Err(refuse_without_project(&ProjectNames::load(context)).into());
    }
    Ok((across.unwrap_or_default().to_owned(), project))
}

/// Finds the session that `--session` names, if it is given.
fn find_session_arg(context: &CommandContext, args: &RecallArgs) -> Result<Option<v1::Session>> {
    let Some(id) = &args.session else { return Ok(None) };
    SessionId::parse(id)?;
    let found = find_session(context, id, None)?;
    found.map(Some).ok_or_else(|| {
        let refusal = CommandError::not_found(format!("no session {id:?}"));
        refusal.with_hint("`tome sessions` lists sessions with their ids").into()
    })
}

/// The `--project` argument that `tome show` needs to open the hits. With `--session`, they may be in
/// another project than the current one.
fn resolve_show_project(args: &RecallArgs, project: &str) -> Option<String> {
    let typed = args.project.as_ref().map(|folder| folder.to_string_lossy().into_owned());
    typed.or_else(|| args.session.as_ref().map(|_| project.to_owned()))
}

/// Renders the same query with more flags, quoted for a shell. A long one is not repeated.
fn render_command(query: &str, flags: &str) -> String {
    let is_short = query.chars().count() <= REPEATED_CHARS_MAX && !query.contains('\n');
    if is_short {
        let query = quote_shell(&replace_control_chars(query));
        let gap = if flags.is_empty() { "" } else { " " };
        format!("tome recall{gap}{flags} {query}")
    } else {
        format!("tome recall {flags} and the same query")
    }
}
