//! Everything that differs between operating systems.
//!
//! Unix has an owner-only socket in the home, signals and file modes. On Windows the daemon listens on
//! loopback with a token, and the home inherits its owner's permissions.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_stream::Stream;
#[cfg(unix)]
use tokio_stream::StreamExt;
use tome_client::{LocalStream, UserFolders};

/// Returns freed memory to the system, which glibc keeps between blocks in use. Its settings are compiled in
/// (`.cargo/config.toml`): figures are in docs/performance.md.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Whether agents run the commands in their settings with a shell that quotes as POSIX does: with single
/// quotes and backslashes.
pub const HAS_POSIX_SHELL: bool = cfg!(not(windows));

/// Makes all files and folders that this process creates accessible to the owner only.
pub fn restrict_new_files() {
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

/// Detaches from the session of the parent, so that closing the terminal or ending the agent does not
/// end this process.
pub fn detach_from_session() {
    #[cfg(unix)]
    // Fails only for a process group leader, which is already detached enough.
    let _ = rustix::process::setsid();
}

/// The default location of Tome's home.
pub fn default_home(var: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let absolute = |name: &str| var(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if cfg!(windows) {
        return absolute("LOCALAPPDATA").map(|data| data.join("tome"));
    }
    absolute("XDG_DATA_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".local/share")))
        .map(|data| data.join("tome"))
}

/// The default location of the config file.
pub fn default_config(var: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let absolute = |name: &str| var(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if cfg!(windows) {
        return absolute("APPDATA").map(|data| data.join("tome").join("config.toml"));
    }
    absolute("XDG_CONFIG_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".config")))
        .map(|config| config.join("tome").join("config.toml"))
}

/// The user's folders outside the home, from the environment.
pub fn user_folders() -> UserFolders {
    UserFolders {
        runtime: std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from),
        temporary: std::env::temp_dir(),
    }
}

/// Creates a folder that only this user can access; fails if another user has created it.
pub fn ensure_private_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, MetadataExt};
        match std::fs::DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let meta = std::fs::symlink_metadata(path)?;
        let own = meta.is_dir()
            && meta.uid() == rustix::process::getuid().as_raw()
            && meta.mode() & 0o077 == 0;
        if own {
            Ok(())
        } else {
            Err(io::Error::other(format!("{} does not belong to this user alone", path.display())))
        }
    }
    #[cfg(not(unix))]
    std::fs::create_dir_all(path)
}

/// Whether an open file is a regular one of this user.
pub fn is_own_file(file: &std::fs::File) -> io::Result<bool> {
    let meta = file.metadata()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Ok(meta.is_file() && meta.uid() == rustix::process::getuid().as_raw())
    }
    #[cfg(not(unix))]
    Ok(meta.is_file())
}

/// Whether other users can access a file or folder; `None` if unknown.
pub fn is_open_to_others(path: &Path) -> Option<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Some(std::fs::symlink_metadata(path).ok()?.mode() & 0o077 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// Whether a file is executable.
pub fn is_executable(path: &Path) -> bool {
    let Ok(meta) = std::fs::metadata(path) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        meta.is_file() && meta.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    meta.is_file()
}

/// Removes all permissions of group and others.
pub fn remove_other_permissions(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::symlink_metadata(path)?.permissions().mode();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode & 0o700))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        Ok(())
    }
}

/// Device and inode number: tells a file from a later one with the same name.
pub type FileId = (u64, u64);

/// The identity of the file at a path, without following links.
pub fn file_id_at(path: &Path) -> Option<FileId> {
    metadata_id(&std::fs::symlink_metadata(path).ok()?)
}

/// The identity of an open file.
pub fn open_file_id(file: &std::fs::File) -> Option<FileId> {
    metadata_id(&file.metadata().ok()?)
}

fn metadata_id(meta: &std::fs::Metadata) -> Option<FileId> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Some((meta.dev(), meta.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = meta;
        None
    }
}

/// Whether the file at a path was deleted or replaced since `id` was taken. False if the path cannot be
/// inspected right now.
pub fn is_replaced(path: &Path, id: Option<FileId>) -> bool {
    let Some(id) = id else { return false };
    match std::fs::symlink_metadata(path) {
        Ok(meta) => metadata_id(&meta) != Some(id),
        Err(error) => {
            matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        }
    }
}

