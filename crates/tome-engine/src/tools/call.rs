//! One tool call: its caller, its notebook, and the redaction of its texts.

use std::cell::Cell;
use std::sync::Arc;

use tome_model::limits::{AGENT_BYTES_MAX, SESSION_ID_BYTES_MAX};
use tome_model::{Scope, truncate_to};
use tome_notebook::{Actor, Author, Notebook, NotebookError};

use super::answer::ToolError;
use super::{Caller, ToolAnswer, ToolFailure, Tools};
use crate::topics::Topics;
use tome_contents::{Contents, ListedInstruction};
use tome_home::{NotebookOwner, Notebooks};
use tome_recall::Recall;
use tome_redact::Redactor;

/// Bytes of a command or tool name in the history.
const COMMAND_BYTES_MAX: usize = 200;

/// Similar paths suggested for a missing note.
const SUGGESTIONS_MAX: usize = 3;

/// Similarity, from 0 to 1, at which a path is suggested.
const SIMILARITY_MIN: f64 = 0.4;

pub(super) struct ToolInvocation<'c> {
    notebooks: &'c Notebooks,
    contents: Option<&'c Contents>,
    recall: Option<&'c Recall>,
    topics: Option<&'c Topics>,
    redactor: &'c Redactor,
    tool: &'static str,
    caller: &'c Caller,
    texts_cut: Cell<usize>,
}

impl<'c> ToolInvocation<'c> {
    pub(super) fn new(tools: &'c Tools, tool: &'static str, caller: &'c Caller) -> Self {
        let Tools { notebooks, contents, recall, topics, redactor } = tools;
        Self {
            notebooks,
            contents: contents.as_deref(),
            recall: recall.as_deref(),
            topics: topics.as_deref(),
            redactor,
            tool,
            caller,
            texts_cut: Cell::new(0),
        }
    }

