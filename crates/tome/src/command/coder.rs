//! `tome coder`: lessons that apply to all projects.

use std::io::Write;

use anyhow::Result;
use serde_json::{Map, Value, json};
use tome_terminal::{
    BOLD, DIM, GREEN, RESET, YELLOW, format_counted, one_line, print_hanging, print_styled,
    replace_control_chars,
};

use super::notebook_client::{NotebookCommands, parse_tool_result, print_with_newline, read_input};
use super::screen::Screen;
use super::shell_word::quote_shell;
use super::{CommandContext, CommandError, Outcome, memory};
use crate::cli::coder::{CoderCommand, CoderRecallArgs, CoderStoreArgs, GuideName};

pub fn run(context: &CommandContext, command: &CoderCommand) -> Result<Outcome> {
    let notes = |name: &str| NotebookCommands::for_coder(context, &format!("tome coder {name}"));
    match command {
        CoderCommand::Recall(recall) => recall_lessons(&notes("recall")?, recall),
        CoderCommand::Store(store) => store_lessons(&notes("store")?, store),
        CoderCommand::List => memory::list(&notes("list")?),
        CoderCommand::Read(read) => memory::read_note(&notes("read")?, &read.path),
        CoderCommand::Lint => lint_lessons(&notes("lint")?),
        CoderCommand::Tidy => tidy_lessons(&notes("tidy")?),
        CoderCommand::Guide(guide) => print_guide(&notes("guide")?, guide.which),
    }
}

fn recall_lessons(notes: &NotebookCommands<'_>, args: &CoderRecallArgs) -> Result<Outcome> {
    if args.question.is_empty() && args.keyword.is_empty() {
        let refusal = CommandError::bad_input("give a question, or 3 to 8 keywords with --keyword");
        return Err(refusal
            .with_hint("for example: `tome coder recall how do I keep tests quick`")
            .into());
    }
    let mut arguments = Map::new();
    if !args.question.is_empty() {
        arguments.insert("question".into(), json!(args.question.join(" ")));
    }
    if !args.keyword.is_empty() {
        arguments.insert("keywords".into(), json!(args.keyword));
    }
    if !args.types.is_empty() {
        arguments.insert("types".into(), json!(args.types));
    }
    let answer = notes.call_read_tool("coder_memory_recall", Value::Object(arguments))?;
    if notes.context.json {
        notes.context.print_json(&parse_tool_result(&answer))?;
    } else {
        let screen = Screen::new(notes.context);
        print_lessons(&mut tome_terminal::stdout().lock(), &screen, &parse_tool_result(&answer))?;
    }
    Ok(Outcome::Done)
}

/// Prints recalled lessons for people; agents get the text of the tool.
fn print_lessons(out: &mut dyn Write, screen: &Screen, found: &Value) -> std::io::Result<()> {
    let list =
        |field: &str| found.get(field).and_then(Value::as_array).cloned().unwrap_or_default();
    let lessons = list("insights");
    let width = screen.prose_width();
    if lessons.is_empty() {
        let words = list("keywords");
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        let text = format!("no lesson matches {}; `tome coder list` lists all", words.join(", "));
        return print_hanging(out, "", 0, &text, width);
    }
    for (number, lesson) in (1..).zip(&lessons) {
        let field = |name: &str| lesson.get(name).and_then(Value::as_str).unwrap_or_default();
        let line = lesson.get("line").and_then(Value::as_u64).unwrap_or(1);
        if number > 1 {
            writeln!(out)?;
        }
        print_hanging(out, &format!("{BOLD}{number:>2}{RESET}  "), 4, field("title"), width)?;
        let source = format!("{} · {}:{line}", field("type"), field("path"));
        writeln!(out, "    {DIM}{}{RESET}", one_line(&source, 400))?;
        let text = replace_control_chars(field("text"));
        // The text repeats the title as its heading.
        let body = text.lines().skip_while(|line| line.starts_with('#') || line.trim().is_empty());
        for line in body {
            print_hanging(out, "    ", 4, line, width)?;
        }
    }
    let path = lessons.first().and_then(|first| first.get("path")?.as_str()).unwrap_or_default();
    writeln!(out)?;
    print_styled(
        out,
        DIM,
        0,
        &format!("tome coder read {} opens the file of the first", quote_shell(path)),
        width,
    )
}

