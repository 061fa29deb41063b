//! Bullets about actions: files changed, commands run with their outcomes, commits.

use tome_text::truncate_words;

use super::bullets::{Candidate, EVIDENCE_MAX, Part, evidence};
use super::commands::{Outcome, Ran, passed_words};
use super::files::Touch;
use super::story::{FileTouch, Story};
use super::text::plain;
use super::trouble::message;
use super::words::base_name;
use crate::Evidence;

pub(super) fn changed(story: &Story<'_>) -> Option<Candidate> {
    const SHOWN_MAX: usize = 4;
    let files = story.changed();
    let text = changed_words(&files, SHOWN_MAX)?;
    let support =
        shown(&files, SHOWN_MAX).iter().map(|file| evidence(file.event, file.raw)).collect();
    let order = files.iter().map(|file| file.event).min()?;
    Some(Candidate::new((Part::Changed, order), 15, &text, support))
}

const TOUCHES: [(Touch, &str); 3] =
    [(Touch::Changed, "changed"), (Touch::Created, "created"), (Touch::Deleted, "deleted")];

/// Chooses the files to name: one of each action first, then the most edited.
fn shown<'s, 'a>(files: &[&'s FileTouch<'a>], shown_max: usize) -> Vec<&'s FileTouch<'a>> {
    let of = |touch: Touch| files.iter().filter(move |file| file.touch == touch).copied();
    let firsts = TOUCHES.iter().filter_map(|(touch, _)| of(*touch).next());
    let others = TOUCHES.iter().flat_map(|(touch, _)| of(*touch).skip(1));
    let mut named: Vec<&'s FileTouch<'a>> = firsts.chain(others).take(shown_max).collect();
    named.sort_by_key(|file| TOUCHES.iter().position(|(touch, _)| *touch == file.touch));
    named
}

/// Renders `Changed lexer.rs (3 edits), parser.rs; created tests/unicode.rs`.
pub(super) fn changed_words(files: &[&FileTouch<'_>], shown_max: usize) -> Option<String> {
    let named = shown(files, shown_max);
    let mut parts = Vec::new();
    for (touch, word) in TOUCHES {
        let of = named.iter().filter(|file| file.touch == touch);
        let names: Vec<String> = of.map(|file| file_words(file, files)).collect();
        if !names.is_empty() {
            parts.push(format!("{word} {}", names.join(", ")));
        }
    }
    let hidden = files.len() - named.len();
    let more = if hidden > 0 { format!(" and {hidden} more") } else { String::new() };
    (!parts.is_empty()).then(|| format!("{}{more}", super::clause::capitalised(&parts.join("; "))))
}

fn file_words(file: &FileTouch<'_>, files: &[&FileTouch<'_>]) -> String {
    let name = file_name(file.path, files);
    if file.times > 1 && file.touch == Touch::Changed {
        format!("{name} ({} edits)", file.times)
    } else {
        name
    }
}

