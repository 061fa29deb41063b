//! `tome recall`: what was said, done and noted, found again.

mod explain;
mod json;
mod marks;
mod print;
#[cfg(test)]
mod tests;

use std::io::Write;
use std::time::Instant;

use anyhow::Result;
use tome_model::{Agent, Clock, EventKind, SessionId, SystemClock};
use tome_proto::{Query, limits, v1};

use super::events::project_of;
use super::notes::quoted;
use super::toc::Labels;
use super::{Context, Outcome, Refusal, time};
use crate::cli::recall::Recall;
use crate::reach::Start;
use crate::render::{one_line, terminal_width};

/// What is repeated of a query.
const QUERY_CHARS_MAX: usize = 80;

pub fn run(context: &Context, asked: &Recall) -> Result<Outcome> {
    let request = request(context, asked)?;
    let begun = Instant::now();
    let answer = context.block_on(async {
        let recall =
            context.reach.ask(Start::IfAway, async |client| client.recall(request.clone()).await);
        Ok(recall.await?)
    })?;
    let took = begun.elapsed();
    if context.json {
        context.print_json(&json::answer(&request.query, &answer, asked.explain))?;
        return Ok(Outcome::Done);
    }
    for unread in &answer.unread {
        writeln!(crate::terminal::stderr(), "left out: {unread}")?;
    }
    let shown = print::Shown {
        request: &request,
        labels: &Labels::of(&context.settings),
        now: SystemClock.now(),
        show_project: show_project(asked, &request.project),
        width: terminal_width(),
        explain: asked.explain,
    };
    if answer.hits.is_empty() {
        // On standard error, so that a program finds an empty answer empty.
        shown.nothing(&mut crate::terminal::stderr().lock(), &answer)?;
    } else {
        shown.print(&mut crate::terminal::stdout().lock(), &answer)?;
    }
    if asked.explain {
        explain::print(&mut crate::terminal::stdout().lock(), &answer.stages, took)?;
    }
    Ok(Outcome::Done)
}

/// The question, as it was typed.
fn request(context: &Context, asked: &Recall) -> Result<v1::RecallRequest> {
    let query = asked.query.join(" ");
    check_query(&query)?;
    for agent in &asked.agent {
        Agent::parse(agent)?;
    }
    for kind in &asked.kind {
        kind.parse::<EventKind>()?;
    }
    let (now, zone) = (SystemClock.now(), &context.settings.contents.zone);
    let moment = |field, text: &Option<String>| {
        let parsed = text.as_deref().map(|text| time::parse_words(field, text, now, zone));
        parsed.transpose()
    };
    let (since, until) = (moment("--since", &asked.since)?, moment("--until", &asked.until)?);
    if let (Some(since), Some(until)) = (since, until)
        && since >= until
    {
        let refusal = Refusal::bad_input("--until has to be later than --since");
        return Err(refusal
            .hint("it says before when: a day itself is before the next one")
            .into());
    }
    let (across, project) = place(context, asked)?;
    Ok(v1::RecallRequest {
        query,
        scope: asked.scope.clone(),
        across,
        limit: Some(asked.limit),
        tokens_max: asked.tokens.unwrap_or_default(),
        project,
        session_id: asked.session.clone().unwrap_or_default(),
        agents: asked.agent.clone(),
        kinds: asked.kind.clone(),
        from_ms: since.map(|at| at.0),
        to_ms: until.map(|at| at.0),
        tier: asked.tier.clone().unwrap_or_default(),
        regex: asked.regex,
        no_floor: false,
    })
}

fn check_query(query: &str) -> Result<()> {
    if query.trim().is_empty() {
        let refusal = Refusal::bad_input("say what to look for");
        return Err(refusal.hint("such as `tome recall why did we choose fjall`").into());
    }
    let (bytes, bytes_max) = (query.len(), limits::RECALL_QUERY_BYTES_MAX);
    if bytes > bytes_max {
        let said = format!("the query is {bytes} bytes long: at most {bytes_max} are taken");
        return Err(Refusal::bad_input(said).hint("the words that matter are enough").into());
    }
    Ok(())
}

/// How far to look, and the project at hand; empty for none.
fn place(context: &Context, asked: &Recall) -> Result<(String, String)> {
    let across = match (&asked.across, &asked.session) {
        _ if asked.all_projects => Some("all"),
        (Some(across), None) if across == "session" => {
            let refusal = Refusal::bad_input("--across session needs --session ID");
            return Err(refusal.hint("`tome show <event>` says the session of an event").into());
        }
        (Some(across), Some(_)) if across != "session" => {
            let said = format!("--session looks in one session, --across {across} in more");
            return Err(Refusal::bad_input(said).hint("give one of the two").into());
        }
        (Some(across), _) => Some(across.as_str()),
        (None, Some(_)) => Some("session"),
        (None, None) => None,
    };
    let project = match (&asked.session, &asked.project) {
        (Some(session), None) => project_of_session(context, session)?,
        (_, folder) => project_of(context, folder.as_deref())?.unwrap_or_default(),
    };
    if across == Some("project") && project.is_empty() {
        let refusal = Refusal::bad_input("Tome knows no project here");
        return Err(refusal.hint("--project DIR names one; --all-projects looks in all").into());
    }
    Ok((across.unwrap_or_default().to_owned(), project))
}

/// The project that a session worked in last.
fn project_of_session(context: &Context, session: &str) -> Result<String> {
    SessionId::parse(session)?;
    let query = Query {
        session: Some(session.to_owned()),
        limit: 1,
        newest_first: true,
        ..Query::default()
    };
    let page = context.block_on(async {
        let asked =
            context.reach.ask(Start::IfAway, async |client| client.events(query.clone()).await);
        Ok(asked.await?)
    })?;
    let last = page.events.into_iter().next().map(|event| event.project);
    last.ok_or_else(|| {
        let refusal = Refusal::not_found(format!("there is no session {session:?}"));
        refusal.hint("`tome show <event>` says the session of an event").into()
    })
}

/// The project that `tome show` has to be told, to look where recall looked. A session may have been
/// found in another than the one we stand in.
fn show_project(asked: &Recall, project: &str) -> Option<String> {
    let typed = asked.project.as_ref().map(|folder| folder.to_string_lossy().into_owned());
    typed.or_else(|| asked.session.as_ref().map(|_| project.to_owned()))
}

/// The same question, with more flags, as a shell takes it.
fn again(query: &str, flags: &str) -> String {
    let short = one_line(query, QUERY_CHARS_MAX);
    let query = if short == query { quoted(query) } else { "…".to_owned() };
    format!("tome recall {flags} {query}")
}
