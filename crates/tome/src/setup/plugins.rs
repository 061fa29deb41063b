//! Writes the installation as portable plugins, one folder per agent, from the same files as setup.
//! They run `tome` by name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::integration::{AgentIntegration, INTEGRATIONS};
use super::{LaunchCommand, disk};

pub struct PluginBundle {
    pub client: &'static AgentIntegration,
    pub folder: PathBuf,
    pub files: usize,
}

/// Writes the plugins of these agents into a folder, replacing existing files.
pub fn write_bundles(
    clients: &[&'static AgentIntegration],
    folder: &Path,
) -> io::Result<Vec<PluginBundle>> {
    let mut bundles = Vec::new();
    for client in clients {
        let own = folder.join(client.name);
        let files = (client.bundle)(&LaunchCommand::by_name());
        for (path, content) in &files {
            write_file(&own.join(path), content)?;
        }
        bundles.push(PluginBundle { client, folder: own, files: files.len() });
    }
    let claude = INTEGRATIONS.iter().find(|client| client.name == "claude-code");
    if claude.is_some_and(|claude| clients.iter().any(|client| client.name == claude.name)) {
        write_file(&folder.join(".claude-plugin/marketplace.json"), &render_marketplace())?;
    }
    Ok(bundles)
}

/// Renders the index from which Claude Code installs the plugin.
fn render_marketplace() -> String {
    let listed = json!({
        "name": "tome",
        "owner": { "name": "Tome" },
        "metadata": { "description": "Memory for coding agents" },
        "plugins": [{
            "name": "tome",
            "source": "./claude-code",
            "description": "Records sessions and searches them, with citations",
        }],
    });
    let mut text = serde_json::to_string_pretty(&listed).unwrap_or_default();
    text.push('\n');
    text
}

fn write_file(path: &Path, content: &str) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    disk::write(path, content.as_bytes())
}
