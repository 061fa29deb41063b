//! Acceptance tests of notes from the view of an agent and a person: the dialogue of the typed
//! notes, facts and episodes, with the exact texts and files.

use std::path::PathBuf;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use tome_proto::v1;
use tome_testkit::{CommandResult, World};

use crate::support::{daemon_gone, daemon_up, world};

pub fn run_tool(world: &World, tool: &str, arguments: &Value) -> CommandResult {
    let by = ["--agent", "claude-code", "--session", "s1"];
    // Piped, because command line arguments are limited in length.
    world.tome_with(&[&["tool", tool, "-"], &by[..]].concat(), arguments.to_string())
}

/// Calls a tool that must succeed without a warning; returns its output.
pub fn agent(world: &World, tool: &str, arguments: &Value) -> String {
    let ran = run_tool(world, tool, arguments);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{tool} {arguments}");
    // Quoted text is fenced; the tool's own text is inside.
    let body = tome_engine::strip_fence(&ran.stdout);
    if body.ends_with('\n') { body.to_owned() } else { format!("{body}\n") }
}

/// Calls a tool that must fail; returns its error.
pub fn refused(world: &World, tool: &str, arguments: &Value, code: i32) -> String {
    let ran = run_tool(world, tool, arguments);
    assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{tool}: {}", ran.stderr);
    ran.stderr
}

pub fn notebook(world: &World) -> PathBuf {
    PathBuf::from(world.tome(&["init", "--json"]).json()["folder"].as_str().unwrap())
}

/// Reads a file of the notebook from disk.
pub fn file(world: &World, path: &str) -> String {
    std::fs::read_to_string(notebook(world).join(path)).unwrap()
}

/// A call as sent over gRPC.
pub fn request(world: &World, tool: &str, arguments: &Value) -> v1::CallToolRequest {
    v1::CallToolRequest {
        name: tool.to_owned(),
        arguments_json: arguments.to_string(),
        cwd: world.folder("elsewhere").to_str().unwrap().to_owned(),
        session_id: "s1".to_owned(),
        agent: "claude-code".to_owned(),
        command: String::new(),
    }
}

/// Calls a tool over gRPC. The daemon must be running.
pub fn wire(world: &World, tool: &str, arguments: &Value) -> v1::CallToolResponse {
    let request = request(world, tool, arguments);
    world.with_client(async |client| client.call_tool(request).await).unwrap()
}

