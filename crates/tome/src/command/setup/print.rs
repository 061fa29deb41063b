//! Output of `tome setup`: each agent's files, the lines that change, and the result.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

use crate::agents::wiring::Client;
use crate::render::{BOLD, DIM, GREEN, PLAIN, RED, YELLOW, counted, safe};
use crate::setup::{Action, FilePlan, Form, Ground, Plan, SetupError};

/// Unchanged lines shown around a change.
const LINES_AROUND: usize = 1;

pub fn plan(ground: &Ground<'_>, clients: &[&'static Client], plan: &Plan) -> Result<()> {
    let mut out = crate::terminal::stdout().lock();
    for client in clients {
        let found = client.found(ground);
        let found = found.map_or("not installed".to_owned(), |path| ground.short(&path));
        writeln!(out, "{BOLD}{}{PLAIN}  {DIM}{found}{PLAIN}", client.title)?;
        let files = plan.files.iter().filter(|file| file.agents.contains(&client.name));
        let mut kept = 0;
        for file in files {
            if file.agents.first() != Some(&client.name) {
                let shared = file.agents.first().copied().unwrap_or_default();
                if !matches!(file.action, Action::Keep) {
                    let path = ground.short(&file.path);
                    writeln!(out, "  {DIM}shares  {path} with {shared}{PLAIN}")?;
                }
                continue;
            }
            kept += u64::from(matches!(file.action, Action::Keep));
            one_file(&mut out, ground, file)?;
        }
        if kept > 0 {
            let kept = counted(kept, "file is up to date", "files are up to date");
            writeln!(out, "  {GREEN}ok{PLAIN}      {kept}")?;
        }
    }
    Ok(())
}

fn one_file(out: &mut dyn Write, ground: &Ground<'_>, file: &FilePlan) -> Result<()> {
    let path = ground.short(&file.path);
    match &file.action {
        Action::Keep => {}
        Action::Create(text) => {
            let lines = counted(text.lines().count() as u64, "line", "lines");
            writeln!(out, "  {GREEN}new{PLAIN}     {path}  {DIM}{lines}{PLAIN}")?;
            // Settings are shown in full; for prose, such as a skill, the name is enough.
            let is_page = matches!(file.form, Form::Text { .. })
                && file.path.extension().is_none_or(|end| end != "json");
            if !is_page {
                changes(out, "", text)?;
            }
        }
        Action::Change(text) => {
            writeln!(out, "  {YELLOW}change{PLAIN}  {path}")?;
            let now = String::from_utf8_lossy(file.now.as_deref().unwrap_or_default());
            changes(out, &now, text)?;
        }
        Action::Leave(why) => writeln!(out, "  {YELLOW}leave{PLAIN}   {path}: {why}")?,
        Action::Refuse(error) => writeln!(out, "  {RED}fail{PLAIN}    {error}")?,
    }
    Ok(())
}

pub fn changes(out: &mut dyn Write, before: &str, after: &str) -> Result<()> {
    let diff = TextDiff::from_lines(before, after);
    for (at, group) in diff.grouped_ops(LINES_AROUND).iter().enumerate() {
        if at > 0 {
            writeln!(out, "      {DIM}…{PLAIN}")?;
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (colour, sign) = match change.tag() {
                ChangeTag::Equal => (DIM, ' '),
                ChangeTag::Delete => (RED, '-'),
                ChangeTag::Insert => (GREEN, '+'),
            };
            let line = safe(change.value().trim_end_matches(['\r', '\n']));
            writeln!(out, "    {colour}{sign} {line}{PLAIN}")?;
        }
    }
    Ok(())
}

/// Prints the result and any steps left to the user.
pub fn outcome(
    clients: &[&'static Client],
    plan: &Plan,
    done: bool,
    failed: &[SetupError],
) -> Result<()> {
    let mut out = crate::terminal::stdout().lock();
    let changed = plan.files.iter().filter(|file| file.text().is_some()).count();
    let refused = plan.files.iter().filter(|file| matches!(file.action, Action::Refuse(_))).count();
    writeln!(out)?;
    for error in failed {
        writeln!(out, "{RED}failed{PLAIN}  {error}")?;
    }
    match (done, changed) {
        (true, _) => {
            let files = counted((changed - failed.len().min(changed)) as u64, "file", "files");
            writeln!(out, "Done: {files} written. `tome setup --undo` reverts this.")?;
        }
        (false, 0) if refused == 0 => writeln!(out, "Nothing to change: everything is connected.")?,
        (false, 0) => writeln!(out, "Nothing was changed.")?,
        (false, _) => {
            let files = counted(changed as u64, "file would be", "files would be");
            writeln!(out, "{files} written; nothing was changed.")?;
        }
    }
    if done || changed == 0 {
        for client in clients {
            for step in client.to_do {
                writeln!(out, "{YELLOW}To do:{PLAIN} {step}.")?;
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
pub fn as_json(
    ground: &Ground<'_>,
    clients: &[&'static Client],
    plan: &Plan,
    done: bool,
    failed: &[SetupError],
) -> Value {
    let agents: Vec<Value> = clients
        .iter()
        .map(|client| {
            json!({
                "agent": client.name, "title": client.title, "found": client.found(ground),
                "to_do": client.to_do,
            })
        })
        .collect();
    let files: Vec<Value> = plan.files.iter().map(file_json).collect();
    let failed: Vec<String> = failed.iter().map(ToString::to_string).collect();
    json!({ "applied": done, "agents": agents, "files": files, "failed": failed })
}

fn file_json(file: &FilePlan) -> Value {
    let (action, why) = match &file.action {
        Action::Keep => ("keep", None),
        Action::Create(_) => ("create", None),
        Action::Change(_) => ("change", None),
        Action::Leave(why) => ("leave", Some(why.clone())),
        Action::Refuse(error) => ("refuse", Some(error.to_string())),
    };
    let path: &Path = &file.path;
    json!({ "path": path, "agents": file.agents, "action": action, "why": why })
}
