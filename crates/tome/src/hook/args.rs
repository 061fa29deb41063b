//! Parses the command line of a hook without clap, which would cost startup time. Options may stand
//! anywhere; unknown ones are ignored, because a hook must not fail.

use std::path::PathBuf;

use tome_model::DeliveryId;

use crate::config::ConfigFlags;

/// Marks the process that reads the transcript.
pub const FROM_TRANSCRIPT_FLAG: &str = "--from-transcript";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookCommandLine {
    pub flags: ConfigFlags,
    /// The agent and the event, as far as given.
    pub positional: Vec<String>,
    /// Set in the process that continues a hook: the hook's start, in Unix milliseconds.
    pub started_ms: Option<u64>,
    /// Set in the same process: the id of the delivery that it continues.
    pub delivery: Option<DeliveryId>,
    /// Whether that process receives drafts instead of a payload.
    pub has_drafts: bool,
    /// Set in the process that records the part of an event found only in the agent's transcript.
    pub from_transcript: bool,
}

impl HookCommandLine {
    /// Whether this process continues a hook that another process has started.
    pub fn is_continuation(&self) -> bool {
        self.started_ms.is_some()
    }

    /// Whether the payload holds a batch of events. The agent does not wait for those.
    pub fn is_batch(&self) -> bool {
        let mut names = self.positional.iter().map(String::as_str);
        names.next().is_some_and(|agent| crate::agents::is_batch(agent, names.next()))
    }
}

/// Parses arguments (without the program name); `None` if they are not a call of `tome hook`.
pub fn parse_hook_command_line(args: &[String]) -> Option<HookCommandLine> {
    let mut parsed = HookCommandLine::default();
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        let (name, value) = match arg.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value)),
            _ => (arg, None),
        };
        let mut value = || value.or_else(|| args.next()).unwrap_or_default().to_owned();
        match name {
            "--help" | "-h" => return None,
            "--home" => parsed.flags.home = Some(PathBuf::from(value())),
            "--config" => parsed.flags.config = Some(PathBuf::from(value())),
            "--set" => parsed.flags.set.push(value()),
            "--began" => parsed.started_ms = value().parse().ok(),
            "--delivery" => parsed.delivery = DeliveryId::parse(&value()).ok(),
            "--drafts" => parsed.has_drafts = true,
            FROM_TRANSCRIPT_FLAG => parsed.from_transcript = true,
            "--color" => drop(value()),
            name if name.starts_with('-') => {}
            name => parsed.positional.push(name.to_owned()),
        }
    }
    let is_hook = parsed.positional.first().is_some_and(|name| name == "hook");
    is_hook.then(|| {
        parsed.positional.remove(0);
        parsed
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(line: &str) -> Option<Vec<String>> {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        parse_hook_command_line(&args).map(|parsed| parsed.positional)
    }

    #[test]
    fn only_the_hook_command_is_parsed() {
        assert_eq!(names("hook codex Stop"), Some(vec!["codex".into(), "Stop".into()]));
        assert_eq!(names("--home /x hook codex"), Some(vec!["codex".into()]));
        assert_eq!(
            names("hook --home=/x codex --set a=b Stop"),
            Some(vec!["codex".into(), "Stop".into()])
        );
        assert_eq!(names("hook"), Some(vec![]));
        assert_eq!(names("events hook"), None);
        assert_eq!(names("hook --help"), None);
        assert_eq!(names("--home hook"), None);
    }

    #[test]
    fn config_flags_are_kept() {
        let args = ["--set", "a=b", "hook", "--home", "/x", "--config=/c"].map(str::to_owned);
        let flags = parse_hook_command_line(&args).unwrap().flags;
        assert_eq!(flags.home, Some("/x".into()));
        assert_eq!(flags.config, Some("/c".into()));
        assert_eq!(flags.set, ["a=b"]);
    }
}
