//! Detects changes on disk without checking every file.
//!
//! On Linux, inotify queues a change beneath a watched folder before the system call that makes it
//! returns, so the drained queue is exact. Where inotify is not available or not reliable (another
//! system, a network file system, no watches left), every file is checked instead: slower but just
//! as correct.

use std::collections::BTreeSet;

/// Changes since the last call.
#[derive(Debug, PartialEq, Eq)]
pub enum FolderChanges {
    /// At most these files; an empty set means no changes.
    Files(BTreeSet<String>),
    /// Unknown: check everything.
    Unknown,
}

#[cfg(target_os = "linux")]
pub use linux::FolderWatch;
#[cfg(not(target_os = "linux"))]
pub use nowhere::FolderWatch;

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::{BTreeSet, HashMap};
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::{Path, PathBuf};

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
    use rustix::io::Errno;

    use super::FolderChanges;

    /// Magic numbers of file systems whose every change passes through this kernel: ext, xfs,
    /// btrfs, tmpfs, f2fs, zfs, overlayfs, bcachefs. Changes made by another machine to a network
    /// file system are never reported.
    const LOCAL: [u64; 8] = [
        0xEF53,
        0x5846_5342,
        0x9123_683E,
        0x0102_1994,
        0xF2F5_2010,
        0x2FC1_2FC1,
        0x794C_7630,
        0xCA45_1A4E,
    ];

    /// An inotify watch over a folder and its subfolders.
    pub struct FolderWatch {
        inotify: OwnedFd,
        root: PathBuf,
        folders: HashMap<i32, String>,
        /// Whether a folder could not be watched, so that the queue is incomplete.
        is_incomplete: bool,
    }

    impl FolderWatch {
        /// Creates a watch without folders; `None` if the file system or inotify does not allow
        /// one.
        pub fn open(root: &Path) -> Option<Self> {
            let kind = rustix::fs::statfs(root).ok()?.f_type;
            if !LOCAL.contains(&(u64::try_from(kind).ok()? & 0xFFFF_FFFF)) {
                return None;
            }
            let notes = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
            Some(Self {
                inotify: notes,
                root: root.to_path_buf(),
                folders: HashMap::new(),
                is_incomplete: false,
            })
        }

        /// Starts watching a folder beneath the root (`""` for the root itself).
        pub fn add_folder(&mut self, folder: &str) {
            let flags = WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::MODIFY
                | WatchFlags::CLOSE_WRITE
                | WatchFlags::ATTRIB
                | WatchFlags::MOVE
                | WatchFlags::DELETE_SELF
                | WatchFlags::MOVE_SELF
                | WatchFlags::ONLYDIR
                | WatchFlags::DONT_FOLLOW;
            match inotify::add_watch(&self.inotify, self.root.join(folder), flags) {
                Ok(number) => {
                    self.folders.insert(number, folder.to_owned());
                }
                Err(_) => self.is_incomplete = true,
            }
        }

        /// Whether all folders added are being watched.
        pub fn is_complete(&self) -> bool {
            !self.is_incomplete
        }

        /// Drains the changes since the last call.
        pub fn take_changes(&mut self) -> FolderChanges {
            let mut changed = BTreeSet::new();
            let mut unknown = self.is_incomplete;
            let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
            let mut reader = inotify::Reader::new(&self.inotify, &mut buffer);
            loop {
                let note = match reader.next() {
                    Ok(note) => note,
                    Err(Errno::AGAIN) => break,
                    Err(Errno::INTR) => continue,
                    Err(_) => {
                        unknown = true;
                        break;
                    }
                };
                let whole = ReadFlags::ISDIR
                    | ReadFlags::QUEUE_OVERFLOW
                    | ReadFlags::IGNORED
                    | ReadFlags::DELETE_SELF
                    | ReadFlags::MOVE_SELF
                    | ReadFlags::UNMOUNT;
                if note.events().intersects(whole) {
                    // Notebooks ignore folders that begin with a dot.
                    let hidden = note.events().contains(ReadFlags::ISDIR)
                        && note.file_name().is_some_and(|name| name.to_bytes().starts_with(b"."));
                    unknown |= !hidden;
                    continue;
                }
                let name = note.file_name().and_then(|name| name.to_str().ok());
                if let (Some(folder), Some(name)) = (self.folders.get(&note.wd()), name)
                    && !name.starts_with('.')
                {
                    let path = if folder.is_empty() {
                        name.to_owned()
                    } else {
                        format!("{folder}/{name}")
                    };
                    changed.insert(path);
                }
            }
            if unknown { FolderChanges::Unknown } else { FolderChanges::Files(changed) }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod nowhere {
    use super::FolderChanges;

    /// Never created: this system has no inotify.
    pub struct FolderWatch;

    impl FolderWatch {
        pub fn open(_: &std::path::Path) -> Option<Self> {
            None
        }
        pub fn add_folder(&mut self, _: &str) {}
        pub fn is_complete(&self) -> bool {
            false
        }
        pub fn take_changes(&mut self) -> FolderChanges {
            FolderChanges::Unknown
        }
    }
}
