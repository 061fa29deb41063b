//! `tome admin rebuild-messages`: rebuilds the transcripts of sessions.

use anyhow::Result;
use serde_json::{Value, json};
use tome_proto::v1;

use super::admin::{Rebuilt, project, tell_each};
use super::{Context, Outcome};
use crate::cli::Contents;
use crate::reach::Start;
use crate::render::counted;

pub fn rebuild(context: &Context, asked: &Contents) -> Result<Outcome> {
    let request = v1::RebuildMessagesRequest { project: project(context, asked)? };
    context.block_on(async {
        let client = context.reach.client(Start::IfAway).await?;
        let stores = client.rebuild_messages(request).await?;
        tell_each(context, stores, "no sessions yet").await
    })
}

impl Rebuilt for v1::RebuildMessagesResponse {
    fn place(&self) -> (&str, u32, u32) {
        (&self.store, self.stores_done, self.stores)
    }

    fn problem(&self) -> &str {
        &self.problem
    }

    fn changes(&self) -> String {
        let files = counted(self.files, "session", "sessions");
        let events = counted(self.events, "event", "events");
        let changes = match self.changed {
            0 => "nothing changed".to_owned(),
            changed => format!("{} written", counted(changed, "file", "files")),
        };
        let foreign = match self.foreign {
            0 => String::new(),
            lines => {
                format!("; {} written by other programs kept", counted(lines, "line", "lines"))
            }
        };
        format!("{files}, {events}; {changes}{foreign}")
    }

    fn json(&self) -> Value {
        json!({
            "store": self.store, "stores_done": self.stores_done, "stores": self.stores,
            "files": self.files, "changed": self.changed, "events": self.events,
            "foreign": self.foreign,
            "problem": Some(&self.problem).filter(|why| !why.is_empty()),
        })
    }
}
