//! Writes the installation as portable plugins, one folder per agent, from the same files as setup.
//! They run `tome` by name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Launch, disk};
use crate::agents::wiring::{CLIENTS, Client};

pub struct Bundle {
    pub client: &'static Client,
    pub folder: PathBuf,
    pub files: usize,
}

/// Writes the plugins of these agents into a folder, replacing existing files.
pub fn write_bundles(clients: &[&'static Client], folder: &Path) -> io::Result<Vec<Bundle>> {
    let mut bundles = Vec::new();
    for client in clients {
        let own = folder.join(client.name);
        let files = (client.bundle)(&Launch::by_name());
        for (path, content) in &files {
            put(&own.join(path), content)?;
        }
        bundles.push(Bundle { client, folder: own, files: files.len() });
    }
    let claude = CLIENTS.iter().find(|client| client.name == "claude-code");
    if claude.is_some_and(|claude| clients.iter().any(|client| client.name == claude.name)) {
        put(&folder.join(".claude-plugin/marketplace.json"), &marketplace())?;
    }
    Ok(bundles)
}

/// Renders the index from which Claude Code installs the plugin.
fn marketplace() -> String {
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

fn put(path: &Path, content: &str) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    disk::write(path, content.as_bytes())
}