/// Lowers the priority of this thread and of the threads that it starts.
pub fn lower_priority() {
    // On Linux this affects only the calling thread; elsewhere it would affect the whole process.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, BACKGROUND_NICE);
}

/// About a third of the normal CPU share when all cores are busy.
#[cfg(target_os = "linux")]
const BACKGROUND_NICE: i32 = 5;

/// Raises the limit on open files up to `DESCRIPTORS_MAX` and returns the limit in effect.
pub fn raise_descriptor_limit() -> u64 {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        let current = limit.current.unwrap_or(DESCRIPTORS_MAX);
        let wanted = limit.maximum.unwrap_or(DESCRIPTORS_MAX).min(DESCRIPTORS_MAX);
        if wanted <= current {
            return current;
        }
        let raised = Rlimit { current: Some(wanted), maximum: limit.maximum };
        match setrlimit(Resource::Nofile, raised) {
            Ok(()) => wanted,
            Err(_) => current,
        }
    }
    #[cfg(not(unix))]
    DESCRIPTORS_MAX
}

/// The daemon has no use for more.
const DESCRIPTORS_MAX: u64 = 16_384;

/// Pause after a failed `accept`: without descriptors, the next one would fail at once too.
#[cfg(unix)]
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A listening socket that accepts only connections of this user.
pub struct OwnerSocket {
    pub path: PathBuf,
    pub incoming: Box<dyn Stream<Item = io::Result<LocalStream>> + Send + Unpin>,
}

/// Listens on the socket; `None` on systems without Unix sockets. Replaces a stale socket: the caller
/// holds the daemon's lock, so it cannot belong to a running daemon.
pub fn bind_socket(home: &Path) -> io::Result<Option<OwnerSocket>> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let path = tome_client::socket_path(home, &user_folders());
        if !path.starts_with(home)
            && let Some(folder) = path.parent()
        {
            ensure_private_folder(folder)?;
        }
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = tokio::net::UnixListener::bind(&path)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
        let incoming = tokio_stream::wrappers::UnixListenerStream::new(listener)
            .filter(|stream| stream.as_ref().map_or(true, tome_client::is_own_peer))
            .then(|stream| async move {
                if stream.is_err() {
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
                stream
            });
        Ok(Some(OwnerSocket { path, incoming: Box::new(Box::pin(incoming)) }))
    }
    #[cfg(not(unix))]
    {
        let _ = home;
        Ok(None)
    }
}

/// Reads standard input until it ends or exceeds `bytes_max`; returns the bytes and whether it has
/// ended. `next_wait` gets the bytes read so far and returns how long to wait for more, or `None` to
/// stop. No thread keeps reading afterwards.
#[cfg(unix)]
pub fn read_stdin(
    bytes_max: usize,
    next_wait: &mut dyn FnMut(&[u8]) -> Option<Duration>,
) -> (Vec<u8>, bool) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use std::os::fd::AsFd;
    let stdin = io::stdin();
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    while bytes.len() <= bytes_max {
        // Without time left, bytes that are already available are still read.
        let wait = next_wait(&bytes);
        let Ok(timeout) = Timespec::try_from(wait.unwrap_or_default()) else {
            return (bytes, false);
        };
        let mut waiting = [PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN)];
        match poll(&mut waiting, Some(&timeout)) {
            Ok(0) if wait.is_none() => return (bytes, false),
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return (bytes, true),
            Ok(_) => {}
        }
        match rustix::io::read(stdin.as_fd(), &mut chunk) {
            Ok(0) => return (bytes, true),
            Ok(read) => bytes.extend_from_slice(chunk.get(..read).unwrap_or_default()),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(_) => return (bytes, true),
        }
    }
    (bytes, false)
}

/// Fallback where pipes cannot be polled: reads to the end.
#[cfg(not(unix))]
pub fn read_stdin(
    bytes_max: usize,
    _next_wait: &mut dyn FnMut(&[u8]) -> Option<Duration>,
) -> (Vec<u8>, bool) {
    use std::io::Read;
    let mut bytes = Vec::new();
    let read = io::stdin().take(bytes_max as u64 + 1).read_to_end(&mut bytes);
    let ended = read.is_ok() && bytes.len() <= bytes_max;
    (bytes, ended)
}

