//! Requests are bounded however long the session is, and their prefix stays the same for many requests.

use std::sync::Arc;

use serde_json::{Value, json};
use tome_agent::model::{CancelToken, ChatMessage, ChatRequest, ContentPart};
use tome_agent::summary::{RollupInput, SegmentInput, Summarizer, Summary, SummaryError};
use tome_agent::{
    AgentError, AgentLoop, AgentSettings, CompactionStrategy, ContextSettings, ContextWindow,
    FnTool, MemoryToolSet, Toolbox,
};

use crate::paper::Paper;
use crate::script::{Script, calls, says, words};

fn settings(window_tokens: u64) -> AgentSettings {
    AgentSettings {
        context: ContextSettings { window_tokens, ..ContextSettings::default() },
        tools: Toolbox::new(MemoryToolSet::None),
        ..AgentSettings::default()
    }
}

/// Counts the leading messages that two requests share.
fn in_common(one: &ChatRequest, other: &ChatRequest) -> usize {
    let begins =
        |a: &ChatMessage, b: &ChatMessage| a.role == b.role && b.parts.starts_with(&a.parts);
    let same = one.messages.iter().zip(&other.messages).take_while(|(a, b)| begins(a, b));
    if one.system == other.system { same.count() } else { 0 }
}

/// Returns a constant summary. The built-in summarizer would dominate the test's run time.
struct Brief;

impl Summarizer for Brief {
    fn name(&self) -> &str {
        "brief"
    }

    fn summarize_segment(&self, input: &SegmentInput<'_>) -> Result<Summary, SummaryError> {
        let title = format!("{} events", input.events.len());
        Ok(Summary { title, bullets: Vec::new(), keywords: Vec::new(), work: Vec::new() })
    }

    fn summarize_period(&self, _: &RollupInput<'_>) -> Result<Summary, SummaryError> {
        Err(SummaryError::Unusable("it is never asked for".to_owned()))
    }
}

#[test]
fn ten_thousand_turns_take_no_more_space_than_sixty() {
    const TURNS: usize = 10_000;
    let model = Script::by(|request| {
        let sent = words(request);
        let turn = sent.rsplit("turn ").next().and_then(|rest| rest.split(':').next());
        Ok(says(&format!("answer to {}: {}", turn.unwrap_or_default(), "word ".repeat(40))))
    });
    let memory = Arc::new(Paper::new());
    let compact_by = CompactionStrategy::Summarizer(Arc::new(Brief));
    let settings = AgentSettings { compaction: compact_by, ..settings(60_000) };
    let mut agent = AgentLoop::new(model.clone(), memory.clone(), settings).unwrap();
    let (mut sizes, mut grown, mut before) = (Vec::new(), 0, None::<ChatRequest>);
    for turn in 0..TURNS {
        let prompt = format!("turn {turn}: please look at file_{turn}.rs {}", "again ".repeat(20));
        agent.run(&prompt, &mut |_| {}, &CancelToken::default()).unwrap();
        let request = model.requests.lock().unwrap().pop().unwrap();
        sizes.push(ContextWindow::request_tokens(&request));
        if let Some(before) = &before {
            grown += usize::from(in_common(before, &request) == before.messages.len());
        }
        before = Some(request);
    }
    let most = |sizes: &[u64]| *sizes.iter().max().unwrap();
    let (early, late) = (most(&sizes[..60]), most(&sizes[TURNS - 1_000..]));
    assert!(late <= early + early / 10, "{early} tokens at first, {late} in the end");
    assert!(late < 60_000);
    assert!(
        grown * 100 / TURNS >= 90,
        "{grown} of {TURNS} requests go on where the last one ended"
    );
    let files = memory.notes.lock().unwrap().len();
    assert!(files > 500, "{files}");
    assert!(agent.context().count_turns() <= 30);
}

