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
/// The same for the other vectors.
const VECTORS: &str = "vectors/";

/// Events that an index of each set has read, and all events; `None` if it has read all of them.
fn event_progress(finder: &v1::Finder, name: &str) -> Option<String> {
    let indexes = finder.index_sets.iter().flat_map(|set| &set.indexes);
    let (mut done, mut behind) = (0, 0);
    for index in indexes.filter(|index| index.name == name) {
        done += index.cursor;
        behind += index.behind;
    }
    let all = format_counted(done + behind, "event", "events");
    (behind > 0).then(|| format!("{} of {all}", format_count(done)))
}

/// Entries without which something is not found yet; 0 if there are none. Vectors of a remote embedder may
/// take long, like deep ones: everything is found without them.
fn count_missing_entries(finder: &v1::Finder) -> u64 {
    let is_needed = |index: &&v1::Worker| {
        let is_remote = finder.remote.is_some() && index.name.starts_with(VECTORS);
        !is_remote && !index.name.starts_with(DEEP)
    };
    let behind = |set: &v1::FinderIndexSet| {
        set.indexes.iter().filter(is_needed).map(|index| index.behind).max().unwrap_or(0)
    };
    finder.index_sets.iter().map(behind).sum()
}

/// What is still being indexed, in words; `None` if nothing is.
fn describe_progress(finder: &v1::Finder) -> Option<String> {
    let vectors = match &finder.remote {
        Some(_) => event_progress(finder, "vectors/events").map(|done| format!("vectors: {done}")),
        None => event_progress(finder, "deep/events").map(|done| format!("deep vectors: {done}")),
    };
    let findable = match count_missing_entries(finder) {
        0 => vectors.as_ref().map(|_| "everything can be found".to_owned()),
        left => Some(format!("indexing: {} to go", format_counted(left, "entry", "entries"))),
    };
    Some([findable, vectors].into_iter().flatten().collect::<Vec<_>>().join("; "))
        .filter(|progress| !progress.is_empty())
}

/// Names of the embedders in use: the deep one, once there are vectors of it.
fn embedder_names(finder: &v1::Finder) -> String {
    let mut deep = finder.index_sets.iter().flat_map(|set| &set.indexes).filter(|index| {
        index.name == "deep/events" && index.cursor > 0 && !index.embedder.is_empty()
    });
    match deep.next() {
        Some(deep) => format!("{} and {}", finder.embedder, deep.embedder),
        None => finder.embedder.clone(),
    }
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
    format!("{entries}, {}, vectors by {}{sent}", format_bytes(size), embedder_names(finder))
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
    if let Some(progress) = describe_progress(finder) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn finder(indexes: [(&str, u64, u64); 3], is_remote: bool) -> v1::Finder {
        let worker = |(name, cursor, behind): (&str, u64, u64)| v1::Worker {
            name: name.to_owned(),
            cursor,
            behind,
            embedder: if name.starts_with(DEEP) { "tome-deep/1" } else { "" }.to_owned(),
            ..v1::Worker::default()
        };
        let indexes = indexes.map(worker).to_vec();
        v1::Finder {
            embedder: "tome-static/1".to_owned(),
            remote: is_remote.then(v1::RemoteEmbedder::default),
            index_sets: vec![v1::FinderIndexSet { indexes, ..v1::FinderIndexSet::default() }],
        }
    }

    #[test]
    fn progress_tells_what_can_be_found_from_better_vectors() {
        let progress = |bm25: u64, vectors: u64, deep: u64| {
            let index = |name, done: u64| (name, done, 683 - done);
            let indexes = [
                index("bm25/events", bm25),
                index("vectors/events", vectors),
                index("deep/events", deep),
            ];
            describe_progress(&finder(indexes, false))
        };
        assert_eq!(progress(683, 683, 683), None);
        let shown = progress(683, 683, 128).unwrap();
        assert_eq!(shown, "everything can be found; deep vectors: 128 of 683 events");
        let shown = progress(600, 583, 0).unwrap();
        assert_eq!(shown, "indexing: 100 entries to go; deep vectors: 0 of 683 events");
        let remote = [("bm25/events", 9, 0), ("vectors/events", 4, 5), ("vectors/pages", 0, 2)];
        let shown = describe_progress(&finder(remote, true)).unwrap();
        assert_eq!(shown, "everything can be found; vectors: 4 of 9 events");
    }

    #[test]
    fn the_deep_embedder_is_named_once_it_is_in_use() {
        let names = |done: u64| {
            let indexes =
                [("bm25/events", 9, 0), ("vectors/events", 9, 0), ("deep/events", done, 9 - done)];
            embedder_names(&finder(indexes, false))
        };
        assert_eq!(names(0), "tome-static/1");
        assert_eq!(names(4), "tome-static/1 and tome-deep/1");
    }
}
