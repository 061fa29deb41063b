//! `tome pause` and `tome unpause`, and the line in `tome` and `tome status` that says what is not
//! recorded.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tome_home::{Pause, Pauses};
use tome_model::{Clock, Millis, SystemClock};
use tome_terminal::{DIM, RESET, YELLOW, format_counted, format_span};

use super::{CommandContext, CommandError, Outcome, time};
use crate::capture_rules::IgnoredPaths;
use crate::cli::pause::PauseArgs;
use crate::config;

pub fn pause(context: &CommandContext, args: &PauseArgs) -> Result<Outcome> {
    let now = SystemClock.now();
    let length = args.duration.as_deref().map(parse_length).transpose()?;
    let until = length.map(|ms| Millis(now.0.saturating_add(ms)));
    Pauses::begin(&context.settings.home, now, until)?;
    report_state(context, now)
}

pub fn unpause(context: &CommandContext) -> Result<Outcome> {
    let now = SystemClock.now();
    let was_paused = Pauses::end(&context.settings.home, now)?;
    if !was_paused && !context.json {
        writeln!(tome_terminal::stdout(), "recording was not paused")?;
        return Ok(Outcome::Done);
    }
    report_state(context, now)
}

fn parse_length(text: &str) -> Result<u64> {
    let problem = |problem: String| CommandError::bad_input(problem).with_hint("use 30m, 2h or 1d");
    let bad = |_| problem(format!("{text:?} is not a duration"));
    let length = config::parse_duration(text).map_err(bad)?;
    let ms = u64::try_from(length.as_millis()).unwrap_or(u64::MAX);
    match ms {
        0 => Err(problem("a pause must be longer than 0".to_owned()).into()),
        ms => Ok(ms),
    }
}

fn report_state(context: &CommandContext, now: Millis) -> Result<Outcome> {
    if context.json {
        context.print_json(&as_json(context, now))?;
        return Ok(Outcome::Done);
    }
    let mut out = tome_terminal::stdout().lock();
    match Pauses::read(&context.settings.home).find(now) {
        Some(pause) => writeln!(out, "recording {}", describe_pause(pause, now))?,
        None => writeln!(out, "recording again")?,
    }
    Ok(Outcome::Done)
}

fn describe_pause(pause: Pause, now: Millis) -> String {
    match pause.until {
        Some(until) => {
            let left = format_span(now.distance_ms(until));
            let (today, end) = (time::format_local_time(now), time::format_local_time(until));
            // The day only matters if it is another one.
            let from = if today.get(..10) == end.get(..10) { 11 } else { 0 };
            let minute = end.get(from..16).unwrap_or(&end);
            format!("{YELLOW}paused{RESET} for {left}, until {minute}")
        }
        None => format!("{YELLOW}paused{RESET} until `tome unpause`"),
    }
}

/// Why sessions in this folder are not recorded now, and what to do about it; `None` if they are.
pub fn describe_gap(context: &CommandContext, now: Millis) -> Option<(String, &'static str)> {
    if let Some(pause) = Pauses::read(&context.settings.home).find(now) {
        let found = format!("{}: nothing is recorded", describe_pause(pause, now));
        return Some((found, "run `tome unpause` to record again"));
    }
    let found = "this folder is ignored: its sessions are not recorded".to_owned();
    let advice = "see capture.ignore (`tome config`) and .tomeignore, if that is not intended";
    ignored_here(context).1.then_some((found, advice))
}

/// Prints a line if something is not recorded.
pub fn print_line(
    out: &mut dyn Write,
    context: &CommandContext,
    now: Millis,
) -> std::io::Result<()> {
    if let Some(pause) = Pauses::read(&context.settings.home).find(now) {
        return writeln!(out, "capture  {}", describe_pause(pause, now));
    }
    let (rules, is_ignored) = ignored_here(context);
    if is_ignored {
        return writeln!(out, "capture  {YELLOW}this folder is ignored{RESET}");
    }
    match rules {
        0 => Ok(()),
        rules => {
            let rules = format_counted(rules, "ignore rule applies", "ignore rules apply");
            writeln!(out, "capture  on {DIM}({rules} here){RESET}")
        }
    }
}

/// The state of recording, for programs.
pub fn as_json(context: &CommandContext, now: Millis) -> Value {
    let pause = Pauses::read(&context.settings.home).find(now);
    let (rules, is_ignored) = ignored_here(context);
    json!({
        "paused": pause.is_some(), "until": pause.and_then(|pause| pause.until),
        "ignore_rules": rules, "folder_ignored": is_ignored,
    })
}

/// Counts the rules that apply in the current folder, and says whether the folder is ignored.
fn ignored_here(context: &CommandContext) -> (u64, bool) {
    let mut ignored = IgnoredPaths::new(&context.settings.ignore);
    let Ok(here) = std::env::current_dir() else { return (ignored.count(), false) };
    let here = here.to_string_lossy();
    ignored.load_rules_for(&here);
    (ignored.count(), ignored.is_folder_ignored(&here))
}
