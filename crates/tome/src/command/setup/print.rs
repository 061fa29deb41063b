//! Output of `tome setup`: each agent's files, the lines that change, and the result.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};
use tome_terminal::{BOLD, DIM, GREEN, RED, RESET, YELLOW, format_counted, replace_control_chars};

use crate::setup::integration::AgentIntegration;
use crate::setup::{Environment, FileAction, FilePlan, InstallContent, SetupError, SetupPlan};

/// Unchanged lines shown around a change.
const CONTEXT_LINES: usize = 1;

pub fn print_plan(
    ground: &Environment<'_>,
    clients: &[&'static AgentIntegration],
    plan: &SetupPlan,
) -> Result<()> {
    let mut out = tome_terminal::stdout().lock();
    for client in clients {
        let found = client.find_installation(ground);
        let found = found.map_or("not installed".to_owned(), |path| ground.display_path(&path));
        writeln!(out, "{BOLD}{}{RESET}  {DIM}{found}{RESET}", client.title)?;
        let files = plan.files.iter().filter(|file| file.agents.contains(&client.name));
        let mut kept = 0;
        for file in files {
            if file.agents.first() != Some(&client.name) {
                let shared = file.agents.first().copied().unwrap_or_default();
                if !matches!(file.action, FileAction::Keep) {
                    let path = ground.display_path(&file.path);
                    writeln!(out, "  {DIM}shares  {path} with {shared}{RESET}")?;
                }
                continue;
            }
            kept += u64::from(matches!(file.action, FileAction::Keep));
            print_file(&mut out, ground, file)?;
        }
        if kept > 0 {
            let kept = format_counted(kept, "file is up to date", "files are up to date");
            writeln!(out, "  {GREEN}ok{RESET}      {kept}")?;
        }
    }
    Ok(())
}

fn print_file(out: &mut dyn Write, ground: &Environment<'_>, file: &FilePlan) -> Result<()> {
    let path = ground.display_path(&file.path);
    match &file.action {
        FileAction::Keep => {}
        FileAction::Create(text) => {
            let lines = format_counted(text.lines().count() as u64, "line", "lines");
            writeln!(out, "  {GREEN}new{RESET}     {path}  {DIM}{lines}{RESET}")?;
            // Settings are shown in full; for prose, such as a skill, the name is enough.
            let is_page = matches!(file.content, InstallContent::Text { .. })
                && file.path.extension().is_none_or(|end| end != "json");
            if !is_page {
                print_diff(out, "", text)?;
            }
        }
        FileAction::Change(text) => {
            writeln!(out, "  {YELLOW}change{RESET}  {path}")?;
            let now = String::from_utf8_lossy(file.current.as_deref().unwrap_or_default());
            print_diff(out, &now, text)?;
        }
        FileAction::Leave(why) => writeln!(out, "  {YELLOW}leave{RESET}   {path}: {why}")?,
        FileAction::Refuse(error) => writeln!(out, "  {RED}fail{RESET}    {error}")?,
    }
    Ok(())
}

pub fn print_diff(out: &mut dyn Write, before: &str, after: &str) -> Result<()> {
    let diff = TextDiff::from_lines(before, after);
    for (at, group) in diff.grouped_ops(CONTEXT_LINES).iter().enumerate() {
        if at > 0 {
            writeln!(out, "      {DIM}…{RESET}")?;
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (colour, sign) = match change.tag() {
                ChangeTag::Equal => (DIM, ' '),
                ChangeTag::Delete => (RED, '-'),
                ChangeTag::Insert => (GREEN, '+'),
            };
            let line = replace_control_chars(change.value().trim_end_matches(['\r', '\n']));
            writeln!(out, "    {colour}{sign} {line}{RESET}")?;
        }
    }
    Ok(())
}

/// Prints the result and any steps left to the user.
pub fn print_outcome(
    clients: &[&'static AgentIntegration],
    plan: &SetupPlan,
    done: bool,
    failed: &[SetupError],
) -> Result<()> {
    let mut out = tome_terminal::stdout().lock();
    let changed = plan.files.iter().filter(|file| file.new_text().is_some()).count();
    let refused =
        plan.files.iter().filter(|file| matches!(file.action, FileAction::Refuse(_))).count();
    writeln!(out)?;
    for error in failed {
        writeln!(out, "{RED}failed{RESET}  {error}")?;
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
                writeln!(out, "{YELLOW}To do:{RESET} {step}.")?;
            }
        }
    }
    if done {
        writeln!(
            out,
            "New sessions of these agents are recorded from now on; check with `tome doctor`."
        )?;
    }
    Ok(())
}

/// Renders plan and result as JSON.
pub fn plan_json(
    ground: &Environment<'_>,
    clients: &[&'static AgentIntegration],
    plan: &SetupPlan,
    done: bool,
    failed: &[SetupError],
) -> Value {
    let agents: Vec<Value> = clients
        .iter()
        .map(|client| {
            json!({
                "agent": client.name, "title": client.title, "found": client.find_installation(ground),
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
        FileAction::Keep => ("keep", None),
        FileAction::Create(_) => ("create", None),
        FileAction::Change(_) => ("change", None),
        FileAction::Leave(why) => ("leave", Some(why.clone())),
        FileAction::Refuse(error) => ("refuse", Some(error.to_string())),
    };
    let path: &Path = &file.path;
    json!({ "path": path, "agents": file.agents, "action": action, "why": why })
}
