//! The notebook: writes, reads and the index with 10, 1,000 and 10,000 notes.
//!
//! The baseline writes a note just as safely and then rebuilds its index by reading every note, as
//! a notebook without an inventory would. All sizes take turns, so that disturbances affect all of
//! them.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, ensure};
use tempfile::TempDir;
use tome_model::{Scope, SystemClock};
use tome_notebook::{Actor, Author, NoteHeader, NoteType, Notebook};
use tome_proto::v1::CallToolRequest;

use super::daemon::BenchDaemon;
use super::report::{Aim, FigureUnit, Row};
use super::timing::{Timings, ms};
use super::{Bench, Scale};

/// A notebook of one size, with the same notes for the baseline.
struct NotebookBench {
    notes: usize,
    folder: TempDir,
    notebook: Notebook,
    open_ms: f64,
    build_ms: f64,
    write: Timings,
    read: Timings,
    baseline: Timings,
}

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let rounds = bench.scale.pick(200, 40);
    let mut shelves = Vec::new();
    for notes in [10, 1_000, 10_000] {
        shelves.push(NotebookBench::build(notes)?);
    }
    for round in 0..rounds {
        for shelf in &mut shelves {
            shelf.write_and_read(round)?;
            // Reading ten thousand files is slow, so the baseline runs less often.
            if round % 10 == 0 {
                shelf.write_naively(round)?;
            }
        }
    }
    let mut rows = Vec::new();
    for shelf in &mut shelves {
        shelf.verify(bench.scale)?;
        let notes = shelf.notes;
        let row =
            |what: &str, ms: f64| Row::new(format!("{what}, {notes} notes"), FigureUnit::Ms, ms);
        let naive = shelf.baseline.percentile(50);
        let write =
            row("write, p50", shelf.write.percentile(50)).against("reading every note", naive);
        rows.push(if notes == 10_000 { write.aim(Aim::Under(5.0)) } else { write });
        rows.push(row("write, p99", shelf.write.percentile(99)));
        rows.push(row("read, p50", shelf.read.percentile(50)));
        rows.push(row("open and notice all", shelf.open_ms));
        rows.push(row("index, whole", shelf.build_ms));
    }
    rows.push(measure_over_socket(bench, rounds)?);
    if let [_, thousand, ten_thousand] = &mut shelves[..] {
        let ratio = ten_thousand.write.percentile(50) / thousand.write.percentile(50);
        let what = "write with 10,000 notes over 1,000";
        rows.push(Row::new(what, FigureUnit::Times, ratio).aim(Aim::Under(2.0)));
    }
    Ok(rows)
}

/// The full path of a tool call: socket, daemon, notebook in a repository.
fn measure_over_socket(bench: &Bench, rounds: usize) -> Result<Row> {
    let world = super::world();
    let project = world.folder("project");
    let notes = 10_000;
    write_notes(&world.folder("project/.memory"), notes)?;
    let mut times = Timings::default();
    bench.block_on(async {
        let (_daemon, client) = BenchDaemon::start(&world).await?;
        for round in 0..=rounds {
            let arguments = serde_json::json!({
                "path": format!("note_{:05}.md", round * 7 % notes), "name": format!("Note {round}"),
                "description": format!("what it said in round {round}"), "type": "project", "content": "- the body",
            });
            let request = CallToolRequest {
                name: "memory_write".to_owned(),
                arguments_json: arguments.to_string(),
                cwd: project.to_string_lossy().into_owned(),
                agent: "bench".to_owned(),
                ..CallToolRequest::default()
            };
            let begun = Instant::now();
            let answer = client.call_tool(request).await?;
            ensure!(!answer.is_error, "{}", answer.text);
            // The first call opens the notebook and reads every note.
            if round > 0 {
                times.add(begun.elapsed());
            }
        }
        Ok(())
    })?;
    let what = format!("memory_write over the socket, p50, {notes} notes");
    Ok(Row::new(what, FigureUnit::Ms, times.percentile(50)).aim(Aim::Under(5.0)))
}

