//! `tome config`: the settings that differ from their defaults, or all of them.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tome_terminal::{BOLD, RED, RESET, print_hanging, terminal_width};

use super::{CommandContext, Outcome};
use crate::config::{SETTING_KEYS, SettingOrigin};

/// Descriptions are not wider than this.
const WIDTH_MAX: usize = 100;

pub fn run(context: &CommandContext, all: bool) -> Result<Outcome> {
    let config = &context.config;
    if context.json {
        context.print_json(&settings_to_json(context))?;
    } else {
        let mut out = tome_terminal::stdout().lock();
        let file = config.file.as_ref().map_or_else(
            || "none".to_owned(),
            |path| {
                let missing = if path.exists() { "" } else { " (does not exist)" };
                format!("{}{missing}", context.shorten_path(path))
            },
        );
        let home = context.shorten_path(&config.home.0);
        let width = terminal_width().min(WIDTH_MAX);
        print_hanging(
            &mut out,
            "home    ",
            8,
            &format!("{home} ({})", describe_origin(context, &config.home.1)),
            width,
        )?;
        print_hanging(&mut out, "config  ", 8, &file, width)?;
        print_settings(context, &mut out, all, width)?;
    }
    let mut err = tome_terminal::stderr().lock();
    for problem in &config.problems {
        writeln!(err, "{RED}error:{RESET} {problem}")?;
    }
    Ok(if config.problems.is_empty() { Outcome::Done } else { Outcome::BadInput })
}

/// Describes the origin of a value; paths are shortened.
fn describe_origin(context: &CommandContext, origin: &SettingOrigin) -> String {
    match origin {
        SettingOrigin::File(path) => context.shorten_path(path),
        other => other.to_string(),
    }
}

fn print_settings(
    context: &CommandContext,
    out: &mut dyn Write,
    all: bool,
    width: usize,
) -> std::io::Result<()> {
    let (config, mut shown) = (&context.config, 0);
    for key in SETTING_KEYS {
        let Some((value, source)) = config.values.get(key.name) else { continue };
        if !all && value == key.default {
            continue;
        }
        shown += 1;
        let is_default = value == key.default;
        let value = if value.is_empty() { "-" } else { value };
        writeln!(out)?;
        let label = format!("{BOLD}{}{RESET} = ", key.name);
        let from = match (describe_origin(context, source), is_default) {
            (from, true) => format!("({from})"),
            (from, false) if key.default.is_empty() => format!("({from}; default: none)"),
            (from, false) => format!("({from}; default: {})", key.default),
        };
        // ANSI codes take no columns: indent by the visible width of `name = `.
        let indent = key.name.len() + 3;
        print_hanging(out, &label, indent, &format!("{value}  {from}"), width)?;
        print_hanging(out, "    ", 4, key.description, width)?;
    }
    if !config.redact.is_empty() {
        let patterns = tome_terminal::format_counted(
            config.redact.len() as u64,
            "pattern of your own",
            "patterns of your own",
        );
        writeln!(out, "\n{BOLD}[[capture.redact]]{RESET} {patterns}")?;
    }
    writeln!(out)?;
    match (all, shown) {
        (true, _) => Ok(()),
        (false, 0) => print_hanging(
            out,
            "",
            0,
            "Every setting has its default. `tome config --all` lists them, `tome config set` changes one.",
            width,
        ),
        (false, _) => print_hanging(
            out,
            "",
            0,
            "All other settings have their defaults: `tome config --all` lists them.",
            width,
        ),
    }
}

fn settings_to_json(context: &CommandContext) -> Value {
    let config = &context.config;
    let default =
        |name: &str| SETTING_KEYS.iter().find(|key| key.name == name).map(|key| key.default);
    let settings: Vec<Value> = config
        .values
        .iter()
        .map(|(key, (value, source))| {
            json!({"key": key, "value": value, "from": source.to_string(), "default": default(key)})
        })
        .collect();
    let redact: Vec<Value> =
        config.redact.iter().map(|own| json!({"name": own.name, "pattern": own.pattern})).collect();
    json!({
        "home": config.home.0, "home_from": config.home.1.to_string(), "config_file": config.file,
        "settings": settings, "redact": redact,
        "problems": config.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
