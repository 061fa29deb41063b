//! `tome admin`: maintenance of the stores.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};
use tome_proto::v1;
use tome_terminal::{
    DIM, GREEN, RED, RESET, WrappedWriter, YELLOW, format_bytes, format_count, format_counted,
    known_width, truncate_start,
};

use super::project_scope::resolve_project;
use super::{CommandContext, Outcome, damage, index_status};
use crate::cli::ProjectFilter;
use crate::connect::StartPolicy;

/// Columns before the values of a store.
const LABEL_COLUMNS: usize = 9;

pub fn flush_stores(context: &CommandContext) -> Result<Outcome> {
    let flushed = context.connector.call_blocking(async |client| client.flush().await)?;
    if context.json {
        context.print_json(&json!({"stores": flushed.stores}))?;
    } else {
        writeln!(
            tome_terminal::stdout(),
            "flushed {}",
            format_counted(flushed.stores.into(), "open store", "open stores")
        )?;
    }
    Ok(Outcome::Done)
}

pub fn compact_stores(context: &CommandContext) -> Result<Outcome> {
    let done = context.connector.call_blocking(async |client| client.compact().await)?;
    if context.json {
        let (stores, before, after) = (done.stores, done.bytes_before, done.bytes_after);
        context
            .print_json(&json!({"stores": stores, "bytes_before": before, "bytes_after": after}))?;
    } else {
        let stores = format_counted(done.stores.into(), "store", "stores");
        writeln!(
            tome_terminal::stdout(),
            "compacted {stores}: {} before, {} after",
            format_bytes(done.bytes_before),
            format_bytes(done.bytes_after)
        )?;
    }
    Ok(Outcome::Done)
}

/// Shows the cursors and sizes of each store's projections.
pub fn show_projections(context: &CommandContext) -> Result<Outcome> {
    let stores = context.connector.call_blocking(async |client| client.get_workers().await)?;
    if context.json {
        stores.iter().try_for_each(|store| context.print_json(&store_json(store)))?;
        return Ok(projections_outcome(&stores));
    }
    let mut out = tome_terminal::stdout().lock();
    if stores.is_empty() {
        writeln!(out, "no stores yet")?;
    }
    for store in &stores {
        print_store_projections(context, &mut out, store)?;
    }
    Ok(projections_outcome(&stores))
}

fn projections_outcome(stores: &[v1::StoreWorkers]) -> Outcome {
    let is_bad = stores.iter().any(|store| !store.problem.is_empty());
    if is_bad { Outcome::Failed } else { Outcome::Done }
}

fn print_store_projections(
    context: &CommandContext,
    out: &mut dyn Write,
    store: &v1::StoreWorkers,
) -> std::io::Result<()> {
    let mut out = WrappedWriter::new(out, LABEL_COLUMNS);
    let path = context.shorten_path(Path::new(&store.path));
    let room = known_width().map_or(usize::MAX, |width| width.saturating_sub(LABEL_COLUMNS));
    writeln!(out, "store    {}", truncate_start(&path, room))?;
    if !store.problem.is_empty() {
        return writeln!(out, "         {RED}cannot be read:{RESET} {}", store.problem);
    }
    let events = format_counted(store.events, "event", "events");
    writeln!(out, "         {events}, {}, {}", format_bytes(store.disk_bytes), store.engine)?;
    writeln!(
        out,
        "contents {}, {}, {}",
        format_counted(store.nodes, "node", "nodes"),
        format_counted(store.versions, "version", "versions"),
        format_counted(store.grips, "source", "sources")
    )?;
    index_status::print_projections(&mut out, &store.workers)?;
    for problem in &store.finder_problems {
        writeln!(out, "         {YELLOW}indexes:{RESET} {problem}")?;
    }
    Ok(())
}

fn store_json(store: &v1::StoreWorkers) -> Value {
    let projections: Vec<Value> = store.workers.iter().map(index_status::projection_json).collect();
    json!({
        "path": store.path, "engine": store.engine, "events": store.events,
        "disk_bytes": store.disk_bytes, "workers": projections, "nodes": store.nodes,
        "versions": store.versions, "grips": store.grips,
        "finder": store.finder, "finder_problems": store.finder_problems,
        "problem": Some(&store.problem).filter(|why| !why.is_empty()),
    })
}

/// Verifies the store files, and the contents against the events.
pub fn verify_stores(context: &CommandContext, filter: &ProjectFilter) -> Result<Outcome> {
    let project = resolve_filter(context, filter)?;
    let (files, stores) = context.block_on(async {
        let client = context.connector.connect(StartPolicy::IfNotRunning).await?;
        let request = v1::VerifyStoresRequest { project: project.clone(), files_only: false };
        let files = client.verify_stores(request).await?;
        Ok((files, client.verify_contents(v1::VerifyContentsRequest { project }).await?))
    })?;
    let is_fine = files.damage.is_empty()
        && stores.iter().all(|store| store.finding_count == 0 && store.problem.is_empty());
    if context.json {
        let each: Vec<Value> = stores.iter().map(verification_json).collect();
        let damage = damage::damage_json(&files.damage);
        context.print_json(&json!({"ok": is_fine, "stores": each, "damage": damage}))?;
    } else {
        damage::print_damage(&mut tome_terminal::stdout().lock(), &files.damage)?;
        print_verification(&stores, is_fine)?;
    }
    Ok(if is_fine { Outcome::Done } else { Outcome::Failed })
}

