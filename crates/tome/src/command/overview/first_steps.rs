//! The first steps in an empty home: the histories of agents on this machine, and the commands to run.
//! Looking creates no home.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tome_engine::Spool;
use tome_home::Projects;
use tome_terminal::{
    BOLD, DIM, RESET, format_bytes, format_counted, format_span, print_hanging, print_styled,
};

use crate::command::import::{find_default_sources, parse_agents};
use crate::command::screen::Screen;
use crate::command::setup::build_environment;
use crate::command::unconnected::find_unconnected;
use crate::command::{CommandContext, Outcome};
use crate::import::{TranscriptFormat, TranscriptSource};
use crate::setup::integration::{AgentIntegration, INTEGRATIONS, name_agents};

/// Bytes of transcripts that an import reads per second, and the time it takes to start. Measured on
/// two busy cores with sessions of Claude Code: 0.8 s for 7.8 MB, 6.2 s for 78.3 MB.
const BYTES_PER_SECOND: u64 = 13_000_000;
const START_MS: u64 = 200;
/// Columns before the explanation of a command.
const COMMAND_COLUMNS: usize = 16;

/// The history of one agent on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundHistory {
    pub agent: String,
    pub title: String,
    /// Number of sessions; 0 if it is only known that there are some.
    pub sessions: u64,
    pub bytes: u64,
}

/// Whether nothing was ever stored in this home, and no daemon works in it.
pub fn is_home_empty(context: &CommandContext) -> bool {
    let home = &context.settings.home;
    context.settings.daemon_endpoint.is_none()
        && context.connector.daemon_pid().is_none()
        && Projects::load(home).all().is_empty()
        && Spool::new(home).count_waiting() == tome_engine::SpoolCounts::default()
        && crate::hook::lost::read_losses(home).events == 0
}

pub fn run(context: &CommandContext) -> Result<Outcome> {
    let histories = find_histories()?;
    if context.json {
        let histories: Vec<Value> = histories
            .iter()
            .map(|one| json!({"agent": one.agent, "sessions": one.sessions, "bytes": one.bytes}))
            .collect();
        context.print_json(&json!({
            "home": context.settings.home.root(), "events": 0, "projects": [], "agents": [],
            "found": histories, "daemon": {"running": false},
        }))?;
        return Ok(Outcome::Done);
    }
    let mut out = tome_terminal::stdout().lock();
    print_first_steps(&mut out, &Screen::new(context), &histories, &find_connected(context))?;
    Ok(Outcome::Done)
}

/// Prints the first steps for a home that exists and holds no events.
pub fn print_nothing_recorded(
    context: &CommandContext,
    out: &mut dyn Write,
    screen: &Screen,
) -> Result<()> {
    print_first_steps(out, screen, &find_histories()?, &find_connected(context))?;
    Ok(writeln!(out)?)
}

/// The command to run first in an empty home.
pub fn describe_first_step() -> Result<String> {
    let histories = find_histories()?;
    Ok(match histories.is_empty() {
        true => {
            "`tome setup` records the sessions of your coding agents; `tome demo` shows an example"
                .to_owned()
        }
        false => format!("run `tome import`: {}", describe_import(&histories)),
    })
}

/// The installed agents that are connected; none if others are not.
fn find_connected(context: &CommandContext) -> Vec<&'static AgentIntegration> {
    if !find_unconnected(context).is_empty() {
        return Vec::new();
    }
    let var = |name: &str| std::env::var(name).ok();
    let Ok(user) = build_environment(context, false, &var) else { return Vec::new() };
    let all = INTEGRATIONS.iter().copied();
    all.filter(|client| client.find_installation(&user).is_some()).collect()
}

/// Finds the histories of all known agents.
fn find_histories() -> Result<Vec<FoundHistory>> {
    let sources = find_default_sources(&parse_agents(&[])?);
    let mut histories: Vec<FoundHistory> = Vec::new();
    for source in &sources {
        let agent = source.agent.as_str();
        let title = INTEGRATIONS.iter().find(|known| known.name == agent);
        let title = title.map_or(agent, |known| known.title).to_owned();
        let sessions = count_sessions(source);
        match histories.iter_mut().find(|one| one.agent == agent) {
            Some(one) => {
                one.sessions += sessions;
                one.bytes += source.bytes;
            }
            None => histories.push(FoundHistory {
                agent: agent.to_owned(),
                title,
                sessions,
                bytes: source.bytes,
            }),
        }
    }
    Ok(histories)
}

