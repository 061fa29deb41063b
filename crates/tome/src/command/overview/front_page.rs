//! The front page: this week, the last session and how to continue it, open work, recent decisions.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use tome_home::is_foreign_path;
use tome_proto::{Client, v1};
use tome_terminal::{
    BOLD, DIM, GREEN, RESET, format_count, one_line, print_hanging, print_table_within,
};

use super::week::{DayCell, fill_cells, last_days, print_week};
use crate::command::CommandContext;
use crate::command::project_name::ProjectNames;
use crate::command::screen::Screen;
use crate::command::session_lookup::list_sessions;
use tome_contents::strip_request;

/// Latest sessions that are searched for open work and decisions.
const SESSIONS_READ: u32 = 20;
/// Open items and decisions shown, and projects in the list of all.
const OPEN_SHOWN: usize = 4;
const DECISIONS_SHOWN: usize = 3;
const PROJECTS_SHOWN: usize = 8;
const LINE_CHARS_MAX: usize = 300;
/// Columns before the text of the last session.
const INDENT: usize = 2;

/// Everything that the front page shows.
#[derive(Debug, Default)]
pub struct FrontPage {
    /// The current project; `None` for all projects.
    pub project: Option<String>,
    pub week: Vec<DayCell>,
    pub sessions: Vec<v1::Session>,
    /// The last session with a prompt.
    pub last: Option<LastSession>,
    pub projects: Vec<v1::Project>,
}

/// The last session, and how to go on with it.
#[derive(Debug, Default)]
pub struct LastSession {
    pub session: v1::Session,
    pub conclusion: String,
    pub folder: SessionFolder,
}

/// Whether the folder in which a session ran can be used.
#[derive(Debug, Clone, Copy, Default)]
pub enum SessionFolder {
    Exists,
    #[default]
    Missing,
    /// Only this folder of its project is gone.
    MissingInProject,
    OnAnotherMachine,
}

impl SessionFolder {
    fn find(names: &ProjectNames, session: &v1::Session) -> Self {
        let path = names.session_folder(&session.project, &session.cwd);
        match Path::new(&path).is_dir() {
            true => Self::Exists,
            false if is_foreign_path(&path) => Self::OnAnotherMachine,
            false if names.restore_folder(&session.project, &path).is_some() => {
                Self::MissingInProject
            }
            false => Self::Missing,
        }
    }
}

impl LastSession {
    /// The latest session with a prompt; a session that was only opened says nothing.
    fn find(sessions: &[v1::Session], names: &ProjectNames) -> Option<Self> {
        let prompted = sessions.iter().find(|session| session.prompts > 0);
        let session = prompted.or(sessions.first())?.clone();
        Some(Self {
            conclusion: strip_request(&session.conclusion).to_owned(),
            folder: SessionFolder::find(names, &session),
            session,
        })
    }
}

pub fn load_front_page(
    context: &CommandContext,
    status: &v1::StatusResponse,
    project: Option<&str>,
) -> Result<FrontPage> {
    let project = project.map(str::to_owned);
    let request = v1::ListSessionsRequest {
        project: project.clone().unwrap_or_default(),
        limit: SESSIONS_READ,
        with_facts: true,
        ..v1::ListSessionsRequest::default()
    };
    let sessions = list_sessions(context, &request)?.sessions;
    Ok(FrontPage {
        week: load_week(context, project.as_deref())?,
        project,
        last: LastSession::find(&sessions, &ProjectNames::load(context)),
        sessions,
        projects: status.projects.clone(),
    })
}

fn load_week(context: &CommandContext, project: Option<&str>) -> Result<Vec<DayCell>> {
    let screen = Screen::new(context);
    let days = last_days(screen.now, screen.labels.zone());
    let (Some(first), Some(last)) = (days.first(), days.last()) else { return Ok(Vec::new()) };
    let request = v1::BrowseTocRequest {
        project: project.unwrap_or_default().to_owned(),
        time: format!("between {first} and {last}"),
        depth: 2,
        ..v1::BrowseTocRequest::default()
    };
    let browse = async |client: &Client| client.browse_toc(request.clone()).await;
    let found = context.connector.call_blocking(browse)?;
    Ok(fill_cells(&days, &found.entries))
}

