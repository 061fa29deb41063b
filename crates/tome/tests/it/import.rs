//! `tome import`: transcripts become events, without duplicating those of hooks.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use tome_testkit::{CommandResult, World};

use crate::support::{MORNING_MS, world};

/// A fixture with times filled in: `<T+100>` is 100 ms after the base as RFC 3339, `"<M+100>"` as a
/// number.
pub fn fixture(name: &str, base_ms: u64) -> String {
    let folder = std::path::absolute("tests/fixtures/transcripts").unwrap();
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('<') {
        let time = after.split_once('>').and_then(|(inside, rest)| {
            let (kind, ms) = inside.split_once('+')?;
            Some((kind, ms.parse::<u64>().ok()?, rest))
        });
        match time {
            Some(("T", ms, after)) => {
                out += before;
                out += &tome_model::Millis(base_ms + ms).to_string();
                rest = after;
            }
            Some(("M", ms, after)) => {
                out += before.strip_suffix('"').unwrap();
                write!(out, "{}", base_ms + ms).unwrap();
                rest = after.strip_prefix('"').unwrap();
            }
            _ => {
                out += before;
                out.push('<');
                rest = after;
            }
        }
    }
    out + rest
}

/// Writes the transcripts of all agents to their default locations.
pub fn settle(world: &World, base_ms: u64) {
    let write = |path: &str, name: &str| {
        let file = world.write(path, &fixture(name, base_ms));
        // Complete: the daemon leaves a file alone that an agent may still be writing.
        let written = SystemTime::now() - Duration::from_secs(10);
        std::fs::File::options().write(true).open(file).unwrap().set_modified(written).unwrap();
    };
    let claude = "person/.claude/projects/-home-dev-app/4b7d1c52-6a0e-4f3a-9d15-0c2e8f9a1b40";
    write(&format!("{claude}.jsonl"), "claude-code.jsonl");
    write(&format!("{claude}/subagents/agent-7f3e21.jsonl"), "claude-code.subagent.jsonl");
    write(
        "person/.codex/sessions/2026/11/15/rollout-2026-11-15T09-30-00-019a9d22-7b10-7c31-8e44-5f60a1b2c3d4.jsonl",
        "codex.jsonl",
    );
    write("person/.gemini/tmp/app/chats/session-2026-11-15T09-30-c3b8e1f5.jsonl", "gemini.jsonl");
    write(
        "person/.copilot/session-state/f52d8ca1-3e40-4b77-c2e6-01bf4d6f7e81/events.jsonl",
        "copilot.events.jsonl",
    );
    crate::import_opencode::database(&world.folder("person/.local/share/opencode"), base_ms);
}

pub fn hooks(world: &World, agent: &str, base_ms: u64) {
    for line in fixture(&format!("{agent}.hooks.jsonl"), base_ms).lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        match row.get("argv").and_then(Value::as_str) {
            Some(event) => world.hook(&[agent, event], row["payload"].to_string()),
            None => world.hook(&[agent], line),
        }
    }
}

pub fn import(world: &World, args: &[&str]) -> Value {
    let args: Vec<&str> = ["import", "--json"].iter().chain(args).copied().collect();
    let ran = world.tome(&args);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    ran.json()
}

fn counts(report: &Value) -> (u64, u64) {
    (report["imported"].as_u64().unwrap(), report["already_there"].as_u64().unwrap())
}

/// One line per event: time, kind, agent, text.
pub fn listed(events: &[Value], base_ms: u64) -> String {
    let mut out = String::new();
    for event in events {
        let at: tome_model::Millis = serde_json::from_value(event["at"].clone()).unwrap();
        let after = at.0.saturating_sub(base_ms);
        write!(out, "+{after} {}", event["kind"].as_str().unwrap()).unwrap();
        if let Some(subagent) = event["meta"].get("subagent") {
            write!(out, " [{}]", subagent.as_str().unwrap()).unwrap();
        }
        let text = event["text"].as_str().unwrap();
        if !text.is_empty() {
            write!(out, " {text:?}").unwrap();
        }
        if !event["tool"].is_null() {
            let failed = if event["meta"]["failed"] == true { " failed" } else { "" };
            let tool = &event["tool"];
            write!(
                out,
                " {}({}){failed} -> {}",
                tool["name"].as_str().unwrap(),
                tool["input"],
                tool["output"]
            )
            .unwrap();
        }
        out.push('\n');
    }
    out
}

