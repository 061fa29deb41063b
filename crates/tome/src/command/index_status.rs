//! Search indexes and other projections in the output of `tome status`, `tome doctor` and `tome admin
//! status`.

use std::io::Write;

use serde_json::{Value, json};
use tome_proto::v1;
use tome_terminal::{
    DIM, RESET, YELLOW, format_bytes, format_count, format_counted, format_span, print_table,
};

/// Beginning of the names of indexes with deep vectors.
const DEEP: &str = "deep/";

/// Progress of the deep vectors, the slowest to come; `None` if they are complete.
fn deep_progress(finder: &v1::Finder) -> Option<String> {
    let indexes = finder.index_sets.iter().flat_map(|set| &set.indexes);
    let (mut done, mut behind) = (0, 0);
    for index in indexes.filter(|index| index.name == "deep/events") {
        done += index.cursor;
        behind += index.behind;
    }
    let all = format_counted(done + behind, "event", "events");
    (behind > 0).then(|| format!("indexing: {} of {all}", format_count(done)))
}

/// Events that some index of keywords has not read yet; `None` if there are none.
fn keyword_progress(finder: &v1::Finder) -> Option<String> {
    let behind = |set: &v1::FinderIndexSet| {
        let indexes = set.indexes.iter().filter(|index| !index.name.starts_with(DEEP));
        indexes.map(|index| index.behind).max().unwrap_or(0)
    };
    let left: u64 = finder.index_sets.iter().map(behind).sum();
    (left > 0).then(|| format!("indexing: {} to go", format_counted(left, "entry", "entries")))
}

/// Summarizes all indexes in one line.
pub fn summarize_indexes(finder: &v1::Finder) -> String {
    let indexes = || finder.index_sets.iter().flat_map(|set| &set.indexes);
    let entries: u64 = indexes().filter_map(|index| index.entries).sum();
    let size: u64 = indexes().map(|index| index.disk_bytes).sum();
    let sent = finder.remote.as_ref().map_or_else(String::new, |remote| {
        format!(", {} sent since start", format_counted(remote.texts, "text", "texts"))
    });
    let entries = format_counted(entries, "entry", "entries");
    format!("{entries}, {}, vectors by {}{sent}", format_bytes(size), finder.embedder)
}

/// Lists broken indexes, one line each.
fn list_index_problems(finder: &v1::Finder) -> Vec<String> {
    finder.index_sets.iter().flat_map(|set| list_set_problems(finder, set)).collect()
}

fn list_set_problems(finder: &v1::Finder, set: &v1::FinderIndexSet) -> Vec<String> {
    let of = set_name(set);
    let broken = set.indexes.iter().filter(|index| !index.problem.is_empty());
    let mut lines: Vec<String> =
        broken.map(|index| format!("{of}, {}: {}", index.name, index.problem)).collect();
    lines.extend(set_problems(finder, set).map(|problem| format!("{of}: {problem}")));
    lines
}

/// Problems of one index set, without the embedding endpoint's problem, which is reported once for all.
pub fn set_problems<'a>(
    finder: &'a v1::Finder,
    set: &'a v1::FinderIndexSet,
) -> impl Iterator<Item = &'a str> {
    let endpoint_problem = finder.remote.as_ref().map_or("", |remote| remote.problem.as_str());
    let is_new =
        move |problem: &&str| endpoint_problem.is_empty() || !problem.contains(endpoint_problem);
    set.problems.iter().map(String::as_str).filter(is_new)
}

/// The project of an index set, or its path if it belongs to no project.
pub fn set_name(set: &v1::FinderIndexSet) -> &str {
    if set.project.is_empty() { &set.path } else { &set.project }
}

/// Why the embedding endpoint computes no vectors, and when the next attempt is due.
pub fn endpoint_problem(finder: &v1::Finder) -> Option<String> {
    let remote = finder.remote.as_ref().filter(|remote| !remote.problem.is_empty())?;
    let again = match remote.retry_in_ms {
        0 => String::new(),
        retry_in_ms => format!(" (retry in {})", format_span(retry_in_ms)),
    };
    Some(format!("{}{again}", remote.problem))
}

/// Prints the index lines of `tome status`.
pub fn print_indexes(out: &mut dyn Write, finder: &v1::Finder) -> std::io::Result<()> {
    writeln!(out, "indexes  {}", summarize_indexes(finder))?;
    if let Some(problem) = endpoint_problem(finder) {
        writeln!(out, "         {YELLOW}no new vectors:{RESET} {problem}")?;
    }
    if let Some(progress) = deep_progress(finder).or_else(|| keyword_progress(finder)) {
        writeln!(out, "         {DIM}{progress}{RESET}")?;
    }
    for trouble in list_index_problems(finder) {
        writeln!(out, "         {DIM}{trouble}{RESET}")?;
    }
    Ok(())
}

/// Prints projections as a table, followed by their problems.
pub fn print_projections(out: &mut dyn Write, projections: &[v1::Worker]) -> std::io::Result<()> {
    let row = |projection: &v1::Worker| {
        vec![
            display_name(&projection.name).to_owned(),
            format_count(projection.cursor),
            format_count(projection.behind),
            projection.entries.map(format_count).unwrap_or_default(),
            Some(projection.disk_bytes)
                .filter(|size| *size > 0)
                .map(format_bytes)
                .unwrap_or_default(),
            projection.embedder.clone(),
        ]
    };
    let rows: Vec<Vec<String>> = projections.iter().map(row).collect();
    let heads = ["projection", ">cursor", ">behind", ">entries", ">disk", "embedder"];
    print_table(out, &heads, &rows)?;
    for projection in projections.iter().filter(|projection| !projection.problem.is_empty()) {
        let name = display_name(&projection.name);
        writeln!(out, "         {YELLOW}{name}:{RESET} {}", projection.problem)?;
    }
    Ok(())
}

/// The name of a projection in words of the glossary. Two have an older name in their stored cursors.
fn display_name(stored: &str) -> &str {
    match stored {
        "tally" => "session-stats",
        "copy" => "transcript-copies",
        other => other,
    }
}

pub fn projection_json(projection: &v1::Worker) -> Value {
    let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    json!({
        "name": display_name(&projection.name), "cursor": projection.cursor, "behind": projection.behind,
        "entries": projection.entries, "disk_bytes": projection.disk_bytes,
        "embedder": given(&projection.embedder), "problem": given(&projection.problem),
    })
}

pub fn indexes_json(finder: &v1::Finder) -> Value {
    let set = |set: &v1::FinderIndexSet| {
        let indexes: Vec<Value> = set.indexes.iter().map(projection_json).collect();
        json!({
            "project": set.project, "path": set.path, "indexes": indexes,
            "problems": set.problems,
        })
    };
    let remote = finder.remote.as_ref().map(|remote| {
        json!({
            "texts": remote.texts, "problem": Some(&remote.problem).filter(|why| !why.is_empty()),
            "retry_in_ms": remote.retry_in_ms,
        })
    });
    json!({
        "embedder": finder.embedder, "endpoint": remote,
        "index_sets": finder.index_sets.iter().map(set).collect::<Vec<_>>(),
    })
}
