//! Rolls up days from segments, weeks from days, months from weeks and days, years from months.
//!
//! A period is built from the built-in versions of its children, so that it depends on events
//! alone.

use std::collections::BTreeSet;

use tome_model::{Agent, Level, Millis, Node, NodeId, Period, SessionId};

use super::evidence;
use super::limits::SESSIONS_NAMED_MAX;
use super::pending_changes::{BuiltNode, PendingChanges};
use super::{RollupInput, Summarizer};
use tome_home::HomeError;

/// Rebuilds all periods above the changed days.
pub(super) fn roll_up_changed(
    changes: &mut PendingChanges<'_>,
    summarizer: &dyn Summarizer,
) -> Result<(), HomeError> {
    let days = std::mem::take(&mut changes.changed_days);
    let mut changed: BTreeSet<(Period, String)> =
        days.into_iter().map(|(project, day)| (day, project)).collect();
    // Shorter periods sort last.
    while let Some((period, project)) = changed.pop_last() {
        if roll_up_period(changes, summarizer, &project, period)? {
            let above = period.part_of().into_iter();
            changed.extend(above.map(|above| (above, project.clone())));
        }
    }
    Ok(())
}

/// Rebuilds one period. Returns whether it changed.
pub(super) fn roll_up_period(
    changes: &mut PendingChanges<'_>,
    summarizer: &dyn Summarizer,
    project: &str,
    period: Period,
) -> Result<bool, HomeError> {
    let parts = load_parts(changes, project, period)?;
    if parts.is_empty() {
        return changes.remove_node(project, &period.id());
    }
    changes.put_node(project, build_period(summarizer, period, parts)?)
}

fn load_parts(
    changes: &PendingChanges<'_>,
    project: &str,
    period: Period,
) -> Result<Vec<(Node, [u64; 4])>, HomeError> {
    if period.level() == Level::Day {
        return changes.load_segments(project, &period.id());
    }
    let parts = period.parts();
    let found = parts.iter().map(|part| changes.load_child(project, &part.id(), None));
    found.filter_map(Result::transpose).collect()
}

fn build_period(
    summarizer: &dyn Summarizer,
    period: Period,
    parts: Vec<(Node, [u64; 4])>,
) -> Result<BuiltNode, HomeError> {
    let (mut parts, firsts): (Vec<Node>, Vec<[u64; 4]>) = parts.into_iter().unzip();
    for part in &mut parts {
        // The version depends on history, and must not influence the result.
        (part.version, part.made_at) = (1, Millis(0));
    }
    let firsts = firsts.into_iter().fold([0; 4], |[y, m, w, d], [year, month, week, day]| {
        [y + year, m + month, w + week, d + day]
    });
    let title = period.title();
    let input = RollupInput { level: period.level(), period: &title, children: &parts };
    let name = summarizer.name();
    let checked =
        evidence::check_period_summary(summarizer.summarize_period(&input)?, name, &parts);
    let node = Node {
        id: period.id(),
        version: 0,
        open: parts.iter().any(|part| part.open),
        title: checked.title,
        bullets: checked.bullets,
        keywords: checked.keywords,
        first_at: parts.iter().map(|part| part.first_at).min().unwrap_or_default(),
        last_at: parts.iter().map(|part| part.last_at).max().unwrap_or_default(),
        events: parts.iter().map(|part| part.events).sum(),
        tokens: parts.iter().map(|part| part.tokens).sum(),
        agents: collect_agents(&parts),
        sessions: latest_sessions(&parts),
        session_count: count_sessions(period.level(), firsts),
        children: list_children(period, parts),
        source: None,
        summarizer: name.to_owned(),
        made_at: Millis(0),
        work: checked.work,
    };
    Ok(BuiltNode { node, firsts, grips: Vec::new() })
}

/// The nodes listed below a period. A month lists the weeks that its parts lie in.
fn list_children(period: Period, parts: Vec<Node>) -> Vec<NodeId> {
    let mut children: Vec<NodeId> = parts.into_iter().map(|part| part.id).collect();
    if period.level() == Level::Month {
        children = weeks_of_parts(&children);
    }
    children
}

/// The weeks that the parts of a month lie in, in order.
pub(super) fn weeks_of_parts(parts: &[NodeId]) -> Vec<NodeId> {
    let week = |part: &NodeId| match part.period() {
        Some(day) if day.level() == Level::Day => day.parent().map(|week| week.id()),
        _ => Some(part.clone()),
    };
    let mut weeks: Vec<NodeId> = parts.iter().filter_map(week).collect();
    weeks.dedup();
    weeks
}

/// Number of sessions in a period, from its counts of session firsts per level.
pub(super) fn count_sessions(level: Level, [year, month, week, day]: [u64; 4]) -> u64 {
    match level {
        Level::Year => year,
        Level::Month => month,
        Level::Week => week,
        Level::Day => day,
        Level::Segment => 1,
    }
}

fn collect_agents(children: &[Node]) -> Vec<Agent> {
    let agents: BTreeSet<&Agent> = children.iter().flat_map(|child| &child.agents).collect();
    agents.into_iter().cloned().collect()
}

/// Returns the latest sessions, ordered by last appearance.
fn latest_sessions(children: &[Node]) -> Vec<SessionId> {
    let mut seen = BTreeSet::new();
    let all = children.iter().rev().flat_map(|child| child.sessions.iter().rev());
    let latest = all.filter(|session| seen.insert(*session)).take(SESSIONS_NAMED_MAX);
    let mut latest: Vec<SessionId> = latest.cloned().collect();
    latest.reverse();
    latest
}
