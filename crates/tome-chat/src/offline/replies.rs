//! Decides the script's next reply to a prompt, given the calls made so far.

use serde_json::{Value, json};
use tome_llm::ChatResponse;
use tome_text::content_words;

use super::intent::{FactNote, Intent};
use super::turn::{CompletedCall, OfflineTurn};

/// Notes read per question.
const NOTES_MAX: usize = 6;
/// Lines per answer.
const LINES_MAX: usize = 8;
/// Recall hits shown.
const HITS_MAX: usize = 4;

const SELF_DESCRIPTION: &str = "I am a built-in script, not a language model: I know a few ways of saying things. Tell me \
your name (\"I am …\"), \"remember that …\", \"we use …\"; ask \"what is my name?\", \"what do you know about …?\", \
\"what did we fix last time?\"; say \"plan …\", \"list the files\", \"read FILE\" or \"search for …\". What I write \
down is real: `tome memory` shows it. `tome chat` without --offline talks to a model.";

pub fn next_reply(turn: &OfflineTurn<'_>) -> ChatResponse {
    if turn.notes.last().is_some_and(|note| note.contains("kind=\"store\"")) {
        return ChatResponse::from_text("Nothing to store: a script learns no lessons.");
    }
    match Intent::parse(turn.prompt) {
        Intent::Learn(fact) => learn_fact(turn, &fact),
        Intent::AskName => answer_name(turn),
        Intent::AskKnown { about } => answer_known(turn, &about),
        Intent::Recall { query } => answer_recall(turn, &query),
        Intent::Plan { goal } => make_plan(turn, &goal),
        Intent::Files => show_tool_result(turn, "list_files", json!({})),
        Intent::Read { path } => show_tool_result(turn, "read_file", json!({ "path": path })),
        Intent::Search { query } => {
            show_tool_result(turn, "search_files", json!({ "query": query }))
        }
        Intent::ReportedFix => ChatResponse::from_text(
            "Good. When this chat ends I write an episode about it, if there was enough activity.",
        ),
        Intent::Greeting => ChatResponse::from_text(format!("Hello! {SELF_DESCRIPTION}")),
        // Any other question is answered from memory, with citations.
        Intent::Other if turn.prompt.trim_end().ends_with('?') => {
            answer_recall(turn, turn.prompt.trim())
        }
        Intent::Other => ChatResponse::from_text(SELF_DESCRIPTION),
    }
}

/// Reads the note, then adds or corrects the fact.
fn learn_fact(turn: &OfflineTurn<'_>, fact: &FactNote) -> ChatResponse {
    let changed = turn.done.iter().rev().find(|done| done.call.name != "memory_read");
    if let Some(done) = changed {
        return ChatResponse::from_text(match done.text() {
            Some(_) => {
                format!("Noted in {}: {}.", fact.path, fact.bullet().trim_start_matches("- "))
            }
            None => format!("I could not write it down: {}", done.result.text),
        });
    }
    let Some(read) = turn.last_call("memory_read") else {
        return turn.call_tools("", vec![("memory_read", json!({ "path": fact.path }))]);
    };
    let bullet = fact.bullet();
    match read.text() {
        Some(text) if text.lines().any(|line| line.trim() == bullet) => {
            ChatResponse::from_text(format!("I already know that ({}).", fact.path))
        }
        Some(text) => {
            let (old, new) = line_change(text, fact, &bullet);
            let patch = json!({ "path": fact.path, "old_str": old, "new_str": new });
            turn.call_tools("", vec![("memory_patch", patch)])
        }
        None => {
            let content = format!("# {}\n\n> Summary: {}\n\n{bullet}\n", fact.title, fact.summary);
            let write = json!({ "path": fact.path, "content": content });
            turn.call_tools("", vec![("memory_write", write)])
        }
    }
}

/// Returns the line to replace and its replacement: the existing line of a single-valued fact, or
/// the last line with the new one appended.
fn line_change(text: &str, fact: &FactNote, bullet: &str) -> (String, String) {
    let opening = fact.single.map(|kind| format!("- {kind}:"));
    let same = opening.and_then(|opening| text.lines().find(|line| line.starts_with(&opening)));
    if let Some(line) = same {
        return (line.to_owned(), bullet.to_owned());
    }
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    (last.to_owned(), format!("{last}\n{bullet}"))
}

fn answer_name(turn: &OfflineTurn<'_>) -> ChatResponse {
    let Some(read) = turn.last_call("memory_read") else {
        return turn.call_tools("", vec![("memory_read", json!({ "path": "facts/user.md" }))]);
    };
    let name = read
        .text()
        .and_then(|text| text.lines().find_map(|line| line.trim().strip_prefix("- Name:")));
    ChatResponse::from_text(match name {
        Some(name) => format!("You are {} (facts/user.md).", name.trim()),
        None => "I do not know your name yet. Tell me: \"I am …\".".to_owned(),
    })
}

/// Lists the notes, reads the facts, and quotes the lines about the topic.
fn answer_known(turn: &OfflineTurn<'_>, about: &str) -> ChatResponse {
    let Some(listed) = turn.last_call("memory_list") else {
        return turn.call_tools("", vec![("memory_list", json!({}))]);
    };
    let read: Vec<&CompletedCall<'_>> =
        turn.done.iter().filter(|done| done.call.name == "memory_read").collect();
    let paths = note_paths(listed.text().unwrap_or_default());
    if read.is_empty() && !paths.is_empty() {
        let calls =
            paths.iter().take(NOTES_MAX).map(|path| ("memory_read", json!({ "path": path })));
        return turn.call_tools("", calls.collect());
    }
    let topic = topic_words(about);
    let mut quoted = Vec::new();
    for done in read {
        for line in done.text().unwrap_or_default().lines().filter(|line| line.starts_with("- ")) {
            let lower = line.to_lowercase();
            if topic.is_empty() || topic.iter().any(|word| lower.contains(word)) {
                quoted.push(format!("{line} ({})", done.path()));
            }
        }
    }
    quoted.truncate(LINES_MAX);
    ChatResponse::from_text(if quoted.is_empty() {
        "There is no note about that. `/recall` searches all earlier sessions.".to_owned()
    } else {
        format!("From the notes:\n{}", quoted.join("\n"))
    })
}

