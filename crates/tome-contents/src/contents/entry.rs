//! Entries of the contents, and merging those of several projects.

use std::collections::BTreeMap;

use tome_model::{Agent, Level, Millis, NodeId, Zone};

/// A node as an entry of the contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentsEntry {
    /// Id of the node.
    pub id: NodeId,
    /// Title; with several projects, that of the project with the most events.
    pub title: String,
    /// Time of the first event.
    pub first_at: Millis,
    /// Time of the last event.
    pub last_at: Millis,
    /// Number of events.
    pub events: u64,
    /// Estimated tokens of their texts.
    pub tokens: u64,
    /// Number of sessions.
    pub sessions: u64,
    /// Agents that contributed, sorted by name.
    pub agents: Vec<Agent>,
    /// Whether events may still be added.
    pub open: bool,
    /// One per project that has this node, the one with the most events first.
    pub shares: Vec<ProjectShare>,
    /// Child entries in order, as deep as requested; only the latest if there are many.
    pub entries: Vec<ContentsEntry>,
    /// Number of children, listed or not.
    pub children: u64,
}

/// A project's part of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectShare {
    /// Root of the project.
    pub project: String,
    /// Title of the node in this project.
    pub title: String,
    /// Number of events in this project.
    pub events: u64,
}

/// How deep to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// This many levels.
    Levels(usize),
    /// More detail for recent times: the months of the latest year, the weeks of its latest month,
    /// the days of the latest two weeks, the segments of the latest day.
    Recent,
}

/// Latest weeks whose days are listed.
const RECENT_WEEKS: usize = 2;

impl Depth {
    /// How many of the latest nodes of a level are expanded.
    pub(super) fn expanded_count(self, level: Level) -> usize {
        match (self, level) {
            (_, Level::Segment) => 0,
            (Self::Levels(levels), _) if levels > 1 => usize::MAX,
            (Self::Levels(_), _) => 0,
            (Self::Recent, Level::Week) => RECENT_WEEKS,
            (Self::Recent, _) => 1,
        }
    }

    /// The depth one level below, for the latest node or an earlier one.
    pub(super) fn next_level(self, is_latest: bool) -> Self {
        match self {
            Self::Levels(levels) => Self::Levels(levels.saturating_sub(1)),
            Self::Recent if is_latest => Self::Recent,
            Self::Recent => Self::Levels(1),
        }
    }
}

/// Merges the entries of several projects in order, keeping the latest `below_max`; also returns
/// the total. Each project expanded what is recent in it, so what is not recent overall is
/// collapsed again. (The overall latest node is the latest of every project that has it, so nothing
/// is missing.)
pub(super) fn merge_entries(
    lists: Vec<Vec<ContentsEntry>>,
    depth: Depth,
    below_max: usize,
) -> (Vec<ContentsEntry>, u64) {
    let mut same: BTreeMap<(Option<Millis>, NodeId), Vec<ContentsEntry>> = BTreeMap::new();
    for entry in lists.into_iter().flatten() {
        same.entry(sort_key(&entry.id)).or_default().push(entry);
    }
    let total = same.len();
    let kept = same.into_values().enumerate().skip(total.saturating_sub(below_max));
    let entries = kept.filter_map(|(index, same)| {
        let level = same.first()?.id.level();
        let is_open = total - index <= depth.expanded_count(level);
        merge_same_node(same, is_open, depth.next_level(index + 1 == total), below_max)
    });
    (entries.collect(), total as u64)
}

/// Sort key of a node: periods by their start, segments by their ids, which begin with the time.
pub(super) fn sort_key(id: &NodeId) -> (Option<Millis>, NodeId) {
    (id.period().map(|period| period.range(&Zone::utc()).0), id.clone())
}

