//! Turns: a prompt, the work it caused, and the final answer.

use std::ops::Range;

use serde_json::Value;
use tome_model::{Event, EventKind, FileAction, Tool};

use crate::extract::answers::answer::find_conclusion;
use crate::extract::answers::statement::{AnswerSentence, SURE};
use crate::extract::commands::command_run::{CommandRun, find_command_line, parse_command_runs};
use crate::extract::commands::outcome::{ToolOutcome, read_outcome};
use crate::extract::files::touched_files::{TouchedFile, parse_patch_files, parse_touched_files};
use crate::extract::git::commits::{
    FinishedRebase, MadeCommit, find_commits, find_finished_rebase,
};
use crate::extract::git::pulls::{NamedPull, find_pulls};
use crate::extract::git::undone::{UndoneCommit, find_resets};
use crate::extract::language::cues::{Cue, find_cue};
use crate::extract::language::prose::{MessageParts, prompt_text, split_message};
use crate::extract::language::text::{begins_with_any, to_lower};
use crate::extract::turns::plan::{PlanHeading, find_plan, request_of_plan};
use crate::extract::turns::prompt::is_prompt;
use crate::extract::turns::reaction::{Reaction, classify_reaction};
use crate::extract::turns::request::{UserRequest, choose_request};
use crate::rejection::find_rejection_words;
use crate::service_error::is_service_error;

/// Cuts the ordered events of a session into turns: every event is in exactly one. Whether an event
/// begins a turn depends only on earlier events.
pub fn cut_turns(events: &[Event]) -> Vec<Range<usize>> {
    let mut turns: Vec<Range<usize>> = Vec::new();
    // Whether the current turn holds more than the start of its session.
    let mut begun = false;
    for (at, event) in events.iter().enumerate() {
        let opens = is_prompt(event) || event.kind == EventKind::SessionStart;
        match turns.last_mut() {
            Some(turn) if !(opens && begun) => turn.end = at + 1,
            _ => {
                turns.push(at..at + 1);
                begun = false;
            }
        }
        begun |= event.kind != EventKind::SessionStart;
    }
    turns
}

/// A file that a turn touched.
#[derive(Debug, Clone)]
pub(crate) struct TurnFile<'a> {
    pub(crate) path: &'a str,
    /// The verbatim text that names it.
    pub(crate) raw: &'a str,
    /// The first and the last event that touched it so.
    pub(crate) event: usize,
    pub(crate) last_event: usize,
    pub(crate) action: FileAction,
    pub(crate) times: u32,
}

/// The facts of one turn, as indexes into the segment's events.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    pub(crate) events: Range<usize>,
    pub(crate) prompt: Option<usize>,
    /// Whether its prompt is the first one of the session.
    pub(crate) begins_session: bool,
    pub(crate) prompt_parts: MessageParts<'a>,
    pub(crate) request: Option<UserRequest<'a>>,
    /// How the prompt reacts to the turn before it.
    pub(crate) reaction: Reaction,
    /// The user's words when they rejected a tool call, with its event.
    pub(crate) rejections: Vec<(usize, &'a str)>,
    /// The agent's last message.
    pub(crate) answer: Option<usize>,
    /// Whether no tool was called after that message, and it is no progress report.
    pub(crate) is_answered: bool,
    /// The error message of the agent's service with which it ended instead of an answer.
    pub(crate) service_error: Option<usize>,
    /// The parts of the final answer.
    pub(crate) answer_parts: MessageParts<'a>,
    /// The conclusion of the final answer and the event that holds it.
    pub(crate) conclusion: Option<(usize, AnswerSentence<'a>)>,
    pub(crate) plan: Option<PlanHeading<'a>>,
    pub(crate) files: Vec<TurnFile<'a>>,
    pub(crate) runs: Vec<CommandRun<'a>>,
    pub(crate) commits: Vec<MadeCommit<'a>>,
    /// Commits that it took back and that no turn before it made.
    pub(crate) undone: Vec<UndoneCommit<'a>>,
    pub(crate) pulls: Vec<NamedPull<'a>>,
    /// The last rebase that it finished.
    pub(crate) rebase: Option<FinishedRebase<'a>>,
    pub(crate) branch: Option<&'a str>,
    /// Whether the user stopped its last tool call, or rejected it without a word.
    pub(crate) is_interrupted: bool,
    /// Whether a later turn overturned its result; see `facts::segment_facts`.
    pub(crate) is_overturned: bool,
}

/// Reads the turns of a segment.
pub(crate) fn read_turns(events: &[Event]) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for range in cut_turns(events) {
        let turn = read_turn(events, range, &mut turns);
        turns.push(turn);
    }
    turns
}

