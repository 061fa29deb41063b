//! `tome export`: a session or a project as Markdown, HTML or JSON lines.

mod html;
mod markdown;

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use tome_engine::Sealer;
use tome_model::{Clock, Draft, Event, SystemClock, limits as model_limits};
use tome_proto::{Client, EventListQuery, limits, v1};
use tome_redact::Redactor;
use tome_terminal::{BOLD, RESET, format_bytes, format_counted};

use super::output_file::write_output_file;
use super::project_name::ProjectNames;
use super::project_scope::resolve_project;
use super::session_target::find_session_target;
use super::{CommandContext, CommandError, Outcome, time};
use crate::cli::export::{ExportArgs, ExportFormat};
use crate::connect::StartPolicy;

/// Sessions per request: the daemon lists no more at once.
const SESSIONS_PER_PAGE: u32 = 1_000;

/// Writes an export piece by piece: nothing but the current event is kept in memory.
trait ExportWriter {
    fn begin(&mut self, out: &mut dyn Write, heading: &Heading) -> std::io::Result<()>;
    fn session(&mut self, out: &mut dyn Write, session: &SessionHeading) -> std::io::Result<()>;
    fn event(&mut self, out: &mut dyn Write, event: &Event) -> std::io::Result<()>;
    fn end(&mut self, out: &mut dyn Write) -> std::io::Result<()>;
}

/// The head of the whole export.
struct Heading {
    title: String,
    exported: String,
}

struct SessionHeading {
    title: String,
    /// Agent, folder and time.
    details: String,
}

pub fn run(context: &CommandContext, args: &ExportArgs) -> Result<Outcome> {
    if args.session.is_none() && args.project.is_none() {
        let refusal = CommandError::bad_input("name a session, or a project with --project");
        return Err(refusal
            .with_hint("`tome sessions` lists sessions; `--project .` is this project")
            .into());
    }
    let format = choose_format(context, args);
    if context.json && args.out.is_none() && format != ExportFormat::Jsonl {
        let refusal = CommandError::bad_input("--json prints JSON lines, no other format");
        return Err(refusal.with_hint("leave out --format, or write a file with --out").into());
    }
    let Some(path) = &args.out else {
        let mut out: Box<dyn Write> = match format {
            ExportFormat::Jsonl => Box::new(std::io::stdout().lock()),
            ExportFormat::Markdown | ExportFormat::Html => Box::new(tome_terminal::stdout().lock()),
        };
        export(context, args, format, &mut out)?;
        out.flush()?;
        return Ok(Outcome::Done);
    };
    let write = |out: &mut dyn Write| export(context, args, format, out);
    let written = write_output_file(path, args.force, write)?;
    let bytes = std::fs::metadata(path)?.len();
    if context.json {
        context.print_json(&serde_json::json!({
            "file": path, "bytes": bytes, "sessions": written.sessions, "events": written.events,
        }))?;
        return Ok(Outcome::Done);
    }
    let mut out = tome_terminal::stdout().lock();
    writeln!(
        out,
        "{BOLD}{}{RESET}  {}, {}, {}",
        context.shorten_path(path),
        format_counted(written.sessions, "session", "sessions"),
        format_counted(written.events, "event", "events"),
        format_bytes(bytes),
    )?;
    Ok(Outcome::Done)
}

fn choose_format(context: &CommandContext, args: &ExportArgs) -> ExportFormat {
    let ending = args.out.as_ref().and_then(|path| path.extension()).and_then(|end| end.to_str());
    args.format.unwrap_or(match ending {
        Some("html" | "htm") => ExportFormat::Html,
        Some("jsonl" | "json") => ExportFormat::Jsonl,
        None if context.json && args.out.is_none() => ExportFormat::Jsonl,
        _ => ExportFormat::Markdown,
    })
}

/// Counts of what was exported.
#[derive(Default)]
struct ExportCounts {
    sessions: u64,
    events: u64,
}

fn export(
    context: &CommandContext,
    args: &ExportArgs,
    format: ExportFormat,
    out: &mut dyn Write,
) -> Result<ExportCounts> {
    let session = match &args.session {
        Some(what) => Some(find_session_target(context, what, None)?.session),
        None => None,
    };
    let redactor = Redactor::new(&context.settings.redact)?;
    // Cuts secrets only: what is stored is within the limits already.
    let sealer = Sealer::new(redactor, model_limits::TEXT_BYTES_CEILING);
    let mut writer: Box<dyn ExportWriter> = match format {
        ExportFormat::Markdown => Box::new(markdown::MarkdownWriter),
        ExportFormat::Html => Box::new(html::HtmlWriter),
        ExportFormat::Jsonl => Box::new(LineWriter),
    };
    context.block_on(async {
        let client = context.connector.connect(StartPolicy::IfNotRunning).await?;
        // Reads the list of projects, so once for all sessions.
        let names = ProjectNames::load(context);
        let (title, sessions) = find_sessions(context, args, session, &names, &client).await?;
        let exported = time::format_local_time(SystemClock.now());
        writer.begin(out, &Heading { title: sealer.redact(&title), exported })?;
        let mut written = ExportCounts::default();
        for session in sessions {
            let mut heading = session_heading(context, &names, &session, &sealer);
            if args.session.is_some() {
                // The export has the title of its only session.
                heading.title.clear();
            }
            writer.session(out, &heading)?;
            written.sessions += 1;
            written.events +=
                write_events(&client, &session, &sealer, writer.as_mut(), out).await?;
        }
        writer.end(out)?;
        Ok(written)
    })
}