    /// The topics, if available.
    pub(super) fn topics(&self) -> Result<&'c Topics, ToolError> {
        self.topics.ok_or_else(|| {
            ToolError::new(
                ToolFailure::Failed,
                "topics are not available here: they need the daemon",
            )
        })
    }

    /// The contents, if available.
    pub(super) fn contents(&self) -> Result<&'c Contents, ToolError> {
        self.contents.ok_or_else(|| {
            ToolError::new(
                ToolFailure::Failed,
                "contents are not available here: they need the daemon",
            )
        })
    }

    pub(super) fn notebooks(&self) -> &'c Notebooks {
        self.notebooks
    }

    /// Recall, if available.
    pub(super) fn recall(&self) -> Result<&'c Recall, ToolError> {
        self.recall.ok_or_else(|| {
            ToolError::new(ToolFailure::Failed, "recall is not available here: it needs the daemon")
        })
    }

    /// The standing instructions of the user in a project, the latest first.
    pub(super) fn list_instructions(
        &self,
        project: &str,
    ) -> Result<Vec<ListedInstruction>, ToolError> {
        Ok(self.contents()?.list_instructions(project)?)
    }

    /// The citation of an event by its number, with its project unless that is the `current` one.
    pub(super) fn cite_event(
        &self,
        number: u64,
        project: &str,
        current: Option<&str>,
    ) -> Result<String, ToolError> {
        if current == Some(project) {
            return Ok(format!("#{number}"));
        }
        let folder = self.contents()?.stores().projects().planned_folder(project);
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(format!("projects/{name}/#{number}"))
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
    pub(super) fn notebook_of(&self, (scope, session): (Scope, Option<String>)) -> NotebookOwner {
        let session = session.or_else(|| self.caller.session.clone());
        NotebookOwner { scope, cwd: self.caller.cwd.clone(), session }
    }

    pub(super) fn open_notebook(&self, whose: &NotebookOwner) -> Result<Arc<Notebook>, ToolError> {
        Ok(self.notebooks.open(whose)?)
    }

    pub(super) fn author(&self) -> Author {
        let given = |text: &Option<String>, bytes_max| {
            let text = text.as_deref().filter(|text| !text.is_empty());
            text.map(|text| truncate_to(text, bytes_max).to_owned())
        };
        let who = match given(&self.caller.agent, AGENT_BYTES_MAX) {
            None => Actor::Person,
            Some(agent) => {
                Actor::Agent { agent, session: given(&self.caller.session, SESSION_ID_BYTES_MAX) }
            }
        };
        let tool = self.caller.command.as_deref().unwrap_or(self.tool);
        Author { who, tool: truncate_to(tool, COMMAND_BYTES_MAX).to_owned() }
    }

    /// Redacts a text before it is written, and counts the texts that needed it.
    pub(super) fn redact(&self, text: String) -> String {
        match self.redact_if_secret(&text) {
            None => text,
            Some(clean) => {
                self.texts_cut.set(self.texts_cut.get() + 1);
                clean
            }
        }
    }

    /// Returns the redacted text; `None` if it holds no secrets.
    pub(super) fn redact_if_secret(&self, text: &str) -> Option<String> {
        let clean = self.redactor.redact(text);
        (clean != text).then(|| clean.into_owned())
    }

    /// Redacts secrets that only a replacement and the text around it form together (`password: `
    /// and a word). Returns the affected lines as they are and as they should be; `None` if there
    /// is no such secret, or if the old text is missing.
    pub(super) fn redact_around(
        &self,
        text: &str,
        old: &str,
        new: &str,
    ) -> Option<(String, String)> {
        let at = text.find(old)?;
        let (before, after) = (text.get(..at)?, text.get(at + old.len()..)?);
        let before = before.rsplit('\n').next().unwrap_or_default();
        let after = after.split(['\r', '\n']).next().unwrap_or_default();
        let clean = self.redact_if_secret(&format!("{before}{new}{after}"))?;
        self.texts_cut.set(self.texts_cut.get() + 1);
        Some((format!("{before}{old}{after}"), clean))
    }

    /// Checks the path of a new note. A path cannot be redacted, so one with a secret is rejected.
    pub(super) fn check_new_path(&self, path: String) -> Result<String, ToolError> {
        match self.redact_if_secret(&path) {
            None => Ok(path),
            Some(_) => Err(ToolError::invalid("the path contains a secret: use another path")),
        }
    }

    /// Adds the number of redacted texts to an answer.
    pub(super) fn add_redactions(&self, answer: ToolAnswer) -> ToolAnswer {
        answer.with_secrets_cut(self.texts_cut.get())
    }
}

/// Adds similar paths to the error about a missing note.
pub(super) fn with_suggestions(refusal: NotebookError, notebook: &Notebook) -> ToolError {
    let NotebookError::NotFound { path, .. } = &refusal else { return refusal.into() };
    let near = find_similar_paths(path, notebook);
    let hint = (!near.is_empty()).then(|| format!("Did you mean: {}", near.join(", ")));
    ToolError::from(refusal).with_hint(hint)
}

fn find_similar_paths(path: &str, notebook: &Notebook) -> Vec<String> {
    let wanted = char_pairs(path);
    let Ok(listed) = notebook.list_notes() else { return Vec::new() };
    let mut near: Vec<(f64, String)> = listed
        .into_iter()
        .map(|note| (dice_similarity(&wanted, &char_pairs(&note.path)), note.path))
        .filter(|(likeness, _)| *likeness >= SIMILARITY_MIN)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    near.into_iter().take(SUGGESTIONS_MAX).map(|(_, path)| path).collect()
}

/// Returns the sorted pairs of adjacent characters of a path without its extension.
fn char_pairs(path: &str) -> Vec<(char, char)> {
    let path = truncate_to(path, 300).to_lowercase();
    let path = path.strip_suffix(".md").unwrap_or(&path);
    let mut pairs: Vec<_> = path.chars().zip(path.chars().skip(1)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Dice coefficient of two sorted sets, from 0 to 1.
fn dice_similarity(a: &[(char, char)], b: &[(char, char)]) -> f64 {
    let shared = a.iter().filter(|pair| b.binary_search(pair).is_ok()).count();
    let all = a.len() + b.len();
    if all == 0 { 0.0 } else { 2.0 * shared as f64 / all as f64 }
}