pub fn print_front_page(
    out: &mut dyn Write,
    screen: &Screen,
    page: &FrontPage,
) -> std::io::Result<()> {
    let heading = match &page.project {
        Some(root) => {
            format!(
                "{BOLD}{}{RESET}  {DIM}{}{RESET}",
                screen.projects.name(root),
                screen.project_path(root)
            )
        }
        None => format!("{BOLD}All projects{RESET}"),
    };
    writeln!(out, "{heading}\n")?;
    print_week(out, &page.week)?;
    writeln!(out)?;
    if let Some(last) = &page.last {
        print_last_session(out, screen, last, page.project.is_none())?;
    }
    print_facts(out, screen, page, "Open", "open", OPEN_SHOWN)?;
    print_facts(out, screen, page, "Recent decisions", "decision", DECISIONS_SHOWN)?;
    if page.project.is_none() {
        print_projects(out, screen, &page.projects)?;
    }
    Ok(())
}

fn print_last_session(
    out: &mut dyn Write,
    screen: &Screen,
    LastSession { session: last, conclusion, folder }: &LastSession,
    is_wide: bool,
) -> std::io::Result<()> {
    let width = screen.prose_width();
    let mut about = vec![screen.when(last.last_at_ms), one_line(&last.agent, 40)];
    about.extend(is_wide.then(|| screen.projects.name(&last.project)));
    about.extend(Some(one_line(&last.branch, 80)).filter(|branch| !branch.is_empty()));
    let about = format!("Last session  {}", about.join(" · "));
    let mut head = Vec::new();
    print_hanging(&mut head, "", INDENT, &about, width)?;
    let head = String::from_utf8_lossy(&head).into_owned();
    let rest = head.strip_prefix("Last session").unwrap_or(&head);
    write!(out, "{BOLD}Last session{RESET} {DIM}{rest}{RESET}")?;
    print_hanging(out, "  ", INDENT, &one_line(&last.title, LINE_CHARS_MAX), width)?;
    if !conclusion.is_empty() && *conclusion != last.title {
        let text = one_line(conclusion, LINE_CHARS_MAX);
        print_hanging(out, &format!("  {GREEN}→{RESET} "), INDENT + 2, &text, width)?;
    }
    let id = one_line(&last.short_id, 80);
    let next = match folder {
        _ if last.resume.is_empty() => format!("tome read {id}"),
        SessionFolder::Exists => format!("tome resume {id} --run"),
        SessionFolder::OnAnotherMachine => {
            format!("tome read {id} (its folder is on another machine)")
        }
        SessionFolder::MissingInProject => {
            format!("tome read {id} (its folder no longer exists in the project)")
        }
        SessionFolder::Missing => format!(
            "tome read {id} (its folder no longer exists; if you moved it: tome projects mv {} NEW_FOLDER)",
            screen.projects.argument(&last.project)
        ),
    };
    let mut lines = Vec::new();
    print_hanging(&mut lines, "  ", INDENT, &next, width)?;
    writeln!(out, "{DIM}{}{RESET}", String::from_utf8_lossy(&lines))
}

/// Prints the latest facts of a kind, with their days and sessions.
fn print_facts(
    out: &mut dyn Write,
    screen: &Screen,
    page: &FrontPage,
    heading: &str,
    kind: &str,
    most: usize,
) -> std::io::Result<()> {
    let is_wide = page.project.is_none();
    let mut shown: Vec<&str> = Vec::new();
    for session in &page.sessions {
        for fact in session.facts.iter().rev().filter(|fact| fact.kind == kind) {
            if shown.len() >= most || shown.contains(&fact.text.as_str()) {
                continue;
            }
            if shown.is_empty() {
                writeln!(out, "{BOLD}{heading}{RESET}")?;
            }
            shown.push(&fact.text);
            let project = if is_wide {
                format!("{}: ", screen.projects.name(&session.project))
            } else {
                String::new()
            };
            let (text, when) = (one_line(&fact.text, LINE_CHARS_MAX), screen.when(fact.at_ms));
            let id = one_line(&session.short_id, 80);
            let line = format!("{project}{text} ({when}, {id})");
            print_hanging(out, "  • ", 4, &line, screen.prose_width())?;
        }
    }
    if shown.is_empty() { Ok(()) } else { writeln!(out) }
}

