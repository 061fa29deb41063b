//! `tome resume`: prints or runs the command that continues a session in its agent.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use serde_json::json;
use tome_proto::v1;
use tome_terminal::{DIM, RESET, WrappedWriter, can_pick, one_line, pick, truncate_end};

use super::project_name::ProjectNames;
use super::project_scope::project_or_all;
use super::screen::Screen;
use super::session_lookup::list_sessions;
use super::session_target::find_session_target;
use super::shell_word::quote_shell;
use super::{CommandContext, CommandError, Outcome};
use crate::cli::sessions::ResumeArgs;

/// Sessions to choose from, and those listed without a terminal.
const SESSIONS_MAX: u32 = 200;
const LISTED_MAX: usize = 10;
const TITLE_CHARS_MAX: usize = 200;

pub fn run(context: &CommandContext, args: &ResumeArgs) -> Result<Outcome> {
    let session = match &args.id {
        Some(what) => Some(find_session_target(context, what, args.project.as_deref())?.session),
        None if context.json => return list_as_json(context, args),
        None => choose_session(context, args)?,
    };
    match session {
        Some(session) => resume(context, &session, args.run),
        None => Ok(Outcome::Failed),
    }
}

/// The sessions that can be resumed, newest first, and whether they are of all projects.
fn list_resumable(context: &CommandContext, args: &ResumeArgs) -> Result<(Vec<v1::Session>, bool)> {
    let project = project_or_all(context, args.project.as_deref(), args.all_projects)?;
    let is_wide = project.is_empty();
    let request = v1::ListSessionsRequest {
        project,
        limit: SESSIONS_MAX,
        ..v1::ListSessionsRequest::default()
    };
    let mut sessions = list_sessions(context, &request)?.sessions;
    sessions.retain(|session| !session.resume.is_empty());
    if sessions.is_empty() {
        let refusal = CommandError::not_found("no session can be resumed");
        return Err(refusal.with_hint("`tome sessions --all-projects` lists all sessions").into());
    }
    Ok((sessions, is_wide))
}

fn list_as_json(context: &CommandContext, args: &ResumeArgs) -> Result<Outcome> {
    let (sessions, _) = list_resumable(context, args)?;
    let names = ProjectNames::load(context);
    for session in sessions.iter().take(LISTED_MAX) {
        context.print_json(&resume_json(&names, session))?;
    }
    Ok(Outcome::Done)
}

/// Lets the user choose a session. Without a terminal, lists the latest.
fn choose_session(context: &CommandContext, args: &ResumeArgs) -> Result<Option<v1::Session>> {
    let (sessions, is_wide) = list_resumable(context, args)?;
    let screen = Screen::new(context);
    let entries: Vec<String> =
        sessions.iter().map(|session| entry_text(&screen, session, is_wide)).collect();
    if can_pick() {
        let picked = pick("Resume:", &entries)?;
        return Ok(picked.and_then(|index| sessions.into_iter().nth(index)));
    }
    let mut err = tome_terminal::stderr().lock();
    writeln!(err, "which session? `tome resume <id>`")?;
    for (session, entry) in sessions.iter().zip(&entries).take(LISTED_MAX) {
        let line = format!("{}  {entry}", one_line(&session.short_id, 40));
        writeln!(err, "  {}", truncate_end(&line, screen.line_width().saturating_sub(2)))?;
    }
    Ok(None)
}

fn entry_text(screen: &Screen, session: &v1::Session, is_wide: bool) -> String {
    let project = if is_wide {
        format!("{}  ", screen.projects.name(&session.project))
    } else {
        String::new()
    };
    let branch = match session.branch.as_str() {
        "" => String::new(),
        branch => format!("  ({})", one_line(branch, 60)),
    };
    let (when, agent) = (screen.when(session.last_at_ms), &session.agent);
    let title = one_line(&session.title, TITLE_CHARS_MAX);
    format!("{when:<10}  {agent:<11}  {project}{title}{branch}")
}

/// Why a session has no command that continues it.
fn explain_no_resume(session: &v1::Session) -> String {
    let is_plain = session.id.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let agent = one_line(&session.agent, 60);
    if is_plain && !session.id.starts_with('-') {
        format!("sessions of {agent} cannot be resumed")
    } else {
        format!("a session of {agent} with this id cannot be resumed: a shell may misread it")
    }
}

