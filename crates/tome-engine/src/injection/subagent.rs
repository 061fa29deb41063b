//! The text for a subagent that starts: how to work in the project, and hints for its task. A subagent
//! does not see the start text of the session that it works for.

use tome_ledger::{EventRange, ScanDirection};
use tome_model::{EventKind, SessionId};

use super::Injector;
use super::compose::{InjectionText, TextFrame, compose};
use super::hints::{PromptHint, hints_section};
use super::section::TextSection;
use super::start_text::how_to_work_section;
use super::token_budget::TokenBudget;
use tome_home::HomeError;

/// Token budget of the text for a subagent, including the marks.
pub const SUBAGENT_TOKENS_MAX: u64 = 400;
/// Lines on how to work in the project, and instructions of the user among them.
const LINES_MAX: usize = 5;
const RULES_MAX: usize = 3;
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
        let mut known = self.load_known_facts(project, Some(session))?;
        self.check_decisions(project, &mut known)?;
        let rules = known.instructions.iter().take(RULES_MAX).cloned();
        // The decisions may have nothing to do with its task.
        let lines = rules.chain(known.corrections).chain(known.checks).chain(known.decisions);
        Ok(lines.take(LINES_MAX).collect())
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
    // A statement is told once.
    let told: Vec<&str> = hints.iter().filter_map(|hint| find_citation(&hint.line)).collect();
    let is_new = |line: &&String| find_citation(line).is_none_or(|cited| !told.contains(&cited));
    let lines: Vec<String> = how_to_work.iter().filter(is_new).cloned().collect();
    let hints = TextSection { share: 60, ..hints_section(hints) };
    let lines = TextSection { share: 40, ..how_to_work_section(&lines) };
    compose(
        &TextFrame { kind: "subagent", above: Vec::new(), below: Vec::new() },
        &[hints, lines],
        budget,
    )
}

/// The citation at the end of a line: `#12` of "… [#12]".
fn find_citation(line: &str) -> Option<&str> {
    line.trim_end().strip_suffix(']')?.rsplit_once('[').map(|(_, cited)| cited)
}
