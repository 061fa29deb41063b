//! The commands, one file each: most are thin clients that query the daemon and print its response.

mod admin;
mod agent_checks;
mod backup;
mod bench;
mod browse;
mod capture_state;
mod chat;
mod citation;
mod coder;
mod config;
mod config_file;
mod coverage;
mod daemon;
mod damage;
mod demo;
mod display_path;
mod doctor;
mod doctor_check;
mod event_page;
mod events;
mod export;
mod file_diff;
mod generated_docs;
mod import;
mod index_status;
mod ingest;
mod init;
mod injections;
mod instructions;
mod json_fields;
mod last_activity;
mod mcp;
mod memory;
mod merge_sessions;
mod notebook_client;
mod nothing_recorded;
mod output_file;
mod overview;
mod own_program;
mod project_name;
mod project_scope;
mod projects;
mod read;
mod rebuild_messages;
mod recall;
mod reflect;
mod repair;
mod report;
mod resume;
mod screen;
mod session_lookup;
mod session_page;
mod session_target;
mod sessions;
mod setup;
mod shell_word;
mod show;
mod start;
mod status;
mod time;
mod time_labels;
mod toc;
mod tool;
mod tool_text;
mod topics;
mod turn;
mod unconnected;

use std::io::{self, Write};
use std::path::Path;
use std::pin::Pin;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use serde::Serialize;
use tome_bench::BenchCommand;
use tome_proto::ClientError;
use tome_terminal::{BOLD, CommandError, Outcome, RED, RESET, WrappedWriter};

use crate::cli::{AdminCommand, Cli, ColorChoice, Command, GlobalOptions};
use crate::config::{Config, ConfigError, ConfigFlags, Settings};
use crate::connect::{ConnectError, DaemonConnector, build_connector};

pub struct CommandContext {
    pub settings: Settings,
    pub config: Config,
    pub connector: DaemonConnector,
    pub json: bool,
}

/// Parses the command line and runs the command.
pub fn run() -> ExitCode {
    if let Some(shell) = generated_docs::requested_shell() {
        return match generated_docs::answer_shell(&shell) {
            Ok(_) => ExitCode::SUCCESS,
            Err(error) => report_error(&error, false),
        };
    }
    if let Some(columns) = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()) {
        tome_terminal::set_width(columns);
    }
    // Help and errors of the command line are printed before it has been parsed.
    if is_color_refused(std::env::args_os()) {
        anstream::ColorChoice::Never.write_global();
    }
    let cli = match Cli::parse() {
        Ok(cli) => cli,
        Err(error) => {
            let is_json = error.use_stderr() && std::env::args_os().any(|arg| arg == "--json");
            if is_json {
                let (message, tip) = split_usage_error(&error.to_string());
                print_error_json(&message, &[], tip.as_deref(), 2);
            } else {
                let _ = error.print();
            }
            return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    match cli.global.color {
        ColorChoice::Auto => {}
        ColorChoice::Always => anstream::ColorChoice::Always.write_global(),
        ColorChoice::Never => anstream::ColorChoice::Never.write_global(),
    }
    let is_json = cli.global.json;
    match dispatch(cli) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(1),
        Ok(Outcome::BadInput) => ExitCode::from(2),
        Err(error) => report_error(&error, is_json),
    }
}