fn read_turn<'a>(events: &'a [Event], range: Range<usize>, before: &mut [Turn<'a>]) -> Turn<'a> {
    let mut turn = Turn {
        events: range.clone(),
        prompt: None,
        begins_session: false,
        prompt_parts: MessageParts::default(),
        request: None,
        reaction: Reaction::None,
        rejections: Vec::new(),
        answer: None,
        is_answered: false,
        service_error: None,
        answer_parts: MessageParts::default(),
        conclusion: None,
        plan: None,
        files: Vec::new(),
        runs: Vec::new(),
        commits: Vec::new(),
        undone: Vec::new(),
        pulls: Vec::new(),
        rebase: None,
        branch: None,
        is_interrupted: false,
        is_overturned: false,
    };
    for at in range {
        if let Some(event) = events.get(at) {
            turn.add_event(at, event, before);
            turn.plan = find_plan(events, at).or(turn.plan);
        }
    }
    // The heading of the plan is more informative than "Implement the following plan".
    if let (Some(plan), Some(prompt)) = (turn.plan, turn.prompt)
        && plan.event == prompt
        && let Some(request) = &mut turn.request
        && let Some(text) = events.get(prompt).and_then(|event| request_of_plan(&event.text))
    {
        request.raw = plan.raw;
        request.text = text;
        request.is_sure = true;
    }
    if let Some((_, answer)) = turn.final_answer(events) {
        turn.answer_parts = split_message(answer);
        turn.is_answered =
            ends_turn(events, turn.answer) || !ends_with_next_step(&turn.answer_parts);
        turn.conclusion = turn.find_conclusion(events);
    }
    turn
}

impl<'a> Turn<'a> {
    fn add_event(&mut self, at: usize, event: &'a Event, before: &mut [Self]) {
        let field = |name: &str| event.meta.get(name).and_then(Value::as_str);
        let branch = field("branch");
        // In the middle of a rebase git is on no branch.
        self.branch = branch.filter(|branch| !matches!(*branch, "" | "HEAD")).or(self.branch);
        let is_from_subagent = event.is_from_subagent();
        match event.kind {
            EventKind::UserMessage if is_prompt(event) && self.prompt.is_none() => {
                self.prompt = Some(at);
                self.prompt_parts = split_message(&event.text);
                self.request = choose_request(at, &self.prompt_parts);
                self.reaction = classify_reaction(&prompt_text(&event.text));
            }
            EventKind::AssistantMessage | EventKind::AssistantStop
                if !is_from_subagent && is_service_error(event) =>
            {
                self.service_error = Some(at);
                self.is_answered = false;
            }
            EventKind::AssistantMessage | EventKind::AssistantStop
                if !is_from_subagent && !event.text.trim().is_empty() =>
            {
                self.answer = Some(at);
                self.service_error = None;
                // Codex marks the messages that it sends while it works.
                self.is_answered = field("phase") != Some("commentary");
                self.is_interrupted = false;
            }
            EventKind::SessionStart if self.prompt.is_none() => {
                self.begins_session =
                    !matches!(field("source"), Some("resume" | "clear" | "compact"));
            }
            EventKind::ToolResult => self.add_tool_result(at, event, before),
            EventKind::Unknown if field("event") == Some("interrupted") => {
                self.is_answered = false;
                self.is_interrupted = true;
            }
            _ => {}
        }
    }

    fn add_tool_result(&mut self, at: usize, event: &'a Event, before: &mut [Self]) {
        let Some(tool) = &event.tool else { return };
        let outcome = read_outcome(event, tool);
        let words = match outcome {
            ToolOutcome::Rejected => find_rejection_words(event),
            _ => None,
        };
        self.rejections.extend(words.map(|words| (at, words)));
        if !event.is_from_subagent() && !is_task_list_tool(&tool.name) {
            self.is_answered = false;
            // A rejection with words gives new directions instead of stopping the agent.
            self.is_interrupted = words.is_none()
                && matches!(outcome, ToolOutcome::Rejected | ToolOutcome::Interrupted);
        }
        if matches!(outcome, ToolOutcome::Rejected | ToolOutcome::NotRun | ToolOutcome::NoResult) {
            return;
        }
        for file in find_touched_files(event, tool) {
            self.add_file(at, file.path, file.raw, file.action);
        }
        if find_shell_patch(tool).is_some() {
            return;
        }
        self.runs.extend(parse_command_runs(at, event, tool));
        self.pulls.extend(find_pulls(at, event, tool));
        if let Some(rebase) = find_finished_rebase(at, event, tool) {
            self.branch = rebase.branch.or(self.branch);
            self.rebase = Some(rebase);
        }
        for undone in find_resets(at, event, tool) {
            self.undo_commits(undone, before);
        }
        // A commit with another message is told as the new one.
        let keeps_message = find_command_line(tool).is_some_and(|line| line.contains("--no-edit"));
        for mut commit in find_commits(at, event, tool) {
            self.branch = commit.branch.or(self.branch);
            if let Some(undone) = UndoneCommit::from_commit(&commit) {
                let was_new = self.undo_commits(undone, before);
                commit.is_amended &= !was_new && keeps_message;
            }
            self.commits.push(commit);
        }
    }

    /// Drops the commits that a call took back, from this turn or those before it, and returns whether one of them was
    /// new: no change of an even earlier one.
    fn undo_commits(&mut self, undone: UndoneCommit<'a>, before: &mut [Self]) -> bool {
        let turns = || before.iter().flat_map(|turn| &turn.commits);
        let all: Vec<&MadeCommit<'_>> = turns().chain(&self.commits).collect();
        let range = undone.find_in(&all);
        if range.is_empty() {
            self.undone.push(undone);
            return false;
        }
        let is_new =
            all.get(range.clone()).is_some_and(|all| all.iter().any(|one| !one.is_amended));
        let mut place = 0;
        let commits = before.iter_mut().map(|turn| &mut turn.commits);
        for commits in commits.chain([&mut self.commits]) {
            commits.retain(|_| {
                place += 1;
                !range.contains(&(place - 1))
            });
        }
        is_new
    }

    fn add_file(&mut self, at: usize, path: &'a str, raw: &'a str, action: FileAction) {
        let is_read = action == FileAction::Read;
        let existing = self
            .files
            .iter_mut()
            .find(|file| file.path == path && (file.action == FileAction::Read) == is_read);
        match existing {
            Some(file) => {
                file.times += 1;
                file.last_event = at;
                if action == FileAction::Deleted {
                    file.action = action;
                }
            }
            None => {
                self.files.push(TurnFile {
                    path,
                    raw,
                    event: at,
                    last_event: at,
                    action,
                    times: 1,
                });
            }
        }
    }

    /// Whether it changed files, made commits or ran more than inspections.
    pub(crate) fn has_work(&self) -> bool {
        !self.commits.is_empty()
            || self.files.iter().any(|file| file.action != FileAction::Read)
            || self.runs.iter().any(|run| run.is_major)
    }

    /// Whether it only proposes work, and asks for consent.
    pub(crate) fn is_proposal(&self) -> bool {
        #[rustfmt::skip]
        const CONSENT: &[&str] = &[
            "look right", "look good?", "sound good?", "this plan", "should i proceed", "shall i proceed",
            "want me to proceed", "like me to proceed", "ready to proceed", "proceed with", "approve",
            "do you agree", "is this ok", "是否同意", "同意后", "同意执行", "同意吗", "请确认", "确认后", "是否可以", "可以吗",
            "よろしいですか", "よろしいでしょうか", "진행할까요", "d'accord ?", "voulez-vous que", "veux-tu que",
            "quer que eu", "posso prosseguir", "¿procedo", "quieres que proceda",
        ];
        let last = self.answer_parts.sentences.iter().rev().take(2);
        let asks = |text: &str| {
            let lower = to_lower(text);
            CONSENT.iter().any(|mark| lower.contains(mark))
        };
        // An answer to a question is no proposal, and neither is finished work.
        let is_question =
            |request: &UserRequest<'_>| request.text.ends_with(['?', '？', '吗', '嘛']);
        let is_done =
            |found: &AnswerSentence<'_>| matches!(find_cue(&found.lead), Some((Cue::Outcome, 2..)));
        !self.has_work()
            && self.is_answered
            && !self.request.as_ref().is_some_and(is_question)
            && !self.conclusion.as_ref().is_some_and(|(_, found)| is_done(found))
            && last.into_iter().any(|one| asks(&one.plain))
    }

    /// Drops the final answer of a turn that goes on, unless it is long enough to be a result of its own.
    pub(crate) fn drop_narration(&mut self, events: &[Event]) {
        const RESULT_WORDS_MIN: usize = 40;
        let words = self.final_answer(events).map(|(_, answer)| tome_text::count_words(answer));
        if words.is_some_and(|words| words < RESULT_WORDS_MIN) {
            self.is_answered = false;
            self.answer_parts = MessageParts::default();
            self.conclusion = None;
        }
    }

    /// The words of the user.
    pub(crate) fn prompt_text(&self, events: &[Event]) -> String {
        let prompt = self.prompt.and_then(|at| events.get(at));
        prompt.map(|event| prompt_text(&event.text)).unwrap_or_default()
    }

    /// The final answer: the last message, if nothing was called after it.
    pub(crate) fn final_answer(&self, events: &'a [Event]) -> Option<(usize, &'a str)> {
        let at = self.answer.filter(|_| self.is_answered)?;
        events.get(at).map(|event| (at, event.text.as_str()))
    }

    /// Finds the conclusion of the final answer. If the answer only closes the turn ("All 7 pass."),
    /// uses the message before it.
    fn find_conclusion(&self, events: &'a [Event]) -> Option<(usize, AnswerSentence<'a>)> {
        const CLOSING_WORDS_MAX: usize = 12;
        let (at, answer) = self.final_answer(events)?;
        let prompt = self.prompt_text(events);
        let sure = |parts: &MessageParts<'a>, least| {
            find_conclusion(parts, &prompt, self.has_work()).filter(|found| found.score >= least)
        };
        if let Some(found) = sure(&self.answer_parts, SURE) {
            return Some((at, found));
        }
        if tome_text::count_words(answer) > CLOSING_WORDS_MAX {
            return None;
        }
        let earlier = events.get(self.events.start..at)?;
        let before = earlier.iter().rposition(|event| {
            matches!(event.kind, EventKind::AssistantMessage | EventKind::AssistantStop)
                && !event.is_from_subagent()
                && !event.text.trim().is_empty()
        })?;
        let parts = split_message(&earlier.get(before)?.text);
        // A report of the next step tells no result.
        let found = sure(&parts, SURE + 60).filter(|_| !ends_with_next_step(&parts))?;
        Some((self.events.start + before, found))
    }
}

