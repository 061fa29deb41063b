//! `teleport_query`: searches the contents and returns pointers with previews, not content.

use serde_json::{Value, json};
use tome_finder::RecordKind;
use tome_text::estimate_tokens;

use super::render::{one_line, render_minute, render_notes, strip_project};
use super::{Result, TimeAndAgents, answer_json, pack, require_query, resolve_caller};
use crate::tools::ToolAnswer;
use crate::tools::answer::{ToolError, insert_field, truncate_bytes};
use crate::tools::args::ToolArgs;
use crate::tools::call::ToolInvocation;
use tome_recall::{RecallAnswer, RecallHit, RecallScope};

/// Default and maximum pointers.
const POINTERS_DEFAULT: usize = 10;
const POINTERS_MAX: usize = 50;

/// Characters of a preview; bytes of a title.
const PREVIEW_CHARS_MAX: usize = 120;
const TITLE_BYTES_MAX: usize = 120;

/// Bytes of a query repeated in text.
const ECHOED_QUERY_BYTES_MAX: usize = 200;

/// Levels of nodes, and grips.
const LEVELS: [&str; 6] = ["year", "month", "week", "day", "segment", "grip"];

pub(in crate::tools) fn teleport_query(
    call: &ToolInvocation<'_>,
    args: &mut ToolArgs,
) -> Result<ToolAnswer> {
    let query = require_query(args)?;
    let limit = args.take_count(&["limit"], POINTERS_MAX)?.unwrap_or(POINTERS_DEFAULT);
    let level = args.take_text(&["level"])?.filter(|level| !level.is_empty());
    let narrow = TimeAndAgents::parse(call, args)?;
    args.reject_unknown()?;
    if let Some(level) = &level
        && !LEVELS.contains(&level.as_str())
    {
        let (level, known) = (truncate_bytes(level, 60), LEVELS.join(", "));
        return Err(ToolError::invalid(format!("unknown level {level:?}: use one of {known}")));
    }
    // Hits of other levels are filtered out afterwards.
    let hits_max = if level.is_some() && limit > 0 { POINTERS_MAX } else { limit };
    let caller = resolve_caller(call, None)?;
    let mut recall_query = caller.into_query(query, narrow);
    recall_query.filter.scope = RecallScope::Contents;
    recall_query.limits.hits = hits_max;
    let mut answer = call.recall()?.search(&recall_query)?;
    answer.hits.retain(|hit| level.as_ref().is_none_or(|wanted| hit_level(hit) == wanted));
    let cut = answer.hits.len().saturating_sub(limit);
    answer.hits.truncate(limit);
    answer.more += cut;
    Ok(render_pointers(&answer, &recall_query.text))
}

/// The level of a node; `grip` for a grip.
fn hit_level(hit: &RecallHit) -> &str {
    match hit.source {
        RecordKind::Grip => "grip",
        _ if hit.kind.is_empty() => {
            strip_project(&hit.citation).split(':').nth(1).unwrap_or_default()
        }
        _ => &hit.kind,
    }
}

pub(super) fn render_pointers(answer: &RecallAnswer, query: &str) -> ToolAnswer {
    let shown =
        truncate_bytes(&one_line(tome_model::truncate_to(query, 1_000)), ECHOED_QUERY_BYTES_MAX);
    let mut lines = match answer.hits.len() {
        0 => vec![format!("No results found for: \"{shown}\"")],
        count => vec![format!("Found {count} pointer(s) for: \"{shown}\"")],
    };
    let mut pointers = Vec::with_capacity(answer.hits.len());
    for (number, hit) in (1..).zip(&answer.hits) {
        let preview =
            pack::excerpt_around_match(&one_line(&hit.text), query, PREVIEW_CHARS_MAX - 2);
        lines.push(render_pointer(number, hit, &preview));
        pointers.push(pointer_json(hit, &preview));
    }
    if !answer.hits.is_empty() {
        lines.push("(open nodes with get_node, grips with expand_grip)".to_owned());
    }
    if answer.more > 0 {
        lines.push(format!("({} more; call again with a higher limit)", answer.more));
    }
    lines.extend(render_notes(answer));
    let text = lines.join("\n");
    let mut json = answer_json(answer, query);
    insert_field(&mut json, "hits", pointers.into());
    insert_field(&mut json, "tokens", estimate_tokens(&text).into());
    ToolAnswer::from_text(text, json)
}

fn render_pointer(number: usize, hit: &RecallHit, preview: &str) -> String {
    let (id, title) =
        (strip_project(&hit.citation), truncate_bytes(&one_line(&hit.title), TITLE_BYTES_MAX));
    let at = hit.at.map(|at| format!(" {}", render_minute(at))).unwrap_or_default();
    if title.is_empty() || preview.starts_with(&title) {
        format!("[{number}] {id}{at}: {preview}")
    } else {
        format!("[{number}] {id}{at} {title}: {preview}")
    }
}

fn pointer_json(hit: &RecallHit, preview: &str) -> Value {
    let kind = if hit.source == RecordKind::Grip { "grip" } else { "node" };
    json!({
        "id": strip_project(&hit.citation), "kind": kind, "level": hit_level(hit),
        "title": truncate_bytes(&one_line(&hit.title), TITLE_BYTES_MAX), "preview": preview, "at": hit.at,
        "project": hit.project, "score": hit.score,
    })
}