fn write_notes(folder: &Path, notes: usize) -> Result<()> {
    for number in 0..notes {
        let path = folder.join(format!("note_{number:05}.md"));
        File::create(path)?.write_all(note_text(number, "as it was").as_bytes())?;
    }
    Ok(())
}

impl NotebookBench {
    fn build(notes: usize) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        for name in ["tome", "naive"] {
            std::fs::create_dir(folder.path().join(name))?;
            write_notes(&folder.path().join(name), notes)?;
        }
        let root = folder.path().join("tome");
        let notebook = Notebook::new(Scope::Project, root, Arc::new(SystemClock));
        let begun = Instant::now();
        ensure!(notebook.list_notes()?.len() == notes, "not every note was listed");
        let open_ms = ms(begun.elapsed());
        // The first write adds all notes to the history.
        notebook.write_note(&author(), "first.md", "x", None, None)?;
        let begun = Instant::now();
        ensure!(notebook.render_index()?.lines().count() > notes, "the index is short");
        let build_ms = ms(begun.elapsed());
        let (write, read, baseline) = (Timings::default(), Timings::default(), Timings::default());
        Ok(Self { notes, folder, notebook, open_ms, build_ms, write, read, baseline })
    }

    fn write_and_read(&mut self, round: usize) -> Result<()> {
        let path = format!("note_{:05}.md", round * 7 % self.notes);
        // The description changes too, so that every write changes the index.
        let typed = NoteHeader {
            name: format!("Note {round}"),
            description: format!("what it said in round {round}"),
            note_type: NoteType::Project,
        };
        let begun = Instant::now();
        self.notebook.write_note(&author(), &path, "- the body", Some(&typed), None)?;
        self.write.add(begun.elapsed());
        let begun = Instant::now();
        let note = self.notebook.read_note(&path)?;
        self.read.add(begun.elapsed());
        ensure!(note.text.contains(&typed.description), "the note was not written");
        Ok(())
    }

    /// Baseline: temporary file, sync, rename, sync; then an index built by reading every note.
    fn write_naively(&mut self, round: usize) -> Result<()> {
        let folder = self.folder.path().join("naive");
        let begun = Instant::now();
        let path = folder.join(format!("note_{:05}.md", round * 7 % self.notes));
        write_durably(&folder, &path, note_text(round, "again").as_bytes())?;
        let mut paths: Vec<_> = std::fs::read_dir(&folder)?.flatten().map(|at| at.path()).collect();
        paths.sort();
        let mut index = "# Memory\n\n## Project\n".to_owned();
        for path in paths.iter().filter(|path| !path.ends_with("MEMORY.md")) {
            let text = std::fs::read_to_string(path)?;
            let field = |key: &str| {
                text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default().to_owned()
            };
            let (name, about) = (field("name: "), field("description: "));
            writeln!(index, "- [{name}]({}) - {about}", path.display())?;
        }
        write_durably(&folder, &folder.join("MEMORY.md"), index.as_bytes())?;
        self.baseline.add(begun.elapsed());
        Ok(())
    }

    /// Verifies that the writes are stored and indexed.
    fn verify(&self, scale: Scale) -> Result<()> {
        let index = std::fs::read_to_string(self.folder.path().join("tome/MEMORY.md"))?;
        ensure!(index == self.notebook.render_index()?, "the index on disk is not the notebook's");
        let last = scale.pick(199, 39);
        ensure!(index.contains(&format!("what it said in round {last}")), "the index is behind");
        Ok(())
    }
}

fn write_durably(folder: &Path, path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    File::open(folder)?.sync_all()?;
    Ok(())
}

fn author() -> Author {
    let who = Actor::Agent { agent: "bench".to_owned(), session: None };
    Author { who, tool: "memory_write".to_owned() }
}

fn note_text(number: usize, subject: &str) -> String {
    format!(
        "---\nname: Note {number}\ndescription: what number {number} says, {subject}, in a line\ntype: project\nupdated: 2026-11-15\n---\n\n{}",
        "- a line of the body of this note, as long as such lines are\n".repeat(12)
    )
}