fn print_verification(stores: &[v1::StoreChecked], is_fine: bool) -> Result<()> {
    let mut out = WrappedWriter::new(tome_terminal::stdout().lock(), 5);
    for store in stores {
        for finding in &store.findings {
            writeln!(out, "{RED}bad{RESET}  {finding}  {DIM}{}{RESET}", store.store)?;
        }
        let more = store.finding_count.saturating_sub(store.findings.len() as u64);
        if more > 0 {
            writeln!(out, "     and {} more {DIM}{}{RESET}", format_count(more), store.store)?;
        }
        if !store.problem.is_empty() {
            writeln!(out, "{RED}not checked{RESET}  {}: {}", store.store, store.problem)?;
        }
    }
    let sum = |of: fn(&v1::StoreChecked) -> u64| stores.iter().map(of).sum::<u64>();
    let is_wrong = stores.iter().any(|store| store.finding_count > 0);
    let is_unchecked = stores.iter().any(|store| !store.problem.is_empty());
    let verdict = match (is_fine, is_wrong, is_unchecked) {
        (true, ..) => format!("{GREEN}no problems found{RESET}"),
        (_, true, _) => "run `tome admin rebuild-toc`".to_owned(),
        (_, _, true) => "not all contents could be checked".to_owned(),
        _ => "the contents match the events".to_owned(),
    };
    writeln!(
        out,
        "checked {} and {} in {}: {verdict}",
        format_counted(sum(|store| store.nodes), "node", "nodes"),
        format_counted(sum(|store| store.grips), "source", "sources"),
        format_counted(stores.len() as u64, "store", "stores")
    )?;
    Ok(())
}

fn verification_json(store: &v1::StoreChecked) -> Value {
    json!({
        "store": store.store, "nodes": store.nodes, "grips": store.grips,
        "finding_count": store.finding_count, "findings": store.findings,
        "problem": Some(&store.problem).filter(|why| !why.is_empty()),
    })
}

/// The result of rebuilding a projection of one store.
pub trait RebuildResult {
    /// The store's name, its number, and the total number of stores.
    fn store_progress(&self) -> (&str, u32, u32);
    /// Why the rebuild failed; empty on success.
    fn problem(&self) -> &str;
    /// A short summary of the changes.
    fn describe_changes(&self) -> String;
    fn to_json(&self) -> Value;
}

/// Prints each store's result as it arrives; `nothing` is printed if there are no stores.
pub async fn print_rebuilds<T: RebuildResult>(
    context: &CommandContext,
    mut stores: tonic::Streaming<T>,
    nothing: &str,
) -> Result<Outcome> {
    let (mut is_bad, mut is_empty) = (false, true);
    while let Some(store) = stores.message().await.map_err(tome_proto::ClientError::from)? {
        is_bad |= !store.problem().is_empty();
        is_empty = false;
        if context.json {
            context.print_json(&store.to_json())?;
            continue;
        }
        let (name, number, all) = store.store_progress();
        let label = format!("{DIM}[{number}/{all}]{RESET} {name}");
        let mut out = tome_terminal::stdout().lock();
        match store.problem() {
            "" => writeln!(out, "{label}: {}", store.describe_changes())?,
            problem => writeln!(out, "{label}: {RED}failed:{RESET} {problem}")?,
        }
    }
    if is_empty && !context.json {
        writeln!(tome_terminal::stderr(), "{nothing}")?;
    }
    Ok(if is_bad { Outcome::Failed } else { Outcome::Done })
}

/// Rebuilds the contents and prints what changed.
pub fn rebuild_toc(context: &CommandContext, filter: &ProjectFilter) -> Result<Outcome> {
    let request = v1::RebuildContentsRequest { project: resolve_filter(context, filter)? };
    context.block_on(async {
        let client = context.connector.connect(StartPolicy::IfNotRunning).await?;
        let stores = client.rebuild_contents(request).await?;
        print_rebuilds(context, stores, "no events yet").await
    })
}

impl RebuildResult for v1::RebuildContentsResponse {
    fn store_progress(&self) -> (&str, u32, u32) {
        (&self.store, self.stores_done, self.stores)
    }

    fn problem(&self) -> &str {
        &self.problem
    }

    fn describe_changes(&self) -> String {
        let compared = format_counted(self.compared, "node", "nodes");
        let sessions = format_counted(self.sessions, "session", "sessions");
        let changes = match (self.written, self.removed) {
            (0, 0) => "nothing changed".to_owned(),
            (written, removed) => {
                format!("{} written, {} removed", format_count(written), format_count(removed))
            }
        };
        format!("{compared} of {sessions}; {changes}")
    }

    fn to_json(&self) -> Value {
        json!({
            "store": self.store, "stores_done": self.stores_done, "stores": self.stores,
            "sessions": self.sessions, "compared": self.compared, "written": self.written,
            "removed": self.removed,
            "problem": Some(&self.problem).filter(|why| !why.is_empty()),
        })
    }
}

pub fn resolve_filter(context: &CommandContext, filter: &ProjectFilter) -> Result<String> {
    match &filter.project {
        Some(folder) => Ok(resolve_project(context, Some(folder))?.unwrap_or_default()),
        None => Ok(String::new()),
    }
}
