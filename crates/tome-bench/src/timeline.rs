//! Turns a data set into events as a hook would have recorded them: one per document, in its group's
//! project, at its time, in file order.
//!
//! Consecutive documents of a group on the same day form a session. Documents with the same time are
//! spread over its precision, so that their order is kept.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use tome_model::{EventId, EventLine, Millis};

use crate::dataset::{BenchDocument, DataSet};
use crate::time_formats::{self, DAY_MS, ParsedTime};

const AGENT: &str = "bench";
/// Distance of a document without a time from the previous one.
const UNTIMED_STEP_MS: u64 = 60_000;
/// Start of a group without any times: 2024-01-01.
const DEFAULT_START: Millis = Millis(1_704_067_200_000);
/// Maximum distance between documents with the same time.
const SAME_TIME_STEP_MS_MAX: u64 = 1_000;
/// Maximum length of a folder name, without the hash.
const NAME_CHARS_MAX: usize = 60;

/// The events of a data set, and the document behind each event.
pub struct EventTimeline {
    pub events: Vec<EventLine>,
    /// Group and document id, by event id.
    pub documents: HashMap<String, (String, String)>,
    /// Project root, by group.
    pub projects: BTreeMap<String, String>,
    folder: PathBuf,
    /// Documents with a missing or unreadable time.
    pub untimed: usize,
    /// Documents whose id already occurred in their group.
    pub repeated: usize,
}

/// Progress within one group.
#[derive(Default)]
struct GroupProgress {
    root: String,
    last: Option<Millis>,
    day: Option<u64>,
    sessions: usize,
    /// Number of documents so far, by time.
    same_time_counts: HashMap<ParsedTime, u64>,
    ids: HashMap<String, usize>,
}

impl EventTimeline {
    /// Builds the events of a data set, with project roots below `folder`.
    pub fn build(set: &DataSet, folder: &Path) -> Self {
        let times: Vec<Option<ParsedTime>> =
            set.documents.iter().map(|document| time_formats::parse(&document.ts)).collect();
        let mut sharing: HashMap<(&str, ParsedTime), u64> = HashMap::new();
        for (document, time) in set.documents.iter().zip(&times) {
            if let Some(time) = time {
                *sharing.entry((&document.group, *time)).or_default() += 1;
            }
        }
        let mut timeline = Self {
            events: Vec::with_capacity(set.documents.len()),
            documents: HashMap::with_capacity(set.documents.len()),
            projects: BTreeMap::new(),
            folder: folder.to_owned(),
            untimed: 0,
            repeated: 0,
        };
        let mut groups: HashMap<&str, GroupProgress> = HashMap::new();
        for (document, time) in set.documents.iter().zip(times) {
            let group = groups.entry(&document.group).or_insert_with(|| {
                let root = folder.join(folder_name(&document.group)).to_string_lossy().into_owned();
                timeline.projects.insert(document.group.clone(), root.clone());
                GroupProgress { root, ..GroupProgress::default() }
            });
            timeline.untimed += usize::from(time.is_none());
            let sharing = time.and_then(|time| sharing.get(&(&document.group, time)));
            let at = group.next_time(time, sharing.copied().unwrap_or(1));
            timeline.add_event(set, document, group, at);
        }
        timeline
    }

    /// The root of a group's project. For a group without documents, a folder that nothing was stored in.
    pub fn project_root(&self, group: &str) -> String {
        let known = self.projects.get(group).cloned();
        known.unwrap_or_else(|| self.folder.join(folder_name(group)).to_string_lossy().into_owned())
    }

    fn add_event(
        &mut self,
        set: &DataSet,
        document: &BenchDocument,
        group: &mut GroupProgress,
        at: Millis,
    ) {
        let seen = group.ids.entry(document.id.clone()).or_default();
        self.repeated += usize::from(*seen > 0);
        let id = ["document", &set.name, &document.group, &document.id, &seen.to_string()];
        let id = EventId::derive(&id).to_string();
        *seen += 1;
        self.documents.insert(id.clone(), (document.group.clone(), document.id.clone()));
        let name = Path::new(&group.root).file_name().unwrap_or_default().to_string_lossy();
        self.events.push(EventLine {
            id: Some(id),
            at,
            // Prefixed by the set's name: sets may share group names, and a session belongs to one project.
            session_id: format!("{}-{name}-{}", set.name, group.sessions),
            agent: AGENT.to_owned(),
            cwd: group.root.clone(),
            project: Some(group.root.clone()),
            kind: infer_kind(&document.text).to_owned(),
            text: document.text.clone(),
            ..EventLine::default()
        });
    }
}