/// Calls tools over one connection; returns each call with its response. The daemon must be running.
pub fn wire_all(
    world: &World,
    calls: Vec<(&'static str, Value)>,
) -> Vec<((&'static str, Value), v1::CallToolResponse)> {
    world.with_client(async |client| {
        let mut answered = Vec::new();
        for (tool, arguments) in calls {
            let answer = client.call_tool(request(world, tool, &arguments)).await.unwrap();
            answered.push(((tool, arguments), answer));
        }
        answered
    })
}

/// Replaces the date in a text.
fn dateless(text: &str) -> String {
    let mut parts = text.split("updated: ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (day, rest) = part.split_at(10);
        let shape: String = day.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        assert_eq!(shape, "0000-00-00", "{text}");
        out = format!("{out}updated: TODAY{rest}");
    }
    out
}

fn check(output: &str, expected: &Expect) {
    expected.assert_eq(&dateless(output));
}

fn typed(file: &str, name: &str, description: &str, of: &str, content: &str) -> Value {
    json!({
        "filename": file, "name": name, "description": description, "memory_type": of,
        "content": content,
    })
}

/// The seven steps of trying out typed notes, each as the calls an agent makes.
#[test]
fn typed_notes_pass_the_seven_step_dialogue() {
    let world = world();
    let index = json!({"target": "index"});
    let files = json!({"target": "files"});
    // 1. What do you currently remember? Check your memory.
    assert_eq!(agent(&world, "memory_view", &index), "# Memory\n\n(empty)\n");
    assert_eq!(agent(&world, "memory_view", &files), "(no memory files yet)\n");
    // 2. I prefer TypeScript over JavaScript and always use strict mode. Remember that.
    let note = typed(
        "user_prefs.md",
        "User Preferences",
        "Language and compiler settings",
        "user",
        "- Prefers TypeScript over JavaScript\n- Always uses strict mode",
    );
    assert_eq!(agent(&world, "memory_write", &note), "Memory saved: user_prefs.md\n");
    // 3. We decided to use PostgreSQL for the auth service. Save this project decision.
    let note = typed(
        "project_auth.md",
        "Auth Service",
        "Database of the auth service",
        "project",
        "We use PostgreSQL for the auth service.",
    );
    assert_eq!(agent(&world, "memory_write", &note), "Memory saved: project_auth.md\n");
    // 4. What do you know about my preferences? Read the details.
    let prefs = json!({"filename": "user_prefs.md"});
    check(
        &agent(&world, "memory_read", &prefs),
        &expect![[r"
            ---
            name: User Preferences
            description: Language and compiler settings
            type: user
            updated: TODAY
            ---

            - Prefers TypeScript over JavaScript
            - Always uses strict mode
        "]],
    );
    // 5. Update my preferences: I also prefer dark theme in all editors.
    let update = json!({
        "filename": "user_prefs.md", "old_text": "- Always uses strict mode",
        "new_text": "- Always uses strict mode\n- Prefers a dark theme in all editors",
    });
    assert_eq!(agent(&world, "memory_update", &update), "Memory updated: user_prefs.md\n");
    // 6. The auth service decision is outdated. Delete that memory.
    let auth = json!({"filename": "project_auth.md"});
    assert_eq!(agent(&world, "memory_delete", &auth), "Memory deleted: project_auth.md\n");
    // 7. List all memory files and show me the current index.
    assert_eq!(
        dateless(&agent(&world, "memory_view", &files)),
        "  user_prefs.md  [user]  Language and compiler settings  (updated: TODAY)\n"
    );
    let seen = agent(&world, "memory_view", &index);
    check(
        &seen,
        &expect![[r"
            # Memory

            ## User
            - [User Preferences](user_prefs.md) - Language and compiler settings
        "]],
    );
    assert_eq!(file(&world, "MEMORY.md"), seen);
    let prefs = file(&world, "user_prefs.md");
    assert!(prefs.ends_with("strict mode\n- Prefers a dark theme in all editors\n"), "{prefs}");
    assert!(!notebook(&world).join("project_auth.md").exists());
}

#[test]
fn typed_notes_refuse_invalid_calls_with_exact_messages() {
    let world = world();
    let note = typed("a.md", "A", "the first", "user", "alpha");
    agent(&world, "memory_write", &note);
    let before = file(&world, "a.md");
    daemon_up(&world);
    for (tool, arguments, code, message) in [
        ("memory_read", json!({"filename": "x.md"}), 4, "Memory file 'x.md' not found."),
        ("memory_delete", json!({"filename": "x.md"}), 4, "Memory file 'x.md' not found."),
        (
            "memory_update",
            json!({"filename": "a.md", "old_text": "beta", "new_text": "b"}),
            4,
            "Text not found in a.md",
        ),
        (
            "memory_write",
            typed("b.md", "B", "b", "diary", "x"),
            2,
            "Invalid type 'diary'. Must be one of: user, feedback, project, reference",
        ),
        ("memory_delete", json!({"filename": "MEMORY.md"}), 2, "Cannot delete the index file."),
        (
            "memory_read",
            json!({"filename": "../a.md"}),
            2,
            "Path escapes memory directory: ../a.md",
        ),
    ] {
        let complaint = refused(&world, tool, &arguments, code);
        assert!(complaint.starts_with(&format!("error: {message}\n")), "{complaint}");
        let answer = wire(&world, tool, &arguments);
        assert!(answer.is_error);
        assert_eq!(answer.text.lines().next().unwrap(), format!("Error: {message}"));
    }
    for (tool, arguments) in [
        ("memory_write", json!({"path": "MEMORY.md", "content": "x"})),
        ("memory_write", typed("MEMORY.md", "n", "d", "user", "x")),
        ("memory_append", json!({"path": "MEMORY.md", "entry": "x"})),
        ("memory_patch", json!({"path": "MEMORY.md", "old_str": "Memory", "new_str": "x"})),
        ("memory_update", json!({"path": "MEMORY.md", "old_text": "Memory", "new_text": "x"})),
        ("memory_write", json!({"path": "README.md", "content": "x"})),
        ("memory_delete", json!({"path": "README.md"})),
    ] {
        refused(&world, tool, &arguments, 2);
    }
    assert_eq!(file(&world, "a.md"), before);
    assert!(!notebook(&world).join("README.md").exists());
}

/// "I'm Zhang San", a restart, "what's my name?"; "what did we fix last time?"; the files on disk;
/// and an edit by a person that the agent then reads.
#[test]
fn facts_and_episodes_outlive_the_daemon_and_belong_to_people() {
    let world = world();
    let user = "# User Facts\n\n- Name: Zhang San\n- Language: Chinese in talk, English in code\n\
        - Role: Full-stack developer\n- Updated: 2026-02-24\n";
    let done = agent(&world, "memory_write", &json!({"path": "facts/user.md", "content": user}));
    let done: Value = serde_json::from_str(&done).unwrap();
    assert_eq!((&done["success"], &done["path"]), (&json!(true), &json!("facts/user.md")));
    let episode = "## Logger stdout leak fix\n- Summary: pino leak → custom transport\n\
        - Date: 2026-02-24\n- Lesson: worker threads cannot load .ts files";
    let episodes = json!({"path": "episodes/2026-02.md", "entry": episode});
    agent(&world, "memory_append", &episodes);

    assert_eq!(world.tome(&["stop"]).code, 0);
    daemon_gone(&world);
    let listed: Value = serde_json::from_str(&agent(&world, "memory_list", &json!({}))).unwrap();
    let bytes = |path| std::fs::metadata(notebook(&world).join(path)).unwrap().len();
    assert_eq!(
        listed,
        json!([
            {"path": "episodes/2026-02.md", "summary": "Logger stdout leak fix",
             "size": bytes("episodes/2026-02.md")},
            {"path": "facts/user.md", "summary": "name, language, role",
             "size": bytes("facts/user.md")},
        ])
    );
    let name = agent(&world, "memory_read", &json!({"path": "facts/user.md"}));
    assert!(name.contains("Name: Zhang San"), "{name}");
    let fixed = agent(&world, "memory_read", &json!({"path": "episodes/2026-02.md"}));
    assert!(fixed.contains("pino leak → custom transport"), "{fixed}");

    expect![[r"
        # User Facts

        > Summary: name, language, role

        - Name: Zhang San
        - Language: Chinese in talk, English in code
        - Role: Full-stack developer
        - Updated: 2026-02-24
    "]]
    .assert_eq(&file(&world, "facts/user.md"));
    expect![[r"
        # 2026-02 Episodes

        > Summary: Logger stdout leak fix

        ## Logger stdout leak fix
        - Summary: pino leak → custom transport
        - Date: 2026-02-24
        - Lesson: worker threads cannot load .ts files
    "]]
    .assert_eq(&file(&world, "episodes/2026-02.md"));

    let by_hand = "# User Facts\n\n> Summary: who I am\n\n- Name: Li Si\n";
    std::fs::write(notebook(&world).join("facts/user.md"), by_hand).unwrap();
    assert_eq!(agent(&world, "memory_read", &json!({"path": "facts/user.md"})), by_hand);
    let index = agent(&world, "memory_view", &json!({}));
    let line = format!("- [facts/user.md](facts/user.md) ({}B): who I am\n", by_hand.len());
    assert!(index.contains(&line), "{index}");
    assert_eq!(file(&world, "MEMORY.md"), index);
}

#[test]
fn both_forms_of_a_patch_store_text_literally() {
    let world = world();
    agent(&world, "memory_write", &json!({"path": "a.md", "content": "one two three two\n"}));
    let patch = |fields: Value| {
        let mut arguments = json!({"path": "a.md"});
        for (name, value) in fields.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        arguments
    };
    let one = patch(json!({"old_str": "one", "new_str": "$& $1 $$ \\1"}));
    let done: Value = serde_json::from_str(&agent(&world, "memory_patch", &one)).unwrap();
    assert_eq!((&done["success"], &done["appliedCount"]), (&json!(true), &json!(1)));
    assert_eq!(file(&world, "a.md"), "$& $1 $$ \\1 two three two\n");
    let several = patch(json!({"patches": [
        {"oldText": "$& $1 $$ \\1", "newText": "one"},
        {"oldText": "three two", "newText": "$'four"},
    ]}));
    let done: Value = serde_json::from_str(&agent(&world, "memory_patch", &several)).unwrap();
    assert_eq!(done["appliedCount"], 2);
    assert_eq!(file(&world, "a.md"), "one two $'four\n");

    agent(&world, "memory_write", &json!({"path": "a.md", "content": "x y\nx z\n"}));
    for (fields, code, words) in [
        (json!({"old_str": "nowhere", "new_str": ""}), 4, "String not found in a.md"),
        (json!({"old_str": "x", "new_str": ""}), 2, "String appears multiple times in a.md"),
        (
            json!({"patches": [{"oldText": "y", "newText": "1"}, {"oldText": "x", "newText": ""}]}),
            2,
            "provide more context",
        ),
        (
            json!({"patches": [{"oldText": "y", "newText": "1"}, {"oldText": "q", "newText": ""}]}),
            4,
            "String not found",
        ),
        (json!({"patches": []}), 2, "empty"),
        (json!({"old_str": "", "new_str": "x"}), 2, "empty"),
    ] {
        let complaint = refused(&world, "memory_patch", &patch(fields), code);
        assert!(complaint.contains(words), "{complaint}");
        assert_eq!(file(&world, "a.md"), "x y\nx z\n");
    }
}

#[test]
fn a_file_always_has_exactly_one_summary() {
    let world = world();
    let summaries = |path: &str| -> Vec<String> {
        let text = file(&world, path);
        let lines = text.lines().filter_map(|line| line.strip_prefix("> Summary: "));
        lines.map(str::to_owned).collect()
    };
    let append = |path: &str, entry: &str, summary: Option<&str>| {
        let mut arguments = json!({"path": path, "entry": entry});
        if let Some(summary) = summary {
            arguments["summary"] = json!(summary);
        }
        agent(&world, "memory_append", &arguments);
    };
    append("episodes/2026-03.md", "## First\n- Date: 2026-03-01", None);
    assert_eq!(summaries("episodes/2026-03.md"), ["First"]);
    append("episodes/2026-03.md", "## Second\n- Date: 2026-03-02", None);
    assert_eq!(summaries("episodes/2026-03.md"), ["Second, First"]);
    append("episodes/2026-03.md", "## Third", Some("three things: $& all done"));
    assert_eq!(summaries("episodes/2026-03.md"), ["three things: $& all done"]);
    append("episodes/2026-03.md", "## Fourth\n> Summary: brought along", None);
    assert_eq!(summaries("episodes/2026-03.md"), ["brought along"]);

    // No heading, two summaries, a summary that was patched away.
    let write = json!({"path": "facts/a.md", "content": "- Name: x\n"});
    agent(&world, "memory_write", &write);
    assert_eq!(summaries("facts/a.md").len(), 1);
    append("facts/a.md", "- Age: 7", Some("x and 7"));
    assert_eq!(summaries("facts/a.md"), ["x and 7"]);
    let two = "# A\n\n> Summary: one\n> Summary: two\n\n- k: v\n";
    agent(&world, "memory_write", &json!({"path": "facts/a.md", "content": two}));
    assert_eq!(summaries("facts/a.md"), ["one"]);
    let patch = json!({"path": "facts/a.md", "old_str": "> Summary: one\n", "new_str": ""});
    agent(&world, "memory_patch", &patch);
    assert_eq!(summaries("facts/a.md").len(), 1, "{}", file(&world, "facts/a.md"));
    let long = "## A very long heading that goes on and on for more words than ten surely";
    append("episodes/2026-04.md", long, None);
    let made = summaries("episodes/2026-04.md");
    assert!(made[0].split_whitespace().count() < 10, "{made:?}");

    let listed: Value = serde_json::from_str(&agent(&world, "memory_list", &json!({}))).unwrap();
    for note in listed.as_array().unwrap() {
        assert_eq!(note["summary"], summaries(note["path"].as_str().unwrap())[0]);
    }
}

#[test]
fn the_list_shows_notes_and_hides_other_files() {
    let world = world();
    assert_eq!(agent(&world, "memory_list", &json!({})), "[]\n");
    assert!(!notebook(&world).exists());
    agent(&world, "memory_append", &json!({"path": "facts/a.md", "entry": "- k: ü"}));
    let folder = notebook(&world);
    for name in ["facts/picture.png", "facts/notes.txt", "facts/.hidden.md", "stray.txt"] {
        std::fs::write(folder.join(name), "x").unwrap();
    }
    let listed: Value = serde_json::from_str(&agent(&world, "memory_list", &json!({}))).unwrap();
    let size = std::fs::metadata(folder.join("facts/a.md")).unwrap().len();
    assert_eq!(listed, json!([{"path": "facts/a.md", "summary": "k", "size": size}]));
}

/// The limit for all facts is in bytes and applies to every tool.
#[test]
fn the_facts_have_a_byte_budget() {
    let world = world();
    let budget = "15KB limit. Condense existing facts before adding new content.";
    // 4,800 characters are 14,400 bytes.
    let content = format!("> Summary: s\n\n{}", "事".repeat(4_800));
    agent(&world, "memory_write", &json!({"path": "facts/a.md", "content": content}));
    let before = file(&world, "facts/a.md");
    let more = "実".repeat(400);
    for (tool, arguments) in [
        ("memory_write", json!({"path": "facts/b.md", "content": more})),
        ("memory_append", json!({"path": "facts/a.md", "entry": more})),
        ("memory_append", json!({"path": "facts/b.md", "entry": more})),
        ("memory_patch", json!({"path": "facts/a.md", "old_str": "> Summary: s", "new_str": more})),
        (
            "memory_update",
            json!({"path": "facts/a.md", "old_text": "> Summary: s", "new_text": more}),
        ),
        ("memory", json!({"command": "create", "path": "/memories/facts/b.md", "file_text": more})),
        (
            "memory",
            json!({"command": "insert", "path": "/memories/facts/a.md", "insert_line": 0,
                   "insert_text": more}),
        ),
    ] {
        let complaint = refused(&world, tool, &arguments, 2);
        assert!(complaint.contains(budget), "{tool}: {complaint}");
        assert_eq!(file(&world, "facts/a.md"), before);
        assert!(!notebook(&world).join("facts/b.md").exists());
    }
    // There is no budget outside facts/, and shrinking is always allowed.
    agent(&world, "memory_write", &json!({"path": "b.md", "content": more.repeat(20)}));
    let rename = json!({"command": "rename", "old_path": "/memories/b.md",
                        "new_path": "/memories/facts/b.md"});
    assert!(refused(&world, "memory", &rename, 2).contains(budget));
    agent(&world, "memory_write", &json!({"path": "facts/a.md", "content": "- k: v\n"}));
    agent(&world, "memory_append", &json!({"path": "facts/b.md", "entry": more}));
}

#[test]
fn a_long_read_is_truncated_at_a_character_boundary_with_a_notice() {
    let world = world();
    for (chars, is_cut) in [(50_000, false), (50_001, true)] {
        let text = "語".repeat(chars);
        agent(&world, "memory_write", &json!({"path": "long.md", "content": text}));
        let read = agent(&world, "memory_read", &json!({"path": "long.md"}));
        assert_eq!(read.chars().filter(|c| *c == '語').count(), 50_000);
        assert_eq!(read.contains("50000 of 50001 characters"), is_cut, "{}", read.len());
        assert_eq!(file(&world, "long.md"), text);
    }
}

/// Order of sections, names without frontmatter, and equality with a rebuild.
#[test]
fn the_index_equals_a_rebuild() {
    let world = world();
    for (path, of) in [("r.md", "reference"), ("p.md", "project"), ("f.md", "feedback")] {
        agent(&world, "memory_write", &typed(path, &path.to_uppercase(), "d", of, "x"));
    }
    agent(&world, "memory_write", &typed("u.md", "U", "d", "user", "x"));
    agent(&world, "memory_append", &json!({"path": "facts/k.md", "entry": "- k: v"}));
    agent(&world, "memory_append", &json!({"path": "episodes/2026-01.md", "entry": "## E"}));
    let folder = notebook(&world);
    std::fs::write(folder.join("plain_words.md"), "Just words.\n").unwrap();
    let view = || agent(&world, "memory_view", &json!({}));
    expect![[r"
        # Memory

        ## User
        - [U](u.md) - d

        ## Feedback
        - [F.MD](f.md) - d

        ## Project
        - [P.MD](p.md) - d

        ## Reference
        - [R.MD](r.md) - d

        ## Other
        - [plain_words](plain_words.md) - plain_words

        ## Facts
        - [facts/k.md](facts/k.md) (32B): k

        ## Episodes
        - [episodes/2026-01.md](episodes/2026-01.md) (39B): E
    "]]
    .assert_eq(&view());
    assert_eq!(file(&world, "MEMORY.md"), view());

    // A rename, a deletion and a manual edit, then a rebuild.
    std::fs::rename(folder.join("p.md"), folder.join("moved.md")).unwrap();
    std::fs::remove_file(folder.join("r.md")).unwrap();
    std::fs::write(folder.join("f.md"), "---\nname: F\ntype: user\n---\nx\n").unwrap();
    let seen = view();
    assert!(seen.contains("(moved.md)") && !seen.contains("r.md"), "{seen}");
    assert_eq!(file(&world, "MEMORY.md"), seen);
    world.kill_daemon();
    std::fs::remove_file(folder.join("MEMORY.md")).unwrap();
    std::fs::remove_dir_all(folder.join(".history")).unwrap();
    assert_eq!(view(), seen);
    assert_eq!(file(&world, "MEMORY.md"), seen);
}

/// A session's working memory: a template that can be read before it is a file, details with their
/// comment, and an overview that keeps its edits.
#[test]
fn the_working_memory_of_a_session_starts_from_a_template() {
    let world = world();
    let scoped = |path: &str| json!({"path": path, "scope": "session"});
    let template = agent(&world, "memory_read", &scoped("overview.md"));
    let headings: Vec<&str> = template.lines().filter(|line| line.starts_with("## ")).collect();
    assert_eq!(
        headings,
        [
            "## Current Task",
            "## Key Decisions",
            "## Known Context",
            "## Pending Issues",
            "## Recent Operations"
        ]
    );
    let projects = world.home().join("projects");
    assert_eq!(std::fs::read_dir(&projects).unwrap().count(), 0, "reading makes nothing");
    let detail = json!({"path": "detail/auth-design.md", "scope": "session",
                        "content": "# Auth\n\nJWT with refresh tokens.\n"});
    agent(&world, "memory_write", &detail);
    let folder = notebook(&world).with_file_name("sessions").join("s1/working-memory");
    let read = |path: &str| std::fs::read_to_string(folder.join(path)).unwrap();
    assert_eq!(read("overview.md"), template);
    let text = read("detail/auth-design.md");
    let (head, rest) = text.split_once("- created: 20").unwrap();
    assert_eq!(head, "# Auth\n\n<!--\nMETA:\n");
    assert!(
        rest.contains("\n- keywords: [\"") && rest.ends_with("-->\n\nJWT with refresh tokens.\n")
    );

    let update = json!({"path": "overview.md", "scope": "session", "old_text": "## Current Task\n",
                        "new_text": "## Current Task\nFix the lexer.\n"});
    agent(&world, "memory_update", &update);
    let edited = read("overview.md");
    assert_eq!(world.tome(&["stop"]).code, 0);
    daemon_gone(&world);
    let more = json!({"path": "detail/more.md", "scope": "session", "entry": "more"});
    agent(&world, "memory_append", &more);
    assert_eq!(read("overview.md"), edited);
    refused(&world, "memory_write", &json!({"path": "x.md", "scope": "session", "content": ""}), 2);
    let other = json!({"path": "detail/more.md", "scope": "session", "session_id": "s2"});
    refused(&world, "memory_read", &other, 4);
}

/// A closed list of facts applies to every tool that could create another.
#[test]
fn only_allowed_facts_can_be_created() {
    let world = world();
    std::fs::write(world.config_file(), "[notes]\nfacts_allowed = \"user.md, memory.md\"\n")
        .unwrap();
    agent(&world, "memory_append", &json!({"path": "facts/user.md", "entry": "- k: v"}));
    agent(&world, "memory_write", &json!({"path": "facts/memory.md", "content": "- k: v\n"}));
    let text = json!("x");
    for (tool, arguments) in [
        ("memory_write", json!({"path": "facts/other.md", "content": text})),
        ("memory_append", json!({"path": "facts/other.md", "entry": text})),
        (
            "memory",
            json!({"command": "create", "path": "/memories/facts/other.md", "file_text": text}),
        ),
        (
            "memory",
            json!({"command": "rename", "old_path": "/memories/facts/user.md",
                   "new_path": "/memories/facts/other.md"}),
        ),
    ] {
        let message = "Fact file \"other.md\" is not allowed. Only allowed: user.md, memory.md";
        let complaint = refused(&world, tool, &arguments, 2);
        assert!(complaint.contains(message), "{tool}: {complaint}");
    }
    let names: Vec<_> = std::fs::read_dir(notebook(&world).join("facts")).unwrap().collect();
    assert_eq!(names.len(), 2, "{names:?}");
}
