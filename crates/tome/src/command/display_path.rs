//! Paths as people write them.

use std::path::Path;

use super::CommandContext;

impl CommandContext {
    /// Shortens a path below the user's home folder to `~`.
    #[expect(clippy::unused_self, reason = "paths are shown the same way by every command")]
    pub fn shorten_path(&self, path: &Path) -> String {
        shorten_below(path, std::env::home_dir().as_deref())
    }
}

/// The addresses of the daemon; sockets with short paths.
pub fn shorten_endpoints(endpoints: &[String]) -> String {
    let home = std::env::home_dir();
    let shorten = |endpoint: &String| shorten_below(Path::new(endpoint), home.as_deref());
    endpoints.iter().map(shorten).collect::<Vec<_>>().join(" and ")
}

fn shorten_below(path: &Path, home: Option<&Path>) -> String {
    let home = home.filter(|home| home.is_absolute() && home.parent().is_some());
    let shown = match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    };
    tome_terminal::one_line(&shown, 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_folder_is_a_tilde() {
        let home = Some(Path::new("/home/dev"));
        assert_eq!(shorten_below(Path::new("/home/dev/app"), home), "~/app");
        assert_eq!(shorten_below(Path::new("/home/dev"), home), "~");
        assert_eq!(shorten_below(Path::new("/home/developer"), home), "/home/developer");
        assert_eq!(shorten_below(Path::new("/srv/app"), Some(Path::new("/"))), "/srv/app");
    }
}
