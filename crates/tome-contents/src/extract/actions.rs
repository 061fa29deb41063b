//! Bullets about actions: files changed, commands run with their outcomes, commits.

use tome_text::truncate_words;

use super::bullets::{BulletCandidate, BulletGroup, EVIDENCE_MAX, build_evidence};
use super::commands::{CommandOutcome, CommandRun, render_passed_count};
use super::digest::{FileActivity, SegmentDigest};
use super::failures::render_failure_message;
use super::files::FileTouchKind;
use super::terms::base_name;
use super::text::plain_text;
use crate::Evidence;

pub(super) fn build_changes_bullet(story: &SegmentDigest<'_>) -> Option<BulletCandidate> {
    const SHOWN_MAX: usize = 4;
    let files = story.changed_files();
    let text = render_changes(&files, SHOWN_MAX)?;
    let support = choose_files(&files, SHOWN_MAX)
        .iter()
        .map(|file| build_evidence(file.event, file.raw))
        .collect();
    let order = files.iter().map(|file| file.event).min()?;
    Some(BulletCandidate::new((BulletGroup::Changed, order), 15, &text, support))
}

const ACTION_WORDS: [(FileTouchKind, &str); 3] = [
    (FileTouchKind::Changed, "changed"),
    (FileTouchKind::Created, "created"),
    (FileTouchKind::Deleted, "deleted"),
];

/// Chooses the files to name: one of each action first, then the most edited.
fn choose_files<'s, 'a>(
    files: &[&'s FileActivity<'a>],
    shown_max: usize,
) -> Vec<&'s FileActivity<'a>> {
    let of = |touch: FileTouchKind| files.iter().filter(move |file| file.action == touch).copied();
    let firsts = ACTION_WORDS.iter().filter_map(|(touch, _)| of(*touch).next());
    let others = ACTION_WORDS.iter().flat_map(|(touch, _)| of(*touch).skip(1));
    let mut named: Vec<&'s FileActivity<'a>> = firsts.chain(others).take(shown_max).collect();
    named.sort_by_key(|file| ACTION_WORDS.iter().position(|(touch, _)| *touch == file.action));
    named
}

/// Renders `Changed lexer.rs (3 edits), parser.rs; created tests/unicode.rs`.
pub(super) fn render_changes(files: &[&FileActivity<'_>], shown_max: usize) -> Option<String> {
    let named = choose_files(files, shown_max);
    let mut parts = Vec::new();
    for (touch, word) in ACTION_WORDS {
        let of = named.iter().filter(|file| file.action == touch);
        let names: Vec<String> = of.map(|file| render_file_change(file, files)).collect();
        if !names.is_empty() {
            parts.push(format!("{word} {}", names.join(", ")));
        }
    }
    let hidden = files.len() - named.len();
    let more = if hidden > 0 { format!(" and {hidden} more") } else { String::new() };
    (!parts.is_empty()).then(|| format!("{}{more}", super::clause::capitalize(&parts.join("; "))))
}

fn render_file_change(file: &FileActivity<'_>, files: &[&FileActivity<'_>]) -> String {
    let name = render_file_name(file.path, files);
    if file.times > 1 && file.action == FileTouchKind::Changed {
        format!("{name} ({} edits)", file.times)
    } else {
        name
    }
}

