//! Loads the configuration from defaults, config file, environment and flags.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;
use tome_contents::ContentsSettings;
use tome_engine::Toolsets;
use tome_home::Home;
use tome_model::Zone;
use tome_notebook::NotebookRules;
use tome_redact::{CustomPattern, Redactor};
use toml::{Table, Value};

use super::keys::SETTING_KEYS;
use super::{
    EmbedProvider, EmbedSettings, InjectSettings, ReflectSettings, Settings, SummarizerKind,
    SummarizerSettings, capture, chat, duration, value,
};
use crate::platform;

/// Keys whose value may be an array in the file.
const LIST_KEYS: [&str; 3] = ["capture.ignore", "mcp.toolsets", "notes.facts_allowed"];

/// Configuration flags of the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigFlags {
    /// `--home`
    pub home: Option<PathBuf>,
    /// `--config`
    pub config: Option<PathBuf>,
    /// `--set key=value`, in order.
    pub set: Vec<String>,
}

/// The origin of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingOrigin {
    Default,
    File(PathBuf),
    Variable(String),
    Flag,
}

impl std::fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Variable(name) => write!(f, "${name}"),
            Self::Flag => f.write_str("flag"),
        }
    }
}

/// A configuration that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConfigError {
    #[error("{key} (from {from}): {problem}")]
    Value { key: String, from: String, problem: String },
    #[error("{key} (from {from}) is not a setting; `tome config --all` lists them")]
    Unknown { key: String, from: String },
    #[error("--set {key} has no value: use --set {key}=VALUE, or --set {key}= for an empty one")]
    NoValue { key: String },
    #[error("cannot read {path}: {problem}")]
    File { path: String, problem: String },
    #[error("cannot determine Tome's home: set TOME_HOME to an absolute path, or HOME")]
    NoHome,
}

/// Resolves the home. A relative `TOME_HOME` is an error, because it would mean another home in every
/// folder; hooks, which cannot report errors, use the default.
fn resolve_home(
    flags: &ConfigFlags,
    var: &impl Fn(&str) -> Option<String>,
) -> Result<((PathBuf, SettingOrigin), Option<ConfigError>), ConfigError> {
    if let Some(path) = &flags.home {
        let path = std::path::absolute(path).map_err(|_| ConfigError::NoHome)?;
        return Ok(((path, SettingOrigin::Flag), None));
    }
    let mut problem = None;
    if let Some(text) = var("TOME_HOME") {
        let from = SettingOrigin::Variable("TOME_HOME".into());
        if Path::new(&text).is_absolute() {
            return Ok(((text.into(), from), None));
        }
        problem = Some(ConfigError::Value {
            key: "home".into(),
            from: from.to_string(),
            problem: format!("{text:?} must be an absolute path"),
        });
    }
    let default = platform::default_home(var).ok_or(ConfigError::NoHome)?;
    Ok(((default, SettingOrigin::Default), problem))
}

/// Every setting with its value and origin.
#[derive(Debug, Clone)]
pub struct Config {
    pub values: BTreeMap<&'static str, (String, SettingOrigin)>,
    /// The home and its origin.
    pub home: (PathBuf, SettingOrigin),
    /// The config file, whether it exists or not.
    pub file: Option<PathBuf>,
    /// User-defined redaction patterns.
    pub redact: Vec<CustomPattern>,
    /// Hooks ignore problems and use the remaining settings; all other commands report them and stop.
    pub problems: Vec<ConfigError>,
}

impl Config {
    /// Loads the configuration. `var` looks up environment variables.
    pub fn load(
        flags: &ConfigFlags,
        var: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let var = |name: &str| var(name).filter(|value| !value.is_empty());
        let (home, problem) = resolve_home(flags, &var)?;
        let file = flags.config.clone().or_else(|| var("TOME_CONFIG").map(PathBuf::from));
        let file_must_exist = file.is_some();
        let file = file.or_else(|| platform::default_config(var));
        let values = SETTING_KEYS
            .iter()
            .map(|key| (key.name, (key.default.to_owned(), SettingOrigin::Default)))
            .collect();
        let mut config = Self {
            values,
            home,
            file,
            redact: Vec::new(),
            problems: problem.into_iter().collect(),
        };
        config.read_file(file_must_exist);
        for key in SETTING_KEYS {
            let name = key.env_variable();
            if let Some(value) = var(&name) {
                config.set_value(key.name, value, SettingOrigin::Variable(name));
            }
        }
        for setting in &flags.set {
            match setting.split_once('=') {
                Some((key, value)) => {
                    config.set_value(key.trim(), value.trim().to_owned(), SettingOrigin::Flag);
                }
                None => config.problems.push(ConfigError::NoValue { key: setting.clone() }),
            }
        }
        Ok(config)
    }

