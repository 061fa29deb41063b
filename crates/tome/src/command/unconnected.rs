//! Installed coding agents that run none of Tome's hooks, so that their new sessions are not recorded.

use tome_terminal::{DIM, RESET, YELLOW, print_hanging};

use super::CommandContext;
use super::setup::build_environment;
use crate::setup::integration::{AgentIntegration, INTEGRATIONS, name_agents};
use crate::setup::{Environment, FilePlan, UndoJournal, build_plan};

/// Whether Tome is in the settings of this agent, the user's or the project's as `environment` says.
pub fn is_connected(
    client: &'static AgentIntegration,
    environment: &Environment<'_>,
    book: &UndoJournal,
) -> bool {
    build_plan(&[client], environment, book).files.iter().any(FilePlan::is_installed)
}

/// Finds the installed agents that are connected neither for the user nor in the current project. An
/// unknown home folder or an unreadable journal is a matter for `tome doctor`; nothing is found then.
pub fn find_unconnected(context: &CommandContext) -> Vec<&'static AgentIntegration> {
    let var = |name: &str| std::env::var(name).ok();
    let environments: Vec<Environment<'_>> =
        [false, true].iter().filter_map(|it| build_environment(context, *it, &var).ok()).collect();
    let Ok(book) = UndoJournal::open(context.settings.home.root()) else { return Vec::new() };
    let Some(user) = environments.first() else { return Vec::new() };
    INTEGRATIONS
        .iter()
        .copied()
        .filter(|client| client.find_installation(user).is_some())
        .filter(|client| !environments.iter().any(|it| is_connected(client, it, &book)))
        .collect()
}

/// Prints which agents are not connected and how to connect them; nothing if all are.
pub fn print_unconnected(
    out: &mut dyn std::io::Write,
    agents: &[&'static AgentIntegration],
    width: usize,
) -> std::io::Result<()> {
    if agents.is_empty() {
        return Ok(());
    }
    let text = format!("New sessions of {} are not recorded: tome setup", name_agents(agents));
    print_hanging(out, &format!("{YELLOW}!{RESET} "), 2, &text, width)
}

/// Prints the next steps after an import.
pub fn print_next_steps(
    out: &mut dyn std::io::Write,
    agents: &[&'static AgentIntegration],
    width: usize,
) -> std::io::Result<()> {
    let mut text = "tome shows the overview".to_owned();
    if !agents.is_empty() {
        text.push_str(&format!(", tome setup records new sessions of {}", name_agents(agents)));
    }
    let mut lines = Vec::new();
    print_hanging(&mut lines, "", 0, &text, width)?;
    write!(out, "\n{DIM}{}{RESET}", String::from_utf8_lossy(&lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_steps_name_the_agents() {
        let shown = |count: usize, width: usize| {
            let agents = INTEGRATIONS.get(..count).unwrap();
            let mut out = Vec::new();
            print_unconnected(&mut out, agents, width).unwrap();
            print_next_steps(&mut out, agents, width).unwrap();
            String::from_utf8(anstream::adapter::strip_bytes(&out).into_vec()).unwrap()
        };
        assert_eq!(shown(0, 60), "\ntome shows the overview\n");
        expect_test::expect![[r#"
            ! New sessions of Claude Code, Codex and Gemini CLI are not
              recorded: tome setup

            tome shows the overview, tome setup records new sessions of
            Claude Code, Codex and Gemini CLI
        "#]]
        .assert_eq(&shown(3, 60));
        for width in [60, 80, 100, 160] {
            for line in shown(5, width).lines() {
                assert!(tome_terminal::display_width(line) <= width, "{width}: {line}");
            }
        }
    }
}
