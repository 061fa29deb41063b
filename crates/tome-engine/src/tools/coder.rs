//! The tools over the coder's lessons: store and recall.

use serde_json::{Value, json};
use tome_model::Scope;
use tome_notebook::limits::INSIGHTS_MAX;
use tome_notebook::{Ask, Decision, InsightDraft, InsightKind, Recalled, RecalledInsight, Stored};

use super::ToolAnswer;
use super::answer::{Refusal, bounded};
use super::args::Args;
use super::call::Call;
use tome_home::Whose;

type Result<T> = std::result::Result<T, Refusal>;

/// Bytes of a question repeated in the answer.
const QUERY_BYTES_MAX: usize = 500;

/// Bytes shown of one lesson; a file edited by hand may hold any amount.
const INSIGHT_BYTES_MAX: usize = 16 * 1024;

/// Bytes of a question with its keywords.
const QUESTION_BYTES_MAX: usize = 16 * 1024;

const CODER: Whose = Whose { scope: Scope::Coder, cwd: None, session: None };

pub(super) fn store(call: &Call<'_>, args: &mut Args) -> Result<ToolAnswer> {
    let one_too = args.has("title") || args.has("content");
    let several = args.objects(&["insights"], INSIGHTS_MAX)?;
    if several.is_some() && one_too {
        return Err(Refusal::invalid("give either insights or the fields of one, not both"));
    }
    let drafts = match several {
        None => vec![draft(args)?],
        Some(several) => several.into_iter().map(own_draft).collect::<Result<_>>()?,
    };
    args.finish()?;
    let drafts: Vec<InsightDraft> = drafts.into_iter().map(|draft| cut(call, draft)).collect();
    if drafts.is_empty() {
        let json = json!({ "success": true, "stored": [] });
        return Ok(ToolAnswer::said("Insights stored: 0 (none given)", json));
    }
    // The coder's notebook belongs to no project, so opening it creates no project folder.
    let stored = call.open(&CODER)?.store(&call.author(), &drafts)?;
    let json: Vec<Value> = stored.iter().map(stored_json).collect();
    let kinds = drafts.iter().map(|draft| draft.kind);
    let text = store_report(kinds, &stored);
    Ok(ToolAnswer::said(text, json!({ "success": true, "stored": json })))
}

fn own_draft(mut args: Args) -> Result<InsightDraft> {
    let draft = draft(&mut args)?;
    args.finish()?;
    Ok(draft)
}

fn draft(args: &mut Args) -> Result<InsightDraft> {
    Ok(InsightDraft {
        kind: kind(&args.need(&["type", "memory_type"])?)?,
        title: args.need(&["title"])?,
        description: args.need(&["description"])?,
        content: args.need(&["content"])?,
        tags: args.texts(&["tags"], split_words)?,
        topic: args.text(&["topic"])?,
    })
}

fn kind(name: &str) -> Result<InsightKind> {
    InsightKind::named(name).ok_or_else(|| {
        let known = InsightKind::ALL.map(InsightKind::as_str).join(", ");
        let name = bounded(name, 80);
        Refusal::invalid(format!("Invalid type '{name}'. Must be one of: {known}"))
    })
}

fn split_words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| c.is_whitespace() || c == ',');
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn cut(call: &Call<'_>, draft: InsightDraft) -> InsightDraft {
    InsightDraft {
        kind: draft.kind,
        title: call.cut(draft.title),
        description: call.cut(draft.description),
        content: call.cut(draft.content),
        tags: draft.tags.into_iter().map(|tag| call.cut(tag)).collect(),
        topic: draft.topic.map(|topic| call.cut(topic)),
    }
}

fn stored_json(stored: &Stored) -> Value {
    json!({
        "decision": stored.decision.as_str(),
        "title": stored.title,
        "path": stored.path,
        "why": stored.why,
        "contradicts": stored.contradicts,
        "hints": stored.hints,
    })
}