fn print_projects(
    out: &mut dyn Write,
    screen: &Screen,
    projects: &[v1::Project],
) -> std::io::Result<()> {
    let rows: Vec<Vec<String>> = projects
        .iter()
        .take(PROJECTS_SHOWN)
        .map(|project| {
            vec![
                screen.projects.name(&project.root),
                format_count(project.sessions),
                screen.when(project.last_at_ms),
                screen.project_path(&project.root),
            ]
        })
        .collect();
    print_table_within(out, &["project", ">sessions", "last used", "folder"], &rows, screen.width)?;
    if let hidden @ 1.. = projects.len().saturating_sub(PROJECTS_SHOWN) {
        writeln!(out, "  {DIM}and {hidden} more{RESET}")?;
    }
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    /// 2026-11-15T09:30:00Z.
    const NOW: u64 = 1_794_735_000_000;

    fn fact(kind: &str, text: &str) -> v1::SessionFact {
        let (kind, text) = (kind.to_owned(), text.to_owned());
        v1::SessionFact { kind, text, at_ms: NOW - 7_200_000, ..v1::SessionFact::default() }
    }

    fn page() -> FrontPage {
        let cell = |(name, sessions, events): (&str, u64, u64)| DayCell {
            name: name.to_owned(),
            sessions,
            events,
        };
        let week = [
            ("Mon", 0, 0),
            ("Tue", 2, 40),
            ("Wed", 0, 0),
            ("Thu", 12, 900),
            ("Fri", 1, 3),
            ("Sat", 0, 0),
            ("Sun", 3, 420),
        ];
        let session = v1::Session {
            short_id: "419f42f0".to_owned(),
            agent: "claude-code".to_owned(),
            project: "/home/dev/app".to_owned(),
            branch: "feature/unicode-identifiers".to_owned(),
            title: "Accept unicode identifiers in the lexer and in the parser".to_owned(),
            resume: "claude --resume x".to_owned(),
            last_at_ms: NOW - 7_200_000,
            facts: vec![
                fact("decision", "Use unicode-ident, because it has no dependencies"),
                fact("open", "Should emoji be accepted, \u{1b}[31mas some users asked for?"),
            ],
            ..v1::Session::default()
        };
        FrontPage {
            project: Some("/home/dev/app".to_owned()),
            week: week.map(cell).to_vec(),
            sessions: vec![session.clone()],
            last: Some(LastSession {
                session: session.clone(),
                conclusion: "Identifiers follow the XID rules now, and all 212 tests pass."
                    .to_owned(),
                folder: SessionFolder::Exists,
            }),
            projects: vec![v1::Project {
                root: "/home/dev/app".to_owned(),
                sessions: 12,
                last_at_ms: NOW - 7_200_000,
                ..v1::Project::default()
            }],
        }
    }

    fn shown(width: usize, is_wide: bool) -> String {
        let mut page = page();
        if is_wide {
            page.project = None;
        }
        let mut out = Vec::new();
        print_front_page(&mut out, &Screen::for_test(NOW, width), &page).unwrap();
        let text = String::from_utf8(out).unwrap();
        let text =
            [BOLD, DIM, GREEN, RESET].iter().fold(text, |text, style| text.replace(style, ""));
        for line in text.lines() {
            assert!(tome_terminal::display_width(line) <= width, "{width}: {line}");
        }
        text
    }

    #[test]
    fn the_front_page_fits_every_width() {
        expect![[r#"
            app  ~/app

                           Mon   Tue   Wed   Thu   Fri   Sat   Sun
            Last 7 days      ·   ▂▂▂     ·   ███   ▂▂▂     ·   ▅▅▅
            sessions         ·     2     ·    12     1     ·     3

            Last session  2 h ago · claude-code ·
              feature/unicode-identifiers
              Accept unicode identifiers in the lexer and in the parser
              → Identifiers follow the XID rules now, and all 212 tests
                pass.
              tome resume 419f42f0 --run

            Open
              • Should emoji be accepted, �[31mas some users asked for?
                (2 h ago, 419f42f0)

            Recent decisions
              • Use unicode-ident, because it has no dependencies (2 h
                ago, 419f42f0)

        "#]]
        .assert_eq(&shown(60, false));
        expect![[r#"
            app  ~/app

                           Mon   Tue   Wed   Thu   Fri   Sat   Sun
            Last 7 days      ·   ▂▂▂     ·   ███   ▂▂▂     ·   ▅▅▅
            sessions         ·     2     ·    12     1     ·     3

            Last session  2 h ago · claude-code · feature/unicode-identifiers
              Accept unicode identifiers in the lexer and in the parser
              → Identifiers follow the XID rules now, and all 212 tests pass.
              tome resume 419f42f0 --run

            Open
              • Should emoji be accepted, �[31mas some users asked for? (2 h ago, 419f42f0)

            Recent decisions
              • Use unicode-ident, because it has no dependencies (2 h ago, 419f42f0)

        "#]]
        .assert_eq(&shown(80, false));
        expect![[r#"
            All projects

                           Mon   Tue   Wed   Thu   Fri   Sat   Sun
            Last 7 days      ·   ▂▂▂     ·   ███   ▂▂▂     ·   ▅▅▅
            sessions         ·     2     ·    12     1     ·     3

            Last session  2 h ago · claude-code · app · feature/unicode-identifiers
              Accept unicode identifiers in the lexer and in the parser
              → Identifiers follow the XID rules now, and all 212 tests pass.
              tome resume 419f42f0 --run

            Open
              • app: Should emoji be accepted, �[31mas some users asked for? (2 h ago, 419f42f0)

            Recent decisions
              • app: Use unicode-ident, because it has no dependencies (2 h ago, 419f42f0)

              project  sessions  last used  folder
              app            12  2 h ago    ~/app

        "#]]
        .assert_eq(&shown(100, true));
        expect![[r#"
            app  ~/app

                           Mon   Tue   Wed   Thu   Fri   Sat   Sun
            Last 7 days      ·   ▂▂▂     ·   ███   ▂▂▂     ·   ▅▅▅
            sessions         ·     2     ·    12     1     ·     3

            Last session  2 h ago · claude-code · feature/unicode-identifiers
              Accept unicode identifiers in the lexer and in the parser
              → Identifiers follow the XID rules now, and all 212 tests pass.
              tome resume 419f42f0 --run

            Open
              • Should emoji be accepted, �[31mas some users asked for? (2 h ago, 419f42f0)

            Recent decisions
              • Use unicode-ident, because it has no dependencies (2 h ago, 419f42f0)

        "#]]
        .assert_eq(&shown(160, false));
    }

    #[cfg(not(windows))]
    #[test]
    fn a_folder_on_another_machine_was_not_moved() {
        let names = ProjectNames::for_test(&[]);
        let next = |cwd: &str| {
            let session = v1::Session { cwd: cwd.to_owned(), ..page().sessions[0].clone() };
            let page = FrontPage { last: LastSession::find(&[session], &names), ..page() };
            let mut out = Vec::new();
            print_front_page(&mut out, &Screen::for_test(NOW, 100), &page).unwrap();
            String::from_utf8(out).unwrap()
        };
        let foreign = next("C:\\dev\\app");
        assert!(foreign.contains("tome read 419f42f0 (its folder is on another machine)"));
        assert!(!foreign.contains("projects mv"), "{foreign}");
        assert!(next("/gone/app").contains("its folder no longer exists"));
        assert!(next("/").contains("tome resume 419f42f0 --run"));
    }
}