/// Whether the agent goes on with a turn by an event.
pub(crate) fn continues_turn(event: &Event) -> bool {
    matches!(event.kind, EventKind::ToolResult | EventKind::AssistantMessage)
}

/// The patch that a shell command applies.
fn find_shell_patch(tool: &Tool) -> Option<&str> {
    find_command_line(tool).filter(|line| line.contains("*** Begin Patch"))
}

/// The files that a tool call touched, by its own name or by a patch that a shell applied.
fn find_touched_files<'a>(event: &'a Event, tool: &'a Tool) -> Vec<TouchedFile<'a>> {
    let mut files = parse_touched_files(event, tool);
    files.extend(find_shell_patch(tool).into_iter().flat_map(parse_patch_files));
    files
}

/// The paths of the files that an event changed, created or deleted.
pub(crate) fn find_changed_paths(event: &Event) -> Vec<&str> {
    let Some(tool) = event.tool.as_ref().filter(|_| event.kind == EventKind::ToolResult) else {
        return Vec::new();
    };
    let has_run = !matches!(
        read_outcome(event, tool),
        ToolOutcome::Rejected | ToolOutcome::NotRun | ToolOutcome::NoResult
    );
    let files = find_touched_files(event, tool).into_iter();
    files.filter(|file| has_run && file.action != FileAction::Read).map(|file| file.path).collect()
}

