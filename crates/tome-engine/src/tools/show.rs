//! `memory_show`: opens a citation of an event, a note, a node or a grip, or the page of a session.

use std::ops::Range;

use serde_json::{Value, json};
use tome_model::{Event, EventId, EventKind};
use tome_text::estimate_tokens;

use super::ToolAnswer;
use super::answer::{ToolError, truncate_bytes};
use super::args::ToolArgs;
use super::call::ToolInvocation;
use super::contents::{
    Citations, join_event_texts, render_cited, render_events, render_expanded_grip, render_node,
    render_numbered,
};
use super::session_page::show_session_page;
use tome_contents::{SessionPage, read_tool_call};
use tome_home::HomeError;
use tome_recall::{Citation, CitedContent, OpenedCitation, Viewpoint};

type Result<T> = std::result::Result<T, ToolError>;

/// Bytes of an answer, about 4,000 tokens.
const SHOWN_BYTES_MAX: usize = 16_000;
/// Bytes shown of the cited event, and of the citation.
const EVENT_BYTES_MAX: usize = 12_000;
const CITATION_BYTES_MAX: usize = 300;
/// Bytes shown of the cited event if the caller wants it whole, about 12,000 tokens.
const WHOLE_BYTES_MAX: usize = 48_000;
/// Events shown on either side of the cited one.
const AROUND_MAX: usize = 50;
/// Bytes shown of the events of a turn: the cited one, other messages, other steps.
const CITED_BYTES_MAX: usize = 8_000;
const MESSAGE_BYTES_MAX: usize = 700;
/// The same of the answer that ends the turn: its beginning, and its end, which concludes.
const ANSWER_HEAD_BYTES: usize = 700;
const ANSWER_TAIL_BYTES: usize = 1_100;
const STEP_BYTES_MAX: usize = 160;
/// Steps in a row that are shown at either end.
const STEPS_SHOWN: usize = 4;
/// Characters of the beginning of a session's id that are enough: lists show eight.
const SESSION_ID_CHARS_MIN: usize = 6;

pub(super) fn memory_show(call: &ToolInvocation<'_>, args: &mut ToolArgs) -> Result<ToolAnswer> {
    let citation = args.require_text(&["citation", "id"])?;
    let query = args.take_text(&["query"])?.unwrap_or_default();
    let around = args.take_count(&["around"], AROUND_MAX)?;
    let is_whole = args.take_switch(&["whole"])?;
    args.reject_unknown()?;
    // Accepts citations in brackets, as recall prints them.
    let cited = citation.trim().trim_matches(['[', ']', '`']);
    let projects = call.contents()?.stores().projects();
    let project = call.cwd().map(|cwd| projects.resolve_project_or_guess(cwd, None));
    let session = call.session().map(str::to_owned);
    // Bare digits are the number of an event, unless they are its id.
    let is_digits = !cited.is_empty() && cited.bytes().all(|byte| byte.is_ascii_digit());
    let numbered = format!("#{cited}");
    let cited = if is_digits { numbered.as_str() } else { cited };
    let opened = match cited.parse::<Citation>() {
        Ok(parsed) => {
            let from = Viewpoint { project: project.clone(), session };
            call.recall()?.citations().open(&parsed, &from).map_err(ToolError::from)
        }
        Err(problem) => open_event(call, cited, project.as_deref())
            .map_err(|_| ToolError::invalid(problem.to_string())),
    };
    let opened = match opened {
        Ok(opened) => opened,
        // Any text may be the id of a session.
        Err(problem) => match find_session_page(call, cited, project.as_deref())? {
            Some(page) => return Ok(show_session_page(&page)),
            None => return Err(problem),
        },
    };
    let turn = match &opened.content {
        CitedContent::Event(event) => {
            // The whole of one event leaves no room for others.
            let around = around.or(is_whole.then_some(0));
            call.recall()?.citations().load_around(event, around)?
        }
        _ => Vec::new(),
    };
    let text_bytes_max = if is_whole { WHOLE_BYTES_MAX } else { SHOWN_BYTES_MAX };
    let cut = CitedCut { query: &query, bytes_max: is_whole.then_some(WHOLE_BYTES_MAX) };
    let text = match &opened.content {
        CitedContent::Event(event) if !turn.is_empty() => {
            let session = format!("session {}:", event.session);
            let rest = text_bytes_max.saturating_sub(session.len() + 1);
            format!("{session}\n{}", keep_nearest(render_turn(&turn, &event.id, &cut), rest))
        }
        _ => truncate_bytes(&render_opened(&opened, &cut).join("\n"), text_bytes_max),
    };
    let tokens = estimate_tokens(&text);
    let json = json!({
        "citation": truncate_bytes(cited, CITATION_BYTES_MAX), "text": text, "tokens": tokens,
        "session": opened.session.as_ref().map(tome_model::SessionId::as_str),
        "project": opened.project,
    });
    Ok(ToolAnswer::from_text(text, json))
}

