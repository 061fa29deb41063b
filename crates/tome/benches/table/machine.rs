//! Facts about the machine that put figures into perspective: cores, load, file system, and the
//! time of a synced append. Read from `/proc`; unknown on other systems.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::timing::Timings;

pub fn describe_machine(folder: &Path) -> Result<String> {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    Ok(format!(
        "{cores} cores, {} below {}; {}",
        file_system(folder),
        folder.display(),
        describe_load(folder)?,
    ))
}

/// Describes what changes during a run: load and disk latency.
pub fn describe_load(folder: &Path) -> Result<String> {
    let mut probe = SyncProbe::open(folder)?;
    let mut times = Timings::default();
    for _ in 0..200 {
        times.add(probe.append()?);
    }
    Ok(format!(
        "load {}, 1 KB append + fdatasync p50 {:.2} ms, p99 {:.2} ms",
        load_average(),
        times.percentile(50),
        times.percentile(99),
    ))
}

fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("unknown").to_owned()
}

/// Resident memory in megabytes of 1,000,000 bytes.
pub fn resident_mb(pid: u32) -> Option<f64> {
    memory_mb(pid, "VmRSS:")
}

/// The anonymous part of resident memory, which the system cannot drop.
pub fn anonymous_mb(pid: u32) -> Option<f64> {
    memory_mb(pid, "RssAnon:")
}

fn memory_mb(pid: u32, field: &str) -> Option<f64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    let kib: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

/// Disk usage of all files below a folder; holes do not count.
pub fn disk_bytes(folder: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
        .map(|(path, meta)| if meta.is_dir() { disk_bytes(&path) } else { meta.blocks() * 512 })
        .sum()
}

/// A growing file to which synced kilobytes are appended: the disk's own cost of a durable append.
/// A file of fixed length, such as a journal, may sync faster.
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

/// Returns the file system type of the longest mount point above a folder.
fn file_system(folder: &Path) -> String {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    let of = mounts.lines().filter_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let (at, kind) = (fields.next()?, fields.next()?);
        folder.starts_with(at).then(|| (at.len(), kind.to_owned()))
    });
    of.max().map_or_else(|| "unknown file system".to_owned(), |(_, kind)| kind)
}