/// The sessions to export, oldest first, and the title of the export.
async fn find_sessions(
    context: &CommandContext,
    args: &ExportArgs,
    session: Option<v1::Session>,
    names: &ProjectNames,
    client: &Client,
) -> Result<(String, Vec<v1::Session>)> {
    if let Some(session) = session {
        return Ok((session.title.clone(), vec![session]));
    }
    let root = resolve_project(context, args.project.as_deref())?.unwrap_or_default();
    let mut sessions = list_all_sessions(&root, client).await?;
    if sessions.is_empty() {
        let refusal = CommandError::not_found(format!("no sessions in {root}"));
        return Err(refusal.with_hint("`tome projects` lists the known projects").into());
    }
    sessions.reverse();
    let folder = names.folder(&root);
    Ok((context.shorten_path(Path::new(&folder)), sessions))
}

/// Lists all sessions of a project, latest first. A page ends where the next one begins, so that a
/// session may be on two of them.
async fn list_all_sessions(root: &str, client: &Client) -> Result<Vec<v1::Session>> {
    let mut sessions = Vec::new();
    let mut seen = HashSet::new();
    let mut to_ms = None;
    loop {
        let request = v1::ListSessionsRequest {
            project: root.to_owned(),
            limit: SESSIONS_PER_PAGE,
            to_ms,
            ..v1::ListSessionsRequest::default()
        };
        let page = client.list_sessions(request).await?.sessions;
        let is_last = page.len() < SESSIONS_PER_PAGE as usize;
        to_ms = page.iter().map(|session| session.last_at_ms + 1).min();
        let listed = sessions.len();
        let new = page
            .into_iter()
            .filter(|session| seen.insert((session.agent.clone(), session.id.clone())));
        sessions.extend(new);
        if is_last || sessions.len() == listed {
            return Ok(sessions);
        }
    }
}

fn session_heading(
    context: &CommandContext,
    names: &ProjectNames,
    session: &v1::Session,
    sealer: &Sealer,
) -> SessionHeading {
    let began = time::format_local_time(tome_model::Millis(session.first_at_ms));
    let folder = names.folder(&session.project);
    let folder = context.shorten_path(Path::new(&folder));
    SessionHeading {
        title: sealer.redact(&session.title),
        details: format!("{} in {folder}, {}", session.agent, began.get(..16).unwrap_or(&began)),
    }
}

async fn write_events(
    client: &Client,
    session: &v1::Session,
    sealer: &Sealer,
    writer: &mut dyn ExportWriter,
    out: &mut dyn Write,
) -> Result<u64> {
    let mut query = EventListQuery {
        session: Some(session.id.clone()),
        project: Some(session.project.clone()),
        agents: vec![session.agent.clone()],
        limit: limits::PAGE_EVENTS_DEFAULT,
        ..EventListQuery::default()
    };
    let mut count = 0;
    loop {
        let page = client.list_events(query.clone()).await?;
        for event in page.events {
            let (id, project, arrived) = (event.id.clone(), event.project.clone(), event.arrived);
            let draft = sealer.seal(Draft::from_event(event));
            writer.event(out, &draft.into_event(id, project, arrived))?;
            count += 1;
        }
        match page.continuation {
            Some(next) => query.continuation = next,
            None => return Ok(count),
        }
    }
}

/// One JSON object per event, as `tome events --json` prints it.
struct LineWriter;

impl ExportWriter for LineWriter {
    fn begin(&mut self, _: &mut dyn Write, _: &Heading) -> std::io::Result<()> {
        Ok(())
    }

    fn session(&mut self, _: &mut dyn Write, _: &SessionHeading) -> std::io::Result<()> {
        Ok(())
    }

    fn event(&mut self, out: &mut dyn Write, event: &Event) -> std::io::Result<()> {
        let line = tome_terminal::render_json(event)?;
        writeln!(out, "{line}")
    }

    fn end(&mut self, _: &mut dyn Write) -> std::io::Result<()> {
        Ok(())
    }
}

/// Who said or did it, and when.
fn side_and_time(event: &Event) -> (String, String) {
    let side = match tome_terminal::name_side(event.kind.as_str(), event.agent.as_str()).as_str() {
        "user" => "You".to_owned(),
        side => side.to_owned(),
    };
    let at = time::format_local_time(event.at);
    (side, at.get(..16).unwrap_or(&at).to_owned())
}