fn store_report(kinds: impl Iterator<Item = InsightKind>, stored: &[Stored]) -> String {
    let mut counts = [0_usize; 3];
    for kind in kinds {
        for (known, count) in InsightKind::ALL.into_iter().zip(&mut counts) {
            *count += usize::from(known == kind);
        }
    }
    let counted: Vec<String> = InsightKind::ALL
        .into_iter()
        .zip(counts)
        .filter(|(_, count)| *count > 0)
        .map(|(kind, count)| format!("{count} {}", kind.as_str()))
        .collect();
    let mut lines = vec![
        "✅ Coder Memory Storage Complete".to_owned(),
        format!("Insights stored: {} ({})", stored.len(), counted.join(", ")),
    ];
    for (number, one) in (1..).zip(stored) {
        let into = match one.decision {
            Decision::Create => "new in",
            Decision::Update => "added to an entry of",
            Decision::Merge => "merged with an entry of",
        };
        let decision = one.decision.as_str();
        lines.push(format!("\n{number}. {decision}: {} ({into} {})", one.title, one.path));
        lines.push(format!("   Why: {}", one.why));
        if one.contradicts {
            lines.push("   It contradicts the old entry, kept as the previous approach.".into());
        }
        lines.extend(one.hints.iter().map(|hint| format!("   Hint: {hint}")));
    }
    lines.join("\n")
}

pub(super) fn recall(call: &Call<'_>, args: &mut Args) -> Result<ToolAnswer> {
    let question = args.text(&["question"])?.filter(|question| !question.trim().is_empty());
    let keywords = args.texts(&["keywords"], split_words)?;
    let types = args.texts(&["types"], split_words)?;
    args.finish()?;
    let kinds = types.iter().map(|name| kind(name)).collect::<Result<Vec<_>>>()?;
    if question.is_none() && keywords.is_empty() {
        return Err(Refusal::invalid("coder_memory_recall needs a question or keywords"));
    }
    let bytes = question.iter().chain(&keywords).map(String::len).sum::<usize>();
    if bytes > QUESTION_BYTES_MAX {
        return Err(Refusal::invalid(format!(
            "question and keywords are {bytes} bytes long: ask in at most {QUESTION_BYTES_MAX}"
        )));
    }
    let ask = Ask { question, keywords, kinds };
    let found = call.open(&CODER)?.recall(&ask)?;
    let json = recall_json(&found);
    Ok(ToolAnswer::said(recall_report(&ask, &found), json))
}

fn recall_json(found: &Recalled) -> Value {
    let insights: Vec<Value> = found.insights.iter().map(insight_json).collect();
    let types: Vec<&str> = found.kinds.iter().map(|kind| kind.as_str()).collect();
    json!({
        "keywords": found.keywords,
        "types": types,
        "insights": insights,
        "files_read": found.files_read,
        "hints": found.hints,
        "guidance": closing(found),
    })
}

fn closing(found: &Recalled) -> &'static str {
    if found.insights.is_empty() { NOTHING } else { GUIDANCE }
}

fn insight_json(insight: &RecalledInsight) -> Value {
    json!({
        "type": insight.kind.as_str(),
        "title": insight.title,
        "path": insight.path,
        "line": insight.line,
        "text": bounded(&insight.text, INSIGHT_BYTES_MAX),
        "why": insight.why,
    })
}

fn recall_report(ask: &Ask, found: &Recalled) -> String {
    let query = ask.question.clone().unwrap_or_else(|| ask.keywords.join(", "));
    let types: Vec<&str> = found.kinds.iter().map(|kind| kind.as_str()).collect();
    let mut lines = vec![
        "🔍 Coder Memory Recall Results".to_owned(),
        format!("Query: {}", bounded(query.trim(), QUERY_BYTES_MAX)),
        format!("Memory Types Searched: {}", types.join(", ")),
        format!("Results Found: {}", found.insights.len()),
    ];
    for (number, insight) in (1..).zip(&found.insights) {
        lines.push(format!("\n{number}. {}", insight.title));
        lines.push(format!("Type: {}", insight.kind.as_str()));
        lines.push(format!("Source: {}:{}", insight.path, insight.line));
        lines.push(format!("\n{}", bounded(insight.text.trim_end(), INSIGHT_BYTES_MAX)));
        lines.push(format!("\nWhy: {}", insight.why));
    }
    lines.push(format!("\n{}", closing(found)));
    lines.extend(found.hints.iter().map(|hint| format!("- {hint}")));
    lines.join("\n")
}

const GUIDANCE: &str = "\
Check that the situation matches before you apply a lesson. Lessons may be outdated; the \
current code is authoritative.";

const NOTHING: &str = "No stored lesson matches.";
