//! A custom summarizer for turns that leave the context window: it keeps the user's decisions.
//!
//! `cargo run -p tome-agent --example summarizer [-- <home folder>]`

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::sync::Arc;

use tome_agent::event::EventKind;
use tome_agent::model::{CancelToken, ChatResponse, ContentPart, ScriptedChat, StopReason, Usage};
use tome_agent::summary::{
    Evidence, RollupInput, SegmentInput, Summarizer, Summary, SummaryBullet, SummaryError, Support,
};
use tome_agent::{
    AgentEvent, AgentLoop, AgentSettings, CompactionStrategy, ContextSettings, LocalMemory,
    LocalMemorySettings, SessionInfo,
};

/// Keeps the sentences in which the user decides something, verbatim.
struct Decisions;

impl Summarizer for Decisions {
    fn name(&self) -> &str {
        "decisions"
    }

    fn summarize_segment(&self, input: &SegmentInput<'_>) -> Result<Summary, SummaryError> {
        let mut bullets = Vec::new();
        for (n, event) in input.events.iter().enumerate() {
            if event.kind == EventKind::UserMessage && event.text.contains("decide") {
                // An excerpt is verbatim and at most 200 characters long.
                let excerpt: String = event.text.chars().take(200).collect();
                let support = Support::Excerpts(vec![Evidence { event: n, excerpt }]);
                bullets.push(SummaryBullet { text: event.text.clone(), support });
            }
        }
        if bullets.is_empty() {
            // On an error, the built-in summarizer takes over.
            return Err(SummaryError::Unusable("nothing was decided".to_owned()));
        }
        let title = format!("{} decisions", bullets.len());
        Ok(Summary { title, bullets, keywords: vec!["decision".to_owned()], work: Vec::new() })
    }

    fn summarize_period(&self, _: &RollupInput<'_>) -> Result<Summary, SummaryError> {
        Err(SummaryError::Unusable("only turns are summarized here".to_owned()))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let home = std::env::args().nth(1).map_or_else(
        || std::env::temp_dir().join(format!("tome-summarizer-{}", std::process::id())),
        Into::into,
    );
    let cwd = std::env::current_dir()?.display().to_string();
    let memory =
        LocalMemory::open(LocalMemorySettings::new(home, SessionInfo::new("decisions", cwd)?))?;
    let settings = AgentSettings {
        compaction: CompactionStrategy::Summarizer(Arc::new(Decisions)),
        context: ContextSettings { turns_max: 4, ..ContextSettings::default() },
        ..AgentSettings::default()
    };
    let ok = || {
        let parts = vec![ContentPart::Text("Understood.".to_owned())];
        Ok(ChatResponse { parts, stop_reason: StopReason::EndTurn, usage: Usage::default() })
    };
    let model = Arc::new(ScriptedChat::new((0..6).map(|_| ok())));
    let mut agent = AgentLoop::new(model, Arc::new(memory), settings)?;
    for prompt in [
        "Let us decide: the store is an LSM tree.",
        "What time is it?",
        "We also decide to sync before every answer.",
        "Thanks.",
        "And now the parser.",
        "Go on.",
    ] {
        agent.run(prompt, &mut show, &CancelToken::default())?;
    }
    agent.finish("exit")?;
    Ok(())
}

fn show(event: AgentEvent<'_>) {
    if let AgentEvent::Compacted(made) = event {
        let file = made.file.as_deref().unwrap_or("nowhere");
        println!(
            "{} messages left the window, summarized by {} in {file}:",
            made.messages, made.by
        );
        println!("{}", made.summary);
    }
}