/// Finds the page of a session by its id or the beginning of it, also as `sessions/<id>`: of the current project,
/// or else of all.
fn find_session_page(
    call: &ToolInvocation<'_>,
    id: &str,
    project: Option<&str>,
) -> Result<Option<SessionPage>> {
    let id = id.strip_prefix("sessions/").unwrap_or(id);
    let is_short = id.chars().count() < SESSION_ID_CHARS_MIN;
    let contents = call.contents()?;
    for project in [project, None] {
        match contents.session_page(id, project) {
            // So few characters may begin the id of any session.
            Ok(page) if is_short && page.session.id.as_str() != id => {}
            Ok(page) => return Ok(Some(page)),
            Err(HomeError::NotFound(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

/// Opens an event by its id or a unique prefix of it.
fn open_event(
    call: &ToolInvocation<'_>,
    id: &str,
    project: Option<&str>,
) -> std::result::Result<OpenedCitation, HomeError> {
    let missing = || HomeError::NotFound(format!("no event {id}"));
    let stores = call.contents().map_err(|_| missing())?.stores();
    let root = project.filter(|root| stores.find_store_path(root).is_some()).ok_or_else(missing)?;
    let event = stores.find_event(id, Some(root))?;
    let (session, root) = (Some(event.session.clone()), event.project.clone());
    let content = CitedContent::Event(Box::new(event));
    Ok(OpenedCitation { session, ..OpenedCitation::without_file(root, content) })
}

/// How a long cited text is cut.
struct CitedCut<'a> {
    /// The text around its best match is kept.
    query: &'a str,
    /// `None`: the default.
    bytes_max: Option<usize>,
}

impl CitedCut<'_> {
    /// Keeps both ends of a text, and the best match between them.
    fn cut(&self, text: &str, bytes_default: usize) -> String {
        let bytes_max = self.bytes_max.unwrap_or(bytes_default);
        join_parts(text, &tome_recall::select_parts(self.query, text, bytes_max))
    }
}

/// Joins the parts of a text, which are in order, and says how much is missing between them.
fn join_parts(text: &str, parts: &[Range<usize>]) -> String {
    let mut joined = String::new();
    let mut end = 0;
    for part in parts {
        if part.start > end {
            let left_out = part.start - end;
            joined.push_str(&format!("\n[… {left_out} bytes left out …]\n"));
        }
        joined.push_str(text.get(part.clone()).unwrap_or_default());
        end = part.end;
    }
    joined
}

/// The lines of a turn, of which one is cited.
struct TurnLines {
    lines: Vec<String>,
    /// Index of the cited line.
    cited: usize,
}

/// Joins the lines that are nearest to the cited one as far as they fit.
fn keep_nearest(turn: TurnLines, bytes_max: usize) -> String {
    /// Length of the remark on lines that are left out.
    const REMARK_BYTES: usize = 80;
    let TurnLines { mut lines, cited } = turn;
    let mut bytes: usize = lines.iter().map(|line| line.len() + 1).sum();
    let (mut from, mut to) = (0, lines.len());
    while bytes > bytes_max.saturating_sub(REMARK_BYTES) && to - from > 1 {
        let dropped = if cited - from > to - 1 - cited { from } else { to - 1 };
        bytes -= lines.get(dropped).map_or(0, |line| line.len() + 1);
        if dropped == from { from += 1 } else { to -= 1 }
    }
    let (before, after) = (from, lines.len() - to);
    lines.truncate(to);
    lines.drain(..from);
    let remark = |count: usize, side: &str| format!("[{count} lines {side} left out]");
    if before > 0 {
        lines.insert(0, remark(before, "before"));
    }
    if after > 0 {
        lines.push(remark(after, "after"));
    }
    lines.join("\n")
}

/// Renders a turn, with the cited event marked. The other texts are cut; of many steps in a row, the first
/// and the last are shown.
fn render_turn(turn: &[(u64, Event)], cited: &EventId, cut: &CitedCut<'_>) -> TurnLines {
    let answer = turn.iter().rfind(|(_, event)| is_answer(event)).map(|(number, _)| *number);
    let is_step = |(_, event): &(u64, Event)| event.id != *cited && !is_message(event);
    let render = |(number, event): &(u64, Event)| {
        if event.id == *cited {
            let text = cut.cut(&join_event_texts(event), CITED_BYTES_MAX);
            format!("> {}", render_cited(&format!("#{number}"), event, &text))
        } else if answer == Some(*number) {
            let text = cut_middle(&event.text, &format!("#{number} has it all"));
            render_numbered(*number, &Event { text, ..event.clone() }, CITED_BYTES_MAX)
        } else if is_message(event) {
            render_numbered(*number, event, MESSAGE_BYTES_MAX)
        } else {
            render_step(*number, event)
        }
    };
    let mut lines: Vec<String> = Vec::new();
    let mut cited_line = 0;
    for run in turn.chunk_by(|one, next| is_step(one) && is_step(next)) {
        if run.iter().any(|(_, event)| event.id == *cited) {
            cited_line = lines.len();
        }
        let hidden = run.len().saturating_sub(2 * STEPS_SHOWN);
        let (first, rest) = run.split_at(STEPS_SHOWN.min(run.len()));
        let (between, last) = rest.split_at(if hidden < 2 { 0 } else { hidden });
        lines.extend(first.iter().map(render));
        if let (Some((from, _)), Some((to, _))) = (between.first(), between.last()) {
            lines.push(format!("[{} more steps: #{from} to #{to}]", between.len()));
        }
        lines.extend(last.iter().map(render));
    }
    TurnLines { lines, cited: cited_line }
}

fn is_answer(event: &Event) -> bool {
    matches!(event.kind, EventKind::AssistantMessage | EventKind::AssistantStop)
}

fn is_message(event: &Event) -> bool {
    event.kind == EventKind::UserMessage || is_answer(event)
}

/// A tool call in one line, with how it ended: `#12 $ cargo test (exit 1)`.
fn render_step(number: u64, event: &Event) -> String {
    let Some(call) = read_tool_call(event) else {
        return render_numbered(number, event, STEP_BYTES_MAX);
    };
    let prompt = if call.command.is_some() { "$ " } else { "" };
    let outcome = match call.outcome.words() {
        words if words.is_empty() => words,
        words => format!(" ({words})"),
    };
    let line = truncate_bytes(&call.line.replace('\n', " "), STEP_BYTES_MAX);
    format!("#{number} {prompt}{line}{outcome}")
}

/// The beginning and the end of a long text.
fn cut_middle(text: &str, remark: &str) -> String {
    if text.len() <= ANSWER_HEAD_BYTES + ANSWER_TAIL_BYTES + 200 {
        return text.to_owned();
    }
    let head = tome_model::truncate_to(text, ANSWER_HEAD_BYTES);
    let from = text.ceil_char_boundary(text.len() - ANSWER_TAIL_BYTES);
    let tail = text.get(from..).unwrap_or_default();
    let left = from - head.len();
    format!("{head}\n[… {left} bytes left out; {remark} …]\n{tail}")
}

fn render_opened(opened: &OpenedCitation, cut: &CitedCut<'_>) -> Vec<String> {
    match &opened.content {
        CitedContent::Event(event) => {
            render_events(std::slice::from_ref(event.as_ref()), EVENT_BYTES_MAX)
        }
        CitedContent::ForeignLine(text) => vec![cut.cut(text, EVENT_BYTES_MAX)],
        CitedContent::Lines { first, lines, total } => {
            let numbered =
                (*first..).zip(lines).map(|(number, line)| format!("{number:>5}  {line}"));
            numbered.chain([format!("({total} lines in total)")]).collect()
        }
        CitedContent::Nodes(nodes) => {
            let mut lines = Vec::new();
            let _: Vec<Value> = nodes
                .iter()
                .map(|node| render_node(node, Citations::Numbers, &mut lines))
                .collect();
            lines
        }
        CitedContent::Grip(expanded) => render_expanded_grip(expanded).0,
    }
}
