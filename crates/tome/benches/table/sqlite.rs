//! Baseline: SQLite with a write-ahead log and `synchronous = FULL`, one table with the columns of
//! an event, indexed by id and by session and time.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use rusqlite::{Connection, params};
use tome_proto::v1;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS events (
        id TEXT PRIMARY KEY, at_ms INTEGER NOT NULL, arrived_ms INTEGER NOT NULL, session_id TEXT NOT NULL,
        agent TEXT NOT NULL, project TEXT NOT NULL, cwd TEXT NOT NULL, kind TEXT NOT NULL, role TEXT NOT NULL,
        text TEXT NOT NULL, tool_name TEXT, tool_input TEXT, tool_output TEXT, meta TEXT
    );
    CREATE INDEX IF NOT EXISTS by_session ON events (session_id, at_ms);";

const INSERT: &str = "INSERT OR IGNORE INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";

pub struct Sqlite(Connection);

impl Sqlite {
    pub fn open(path: &Path) -> Result<Self> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(30))?;
        let _: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
        connection.execute_batch("PRAGMA synchronous = FULL;")?;
        connection.execute_batch(SCHEMA)?;
        Ok(Self(connection))
    }

    pub fn append(&self, event: &v1::Draft) -> Result<()> {
        insert(&self.0, event)
    }

    /// Appends events in one transaction.
    pub fn append_all(&mut self, events: &[v1::Draft]) -> Result<()> {
        let transaction = self.0.transaction()?;
        for event in events {
            insert(&transaction, event)?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Adds an index for reads by time. Not present while appends are measured.
    pub fn index_time(&self) -> Result<()> {
        Ok(self.0.execute_batch("CREATE INDEX IF NOT EXISTS by_time ON events (at_ms);")?)
    }

    /// Reads the events of a time range; returns their count and the bytes of their texts.
    pub fn read(&self, from_ms: u64, to_ms: u64) -> Result<(u64, u64)> {
        let mut statement = self.0.prepare_cached(
            "SELECT * FROM events WHERE at_ms >= ?1 AND at_ms < ?2 ORDER BY at_ms",
        )?;
        let mut rows = statement.query(params![from_ms.cast_signed(), to_ms.cast_signed()])?;
        let (mut count, mut bytes) = (0, 0);
        while let Some(row) = rows.next()? {
            let event = read_row(row)?;
            count += 1;
            bytes += event.text.len() as u64
                + event.tool.as_ref().map_or(0, |tool| tool.output_json.len() as u64);
        }
        Ok((count, bytes))
    }

    /// Checkpoints the log and vacuums the database.
    pub fn pack(&self) -> Result<()> {
        Ok(self.0.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")?)
    }
}

fn insert(connection: &Connection, event: &v1::Draft) -> Result<()> {
    let mut statement = connection.prepare_cached(INSERT)?;
    let tool = event.tool.as_ref();
    statement.execute(params![
        event.id,
        event.at_ms.cast_signed(),
        event.at_ms.cast_signed(),
        event.session_id,
        event.agent,
        event.project,
        event.cwd,
        event.kind,
        event.role,
        event.text,
        tool.map(|tool| &tool.name),
        tool.map(|tool| &tool.input_json),
        tool.map(|tool| &tool.output_json),
        event.meta_json,
    ])?;
    Ok(())
}

fn read_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<v1::Event> {
    let tool = match row.get::<_, Option<String>>(10)? {
        Some(name) => Some(v1::Tool { name, input_json: row.get(11)?, output_json: row.get(12)? }),
        None => None,
    };
    Ok(v1::Event {
        id: row.get(0)?,
        at_ms: row.get::<_, i64>(1)?.cast_unsigned(),
        arrived_ms: row.get::<_, i64>(2)?.cast_unsigned(),
        session_id: row.get(3)?,
        agent: row.get(4)?,
        project: row.get(5)?,
        cwd: row.get(6)?,
        kind: row.get(7)?,
        role: row.get(8)?,
        text: row.get(9)?,
        tool,
        meta_json: row.get(13)?,
    })
}
