//! The text for a subagent that starts: how to work in the project, and hints for its task. A subagent
//! does not see the start text of the session that it works for.

use tome_ledger::{EventRange, ScanDirection};
use tome_model::{EventKind, SessionId};

use super::Injector;
use super::compose::{InjectionText, TextFrame, compose};
use super::hints::{PromptHint, hints_section};
use super::start_text::how_to_work_section;
use super::token_budget::TokenBudget;
use tome_home::HomeError;

/// Token budget of the text for a subagent, including the marks.
pub const SUBAGENT_TOKENS_MAX: u64 = 400;
/// Lines on how to work in the project.
const LINES_MAX: usize = 5;
/// Events that are read to find the session's last prompt.
const EVENTS_MAX: usize = 400;

impl Injector {
    /// The latest prompt of a session, which shows what a subagent without a known task works on.
    pub fn find_last_prompt(
        &self,
        project: &str,
        session: &SessionId,
    ) -> Result<Option<String>, HomeError> {
        let Some(path) = self.stores.find_store_path(project) else { return Ok(None) };
        let range = EventRange {
            session: Some(session.clone()),
            direction: ScanDirection::Backward,
            ..EventRange::default()
        };
        for pair in self.stores.open(&path)?.events(&range).take(EVENTS_MAX) {
            let (_, event) = pair?;
            if event.kind == EventKind::UserMessage && !event.meta.contains_key("subagent") {
                return Ok(Some(event.text));
            }
        }
        Ok(None)
    }

    /// Lines on how to work in a project, the user's rules first.
    pub fn load_how_to_work(
        &self,
        project: &str,
        session: &SessionId,
    ) -> Result<Vec<String>, HomeError> {
        let mut lines = self.load_known_facts(project, Some(session))?.how_to_work;
        lines.truncate(LINES_MAX);
        Ok(lines)
    }
}

/// Composes the text for a subagent; `None` if there is nothing to inject.
pub fn render_subagent(
    how_to_work: &[String],
    hints: &[PromptHint],
    budget: TokenBudget,
) -> Option<InjectionText> {
    if how_to_work.is_empty() && hints.is_empty() {
        return None;
    }
    let budget = TokenBudget { tokens: budget.tokens.min(SUBAGENT_TOKENS_MAX), ..budget };
    let mut sections = vec![how_to_work_section(how_to_work)];
    if let Some(section) = sections.first_mut() {
        section.share = 50;
    }
    let mut hints = hints_section(hints);
    hints.share = 50;
    sections.push(hints);
    compose(
        &TextFrame { kind: "subagent", above: Vec::new(), below: Vec::new() },
        &sections,
        budget,
    )
}