fn dispatch(cli: Cli) -> Result<Outcome> {
    match &cli.command {
        Some(Command::Completions(args)) => return generated_docs::print_completions(args.shell),
        Some(Command::Man(args)) => return generated_docs::write_manual(args.dir.as_deref()),
        // `main` handles hooks before the command line is parsed; only `hook --help` gets here.
        Some(Command::Hook(_)) => return Ok(Outcome::Done),
        // Uses its own home, whatever the settings say.
        Some(Command::Bench(BenchCommand::Recall(args))) => {
            return bench::run_recall(&cli.global, args);
        }
        _ => {}
    }
    if let Some(command) = &cli.command
        && let Some(flag) = overview_flag(&cli)
    {
        return Err(refuse_flag(command, &flag).into());
    }
    let context = CommandContext::new(&cli.global)?;
    if let Some(Command::Config(args)) = &cli.command {
        return match &args.change {
            None => config::run(&context, args.all),
            Some(change) => config_file::run(&context, change),
        };
    }
    if let Some(Command::Doctor(args)) = &cli.command {
        return doctor::run(&context, args.deep);
    }
    if let Some(problem) = context.config.problems.first() {
        return Err(problem.clone().into());
    }
    if let Some(command) = &cli.command
        && let Some(answer) = nothing_recorded::answer(&context, command)
    {
        return answer;
    }
    match cli.command {
        None => overview::run(&context, cli.project.as_deref(), cli.all_projects),
        Some(Command::Recall(args)) => recall::run(&context, &args),
        Some(Command::Browse(args)) => browse::run(&context, &args),
        Some(Command::Events(args)) => events::run(&context, &args),
        Some(Command::Toc(args)) => toc::run(&context, &args),
        Some(Command::Sessions(args)) => sessions::run(&context, &args),
        Some(Command::Read(args)) => read::run(&context, &args),
        Some(Command::Resume(args)) => resume::run(&context, &args),
        Some(Command::Report(args)) => report::run(&context, &args),
        Some(Command::Topics(args)) => topics::run(&context, &args),
        Some(Command::File(args)) => topics::run_file(&context, &args),
        Some(Command::Instructions(args)) => instructions::run(&context, &args),
        Some(Command::Show(args)) => show::run(&context, &args),
        Some(Command::Injections(args)) => injections::run(&context, &args),
        Some(Command::Ingest(args)) => ingest::run(&context, args.file.as_deref()),
        Some(Command::Import(args)) => import::run(&context, &args),
        Some(Command::Memory(args)) => memory::run(&context, &args),
        Some(Command::Coder(args)) => coder::run(&context, &args),
        Some(Command::Reflect(args)) => reflect::run(&context, &args),
        Some(Command::Init(args)) => init::run(&context, &args),
        Some(Command::Chat(args)) => chat::run(&context, &args),
        Some(Command::Tool(args)) => tool::run(&context, &args),
        Some(Command::Mcp(args)) => mcp::run(context, &args),
        Some(Command::Setup(args)) => setup::run(&context, &args),
        Some(Command::Status(args)) => status::run(&context, args.reset_lost),
        Some(Command::Projects(args)) => projects::run(&context, &args),
        Some(Command::Pause(args)) => capture_state::pause(&context, &args),
        Some(Command::Unpause) => capture_state::unpause(&context),
        Some(Command::Export(args)) => export::run(&context, &args),
        Some(Command::Backup(args)) => backup::write(&context, &args),
        Some(Command::Restore(args)) => backup::restore(&context, &args),
        Some(Command::Demo) => demo::run(&context),
        Some(Command::Start) => start::start_daemon(&context),
        Some(Command::Stop(args)) => start::stop_daemon(&context, args.force),
        Some(Command::Daemon(args)) => daemon::run(context, args.detached),
        Some(Command::Admin(AdminCommand::Flush)) => admin::flush_stores(&context),
        Some(Command::Admin(AdminCommand::Compact)) => admin::compact_stores(&context),
        Some(Command::Admin(AdminCommand::Status)) => admin::show_projections(&context),
        Some(Command::Admin(AdminCommand::Verify(args))) => admin::verify_stores(&context, &args),
        Some(Command::Admin(AdminCommand::Repair(args))) => repair::run(&context, &args),
        Some(Command::Admin(AdminCommand::RebuildToc(args))) => admin::rebuild_toc(&context, &args),
        Some(Command::Admin(AdminCommand::RebuildMessages(args))) => {
            rebuild_messages::rebuild_transcripts(&context, &args)
        }
        Some(Command::Admin(AdminCommand::MergeSessions(args))) => {
            merge_sessions::run(&context, args.dry_run)
        }
        Some(
            Command::Config(_)
            | Command::Doctor(_)
            | Command::Hook(_)
            | Command::Bench(_)
            | Command::Completions(_)
            | Command::Man(_),
        ) => Ok(Outcome::Done),
    }
}

/// Whether the command line says `--color never`, however wrong the rest of it is.
fn is_color_refused(args: impl Iterator<Item = std::ffi::OsString>) -> bool {
    let args: Vec<_> = args.take_while(|arg| arg != "--").collect();
    let is_pair =
        |pair: &[std::ffi::OsString]| matches!(pair, [a, b] if a == "--color" && b == "never");
    args.windows(2).any(is_pair) || args.iter().any(|arg| arg == "--color=never")
}

/// The flag that selects the projects of the overview, as it was typed.
fn overview_flag(cli: &Cli) -> Option<String> {
    let quote = |project: &Path| shell_word::quote_shell(&project.to_string_lossy());
    match &cli.project {
        Some(project) => Some(format!("--project {}", quote(project))),
        None => cli.all_projects.then(|| "--all-projects".to_owned()),
    }
}

/// The refusal of a flag of the overview before a command, which would not see it.
fn refuse_flag(command: &Command, flag: &str) -> CommandError {
    let name = format!("{command:?}");
    let name = name.split(['(', ' ']).next().unwrap_or_default().to_lowercase();
    let word = flag.split(' ').next().unwrap_or(flag);
    CommandError::bad_input(format!("{word} comes after the command"))
        .with_hint(format!("tome {name} {flag}"))
}

/// Runs a read-only command (`recall`, `toc`, `memory`) from within a chat. Errors are printed, not
/// returned.
fn run_read_only(context: &CommandContext, words: &[&str]) {
    let typed = std::iter::once("tome").chain(words.iter().copied());
    let shown = match Cli::try_parse_from(typed).map(|cli| cli.command) {
        Ok(Some(Command::Recall(args))) => recall::run(context, &args),
        Ok(Some(Command::Toc(args))) => toc::run(context, &args),
        Ok(Some(Command::Memory(args))) => memory::run(context, &args),
        Ok(_) => Ok(Outcome::Done),
        Err(error) => {
            let _ = error.print();
            return;
        }
    };
    if let Err(error) = shown {
        // The caller keeps running, so the exit code is ignored.
        let _ = report_error(&error, context.json);
    }
}

