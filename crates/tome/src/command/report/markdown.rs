//! A report and a standup as Markdown.

use tome_proto::v1;
use tome_terminal::{format_counted, one_line};

use super::{BranchWork, MAIN_BRANCHES, WorkPeriod, group_sessions};
use crate::command::screen::Screen;
use tome_contents::strip_request;

const LINE_CHARS_MAX: usize = 400;
const OUTCOME_CHARS_MAX: usize = 240;
/// Begins the text of a pull request that a session opened.
const OPENED: &str = "Opened PR";
/// Facts of one kind in one branch.
const FACTS_MAX: usize = 12;
/// Lines of a day in a standup.
const STANDUP_LINES_MAX: usize = 8;

/// The sections of a branch, in order.
const SECTIONS: [(&str, &str); 4] = [
    ("commit", "Commits"),
    ("pull_request", "Pull requests"),
    ("decision", "Decisions"),
    ("open", "Open"),
];

pub fn render_report(screen: &Screen, period: &WorkPeriod, has_sources: bool) -> String {
    let days = format_days(screen, period);
    let mut lines = vec![format!("# Report: {days}"), String::new()];
    if period.sessions.is_empty() {
        lines.push("Nothing recorded.".to_owned());
        return lines.join("\n") + "\n";
    }
    let projects = group_sessions(&period.sessions);
    lines.push(count_work(period, projects.len()));
    for (project, branches) in &projects {
        lines.extend([String::new(), format!("## {}", screen.projects.name(project))]);
        for work in branches {
            render_branch(&mut lines, work, branches.len() > 1, has_sources);
        }
    }
    let missing = period.total.saturating_sub(period.sessions.len() as u64);
    if missing > 0 {
        let missing = format_counted(missing, "earlier session is", "earlier sessions are");
        lines.extend([String::new(), format!("{missing} not in this report.")]);
    }
    lines.join("\n") + "\n"
}

/// Names the last activity and the report of its month.
pub fn render_last_activity(screen: &Screen, last_ms: u64, flag: &str) -> String {
    let (day, date) = (screen.labels.format_date(last_ms), screen.labels.format_iso_date(last_ms));
    let month = date.get(..7).unwrap_or(&date);
    format!("Last activity: {day}. Its month: `tome report {month}{flag}`\n")
}

fn count_work(period: &WorkPeriod, projects: usize) -> String {
    let mut parts = vec![format_counted(period.total, "session", "sessions")];
    for (kind, one, many) in [
        ("commit", "commit", "commits"),
        ("pull_request", "pull request opened", "pull requests opened"),
        ("decision", "decision", "decisions"),
    ] {
        let facts = period.sessions.iter().flat_map(|session| &session.facts);
        let is_made = |fact: &&v1::SessionFact| {
            fact.kind == kind && (kind != "pull_request" || fact.text.starts_with(OPENED))
        };
        match facts.filter(is_made).count() {
            0 => {}
            number => parts.push(format_counted(number as u64, one, many)),
        }
    }
    let scope = match projects {
        1 => String::new(),
        many => format!(" in {many} projects"),
    };
    let seen = match list_seen_pulls(period) {
        none if none.is_empty() => String::new(),
        seen => format!("; looked at PR {}", seen.join(", ")),
    };
    format!("{}{scope}{seen}.", parts.join(", "))
}

/// The pull requests that sessions read or worked on, and did not open.
fn list_seen_pulls(period: &WorkPeriod) -> Vec<String> {
    let facts = period.sessions.iter().flat_map(|session| &session.facts);
    let mut seen: Vec<String> = Vec::new();
    for fact in facts.filter(|fact| fact.kind == "pull_request") {
        let number = fact.text.strip_prefix("PR ").and_then(|text| text.split([':', ' ']).next());
        let number = number.map(|number| one_line(number, 12));
        seen.extend(number.filter(|number| !seen.contains(number)));
    }
    seen
}

/// The days of a period, such as `Nov 9 – Nov 15, 2026`.
fn format_days(screen: &Screen, period: &WorkPeriod) -> String {
    let last = period.to.0.saturating_sub(1).min(screen.now.0.max(period.from.0));
    let (from, to) = (screen.labels.format_date(period.from.0), screen.labels.format_date(last));
    let year = |date: &str| date.rsplit_once(", ").map(|(_, year)| year.to_owned());
    match from.rsplit_once(", ") {
        _ if from == to => from,
        Some((day, _)) if year(&from) == year(&to) => format!("{day} – {to}"),
        _ => format!("{from} – {to}"),
    }
}

fn render_branch(
    lines: &mut Vec<String>,
    work: &BranchWork<'_>,
    has_heading: bool,
    has_sources: bool,
) {
    lines.push(String::new());
    match work.branch {
        "" if has_heading => {
            lines.extend(["### Other work".to_owned(), String::new()]);
        }
        "" => {}
        // Where all work is on the main branch, it is not worth a heading.
        branch if !has_heading && MAIN_BRANCHES.contains(&branch) => {}
        branch => lines.extend([format!("### {}", one_line(branch, 120)), String::new()]),
    }
    for session in &work.sessions {
        lines.push(render_session(session, has_sources));
    }
    for (kind, heading) in SECTIONS {
        let mut facts = collect_facts(work, kind);
        // A title may be that of the pull request.
        if kind == "pull_request" {
            facts.retain(|fact| work.sessions.iter().all(|session| session.title != fact.text));
        }
        if facts.is_empty() {
            continue;
        }
        lines.extend([String::new(), format!("**{heading}**"), String::new()]);
        for fact in facts.iter().take(FACTS_MAX) {
            lines.push(render_fact(fact, has_sources));
        }
        if let hidden @ 1.. = facts.len().saturating_sub(FACTS_MAX) {
            lines.push(format!("- … {hidden} more"));
        }
    }
}

