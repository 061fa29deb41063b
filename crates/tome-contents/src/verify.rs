//! Verifies stored contents: excerpts are verbatim, facts have evidence of the right kind, grips and
//! children exist, times and counts add up.

use std::collections::BTreeSet;

use tome_ledger::{Ledger, NodeHeader};
use tome_model::{Event, EventId, EventKind, Fact, FactKind, Grip, Level, Node};

use super::ContentsSettings;
use super::evidence::{contains_excerpt, hash_excerpt, is_excerpt_short};
use super::limits::PROBLEMS_MAX;
use super::rewrite::{NodeSource, load_segment_source};
use tome_home::HomeError;

use crate::extract::FINISHED;

/// Result of [`verify_contents`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentsVerifyReport {
    /// Nodes checked, in their latest versions.
    pub nodes: u64,
    /// Grips checked.
    pub grips: u64,
    /// Number of problems, including those not listed.
    pub problem_count: u64,
    /// The first problems, one line each.
    pub problems: Vec<String>,
}

impl ContentsVerifyReport {
    /// Whether no problem was found.
    pub fn is_ok(&self) -> bool {
        self.problem_count == 0
    }

    fn add_problem(&mut self, problem: String) {
        self.problem_count += 1;
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(problem);
        }
    }
}

/// Checks all contents of a ledger. What cannot be read is a problem; only a ledger that cannot be
/// read at all is an error.
pub fn verify_contents(
    ledger: &Ledger,
    settings: &ContentsSettings,
) -> Result<ContentsVerifyReport, HomeError> {
    let mut report = ContentsVerifyReport::default();
    for project in ledger.contents_projects()? {
        let mut check = ContentsCheck { ledger, settings, project: &project, report: &mut report };
        for grip in ledger.grips(&project, None) {
            match grip {
                Ok(grip) => check.check_grip(&grip)?,
                Err(error) => check.report.add_problem(error.to_string()),
            }
        }
        for head in ledger.node_headers(&project, "", None) {
            match head {
                Ok(head) if !head.removed => check.check_node(&head)?,
                Ok(_) => {}
                Err(error) => check.report.add_problem(error.to_string()),
            }
        }
    }
    Ok(report)
}

struct ContentsCheck<'a> {
    ledger: &'a Ledger,
    settings: &'a ContentsSettings,
    project: &'a str,
    report: &'a mut ContentsVerifyReport,
}

impl ContentsCheck<'_> {
    fn check_grip(&mut self, grip: &Grip) -> Result<(), HomeError> {
        self.report.grips += 1;
        if hash_excerpt(&grip.excerpt) != grip.hash {
            self.report.add_problem(format!("{}: hash does not match the excerpt", grip.id));
        }
        if !is_excerpt_short(&grip.excerpt) {
            self.report.add_problem(format!("{}: excerpt is too long", grip.id));
        }
        let mut events: Vec<Event> = Vec::new();
        for id in BTreeSet::from([&grip.first, &grip.last]) {
            match self.ledger.event(id)? {
                Some(event) => events.push(event),
                None => self.report.add_problem(format!("{}: event {id} is missing", grip.id)),
            }
        }
        if !events.is_empty() && !events.iter().any(|event| contains_excerpt(event, &grip.excerpt))
        {
            self.report.add_problem(format!("{}: excerpt is not in its event", grip.id));
        }
        Ok(())
    }

    fn check_node(&mut self, head: &NodeHeader) -> Result<(), HomeError> {
        self.report.nodes += 1;
        let id = &head.id;
        let node = match self.ledger.node(self.project, id, Some(head.version)) {
            Ok(Some(node)) => node,
            Ok(None) => {
                self.report.add_problem(format!("{id}: version {} is missing", head.version));
                return Ok(());
            }
            Err(error) => {
                self.report.add_problem(error.to_string());
                return Ok(());
            }
        };
        if !head.matches_node(&node) {
            self.report.add_problem(format!("{id}: head does not match the node"));
        }
        for grip in node.grips() {
            if !matches!(self.ledger.grip(self.project, grip), Ok(Some(_))) {
                self.report.add_problem(format!("{id}: grip {grip} is missing"));
            }
        }
        for fact in node.work.iter().flat_map(|work| &work.facts) {
            self.check_fact(&node, fact);
        }
        match id.level() {
            Level::Segment => self.check_segment(&node),
            _ => self.check_period(&node),
        }
    }

    /// Checks that a fact's evidence is of the kind that can show it.
    fn check_fact(&mut self, node: &Node, fact: &Fact) {
        let grips: Vec<Grip> = fact
            .grips()
            .iter()
            .filter_map(|id| self.ledger.grip(self.project, id).ok().flatten())
            .collect();
        if !is_shown(fact, &grips) {
            let (kind, text) = (fact.kind.as_str(), &fact.text);
            self.report.add_problem(format!("{}: no evidence for the {kind} {text:?}", node.id));
        }
    }

    fn check_segment(&mut self, node: &Node) -> Result<(), HomeError> {
        let source = load_segment_source(self.ledger, self.settings, self.project, node)?;
        let Some(NodeSource::Segment { events, .. }) = source else {
            self.report.add_problem(format!("{}: events do not match its session", node.id));
            return Ok(());
        };
        let ends = |event: Option<&Event>| event.map(|event| (event.at, event.id.clone()));
        let (first, last) = (ends(events.first()), ends(events.last()));
        let stored: Option<(EventId, EventId)> = node.source.clone();
        let stored = stored.map(|(first, last)| ((node.first_at, first), (node.last_at, last)));
        if first.zip(last) != stored {
            self.report.add_problem(format!("{}: first and last events do not match", node.id));
        }
        Ok(())
    }

    fn check_period(&mut self, node: &Node) -> Result<(), HomeError> {
        let mut children = Vec::with_capacity(node.children.len());
        for child in &node.children {
            match self.ledger.node_header(self.project, child)?.filter(|head| !head.removed) {
                Some(head) => children.push(head),
                None => self.report.add_problem(format!("{}: child {child} is missing", node.id)),
            }
        }
        if let Some(month) = node.id.period().filter(|_| node.id.level() == Level::Month) {
            // The weeks below it may have days of another month.
            children.clear();
            for part in month.parts() {
                let head = self.ledger.node_header(self.project, &part.id())?;
                children.extend(head.filter(|head| !head.removed));
            }
        }
        if children.is_empty() {
            self.report.add_problem(format!("{}: no children", node.id));
        }
        let sums = [
            ("events", node.events, children.iter().map(|child| child.events).sum::<u64>()),
            ("tokens", node.tokens, children.iter().map(|child| child.tokens).sum()),
        ];
        for (what, stored, sum) in sums {
            if stored != sum {
                self.report.add_problem(format!(
                    "{}: {stored} {what}, but its children have {sum}",
                    node.id
                ));
            }
        }
        let first_at = children.iter().map(|child| child.first_at).min();
        let last_at = children.iter().map(|child| child.last_at).max();
        if first_at.zip(last_at) != Some((node.first_at, node.last_at)) {
            self.report.add_problem(format!("{}: times do not match its children", node.id));
        }
        if node.open != children.iter().any(|child| child.open) {
            self.report.add_problem(format!("{}: open or closed, unlike its children", node.id));
        }
        Ok(())
    }
}

