//! `tome admin`: care for the stores.

use std::io::Write;

use anyhow::Result;
use serde_json::json;

use super::{Context, Outcome};
use crate::reach::Start;
use crate::render::{bytes, counted};

pub fn flush(context: &Context) -> Result<Outcome> {
    let flushed = context.block_on(async {
        Ok(context.reach.ask(Start::IfAway, async |client| client.flush().await).await?)
    })?;
    if context.json {
        context.print_json(&json!({"stores": flushed.stores}))?;
    } else {
        writeln!(
            anstream::stdout(),
            "flushed {}",
            counted(flushed.stores.into(), "open store", "open stores")
        )?;
    }
    Ok(Outcome::Done)
}

pub fn compact(context: &Context) -> Result<Outcome> {
    let done = context.block_on(async {
        Ok(context.reach.ask(Start::IfAway, async |client| client.compact().await).await?)
    })?;
    if context.json {
        let (stores, before, after) = (done.stores, done.bytes_before, done.bytes_after);
        context
            .print_json(&json!({"stores": stores, "bytes_before": before, "bytes_after": after}))?;
    } else {
        let stores = counted(done.stores.into(), "store", "stores");
        writeln!(
            anstream::stdout(),
            "compacted {stores}: {} before, {} after",
            bytes(done.bytes_before),
            bytes(done.bytes_after)
        )?;
    }
    Ok(Outcome::Done)
}