/// Whether the agent marked a message as the end of its turn.
fn ends_turn(events: &[Event], at: Option<usize>) -> bool {
    at.and_then(|at| events.get(at)).is_some_and(|event| {
        let phase = event.meta.get("phase").and_then(Value::as_str);
        event.kind == EventKind::AssistantStop || phase == Some("final_answer")
    })
}

/// Whether a message ends with the agent's next step, like the last one of a session that broke off.
fn ends_with_next_step(parts: &MessageParts<'_>) -> bool {
    #[rustfmt::skip]
    const STARTS: &[&str] = &[
        "let me", "now let me", "i'll now", "i'm going to", "i am going to", "next i'll", "now i'll",
    ];
    const SUBJECTS: [&str; 2] = ["i'm ", "i am "];
    #[rustfmt::skip]
    const STATES: [&str; 9] = [
        "waiting", "missing", "leaving", "keeping", "assuming", "skipping", "ignoring", "treating", "seeing",
    ];
    let Some(last) = parts.sentences.last() else { return false };
    let lower = to_lower(&last.plain);
    let is_offer = begins_with_any(&lower, &["let me know"]) || lower.ends_with('?');
    // "I'm copying that into the project root now."
    let is_doing = || {
        let rest = SUBJECTS.iter().find_map(|start| lower.strip_prefix(start));
        rest.and_then(|rest| rest.split_whitespace().next())
            .is_some_and(|word| word.len() > 5 && word.ends_with("ing") && !STATES.contains(&word))
    };
    !is_offer && (begins_with_any(&lower, STARTS) || is_doing())
}

/// Whether a tool only keeps the agent's own list of tasks.
pub fn is_task_list_tool(name: &str) -> bool {
    matches!(
        name,
        "TodoWrite"
            | "todowrite"
            | "update_plan"
            | "write_todos"
            | "todo_write"
            | "update_todo"
            | "TaskCreate"
            | "TaskUpdate"
    )
}
