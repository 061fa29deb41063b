//! Shows a text in a pager, or prints it.

use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::Result;

use super::render::RenderedPage;

/// Options of `less`: quit if all fits on a screen, pass colors, leave the text on the screen.
const LESS_OPTIONS: &str = "FRX";

/// A program that shows a text page by page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pager {
    program: String,
    args: Vec<String>,
}

/// The pager that the environment names, otherwise `less`; `None` if it names `cat` or nothing.
pub fn choose_pager(env: &dyn Fn(&str) -> Option<String>) -> Option<Pager> {
    let named = env("PAGER").unwrap_or_else(|| "less".to_owned());
    let mut words = named.split_whitespace().map(str::to_owned);
    let program = words.next().filter(|program| program != "cat")?;
    Some(Pager { program, args: words.collect() })
}

impl Pager {
    fn is_less(&self) -> bool {
        self.program.rsplit('/').next().is_some_and(|name| name == "less")
    }

    /// Builds the command that shows a page, opened at its place.
    fn build_command(&self, page: &RenderedPage) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        if self.is_less() {
            if std::env::var_os("LESS").is_none() {
                command.env("LESS", LESS_OPTIONS);
            }
            // The pattern stays the search, so that n and N go from turn to turn.
            command.arg(format!("+{}/{}", page.open_at, page.pattern));
        }
        command
    }

    /// Shows a page and waits until the reader quits. Prints it if the pager cannot be run.
    pub fn show(&self, page: &RenderedPage) -> Result<()> {
        let mut command = self.build_command(page);
        let Ok(mut child) = command.stdin(Stdio::piped()).spawn() else {
            return print_plain(&page.text);
        };
        if let Some(mut stdin) = child.stdin.take() {
            // A reader who quits early closes the pipe.
            let _ = stdin.write_all(tome_terminal::style_for_stdout(&page.text).as_bytes());
        }
        child.wait()?;
        Ok(())
    }
}

pub fn print_plain(text: &str) -> Result<()> {
    let mut out = tome_terminal::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_names_the_pager() {
        let pager = |value: Option<&str>| choose_pager(&|_| value.map(str::to_owned));
        assert_eq!(pager(Some("cat")), None);
        assert_eq!(pager(Some("")), None);
        assert_eq!(pager(None).map(|pager| pager.is_less()), Some(true));
        let more = pager(Some("more -s")).unwrap();
        assert_eq!((more.program.as_str(), more.args.as_slice()), ("more", &["-s".to_owned()][..]));
        assert!(pager(Some("/usr/bin/less -N")).unwrap().is_less());
    }

    #[test]
    fn less_opens_at_the_cited_place() {
        let page = RenderedPage { text: String::new(), pattern: "^── ", open_at: 3 };
        let less = choose_pager(&|_| None).unwrap();
        let args: Vec<_> =
            less.build_command(&page).get_args().map(std::ffi::OsStr::to_owned).collect();
        assert_eq!(args, ["+3/^── "]);
    }
}
