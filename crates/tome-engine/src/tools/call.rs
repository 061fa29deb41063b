//! One call of a tool: who makes it, whose notebook it is about, and what is cut from its texts.

use std::cell::Cell;
use std::sync::Arc;

use tome_model::limits::{AGENT_BYTES_MAX, SESSION_ID_BYTES_MAX};
use tome_model::{Scope, truncate_to};
use tome_notebook::{Author, Notebook, NotebookError, Who};

use super::answer::Refusal;
use super::{Caller, Failure, ToolAnswer, Tools};
use tome_contents::Calendar;
use tome_home::{Notebooks, Whose};
use tome_recall::Recall;
use tome_redact::Redactor;

/// A command or a tool's name in the history.
const COMMAND_BYTES_MAX: usize = 200;

/// Notes that are offered when one is not there.
const NEAR_MAX: usize = 3;

/// Below this likeness, from 0 to 1, a path is not what was meant.
const NEAR_ENOUGH: f64 = 0.4;

/// One call of a tool.
pub(super) struct Call<'c> {
    notebooks: &'c Notebooks,
    calendar: Option<&'c Calendar>,
    recall: Option<&'c Recall>,
    redactor: &'c Redactor,
    tool: &'static str,
    caller: &'c Caller,
    texts_cut: Cell<usize>,
}

impl<'c> Call<'c> {
    pub(super) fn new(tools: &'c Tools, tool: &'static str, caller: &'c Caller) -> Self {
        let Tools { notebooks, calendar, recall, redactor } = tools;
        let (calendar, recall) = (calendar.as_deref(), recall.as_deref());
        Self { notebooks, calendar, recall, redactor, tool, caller, texts_cut: Cell::new(0) }
    }

    /// The contents.
    pub(super) fn calendar(&self) -> Result<&'c Calendar, Refusal> {
        self.calendar.ok_or_else(|| {
            Refusal::new(Failure::Failed, "there are no contents here: the daemon keeps them")
        })
    }

    /// Recall.
    pub(super) fn recall(&self) -> Result<&'c Recall, Refusal> {
        self.recall.ok_or_else(|| {
            Refusal::new(Failure::Failed, "there is no recall here: the daemon has it")
        })
    }

    /// The caller's session.
    pub(super) fn session(&self) -> Option<&'c str> {
        self.caller.session.as_deref().filter(|session| !session.is_empty())
    }

    /// The agent that calls; none for a person.
    pub(super) fn agent(&self) -> Option<&'c str> {
        self.caller.agent.as_deref().filter(|agent| !agent.is_empty())
    }

    /// Whether the answer is for a person at a terminal, who gets texts as they are.
    pub(super) fn is_for_person(&self) -> bool {
        self.agent().is_none() && self.caller.command.as_ref().is_some_and(|it| !it.is_empty())
    }

    /// Where the caller stands.
    pub(super) fn cwd(&self) -> Option<&'c str> {
        self.caller.cwd.as_deref().filter(|cwd| !cwd.is_empty())
    }

    /// Whose notebook the arguments and the caller mean.
    pub(super) fn whose(&self, (scope, session): (Scope, Option<String>)) -> Whose {
        let session = session.or_else(|| self.caller.session.clone());
        Whose { scope, cwd: self.caller.cwd.clone(), session }
    }

    /// The notebook.
    pub(super) fn open(&self, whose: &Whose) -> Result<Arc<Notebook>, Refusal> {
        Ok(self.notebooks.open(whose)?)
    }

    pub(super) fn author(&self) -> Author {
        let given = |text: &Option<String>, bytes_max| {
            let text = text.as_deref().filter(|text| !text.is_empty());
            text.map(|text| truncate_to(text, bytes_max).to_owned())
        };
        let who = match given(&self.caller.agent, AGENT_BYTES_MAX) {
            None => Who::Person,
            Some(agent) => {
                Who::Agent { agent, session: given(&self.caller.session, SESSION_ID_BYTES_MAX) }
            }
        };
        let tool = self.caller.command.as_deref().unwrap_or(self.tool);
        Author { who, tool: truncate_to(tool, COMMAND_BYTES_MAX).to_owned() }
    }

    /// A text as it may be written. Counts those that had to be cut.
    pub(super) fn cut(&self, text: String) -> String {
        match self.without_secrets(&text) {
            None => text,
            Some(clean) => {
                self.texts_cut.set(self.texts_cut.get() + 1);
                clean
            }
        }
    }

    /// A text without its secrets; `None` when it holds none.
    pub(super) fn without_secrets(&self, text: &str) -> Option<String> {
        let clean = self.redactor.redact(text);
        (clean != text).then(|| clean.into_owned())
    }

    /// The lines in which a replacement ends up, without the secrets that only it and the text around
    /// it make together (`password: ` and a word): what they are now, and what they are to be. `None`
    /// when there are none, or when the old text is not there.
    pub(super) fn completed(&self, text: &str, old: &str, new: &str) -> Option<(String, String)> {
        let at = text.find(old)?;
        let (before, after) = (text.get(..at)?, text.get(at + old.len()..)?);
        let before = before.rsplit('\n').next().unwrap_or_default();
        let after = after.split(['\r', '\n']).next().unwrap_or_default();
        let clean = self.without_secrets(&format!("{before}{new}{after}"))?;
        self.texts_cut.set(self.texts_cut.get() + 1);
        Some((format!("{before}{old}{after}"), clean))
    }

    /// A path that a note is to get. The mark of a cut cannot stand in one, so it is refused.
    pub(super) fn new_path(&self, path: String) -> Result<String, Refusal> {
        match self.without_secrets(&path) {
            None => Ok(path),
            Some(_) => Err(Refusal::invalid("the path holds a secret: use another")),
        }
    }

    /// Adds to an answer what was cut.
    pub(super) fn sign(&self, answer: ToolAnswer) -> ToolAnswer {
        answer.with_secrets_cut(self.texts_cut.get())
    }
}

/// A refusal with the notes that may have been meant, where a note is not there.
pub(super) fn with_near(refusal: NotebookError, notebook: &Notebook) -> Refusal {
    let NotebookError::NotFound { path, .. } = &refusal else { return refusal.into() };
    let near = near(path, notebook);
    let hint = (!near.is_empty()).then(|| format!("Did you mean: {}", near.join(", ")));
    Refusal::from(refusal).with_hint(hint)
}

fn near(path: &str, notebook: &Notebook) -> Vec<String> {
    let wanted = pairs(path);
    let Ok(listed) = notebook.list() else { return Vec::new() };
    let mut near: Vec<(f64, String)> = listed
        .into_iter()
        .map(|note| (likeness(&wanted, &pairs(&note.path)), note.path))
        .filter(|(likeness, _)| *likeness >= NEAR_ENOUGH)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    near.into_iter().take(NEAR_MAX).map(|(_, path)| path).collect()
}

/// The pairs of neighbouring characters of a path without its ending, sorted.
fn pairs(path: &str) -> Vec<(char, char)> {
    let path = truncate_to(path, 300).to_lowercase();
    let path = path.strip_suffix(".md").unwrap_or(&path);
    let mut pairs: Vec<_> = path.chars().zip(path.chars().skip(1)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// How much two sorted sets share, from 0 to 1.
fn likeness(a: &[(char, char)], b: &[(char, char)]) -> f64 {
    let shared = a.iter().filter(|pair| b.binary_search(pair).is_ok()).count();
    let all = a.len() + b.len();
    if all == 0 { 0.0 } else { 2.0 * shared as f64 / all as f64 }
}
