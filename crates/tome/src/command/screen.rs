//! The conditions under which a screen is printed: the time, the time zone, the width of the terminal,
//! the home folder of the user and the names of projects.

use tome_model::{Clock, Millis, SystemClock};
use tome_terminal::{known_width, terminal_width};

use super::CommandContext;
use super::project_name::ProjectNames;
use super::time_labels::TimeLabels;

/// Prose is not wider than this.
const PROSE_WIDTH_MAX: usize = 100;

pub struct Screen {
    pub now: Millis,
    pub labels: TimeLabels,
    /// Columns of the terminal; `None` if the output goes elsewhere.
    pub width: Option<usize>,
    /// The home folder of the user.
    pub home: Option<String>,
    pub projects: ProjectNames,
}

impl Screen {
    pub fn new(context: &CommandContext) -> Self {
        Self {
            now: SystemClock.now(),
            labels: TimeLabels::from_settings(&context.settings),
            width: known_width(),
            home: std::env::home_dir().map(|home| home.to_string_lossy().into_owned()),
            projects: ProjectNames::load(context),
        }
    }

    #[cfg(test)]
    pub fn for_test(now: u64, width: usize) -> Self {
        Self {
            now: Millis(now),
            labels: TimeLabels::utc(),
            width: Some(width),
            home: Some("/home/dev".to_owned()),
            projects: ProjectNames::default(),
        }
    }

    /// Columns of a line of prose.
    pub fn prose_width(&self) -> usize {
        self.line_width().min(PROSE_WIDTH_MAX)
    }

    /// Columns of a line.
    pub fn line_width(&self) -> usize {
        self.width.unwrap_or_else(terminal_width)
    }

    /// Formats a time as people say it.
    pub fn when(&self, at_ms: u64) -> String {
        self.labels.format_when(self.now, at_ms)
    }

    /// Where a project is now, shortened.
    pub fn project_path(&self, root: &str) -> String {
        self.path(&self.projects.folder(root))
    }

    /// Where the folder of a session is now.
    pub fn session_folder(&self, root: &str, cwd: &str) -> String {
        self.projects.session_folder(root, cwd)
    }

    /// Shortens a path below the home folder to `~`.
    pub fn path(&self, path: &str) -> String {
        let home = self.home.as_deref().map(|home| home.trim_end_matches('/'));
        let below = home
            .filter(|home| !home.is_empty())
            .and_then(|home| path.strip_prefix(home))
            .filter(|rest| rest.is_empty() || rest.starts_with('/'));
        match below {
            Some(rest) => format!("~{}", tome_terminal::one_line(rest, 1_000)),
            None => tome_terminal::one_line(path, 1_000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_folder_is_a_tilde() {
        let screen = Screen::for_test(0, 80);
        assert_eq!(screen.path("/home/dev/app"), "~/app");
        assert_eq!(screen.path("/home/dev"), "~");
        assert_eq!(screen.path("/home/developer/app"), "/home/developer/app");
    }
}