fn store_lessons(notes: &NotebookCommands<'_>, args: &CoderStoreArgs) -> Result<Outcome> {
    let answer = notes.call_tool("coder_memory_store", build_lessons(args)?)?;
    if notes.context.json {
        notes.context.print_json(&parse_tool_result(&answer))?;
    } else {
        print_with_newline(&answer.text)?;
    }
    Ok(Outcome::Done)
}

/// Builds the tool's arguments from the flags, or from JSON input.
fn build_lessons(args: &CoderStoreArgs) -> Result<Value> {
    let fields = [
        ("type", &args.lesson_type),
        ("title", &args.title),
        ("description", &args.description),
        ("content", &args.content),
        ("topic", &args.topic),
    ];
    if fields.iter().all(|(_, value)| value.is_none()) && args.tag.is_empty() {
        let text =
            read_input(None, args.file.as_ref(), "--title and the other flags, or --file FILE")?;
        let given: Value = serde_json::from_str(&text).map_err(|error| {
            CommandError::bad_input(format!("the input is not valid JSON: {error}"))
                .with_hint("`tome coder store --help` describes the format")
        })?;
        return Ok(if given.is_array() { json!({"insights": given}) } else { given });
    }
    let given = fields
        .iter()
        .filter_map(|(name, value)| Some(((*name).to_owned(), json!(value.as_ref()?))));
    let mut lesson: Map<String, Value> = given.collect();
    lesson.insert("tags".into(), json!(args.tag));
    Ok(Value::Object(lesson))
}

/// Prints findings as `path:line: problem`. Fails if there are any.
fn lint_lessons(notes: &NotebookCommands<'_>) -> Result<Outcome> {
    let findings = notes.call_idempotent(async |client| client.lint_lessons().await)?;
    if notes.context.json {
        for finding in &findings {
            notes.context.print_json(
                &json!({"path": finding.path, "line": finding.line, "problem": finding.problem}),
            )?;
        }
    } else if findings.is_empty() {
        writeln!(tome_terminal::stdout(), "{GREEN}no problems found{RESET}")?;
    } else {
        let mut out = tome_terminal::stdout().lock();
        for finding in &findings {
            writeln!(out, "{}:{}: {}", finding.path, finding.line.max(1), finding.problem)?;
        }
        let count = format_counted(findings.len() as u64, "finding", "findings");
        writeln!(
            tome_terminal::stderr(),
            "{YELLOW}{count}{RESET}; `tome coder tidy` fixes what it can, `tome coder guide store` prints the rules"
        )?;
    }
    Ok(if findings.is_empty() { Outcome::Done } else { Outcome::Failed })
}

fn tidy_lessons(notes: &NotebookCommands<'_>) -> Result<Outcome> {
    let done = notes.call_once(async |client| client.tidy_lessons(notes.author()).await)?;
    if notes.context.json {
        notes.context.print_json(&json!({
            "entries_before": done.entries_before, "entries_after": done.entries_after,
            "steps": done.steps,
        }))?;
        return Ok(Outcome::Done);
    }
    let mut out = tome_terminal::stdout().lock();
    if done.steps.is_empty() {
        writeln!(
            out,
            "nothing to tidy in {}",
            format_counted(done.entries_after, "lesson", "lessons")
        )?;
        return Ok(Outcome::Done);
    }
    for step in &done.steps {
        writeln!(out, "{step}")?;
    }
    writeln!(
        out,
        "  {DIM}{} before, {} after; `tome memory log --scope coder` shows every change{RESET}",
        format_counted(done.entries_before, "lesson", "lessons"),
        done.entries_after
    )?;
    Ok(Outcome::Done)
}

fn print_guide(notes: &NotebookCommands<'_>, which: GuideName) -> Result<Outcome> {
    let path = match which {
        GuideName::Store => "memory-store-guide.md",
        GuideName::Recall => "memory-recall-guide.md",
    };
    memory::read_note(notes, path)
}
