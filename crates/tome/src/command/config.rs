//! `tome config`: lists every setting with its value and origin.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tome_terminal::{DIM, RED, RESET, print_table};

use super::{CommandContext, Outcome};
use crate::config::SETTING_KEYS;

pub fn run(context: &CommandContext) -> Result<Outcome> {
    let config = &context.config;
    if context.json {
        context.print_json(&as_json(context))?;
    } else {
        let mut out = tome_terminal::stdout().lock();
        let file = config.file.as_ref().map_or_else(
            || "none".to_owned(),
            |path| {
                format!(
                    "{}{}",
                    path.display(),
                    if path.exists() { "" } else { " (does not exist)" }
                )
            },
        );
        writeln!(out, "home    {}  {DIM}{}{RESET}", config.home.0.display(), config.home.1)?;
        writeln!(out, "config  {file}\n")?;
        let rows: Vec<Vec<String>> = SETTING_KEYS
            .iter()
            .filter_map(|key| {
                let (value, source) = config.values.get(key.name)?;
                let value = if value.is_empty() { "-" } else { value };
                Some(vec![
                    key.name.to_owned(),
                    value.to_owned(),
                    source.to_string(),
                    key.description.to_owned(),
                ])
            })
            .collect();
        print_table(&mut out, &["setting", "value", "from", "what it does"], &rows)?;
        writeln!(
            out,
            "  {DIM}[[capture.redact]]: {} custom redaction patterns{RESET}",
            config.redact.len()
        )?;
    }
    let mut err = tome_terminal::stderr().lock();
    for problem in &config.problems {
        writeln!(err, "{RED}error:{RESET} {problem}")?;
    }
    Ok(if config.problems.is_empty() { Outcome::Done } else { Outcome::BadInput })
}

fn as_json(context: &CommandContext) -> Value {
    let config = &context.config;
    let settings: Vec<Value> = config
        .values
        .iter()
        .map(|(key, (value, source))| json!({"key": key, "value": value, "from": source.to_string()}))
        .collect();
    let redact: Vec<Value> =
        config.redact.iter().map(|own| json!({"name": own.name, "pattern": own.pattern})).collect();
    json!({
        "home": config.home.0, "home_from": config.home.1.to_string(), "config_file": config.file,
        "settings": settings, "redact": redact,
        "problems": config.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
