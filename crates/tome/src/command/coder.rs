//! `tome coder`: lessons that apply to all projects.

use std::io::Write;

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::notes::{Notes, input, print_said, result};
use super::{Context, Outcome, Refusal, memory};
use crate::cli::notes::{Coder, Recall, Store, WhichGuide};
use crate::render::{DIM, GREEN, PLAIN, YELLOW, counted};

pub fn run(context: &Context, asked: &Coder) -> Result<Outcome> {
    let notes = |command: &str| Notes::coders(context, &format!("tome coder {command}"));
    match asked {
        Coder::Recall(recall) => self::recall(&notes("recall")?, recall),
        Coder::Store(store) => self::store(&notes("store")?, store),
        Coder::List => memory::list(&notes("list")?),
        Coder::Read(read) => memory::read(&notes("read")?, &read.path),
        Coder::Lint => lint(&notes("lint")?),
        Coder::Tidy => tidy(&notes("tidy")?),
        Coder::Guide(guide) => self::guide(&notes("guide")?, guide.which),
    }
}

fn recall(notes: &Notes<'_>, asked: &Recall) -> Result<Outcome> {
    if asked.question.is_empty() && asked.keyword.is_empty() {
        let refusal = Refusal::bad_input("give a question, or 3 to 8 keywords with --keyword");
        return Err(refusal
            .hint("for example: `tome coder recall how do I keep tests quick`")
            .into());
    }
    let mut arguments = Map::new();
    if !asked.question.is_empty() {
        arguments.insert("question".into(), json!(asked.question.join(" ")));
    }
    if !asked.keyword.is_empty() {
        arguments.insert("keywords".into(), json!(asked.keyword));
    }
    if !asked.types.is_empty() {
        arguments.insert("types".into(), json!(asked.types));
    }
    let answer = notes.consult("coder_memory_recall", Value::Object(arguments))?;
    if notes.context.json {
        notes.context.print_json(&result(&answer))?;
    } else {
        print_said(&answer.text)?;
    }
    Ok(Outcome::Done)
}

fn store(notes: &Notes<'_>, asked: &Store) -> Result<Outcome> {
    let answer = notes.call("coder_memory_store", insights(asked)?)?;
    if notes.context.json {
        notes.context.print_json(&result(&answer))?;
    } else {
        print_said(&answer.text)?;
    }
    Ok(Outcome::Done)
}

/// Builds the tool's arguments from the flags, or from JSON input.
fn insights(asked: &Store) -> Result<Value> {
    let fields = [
        ("type", &asked.insight_type),
        ("title", &asked.title),
        ("description", &asked.description),
        ("content", &asked.content),
        ("topic", &asked.topic),
    ];
    if fields.iter().all(|(_, value)| value.is_none()) && asked.tag.is_empty() {
        let text = input(None, asked.file.as_ref(), "--title and the other flags, or --file FILE")?;
        let given: Value = serde_json::from_str(&text).map_err(|error| {
            Refusal::bad_input(format!("the input is not valid JSON: {error}"))
                .hint("`tome coder store --help` describes the format")
        })?;
        return Ok(if given.is_array() { json!({"insights": given}) } else { given });
    }
    let given = fields
        .iter()
        .filter_map(|(name, value)| Some(((*name).to_owned(), json!(value.as_ref()?))));
    let mut insight: Map<String, Value> = given.collect();
    insight.insert("tags".into(), json!(asked.tag));
    Ok(Value::Object(insight))
}

/// Prints findings as `path:line: problem`. Fails if there are any.
fn lint(notes: &Notes<'_>) -> Result<Outcome> {
    let findings = notes.ask(async |client| client.lint().await)?;
    if notes.context.json {
        for found in &findings {
            notes.context.print_json(
                &json!({"path": found.path, "line": found.line, "problem": found.problem}),
            )?;
        }
    } else if findings.is_empty() {
        writeln!(crate::terminal::stdout(), "{GREEN}no problems found{PLAIN}")?;
    } else {
        let mut out = crate::terminal::stdout().lock();
        for found in &findings {
            writeln!(out, "{}:{}: {}", found.path, found.line.max(1), found.problem)?;
        }
        let count = counted(findings.len() as u64, "finding", "findings");
        writeln!(
            crate::terminal::stderr(),
            "{YELLOW}{count}{PLAIN}; `tome coder tidy` fixes what it can, `tome coder guide store` prints the rules"
        )?;
    }
    Ok(if findings.is_empty() { Outcome::Done } else { Outcome::Failed })
}

fn tidy(notes: &Notes<'_>) -> Result<Outcome> {
    let done = notes.once(async |client| client.tidy(notes.author()).await)?;
    if notes.context.json {
        notes.context.print_json(&json!({
            "entries_before": done.entries_before, "entries_after": done.entries_after,
            "steps": done.steps,
        }))?;
        return Ok(Outcome::Done);
    }
    let mut out = crate::terminal::stdout().lock();
    if done.steps.is_empty() {
        writeln!(out, "nothing to tidy in {}", counted(done.entries_after, "lesson", "lessons"))?;
        return Ok(Outcome::Done);
    }
    for step in &done.steps {
        writeln!(out, "{step}")?;
    }
    writeln!(
        out,
        "  {DIM}{} before, {} after; `tome memory log --scope coder` shows every change{PLAIN}",
        counted(done.entries_before, "lesson", "lessons"),
        done.entries_after
    )?;
    Ok(Outcome::Done)
}

fn guide(notes: &Notes<'_>, which: WhichGuide) -> Result<Outcome> {
    let path = match which {
        WhichGuide::Store => "memory-store-guide.md",
        WhichGuide::Recall => "memory-recall-guide.md",
    };
    memory::read(notes, path)
}
