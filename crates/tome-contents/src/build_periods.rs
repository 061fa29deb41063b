//! Rolls up days from segments, weeks from days, months from weeks, years from months.
//!
//! A period is built from the built-in versions of its children, so that it depends on events
//! alone.

use std::collections::BTreeSet;

use tome_model::{Agent, Level, Millis, Node, Period, SessionId};

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
    let mut level = std::mem::take(&mut changes.changed_days);
    while !level.is_empty() {
        let mut above = BTreeSet::new();
        for (project, period) in level {
            if roll_up_period(changes, summarizer, &project, period)?
                && let Some(parent) = period.parent()
            {
                above.insert((project, parent));
            }
        }
        level = above;
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
    let children = load_children(changes, project, period)?;
    if children.is_empty() {
        return changes.remove_node(project, &period.id());
    }
    changes.put_node(project, build_period(summarizer, period, children)?)
}

fn load_children(
    changes: &PendingChanges<'_>,
    project: &str,
    period: Period,
) -> Result<Vec<(Node, [u64; 4])>, HomeError> {
    if period.level() == Level::Day {
        return changes.load_segments(project, &period.id());
    }
    let children = period.children();
    let found = children.iter().map(|child| changes.load_child(project, &child.id(), None));
    found.filter_map(Result::transpose).collect()
}

fn build_period(
    summarizer: &dyn Summarizer,
    period: Period,
    children: Vec<(Node, [u64; 4])>,
) -> Result<BuiltNode, HomeError> {
    let (mut children, firsts): (Vec<Node>, Vec<[u64; 4]>) = children.into_iter().unzip();
    for child in &mut children {
        // The version depends on history, and must not influence the result.
        (child.version, child.made_at) = (1, Millis(0));
    }
    let firsts = firsts.into_iter().fold([0; 4], |[y, m, w, d], [year, month, week, day]| {
        [y + year, m + month, w + week, d + day]
    });
    let title = period.title();
    let input = RollupInput { level: period.level(), period: &title, children: &children };
    let name = summarizer.name();
    let told =
        evidence::check_period_summary(summarizer.summarize_period(&input)?, name, &children);
    let node = Node {
        id: period.id(),
        version: 0,
        open: children.iter().any(|child| child.open),
        title: told.title,
        bullets: told.bullets,
        keywords: told.keywords,
        first_at: children.iter().map(|child| child.first_at).min().unwrap_or_default(),
        last_at: children.iter().map(|child| child.last_at).max().unwrap_or_default(),
        events: children.iter().map(|child| child.events).sum(),
        tokens: children.iter().map(|child| child.tokens).sum(),
        agents: collect_agents(&children),
        sessions: latest_sessions(&children),
        session_count: count_sessions(period.level(), firsts),
        children: children.into_iter().map(|child| child.id).collect(),
        source: None,
        summarizer: name.to_owned(),
        made_at: Millis(0),
        work: told.work,
    };
    Ok(BuiltNode { node, firsts, grips: Vec::new() })
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
