//! The tools over the coder's lessons: store and recall.

use serde_json::{Value, json};
use tome_notebook::limits::LESSONS_MAX;
use tome_notebook::{LessonDraft, LessonKind, StoreDecision, StoredLesson};

use super::ToolAnswer;
use super::answer::{Result, ToolError, truncate_bytes};
use super::args::ToolArgs;
use super::call::ToolInvocation;
use crate::lessons::{CODER_NOTEBOOK, LessonQuery, LessonRecall, RecalledLesson, recall_lessons};

/// Bytes of a question repeated in the answer.
const ECHOED_QUERY_BYTES_MAX: usize = 500;

/// Bytes shown of one lesson; a file edited by hand may hold any amount.
const LESSON_BYTES_MAX: usize = 16 * 1024;

/// Bytes of a question with its keywords.
const QUESTION_BYTES_MAX: usize = 16 * 1024;

pub(super) fn store(call: &ToolInvocation<'_>, args: &mut ToolArgs) -> Result<ToolAnswer> {
    let one_too = args.has("title") || args.has("content");
    let several = args.take_objects(&["insights"], LESSONS_MAX)?;
    if several.is_some() && one_too {
        return Err(ToolError::invalid("give either insights or the fields of one, not both"));
    }
    let drafts = match several {
        None => vec![parse_lesson(args)?],
        Some(several) => several.into_iter().map(parse_lesson_item).collect::<Result<_>>()?,
    };
    args.reject_unknown()?;
    let drafts: Vec<LessonDraft> =
        drafts.into_iter().map(|draft| redact_lesson(call, draft)).collect();
    if drafts.is_empty() {
        let json = json!({ "success": true, "stored": [] });
        return Ok(ToolAnswer::from_text("Insights stored: 0 (none given)", json));
    }
    // The coder's notebook belongs to no project, so opening it creates no project folder.
    let stored = call.open_notebook(&CODER_NOTEBOOK)?.store_lessons(&call.author(), &drafts)?;
    let json: Vec<Value> = stored.iter().map(stored_json).collect();
    let kinds = drafts.iter().map(|draft| draft.kind);
    let text = render_stored(kinds, &stored);
    Ok(ToolAnswer::from_text(text, json!({ "success": true, "stored": json })))
}

fn parse_lesson_item(mut args: ToolArgs) -> Result<LessonDraft> {
    let draft = parse_lesson(&mut args)?;
    args.reject_unknown()?;
    Ok(draft)
}

fn parse_lesson(args: &mut ToolArgs) -> Result<LessonDraft> {
    Ok(LessonDraft {
        kind: parse_kind(&args.require_text(&["type", "memory_type"])?)?,
        title: args.require_text(&["title"])?,
        description: args.require_text(&["description"])?,
        content: args.require_text(&["content"])?,
        tags: args.take_texts(&["tags"], split_words)?,
        topic: args.take_text(&["topic"])?,
    })
}

fn parse_kind(name: &str) -> Result<LessonKind> {
    LessonKind::parse(name).ok_or_else(|| {
        let known = LessonKind::ALL.map(LessonKind::as_str).join(", ");
        let name = truncate_bytes(name, 80);
        ToolError::invalid(format!("Invalid type '{name}'. Must be one of: {known}"))
    })
}

fn split_words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| c.is_whitespace() || c == ',');
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn redact_lesson(call: &ToolInvocation<'_>, draft: LessonDraft) -> LessonDraft {
    LessonDraft {
        kind: draft.kind,
        title: call.redact(draft.title),
        description: call.redact(draft.description),
        content: call.redact(draft.content),
        tags: draft.tags.into_iter().map(|tag| call.redact(tag)).collect(),
        topic: draft.topic.map(|topic| call.redact(topic)),
    }
}

fn stored_json(stored: &StoredLesson) -> Value {
    json!({
        "decision": stored.decision.as_str(),
        "title": stored.title,
        "path": stored.path,
        "why": stored.why,
        "contradicts": stored.contradicts,
        "hints": stored.hints,
    })
}

