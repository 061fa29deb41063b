//! `tome events`: lists events.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use tome_home::Projects;
use tome_model::{Agent, Clock, Event, EventKind, SystemClock};
use tome_proto::{Page, Query};

use super::{Context, Outcome, time};
use crate::cli::Events;
use crate::reach::Start;
use crate::render::{self, DIM, PLAIN};

/// Page size; the daemon may return fewer.
const PAGE_EVENTS: u32 = 1_000;

pub fn run(context: &Context, asked: &Events) -> Result<Outcome> {
    context.block_on(async {
        let project = project(context, asked)?;
        let query_is_narrow = project.is_some();
        let query = query(asked, project)?;
        let shown = if asked.limit == 0 {
            all(context, Query { newest_first: asked.newest_first, ..query }).await?
        } else {
            latest(context, asked, query).await?
        };
        if shown == 0 && !context.json {
            let narrowed =
                if query_is_narrow { "; --all-projects searches all projects" } else { "" };
            writeln!(crate::terminal::stderr(), "no events match{narrowed}")?;
        }
        Ok(Outcome::Done)
    })
}

fn query(asked: &Events, project: Option<String>) -> Result<Query> {
    let now = SystemClock.now();
    let at = |field, text: &Option<String>| {
        text.as_deref().map(|text| time::parse(field, text, now)).transpose()
    };
    for agent in &asked.agent {
        Agent::parse(agent)?;
    }
    Ok(Query {
        from: at("--since", &asked.since)?,
        to: at("--until", &asked.until)?,
        session: asked.session.clone(),
        project,
        agents: asked.agent.clone(),
        kinds: asked.kind.iter().map(|kind| kind.parse()).collect::<Result<Vec<EventKind>, _>>()?,
        ..Query::default()
    })
}

/// Resolves the project filter of `tome events`.
fn project(context: &Context, asked: &Events) -> Result<Option<String>> {
    if asked.all_projects || asked.session.is_some() {
        return Ok(None);
    }
    project_of(context, asked.project.as_deref())
}

/// Resolves the project of a folder, or the current project if it is known.
pub fn project_of(context: &Context, folder: Option<&Path>) -> Result<Option<String>> {
    if let Some(folder) = folder {
        let folder = std::path::absolute(folder)?;
        let root = tome_home::locate(&folder).map_or(folder, |found| found.root);
        return Ok(Some(root.to_string_lossy().into_owned()));
    }
    let here = std::env::current_dir()?;
    Ok(Projects::load(&context.settings.home).known_root_of(&here.to_string_lossy()))
}

/// Prints the latest events, oldest first unless `--newest-first` is given.
async fn latest(context: &Context, asked: &Events, mut query: Query) -> Result<usize> {
    query.newest_first = true;
    let mut events: Vec<Event> = Vec::new();
    let mut skipped = BTreeSet::new();
    let wanted = asked.limit as usize;
    loop {
        let missing = u32::try_from(wanted - events.len()).unwrap_or(u32::MAX);
        query.limit = missing.min(PAGE_EVENTS);
        let page = page(context, &query, &mut skipped).await?;
        events.extend(page.events);
        match page.continuation {
            Some(next) if events.len() < wanted => query.continuation = next,
            _ => break,
        }
    }
    if !asked.newest_first {
        events.reverse();
    }
    print(context, &events)?;
    Ok(events.len())
}

/// Fetches one page, and warns about each unreadable store once.
async fn page(context: &Context, query: &Query, skipped: &mut BTreeSet<String>) -> Result<Page> {
    let asked = context.reach.ask(Start::IfAway, async |client| client.events(query.clone()).await);
    let page = asked.await?;
    for store in &page.skipped {
        if skipped.insert(store.clone()) {
            writeln!(crate::terminal::stderr(), "skipped: {store}")?;
        }
    }
    Ok(page)
}

/// Prints all events page by page, in constant memory.
async fn all(context: &Context, mut query: Query) -> Result<usize> {
    let mut shown = 0;
    let mut skipped = BTreeSet::new();
    query.limit = PAGE_EVENTS;
    loop {
        let page = page(context, &query, &mut skipped).await?;
        shown += page.events.len();
        print(context, &page.events)?;
        match page.continuation {
            Some(next) => query.continuation = next,
            None => return Ok(shown),
        }
    }
}

fn print(context: &Context, events: &[Event]) -> Result<()> {
    if context.json {
        return events.iter().try_for_each(|event| context.print_json(event));
    }
    let mut out = crate::terminal::stdout().lock();
    let width = render::terminal_width();
    for event in events {
        let id: String = event.id.as_str().chars().take(8).collect();
        let gist = render::one_line(&render::gist(event), width.saturating_sub(62).max(24));
        writeln!(
            out,
            "{DIM}{}{PLAIN}  {:<11}  {:<17}  {DIM}{id:<8}{PLAIN}  {gist}",
            render::local(event.at),
            event.agent,
            event.kind
        )?;
    }
    Ok(())
}