fn check(agent: &str, expected: &Expect) {
    let world = world();
    settle(&world, MORNING_MS);
    let report = import(&world, &["--agent", agent]);
    let events = world.events();
    assert_eq!(report["imported"], events.len());
    for event in &events {
        assert_eq!(event["agent"], agent);
        assert_eq!(event["project"], "/home/dev/app");
    }
    expected.assert_eq(&listed(&events, MORNING_MS));
    let again = import(&world, &["--agent", agent]);
    assert_eq!(counts(&again), (0, events.len() as u64), "{again}");
    assert_eq!(world.events(), events);
}

#[test]
fn the_work_of_a_subagent_is_one_step_of_the_conversation() {
    let world = world();
    settle(&world, MORNING_MS);
    import(&world, &["--agent", "claude-code"]);
    let ran = world.tome(&["read", "4b7d1c52-6a0e-4f3a-9d15-0c2e8f9a1b40", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!ran.stdout.contains("Searching for callers."), "{}", ran.stdout);
    let turns = ran.json_lines();
    let steps = turns.iter().flat_map(|turn| turn["steps"].as_array().cloned().unwrap_or_default());
    let folded: Vec<Value> = steps.filter(|step| step["kind"] == "subagent").collect();
    assert_eq!(folded.len(), 1, "{folded:?}");
    assert_eq!(folded[0]["steps"], 4);
}

#[test]
fn claude_code_transcripts_become_events() {
    check(
        "claude-code",
        &expect![[r#"
            +100 session_start
            +100 user_message "the tokenizer drops the last line of a file, find out why"
            +1000 assistant_message "I will read the tokenizer first."
            +1100 tool_result Read({"file_path":"/home/dev/app/src/tokens.rs"}) -> {"type":"text","file":{"filePath":"/home/dev/app/src/tokens.rs","content":"fn tokens() {}\n","numLines":1,"startLine":1,"totalLines":1}}
            +1510 subagent_start [agent-7f3e21] "Find every caller of tokens()."
            +1520 assistant_message [agent-7f3e21] "Searching for callers."
            +1540 tool_result [agent-7f3e21] Grep({"pattern":"tokens\\("}) -> "src/main.rs"
            +1550 subagent_stop [agent-7f3e21] "Only src/main.rs calls it."
            +1600 tool_result Bash({"command":"cargo test tokens","description":"Run the tests"}) failed -> "Exit code 101\nlast_line panicked"
            +2000 assistant_message "The loop ends at the last newline,\nso a line without one is dropped. "
            +2500 assistant_message "Saved the lesson."
            +3000 user_message "here is a picture of it"
            +3600 unknown "[Request interrupted by user for tool use]"
            +4000 compaction "This session is being continued from a previous conversation.\n\nThe tokenizer ended at the last newline."
        "#]],
    );
}

#[test]
fn codex_transcripts_become_events() {
    check(
        "codex",
        &expect![[r#"
        +0 session_start
        +100 user_message "make the parser accept trailing commas"
        +600 assistant_message "I look at the grammar."
        +800 tool_result Bash({"command":"cat grammar.txt"}) -> "list = item, {\",\", item}\n"
        +950 tool_result apply_patch("*** Begin Patch\n*** End Patch") -> "Success. Updated grammar.txt"
        +1050 tool_result mcp__tracker__find({"q":"commas"}) -> "1 issue"
        +1500 assistant_message "Trailing commas are accepted now. "
        +2000 compaction "The parser accepts trailing commas."
        +2200 user_message "and in tuples too"
        +2700 tool_result Bash({"command":"cargo test"}) failed -> "tuples FAILED\n"
        +3000 assistant_message "Tuples accept them too."
    "#]],
    );
}

#[test]
fn gemini_transcripts_become_events() {
    check(
        "gemini",
        &expect![[r#"
        +0 session_start
        +200 user_message "count the words of a text"
        +600 assistant_message "I count them."
        +900 tool_result run_shell_command({"command":"wc -w text.md"}) -> "Output: 42 text.md"
        +1400 assistant_message "There are 42 words."
        +2000 assistant_message "Saved."
        +4000 user_message "and the lines?"
        +4500 assistant_message "Seven."
    "#]],
    );
}

#[test]
fn copilot_transcripts_become_events() {
    check(
        "copilot",
        &expect![[r#"
        +0 session_start
        +200 user_message "add a flag for colours"
        +500 assistant_message "Reading the options."
        +700 tool_result view({"path":"/home/dev/app/src/options.rs"}) -> "struct Options;"
        +810 subagent_start [call_2]
        +820 assistant_message [call_2] "Looking for colours."
        +830 tool_result [call_2] grep({"pattern":"colour"}) failed -> "no match"
        +840 subagent_stop [call_2]
        +850 tool_result task({"prompt":"look for colours"}) -> "there are none yet"
        +1200 assistant_message "The flag is --colour. "
        +1800 assistant_message "The linter is happy."
        +2000 compaction "A flag for colours was added."
        +2500 session_end
    "#]],
    );
}

#[test]
fn opencode_transcripts_become_events() {
    check(
        "opencode",
        &expect![[r#"
        +0 session_start
        +100 user_message "count the commas in \"text.md\""
        +700 tool_result bash({"command":"grep -c , text.md","description":"Count"}) -> "9"
        +900 tool_result edit({"filePath":"text.md"}) failed -> "oldString not found"
        +1300 assistant_message "Nine commas."
        +1500 subagent_start
        +1510 unknown [ses_52a1d3bae00eChildOfTheOther] "look for commas elsewhere"
        +1590 assistant_message [ses_52a1d3bae00eChildOfTheOther] "There are none."
        +2100 compaction "Commas were counted."
    "#]],
    );
}

pub fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(now.as_millis()).unwrap()
}

/// Hooks first, then the transcript of the same session: only what hooks missed is added.
fn check_after_hooks(agent: &str, missed: &[&str]) {
    let world = world();
    assert_eq!(world.tome(&["start"]).code, 0);
    let begun_ms = now_ms();
    hooks(&world, agent, begun_ms);
    let before = world.events();
    // Payloads without a time are stamped when the hook runs, however slow the machine is.
    let base_ms = match agent {
        "claude-code" | "codex" => begun_ms.midpoint(now_ms()),
        _ => begun_ms,
    };
    settle(&world, base_ms);
    let planned = import(&world, &["--agent", agent, "--dry-run"]);
    assert_eq!(world.events(), before, "a dry run stores nothing");
    let report = import(&world, &["--agent", agent]);
    let after = world.events();
    let mut added: Vec<String> = Vec::new();
    for event in after.iter().filter(|event| !before.contains(event)) {
        let tool = event["tool"]["name"].as_str().unwrap_or_default();
        added.push(format!("{}{tool}", event["text"].as_str().unwrap()));
    }
    assert_eq!(added, missed, "{agent}");
    assert_eq!(counts(&report), counts(&planned), "{agent}");
    assert_eq!(counts(&report).0, missed.len() as u64, "{agent}");
    let again = import(&world, &["--agent", agent]);
    assert_eq!(counts(&again), (0, counts(&report).0 + counts(&report).1), "{agent}");
    assert_eq!(world.events(), after, "{agent}");
}

#[test]
fn events_of_claude_codes_hooks_are_not_imported_again() {
    check_after_hooks(
        "claude-code",
        &[
            "I will read the tokenizer first.",
            "Searching for callers.",
            "[Request interrupted by user for tool use]",
        ],
    );
}

#[test]
fn events_of_codexs_hooks_are_not_imported_again() {
    check_after_hooks("codex", &["I look at the grammar.", "Bash", "Tuples accept them too."]);
}

#[test]
fn events_of_geminis_hooks_are_not_imported_again() {
    check_after_hooks("gemini", &["and the lines?", "Seven."]);
}

#[test]
fn events_of_copilots_hooks_are_not_imported_again() {
    check_after_hooks(
        "copilot",
        &[
            "Reading the options.",
            "Looking for colours.",
            "grep",
            "The flag is --colour. ",
            "The linter is happy.",
            "A flag for colours was added.",
        ],
    );
}

#[test]
fn events_of_opencodes_plugin_are_not_imported_again() {
    check_after_hooks(
        "opencode",
        &["edit", "look for commas elsewhere", "There are none.", "Commas were counted."],
    );
}

/// The transcript first, then the hooks: only what the transcript lacks is added. (Hooks of Gemini
/// CLI and Copilot CLI do not identify the call of a result, and those of Claude Code and Codex
/// give the final message no time: an import recognizes these, but not the other way round, unless
/// they are close in time.)
#[test]
fn hooks_after_an_import_add_only_missing_events() {
    for agent in ["claude-code", "codex", "gemini", "copilot", "opencode"] {
        let world = world();
        assert_eq!(world.tome(&["start"]).code, 0);
        settle(&world, MORNING_MS);
        import(&world, &["--agent", agent]);
        let before = world.events();
        hooks(&world, agent, MORNING_MS);
        let after = world.events();
        for event in &before {
            assert!(after.contains(event), "{agent}: {event}");
        }
        let content = |event: &Value| {
            let tool = event["tool"]["name"].as_str().unwrap_or_default();
            (event["text"].as_str().unwrap().trim().to_owned(), tool.to_owned())
        };
        let known: Vec<_> = before.iter().map(content).collect();
        for event in after.iter().filter(|event| !before.contains(event)) {
            let kind = event["kind"].as_str().unwrap();
            let is_named = match kind {
                "tool_result" => !["gemini", "copilot"].contains(&agent),
                "assistant_message" => !["claude-code", "codex"].contains(&agent),
                // OpenCode reports the final message as a message and again when idle.
                "assistant_stop" => ["gemini", "copilot"].contains(&agent),
                "user_message" => true,
                _ => false,
            };
            let is_known = known.contains(&content(event)) && content(event) != Default::default();
            assert!(!(is_named && is_known), "{agent} has it twice: {event}");
        }
    }
}

/// The same text with a secret, captured by a hook and read from a transcript.
#[test]
fn redacted_text_is_recognized() {
    let world = world();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let words = format!("the token is {secret}, use it");
    assert_eq!(world.tome(&["start"]).code, 0);
    let payload = json!({"session_id": "g1", "cwd": "/home/dev/app", "hook_event_name": "BeforeAgent",
        "timestamp": "2026-11-15T09:30:00.000Z", "prompt": words});
    world.hook(&["gemini"], payload.to_string());
    let chat = [
        json!({"sessionId": "g1", "projectHash": "x", "startTime": "2026-11-15T09:29:50Z"}),
        json!({"$set": {"messages": [{"id": "m0", "type": "user", "timestamp": "2026-11-15T09:29:50Z",
            "content": [{"text": "<session_context>\n- **Workspace Directories:**\n  - /home/dev/app\n</session_context>"}]}]}}),
        json!({"id": "m1", "type": "user", "timestamp": "2026-11-15T09:30:09Z", "content": words}),
    ];
    let chat: String = chat.iter().map(|line| format!("{line}\n")).collect();
    world.write("person/.gemini/tmp/app/chats/session-1-g1.jsonl", &chat);
    let report = import(&world, &[]);
    // The start is new; the prompt, nine seconds apart, is not.
    assert_eq!(counts(&report), (1, 1), "{report}");
    let shown = serde_json::to_string(&world.events()).unwrap();
    assert!(!shown.contains(&secret), "{shown}");
}

#[test]
fn an_import_of_all_agents_reports_counts() {
    let world = world();
    settle(&world, MORNING_MS);
    let ran = world.tome(&["import"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let stored = world.events().len();
    for agent in ["claude-code", "codex", "gemini", "copilot", "opencode"] {
        assert!(ran.stdout.contains(agent), "{}", ran.stdout);
    }
    let total = format!("\nimported {stored}, duplicates 0, skipped ");
    assert!(ran.stdout.contains(&total), "{}", ran.stdout);
    assert!(ran.stdout.contains("2 rewound"), "{}", ran.stdout);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for event in world.events() {
        *seen.entry(event["id"].as_str().unwrap().to_owned()).or_default() += 1;
        for own in
            ["tome-memory", "hook_context", "system-reminder", "session_context", "AGENTS.md"]
        {
            assert!(!event["text"].as_str().unwrap().contains(own), "{event}");
        }
    }
    assert!(seen.values().all(|count| *count == 1));
}

#[test]
fn transcript_folders_follow_the_environment() {
    let world = world();
    settle(&world, MORNING_MS);
    let person = world.folder("person");
    let moved = world.folder("moved");
    for name in [".claude", ".codex", ".copilot"] {
        std::fs::rename(person.join(name), moved.join(&name[1..])).unwrap();
    }
    std::fs::create_dir_all(moved.join("gem")).unwrap();
    std::fs::rename(person.join(".gemini"), moved.join("gem/.gemini")).unwrap();
    std::fs::rename(person.join(".local/share/opencode"), moved.join("opencode")).unwrap();
    assert_eq!(import(&world, &["--dry-run"])["imported"], 0);
    let mut command = world.command(&["import", "--json"]);
    command.env("CLAUDE_CONFIG_DIR", moved.join("claude")).env("CODEX_HOME", moved.join("codex"));
    command.env("COPILOT_HOME", moved.join("copilot")).env("GEMINI_CLI_HOME", moved.join("gem"));
    command.env("XDG_DATA_HOME", &moved);
    let report: CommandResult = World::run(&mut command, b"");
    let report = report.json();
    let found: Vec<&str> =
        report["agents"].as_array().unwrap().iter().map(|a| a["agent"].as_str().unwrap()).collect();
    assert_eq!(found, ["claude-code", "codex", "gemini", "copilot", "opencode"]);
}

#[test]
fn since_agent_and_path_limit_an_import() {
    let world = world();
    settle(&world, MORNING_MS);
    let late = import(&world, &["--agent", "claude", "--since", "2026-11-15T09:30:03Z"]);
    // The picture, the compaction and the interruption.
    assert_eq!(counts(&late), (3, 0), "{late}");
    let person = world.folder("person");
    let path = |name: &str| person.join(name).to_string_lossy().into_owned();
    let one = import(&world, &[&path(".copilot"), &path(".gemini/tmp")]);
    let agents: Vec<&Value> =
        one["agents"].as_array().unwrap().iter().map(|a| &a["agent"]).collect();
    assert_eq!(agents, ["copilot", "gemini"]);
    let copy = world.write("copy/anything.jsonl", &fixture("claude-code.jsonl", MORNING_MS));
    let copied = import(&world, &[copy.to_str().unwrap()]);
    assert_eq!(copied["agents"][0]["agent"], "claude-code");
    let ran = world.tome(&["import", "/nowhere/at/all"]);
    assert_eq!(ran.code, 4);
    assert!(ran.stderr.contains("/nowhere/at/all does not exist"), "{}", ran.stderr);
    let ran = world.tome(&["import", "--agent", "cursor"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("claude-code, codex, gemini, copilot, opencode"), "{}", ran.stderr);
    let ran = world.tome(&["import", "--since", "once upon a time"]);
    assert_eq!(ran.code, 2);
}

#[test]
fn a_session_is_stored_in_its_project() {
    let world = world();
    let app = world.folder("code/app");
    std::fs::create_dir_all(app.join(".git")).unwrap();
    std::fs::write(app.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::create_dir_all(app.join("src/deep")).unwrap();
    let inside = app.join("src/deep").to_string_lossy().into_owned();
    let text = fixture("claude-code.jsonl", MORNING_MS)
        .replace("\"/home/dev/app\"", &format!("{inside:?}"));
    world.write("person/.claude/projects/-x/s.jsonl", &text);
    assert!(import(&world, &[])["imported"].as_u64().unwrap() > 3);
    for event in world.events() {
        assert_eq!(event["project"], app.to_str().unwrap(), "{event}");
        assert_eq!(event["cwd"], inside);
    }
}

#[test]
fn a_fork_of_claude_code_belongs_to_its_parent_session() {
    let world = world();
    let text = fixture("claude-code.jsonl", MORNING_MS);
    let origin = "4b7d1c52-6a0e-4f3a-9d15-0c2e8f9a1b40";
    let mut fork = String::new();
    for line in text.lines() {
        let mut record: Value = serde_json::from_str(line).unwrap();
        record["sessionId"] = "f0f0f0f0-0000-4000-8000-000000000000".into();
        record["forkedFrom"] = json!({"sessionId": origin, "messageUuid": record["uuid"]});
        fork += &format!("{record}\n");
    }
    world.write("person/.claude/projects/-x/4b7d1c52-6a0e-4f3a-9d15-0c2e8f9a1b40.jsonl", &text);
    world.write("person/.claude/projects/-x/f0f0f0f0-0000-4000-8000-000000000000.jsonl", &fork);
    let report = import(&world, &[]);
    let (imported, already) = counts(&report);
    assert_eq!(imported, already, "{report}");
    assert_eq!(report["sessions"], 1);
}

#[test]
fn doctor_reports_how_much_was_captured() {
    let world = world();
    settle(&world, MORNING_MS);
    let ran = world.tome(&["doctor", "--deep"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("capture   codex: 0 of "), "{}", ran.stdout);
    assert!(ran.stdout.contains("run `tome import --agent codex`"), "{}", ran.stdout);
    assert_eq!(world.events().len(), 0, "a look stores nothing");
    import(&world, &["--agent", "codex"]);
    import(&world, &["--agent", "claude", "--since", "2026-11-15T09:30:02Z"]);
    let report = world.tome(&["doctor", "--deep", "--json"]).json();
    let agents = report["coverage"]["agents"].as_array().unwrap();
    let of = |name: &str| agents.iter().find(|agent| agent["agent"] == name).unwrap();
    assert_eq!((&of("codex")["missing"], &of("codex")["percent"]), (&json!(0), &json!(100.0)));
    let claude = of("claude-code");
    let gap = &claude["gaps"][0];
    assert_eq!(gap["session"], "4b7d1c52-6a0e-4f3a-9d15-0c2e8f9a1b40");
    assert_eq!(gap["missing"], claude["missing"]);
    assert!(
        claude["missing"].as_u64().unwrap() > 0
            && claude["missing"].as_u64() < claude["events"].as_u64()
    );
    assert_eq!(gap["first_missing"], "2026-11-15T09:30:00.100Z");
}
