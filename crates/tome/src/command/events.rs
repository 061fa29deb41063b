//! `tome events`: lists events.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::Result;
use tome_contents::prompt_text;
use tome_model::{Agent, Clock, Event, EventKind, SystemClock};
use tome_proto::{EventListPage, EventListQuery};
use tome_terminal::{
    DIM, RESET, display_width, format_count, one_line, truncate_end, truncate_start,
};

use super::project_name::ProjectNames;
use super::project_scope::resolve_project;
use super::session_lookup::{complete_session, find_session};
use super::time_labels::TimeLabels;
use super::tool_text::{InputDetail, render_call_line, render_call_text};
use super::{CommandContext, CommandError, Outcome, time};
use crate::cli::EventsArgs;
use crate::connect::StartPolicy;

/// Page size; the daemon may return fewer.
const PAGE_EVENTS: u32 = 1_000;

/// Pages that are fetched only to say how many events there are.
const COUNTED_PAGES_MAX: usize = 5;

/// Width of everything before the text of an event, and of the project before all.
const EVENT_LEFT_CHARS: usize = 36;
const PROJECT_CHARS_MAX: usize = 20;
/// The project takes at most this part of the width.
const PROJECT_SHARE: usize = 6;
const GIST_CHARS_MIN: usize = 12;

pub fn run(context: &CommandContext, args: &EventsArgs) -> Result<Outcome> {
    let project = resolve_project_filter(context, args)?;
    let query_is_narrow = project.is_some();
    let query = build_query(context, args, project)?;
    let shown = context.block_on(async {
        if args.limit == 0 {
            let query = EventListQuery { newest_first: args.newest_first, ..query };
            print_all(context, args, query).await
        } else {
            print_latest(context, args, query).await
        }
    })?;
    if shown > 0 {
        return Ok(Outcome::Done);
    }
    if let Some(id) = args.session.as_deref()
        && find_session(context, id, None)?.is_none()
    {
        let refusal = CommandError::not_found(format!("no session {}", one_line(id, 120)));
        return Err(refusal.with_hint("`tome sessions --all-projects` lists sessions").into());
    }
    if !context.json {
        let narrowed = if query_is_narrow { "; --all-projects searches all projects" } else { "" };
        writeln!(tome_terminal::stderr(), "no events match{narrowed}")?;
    }
    Ok(Outcome::Done)
}

fn build_query(
    context: &CommandContext,
    args: &EventsArgs,
    project: Option<String>,
) -> Result<EventListQuery> {
    let (now, zone) = (SystemClock.now(), &context.settings.contents.zone);
    let at = |field, text: &Option<String>| {
        text.as_deref().map(|text| time::parse(field, text, now, zone)).transpose()
    };
    for agent in &args.agent {
        Agent::parse(agent)?;
    }
    Ok(EventListQuery {
        from: at("--since", &args.since)?,
        to: at("--until", &args.until)?,
        session: complete_session(context, args.session.as_deref())?,
        project,
        agents: args.agent.clone(),
        kinds: collect_kinds(args)?,
        ..EventListQuery::default()
    })
}

/// Collects the kinds selected by `--kind` and `--role`.
fn collect_kinds(args: &EventsArgs) -> Result<Vec<EventKind>> {
    let mut kinds =
        args.kind.iter().map(|kind| kind.parse()).collect::<Result<Vec<EventKind>, _>>()?;
    for role in &args.role {
        kinds.extend_from_slice(match role.as_str() {
            "user" => &[EventKind::UserMessage],
            "assistant" => &[EventKind::AssistantMessage, EventKind::AssistantStop],
            _ => &[EventKind::ToolResult],
        });
    }
    Ok(kinds)
}

/// Resolves the project filter of `tome events`.
fn resolve_project_filter(context: &CommandContext, args: &EventsArgs) -> Result<Option<String>> {
    if args.all_projects || args.session.is_some() && args.project.is_none() {
        return Ok(None);
    }
    resolve_project(context, args.project.as_deref())
}

/// Prints the latest events, oldest first unless `--newest-first` is given.
async fn print_latest(
    context: &CommandContext,
    args: &EventsArgs,
    mut query: EventListQuery,
) -> Result<usize> {
    query.newest_first = true;
    let mut events: Vec<(u64, Event)> = Vec::new();
    let mut skipped = BTreeSet::new();
    let wanted = args.limit as usize;
    let next = loop {
        let missing = u32::try_from(wanted - events.len()).unwrap_or(u32::MAX);
        query.limit = missing.min(PAGE_EVENTS);
        let page = fetch_page(context, &query, &mut skipped).await?;
        events.extend(page.numbers.into_iter().zip(page.events));
        match page.continuation {
            Some(next) if events.len() < wanted => query.continuation = next,
            next => break next,
        }
    };
    if !args.newest_first {
        events.reverse();
    }
    print_events(context, args, &events)?;
    if let Some(next) = next.filter(|_| !context.json) {
        let more = count_more(context, query, next, &mut skipped).await?;
        let shown = format_count(events.len() as u64);
        let notice = format!(
            "showing the latest {shown}, {more} more; -n 0 shows all, --since and --until limit the time"
        );
        let width = tome_terminal::terminal_width();
        tome_terminal::print_hanging(&mut tome_terminal::stderr(), "", 0, &notice, width)?;
    }
    Ok(events.len())
}

