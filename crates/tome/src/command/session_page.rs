//! The page of a session: its turns, commits, decisions, problems, what is open, and its files.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};
use tome_home::{is_foreign_path, relative_folder};
use tome_model::Millis;
use tome_proto::v1;
use tome_terminal::{
    BOLD, DIM, GREEN, RESET, YELLOW, display_width, format_counted, one_line, print_hanging,
    print_styled, truncate_start,
};
use tome_topics::resolve_repository_path;

use super::screen::Screen;
use super::{CommandContext, Outcome};

/// Files listed on a page.
const FILES_SHOWN: usize = 12;
/// Columns before the text of a turn.
const TURN_INDENT: usize = 12;

/// The sections of a page, in order.
const SECTIONS: [(&str, &str); 9] = [
    ("commit", "Commits"),
    ("pull_request", "Pull requests"),
    ("issue", "Issues"),
    ("decision", "Decisions"),
    ("correction", "Corrections by the user"),
    ("convention", "Rules from the user"),
    ("problem", "Problems"),
    ("check", "Passed"),
    ("open", "Open"),
];

pub fn show_page(context: &CommandContext, page: &v1::GetSessionResponse) -> Result<Outcome> {
    if context.json {
        context.print_json(&page_json(page))?;
    } else {
        let mut out = tome_terminal::stdout().lock();
        let screen = Screen::new(context);
        print_page(&mut out, &screen, page)?;
        print_commands(&mut out, &screen, &page.session.clone().unwrap_or_default())?;
    }
    Ok(Outcome::Done)
}

/// Prints the page without the commands for it.
pub fn print_page(
    out: &mut dyn Write,
    screen: &Screen,
    page: &v1::GetSessionResponse,
) -> std::io::Result<()> {
    let session = page.session.clone().unwrap_or_default();
    let width = screen.prose_width();
    print_header(out, screen, &session, 0)?;
    if page.truncated {
        writeln!(out, "{YELLOW}a very long session: its beginning is left out{RESET}")?;
    }
    writeln!(out)?;
    for (number, turn) in (1..).zip(&page.turns) {
        print_turn(out, screen, number, turn)?;
    }
    for (kind, heading) in SECTIONS {
        let facts: Vec<&v1::SessionFact> =
            page.facts.iter().filter(|fact| fact.kind == kind).collect();
        if !facts.is_empty() {
            writeln!(out, "\n{BOLD}{heading}{RESET}")?;
        }
        for fact in facts {
            print_hanging(out, "  • ", 4, &fact.text, width)?;
        }
    }
    if !page.files.is_empty() {
        writeln!(out, "\n{BOLD}Files{RESET}")?;
    }
    for file in page.files.iter().take(FILES_SHOWN) {
        let is_created = file.action == "created";
        let edits = match file.edits.saturating_sub(u64::from(is_created)) {
            0 => file.action.clone(),
            1 if !is_created => file.action.clone(),
            edits => format!("{}, {}", file.action, format_counted(edits, "edit", "edits")),
        };
        // As everywhere, without the folder of a worktree.
        let path = resolve_repository_path(&file.path, &session.cwd, &session.project);
        let room = screen.line_width().saturating_sub(display_width(&edits) + 4);
        let path = truncate_start(&screen.path(path.as_deref().unwrap_or(&file.path)), room);
        writeln!(out, "  {path}  {DIM}{edits}{RESET}")?;
    }
    if let hidden @ 1.. = page.files.len().saturating_sub(FILES_SHOWN) {
        writeln!(out, "  {DIM}… {hidden} more; --json lists all{RESET}")?;
    }
    Ok(())
}

/// Prints the commands for a session.
fn print_commands(
    out: &mut dyn Write,
    screen: &Screen,
    session: &v1::Session,
) -> std::io::Result<()> {
    let id = one_line(&session.short_id, 80);
    writeln!(out, "\n{DIM}Read it: tome read {id}{RESET}")?;
    let folder = screen.session_folder(&session.project, &session.cwd);
    match (session.resume.is_empty(), Path::new(&folder).is_dir()) {
        (true, _) => Ok(()),
        (false, true) => writeln!(out, "{DIM}Continue it: tome resume {id}{RESET}"),
        (false, false) => {
            let project = screen.projects.argument(&session.project);
            let text = match screen.projects.restore_folder(&session.project, &folder) {
                _ if is_foreign_path(&folder) => "Its folder is on another machine".to_owned(),
                Some(command) => format!(
                    "Its folder no longer exists in the project; to continue it: {}",
                    one_line(&command, 400)
                ),
                None => format!(
                    "Its folder no longer exists; if you moved it: tome projects mv {project} NEW_FOLDER"
                ),
            };
            print_styled(out, DIM, 2, &text, screen.prose_width())
        }
    }
}

/// Prints the title of a session, and who ran it, when and where. `indent` is the width already
/// used before the title.
pub fn print_header(
    out: &mut dyn Write,
    screen: &Screen,
    session: &v1::Session,
    indent: usize,
) -> std::io::Result<()> {
    let width = screen.prose_width();
    print_styled(out, BOLD, indent, &session.title, width)?;
    let span = screen.labels.format_period(screen.now, session.first_at_ms, session.last_at_ms);
    let mut about = format!("{} · {span}", session.agent);
    if !session.branch.is_empty() {
        about.push_str(&format!(" · on {}", one_line(&session.branch, 80)));
    }
    print_hanging(out, "", 0, &about, width)?;
    let turns = format_counted(session.prompts, "turn", "turns");
    let mut location = format!("{turns} · {}", screen.project_path(&session.project));
    let folder = screen.session_folder(&session.project, &session.cwd);
    if session.worktree.is_empty() && !is_below(&folder, &screen.projects.folder(&session.project))
    {
        location.push_str(&format!(" · in {}", screen.path(&folder)));
    }
    if !session.worktree.is_empty() {
        location.push_str(&format!(" · worktree {}", screen.path(&session.worktree)));
    }
    print_styled(out, DIM, 0, &location, width)
}

