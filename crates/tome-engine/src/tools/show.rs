//! `memory_show`: opens a citation of an event, a note, a node or a grip.

use serde_json::{Value, json};
use tome_model::EventId;
use tome_text::estimate_tokens;

use super::ToolAnswer;
use super::answer::{Refusal, bounded};
use super::args::Args;
use super::call::Call;
use super::contents::{event_lines, expanded_lines, node_lines};
use tome_home::HomeError;
use tome_recall::{Citation, Opened, OpenedPlace, Viewpoint};

type Result<T> = std::result::Result<T, Refusal>;

/// Bytes of an answer, about 4,000 tokens.
const SHOWN_BYTES_MAX: usize = 16_000;
/// Bytes shown of the cited event, and of the citation.
const EVENT_BYTES_MAX: usize = 12_000;
const CITATION_BYTES_MAX: usize = 300;

pub(super) fn memory_show(call: &Call<'_>, args: &mut Args) -> Result<ToolAnswer> {
    let citation = args.need(&["citation", "id"])?;
    args.finish()?;
    // Accepts citations in brackets, as recall prints them.
    let cited = citation.trim().trim_matches(['[', ']', '`']);
    let projects = call.calendar()?.stores().projects();
    let project = call.cwd().map(|cwd| projects.root_of(cwd, None));
    let session = call.session().map(str::to_owned);
    let opened = match cited.parse::<Citation>() {
        Ok(parsed) => {
            let from = Viewpoint { project: project.clone(), session };
            call.recall()?.citations().open(&parsed, &from)?
        }
        Err(problem) => event_of(call, cited, project.as_deref())
            .map_err(|_| Refusal::invalid(problem.to_string()))?,
    };
    let lines = lines_of(&opened);
    let text = bounded(&lines.join("\n"), SHOWN_BYTES_MAX);
    let tokens = estimate_tokens(&text);
    let json = json!({
        "citation": bounded(cited, CITATION_BYTES_MAX), "text": text, "tokens": tokens,
        "session": opened.session.as_ref().map(tome_model::SessionId::as_str),
        "project": opened.project,
    });
    Ok(ToolAnswer::said(text, json))
}

/// Opens an event by its id, which is its citation until it is in its session's transcript.
fn event_of(
    call: &Call<'_>,
    id: &str,
    project: Option<&str>,
) -> std::result::Result<Opened, HomeError> {
    let missing = || HomeError::NotFound(format!("there is no event {id}"));
    let id = EventId::parse(id)?;
    let stores = call.calendar().map_err(|_| missing())?.stores();
    let path = project.and_then(|root| stores.existing(root)).ok_or_else(missing)?;
    let event = stores.open(&path)?.event(&id)?.ok_or_else(missing)?;
    let (session, root) = (Some(event.session.clone()), event.project.clone());
    let place = OpenedPlace::Event(Box::new(event));
    Ok(Opened { session, ..Opened::nowhere(root, place) })
}

fn lines_of(opened: &Opened) -> Vec<String> {
    match &opened.place {
        OpenedPlace::Event(event) => {
            event_lines(std::slice::from_ref(event.as_ref()), EVENT_BYTES_MAX)
        }
        OpenedPlace::Foreign(text) => vec![bounded(text, EVENT_BYTES_MAX)],
        OpenedPlace::Lines { first, lines, total } => {
            let numbered =
                (*first..).zip(lines).map(|(number, line)| format!("{number:>5}  {line}"));
            numbered.chain([format!("({total} lines in total)")]).collect()
        }
        OpenedPlace::Nodes(nodes) => {
            let mut lines = Vec::new();
            let _: Vec<Value> = nodes.iter().map(|node| node_lines(node, &mut lines)).collect();
            lines
        }
        OpenedPlace::Grip(expanded) => expanded_lines(expanded).0,
    }
}