fn render_stored(kinds: impl Iterator<Item = LessonKind>, stored: &[StoredLesson]) -> String {
    let mut counts = [0_usize; 3];
    for kind in kinds {
        for (other, count) in LessonKind::ALL.into_iter().zip(&mut counts) {
            *count += usize::from(other == kind);
        }
    }
    let counted: Vec<String> = LessonKind::ALL
        .into_iter()
        .zip(counts)
        .filter(|(_, count)| *count > 0)
        .map(|(kind, count)| format!("{count} {}", kind.as_str()))
        .collect();
    let mut lines = vec![
        "✅ Coder Memory Storage Complete".to_owned(),
        format!("Insights stored: {} ({})", stored.len(), counted.join(", ")),
    ];
    for (number, lesson) in (1..).zip(stored) {
        let into = match lesson.decision {
            StoreDecision::Create => "new in",
            StoreDecision::Update => "added to an entry of",
            StoreDecision::Merge => "merged with an entry of",
        };
        let decision = lesson.decision.as_str();
        lines.push(format!("\n{number}. {decision}: {} ({into} {})", lesson.title, lesson.path));
        lines.push(format!("   Why: {}", lesson.why));
        if lesson.contradicts {
            lines.push("   It contradicts the old entry, kept as the previous approach.".into());
        }
        lines.extend(lesson.hints.iter().map(|hint| format!("   Hint: {hint}")));
    }
    lines.join("\n")
}

pub(super) fn recall(call: &ToolInvocation<'_>, args: &mut ToolArgs) -> Result<ToolAnswer> {
    let question = args.take_text(&["question"])?.filter(|question| !question.trim().is_empty());
    let keywords = args.take_texts(&["keywords"], split_words)?;
    let types = args.take_texts(&["types"], split_words)?;
    args.reject_unknown()?;
    let kinds = types.iter().map(|name| parse_kind(name)).collect::<Result<Vec<_>>>()?;
    if question.is_none() && keywords.is_empty() {
        return Err(ToolError::invalid("coder_memory_recall needs a question or keywords"));
    }
    let bytes = question.iter().chain(&keywords).map(String::len).sum::<usize>();
    if bytes > QUESTION_BYTES_MAX {
        return Err(ToolError::invalid(format!(
            "question and keywords are {bytes} bytes long: ask in at most {QUESTION_BYTES_MAX}"
        )));
    }
    let query = LessonQuery { question, keywords, kinds };
    let recalled = recall_lessons(call.recall()?, call.notebooks(), &query)?;
    let json = recall_json(&recalled);
    Ok(ToolAnswer::from_text(render_recalled(&query, &recalled), json))
}

fn recall_json(found: &LessonRecall) -> Value {
    let lessons: Vec<Value> = found.lessons.iter().map(lesson_json).collect();
    let types: Vec<&str> = found.kinds.iter().map(|kind| kind.as_str()).collect();
    json!({
        "keywords": found.keywords,
        "types": types,
        "insights": lessons,
        "files_read": found.files,
        "hints": found.hints,
        "guidance": closing_text(found),
    })
}

fn closing_text(found: &LessonRecall) -> &'static str {
    if found.lessons.is_empty() { NO_MATCH } else { GUIDANCE }
}

fn lesson_json(lesson: &RecalledLesson) -> Value {
    json!({
        "type": lesson.kind.as_str(),
        "title": lesson.title,
        "path": lesson.path,
        "line": lesson.line,
        "text": truncate_bytes(&lesson.text, LESSON_BYTES_MAX),
        "why": lesson.why,
    })
}

fn render_recalled(query: &LessonQuery, recalled: &LessonRecall) -> String {
    let query_text = query.question.clone().unwrap_or_else(|| query.keywords.join(", "));
    let types: Vec<&str> = recalled.kinds.iter().map(|kind| kind.as_str()).collect();
    let mut lines = vec![
        "🔍 Coder Memory Recall Results".to_owned(),
        format!("Query: {}", truncate_bytes(query_text.trim(), ECHOED_QUERY_BYTES_MAX)),
        format!("Memory Types Searched: {}", types.join(", ")),
        format!("Results Found: {}", recalled.lessons.len()),
    ];
    for (number, lesson) in (1..).zip(&recalled.lessons) {
        lines.push(format!("\n{number}. {}", lesson.title));
        lines.push(format!("Type: {}", lesson.kind.as_str()));
        lines.push(format!("Source: {}:{}", lesson.path, lesson.line));
        lines.push(format!("\n{}", truncate_bytes(lesson.text.trim_end(), LESSON_BYTES_MAX)));
        lines.push(format!("\nWhy: {}", lesson.why));
    }
    lines.push(format!("\n{}", closing_text(recalled)));
    lines.extend(recalled.hints.iter().map(|hint| format!("- {hint}")));
    lines.join("\n")
}

const GUIDANCE: &str = "\
Check that the situation matches before you apply a lesson. Lessons may be outdated; the \
current code is authoritative.";

const NO_MATCH: &str = "No stored lesson matches.";