/// Whether a folder is another one or below it; an unknown one is.
fn is_below(folder: &str, other: &str) -> bool {
    folder.is_empty()
        || Path::new(folder).starts_with(other)
        || relative_folder(folder, other).is_some()
}

fn print_turn(
    out: &mut dyn Write,
    screen: &Screen,
    number: usize,
    turn: &v1::SessionTurn,
) -> std::io::Result<()> {
    let (hour, width) = (screen.labels.format_hour(turn.at_ms), screen.prose_width());
    let prompt = if turn.prompt.is_empty() { "(no prompt)" } else { &turn.prompt };
    print_hanging(out, &format!("{number:>3}  {hour}  "), TURN_INDENT, prompt, width)?;
    let indent = " ".repeat(TURN_INDENT);
    if turn.interrupted {
        writeln!(out, "{indent}{YELLOW}stopped by the user{RESET}")?;
    }
    if !turn.conclusion.is_empty() {
        let mark = format!("{}{GREEN}→{RESET} ", " ".repeat(TURN_INDENT - 2));
        print_hanging(out, &mark, TURN_INDENT, &turn.conclusion, width)?;
    }
    Ok(())
}

pub fn session_json(session: &v1::Session) -> Value {
    json!({
        "session_id": session.id, "short_id": session.short_id, "agent": session.agent,
        "project": session.project, "cwd": session.cwd, "title": session.title,
        "branch": session.branch, "worktree": session.worktree,
        "conclusion": session.conclusion,
        "first_at": Millis(session.first_at_ms), "last_at": Millis(session.last_at_ms),
        "events": session.events, "prompts": session.prompts, "commits": session.commits,
        "resume": session.resume,
    })
}

pub fn fact_json(fact: &v1::SessionFact) -> Value {
    json!({
        "kind": fact.kind, "text": fact.text, "event": fact.event, "number": fact.number,
        "at": Millis(fact.at_ms), "branch": fact.branch,
    })
}

fn page_json(page: &v1::GetSessionResponse) -> Value {
    let turns: Vec<Value> = page
        .turns
        .iter()
        .map(|turn| {
            json!({
                "at": Millis(turn.at_ms), "prompt": turn.prompt, "prompt_event": turn.prompt_event,
                "conclusion": turn.conclusion, "answer_event": turn.answer_event,
                "events": turn.events, "changed_files": turn.changed_files,
                "commits": turn.commits, "interrupted": turn.interrupted,
            })
        })
        .collect();
    let facts: Vec<Value> = page.facts.iter().map(fact_json).collect();
    let files: Vec<Value> = page
        .files
        .iter()
        .map(|file| json!({"path": file.path, "action": file.action, "edits": file.edits}))
        .collect();
    let session = page.session.as_ref().map(session_json);
    json!({
        "session": session, "turns": turns, "facts": facts, "files": files,
        "truncated": page.truncated,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn the_header_says_where_a_session_was() {
        let session = v1::Session {
            title: "Skip nested comments".to_owned(),
            agent: "gemini".to_owned(),
            project: "/home/dev/app".to_owned(),
            branch: "fix/lexer".to_owned(),
            worktree: "/home/dev/app-hotfix".to_owned(),
            first_at_ms: 1_794_735_000_000,
            last_at_ms: 1_794_735_600_000,
            prompts: 2,
            ..v1::Session::default()
        };
        let mut out = Vec::new();
        let screen = Screen::for_test(1_794_740_000_000, 80);
        print_header(&mut out, &screen, &session, 0).unwrap();
        let mut text = String::from_utf8(out).unwrap();
        for style in [BOLD, DIM, RESET] {
            text = text.replace(style, "");
        }
        expect![[r#"
            Skip nested comments
            gemini · Sun, Nov 15, 09:30 – 09:40 · on fix/lexer
            2 turns · ~/app · worktree ~/app-hotfix
        "#]]
        .assert_eq(&text);
    }

    #[cfg(not(windows))]
    #[test]
    fn the_header_names_only_a_folder_outside_the_project() {
        let shown = |cwd: &str, project: &str| {
            let (cwd, project) = (cwd.to_owned(), project.to_owned());
            let session = v1::Session { cwd, project, ..v1::Session::default() };
            let mut out = Vec::new();
            let screen = Screen::for_test(1_794_740_000_000, 80);
            print_header(&mut out, &screen, &session, 0).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert!(!shown("/home/dev/app/crates", "/home/dev/app").contains(" · in "));
        assert!(shown("/home/dev/site", "/home/dev/app").contains(" · in "));
        for cwd in ["C:\\dev\\app\\crates", "c:/dev/app", "\\\\?\\C:\\dev\\app"] {
            assert!(!shown(cwd, "C:\\dev\\app").contains(" · in "), "{cwd}");
        }
        assert!(shown("C:\\dev\\site", "C:\\dev\\app").contains(" · in "));
    }
}