/// Merges the entries of one node from several projects.
fn merge_same_node(
    same: Vec<ContentsEntry>,
    is_open: bool,
    depth: Depth,
    below_max: usize,
) -> Option<ContentsEntry> {
    let mut lists = Vec::with_capacity(same.len());
    let mut merged: Option<ContentsEntry> = None;
    for mut entry in same {
        lists.push(std::mem::take(&mut entry.entries));
        merged = Some(match merged {
            None => entry,
            Some(merged) => merged.add(entry),
        });
    }
    let mut merged = merged?;
    merged.shares.sort_by(|a, b| b.events.cmp(&a.events).then_with(|| a.project.cmp(&b.project)));
    if let Some(largest) = merged.shares.first() {
        merged.title.clone_from(&largest.title);
    }
    if is_open {
        (merged.entries, merged.children) = merge_entries(lists, depth, below_max);
    }
    Some(merged)
}

impl ContentsEntry {
    /// Adds another project's counts. A session that worked in both projects counts twice.
    fn add(mut self, other: Self) -> Self {
        self.first_at = self.first_at.min(other.first_at);
        self.last_at = self.last_at.max(other.last_at);
        self.events += other.events;
        self.tokens += other.tokens;
        self.sessions += other.sessions;
        self.open |= other.open;
        self.agents.extend(other.agents);
        self.agents.sort();
        self.agents.dedup();
        self.shares.extend(other.shares);
        // Segments belong to one project, while periods mostly coincide. This estimate is replaced
        // where children are listed.
        self.children = match self.id.level() {
            Level::Day | Level::Segment => self.children + other.children,
            _ => self.children.max(other.children),
        };
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(project: &str, id: &str, events: u64, entries: Vec<ContentsEntry>) -> ContentsEntry {
        let share =
            ProjectShare { project: project.to_owned(), title: format!("{project}: {id}"), events };
        ContentsEntry {
            id: NodeId::parse(id).unwrap(),
            title: share.title.clone(),
            first_at: Millis(events),
            last_at: Millis(events),
            events,
            tokens: events,
            sessions: 1,
            agents: vec![Agent::parse(project).unwrap()],
            open: false,
            shares: vec![share],
            children: entries.len() as u64,
            entries,
        }
    }

    fn shown(entries: &[ContentsEntry], depth: usize) -> String {
        let line = |entry: &ContentsEntry| {
            let projects: Vec<&str> = entry.shares.iter().map(|one| one.project.as_str()).collect();
            let (indent, below) = ("  ".repeat(depth), shown(&entry.entries, depth + 1));
            let (events, children) = (entry.events, entry.children);
            format!("{indent}{} {events} {} [{children}]\n{below}", entry.id, projects.join("+"))
        };
        entries.iter().map(line).collect()
    }

    fn week(project: &str, id: &str, day: &str) -> ContentsEntry {
        let segment = format!("toc:segment:{day}:01M7F8NJE081NE5M6R663JJXQ2");
        let segment = entry(project, &segment, 2, Vec::new());
        entry(project, id, 2, vec![entry(project, &format!("toc:day:{day}"), 2, vec![segment])])
    }

    /// A node that is recent in one project but not overall is collapsed.
    #[test]
    fn entries_of_several_projects_are_merged() {
        let lists = || {
            vec![
                vec![
                    week("a", "toc:week:2026-W45", "2026-11-08"),
                    week("a", "toc:week:2026-W46", "2026-11-14"),
                ],
                vec![
                    week("b", "toc:week:2026-W40", "2026-10-01"),
                    week("b", "toc:week:2026-W45", "2026-11-08"),
                ],
            ]
        };
        let (entries, total) = merge_entries(lists(), Depth::Recent, 10);
        assert_eq!(total, 3);
        expect_test::expect![[r#"
            toc:week:2026-W40 2 b [1]
            toc:week:2026-W45 4 a+b [1]
              toc:day:2026-11-08 4 a+b [2]
            toc:week:2026-W46 2 a [1]
              toc:day:2026-11-14 2 a [1]
                toc:segment:2026-11-14:01M7F8NJE081NE5M6R663JJXQ2 2 a [0]
        "#]]
        .assert_eq(&shown(&entries, 0));
        let (entries, total) = merge_entries(lists(), Depth::Levels(1), 2);
        assert_eq!(total, 3);
        expect_test::expect![[r#"
            toc:week:2026-W45 4 a+b [1]
            toc:week:2026-W46 2 a [1]
        "#]]
        .assert_eq(&shown(&entries, 0));
    }
}