    fn read_file(&mut self, must_exist: bool) {
        let Some(path) = self.file.clone() else {
            return;
        };
        let problem =
            |problem: String| ConfigError::File { path: path.display().to_string(), problem };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => return,
            Err(error) => return self.problems.push(problem(error.to_string())),
        };
        match text.parse::<Table>() {
            Ok(table) => self.read_table(&table, &path),
            Err(error) => self.problems.push(problem(error.to_string())),
        }
    }

    fn read_table(&mut self, table: &Table, path: &Path) {
        let source = || SettingOrigin::File(path.into());
        for (section, value) in table {
            let Value::Table(section_table) = value else {
                self.report_unknown(section, path);
                continue;
            };
            for (name, value) in section_table {
                let key = format!("{section}.{name}");
                match value {
                    Value::Array(rules) if key == "capture.redact" => self.read_redact(rules),
                    Value::String(text) => self.set_value(&key, text.clone(), source()),
                    Value::Integer(_) | Value::Float(_) | Value::Boolean(_) => {
                        self.set_value(&key, value.to_string(), source());
                    }
                    Value::Array(items) if LIST_KEYS.contains(&key.as_str()) => {
                        match join_words(items) {
                            Some(words) => self.set_value(&key, words, source()),
                            None => self.report_unknown(&key, path),
                        }
                    }
                    _ => self.report_unknown(&key, path),
                }
            }
        }
    }

    fn report_unknown(&mut self, key: &str, path: &Path) {
        let from = path.display().to_string();
        self.problems.push(ConfigError::Unknown { key: key.to_owned(), from });
    }

    /// Reads `[[capture.redact]]`. The patterns are not compiled here: a hook that reaches the daemon never
    /// needs them.
    fn read_redact(&mut self, rules: &[Value]) {
        for rule in rules {
            let text =
                |name: &str| rule.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            self.redact.push(CustomPattern { name: text("name"), pattern: text("pattern") });
        }
    }

    /// Compiles the user-defined patterns; reports and drops invalid ones.
    pub fn check_patterns(&mut self) {
        let from = self.file.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        let problems = &mut self.problems;
        self.redact.retain(|pattern| match Redactor::new(std::slice::from_ref(pattern)) {
            Ok(_) => true,
            Err(error) => {
                let problem = error.to_string();
                problems.push(ConfigError::Value {
                    key: "capture.redact".into(),
                    from: from.clone(),
                    problem,
                });
                false
            }
        });
    }

    fn set_value(&mut self, name: &str, value: String, source: SettingOrigin) {
        let Some(key) = SETTING_KEYS.iter().find(|key| key.name == name) else {
            return self
                .problems
                .push(ConfigError::Unknown { key: name.to_owned(), from: source.to_string() });
        };
        match key.value_type.check(&value) {
            Ok(()) => drop(self.values.insert(key.name, (value, source))),
            Err(problem) => {
                let from = source.to_string();
                self.problems.push(ConfigError::Value { key: name.to_owned(), from, problem });
            }
        }
    }

    /// The config file, if it may change this setting while a process runs.
    fn find_changeable_file(&self, name: &str) -> Option<PathBuf> {
        let origin = self.values.get(name).map(|(_, origin)| origin);
        let is_fixed = matches!(origin, Some(SettingOrigin::Variable(_) | SettingOrigin::Flag));
        self.file.clone().filter(|_| !is_fixed)
    }

    /// Returns the typed settings. Every value was validated when it was set.
    pub fn to_settings(&self) -> Settings {
        let mut settings = self.to_hook_settings();
        let zone = self.values.get("contents.zone").map_or("", |(value, _)| value.as_str());
        settings.contents.zone = value::parse_zone(zone).unwrap_or_else(|_| Zone::system());
        settings
    }

    /// The settings for a hook, which needs no time zone: resolving the system's zone scans the zone
    /// database, which takes longer than the rest of a hook.
    pub fn to_hook_settings(&self) -> Settings {
        let text = |name: &str| self.values.get(name).map_or("", |(value, _)| value.as_str());
        Settings {
            home: Home::at(&self.home.0),
            store_mode: text("store.mode").parse().unwrap_or(tome_home::StoreMode::PerProject),
            store_engine: value::parse_engine(text("store.engine"))
                .unwrap_or(tome_ledger::StorageEngine::DEFAULT),
            store_idle_close: duration::parse(text("store.idle_close"))
                .ok()
                .flatten()
                .unwrap_or(Duration::MAX),
            daemon_idle_exit: duration::parse(text("daemon.idle_exit")).ok().flatten(),
            daemon_autostart: value::parse_boolean(text("daemon.autostart")).unwrap_or(true),
            daemon_tcp: value::parse_address(text("daemon.tcp")).ok().flatten(),
            daemon_endpoint: value::parse_address(text("daemon.endpoint")).ok().flatten(),
            text_bytes_max: text("capture.text_max_bytes")
                .parse()
                .unwrap_or(tome_model::limits::TEXT_BYTES_MAX),
            redact: self.redact.clone(),
            ignore: text("capture.ignore").to_owned(),
            ignore_file: self.find_changeable_file("capture.ignore"),
            transcripts: capture::transcript_settings(&text),
            notes: NotebookRules {
                facts_bytes_max: text("notes.facts_max_bytes")
                    .parse()
                    .unwrap_or(tome_notebook::limits::FACTS_BYTES_MAX),
                facts_allowed: value::parse_fact_names(text("notes.facts_allowed")).ok().flatten(),
            },
            contents: contents_settings(&text),
            summarizer: SummarizerSettings {
                kind: value::parse_summarizer_kind(text("summarizer.kind"))
                    .unwrap_or(SummarizerKind::Extractive),
                model: text("summarizer.model").to_owned(),
                base_url: text("summarizer.base_url").to_owned(),
                key_env: text("summarizer.key_env").to_owned(),
                key_file: text("summarizer.key_file").to_owned(),
                command: text("summarizer.command").to_owned(),
                daily_tokens: text("summarizer.daily_tokens").parse().unwrap_or(0),
                timeout: duration::parse_finite(text("summarizer.timeout"))
                    .unwrap_or(Duration::from_secs(60)),
            },
            chat: chat::chat_settings(&text),
            reflect: reflect_settings(&text),
            embed: embed_settings(&text),
            mcp_toolsets: Toolsets::parse(text("mcp.toolsets")).unwrap_or_default(),
            inject: inject_settings(&text),
        }
    }
}

