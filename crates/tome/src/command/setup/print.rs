//! Output of `tome setup`: each agent's files, the lines that change, and the result.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};
use tome_terminal::{BOLD, DIM, GREEN, RED, RESET, YELLOW, format_counted, replace_control_chars};

use crate::setup::integration::{AgentIntegration, name_agents};
use crate::setup::{Environment, FilePlan, InstallContent, PlannedEdit, SetupError, SetupPlan};

/// Unchanged lines shown around a change.
const CONTEXT_LINES: usize = 1;

/// Columns before a text behind a word.
const NOTE_COLUMNS: usize = 10;

/// Lines of a change, and new files of an agent, that are shown before the rest is counted.
const LINES_SHOWN: usize = 3;

/// Prints what setup will do for each agent; with `show_all`, every line of it.
pub fn print_plan(
    environment: &Environment<'_>,
    clients: &[&'static AgentIntegration],
    plan: &SetupPlan,
    show_all: bool,
) -> Result<()> {
    let mut out = tome_terminal::stdout().lock();
    for client in clients {
        let installation = client.find_installation(environment);
        let installation =
            installation.map_or("not installed".to_owned(), |path| environment.display_path(&path));
        writeln!(out, "{BOLD}{}{RESET}  {DIM}{installation}{RESET}", client.title)?;
        let files = plan.files.iter().filter(|file| file.agents.contains(&client.name));
        let (mut kept, mut pages) = (0, 0);
        for file in files {
            if file.agents.first() != Some(&client.name) {
                let shared = file.agents.first().copied().unwrap_or_default();
                if !matches!(file.action, PlannedEdit::Keep) {
                    let path = environment.display_path(&file.path);
                    writeln!(out, "  {DIM}shares  {path} with {shared}{RESET}")?;
                }
                continue;
            }
            kept += u64::from(matches!(file.action, PlannedEdit::Keep));
            let is_new_page = is_page(file) && matches!(file.action, PlannedEdit::Create(_));
            pages += u64::from(is_new_page);
            if show_all || !is_new_page || pages <= LINES_SHOWN as u64 {
                print_file(&mut out, environment, file, show_all)?;
            }
        }
        let more = pages.saturating_sub(LINES_SHOWN as u64);
        if more > 0 && !show_all {
            let more = format_counted(more, "more file", "more files");
            writeln!(out, "  {DIM}…       {more} of commands and instructions{RESET}")?;
        }
        if kept > 0 {
            let kept = format_counted(kept, "file is up to date", "files are up to date");
            writeln!(out, "  {GREEN}ok{RESET}      {kept}")?;
        }
    }
    print_consequence(&mut out, plan)?;
    Ok(())
}

/// Says what happens to the agents whose files cannot be changed.
fn print_consequence(out: &mut dyn Write, plan: &SetupPlan) -> Result<()> {
    let is_refused = |file: &&FilePlan| matches!(file.action, PlannedEdit::Refuse(_));
    let refused: Vec<&FilePlan> = plan.files.iter().filter(is_refused).collect();
    if refused.is_empty() {
        return Ok(());
    }
    let mut agents: Vec<&str> = refused.iter().flat_map(|file| file.agents.clone()).collect();
    agents.sort_unstable();
    agents.dedup();
    let files = format_counted(refused.len() as u64, "file is", "files are");
    let agents_are = if agents.len() == 1 { "this agent is" } else { "these agents are" };
    let text = format!(
        "{files} left unchanged, so {agents_are} only partly connected: {}. Fix the problem and run `tome setup` again; it completes what is missing.",
        agents.join(", ")
    );
    writeln!(out)?;
    let width = tome_terminal::terminal_width().min(100);
    Ok(tome_terminal::print_hanging(out, "", 0, &text, width)?)
}

/// Settings are shown; of prose, such as a skill, the name is enough.
fn is_page(file: &FilePlan) -> bool {
    matches!(file.content, InstallContent::Text { .. })
        && file.path.extension().is_none_or(|end| end != "json")
}

fn print_file(
    out: &mut dyn Write,
    environment: &Environment<'_>,
    file: &FilePlan,
    show_all: bool,
) -> Result<()> {
    let path = environment.display_path(&file.path);
    let shown = if show_all { usize::MAX } else { LINES_SHOWN };
    match &file.action {
        PlannedEdit::Keep => {}
        PlannedEdit::Create(text) => {
            let lines = format_counted(text.lines().count() as u64, "line", "lines");
            writeln!(out, "  {GREEN}new{RESET}     {path}  {DIM}{lines}{RESET}")?;
            if !is_page(file) {
                print_diff_lines(out, "", text, shown)?;
            }
        }
        PlannedEdit::Change(text) => {
            writeln!(out, "  {YELLOW}change{RESET}  {path}")?;
            let now = String::from_utf8_lossy(file.current.as_deref().unwrap_or_default());
            print_diff_lines(out, &now, text, shown)?;
        }
        PlannedEdit::Leave(why) => {
            print_note(out, &format!("{YELLOW}leave{RESET} "), &format!("{path}: {why}"))?;
        }
        PlannedEdit::Refuse(error) => {
            print_note(out, &format!("{RED}fail{RESET}  "), &describe_error(environment, error))?;
        }
    }
    Ok(())
}

/// An error with the path as people write it.
fn describe_error(environment: &Environment<'_>, error: &SetupError) -> String {
    let path = error.path();
    error.to_string().replacen(path, &environment.display_path(Path::new(path)), 1)
}

/// Prints a text behind a word, in lines that fit the terminal.
fn print_note(out: &mut dyn Write, word: &str, text: &str) -> Result<()> {
    let width = tome_terminal::terminal_width();
    Ok(tome_terminal::print_hanging(out, &format!("  {word}  "), NOTE_COLUMNS, text, width)?)
}

/// Prints every line that changes.
pub fn print_diff(out: &mut dyn Write, before: &str, after: &str) -> Result<()> {
    print_diff_lines(out, before, after, usize::MAX)
}

/// Prints the first lines that change, and counts the others.
fn print_diff_lines(out: &mut dyn Write, before: &str, after: &str, shown: usize) -> Result<()> {
    let diff = TextDiff::from_lines(before, after);
    let (mut changed, mut room) = (0, tome_terminal::terminal_width().saturating_sub(6));
    room = room.max(20);
    for (at, group) in diff.grouped_ops(CONTEXT_LINES).iter().enumerate() {
        if at > 0 && changed < shown {
            writeln!(out, "      {DIM}…{RESET}")?;
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (color, sign) = match change.tag() {
                ChangeTag::Equal => (DIM, ' '),
                ChangeTag::Delete => (RED, '-'),
                ChangeTag::Insert => (GREEN, '+'),
            };
            changed += usize::from(change.tag() != ChangeTag::Equal);
            let is_hidden =
                changed > shown || (changed == shown && change.tag() == ChangeTag::Equal);
            if is_hidden {
                continue;
            }
            let line = replace_control_chars(change.value().trim_end_matches(['\r', '\n']));
            let line = match shown {
                usize::MAX => line,
                _ => tome_terminal::truncate_end(&line, room),
            };
            writeln!(out, "    {color}{sign} {line}{RESET}")?;
        }
    }
    if changed > shown {
        let more = format_counted((changed - shown) as u64, "more line", "more lines");
        writeln!(out, "    {DIM}… {more}; --diff shows them{RESET}")?;
    }
    Ok(())
}

/// Prints the result and any steps left to the user.
pub fn print_outcome(
    environment: &Environment<'_>,
    clients: &[&'static AgentIntegration],
    plan: &SetupPlan,
    done: bool,
    failed: &[SetupError],
) -> Result<()> {
    let mut out = tome_terminal::stdout().lock();
    let changed = plan.files.iter().filter(|file| file.new_text().is_some()).count();
    let refused =
        plan.files.iter().filter(|file| matches!(file.action, PlannedEdit::Refuse(_))).count();
    writeln!(out)?;
    for error in failed {
        let width = tome_terminal::terminal_width();
        let text = describe_error(environment, error);
        tome_terminal::print_hanging(&mut out, &format!("{RED}failed{RESET}  "), 8, &text, width)?;
    }
    match (done, changed) {
        (true, _) => {
            let files =
                format_counted((changed - failed.len().min(changed)) as u64, "file", "files");
            writeln!(out, "Done: {files} written. `tome setup --undo` reverts this.")?;
        }
        (false, 0) if refused == 0 => writeln!(out, "Nothing to change: everything is connected.")?,
        (false, 0) => writeln!(out, "Nothing was changed.")?,
        (false, _) => {
            let files = format_counted(changed as u64, "file would be", "files would be");
            writeln!(out, "{files} written; nothing was changed.")?;
        }
    }
    if done || changed == 0 {
        for client in clients {
            for step in client.manual_steps {
                let (mark, width) =
                    (format!("{YELLOW}To do:{RESET} "), tome_terminal::terminal_width());
                tome_terminal::print_hanging(&mut out, &mark, 7, &format!("{step}."), width)?;
            }
        }
    }
    if done {
        let text = describe_recorded(clients, plan, failed);
        tome_terminal::print_hanging(&mut out, "", 0, &text, tome_terminal::terminal_width())?;
    }
    Ok(())
}

/// Says which agents are recorded from now on: those of which every file could be written.
fn describe_recorded(
    clients: &[&'static AgentIntegration],
    plan: &SetupPlan,
    failed: &[SetupError],
) -> String {
    const CHECK: &str = "`tome doctor` checks the connection.";
    let is_refused = |client: &AgentIntegration| {
        let mut files = plan.files.iter().filter(|file| file.agents.contains(&client.name));
        files.any(|file| matches!(file.action, PlannedEdit::Refuse(_)))
    };
    let (partly, wholly): (Vec<_>, Vec<_>) = clients.iter().partition(|client| is_refused(client));
    let recorded = format!("New sessions of {} are recorded from now on", name_agents(&wholly));
    let missing =
        format!("{} may not be recorded: it is only partly connected", name_agents(&partly));
    match (failed, wholly.as_slice(), partly.as_slice()) {
        // It is not known whose file it is.
        ([_, ..], ..) => CHECK.to_owned(),
        (_, _, []) => format!("{recorded}. {CHECK}"),
        (_, [], _) => format!("{missing}. {CHECK}"),
        _ => format!("{recorded}. {missing}. {CHECK}"),
    }
}

/// Renders plan and result as JSON.
pub fn plan_json(
    environment: &Environment<'_>,
    clients: &[&'static AgentIntegration],
    plan: &SetupPlan,
    done: bool,
    failed: &[SetupError],
) -> Value {
    let agents: Vec<Value> = clients
        .iter()
        .map(|client| {
            json!({
                "agent": client.name, "title": client.title,
                "found": client.find_installation(environment),
                "to_do": client.manual_steps,
            })
        })
        .collect();
    let files: Vec<Value> = plan.files.iter().map(file_json).collect();
    let failed: Vec<String> = failed.iter().map(ToString::to_string).collect();
    json!({ "applied": done, "agents": agents, "files": files, "failed": failed })
}

fn file_json(file: &FilePlan) -> Value {
    let (action, why) = match &file.action {
        PlannedEdit::Keep => ("keep", None),
        PlannedEdit::Create(_) => ("create", None),
        PlannedEdit::Change(_) => ("change", None),
        PlannedEdit::Leave(why) => ("leave", Some(why.clone())),
        PlannedEdit::Refuse(error) => ("refuse", Some(error.to_string())),
    };
    let path: &Path = &file.path;
    json!({ "path": path, "agents": file.agents, "action": action, "why": why })
}
