//! One tool call: its caller, its notebook, and the redaction of its texts.

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

/// Bytes of a command or tool name in the history.
const COMMAND_BYTES_MAX: usize = 200;

/// Similar paths suggested for a missing note.
const NEAR_MAX: usize = 3;

/// Similarity, from 0 to 1, at which a path is suggested.
const NEAR_ENOUGH: f64 = 0.4;

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

    /// The contents, if available.
    pub(super) fn calendar(&self) -> Result<&'c Calendar, Refusal> {
        self.calendar.ok_or_else(|| {
            Refusal::new(Failure::Failed, "contents are not available here: they need the daemon")
        })
    }

    /// Recall, if available.
    pub(super) fn recall(&self) -> Result<&'c Recall, Refusal> {
        self.recall.ok_or_else(|| {
            Refusal::new(Failure::Failed, "recall is not available here: it needs the daemon")
        })
    }

    pub(super) fn session(&self) -> Option<&'c str> {
        self.caller.session.as_deref().filter(|session| !session.is_empty())
    }

    /// The calling agent; `None` for a person.
    pub(super) fn agent(&self) -> Option<&'c str> {
        self.caller.agent.as_deref().filter(|agent| !agent.is_empty())
    }

    /// Whether the answer is for a person at a terminal, who gets texts unquoted.
    pub(super) fn is_for_person(&self) -> bool {
        self.agent().is_none() && self.caller.command.as_ref().is_some_and(|it| !it.is_empty())
    }

    pub(super) fn cwd(&self) -> Option<&'c str> {
        self.caller.cwd.as_deref().filter(|cwd| !cwd.is_empty())
    }

    /// The notebook that the arguments and the caller refer to.
    pub(super) fn whose(&self, (scope, session): (Scope, Option<String>)) -> Whose {
        let session = session.or_else(|| self.caller.session.clone());
        Whose { scope, cwd: self.caller.cwd.clone(), session }
    }

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

    /// Redacts a text before it is written, and counts the texts that needed it.
    pub(super) fn cut(&self, text: String) -> String {
        match self.without_secrets(&text) {
            None => text,
            Some(clean) => {
                self.texts_cut.set(self.texts_cut.get() + 1);
                clean
            }
        }
    }

    /// Returns the redacted text; `None` if it holds no secrets.
    pub(super) fn without_secrets(&self, text: &str) -> Option<String> {
        let clean = self.redactor.redact(text);
        (clean != text).then(|| clean.into_owned())
    }

    /// Redacts secrets that only a replacement and the text around it form together (`password: `
    /// and a word). Returns the affected lines as they are and as they should be; `None` if there
    /// is no such secret, or if the old text is missing.
    pub(super) fn completed(&self, text: &str, old: &str, new: &str) -> Option<(String, String)> {
        let at = text.find(old)?;
        let (before, after) = (text.get(..at)?, text.get(at + old.len()..)?);
        let before = before.rsplit('\n').next().unwrap_or_default();
        let after = after.split(['\r', '\n']).next().unwrap_or_default();
        let clean = self.without_secrets(&format!("{before}{new}{after}"))?;
        self.texts_cut.set(self.texts_cut.get() + 1);
        Some((format!("{before}{old}{after}"), clean))
    }

    /// Checks the path of a new note. A path cannot be redacted, so one with a secret is rejected.
    pub(super) fn new_path(&self, path: String) -> Result<String, Refusal> {
        match self.without_secrets(&path) {
            None => Ok(path),
            Some(_) => Err(Refusal::invalid("the path contains a secret: use another path")),
        }
    }

    /// Adds the number of redacted texts to an answer.
    pub(super) fn sign(&self, answer: ToolAnswer) -> ToolAnswer {
        answer.with_secrets_cut(self.texts_cut.get())
    }
}

/// Adds similar paths to the error about a missing note.
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

/// Returns the sorted pairs of adjacent characters of a path without its extension.
fn pairs(path: &str) -> Vec<(char, char)> {
    let path = truncate_to(path, 300).to_lowercase();
    let path = path.strip_suffix(".md").unwrap_or(&path);
    let mut pairs: Vec<_> = path.chars().zip(path.chars().skip(1)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Dice coefficient of two sorted sets, from 0 to 1.
fn likeness(a: &[(char, char)], b: &[(char, char)]) -> f64 {
    let shared = a.iter().filter(|pair| b.binary_search(pair).is_ok()).count();
    let all = a.len() + b.len();
    if all == 0 { 0.0 } else { 2.0 * shared as f64 / all as f64 }
}