impl GroupProgress {
    /// Returns the time of the next document, and begins a new session if the day changes.
    fn next_time(&mut self, time: Option<ParsedTime>, sharing: u64) -> Millis {
        let at = match time {
            Some(time) => {
                let before = self.same_time_counts.entry(time).or_default();
                let step = (time.precision_ms / sharing.max(1)).min(SAME_TIME_STEP_MS_MAX);
                let at = Millis(time.at.0 + *before * step);
                *before += 1;
                at
            }
            None => self.last.map_or(DEFAULT_START, |last| Millis(last.0 + UNTIMED_STEP_MS)),
        };
        let day = at.0 / DAY_MS;
        if self.day != Some(day) {
            self.sessions += 1;
        }
        (self.last, self.day) = (Some(at), Some(day));
        at
    }
}

/// Derives the event kind from a leading `assistant:`.
fn infer_kind(text: &str) -> &'static str {
    let head: String = text.trim_start().chars().take(12).collect::<String>().to_lowercase();
    if head.starts_with("assistant:") { "assistant_message" } else { "user_message" }
}

/// Returns a folder name for a group, made unique by a hash.
fn folder_name(group: &str) -> String {
    if group.is_empty() {
        return "all".to_owned();
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let plain: String = group.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    let plain: String = plain.chars().take(NAME_CHARS_MAX).collect();
    let hash = blake3::hash(group.as_bytes()).to_hex();
    let hash: String = hash.chars().take(8).collect();
    format!("{plain}-{hash}")
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use expect_test::expect;

    use super::*;

    /// A timeline from lines of group, id, time and text; shown as what is stored.
    fn shown(documents: &[[&str; 4]]) -> String {
        let documents = documents.iter().map(|[group, id, ts, text]| BenchDocument {
            id: (*id).to_owned(),
            text: (*text).to_owned(),
            group: (*group).to_owned(),
            ts: (*ts).to_owned(),
        });
        let set = DataSet {
            name: "set".to_owned(),
            documents: documents.collect(),
            queries: Vec::new(),
            missing: 0,
        };
        let timeline = EventTimeline::build(&set, Path::new("/b"));
        let mut shown = String::new();
        for event in &timeline.events {
            let id = event.id.clone().unwrap();
            let (group, document) = &timeline.documents[&id];
            assert_eq!(event.project.as_ref(), Some(&timeline.projects[group]));
            let (at, session, kind) = (event.at, &event.session_id, &event.kind);
            writeln!(shown, "{document} {at} {session} {kind}").unwrap();
        }
        write!(shown, "untimed {}, repeated {}", timeline.untimed, timeline.repeated).unwrap();
        shown
    }

    #[test]
    fn the_order_of_the_file_is_kept_and_days_are_sessions() {
        let minute = "1:56 pm on 8 May, 2023";
        let shown = shown(&[
            ["", "a", minute, "Ann: hello"],
            ["", "b", minute, "user: hello"],
            ["", "c", minute, " Assistant: hello"],
            ["", "d", "2023-05-09", "one day later"],
            ["", "e", "2023-05-09", "and the same day"],
            ["", "f", "", "some time after that"],
            ["", "f", "never", "and after that"],
            ["", "g", minute, "out of order"],
        ]);
        expect![[r#"
            a 2023-05-08T13:56:00.000Z set-all-1 user_message
            b 2023-05-08T13:56:01.000Z set-all-1 user_message
            c 2023-05-08T13:56:02.000Z set-all-1 assistant_message
            d 2023-05-09T00:00:00.000Z set-all-2 user_message
            e 2023-05-09T00:00:01.000Z set-all-2 user_message
            f 2023-05-09T00:01:01.000Z set-all-2 user_message
            f 2023-05-09T00:02:01.000Z set-all-2 user_message
            g 2023-05-08T13:56:03.000Z set-all-3 user_message
            untimed 2, repeated 1"#]]
        .assert_eq(&shown);
    }

    #[test]
    fn many_documents_in_one_minute_stay_in_it() {
        let all: Vec<[&str; 4]> = (0..600).map(|_| ["g", "x", "2023-05-09 10:00", "t"]).collect();
        let shown = shown(&all);
        let last = shown.lines().rev().nth(1).unwrap();
        assert!(last.contains("2023-05-09T10:00:59.900Z"), "{last}");
    }

    #[test]
    fn each_group_has_its_own_folder() {
        let long = "x".repeat(300);
        let names = ["", "a/b", "a-b", "a b", "../a", "é", "", &long, &(long.clone() + "y")];
        let folders: std::collections::BTreeSet<String> =
            names.iter().map(|name| folder_name(name)).collect();
        assert_eq!(folders.len(), names.len() - 1, "{folders:?}");
        for folder in folders {
            assert!(folder.len() < 80 && !folder.contains(['/', '.']), "{folder}");
        }
    }
}
