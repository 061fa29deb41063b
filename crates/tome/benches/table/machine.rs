//! What the machine is like, so that figures can be judged: cores, load, file system, and how long
//! it takes to make a kilobyte durable. Read from `/proc`; unknown elsewhere.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::timing::Times;

/// A sentence on the machine.
pub fn facts(folder: &Path) -> Result<String> {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    Ok(format!(
        "{cores} cores, {} below {}; {}",
        file_system(folder),
        folder.display(),
        now(folder)?,
    ))
}

/// What changes while the bench runs: the load, and how quick the disk is.
pub fn now(folder: &Path) -> Result<String> {
    let mut probe = SyncProbe::open(folder)?;
    let mut times = Times::default();
    for _ in 0..200 {
        times.add(probe.append()?);
    }
    Ok(format!(
        "load {}, 1 KB append + fdatasync p50 {:.2} ms, p99 {:.2} ms",
        load(),
        times.percentile(50),
        times.percentile(99),
    ))
}

/// The load average of the last minute.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("unknown").to_owned()
}

/// The memory that a process holds, in megabytes (of 1,000,000 bytes).
pub fn resident_mb(pid: u32) -> Option<f64> {
    memory_mb(pid, "VmRSS:")
}

/// What of it is the process's own, and no file that the system could drop from memory.
pub fn anonymous_mb(pid: u32) -> Option<f64> {
    memory_mb(pid, "RssAnon:")
}

fn memory_mb(pid: u32, field: &str) -> Option<f64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    let kib: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

/// The bytes that the files below a folder take up on disk; holes take none.
pub fn disk_bytes(folder: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
        .map(|(path, meta)| if meta.is_dir() { disk_bytes(&path) } else { meta.blocks() * 512 })
        .sum()
}

/// A growing file to which kilobytes are appended, each synced: what the disk asks for a durable
/// append by itself. A file of fixed length, such as a journal, may sync quicker.
pub struct SyncProbe(File);

impl SyncProbe {
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join("sync-probe");
        Ok(Self(OpenOptions::new().append(true).create(true).open(path)?))
    }

    pub fn append(&mut self) -> Result<Duration> {
        let start = Instant::now();
        self.0.write_all(&[b'x'; 1024])?;
        self.0.sync_data()?;
        Ok(start.elapsed())
    }
}

/// The type of the file system that holds a folder: that of the longest mount point above it.
fn file_system(folder: &Path) -> String {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    let of = mounts.lines().filter_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let (at, kind) = (fields.next()?, fields.next()?);
        folder.starts_with(at).then(|| (at.len(), kind.to_owned()))
    });
    of.max().map_or_else(|| "unknown file system".to_owned(), |(_, kind)| kind)
}
