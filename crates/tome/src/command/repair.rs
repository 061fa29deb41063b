//! `tome admin repair`.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tome_proto::{Client, v1};
use tome_terminal::{DIM, GREEN, RED, RESET, YELLOW, format_count, format_counted};

use super::{CommandContext, Outcome, admin};
use crate::cli::RepairArgs;

pub fn run(context: &CommandContext, args: &RepairArgs) -> Result<Outcome> {
    let project = admin::resolve_filter(context, &args.filter)?;
    let request = v1::RepairStoresRequest { project, all: args.force };
    let repair = async |client: &Client| client.repair_stores(request).await;
    let stores = context.connector.call_once_blocking(repair)?;
    let has_failed = stores.iter().any(|store| !store.problem.is_empty());
    if context.json {
        stores.iter().try_for_each(|store| context.print_json(&repair_json(store)))?;
    } else {
        print_repairs(&stores)?;
    }
    Ok(if has_failed { Outcome::Failed } else { Outcome::Done })
}

fn print_repairs(stores: &[v1::StoreRepaired]) -> Result<()> {
    let mut out = tome_terminal::stdout().lock();
    for store in stores {
        if !store.problem.is_empty() {
            writeln!(out, "{}: {RED}not repaired:{RESET} {}", store.store, store.problem)?;
        } else if store.repaired {
            let lost = match store.lost {
                0 => "nothing lost".to_owned(),
                lost => format!("{YELLOW}{} lost{RESET}", format_counted(lost, "event", "events")),
            };
            writeln!(
                out,
                "{}: {} kept, {} restored from transcripts, {lost}",
                store.store,
                format_counted(store.kept, "event", "events"),
                format_count(store.restored)
            )?;
            writeln!(out, "  {DIM}the damaged store was kept as {}{RESET}", store.set_aside)?;
            if store.lost > 0 {
                writeln!(
                    out,
                    "  run `tome import` to recover events from the agents' transcripts"
                )?;
            }
        }
    }
    if stores.iter().all(|store| !store.repaired && store.problem.is_empty()) {
        let checked = format_counted(stores.len() as u64, "store", "stores");
        writeln!(out, "{GREEN}no damage found{RESET} in {checked}")?;
    }
    Ok(())
}

fn repair_json(store: &v1::StoreRepaired) -> Value {
    let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    json!({
        "store": store.store, "repaired": store.repaired, "kept": store.kept,
        "restored": store.restored, "lost": store.lost, "set_aside": given(&store.set_aside),
        "problem": given(&store.problem),
    })
}