/// Returns the base name, with its folder if the name is generic or ambiguous.
pub(super) fn render_file_name(path: &str, files: &[&FileActivity<'_>]) -> String {
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
struct CommandRuns<'s, 'a> {
    name: &'s str,
    runs: Vec<&'s CommandRun<'a>>,
}

impl CommandRuns<'_, '_> {
    fn failure_count(&self) -> usize {
        self.runs.iter().filter(|ran| ran.outcome == CommandOutcome::Failed).count()
    }

    fn weight(&self) -> i32 {
        let last_failed = self.runs.last().is_some_and(|ran| ran.outcome == CommandOutcome::Failed);
        let tests = self.name.contains("test")
            || self.name.contains("check")
            || self.name.contains("build")
            || self.name.contains("deploy");
        i32::from(self.failure_count() > 0) * 6
            + i32::from(last_failed) * 3
            + i32::from(tests) * 3
            + i32::from(self.runs.iter().any(|ran| ran.outcome == CommandOutcome::Passed))
    }
}

fn group_runs<'s, 'a>(story: &'s SegmentDigest<'a>) -> Vec<CommandRuns<'s, 'a>> {
    let mut grouped: Vec<CommandRuns<'s, 'a>> = Vec::new();
    for ran in story.runs.iter().filter(|ran| ran.outcome != CommandOutcome::Unclear) {
        if ran.name == "git commit" && ran.outcome == CommandOutcome::Passed {
            continue;
        }
        let room = grouped.len() < 24;
        match grouped.iter_mut().find(|group| group.name == ran.name) {
            Some(group) => group.runs.push(ran),
            None if room => grouped.push(CommandRuns { name: &ran.name, runs: vec![ran] }),
            None => {}
        }
    }
    // A minor command matters only if it failed with a message.
    grouped.retain(|group| {
        group.runs.iter().any(|ran| ran.is_major) || first_failure_line(group).is_some()
    });
    grouped
}

pub(super) fn build_commands_bullet(story: &SegmentDigest<'_>) -> Option<BulletCandidate> {
    let mut grouped = group_runs(story);
    grouped.sort_by_key(|group| std::cmp::Reverse(group.weight()));
    let failed = grouped.iter().any(|group| group.failure_count() > 0);
    grouped.truncate(3);
    let first = grouped.first()?;
    let order = first.runs.last()?.event;
    let mut texts = Vec::new();
    let mut support = Vec::new();
    let passed_alone = grouped.iter().all(|group| group.failure_count() == 0);
    let detail_max = if grouped.len() > 1 { 56 } else { 90 };
    for group in &grouped {
        texts.push(if passed_alone && grouped.len() > 1 {
            format!("`{}`", group.name)
        } else {
            render_runs(group, detail_max)
        });
    }
    support.extend(collect_runs_evidence(&grouped));
    support.truncate(EVIDENCE_MAX);
    let text = match texts.split_last() {
        Some((last, rest)) if passed_alone && !rest.is_empty() => {
            format!("{} and {last} passed", rest.join(", "))
        }
        _ => texts.join("; "),
    };
    Some(BulletCandidate::new(
        (BulletGroup::Ran, order),
        if failed { 14 } else { 9 },
        &text,
        support,
    ))
}

/// Renders "`cargo test` failed twice (error[E0308]: mismatched types), then passed (42 passed)".
fn render_runs(group: &CommandRuns<'_, '_>, detail_max: usize) -> String {
    let called = group.name;
    let failures = group.failure_count();
    let last = group.runs.last();
    let passed = last.filter(|ran| ran.outcome == CommandOutcome::Passed);
    let counted = passed
        .and_then(|ran| ran.line)
        .and_then(render_passed_count)
        .map(|words| format!(" ({words})"))
        .unwrap_or_default();
    if failures == 0 {
        return format!("`{called}` passed{counted}");
    }
    let why = first_failure_line(group)
        .map(|(_, line)| {
            format!(" ({})", truncate_words(&render_failure_message(line), detail_max))
        })
        .unwrap_or_default();
    let often = match failures {
        1 => String::new(),
        2 => " twice".to_owned(),
        times => format!(" {times} times"),
    };
    let then = if passed.is_some() { format!(", then passed{counted}") } else { String::new() };
    format!("`{called}` failed{often}{why}{then}")
}

fn first_failure_line<'a>(group: &CommandRuns<'_, 'a>) -> Option<(usize, &'a str)> {
    group
        .runs
        .iter()
        .filter(|ran| ran.outcome == CommandOutcome::Failed)
        .find_map(|ran| ran.line.map(|line| (ran.event, line)))
}

/// Collects the command lines, and the outcome lines of the first command.
fn collect_runs_evidence(grouped: &[CommandRuns<'_, '_>]) -> Vec<Evidence> {
    let typed = |group: &CommandRuns<'_, '_>| {
        group.runs.last().map(|ran| build_evidence(ran.event, first_line(ran.command_line)))
    };
    match grouped {
        [only] => typed(only).into_iter().chain(collect_outcome_evidence(only)).collect(),
        [first, rest @ ..] if first.failure_count() > 0 => collect_outcome_evidence(first)
            .into_iter()
            .chain(rest.iter().filter_map(typed))
            .collect(),
        several => several.iter().filter_map(typed).collect(),
    }
}

fn first_line(typed: &str) -> &str {
    typed.lines().find(|line| !line.trim().is_empty()).unwrap_or(typed)
}

fn collect_outcome_evidence(group: &CommandRuns<'_, '_>) -> Vec<Evidence> {
    let mut support = Vec::new();
    if let Some((event, line)) = first_failure_line(group) {
        support.push(build_evidence(event, line));
    } else if let Some(ran) = group.runs.iter().find(|ran| ran.outcome == CommandOutcome::Failed) {
        support.push(build_evidence(ran.event, first_line(ran.command_line)));
    }
    if let Some(ran) = group.runs.last().filter(|ran| ran.outcome == CommandOutcome::Passed) {
        support.push(build_evidence(ran.event, ran.line.unwrap_or(first_line(ran.command_line))));
    }
    support
}

pub(super) fn build_commit_bullet(story: &SegmentDigest<'_>) -> Option<BulletCandidate> {
    let (event, message) = story.commits.last()?;
    let support = vec![build_evidence(*event, message)];
    Some(BulletCandidate::new(
        (BulletGroup::Committed, *event),
        10,
        &format!("Committed: {}", plain_text(message)),
        support,
    ))
}

/// Renders what was only read, with its evidence: files, else commands and searches.
pub(super) fn render_reads(story: &SegmentDigest<'_>) -> Option<(String, Vec<Evidence>)> {
    let read: Vec<&FileActivity<'_>> =
        story.files.iter().filter(|file| file.action == FileTouchKind::Read).collect();
    if !read.is_empty() {
        let names: Vec<String> =
            read.iter().take(3).map(|file| render_file_name(file.path, &read)).collect();
        let more =
            if read.len() > 3 { format!(" and {} more", read.len() - 3) } else { String::new() };
        let support = read
            .iter()
            .take(EVIDENCE_MAX)
            .map(|file| build_evidence(file.event, file.raw))
            .collect();
        return Some((format!("Read {}{more}", names.join(", ")), support));
    }
    let ran = story.runs.iter().map(|ran| (ran.event, "Ran", ran.command_line));
    let looks = story.reads.iter().map(|look| (look.event, look.word, look.what));
    let (event, word, what) = ran.chain(looks).min_by_key(|one| one.0)?;
    let line = what.lines().find(|line| !line.trim().is_empty())?;
    Some((
        format!("{word} {}", truncate_words(&plain_text(line), 70)),
        vec![build_evidence(event, line)],
    ))
}