/// Prints or runs the command that continues a session.
pub fn resume(context: &CommandContext, session: &v1::Session, is_run: bool) -> Result<Outcome> {
    if session.resume.is_empty() {
        let message = explain_no_resume(session);
        let hint = format!("`tome read {}` opens the conversation", session.short_id);
        return Err(CommandError::failed(message).with_hint(hint).into());
    }
    let names = ProjectNames::load(context);
    let folder = names.session_folder(&session.project, &session.cwd);
    if context.json {
        context.print_json(&resume_json(&names, session))?;
        return Ok(Outcome::Done);
    }
    if is_run {
        return run_command(&names, session, &folder);
    }
    let mut out = tome_terminal::stdout().lock();
    writeln!(out, "cd {} && {}", quote_shell(&folder), session.resume)?;
    drop(out);
    if !Path::new(&folder).is_dir() {
        let (problem, hint) = describe_missing_folder(&names, session, &folder);
        let mut err = WrappedWriter::new(tome_terminal::stderr().lock(), 0);
        writeln!(err, "{problem}\n{hint}")?;
        return Ok(Outcome::Done);
    }
    if tome_terminal::is_stdout_terminal() {
        let title = one_line(&session.title, TITLE_CHARS_MAX);
        writeln!(tome_terminal::stderr(), "{DIM}{title}; --run runs it{RESET}")?;
    }
    Ok(Outcome::Done)
}

/// Runs the agent in the folder of the session, and passes on how it ended.
fn run_command(names: &ProjectNames, session: &v1::Session, folder: &str) -> Result<Outcome> {
    let mut words = session.resume.split_whitespace();
    let program = words.next().unwrap_or_default();
    if !Path::new(folder).is_dir() {
        let (problem, hint) = describe_missing_folder(names, session, folder);
        return Err(CommandError::failed(problem).with_hint(hint).into());
    }
    let ran = Command::new(program).args(words).current_dir(folder).status();
    let ended = ran.map_err(|error| {
        CommandError::failed(format!("cannot run {program}: {error}"))
            .with_hint("is the agent installed, and on the PATH?")
    })?;
    Ok(if ended.success() { Outcome::Done } else { Outcome::Failed })
}

/// The problem, and what to do about it.
fn describe_missing_folder(
    names: &ProjectNames,
    session: &v1::Session,
    folder: &str,
) -> (String, String) {
    let state = if tome_home::is_foreign_path(folder) {
        "is on another machine"
    } else {
        "no longer exists"
    };
    let problem = format!("the session's folder {state}: {}", one_line(folder, 400));
    let remedy = match names.restore_folder(&session.project, folder) {
        Some(command) => {
            format!("its project is still there; to continue: {}", one_line(&command, 400))
        }
        None => {
            format!("moved? tome projects mv {} NEW_FOLDER", names.argument(&session.project))
        }
    };
    let hint = format!("{remedy} · to read it: tome read {}", one_line(&session.short_id, 80));
    (problem, hint)
}

fn resume_json(names: &ProjectNames, session: &v1::Session) -> serde_json::Value {
    json!({
        "session_id": session.id, "title": session.title, "agent": session.agent,
        "cwd": names.session_folder(&session.project, &session.cwd), "command": session.resume,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_folder_of_a_project_that_is_there_can_be_made_again() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().to_str().unwrap();
        let names = ProjectNames::for_test(&[(root, "app")]);
        let session = v1::Session { project: root.to_owned(), ..v1::Session::default() };
        let hint = |folder: &str| describe_missing_folder(&names, &session, folder).1;
        let below = format!("{root}/gone/below");
        assert!(hint(&below).contains(&format!("mkdir -p {below}")), "{}", hint(&below));
        assert!(hint("/gone/app").contains("moved? tome projects mv app"), "{}", hint("/gone/app"));
    }

    #[test]
    fn entries_stand_in_columns_at_every_width() {
        let session = |hours: u64, agent: &str, title: &str, branch: &str| v1::Session {
            agent: agent.to_owned(),
            title: title.to_owned(),
            branch: branch.to_owned(),
            project: "/home/dev/app".to_owned(),
            last_at_ms: 1_794_735_000_000 - hours * 3_600_000,
            ..v1::Session::default()
        };
        let title = "Accept unicode identifiers in the lexer and in the parser, with tests";
        let sessions = [
            session(2, "claude-code", title, "feature/unicode-identifiers"),
            session(900, "codex", "Explain the\n parser", ""),
        ];
        let mut screens = String::new();
        for width in [60, 80, 100, 160] {
            let screen = Screen::for_test(1_794_735_000_000, width);
            screens.push_str(&format!("at {width}:\n"));
            for session in &sessions {
                let entry = truncate_end(&entry_text(&screen, session, width == 160), width - 3);
                screens.push_str(&format!("{entry}\n"));
            }
        }
        expect_test::expect![[r#"
            at 60:
            2 h ago     claude-code  Accept unicode identifiers in t…
            Oct 8       codex        Explain the parser
            at 80:
            2 h ago     claude-code  Accept unicode identifiers in the lexer and in the…
            Oct 8       codex        Explain the parser
            at 100:
            2 h ago     claude-code  Accept unicode identifiers in the lexer and in the parser, with tests…
            Oct 8       codex        Explain the parser
            at 160:
            2 h ago     claude-code  app  Accept unicode identifiers in the lexer and in the parser, with tests  (feature/unicode-identifiers)
            Oct 8       codex        app  Explain the parser
        "#]].assert_eq(&screens);
    }
}
