//! The long crash test: `cargo run -p tome-testkit --bin torture -- [--seconds N | --rounds N |
//! --kills N] [--writers W] [--seed S]`. Exits with 1 if any event was lost, duplicated, torn or
//! miscounted.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use tome_testkit::{CrashTest, CrashTestPlan, StopCondition, World};

const USAGE: &str = "torture [--seconds N | --rounds N | --kills N] [--writers W] [--seed S]";

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "prints a report")]
fn main() -> ExitCode {
    let plan = match parse_plan(std::env::args().skip(1)) {
        Ok(plan) => plan,
        Err(problem) => {
            eprintln!("{problem}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let program = match find_program() {
        Ok(program) => program,
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::from(2);
        }
    };
    println!("crash test of {}: seed {}, {} writers", program.display(), plan.seed, plan.writers);
    let world = World::new(program);
    let report = CrashTest::new(&world, plan).run(|so_far| {
        println!(
            "round {:>4}: {:>4} kills, {:>8} acknowledged, {:>6} hooked, {} violations",
            so_far.rounds,
            so_far.kills,
            so_far.acknowledged,
            so_far.hooked,
            so_far.violations.len()
        );
    });
    println!("\n{report}");
    if report.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

fn parse_plan(mut args: impl Iterator<Item = String>) -> Result<CrashTestPlan, String> {
    let mut plan = CrashTestPlan {
        seed: u64::from(std::process::id()),
        writers: 8,
        until: StopCondition::Passed(Duration::from_secs(120)),
        kills_max: 5,
        kill_pause_max: Duration::from_millis(700),
    };
    while let Some(name) = args.next() {
        let value = args.next().and_then(|value| value.parse::<u64>().ok());
        let value = value.ok_or_else(|| format!("{name} needs a number"))?;
        match name.as_str() {
            "--seconds" => plan.until = StopCondition::Passed(Duration::from_secs(value)),
            "--rounds" => {
                plan.until = StopCondition::Rounds(u32::try_from(value).unwrap_or(u32::MAX));
            }
            // Many kills per round: the check after a round takes longer than a kill.
            "--kills" => {
                plan.until = StopCondition::Kills(value);
                plan.kills_max = 40;
                plan.kill_pause_max = Duration::from_millis(400);
            }
            "--writers" => plan.writers = value.max(1),
            "--seed" => plan.seed = value,
            _ => return Err(format!("{name} is not a known option")),
        }
    }
    Ok(plan)
}

/// Finds the binary next to this one; builds it if it is missing.
fn find_program() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let program = own.with_file_name(format!("tome{}", std::env::consts::EXE_SUFFIX));
    if program.exists() {
        return Ok(program);
    }
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    build.args(["build", "-p", "tome"]);
    if own.components().any(|part| part.as_os_str() == "release") {
        build.arg("--release");
    }
    match build.status() {
        Ok(status) if status.success() && program.exists() => Ok(program),
        _ => Err(format!("there is no {}: run `cargo build -p tome` first", program.display())),
    }
}
