//! Turns that leave the window are summarized, recorded and still searchable.

use std::sync::Arc;

use serde_json::json;
use tome_agent::event::EventKind;
use tome_agent::model::{CancelToken, ModelFailure};
use tome_agent::{
    AgentEvent, AgentLoop, AgentSettings, CompactionStrategy, ContextSettings, ContextWindow,
    Memory, MemoryToolSet, MemoryTools, Toolbox,
};

use crate::fixture::Fixture;
use crate::paper::Paper;
use crate::script::{Script, calls, says, words};

fn settings(window_tokens: u64, turns_max: usize) -> AgentSettings {
    AgentSettings {
        context: ContextSettings { window_tokens, turns_max, ..ContextSettings::default() },
        tools: Toolbox::new(MemoryToolSet::ReadOnly),
        ..AgentSettings::default()
    }
}

#[test]
fn a_fact_from_the_first_turn_is_recalled_after_five_hundred_noisy_ones() {
    let fixture = Fixture::new();
    let memory = Arc::new(fixture.open("s1"));
    let model = Script::by(|request| {
        let sent = words(request);
        let is_question = sent.contains("which port does the staging gateway use");
        Ok(match () {
            () if is_question && !sent.contains("Found ") => {
                calls(&[("recall_memory", r#"{"query":"staging gateway port"}"#)])
            }
            () if is_question && sent.contains("47113") => says("It uses 47113."),
            () => says("noted"),
        })
    });
    let mut agent = AgentLoop::new(model.clone(), memory.clone(), settings(40_000, 20)).unwrap();
    let mut run = |prompt: &str| agent.run(prompt, &mut |_| {}, &CancelToken::default()).unwrap();
    run("Remember that the staging gateway listens on port 47113.");
    let first = ContextWindow::request_tokens(&model.last());
    for turn in 0..500 {
        let filler = ["lexer", "parser", "printer", "cache", "socket"][turn % 5];
        run(&format!(
            "step {turn}: tidy the {filler} module, then rename {filler}_{turn} everywhere"
        ));
        assert!(ContextWindow::request_tokens(&model.last()) < first + 4_000);
    }
    assert!(!words(&model.last()).contains("47113"), "it has left the context");
    let answer = run("which port does the staging gateway use?");
    assert_eq!(answer.text, "It uses 47113.");
    let recalled = words(&model.last());
    assert!(recalled.contains("[1] "), "{recalled}");
    // By keyword in the compaction notes, and verbatim in the transcript.
    let found = memory.call_tool("recall_memory", r#"{"query":"47113","scope":"detail"}"#).unwrap();
    assert!(found.text.contains("detail/compaction-2026-11-15-"), "{}", found.text);
    let found =
        memory.call_tool("recall_memory", r#"{"query":"47113","scope":"messages"}"#).unwrap();
    assert!(found.text.contains("[1] #2 (user, "), "{}", found.text);
    let copy = std::fs::read_to_string(fixture.files("messages.jsonl").remove(0)).unwrap();
    assert!(copy.lines().nth(1).unwrap().contains("listens on port 47113"));
}

#[test]
fn the_compaction_note_records_time_content_and_author() {
    let fixture = Fixture::new();
    let memory = Arc::new(fixture.open("s1"));
    let model = Script::of(Vec::new());
    let mut agent = AgentLoop::new(model.clone(), memory.clone(), settings(40_000, 4)).unwrap();
    let mut compactions = Vec::new();
    for turn in 0..5 {
        let prompt = format!("turn {turn}: we decided to use the heron cache because it is fast");
        let on_event = &mut |event: AgentEvent<'_>| {
            if let AgentEvent::Compacted(one) = event {
                compactions.push(one.clone());
            }
        };
        agent.run(&prompt, on_event, &CancelToken::default()).unwrap();
    }
    assert_eq!(compactions.len(), 1);
    let file = compactions[0].file.clone().unwrap();
    assert!(file.starts_with("detail/compaction-2026-11-15-") && file.ends_with("-1.md"), "{file}");
    let read = json!({"path": file, "scope": "session"}).to_string();
    let note = memory.call_tool("memory_read", &read).unwrap().text;
    assert!(note.contains("\n# Compaction: "), "{note}");
    for part in [
        "META:\n- created: 2026-11-15T",
        "- type: compaction\n",
        "- by: extractive\n",
        "## Summary\n",
        "- turn 0: we decided",
    ] {
        assert!(note.contains(part), "{part} is not in {note}");
    }
    assert!(!note.contains("turn 4"), "what stayed is not in it: {note}");
    let events = memory.recent_events(99).unwrap();
    let compaction = events.iter().find(|event| event.kind == EventKind::Compaction).unwrap();
    assert_eq!(compaction.meta.get("file").unwrap(), file.as_str());
    // The head names the note and repeats the index.
    let sent = words(&model.last());
    assert!(sent.contains(&file) && sent.contains("recall_memory finds the full text"), "{sent}");
    assert!(sent.contains("compacted: "), "{sent}");
    // A resumed session continues from there and does not compact the same turns again.
    let model = Script::of(Vec::new());
    let mut later = AgentLoop::new(model.clone(), memory.clone(), settings(40_000, 4)).unwrap();
    later.run("go on", &mut |_| {}, &CancelToken::default()).unwrap();
    let sent = words(&model.last());
    assert!(
        sent.contains(&file) && sent.contains("turn 4") && !sent.contains("\nturn 0: "),
        "{sent}"
    );
}

#[test]
fn the_built_in_summarizer_replaces_a_failing_model() {
    let memory = Arc::new(Paper::new());
    let model = Script::by(|request| {
        let is_summary = request.system[0].text.contains("about to leave");
        match words(request) {
            sent if is_summary && sent.contains("turn 0") => Ok(says("Heron\n- cache is heron")),
            _ if is_summary => Err(ModelFailure::Unreachable { message: "gone".to_owned() }),
            _ => Ok(says("ok")),
        }
    });
    let settings = AgentSettings { compaction: CompactionStrategy::Model, ..settings(40_000, 4) };
    let mut agent = AgentLoop::new(model, memory.clone(), settings).unwrap();
    let mut compactions = Vec::new();
    for turn in 0..9 {
        let on_event = &mut |event: AgentEvent<'_>| {
            if let AgentEvent::Compacted(compaction) = event {
                compactions.push((
                    compaction.by.clone(),
                    compaction.summary.clone(),
                    compaction.problem.is_some(),
                ));
            }
        };
        agent.run(&format!("turn {turn} of the heron"), on_event, &CancelToken::default()).unwrap();
    }
    assert_eq!(
        compactions[0],
        ("scripted/test".to_owned(), "Heron\n- cache is heron".to_owned(), false)
    );
    assert_eq!((compactions[1].0.as_str(), compactions[1].2), ("extractive", true));
}

#[test]
fn a_too_long_request_is_shortened() {
    let model = Script::by(|request| match ContextWindow::request_tokens(request) {
        cost if cost > 12_000 => Err(ModelFailure::ContextTooLong {
            message: "prompt is too long: 15000 tokens > 12000 maximum".to_owned(),
        }),
        _ => Ok(says("ok")),
    });
    let memory = Arc::new(Paper::new());
    let mut settings = settings(40_000, 200);
    settings.tools = Toolbox::new(MemoryToolSet::None);
    settings.context.reply_tokens_max = 1_000;
    let mut agent = AgentLoop::new(model.clone(), memory.clone(), settings).unwrap();
    for turn in 0..30 {
        let prompt = format!("turn {turn}: {}", "word ".repeat(600));
        agent.run(&prompt, &mut |_| {}, &CancelToken::default()).unwrap();
    }
    assert!(agent.context().compacted().messages > 0);
    // If no shortening helps, the run fails quickly and the session stays usable.
    let never =
        Script::by(|_| Err(ModelFailure::ContextTooLong { message: "too long".to_owned() }));
    let mut agent = AgentLoop::new(never.clone(), memory, AgentSettings::default()).unwrap();
    agent.run("go", &mut |_| {}, &CancelToken::default()).unwrap_err();
    assert!(never.count() <= 4, "{}", never.count());
}
