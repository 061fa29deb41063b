//! The count of events that could be handed to nobody: neither daemon nor spool would take them.
//!
//! One line of fixed width, so that it can be written over in place when the disk is full:
//! `count:20 digits, space, last_ms:15 digits, newline`. It stands in `run/lost`, which the daemon
//! creates ahead of time, or, when the home cannot be written at all, in a folder of the user's
//! own outside it.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tome_engine::Home;
use tome_model::Millis;

use crate::platform;

/// How many events were lost, and when the last one was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lost {
    /// How many.
    pub events: u64,
    /// When the last one was lost.
    pub last: Option<Millis>,
}

/// Creates the file, so that it is there when nothing can be created any more.
pub fn prepare(home: &Home) -> std::io::Result<()> {
    let mut file = open(&inside(home))?;
    if file.metadata()?.len() == 0 { write(&mut file, Lost::default()) } else { Ok(()) }
}

/// Counts lost events.
pub fn count(home: &Home, events: u64, now: Millis) {
    if add(&inside(home), events, now).is_err() {
        let folder = platform::side_folder(home.root());
        // If this fails as well, nobody is left to be told.
        let _ = platform::own_folder(&folder).and_then(|()| add(&folder.join("lost"), events, now));
    }
}

/// What was counted, in all places.
pub fn read(home: &Home) -> Lost {
    let mut lost = Lost::default();
    for path in places(home) {
        let here = read_file(&path);
        lost = Lost { events: lost.events + here.events, last: lost.last.max(here.last) };
    }
    lost
}

/// Starts counting anew: the person has seen the count.
pub fn reset(home: &Home) -> std::io::Result<()> {
    for path in places(home) {
        if path.exists() {
            write(&mut open(&path)?, Lost::default())?;
        }
    }
    Ok(())
}

/// Everywhere that a hook may have counted. A folder that is not this user's own does not count.
fn places(home: &Home) -> impl Iterator<Item = PathBuf> {
    let outside = platform::side_folders(home.root()).into_iter();
    let outside = outside.filter(|folder| folder.exists() && platform::own_folder(folder).is_ok());
    std::iter::once(inside(home)).chain(outside.map(|folder| folder.join("lost")))
}

fn inside(home: &Home) -> PathBuf {
    home.run().join("lost")
}

fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

fn add(path: &Path, events: u64, now: Millis) -> std::io::Result<()> {
    let mut file = open(path)?;
    file.lock()?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let so_far = parse(&text);
    write(&mut file, Lost { events: so_far.events + events, last: Some(now) })
}

fn write(file: &mut File, lost: Lost) -> std::io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(
        format!("{:020} {:015}\n", lost.events, lost.last.unwrap_or_default().0).as_bytes(),
    )?;
    file.sync_data()
}

fn read_file(path: &Path) -> Lost {
    parse(&std::fs::read_to_string(path).unwrap_or_default())
}

fn parse(text: &str) -> Lost {
    let mut numbers = text.split_whitespace().map(|word| word.parse().unwrap_or(0));
    let events = numbers.next().unwrap_or(0);
    let last = numbers.next().filter(|ms| *ms > 0).map(Millis);
    Lost { events, last }
}
