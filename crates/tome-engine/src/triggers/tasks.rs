//! The task list of a session whose agent creates tasks one by one. Once all tasks are done, the
//! next task starts a new list.

use serde::{Deserialize, Serialize};

use super::compact_text::{append_step, stable_hash};
use super::limits::TASKS_MAX;

/// A task, by the hashes of its id (if known) and its subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PlanTask {
    id: Option<u64>,
    subject: u64,
    done: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct TaskList {
    tasks: Vec<PlanTask>,
    /// Tasks beyond `TASKS_MAX`, which are only counted.
    more: u32,
    /// The subjects, one per line.
    about: String,
}

impl TaskList {
    /// Adds a task; `false` if it is already there. A hook may report the same task twice, with and
    /// without its id.
    pub(super) fn add(&mut self, id: Option<&str>, subject: &str) -> bool {
        if self.tasks.iter().all(|task| task.done) {
            *self = Self::default();
        }
        let (id, subject_hash) = (id.map(|id| stable_hash(&[id])), stable_hash(&[subject.trim()]));
        let same = |task: &PlanTask| match (task.id, id) {
            (Some(known), Some(id)) => known == id,
            _ => task.subject == subject_hash,
        };
        if let Some(known) = self.tasks.iter_mut().find(|task| same(task)) {
            known.id = known.id.or(id);
            return false;
        }
        if self.tasks.len() < TASKS_MAX {
            self.tasks.push(PlanTask { id, subject: subject_hash, done: false });
            append_step(&mut self.about, subject);
        } else {
            self.more = self.more.saturating_add(1);
        }
        true
    }

    /// Marks a task as done or deleted.
    pub(super) fn finish(&mut self, id: &str) {
        let id = Some(stable_hash(&[id]));
        for task in self.tasks.iter_mut().filter(|task| task.id == id) {
            task.done = true;
        }
    }

    pub(super) fn finish_all(&mut self) {
        for task in &mut self.tasks {
            task.done = true;
        }
    }

    pub(super) fn count(&self) -> usize {
        self.tasks.len().saturating_add(self.more as usize)
    }

    pub(super) fn about(&self) -> &str {
        &self.about
    }
}