/// The rule of each kind of fact: who must have written its evidence, and what it must hold.
fn is_shown(fact: &Fact, grips: &[Grip]) -> bool {
    const AGENT: [EventKind; 2] = [EventKind::AssistantMessage, EventKind::AssistantStop];
    let from = |kinds: &[EventKind]| grips.iter().any(|grip| kinds.contains(&grip.kind));
    match fact.kind {
        FactKind::Commit => {
            let subject = fact.text.rsplit_once(" (").map_or(fact.text.as_str(), |(text, _)| text);
            let start: String = subject.chars().take(60).collect();
            from(&[EventKind::ToolResult])
                && grips.iter().any(|grip| grip.excerpt.contains(start.trim_end_matches('…')))
        }
        FactKind::PullRequest
        | FactKind::Problem
        | FactKind::Check
        | FactKind::Change
        | FactKind::UndoneCommit => from(&[EventKind::ToolResult]),
        FactKind::Convention | FactKind::Correction | FactKind::Request => {
            from(&[EventKind::UserMessage])
        }
        FactKind::Outcome => {
            let is_rebased = |grip: &Grip| grip.excerpt.starts_with("Successfully rebased");
            let is_listed = |grip: &Grip| {
                grip.kind == EventKind::ToolResult && lists_step(&fact.text, &grip.excerpt)
            };
            from(&AGENT)
                || from(&[EventKind::ToolResult]) && grips.iter().any(is_rebased)
                || grips.iter().any(is_listed)
        }
        FactKind::Decision => {
            from(&[EventKind::UserMessage])
                || from(&AGENT)
                // The result of a question tool holds the question and the user's answer.
                || from(&[EventKind::ToolResult])
                    && grips.len() > 1
                    && grips.iter().any(|grip| begins_alike(&fact.text, &grip.excerpt))
        }
        FactKind::Open | FactKind::Title | FactKind::Issue => !grips.is_empty(),
    }
}

/// Whether a text lists a step of the agent's list of tasks as finished.
fn lists_step(text: &str, step: &str) -> bool {
    let listed = text.split_once(FINISHED).map_or("", |(_, steps)| steps);
    listed.split(';').any(|one| begins_alike(one, step))
}

/// Whether a text begins with the letters and digits of an excerpt, whatever is between them. A short
/// question is compared as a whole.
fn begins_alike(text: &str, excerpt: &str) -> bool {
    const COMPARED: usize = 12;
    let start = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).take(COMPARED).collect()
    };
    let excerpt = start(excerpt);
    !excerpt.is_empty() && start(text).starts_with(&excerpt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_evidence_of_the_list_that_names_it() {
        let text =
            "Make the upload resumable → Finished: Keep the offset; Add a test of the offset (+1)";
        assert!(lists_step(text, "Keep the offset"));
        assert!(lists_step(text, "Add a test of the offset"));
        assert!(!lists_step(text, "Remove the old client"));
        assert!(!lists_step("Keep the offset", "Keep the offset"));
        assert!(!lists_step(text, "completed"));
    }

    #[test]
    fn a_short_question_is_evidence_of_its_answer() {
        assert!(begins_alike("仓库可见性？ Private", "仓库可见性？"));
        assert!(begins_alike("Which store? SQLite, it is there", "Which store?"));
        assert!(!begins_alike("Which store? SQLite", "Which cache?"));
        assert!(!begins_alike("Which store? SQLite", "?"));
    }
}
