//! Shows a text in a pager, or prints it.

use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::Result;
use tome_terminal::{DIM, RESET};

use super::render::RenderedPage;

/// Options of `less`: quit if all fits on a screen, pass colors, leave the text on the screen.
const LESS_OPTIONS: &str = "FRX";
/// Options of `less` if it stays open whatever the length of the text.
const LESS_OPTIONS_OPEN: &str = "R";

/// When a pager ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PagerEnd {
    /// If the text fits on the screen.
    IfItFits,
    /// Never: the user closes it.
    Never,
}

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
    pub fn is_less(&self) -> bool {
        self.program.rsplit('/').next().is_some_and(|name| name == "less")
    }

    /// Whether the program is there.
    fn can_run(&self) -> bool {
        let mut command = Command::new(&self.program);
        command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok()
    }

    /// Builds the command that shows a page, opened at its place.
    fn build_command(&self, page: &RenderedPage, end: PagerEnd) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        if self.is_less() {
            // The text is UTF-8, whatever the locale is.
            if std::env::var_os("LESSCHARSET").is_none() {
                command.env("LESSCHARSET", "utf-8");
            }
            if std::env::var_os("LESS").is_none() {
                let options = match end {
                    PagerEnd::IfItFits => LESS_OPTIONS,
                    PagerEnd::Never => LESS_OPTIONS_OPEN,
                };
                command.env("LESS", options);
            } else if end == PagerEnd::Never {
                command.arg("-+F");
            }
            // The pattern stays the search, so that n and N go from turn to turn.
            command.arg(match page.pattern {
                "" => format!("+{}g", page.open_at),
                pattern => format!("+{}/{pattern}", page.open_at),
            });
        }
        command
    }

    /// Shows a page and waits until the reader quits. Prints it if the pager cannot be run.
    pub fn show(&self, page: &RenderedPage, end: PagerEnd) -> Result<()> {
        let mut command = self.build_command(page, end);
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

/// Shows a page and returns when the user has closed it. Programs other than `less` may end by
/// themselves, so the user confirms.
pub fn show_until_closed(page: &RenderedPage) -> Result<()> {
    match choose_pager(&|name| std::env::var(name).ok()) {
        Some(pager) if pager.is_less() && pager.can_run() => {
            return pager.show(page, PagerEnd::Never);
        }
        Some(pager) => pager.show(page, PagerEnd::Never)?,
        None => print_plain(&page.text)?,
    }
    wait_for_enter()
}

/// Waits until the user has read what is on the screen.
pub fn wait_for_enter() -> Result<()> {
    let mut err = tome_terminal::stderr();
    write!(err, "{DIM}Enter goes back{RESET} ")?;
    err.flush()?;
    std::io::stdin().read_line(&mut String::new())?;
    Ok(())
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
    fn less_opens_at_the_citation() {
        let page = RenderedPage { text: String::new(), pattern: "^── ", open_at: 3 };
        let less = choose_pager(&|_| None).unwrap();
        let args: Vec<_> = less
            .build_command(&page, PagerEnd::IfItFits)
            .get_args()
            .map(std::ffi::OsStr::to_owned)
            .collect();
        assert_eq!(args, ["+3/^── "]);
    }
}
