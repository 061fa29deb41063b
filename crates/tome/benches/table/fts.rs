//! Baseline of recall: SQLite's full-text index (FTS5) over the same texts, ranked by BM25.
//!
//! A contentless index, merged into one segment and read through a memory map, which is the fastest
//! configuration.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rusqlite::{Connection, params};

use crate::corpus::Corpus;

/// Events per transaction.
const BATCH_EVENTS: usize = 1_000;

pub struct Fts(Connection);

impl Fts {
    /// Builds an index of the first events of the corpus. Returns the time, excluding text
    /// generation.
    pub fn build(path: &Path, corpus: &Corpus, count: u64) -> Result<(Self, Duration)> {
        let connection = Connection::open(path)?;
        let _: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
        connection.execute_batch(
            "PRAGMA synchronous = NORMAL; PRAGMA mmap_size = 4294967296;
             CREATE VIRTUAL TABLE said USING fts5(text, content='');",
        )?;
        let mut fts = Self(connection);
        let mut took = Duration::ZERO;
        for first in (0..count).step_by(BATCH_EVENTS) {
            let numbers = first..count.min(first + BATCH_EVENTS as u64);
            let texts: Vec<(u64, String)> = numbers.map(|n| (n, corpus.event_text(n))).collect();
            let begun = Instant::now();
            fts.add(&texts)?;
            took += begun.elapsed();
        }
        let begun = Instant::now();
        fts.0.execute_batch(
            "INSERT INTO said(said) VALUES('optimize'); PRAGMA wal_checkpoint(TRUNCATE);",
        )?;
        Ok((fts, took + begun.elapsed()))
    }

    fn add(&mut self, texts: &[(u64, String)]) -> Result<()> {
        let transaction = self.0.transaction()?;
        {
            let mut insert =
                transaction.prepare_cached("INSERT INTO said(rowid, text) VALUES(?1, ?2)")?;
            for (n, text) in texts {
                insert.execute(params![n.cast_signed() + 1, text])?;
            }
        }
        Ok(transaction.commit()?)
    }

    /// Queries the ten best matches for any of the words; returns the time.
    pub fn search(&self, query: &str) -> Result<Duration> {
        let words: Vec<String> =
            query.split_whitespace().map(|word| format!("\"{word}\"")).collect();
        let begun = Instant::now();
        let mut found = self.0.prepare_cached(
            "SELECT rowid, bm25(said) FROM said WHERE said MATCH ?1 ORDER BY rank LIMIT 10",
        )?;
        let rows = found.query_map([words.join(" OR ")], |row| row.get::<_, i64>(0))?;
        let rows: Vec<i64> = rows.collect::<Result<_, _>>()?;
        let took = begun.elapsed();
        ensure!(!rows.is_empty(), "SQLite finds nothing for {query:?}");
        Ok(took)
    }
}
