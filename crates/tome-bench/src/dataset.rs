//! Reads a data set: `docs.jsonl`, `queries.jsonl` and `qrels.tsv` in one folder.
//!
//! Any invalid line is an error with file and line number: a score over part of a data set would be
//! meaningless.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use tome_terminal::CommandError;

const DOCUMENTS: &str = "docs.jsonl";
const QUERIES: &str = "queries.jsonl";
const RELEVANCE: &str = "qrels.tsv";

pub struct DataSet {
    /// The folder's name.
    pub name: String,
    pub documents: Vec<BenchDocument>,
    pub queries: Vec<BenchQuery>,
    /// Relevant documents that are missing from the data set and thus cannot be found.
    pub missing: usize,
}

#[derive(Debug, Deserialize)]
pub struct BenchDocument {
    #[serde(deserialize_with = "deserialize_text")]
    pub id: String,
    pub text: String,
    #[serde(default, deserialize_with = "deserialize_text")]
    pub group: String,
    /// Time of the document, in any format that `time_formats` parses.
    #[serde(default, deserialize_with = "deserialize_text")]
    pub ts: String,
}

#[derive(Debug, Deserialize)]
pub struct BenchQuery {
    #[serde(deserialize_with = "deserialize_text")]
    pub id: String,
    pub text: String,
    #[serde(default, deserialize_with = "deserialize_text")]
    pub group: String,
    #[serde(default, rename = "type", deserialize_with = "deserialize_text")]
    pub kind: String,
    /// Ids of the relevant documents; empty if the query has no answer.
    #[serde(skip)]
    pub gold: BTreeSet<String>,
}

/// Finds data sets: the folder itself, or its subfolders, sorted by name.
pub fn find_data_sets(data: &Path) -> Result<Vec<PathBuf>> {
    let is_set = |folder: &Path| {
        [DOCUMENTS, QUERIES, RELEVANCE].iter().any(|name| folder.join(name).exists())
    };
    if is_set(data) {
        return Ok(vec![data.to_owned()]);
    }
    let entries = std::fs::read_dir(data).map_err(|error| {
        CommandError::bad_input(format!("cannot read {}: {error}", data.display()))
    })?;
    let mut found: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| is_set(path)).collect();
    found.sort();
    if found.is_empty() {
        let problem = format!("no data set in {}", data.display());
        let hint = format!("a data set is a folder with {DOCUMENTS}, {QUERIES} and {RELEVANCE}");
        return Err(CommandError::bad_input(problem).with_hint(hint).into());
    }
    Ok(found)
}

impl DataSet {
    pub fn read(folder: &Path) -> Result<Self> {
        let name = folder.canonicalize().ok();
        let name = name.as_deref().unwrap_or(folder).file_name();
        let documents: Vec<BenchDocument> = read_json_lines(&folder.join(DOCUMENTS))?;
        let mut queries: Vec<BenchQuery> = read_json_lines(&folder.join(QUERIES))?;
        read_relevance(&folder.join(RELEVANCE), &mut queries)?;
        let missing = count_missing_answers(&documents, &queries);
        Ok(Self {
            name: name.unwrap_or_default().to_string_lossy().into_owned(),
            documents,
            queries,
            missing,
        })
    }
}

/// Counts relevant documents that are missing from their query's group.
fn count_missing_answers(documents: &[BenchDocument], queries: &[BenchQuery]) -> usize {
    let there: BTreeSet<(&str, &str)> =
        documents.iter().map(|one| (one.group.as_str(), one.id.as_str())).collect();
    let answers =
        queries.iter().flat_map(|query| query.gold.iter().map(|id| (query.group.as_str(), id)));
    answers.filter(|(group, id)| !there.contains(&(*group, id.as_str()))).count()
}

fn read_json_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let mut read = Vec::new();
    for (number, line) in numbered_lines(&read_text(path)?) {
        let one = serde_json::from_str(line).map_err(|error| {
            let problem = error.to_string();
            // serde_json always reports line 1; replace its position with the file's line number.
            line_error(path, number, problem.split(" at line 1 column").next().unwrap_or_default())
        })?;
        read.push(one);
    }
    Ok(read)
}

/// Adds the relevant documents to each query.
fn read_relevance(path: &Path, queries: &mut [BenchQuery]) -> Result<()> {
    let mut indexes: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, query) in queries.iter().enumerate() {
        indexes.entry(query.id.clone()).or_default().push(index);
    }
    for (number, line) in numbered_lines(&read_text(path)?) {
        let fields: Vec<&str> = line.split('\t').map(str::trim).collect();
        let [query, document, relevance] = fields.as_slice() else {
            let problem = "expected query id, document id and relevance, separated by tabs";
            return Err(line_error(path, number, problem).into());
        };
        let relevance: f64 = relevance.parse().map_err(|_| {
            line_error(path, number, &format!("the relevance {relevance:?} is not a number"))
        })?;
        let Some(indexes) = indexes.get(*query) else {
            return Err(line_error(path, number, &format!("unknown query {query:?}")).into());
        };
        for index in indexes.iter().filter(|_| relevance > 0.0) {
            if let Some(query) = queries.get_mut(*index) {
                query.gold.insert((*document).to_owned());
            }
        }
    }
    Ok(())
}

/// Iterates over non-empty lines with their numbers.
fn numbered_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = (1..).zip(text.trim_start_matches('\u{feff}').lines());
    numbered.filter(|(_, line)| !line.trim().is_empty())
}

fn read_text(path: &Path) -> Result<String, CommandError> {
    let bytes = std::fs::read(path).map_err(|error| {
        CommandError::bad_input(format!("cannot read {}: {error}", path.display()))
    })?;
    String::from_utf8(bytes)
        .map_err(|_| CommandError::bad_input(format!("{} is not UTF-8", path.display())))
}

fn line_error(path: &Path, number: usize, problem: &str) -> CommandError {
    CommandError::bad_input(format!("{}:{number}: {problem}", path.display()))
}

/// Deserializes a string, accepting numbers as text and null as empty.
fn deserialize_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    })
}