/// A transcript is a session, unless it is that of a subagent. A database holds an unknown number.
fn count_sessions(source: &TranscriptSource) -> u64 {
    let is_subagent = source.path.components().any(|part| part.as_os_str() == "subagents");
    let is_store = matches!(source.format, TranscriptFormat::Database | TranscriptFormat::Storage);
    u64::from(!is_subagent && !is_store)
}

fn print_first_steps(
    out: &mut dyn Write,
    screen: &Screen,
    histories: &[FoundHistory],
    connected: &[&'static AgentIntegration],
) -> std::io::Result<()> {
    let width = screen.prose_width();
    let is_connected = !connected.is_empty();
    writeln!(out, "{BOLD}No events recorded yet.{RESET}\n")?;
    let mut step = |command: &str, text: &str| {
        let mark = format!("  {BOLD}{command:<width$}{RESET}", width = COMMAND_COLUMNS - 2);
        print_hanging(out, &mark, COMMAND_COLUMNS, text, width)
    };
    if histories.is_empty() {
        if !is_connected {
            step("tome setup", "record the sessions of your coding agents")?;
        }
        step("tome demo", "see what Tome does, with sample sessions")?;
        writeln!(out)?;
        let line = "No history of Claude Code, Codex, Gemini CLI, Copilot CLI or OpenCode was found \
                    on this machine.";
        print_styled(out, DIM, 0, line, width)?;
    } else {
        step("tome import", &describe_import(histories))?;
        if !is_connected {
            step("tome setup", "record new sessions")?;
        }
        step("tome demo", "see what Tome does, with sample sessions")?;
    }
    if !is_connected {
        return Ok(());
    }
    writeln!(out)?;
    let line = format!("New sessions of {} are recorded.", name_agents(connected));
    print_styled(out, DIM, 0, &line, width)
}

/// Such as `28 Claude Code sessions found (7.8 MB), about 1 s`.
fn describe_import(histories: &[FoundHistory]) -> String {
    let each: Vec<String> = histories
        .iter()
        .map(|one| match one.sessions {
            0 => format!("{} history", one.title),
            number => {
                let (one_name, many) =
                    (format!("{} session", one.title), format!("{} sessions", one.title));
                format_counted(number, &one_name, &many)
            }
        })
        .collect();
    let bytes: u64 = histories.iter().map(|one| one.bytes).sum();
    let ms = START_MS + bytes.saturating_mul(1_000) / BYTES_PER_SECOND;
    let span = format_span(ms.div_ceil(1_000) * 1_000);
    format!("{} found ({}), about {span}", each.join(", "), format_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(title: &str, sessions: u64) -> FoundHistory {
        let agent = title.to_lowercase();
        FoundHistory { agent, title: title.to_owned(), sessions, bytes: 7_800_000 }
    }

    #[test]
    fn the_first_steps_name_what_was_found() {
        let shown = |histories: &[FoundHistory], connected, width| {
            let mut out = Vec::new();
            print_first_steps(&mut out, &Screen::for_test(0, width), histories, connected).unwrap();
            let text = String::from_utf8(out).unwrap();
            [BOLD, DIM, RESET].iter().fold(text, |text, style| text.replace(style, ""))
        };
        let histories = [history("Claude Code", 28), history("Codex", 1), history("OpenCode", 0)];
        expect_test::expect![[r#"
            No events recorded yet.

              tome import   28 Claude Code sessions, 1 Codex session, OpenCode history found
                            (23.4 MB), about 2 s
              tome setup    record new sessions
              tome demo     see what Tome does, with sample sessions
        "#]]
        .assert_eq(&shown(&histories, &[], 80));
        expect_test::expect![[r#"
            No events recorded yet.

              tome setup    record the sessions of your coding agents
              tome demo     see what Tome does, with sample sessions

            No history of Claude Code, Codex, Gemini CLI, Copilot CLI or
            OpenCode was found on this machine.
        "#]]
        .assert_eq(&shown(&[], &[], 60));
        expect_test::expect![[r#"
            No events recorded yet.

              tome import   28 Claude Code sessions, 1 Codex session,
                            OpenCode history found (23.4 MB), about 2 s
              tome demo     see what Tome does, with sample sessions

            New sessions of Claude Code and Codex are recorded.
        "#]]
        .assert_eq(&shown(&histories, &INTEGRATIONS[..2], 60));
        for width in [60, 80, 100, 160] {
            for text in [shown(&histories, &INTEGRATIONS, width), shown(&[], &[], width)] {
                assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
            }
        }
    }
}
