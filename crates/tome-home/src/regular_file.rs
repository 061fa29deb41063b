//! Reads files that others control: files of projects and of coding agents.
//!
//! Under an expected name a repository can hold a named pipe that blocks forever, a link to an
//! endless device, or a huge file. So these files are opened without blocking, checked on the open
//! descriptor, and read up to a limit.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Whether the last component of a path may be a symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinalLink {
    /// Open the link's target. For the person's own files, which may be kept elsewhere.
    Follow,
    /// Fail. For files of a project, which must not redirect Tome to other files.
    Refuse,
}

/// Opens a regular file for reading. Fails on everything else and never blocks.
pub fn open_regular(path: &Path, link: FinalLink) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        let flags = match link {
            FinalLink::Follow => OFlags::NONBLOCK,
            FinalLink::Refuse => OFlags::NONBLOCK | OFlags::NOFOLLOW,
        };
        options.custom_flags(flags.bits().cast_signed());
    }
    #[cfg(not(unix))]
    if link == FinalLink::Refuse && std::fs::symlink_metadata(path)?.is_symlink() {
        return Err(io::Error::other("it is a symbolic link"));
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}

/// Reads a regular file that holds at most `bytes_max` bytes.
pub fn read_regular(path: &Path, link: FinalLink, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Read one extra byte to detect a file that is too large, whatever its metadata says.
    open_regular(path, link)?.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        Err(io::Error::other(format!("it is larger than {bytes_max} bytes")))
    } else {
        Ok(bytes)
    }
}

/// Reads a regular UTF-8 file that holds at most `bytes_max` bytes.
pub fn read_regular_text(path: &Path, link: FinalLink, bytes_max: u64) -> io::Result<String> {
    String::from_utf8(read_regular(path, link, bytes_max)?)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        io::Write::write_all(&mut File::create(at("note")).unwrap(), b"12345").unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::RUSR).unwrap();
        std::os::unix::fs::symlink(at("note"), at("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("endless")).unwrap();
        let read = |name: &str, link, max| read_regular_text(&at(name), link, max).ok();
        assert_eq!(read("note", FinalLink::Refuse, 5).as_deref(), Some("12345"));
        assert_eq!(read("note", FinalLink::Refuse, 4), None, "too large");
        assert_eq!(read("link", FinalLink::Follow, 5).as_deref(), Some("12345"));
        for (name, link) in [
            ("link", FinalLink::Refuse),
            ("pipe", FinalLink::Refuse),
            ("pipe", FinalLink::Follow),
            ("endless", FinalLink::Refuse),
            ("endless", FinalLink::Follow),
            (".", FinalLink::Follow),
            ("missing", FinalLink::Follow),
        ] {
            assert_eq!(read(name, link, 5), None, "{name}");
        }
    }
}
