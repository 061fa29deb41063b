//! `teleport_query`: searches the contents and returns pointers with previews, not content.

use serde_json::{Value, json};
use tome_finder::Source;
use tome_text::estimate_tokens;

use super::text::{id_of, minute, notes, one_line};
use super::{Narrow, Result, answer_json, pack, place, query};
use crate::tools::ToolAnswer;
use crate::tools::answer::{Refusal, bounded, put};
use crate::tools::args::Args;
use crate::tools::call::Call;
use tome_recall::{RecallAnswer, RecallHit, RecallQuestion, Within};

/// Default and maximum pointers.
const POINTERS: usize = 10;
const POINTERS_MAX: usize = 50;

/// Characters of a preview; bytes of a title.
const PREVIEW_CHARS_MAX: usize = 120;
const TITLE_BYTES_MAX: usize = 120;

/// Bytes of a query repeated in text.
const QUERY_BYTES_MAX: usize = 200;

/// Levels of nodes, and grips.
const LEVELS: [&str; 6] = ["year", "month", "week", "day", "segment", "grip"];

pub(in crate::tools) fn teleport_query(call: &Call<'_>, args: &mut Args) -> Result<ToolAnswer> {
    let query = query(args)?;
    let limit = args.count(&["limit"], POINTERS_MAX)?.unwrap_or(POINTERS);
    let level = args.text(&["level"])?.filter(|level| !level.is_empty());
    let narrow = Narrow::take(call, args)?;
    args.finish()?;
    if let Some(level) = &level
        && !LEVELS.contains(&level.as_str())
    {
        let (level, known) = (bounded(level, 60), LEVELS.join(", "));
        return Err(Refusal::invalid(format!("unknown level {level:?}: use one of {known}")));
    }
    // Hits of other levels are filtered out afterwards.
    let asked = if level.is_some() && limit > 0 { POINTERS_MAX } else { limit };
    let place = place(call, None)?;
    let question =
        RecallQuestion { within: Within::Contents, limit: asked, ..place.asking(query, narrow) };
    let mut answer = call.recall()?.ask(&question)?;
    answer.hits.retain(|hit| level.as_ref().is_none_or(|wanted| level_of(hit) == wanted));
    let cut = answer.hits.len().saturating_sub(limit);
    answer.hits.truncate(limit);
    answer.more += cut;
    Ok(pointed(&answer, &question.query))
}

/// The level of a node; `grip` for a grip.
fn level_of(hit: &RecallHit) -> &str {
    match hit.source {
        Source::Grip => "grip",
        _ if hit.kind.is_empty() => id_of(&hit.citation).split(':').nth(1).unwrap_or_default(),
        _ => &hit.kind,
    }
}

pub(super) fn pointed(answer: &RecallAnswer, query: &str) -> ToolAnswer {
    let shown = bounded(&one_line(tome_model::truncate_to(query, 1_000)), QUERY_BYTES_MAX);
    let mut lines = match answer.hits.len() {
        0 => vec![format!("No results found for: \"{shown}\"")],
        count => vec![format!("Found {count} pointer(s) for: \"{shown}\"")],
    };
    let mut pointers = Vec::with_capacity(answer.hits.len());
    for (number, hit) in (1..).zip(&answer.hits) {
        let preview = pack::around(&one_line(&hit.text), query, PREVIEW_CHARS_MAX - 2);
        lines.push(line(number, hit, &preview));
        pointers.push(pointer(hit, &preview));
    }
    if !answer.hits.is_empty() {
        lines.push("(open nodes with get_node, grips with expand_grip)".to_owned());
    }
    if answer.more > 0 {
        lines.push(format!("({} more; call again with a higher limit)", answer.more));
    }
    lines.extend(notes(answer));
    let text = lines.join("\n");
    let mut json = answer_json(answer, query);
    put(&mut json, "hits", pointers.into());
    put(&mut json, "tokens", estimate_tokens(&text).into());
    ToolAnswer::said(text, json)
}

fn line(number: usize, hit: &RecallHit, preview: &str) -> String {
    let (id, title) = (id_of(&hit.citation), bounded(&one_line(&hit.title), TITLE_BYTES_MAX));
    let at = hit.at.map(|at| format!(" {}", minute(at))).unwrap_or_default();
    match title.is_empty() || preview.starts_with(&title) {
        true => format!("[{number}] {id}{at}: {preview}"),
        false => format!("[{number}] {id}{at} {title}: {preview}"),
    }
}

fn pointer(hit: &RecallHit, preview: &str) -> Value {
    let kind = if hit.source == Source::Grip { "grip" } else { "node" };
    json!({
        "id": id_of(&hit.citation), "kind": kind, "level": level_of(hit),
        "title": bounded(&one_line(&hit.title), TITLE_BYTES_MAX), "preview": preview, "at": hit.at,
        "project": hit.project, "score": hit.score,
    })
}