fn config_flags(global: &GlobalOptions) -> ConfigFlags {
    ConfigFlags {
        home: global.home.clone(),
        config: global.config.clone(),
        set: global.set.clone(),
    }
}

impl CommandContext {
    fn new(global: &GlobalOptions) -> Result<Self> {
        let flags = config_flags(global);
        let mut config = Config::load(&flags, &|name| std::env::var(name).ok())?;
        config.check_patterns();
        let settings = config.to_settings();
        let connector = build_connector(&settings, &flags);
        Ok(Self { settings, config, connector, json: global.json })
    }

    /// Runs async work, such as calls to the daemon, on a single-threaded runtime.
    pub fn block_on<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        // Boxed, so that the runtime is compiled once per type of result, not once per caller.
        runtime.block_on(Box::pin(work) as Pin<Box<dyn Future<Output = _> + '_>>)
    }

    pub fn print_json(&self, value: &impl Serialize) -> Result<()> {
        Ok(tome_terminal::write_json(value)?)
    }
}

/// Prints an error with its causes and a hint, for programs as JSON. A broken pipe (`| head`) is not an
/// error.
fn report_error(error: &anyhow::Error, is_json: bool) -> ExitCode {
    if error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    }) {
        return ExitCode::SUCCESS;
    }
    let refusal = error.downcast_ref::<CommandError>();
    let (code, hint) = match refusal {
        Some(refusal) => (refusal.code, refusal.hint.as_deref()),
        None => classify_error(error),
    };
    if is_json {
        let causes: Vec<String> = error.chain().skip(1).map(ToString::to_string).collect();
        print_error_json(&error.to_string(), &causes, hint, code);
        return ExitCode::from(code);
    }
    let mut err = WrappedWriter::new(tome_terminal::stderr().lock(), 6);
    let _ = writeln!(err, "{RED}error:{RESET} {error}");
    for cause in error.chain().skip(1) {
        let _ = writeln!(err, "  because: {cause}");
    }
    if let Some(hint) = hint {
        let _ = writeln!(err, "{BOLD}hint:{RESET} {hint}");
    }
    ExitCode::from(code)
}

/// Splits the report of a wrong command line into what is wrong, on one line, and a tip.
fn split_usage_error(report: &str) -> (String, Option<String>) {
    let mut paragraphs = report.split("\n\n").map(|paragraph| {
        let lines: Vec<&str> = paragraph.lines().map(str::trim).collect();
        lines.join(" ")
    });
    let message = paragraphs.next().unwrap_or_default();
    let tip = paragraphs.find_map(|paragraph| Some(paragraph.strip_prefix("tip: ")?.to_owned()));
    (message.trim_start_matches("error: ").to_owned(), tip)
}

/// Prints an error as a JSON object to standard error.
fn print_error_json(message: &str, causes: &[String], hint: Option<&str>, code: u8) {
    let json = serde_json::json!({
        "error": message, "because": causes, "hint": hint, "exit_code": code,
    });
    let _ = writeln!(tome_terminal::stderr(), "{json}");
}

/// Returns the exit code and hint for an error that is not a `CommandError`.
fn classify_error(error: &anyhow::Error) -> (u8, Option<&'static str>) {
    let connect_error = error.downcast_ref::<ConnectError>();
    let client = match connect_error {
        Some(ConnectError::Client(client)) => Some(client),
        _ => error.downcast_ref::<ClientError>(),
    };
    if error.downcast_ref::<ConfigError>().is_some() {
        return (2, Some("`tome config --all` shows every setting and where it comes from"));
    }
    match (connect_error, client) {
        (Some(ConnectError::NotRunning), _) => (3, Some("run `tome start`")),
        (Some(ConnectError::NotStarted(_)), _) => {
            (3, Some("`tome doctor` looks for the cause; the log is run/daemon.log in Tome's home"))
        }
        (Some(ConnectError::Stuck(_)), _) => (3, None),
        (
            _,
            Some(
                ClientError::Unreachable(_)
                | ClientError::TimedOut(_)
                | ClientError::Unauthorized(_),
            ),
        ) => (3, Some("run `tome status` or `tome doctor` for details")),
        (_, Some(ClientError::NotFound(_))) => (
            4,
            Some(
                "`tome toc` and `tome events` list ids; add `--all-projects` to see every project",
            ),
        ),
        (_, Some(ClientError::Invalid(_))) => (2, None),
        _ if error.downcast_ref::<tome_model::InvalidInput>().is_some() => (2, None),
        _ => (1, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_refused_before_the_command_line_is_parsed() {
        let is_refused = |line: &str| is_color_refused(line.split(' ').map(Into::into));
        for line in ["tome --color never bogus", "tome projects --color=never --help"] {
            assert!(is_refused(line), "{line}");
        }
        for line in ["tome --color always x", "tome recall never", "tome recall -- --color never"] {
            assert!(!is_refused(line), "{line}");
        }
    }
}
