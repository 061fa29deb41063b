//! A line of the calendar, and how those of several projects become one.

use std::collections::BTreeMap;

use tome_model::{Agent, Level, Millis, NodeId, Zone};

/// A node as a line of the calendar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The node.
    pub id: NodeId,
    /// What it was about; of several projects, the one with the most events.
    pub title: String,
    /// When the first event happened.
    pub first_at: Millis,
    /// When the last one did.
    pub last_at: Millis,
    /// How many events.
    pub events: u64,
    /// How many tokens their text has, about.
    pub tokens: u64,
    /// How many sessions contributed.
    pub sessions: u64,
    /// Who contributed, in order of their names.
    pub agents: Vec<Agent>,
    /// Whether more may come.
    pub open: bool,
    /// Whose it is: one for each project that has such a node, the one with the most events first.
    pub shares: Vec<Share>,
    /// The nodes below, in order, as deep as was asked for; of many the latest.
    pub entries: Vec<Entry>,
    /// How many nodes are below, shown or not.
    pub children: u64,
}

/// What one project has of a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// The project's root.
    pub project: String,
    /// What it was about there.
    pub title: String,
    /// How many events happened there.
    pub events: u64,
}

/// How deep to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// So many levels.
    Levels(usize),
    /// Everything where it is recent, and less before: the months of the latest year, the weeks of
    /// its latest month, the days of the latest two weeks, the segments of the latest day.
    Recent,
}

/// Weeks of which the days are shown.
const RECENT_WEEKS: usize = 2;

impl Depth {
    /// How many of the latest nodes of a level show what is below them.
    pub(super) fn opens(self, level: Level) -> usize {
        match (self, level) {
            (_, Level::Segment) => 0,
            (Self::Levels(levels), _) if levels > 1 => usize::MAX,
            (Self::Levels(_), _) => 0,
            (Self::Recent, Level::Week) => RECENT_WEEKS,
            (Self::Recent, _) => 1,
        }
    }

    /// The depth one level below, under the latest node or under one before it.
    pub(super) fn below(self, is_latest: bool) -> Self {
        match self {
            Self::Levels(levels) => Self::Levels(levels.saturating_sub(1)),
            Self::Recent if is_latest => Self::Recent,
            Self::Recent => Self::Levels(1),
        }
    }
}

/// Puts the lines of several projects into one list, in order, and says how many there are in all;
/// of many the latest are kept. Each project has shown what is recent in it; what is not recent in
/// all of them together is folded up again. (The latest node of all is the latest of every project
/// that has it, so nothing that has to be shown is missing.)
pub(super) fn merge(lists: Vec<Vec<Entry>>, depth: Depth, below_max: usize) -> (Vec<Entry>, u64) {
    let mut same: BTreeMap<(Option<Millis>, NodeId), Vec<Entry>> = BTreeMap::new();
    for entry in lists.into_iter().flatten() {
        same.entry(place(&entry.id)).or_default().push(entry);
    }
    let total = same.len();
    let kept = same.into_values().enumerate().skip(total.saturating_sub(below_max));
    let entries = kept.filter_map(|(place, same)| {
        let level = same.first()?.id.level();
        let is_open = total - place <= depth.opens(level);
        combined(same, is_open, depth.below(place + 1 == total), below_max)
    });
    (entries.collect(), total as u64)
}

/// Where a node is in the calendar: periods by their beginning, segments of a day by their ids,
/// which begin with the time.
pub(super) fn place(id: &NodeId) -> (Option<Millis>, NodeId) {
    (id.period().map(|period| period.range(&Zone::utc()).0), id.clone())
}

/// The lines of one node of several projects, as one.
fn combined(same: Vec<Entry>, is_open: bool, depth: Depth, below_max: usize) -> Option<Entry> {
    let mut lists = Vec::with_capacity(same.len());
    let mut whole: Option<Entry> = None;
    for mut entry in same {
        lists.push(std::mem::take(&mut entry.entries));
        whole = Some(match whole {
            None => entry,
            Some(whole) => whole.and(entry),
        });
    }
    let mut whole = whole?;
    whole.shares.sort_by(|a, b| b.events.cmp(&a.events).then_with(|| a.project.cmp(&b.project)));
    if let Some(largest) = whole.shares.first() {
        whole.title.clone_from(&largest.title);
    }
    if is_open {
        (whole.entries, whole.children) = merge(lists, depth, below_max);
    }
    Some(whole)
}

impl Entry {
    /// The two together. Sessions of two projects are told apart: one that worked in both counts
    /// in both.
    fn and(mut self, other: Self) -> Self {
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
        // Segments are one project's; of periods, most are the same ones. It is made exact where
        // they are listed.
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

    fn entry(project: &str, id: &str, events: u64, entries: Vec<Entry>) -> Entry {
        let share =
            Share { project: project.to_owned(), title: format!("{project}: {id}"), events };
        Entry {
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

    fn shown(entries: &[Entry], depth: usize) -> String {
        let line = |entry: &Entry| {
            let projects: Vec<&str> = entry.shares.iter().map(|one| one.project.as_str()).collect();
            let (indent, below) = ("  ".repeat(depth), shown(&entry.entries, depth + 1));
            let (events, children) = (entry.events, entry.children);
            format!("{indent}{} {events} {} [{children}]\n{below}", entry.id, projects.join("+"))
        };
        entries.iter().map(line).collect()
    }

    fn week(project: &str, id: &str, day: &str) -> Entry {
        let segment = format!("toc:segment:{day}:01M7F8NJE081NE5M6R663JJXQ2");
        let segment = entry(project, &segment, 2, Vec::new());
        entry(project, id, 2, vec![entry(project, &format!("toc:day:{day}"), 2, vec![segment])])
    }

    /// What is recent in one project and not in all is folded up.
    #[test]
    fn projects_are_laid_over_each_other() {
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
        let (entries, total) = merge(lists(), Depth::Recent, 10);
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
        let (entries, total) = merge(lists(), Depth::Levels(1), 2);
        assert_eq!(total, 3);
        expect_test::expect![[r#"
            toc:week:2026-W45 4 a+b [1]
            toc:week:2026-W46 2 a [1]
        "#]]
        .assert_eq(&shown(&entries, 0));
    }
}