#[test]
fn the_context_is_ordered_from_stable_to_changing() {
    let memory = Arc::new(Paper::new());
    let overview = "# Working Memory\n\n## Current Task\nport the parser";
    memory.notes.lock().unwrap().insert("overview.md".to_owned(), overview.to_owned());
    let model = Script::of(Vec::new());
    let mut agent = AgentLoop::new(model.clone(), memory.clone(), settings(60_000)).unwrap();
    agent.run("hello", &mut |_| {}, &CancelToken::default()).unwrap();
    let request = model.last();
    assert_eq!(request.system.len(), 2);
    assert!(request.system[0].cache_breakpoint && !request.system[1].cache_breakpoint);
    assert!(request.system[0].text.contains("remove what is no longer true"));
    assert!(request.system[1].text.contains("port the parser"));
    let texts: Vec<&str> = request.messages[0]
        .parts
        .iter()
        .map(|part| match part {
            ContentPart::Text(text) => text.as_str(),
            _ => panic!("{part:?}"),
        })
        .collect();
    assert_eq!(texts.len(), 3);
    assert!(texts[0].starts_with("Available memory:\n<tome-quoted "), "{}", texts[0]);
    assert!(texts[0].contains("\n- facts/user.md (320B): who the person is\n</tome-quoted>\n"));
    assert_eq!(texts[1], "hello");
    assert!(texts[2].starts_with("<context_meta>\ntokens_used: "), "{}", texts[2]);
    assert!(texts[2].contains(" of 60000 ("), "{}", texts[2]);
    // A changed overview leaves the stable prefix as it is.
    memory.notes.lock().unwrap().insert("overview.md".to_owned(), "# other".to_owned());
    agent.run("more", &mut |_| {}, &CancelToken::default()).unwrap();
    let later = model.last();
    assert_eq!(later.system[0], request.system[0]);
    assert_ne!(later.system[1], request.system[1]);
    assert!(later.messages[0].parts == request.messages[0].parts);
}

#[test]
fn a_huge_result_is_capped_with_a_pointer_to_the_rest() {
    let huge = |_: &Value| Ok(format!("BEGIN {} END", "x1 ".repeat(200_000)));
    let huge = FnTool::new("dump", "", json!({"type": "object"}), huge);
    let model = Script::of(vec![Ok(calls(&[("dump", "{}"), ("dump", "{}"), ("dump", "{}")]))]);
    let mut settings = settings(30_000);
    settings.tools = settings.tools.with_tool(huge);
    let memory = Arc::new(Paper::new());
    let mut agent = AgentLoop::new(model.clone(), memory.clone(), settings).unwrap();
    agent.run("dump it", &mut |_| {}, &CancelToken::default()).unwrap();
    let request = model.last();
    assert!(ContextWindow::request_tokens(&request) < 30_000);
    let sent = words(&request);
    assert_eq!(sent.matches("BEGIN").count(), 3);
    assert_eq!(sent.matches(" END").count(), 3);
    assert!(sent.contains("600010 characters in total; recall_memory (scope messages)"), "{sent}");
    let events = memory.events.lock().unwrap();
    let output = events.iter().find_map(|event| event.tool.as_ref()).unwrap();
    assert_eq!(output.output.as_str().unwrap().len(), 600_010);
}

#[test]
fn a_too_small_window_is_an_error() {
    let model = Script::of(Vec::new());
    let mut tight = settings(4_000);
    tight.tools = Toolbox::new(MemoryToolSet::Full);
    let refused = AgentLoop::new(model.clone(), Arc::new(Paper::new()), tight).err().unwrap();
    assert!(matches!(refused, AgentError::WindowTooSmall(_)), "{refused}");
    let mut agent = AgentLoop::new(model.clone(), Arc::new(Paper::new()), settings(4_000)).unwrap();
    let long = "long ".repeat(20_000);
    for _ in 0..5 {
        agent.run(&long, &mut |_| {}, &CancelToken::default()).unwrap();
        assert!(ContextWindow::request_tokens(&model.last()) <= 4_000);
    }
}

#[test]
fn the_budget_is_halved_only_a_few_times() {
    let mut context =
        ContextWindow::new(settings(60_000).context, "system".to_owned(), Vec::new()).unwrap();
    let halved = (0..200).filter(|_| context.halve_budget()).count();
    assert!(halved < 10 && !context.halve_budget(), "{halved}");
    assert_eq!(context.turn_budget(), 300);
}
