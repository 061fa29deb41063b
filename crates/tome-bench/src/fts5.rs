//! The baseline: full-text search as `SQLite` has it built in, with the usual settings.
//!
//! Every group gets a table in memory (porter stemming, BM25), and a query is all of its words,
//! joined with OR. Anybody can build this in an hour, so recall should never do worse.

use std::collections::HashMap;

use anyhow::{Context as _, Result};
use rusqlite::{Connection, params};

use crate::dataset::DataSet;

const CREATE_TABLE: &str =
    "CREATE VIRTUAL TABLE document USING fts5(id UNINDEXED, text, tokenize='porter unicode61')";
const INSERT_DOCUMENT: &str = "INSERT INTO document VALUES (?1, ?2)";
const SEARCH: &str =
    "SELECT id FROM document WHERE document MATCH ?1 ORDER BY bm25(document) LIMIT ?2";

/// A full-text index per group.
pub struct Fts5Baseline {
    groups: HashMap<String, Connection>,
}

impl Fts5Baseline {
    pub fn build(set: &DataSet) -> Result<Self> {
        let mut groups: HashMap<String, Connection> = HashMap::new();
        for document in &set.documents {
            if !groups.contains_key(&document.group) {
                groups.insert(document.group.clone(), open_table()?);
            }
            if let Some(table) = groups.get(&document.group) {
                table
                    .prepare_cached(INSERT_DOCUMENT)?
                    .execute(params![document.id, document.text])
                    .with_context(|| format!("cannot index document {}", document.id))?;
            }
        }
        Ok(Self { groups })
    }

    /// Returns the ids of the best documents, best first.
    pub fn search(&self, group: &str, query: &str, limit: u32) -> Result<Vec<String>> {
        let words = match_expression(query);
        let Some(table) = self.groups.get(group).filter(|_| !words.is_empty()) else {
            return Ok(Vec::new());
        };
        let mut search = table.prepare_cached(SEARCH)?;
        let found = search.query_map(params![words, limit], |row| row.get(0))?;
        Ok(found.collect::<Result<_, _>>()?)
    }
}

fn open_table() -> Result<Connection> {
    let table = Connection::open_in_memory()?;
    table.execute_batch(CREATE_TABLE).context("cannot create a full-text table")?;
    Ok(table)
}

/// All words of a query, quoted, so that none is read as an operator.
fn match_expression(query: &str) -> String {
    let words = query.split(|c: char| !c.is_alphanumeric() && c != '_');
    let words = words.filter(|word| !word.is_empty()).map(|word| format!("\"{word}\""));
    words.collect::<Vec<_>>().join(" OR ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::BenchDocument;

    #[test]
    fn fts5_queries_are_stemmed_and_operators_are_plain_words() {
        let document = |group: &str, id: &str, text: &str| BenchDocument {
            id: id.to_owned(),
            text: text.to_owned(),
            group: group.to_owned(),
            ts: String::new(),
        };
        let documents = vec![
            document("a", "1", "the lexer reads tokens"),
            document("a", "2", "nothing of the kind"),
            document("b", "3", "a token of another group"),
        ];
        let set = DataSet { name: "set".to_owned(), documents, queries: Vec::new(), missing: 0 };
        let baseline = Fts5Baseline::build(&set).unwrap();
        assert_eq!(baseline.search("a", "token NOT \"found\"?", 10).unwrap(), ["1"]);
        assert_eq!(baseline.search("a", "the", 1).unwrap().len(), 1);
        assert!(baseline.search("a", "?!", 10).unwrap().is_empty());
        assert!(baseline.search("c", "token", 10).unwrap().is_empty());
    }
}