/// Counts the events from a continuation on, as text. Stops after some pages: "at least 5,000".
async fn count_more(
    context: &CommandContext,
    query: EventListQuery,
    mut next: String,
    skipped: &mut BTreeSet<String>,
) -> Result<String> {
    let mut count = 0;
    for _ in 0..COUNTED_PAGES_MAX {
        let query = EventListQuery { continuation: next, limit: PAGE_EVENTS, ..query.clone() };
        let page = fetch_page(context, &query, skipped).await?;
        count += page.events.len() as u64;
        match page.continuation {
            Some(more) => next = more,
            None => return Ok(format_count(count)),
        }
    }
    Ok(format!("at least {}", format_count(count)))
}

/// Fetches one page, and warns about each unreadable store once.
async fn fetch_page(
    context: &CommandContext,
    query: &EventListQuery,
    skipped: &mut BTreeSet<String>,
) -> Result<EventListPage> {
    let fetch = context.connector.call_idempotent(StartPolicy::IfNotRunning, async |client| {
        client.list_events(query.clone()).await
    });
    let page = fetch.await?;
    for store in &page.skipped {
        if skipped.insert(store.clone()) {
            writeln!(tome_terminal::stderr(), "skipped: {store}")?;
        }
    }
    Ok(page)
}

/// Prints all events page by page, in constant memory.
async fn print_all(
    context: &CommandContext,
    args: &EventsArgs,
    mut query: EventListQuery,
) -> Result<usize> {
    let mut shown = 0;
    let mut skipped = BTreeSet::new();
    query.limit = PAGE_EVENTS;
    loop {
        let page = fetch_page(context, &query, &mut skipped).await?;
        shown += page.events.len();
        let events: Vec<(u64, Event)> = page.numbers.into_iter().zip(page.events).collect();
        print_events(context, args, &events)?;
        match page.continuation {
            Some(next) => query.continuation = next,
            None => return Ok(shown),
        }
    }
}

/// An event in a line; a prompt without what an editor or the agent added to it.
fn summarize_event(event: &Event) -> String {
    let typed = match event.kind {
        EventKind::UserMessage => prompt_text(&event.text),
        _ => String::new(),
    };
    if typed.trim().is_empty() { tome_terminal::summarize_event(event) } else { typed }
}

/// All of an event: its text, or the call of a tool with its input and output.
fn render_full_text(event: &Event, width: usize) -> String {
    let Some(line) = render_call_line(event, width) else { return event.text.clone() };
    let detail = render_call_text(event, &line, InputDetail::Whole);
    [line.as_str(), detail.as_str(), event.text.as_str()]
        .into_iter()
        .filter(|part| !part.trim().is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

fn print_events(
    context: &CommandContext,
    args: &EventsArgs,
    events: &[(u64, Event)],
) -> Result<()> {
    if context.json {
        return events.iter().try_for_each(|(_, event)| context.print_json(event));
    }
    let mut out = tome_terminal::stdout().lock();
    let width = tome_terminal::terminal_width();
    let (labels, now) = (TimeLabels::from_settings(&context.settings), SystemClock.now());
    // A number tells which event it is only within a project.
    let names = ProjectNames::load(context);
    let is_wide = names.roots().nth(1).is_some()
        && args.session.is_none()
        && resolve_project_filter(context, args)?.is_none();
    let column = events.iter().map(|(_, event)| display_width(&names.name(&event.project))).max();
    let column = column.unwrap_or(0).min(PROJECT_CHARS_MAX).min(width / PROJECT_SHARE);
    let left = EVENT_LEFT_CHARS + if is_wide { column + 2 } else { 0 };
    for (number, event) in events {
        let id = format!("#{number}");
        let project = if is_wide {
            let name = truncate_start(&names.name(&event.project), column);
            let gap = " ".repeat(column.saturating_sub(display_width(&name)) + 2);
            format!("{name}{gap}")
        } else {
            String::new()
        };
        let side = tome_terminal::name_side(event.kind.as_str(), event.agent.as_str());
        let at = labels.format_date_hour(now, event.at.0);
        if args.full {
            writeln!(out, "{DIM}{project}{id}  {at}{RESET}  {side}")?;
            let text = render_full_text(event, width);
            writeln!(out, "{}\n", tome_terminal::replace_control_chars(text.trim()))?;
            continue;
        }
        let room = width.saturating_sub(left).max(GIST_CHARS_MIN);
        let gist = truncate_end(&one_line(&summarize_event(event), room), room);
        writeln!(out, "{DIM}{project}{id:<6}  {at:<13}{RESET}  {side:<11}  {gist}")?;
    }
    Ok(())
}
