//! Prints the contents that the built-in summarizer makes of events, to judge them by reading:
//! `cargo run -p tome-contents --example contents_of -- [--excerpts] [--facts] events.jsonl …`
//!
//! Reads JSON lines as `tome events --json` prints them and `tome ingest` reads them.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a viewing aid for a person at a terminal"
)]

use tome_contents::{ContentsSettings, Extractive, catch_up_contents, verify_contents};
use tome_ledger::{Engine, Ledger, NewEvent};
use tome_model::{EventLine, Level, Node, SystemClock, Zone};

fn main() {
    let (flags, paths): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    let has = |name: &str| flags.iter().any(|flag| flag == name);
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::open_or_create(folder.path(), Engine::Fjall).unwrap();
    for path in &paths {
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let draft = EventLine::parse(line).unwrap().into_draft().unwrap();
            let (project, at) = (draft.project.clone().unwrap_or(draft.cwd.clone()), draft.at);
            ledger.append(vec![NewEvent::encode(draft, project, at)]).unwrap();
        }
    }
    let settings = ContentsSettings::in_zone(Zone::utc());
    catch_up_contents(&ledger, &settings, &Extractive, &SystemClock).unwrap();
    for project in ledger.contents_projects().unwrap() {
        println!("\n======== {project}");
        for head in ledger.node_headers(&project, "", None).map(Result::unwrap) {
            if let Some(node) = ledger.node(&project, &head.id, None).unwrap() {
                show(&ledger, &project, &node, has("--excerpts"), has("--facts"));
            }
        }
    }
    for problem in verify_contents(&ledger, &settings).unwrap().problems {
        println!("problem: {problem}");
    }
}

fn show(ledger: &Ledger, project: &str, node: &Node, excerpts: bool, facts: bool) {
    println!("\n{} · {} events\n# {}", node.id, node.events, node.title);
    for bullet in &node.bullets {
        println!("- {}", bullet.text);
        for id in bullet.grips.iter().filter(|_| excerpts) {
            let grip = ledger.grip(project, id).unwrap().unwrap();
            println!("    {} {:?}", grip.kind, grip.excerpt);
        }
    }
    println!("[{}]", node.keywords.join(", "));
    for work in node.work.iter().filter(|_| facts && node.id.level() == Level::Segment) {
        println!("  branch {:?}, {} turns, weight {}", work.branch, work.turns, work.weight);
        for fact in &work.facts {
            println!("  {:?} {}: {}", fact.kind, fact.weight, fact.text);
        }
    }
}
