//! The list of a session's tasks, where an agent makes them one by one. A list whose tasks are all
//! done is finished: the next task begins another one.

use serde::{Deserialize, Serialize};

use super::limits::TASKS_MAX;
use super::words::{add_step, hash};

/// One task, by the hashes of its id (if it was told) and of its subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Task {
    id: Option<u64>,
    subject: u64,
    done: bool,
}

/// The tasks of the current list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Tasks {
    tasks: Vec<Task>,
    /// Tasks beyond those that are told apart.
    more: u32,
    /// What they are about.
    about: String,
}

impl Tasks {
    /// Adds a task; false if it is there already. A hook may tell the same task twice, once with
    /// its id and once without.
    pub(super) fn add(&mut self, id: Option<&str>, subject: &str) -> bool {
        if self.tasks.iter().all(|task| task.done) {
            *self = Self::default();
        }
        let (id, subject_hash) = (id.map(|id| hash(&[id])), hash(&[subject.trim()]));
        let same = |task: &Task| match (task.id, id) {
            (Some(known), Some(id)) => known == id,
            _ => task.subject == subject_hash,
        };
        if let Some(known) = self.tasks.iter_mut().find(|task| same(task)) {
            known.id = known.id.or(id);
            return false;
        }
        if self.tasks.len() < TASKS_MAX {
            self.tasks.push(Task { id, subject: subject_hash, done: false });
            add_step(&mut self.about, subject);
        } else {
            self.more = self.more.saturating_add(1);
        }
        true
    }

    /// This task is done, or was thrown away.
    pub(super) fn finish(&mut self, id: &str) {
        let id = Some(hash(&[id]));
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