fn reflect_settings<'c>(text: &impl Fn(&'static str) -> &'c str) -> ReflectSettings {
    ReflectSettings {
        enabled: value::parse_boolean(text("reflect.enabled")).unwrap_or(true),
        idle: duration::parse(text("reflect.idle")).unwrap_or(Some(Duration::from_secs(1_800))),
    }
}

fn embed_settings<'c>(text: &impl Fn(&'static str) -> &'c str) -> EmbedSettings {
    let time =
        |name, usual_s| duration::parse_finite(text(name)).unwrap_or(Duration::from_secs(usual_s));
    EmbedSettings {
        provider: value::parse_embed_provider(text("embed.provider"))
            .unwrap_or(EmbedProvider::Builtin),
        model: text("embed.model").to_owned(),
        dimensions: text("embed.dimensions").parse().unwrap_or(0),
        base_url: text("embed.base_url").to_owned(),
        key_env: text("embed.key_env").to_owned(),
        timeout: time("embed.timeout", 30),
        question_timeout: time("embed.question_timeout", 1),
    }
}

/// Joins an array of strings with commas, as in an environment variable.
fn join_words(items: &[Value]) -> Option<String> {
    let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
    words.map(|words| words.join(","))
}

fn inject_settings<'c>(text: &impl Fn(&'static str) -> &'c str) -> InjectSettings {
    let is_on = |name| value::parse_boolean(text(name)).unwrap_or(true);
    let steps = |name, usual| text(name).parse().unwrap_or(usual);
    let enabled = is_on("inject.enabled");
    InjectSettings {
        start: enabled && is_on("inject.start"),
        hints: enabled && is_on("inject.hints"),
        before_edit: enabled && is_on("inject.before_edit"),
        subagents: enabled && is_on("inject.subagents"),
        plan: enabled && is_on("inject.plan"),
        store: enabled && is_on("inject.store"),
        overview: enabled && is_on("inject.overview"),
        headless: value::parse_boolean(text("inject.headless")).unwrap_or(false),
        budget_tokens: text("inject.budget_tokens").parse().unwrap_or(2_000),
        plan_steps: steps("inject.plan_steps", 5),
        store_tool_calls: steps("inject.store_tool_calls", 10),
        overview_rounds: steps("inject.overview_rounds", 10),
    }
}

/// Settings of the contents, except the zone.
fn contents_settings<'c>(text: &impl Fn(&'static str) -> &'c str) -> ContentsSettings {
    let usual = ContentsSettings::in_zone(Zone::utc());
    let ms = |name, usual| {
        let length = duration::parse_finite(text(name)).ok();
        length.and_then(|length| u64::try_from(length.as_millis()).ok()).unwrap_or(usual)
    };
    let tokens = |name, usual| text(name).parse().unwrap_or(usual);
    ContentsSettings {
        gap_ms: ms("contents.gap", usual.gap_ms),
        tokens_max: tokens("contents.segment_tokens", usual.tokens_max),
        overlap_ms: ms("contents.overlap", usual.overlap_ms),
        overlap_tokens_max: tokens("contents.overlap_tokens", usual.overlap_tokens_max),
        ..usual
    }
}