fn render_session(session: &v1::Session, has_sources: bool) -> String {
    let title = one_line(&session.title, LINE_CHARS_MAX);
    let conclusion = strip_request(&session.conclusion);
    let text = Some(one_line(conclusion, OUTCOME_CHARS_MAX));
    // A decision is told in its section.
    let is_decision = |fact: &v1::SessionFact| fact.kind == "decision" && fact.text == conclusion;
    let text = text.filter(|text| !text.is_empty() && !session.facts.iter().any(is_decision));
    let outcome = text.map(|text| match text.replace('`', "").strip_prefix(&title) {
        // The title is the beginning of the outcome.
        Some(rest) => rest.to_owned(),
        None => format!(": {text}"),
    });
    let outcome = outcome.filter(|text| text != ".").unwrap_or_default();
    let source = if has_sources {
        format!(" (session {})", one_line(&session.short_id, 80))
    } else {
        String::new()
    };
    format!("- **{title}**{outcome}{source}")
}

fn render_fact(fact: &v1::SessionFact, has_sources: bool) -> String {
    let text = one_line(&fact.text, LINE_CHARS_MAX);
    match (has_sources, fact.number) {
        (true, 1..) => format!("- {text} (#{})", fact.number),
        _ => format!("- {text}"),
    }
}

/// The facts of one kind, without repetitions. Open ends count only in the last session: a later one
/// may have closed those before.
fn collect_facts<'a>(work: &BranchWork<'a>, kind: &str) -> Vec<&'a v1::SessionFact> {
    let skipped = match (kind, work.branch) {
        ("open", branch) if !branch.is_empty() && !MAIN_BRANCHES.contains(&branch) => {
            work.sessions.len().saturating_sub(1)
        }
        _ => 0,
    };
    let mut found: Vec<&v1::SessionFact> = Vec::new();
    for fact in work.sessions.iter().skip(skipped).flat_map(|session| &session.facts) {
        if fact.kind == kind && !found.iter().any(|known| known.text == fact.text) {
            found.push(fact);
        }
    }
    found
}

/// A standup: the last day with work, or else the time of the last activity, today, and what is open.
pub fn render_standup(
    screen: &Screen,
    (before, last_ms): (Option<&WorkPeriod>, Option<u64>),
    today: &WorkPeriod,
    open: &[&v1::SessionFact],
    has_sources: bool,
) -> String {
    let mut lines = Vec::new();
    // A standup of another day names its days.
    let is_now = (today.from..=today.to).contains(&screen.now);
    match before {
        Some(period) => {
            let day = screen.labels.format_weekday(screen.now, period.from.0);
            let is_yesterday = is_now && period.to == today.from;
            let name = if is_yesterday { format!("Yesterday ({day})") } else { day };
            render_day(&mut lines, screen, &name, period, has_sources);
        }
        None => {
            let since = last_ms.map(|at| format!(" since {}", screen.labels.format_date(at)));
            let nothing = format!("- nothing recorded{}", since.unwrap_or_default());
            let name = if is_now { "Yesterday" } else { "Before" };
            lines.extend([format!("**{name}**"), nothing]);
        }
    }
    lines.push(String::new());
    let name = match is_now {
        true => "Today".to_owned(),
        false => screen.labels.format_weekday(screen.now, today.from.0),
    };
    render_day(&mut lines, screen, &name, today, has_sources);
    lines.extend([String::new(), "**Open**".to_owned()]);
    if open.is_empty() {
        lines.push("- none recorded".to_owned());
    }
    for fact in open.iter().take(STANDUP_LINES_MAX) {
        let day = match before.map_or(today.from, |period| period.from) {
            from if fact.at_ms < from.0 => format!(" ({})", screen.when(fact.at_ms)),
            _ => String::new(),
        };
        lines.push(format!("{}{day}", render_fact(fact, has_sources)));
    }
    lines.join("\n") + "\n"
}

fn render_day(
    lines: &mut Vec<String>,
    screen: &Screen,
    name: &str,
    period: &WorkPeriod,
    has_sources: bool,
) {
    lines.push(format!("**{name}**"));
    if period.sessions.is_empty() {
        lines.push("- nothing recorded".to_owned());
    }
    for session in period.sessions.iter().take(STANDUP_LINES_MAX) {
        let line = render_session(session, has_sources);
        let commits = session.facts.iter().filter(|fact| fact.kind == "commit").count();
        let commits = match commits {
            0 => String::new(),
            number => format!(" [{}]", format_counted(number as u64, "commit", "commits")),
        };
        let text = line.trim_start_matches("- ");
        lines.push(format!("- {}: {text}{commits}", screen.projects.name(&session.project)));
    }
    if let hidden @ 1.. = period.sessions.len().saturating_sub(STANDUP_LINES_MAX) {
        lines.push(format!("- … {hidden} more"));
    }
}
