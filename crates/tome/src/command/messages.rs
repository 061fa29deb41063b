//! `tome admin rebuild-messages`: the copies of sessions, made anew.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tome_proto::v1;

use super::admin::project;
use super::{Context, Outcome};
use crate::cli::Contents;
use crate::reach::Start;
use crate::render::{DIM, PLAIN, RED, counted};

/// Makes the copies anew, and says what changed.
pub fn rebuild(context: &Context, asked: &Contents) -> Result<Outcome> {
    let request = v1::RebuildMessagesRequest { project: project(context, asked)? };
    context.block_on(async {
        let client = context.reach.client(Start::IfAway).await?;
        let mut stores = client.rebuild_messages(request).await?;
        let (mut is_bad, mut is_empty) = (false, true);
        while let Some(store) = stores.message().await.map_err(tome_proto::ClientError::from)? {
            is_bad |= !store.problem.is_empty();
            is_empty = false;
            if context.json {
                context.print_json(&rebuilt_json(&store))?;
            } else {
                print_rebuilt(&store)?;
            }
        }
        if is_empty && !context.json {
            writeln!(anstream::stderr(), "there are no sessions yet")?;
        }
        Ok(if is_bad { Outcome::Failed } else { Outcome::Done })
    })
}

fn print_rebuilt(store: &v1::RebuildMessagesResponse) -> Result<()> {
    let mut out = anstream::stdout().lock();
    let place = format!("{DIM}[{}/{}]{PLAIN} {}", store.stores_done, store.stores, store.store);
    if !store.problem.is_empty() {
        writeln!(out, "{place}: {RED}failed:{PLAIN} {}", store.problem)?;
        return Ok(());
    }
    let files = counted(store.files, "session", "sessions");
    let events = counted(store.events, "event", "events");
    let changes = match store.changed {
        0 => "nothing changed".to_owned(),
        changed => format!("{} written", counted(changed, "file", "files")),
    };
    let foreign = match store.foreign {
        0 => String::new(),
        lines => format!("; {} of others kept", counted(lines, "line", "lines")),
    };
    writeln!(out, "{place}: {files}, {events}; {changes}{foreign}")?;
    Ok(())
}

fn rebuilt_json(store: &v1::RebuildMessagesResponse) -> Value {
    json!({
        "store": store.store, "stores_done": store.stores_done, "stores": store.stores,
        "files": store.files, "changed": store.changed, "events": store.events,
        "foreign": store.foreign,
        "problem": Some(&store.problem).filter(|why| !why.is_empty()),
    })
}
