//! `tome admin rebuild-messages`: rebuilds the transcripts of sessions.

use anyhow::Result;
use serde_json::{Value, json};
use tome_proto::v1;
use tome_terminal::format_counted;

use super::admin::{RebuildResult, print_rebuilds, resolve_filter};
use super::{CommandContext, Outcome};
use crate::cli::ProjectFilter;
use crate::connect::StartPolicy;

pub fn rebuild_transcripts(context: &CommandContext, filter: &ProjectFilter) -> Result<Outcome> {
    let request = v1::RebuildMessagesRequest { project: resolve_filter(context, filter)? };
    context.block_on(async {
        let client = context.connector.connect(StartPolicy::IfNotRunning).await?;
        let stores = client.rebuild_messages(request).await?;
        print_rebuilds(context, stores, "no sessions yet").await
    })
}

impl RebuildResult for v1::RebuildMessagesResponse {
    fn store_progress(&self) -> (&str, u32, u32) {
        (&self.store, self.stores_done, self.stores)
    }

    fn problem(&self) -> &str {
        &self.problem
    }

    fn describe_changes(&self) -> String {
        let files = format_counted(self.files, "session", "sessions");
        let events = format_counted(self.events, "event", "events");
        let changes = match self.changed {
            0 => "nothing changed".to_owned(),
            changed => format!("{} written", format_counted(changed, "file", "files")),
        };
        let foreign = match self.foreign {
            0 => String::new(),
            lines => {
                format!(
                    "; {} written by other programs kept",
                    format_counted(lines, "line", "lines")
                )
            }
        };
        format!("{files}, {events}; {changes}{foreign}")
    }

    fn to_json(&self) -> Value {
        json!({
            "store": self.store, "stores_done": self.stores_done, "stores": self.stores,
            "files": self.files, "changed": self.changed, "events": self.events,
            "foreign": self.foreign,
            "problem": Some(&self.problem).filter(|why| !why.is_empty()),
        })
    }
}