/// Creates an empty in-memory file, to be passed to a child process.
pub fn create_memory_file() -> io::Result<std::fs::File> {
    #[cfg(target_os = "linux")]
    {
        let file = rustix::fs::memfd_create("payload", rustix::fs::MemfdFlags::CLOEXEC)?;
        Ok(file.into())
    }
    #[cfg(not(target_os = "linux"))]
    Err(io::ErrorKind::Unsupported.into())
}

/// Makes writes beyond the file size limit (`ulimit -f`) fail with an error instead of killing the
/// process. Does nothing if there is no limit.
pub fn survive_file_size_limit() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        /// SIGXFSZ; the same number on all supported systems.
        const FILE_SIZE_EXCEEDED: i32 = 25;
        let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize);
        if limit.current.is_none() {
            return;
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
        if let Ok(runtime) = runtime {
            let _entered = runtime.enter();
            // The handler stays installed until the process exits.
            let _ = signal(SignalKind::from_raw(FILE_SIZE_EXCEEDED));
        }
    }
}

/// Enlarges a pipe to the maximum for unprivileged users, so that writing a payload rarely blocks.
pub fn enlarge_pipe(pipe: &io::PipeWriter) {
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, 1024 * 1024);
    #[cfg(not(target_os = "linux"))]
    let _ = pipe;
}

/// Duplicates the standard output descriptor as a file.
pub fn stdout_as_file() -> io::Result<std::fs::File> {
    #[cfg(unix)]
    use std::os::fd::AsFd;
    #[cfg(windows)]
    use std::os::windows::io::AsHandle;
    #[cfg(unix)]
    let owned = io::stdout().as_fd().try_clone_to_owned()?;
    #[cfg(windows)]
    let owned = io::stdout().as_handle().try_clone_to_owned()?;
    Ok(owned.into())
}

/// Waits for SIGTERM or SIGINT (Ctrl-C on Windows).
pub async fn wait_for_termination() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut term), Ok(mut int)) =
            (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
        else {
            return std::future::pending().await;
        };
        tokio::select! { _ = term.recv() => {}, _ = int.recv() => {} }
    }
    #[cfg(not(unix))]
    {
        let _ = tokio::signal::ctrl_c().await;
    }
}

/// Waits for SIGTERM or SIGHUP, and lets no SIGINT end this process: Ctrl-C in a pager or an editor is
/// for that program. Elsewhere it waits forever.
pub async fn wait_for_hangup() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let _interrupts = signal(SignalKind::interrupt());
        let (Ok(mut term), Ok(mut hangup)) =
            (signal(SignalKind::terminate()), signal(SignalKind::hangup()))
        else {
            return std::future::pending().await;
        };
        tokio::select! { _ = term.recv() => {}, _ = hangup.recv() => {} }
    }
    #[cfg(not(unix))]
    std::future::pending::<()>().await;
}

/// Builds the command that opens a file in `$EDITOR`, which may contain arguments.
pub fn editor_command(editor: &str, file: &Path) -> std::process::Command {
    #[cfg(unix)]
    {
        // The shell splits the words of the editor command; the file name is passed as an argument, so that
        // the shell never interprets it.
        let mut command = std::process::Command::new("sh");
        command.arg("-c").arg(format!("{editor} \"$@\"")).arg(editor).arg(file);
        command
    }
    #[cfg(not(unix))]
    {
        let mut words = editor.split_whitespace();
        let mut command = std::process::Command::new(words.next().unwrap_or(editor));
        command.args(words).arg(file);
        command
    }
}

/// Resident memory of this process in bytes, with what it maps of files; 0 if unknown.
pub fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * page_bytes()
}

/// Processor time that this process has used; zero if unknown.
pub fn processor_time() -> Duration {
    // In ticks of 10 ms on every platform that has the file.
    const TICK_MS: u64 = 10;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program may contain spaces.
    let fields = stat.rsplit_once(") ").map(|(_, fields)| fields).unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * TICK_MS)
}

fn page_bytes() -> u64 {
    #[cfg(unix)]
    return rustix::param::page_size() as u64;
    #[cfg(not(unix))]
    return 4096;
}
