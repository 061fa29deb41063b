//! The wiring as plugins that can be carried to other machines and published: one folder an agent,
//! made from the same parts as the wiring itself. They run `tome` by its name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Launch, disk};
use crate::agents::wiring::{CLIENTS, Client};

/// One agent's plugin.
pub struct Bundle {
    /// Whose.
    pub client: &'static Client,
    /// Its folder.
    pub folder: PathBuf,
    /// How many files it has.
    pub files: usize,
}

/// Writes the plugins of these agents into a folder. What is there under the same names is replaced.
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

/// What lets Claude Code install the plugin from this folder.
fn marketplace() -> String {
    let listed = json!({
        "name": "tome",
        "owner": { "name": "Tome" },
        "metadata": { "description": "The memory of coding agents" },
        "plugins": [{
            "name": "tome",
            "source": "./claude-code",
            "description": "Records sessions and finds them again, with citations",
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