/// Returns the paths of the listed notes, facts first.
fn note_paths(listed: &str) -> Vec<String> {
    let notes: Value = serde_json::from_str(listed).unwrap_or_default();
    let notes = notes.as_array().cloned().unwrap_or_default();
    let path = |note: &Value| Some(note.get("path")?.as_str()?.to_owned());
    let mut paths: Vec<String> = notes.iter().filter_map(path).collect();
    paths.retain(|path| path.starts_with("facts/") || path.starts_with("episodes/"));
    paths.sort_by_key(|path| !path.starts_with("facts/"));
    paths
}

/// Returns the significant words of a topic.
fn topic_words(about: &str) -> Vec<String> {
    content_words(about).filter(|word| word != "project").collect()
}

fn answer_recall(turn: &OfflineTurn<'_>, query: &str) -> ChatResponse {
    let Some(found) = turn.last_call("recall_memory") else {
        return turn.call_tools("", vec![("recall_memory", json!({ "query": query, "limit": 8 }))]);
    };
    let hits = format_hits(found.text().unwrap_or_default(), turn.prompt);
    ChatResponse::from_text(if hits.is_empty() {
        "The memory has nothing about that.".to_owned()
    } else {
        format!("From memory:\n{}", hits.join("\n"))
    })
}

/// Formats the hits with their citations, one per line, without the question itself.
fn format_hits(output: &str, prompt: &str) -> Vec<String> {
    let mut hits: Vec<String> = Vec::new();
    let mut content = "";
    let mut add_hit = |content: &str, citation: &str| {
        if !content.is_empty() && !prompt.trim().starts_with(content.trim_end_matches('…')) {
            hits.push(format!("- {content} [{citation}]"));
        }
    };
    let mut lines = output.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if let Some(text) = line.strip_prefix("Content: ") {
            content = text;
        } else if let Some(citation) = line.strip_prefix("Citation: ") {
            add_hit(content, citation);
            content = "";
        } else if let Some(citation) = parse_message_heading(line) {
            add_hit(lines.next().unwrap_or_default(), citation);
        }
    }
    hits.truncate(HITS_MAX);
    hits
}

/// The citation in the first line of a hit in messages, such as `[1] #12 (user, likely)`.
fn parse_message_heading(line: &str) -> Option<&str> {
    let (number, rest) = line.strip_prefix('[')?.split_once("] ")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let (citation, _) = rest.split_once(" (")?;
    Some(citation).filter(|citation| is_number && !citation.starts_with("Source: "))
}

/// Makes a plan long enough to trigger an injection, and revises it if lessons were injected.
fn make_plan(turn: &OfflineTurn<'_>, goal: &str) -> ChatResponse {
    let plans = turn.done.iter().filter(|done| done.call.name == "update_plan").count();
    let lessons: Vec<&str> = turn
        .notes
        .iter()
        .flat_map(|note| note.lines())
        .filter_map(|line| line.strip_prefix("### "))
        .collect();
    match (plans, lessons.first()) {
        (0, _) => {
            let intro = format!("A plan for {goal}:");
            turn.call_tools(&intro, vec![("update_plan", plan_steps(goal, None))])
        }
        (1, Some(lesson)) => {
            let intro = "The memory has a relevant lesson, so the plan changes:";
            turn.call_tools(intro, vec![("update_plan", plan_steps(goal, Some(lesson)))])
        }
        (_, lesson) => {
            let learned = lesson.map(|lesson| format!(" It takes into account: {lesson}."));
            let learned = learned.unwrap_or_default();
            ChatResponse::from_text(format!(
                "The plan for {goal} is written down.{learned} I cannot carry it out: I am a script."
            ))
        }
    }
}

fn plan_steps(goal: &str, lesson: Option<&str>) -> Value {
    let mut steps: Vec<String> =
        lesson.map(|lesson| format!("Mind the lesson: {lesson}")).into_iter().collect();
    let usual = [
        format!("Find out what {goal} needs"),
        "Look at what is there".to_owned(),
        "Write a test that fails".to_owned(),
        "Make the change".to_owned(),
        "Run all tests".to_owned(),
        "Write down what changed".to_owned(),
        "Have it reviewed".to_owned(),
    ];
    steps.extend(usual);
    let steps: Vec<Value> =
        steps.iter().map(|step| json!({ "step": step, "status": "pending" })).collect();
    json!({ "plan": steps })
}

/// Calls a file tool and shows its result.
fn show_tool_result(turn: &OfflineTurn<'_>, tool: &str, arguments: Value) -> ChatResponse {
    match turn.last_call(tool) {
        None => turn.call_tools("", vec![(tool, arguments)]),
        Some(done) => ChatResponse::from_text(drop_fence_lines(&done.result.text)),
    }
}

/// Removes the lines of fences, which are meant for models.
fn drop_fence_lines(text: &str) -> String {
    let is_fence =
        |line: &&str| line.starts_with("<tome-quoted") || line.starts_with("</tome-quoted");
    let lines: Vec<&str> = text.lines().filter(|line| !is_fence(line)).collect();
    lines.join("\n")
}
