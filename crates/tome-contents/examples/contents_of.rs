//! Prints the contents that the built-in summarizer makes of events, to judge them by reading:
//! `cargo run -p tome-contents --example contents_of -- [--excerpts] [--facts] events.jsonl …`
//!
//! `--score=labels.tsv` instead counts how many of the statements are false or useless, by labels of
//! a reader: node, hash of the statement, `true` or `false`, `useful` or `useless`. Statements that
//! nobody has labelled are counted apart; `--unlabelled` lists them in the same form, with the text.
//!
//! Reads JSON lines as `tome events --json` prints them and `tome ingest` reads them.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a viewing aid for a person at a terminal"
)]

use std::collections::{BTreeMap, HashMap};

use tome_contents::{ContentsSettings, Extractive, catch_up_contents, verify_contents};
use tome_ledger::{Ledger, NewEvent, StorageEngine};
use tome_model::{EventLine, Level, Node, SystemClock, Zone};

fn main() {
    let (flags, paths): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    let has = |name: &str| flags.iter().any(|flag| flag == name);
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::open_or_create(folder.path(), StorageEngine::Fjall).unwrap();
    for path in &paths {
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let draft = EventLine::parse(line).unwrap().into_draft().unwrap();
            let (project, at) = (draft.project.clone().unwrap_or(draft.cwd.clone()), draft.at);
            ledger.append(vec![NewEvent::encode(draft, project, at)]).unwrap();
        }
    }
    let settings = ContentsSettings::in_zone(Zone::utc());
    catch_up_contents(&ledger, &settings, &Extractive, &SystemClock).unwrap();
    if let Some(path) = flags.iter().find_map(|flag| flag.strip_prefix("--score=")) {
        let labels = std::fs::read_to_string(path).unwrap();
        return score(&ledger, &labels, has("--unlabelled"));
    }
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

/// Counts of one kind of page.
#[derive(Default)]
struct PageScore {
    labelled: usize,
    is_false: usize,
    useless: usize,
    unlabelled: usize,
}

fn score(ledger: &Ledger, labels: &str, list: bool) {
    let labels: HashMap<(&str, &str), (&str, &str)> = labels
        .lines()
        .filter_map(|line| match line.split('\t').collect::<Vec<_>>().as_slice() {
            [node, hash, truth, of_use, ..] => Some(((*node, *hash), (*truth, *of_use))),
            _ => None,
        })
        .collect();
    let mut scores: BTreeMap<Level, PageScore> = BTreeMap::new();
    for project in ledger.contents_projects().unwrap() {
        for head in ledger.node_headers(&project, "", None).map(Result::unwrap) {
            let Some(node) = ledger.node(&project, &head.id, None).unwrap() else { continue };
            let score = scores.entry(node.id.level()).or_default();
            let bullets = node.bullets.iter().map(|bullet| bullet.text.as_str());
            for text in std::iter::once(node.title.as_str()).chain(bullets) {
                let hash: String =
                    blake3::hash(text.as_bytes()).to_hex().chars().take(16).collect();
                match labels.get(&(node.id.as_str(), hash.as_str())) {
                    Some((truth, of_use)) => {
                        score.labelled += 1;
                        score.is_false += usize::from(*truth == "false");
                        score.useless += usize::from(*of_use == "useless");
                    }
                    None => score.unlabelled += 1,
                }
                if list && !labels.contains_key(&(node.id.as_str(), hash.as_str())) {
                    println!("{}\t{hash}\t?\t?\t{project}\t{text}", node.id);
                }
            }
        }
    }
    println!(
        "{:<8} {:>9} {:>7} {:>8} {:>11}",
        "page", "labelled", "false", "useless", "unlabelled"
    );
    for (page, score) in scores {
        let PageScore { labelled, is_false, useless, unlabelled } = score;
        let page = format!("{page:?}");
        println!("{page:<8} {labelled:>9} {is_false:>7} {useless:>8} {unlabelled:>11}");
    }
}