/// Returns the base name, with its folder if the name is generic or ambiguous.
pub(super) fn file_name(path: &str, files: &[&FileTouch<'_>]) -> String {
    let base = base_name(path);
    let vague = matches!(
        base,
        "mod.rs"
            | "lib.rs"
            | "main.rs"
            | "index.ts"
            | "index.js"
            | "index.tsx"
            | "__init__.py"
            | "main.go"
            | "Dockerfile"
            | "README.md"
            | "Cargo.toml"
            | "package.json"
            | "page.tsx"
            | "route.ts"
            | "values.yaml"
            | "SKILL.md"
            | "__main__.py"
            | "conftest.py"
    );
    let twins =
        files.iter().filter(|other| base_name(other.path) == base && other.path != path).count();
    let folder = path.trim_end_matches(base).trim_end_matches(['/', '\\']);
    let folder = base_name(folder);
    if (vague || twins > 0) && !folder.is_empty() && folder != "." {
        format!("{folder}/{base}")
    } else {
        base.to_owned()
    }
}

/// All runs of one command.
struct Runs<'s, 'a> {
    called: &'s str,
    runs: Vec<&'s Ran<'a>>,
}

impl Runs<'_, '_> {
    fn failures(&self) -> usize {
        self.runs.iter().filter(|ran| ran.outcome == Outcome::Failed).count()
    }

    fn weight(&self) -> i32 {
        let last_failed = self.runs.last().is_some_and(|ran| ran.outcome == Outcome::Failed);
        let tests = self.called.contains("test")
            || self.called.contains("check")
            || self.called.contains("build")
            || self.called.contains("deploy");
        i32::from(self.failures() > 0) * 6
            + i32::from(last_failed) * 3
            + i32::from(tests) * 3
            + i32::from(self.runs.iter().any(|ran| ran.outcome == Outcome::Passed))
    }
}

fn runs<'s, 'a>(story: &'s Story<'a>) -> Vec<Runs<'s, 'a>> {
    let mut grouped: Vec<Runs<'s, 'a>> = Vec::new();
    for ran in story.ran.iter().filter(|ran| ran.outcome != Outcome::Unclear) {
        if ran.called == "git commit" && ran.outcome == Outcome::Passed {
            continue;
        }
        let room = grouped.len() < 24;
        match grouped.iter_mut().find(|group| group.called == ran.called) {
            Some(group) => group.runs.push(ran),
            None if room => grouped.push(Runs { called: &ran.called, runs: vec![ran] }),
            None => {}
        }
    }
    // A minor command matters only if it failed with a message.
    grouped
        .retain(|group| group.runs.iter().any(|ran| ran.weighty) || failure_line(group).is_some());
    grouped
}

pub(super) fn commands(story: &Story<'_>) -> Option<Candidate> {
    let mut grouped = runs(story);
    grouped.sort_by_key(|group| std::cmp::Reverse(group.weight()));
    let failed = grouped.iter().any(|group| group.failures() > 0);
    grouped.truncate(3);
    let first = grouped.first()?;
    let order = first.runs.last()?.event;
    let mut texts = Vec::new();
    let mut support = Vec::new();
    let passed_alone = grouped.iter().all(|group| group.failures() == 0);
    let detail_max = if grouped.len() > 1 { 56 } else { 90 };
    for group in &grouped {
        texts.push(if passed_alone && grouped.len() > 1 {
            format!("`{}`", group.called)
        } else {
            run_words(group, detail_max)
        });
    }
    support.extend(runs_evidence(&grouped));
    support.truncate(EVIDENCE_MAX);
    let text = match texts.split_last() {
        Some((last, rest)) if passed_alone && !rest.is_empty() => {
            format!("{} and {last} passed", rest.join(", "))
        }
        _ => texts.join("; "),
    };
    Some(Candidate::new((Part::Ran, order), if failed { 14 } else { 9 }, &text, support))
}

/// Renders "`cargo test` failed twice (error[E0308]: mismatched types), then passed (42 passed)".
fn run_words(group: &Runs<'_, '_>, detail_max: usize) -> String {
    let called = group.called;
    let failures = group.failures();
    let last = group.runs.last();
    let passed = last.filter(|ran| ran.outcome == Outcome::Passed);
    let counted = passed
        .and_then(|ran| ran.line)
        .and_then(passed_words)
        .map(|words| format!(" ({words})"))
        .unwrap_or_default();
    if failures == 0 {
        return format!("`{called}` passed{counted}");
    }
    let why = failure_line(group)
        .map(|(_, line)| format!(" ({})", truncate_words(&message(line), detail_max)))
        .unwrap_or_default();
    let often = match failures {
        1 => String::new(),
        2 => " twice".to_owned(),
        times => format!(" {times} times"),
    };
    let then = if passed.is_some() { format!(", then passed{counted}") } else { String::new() };
    format!("`{called}` failed{often}{why}{then}")
}

fn failure_line<'a>(group: &Runs<'_, 'a>) -> Option<(usize, &'a str)> {
    group
        .runs
        .iter()
        .filter(|ran| ran.outcome == Outcome::Failed)
        .find_map(|ran| ran.line.map(|line| (ran.event, line)))
}

/// Collects the command lines, and the outcome lines of the first command.
fn runs_evidence(grouped: &[Runs<'_, '_>]) -> Vec<Evidence> {
    let typed = |group: &Runs<'_, '_>| {
        group.runs.last().map(|ran| evidence(ran.event, first_line(ran.typed)))
    };
    match grouped {
        [only] => typed(only).into_iter().chain(run_evidence(only)).collect(),
        [first, rest @ ..] if first.failures() > 0 => {
            run_evidence(first).into_iter().chain(rest.iter().filter_map(typed)).collect()
        }
        several => several.iter().filter_map(typed).collect(),
    }
}

fn first_line(typed: &str) -> &str {
    typed.lines().find(|line| !line.trim().is_empty()).unwrap_or(typed)
}

fn run_evidence(group: &Runs<'_, '_>) -> Vec<Evidence> {
    let mut support = Vec::new();
    if let Some((event, line)) = failure_line(group) {
        support.push(evidence(event, line));
    } else if let Some(ran) = group.runs.iter().find(|ran| ran.outcome == Outcome::Failed) {
        support.push(evidence(ran.event, first_line(ran.typed)));
    }
    if let Some(ran) = group.runs.last().filter(|ran| ran.outcome == Outcome::Passed) {
        support.push(evidence(ran.event, ran.line.unwrap_or(first_line(ran.typed))));
    }
    support
}

pub(super) fn committed(story: &Story<'_>) -> Option<Candidate> {
    let (event, message) = story.commits.last()?;
    let support = vec![evidence(*event, message)];
    Some(Candidate::new(
        (Part::Committed, *event),
        10,
        &format!("Committed: {}", plain(message)),
        support,
    ))
}

/// Renders what was only read, with its evidence: files, else commands and searches.
pub(super) fn looked(story: &Story<'_>) -> Option<(String, Vec<Evidence>)> {
    let read: Vec<&FileTouch<'_>> =
        story.files.iter().filter(|file| file.touch == Touch::Read).collect();
    if !read.is_empty() {
        let names: Vec<String> =
            read.iter().take(3).map(|file| file_name(file.path, &read)).collect();
        let more =
            if read.len() > 3 { format!(" and {} more", read.len() - 3) } else { String::new() };
        let support =
            read.iter().take(EVIDENCE_MAX).map(|file| evidence(file.event, file.raw)).collect();
        return Some((format!("Read {}{more}", names.join(", ")), support));
    }
    let ran = story.ran.iter().map(|ran| (ran.event, "Ran", ran.typed));
    let looks = story.looks.iter().map(|look| (look.event, look.word, look.what));
    let (event, word, what) = ran.chain(looks).min_by_key(|one| one.0)?;
    let line = what.lines().find(|line| !line.trim().is_empty())?;
    Some((format!("{word} {}", truncate_words(&plain(line), 70)), vec![evidence(event, line)]))
}
