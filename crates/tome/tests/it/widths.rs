//! Every screen fits 60, 80, 100 and 160 columns, and has no styles where there is no terminal.

use std::path::Path;

use expect_test::expect;
use serde_json::json;
use tome_terminal::display_width;
use tome_testkit::{CommandResult, World};

use crate::support::{MORNING_MS, line_with, world};

const WIDTHS: [usize; 4] = [60, 80, 100, 160];
/// A path that leaves no room for anything else on its line.
const LONG_PATH: &str = "cmd/frontend/cli/strategy/manual_identifier_normalization.rs";
const SESSION: &str = "419f42f0-2fa1-44cc-8b4d-babf59901513";

/// A session with long texts, a failed command and a note.
fn filled() -> World {
    // Below the home of the person, so that its path is short.
    let world = world().with_home("person/home");
    let app = world.folder("person/app");
    let event = |minute: u64, fields: serde_json::Value| {
        let mut line = json!({
            "id": format!("event-{minute}"), "session_id": SESSION, "agent": "claude-code",
            "cwd": app, "at": MORNING_MS + minute * 60_000, "meta": {"branch": "feature/unicode-identifiers"},
        });
        for (name, value) in fields.as_object().unwrap() {
            line[name] = value.clone();
        }
        line_with(&line)
    };
    let ask = "Please make the lexer accept unicode identifiers in every place where it reads a name. Always run the tests before you commit.";
    let failed = json!({
        "name": "Bash", "input": {"command": "cargo test --workspace --all-features -- --nocapture lexer::identifiers"},
        "output": "Exit code 101\nerror[E0308]: mismatched types: expected `char`, found `&str`",
    });
    let answer = "Decided to use `unicode_ident`, because it is small and has no dependencies. Identifiers in src/lexer.rs follow the XID rules now:\n\n```rust\n    fn reads_identifier_start(character: char, options: &LexerOptions, position: usize) -> Result<bool, LexerError> {\n```";
    world.ingest(&event(0, json!({"text": ask})));
    world.ingest(&event(1, json!({"kind": "tool_result", "text": "", "tool": failed})));
    let edit = json!({
        "name": "Edit", "output": "The file src/lexer.rs has been updated.",
        "input": {"file_path": "src/lexer.rs", "old_string": "is_ascii", "new_string": "is_xid"},
    });
    world.ingest(&event(2, json!({"kind": "tool_result", "text": "", "tool": edit})));
    world.ingest(&event(3, json!({"kind": "assistant_message", "text": answer})));
    let entry = json!({"path": "facts/project.md", "entry": "- Database: SQLite, because the program is used by one person"});
    let mut command =
        world.command(&["tool", "memory_append", &entry.to_string(), "--agent", "codex"]);
    assert_eq!(World::run(command.current_dir(&app), b"").code, 0);
    world
}

fn run_at(world: &World, width: usize, args: &[&str]) -> CommandResult {
    let mut command = world.command(args);
    command.env("COLUMNS", width.to_string()).current_dir(world.folder("person/app"));
    World::run(&mut command, b"")
}

/// Columns of a label, behind which a long word stays.
const LABEL_COLUMNS: usize = 9;

/// Lines that do not fit. A path that is longer than a line stays whole, so that it can be copied, but
/// nothing stands beside it except its label.
fn wide_lines(text: &str, width: usize) -> Vec<&str> {
    let is_wide = |line: &&str| display_width(line) > width;
    let is_breakable = |line: &&str| {
        let paths = line.split_whitespace().filter(|word| word.contains('/'));
        let path = paths.map(display_width).max().unwrap_or(0);
        let is_alone = path > 0 && path == display_width(line.trim());
        let rest = display_width(line.trim()) - path;
        !is_alone && (path + LABEL_COLUMNS <= width || rest > LABEL_COLUMNS + 1)
    };
    text.lines().filter(is_wide).filter(is_breakable).collect()
}

#[test]
fn every_screen_fits_the_terminal() {
    let world = filled();
    let backup = world.path().join("home.backup");
    let backup = backup.to_str().unwrap();
    assert_eq!(world.tome(&["backup", backup]).code, 0);
    let screens: [&[&str]; 42] = [
        &[],
        &["sessions"],
        &["sessions", "--all-projects"],
        &["show", "419f"],
        &["read", "419f"],
        &["projects"],
        &["status"],
        &["doctor"],
        &["config"],
        &["config", "--all"],
        &["topics"],
        &["instructions"],
        &["toc"],
        &["toc", "2026"],
        &["events"],
        &["file", "src/lexer.rs"],
        &["recall", "unicode identifiers"],
        &["memory", "list"],
        &["memory", "log"],
        &["coder", "list"],
        &["injections"],
        &["init"],
        &["tool"],
        &["admin", "status"],
        &["import", "--dry-run"],
        &["setup", "--dry-run"],
        &["restore", "--check", backup],
        &["restore", backup],
        &["-h"],
        &["sesions"],
        &["show", "nosuch"],
        &["report", "yesteryear"],
        &["show", "2"],
        &["show", "3", "--full"],
        &["show", "event-1"],
        &["show", "event-1", "--verbose"],
        &["toc", "2026-11-15"],
        &["topics", "show", "branch:feature/unicode-identifiers"],
        &["admin", "verify"],
        &["injections", "--preview"],
        &["chat", "--offline", "--print", "what did we decide about unicode identifiers?"],
        &["setup", "--yes", "--agent", "claude-code", "--agent", "codex"],
    ];
    assert_fits(&world, &screens);
}

/// Pages of topics with long paths, and with characters of two columns.
#[test]
fn topics_and_files_fit_the_terminal() {
    let world = world();
    let app = world.folder("person/app");
    let wide = "字句解析器/識別子の読み取りと正規化と文字の分類の一覧.rs";
    let mut lines = String::new();
    for (number, path) in [LONG_PATH, wide].into_iter().cycle().take(6).enumerate() {
        let at = MORNING_MS + number as u64 * 7 * 3_600_000;
        let mut push = |kind: &str, offset: u64, fields: serde_json::Value| {
            let mut line = json!({
                "id": format!("{kind}-{number}"), "session_id": format!("{number}{SESSION}"),
                "agent": "claude-code", "cwd": app, "at": at + offset, "kind": kind, "text": "",
            });
            for (name, value) in fields.as_object().unwrap() {
                line[name] = value.clone();
            }
            lines.push_str(&line_with(&line));
        };
        let ask = format!("Normalize 識別子 in {path}, {number} of them, as the 文字の分類 says");
        push("user_message", 0, json!({"text": ask}));
        let edit = json!({"file_path": app.join(path), "old_string": "a", "new_string": "b"});
        push(
            "tool_result",
            1_000,
            json!({"tool": {"name": "Edit", "input": edit, "output": "ok"}}),
        );
        let command = "cargo test --workspace --all-features -- --nocapture identifiers";
        let failed = json!({
            "name": "Bash", "input": {"command": command},
            "output": format!("Exit code 101\nerror[E0308]: mismatched types: 識別子 in {path}"),
        });
        push("tool_result", 2_000, json!({"tool": failed}));
        push("session_end", 3_000, json!({}));
    }
    world.ingest(&lines);
    let (file, folder) = (format!("file:{LONG_PATH}"), "folder:字句解析器/");
    let groups = run_at(&world, 80, &["topics", "--json"]).json_lines();
    let group = groups.iter().find(|topic| topic["kind"] == "group");
    let group = group.and_then(|topic| topic["id"].as_str()).expect("a group").to_owned();
    assert_fits(
        &world,
        &[
            &["topics"],
            &["topics", "識別子"],
            &["topics", "identifier"],
            &["topics", "show", &file],
            &["topics", "show", folder],
            &["topics", "show", &group],
            &["file", LONG_PATH],
            &["file", wide],
        ],
    );
    let page = run_at(&world, 60, &["file", LONG_PATH]).stdout;
    assert!(page.lines().all(|line| display_width(line) <= 60), "{page}");
    assert!(page.starts_with(&format!("{LONG_PATH}\napp\n")), "{page}");
}

fn assert_fits(world: &World, screens: &[&[&str]]) {
    let mut wide = Vec::new();
    for args in screens {
        for width in WIDTHS {
            let ran = run_at(world, width, args);
            for text in [&ran.stdout, &ran.stderr] {
                assert!(!text.contains('\u{1b}'), "{args:?}: {text}");
                let lines = wide_lines(text, width).into_iter();
                wide.extend(lines.map(|line| format!("{args:?} at {width}: {line}")));
            }
        }
    }
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

/// The same command at four widths; widths with the same lines are joined.
fn at_four_widths(world: &World, args: &[&str]) -> String {
    let mut screens: Vec<(String, String)> = Vec::new();
    for width in WIDTHS {
        let ran = run_at(world, width, args);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
        let shown = hide_details(&ran.stdout);
        match screens.last_mut().filter(|(_, last)| *last == shown) {
            Some((widths, _)) => *widths = format!("{widths}, {width}"),
            None => screens.push((width.to_string(), shown)),
        }
    }
    let screens = screens.iter().map(|(widths, shown)| format!("at {widths}:\n{shown}"));
    screens.collect::<Vec<_>>().join("\n")
}

/// Leaves out the details of every line, and the lines that continue one that was cut.
fn hide_details(text: &str) -> String {
    let (mut shown, mut is_cut) = (String::new(), false);
    for line in text.lines() {
        // A long path begins further to the left.
        if is_cut && (line.starts_with("         ") || line.trim_start().starts_with("~/")) {
            continue;
        }
        let line = without_details(line);
        is_cut = line.ends_with('>');
        shown.push_str(&line);
        shown.push('\n');
    }
    shown
}

/// Leaves out what differs between machines and years: times, sizes, the path of the program.
fn without_details(line: &str) -> String {
    let line = line.replace("Nov 15, 2026 ", "Nov 15, 09:30").replace("Nov 15, 2026", "Nov 15");
    let line = line.as_str();
    let cut = [
        (", until ", "<time>"),
        ("\"command\": ", "<program>"),
        (" events, ", "<size>"),
        ("arrived  ", "<time>"),
        ("running (", "<pid>"),
        ("disk     ", "<size>"),
        ("indexes", "<state>"),
        (" project, ", "<size>"),
        (" note in", "<folder>"),
    ];
    let found = cut.iter().find_map(|(end, rest)| Some((line.split_once(end)?.0, end, rest)));
    found.map_or(line.to_owned(), |(before, end, rest)| format!("{before}{end}{rest}"))
}

#[test]
fn pause_export_and_setup_are_summarized() {
    let world = filled();
    let person = world.folder("person");
    let file = person.join("session.md");
    let out = |file: &Path| file.to_str().unwrap().to_owned();
    let screens = [
        at_four_widths(&world, &["pause", "1h"]),
        at_four_widths(&world, &["pause"]),
        at_four_widths(&world, &["unpause"]),
        at_four_widths(&world, &["export", "419f", "--out", &out(&file), "--force"]),
        at_four_widths(&world, &["setup", "--dry-run", "--agent", "claude-code"]),
    ];
    expect![[r#"
        at 60, 80, 100, 160:
        recording paused for 1 h, until <time>

        at 60, 80, 100, 160:
        recording paused until `tome unpause`

        at 60:
        recording again

        at 80, 100, 160:
        recording was not paused

        at 60, 80, 100, 160:
        ~/session.md  1 session, 4 events, <size>

        at 60, 80, 100, 160:
        Claude Code  not installed
          new     ~/.claude/settings.json  37 lines
            + {
            +   "hooks": {
            +     "SessionStart": [
            … 34 more lines; --diff shows them
          new     ~/.claude.json  5 lines
            + {
            +   "mcpServers": {
            +     "tome": { "command": <program>
            … 2 more lines; --diff shows them
          new     ~/.claude/skills/tome-memory/SKILL.md  37 lines
          new     ~/.claude/agents/memory-navigator.md  21 lines
          new     ~/.claude/commands/memory-search.md  12 lines
          …       2 more files of commands and instructions

        7 files would be written; nothing was changed.
    "#]]
    .assert_eq(&screens.join("\n"));
}

/// Screens of a project with one session.
#[test]
fn the_screens_of_a_project_at_four_widths() {
    let world = filled();
    let screens = [
        &["events"][..],
        &["show", "event-1"],
        &["topics"],
        &["file", "src/lexer.rs"],
        &["memory", "list"],
        &["instructions"],
        &["config"],
    ];
    let shown =
        screens.map(|args| format!("$ tome {}\n{}", args.join(" "), at_four_widths(&world, args)));
    expect![[r#"
        $ tome events
        at 60:
        #1      Nov 15, 09:30  user         Please make the lexer a…
        #2      Nov 15, 09:31  tool         Bash cargo test --works…
        #3      Nov 15, 09:32  tool         Edit src/lexer.rs → The…
        #4      Nov 15, 09:33  claude-code  Decided to use `unicode…

        at 80:
        #1      Nov 15, 09:30  user         Please make the lexer accept unicode identi…
        #2      Nov 15, 09:31  tool         Bash cargo test --workspace --all-features…
        #3      Nov 15, 09:32  tool         Edit src/lexer.rs → The file src/lexer.rs h…
        #4      Nov 15, 09:33  claude-code  Decided to use `unicode_ident`, because it…

        at 100:
        #1      Nov 15, 09:30  user         Please make the lexer accept unicode identifiers in every place…
        #2      Nov 15, 09:31  tool         Bash cargo test --workspace --all-features -- --nocapture lexer…
        #3      Nov 15, 09:32  tool         Edit src/lexer.rs → The file src/lexer.rs has been updated.
        #4      Nov 15, 09:33  claude-code  Decided to use `unicode_ident`, because it is small and has no…

        at 160:
        #1      Nov 15, 09:30  user         Please make the lexer accept unicode identifiers in every place where it reads a name. Always run the tests before you comm…
        #2      Nov 15, 09:31  tool         Bash cargo test --workspace --all-features -- --nocapture lexer::identifiers → Exit code 101 error[E0308]: mismatched types…
        #3      Nov 15, 09:32  tool         Edit src/lexer.rs → The file src/lexer.rs has been updated.
        #4      Nov 15, 09:33  claude-code  Decided to use `unicode_ident`, because it is small and has no dependencies. Identifiers in src/lexer.rs follow the XID rul…

        $ tome show event-1
        at 60:
        id       event-1
        kind     tool_result (tool)
        at       Nov 15, 09:31
        arrived  <time>
        agent    claude-code
        session  419f42f0
        project  app
        branch   feature/unicode-identifiers
        tool     Bash

        input
        command: cargo test --workspace --all-features --
        --nocapture lexer::identifiers

        output
        Exit code 101
        error[E0308]: mismatched types: expected `char`, found
        `&str`

        at 80, 100, 160:
        id       event-1
        kind     tool_result (tool)
        at       Nov 15, 09:31
        arrived  <time>
        agent    claude-code
        session  419f42f0
        project  app
        branch   feature/unicode-identifiers
        tool     Bash

        input
        command: cargo test --workspace --all-features -- --nocapture lexer::identifiers

        output
        Exit code 101
        error[E0308]: mismatched types: expected `char`, found `&str`

        $ tome topics
        at 60, 80, 100, 160:
        app  1 session · Nov 15

        Files
          src/lexer.rs  Nov 15

        Branches
          feature/unicode-identifiers  Nov 15

        Open a file: tome file <path>

        $ tome file src/lexer.rs
        at 60:
        src/lexer.rs  app
        1 day, 1 session · Nov 15 · claude-code

        Decided
          • Decided to use `unicode_ident`, because it is small and
            has no dependencies. #4

        Problems
          • `cargo test` failed: error[E0308]: mismatched types:
            expected `char`, found `&str` — not seen to pass since
            #2

        Changes
          Nov 15 · claude-code 419f42f0 · 1 edit
            Make the lexer accept unicode identifiers in every place
            where it reads a name #1

        Outcomes and corrections
          • Always run the tests before you commit. #1

        Open a number: tome show 1

        at 80:
        src/lexer.rs  app
        1 day, 1 session · Nov 15 · claude-code

        Decided
          • Decided to use `unicode_ident`, because it is small and has no dependencies.
            #4

        Problems
          • `cargo test` failed: error[E0308]: mismatched types: expected `char`, found
            `&str` — not seen to pass since #2

        Changes
          Nov 15 · claude-code 419f42f0 · 1 edit
            Make the lexer accept unicode identifiers in every place where it reads a
            name #1

        Outcomes and corrections
          • Always run the tests before you commit. #1

        Open a number: tome show 1

        at 100, 160:
        src/lexer.rs  app
        1 day, 1 session · Nov 15 · claude-code

        Decided
          • Decided to use `unicode_ident`, because it is small and has no dependencies. #4

        Problems
          • `cargo test` failed: error[E0308]: mismatched types: expected `char`, found `&str` — not seen to
            pass since #2

        Changes
          Nov 15 · claude-code 419f42f0 · 1 edit
            Make the lexer accept unicode identifiers in every place where it reads a name #1

        Outcomes and corrections
          • Always run the tests before you commit. #1

        Open a number: tome show 1

        $ tome memory list
        at 60, 80, 100, 160:
                 note               size  summary
          Facts  facts/project.md  100 B  database

          1 note, 100 B; `tome memory read <note>` prints one

        $ tome instructions
        at 60, 80, 100, 160:
        #1  Nov 15, 09:30
            Always run the tests before you commit.
        1 instruction · tome show 1 shows where it was said

        $ tome config
        at 60:
        home    ~/home ($TOME_HOME)
        config  ~/.config/tome/config.toml (does not exist)

        daemon.idle_exit = 2m ($TOME_DAEMON_IDLE_EXIT; default: 30m)
            stop the daemon after it has been idle for this long, or
            once it has no work and holds over 40 MB

        capture.transcripts = off ($TOME_CAPTURE_TRANSCRIPTS;
                              default: on)
            when a session ends or falls silent, read the agent's
            own transcript and store what the hooks missed

        All other settings have their defaults: `tome config --all`
        lists them.

        at 80:
        home    ~/home ($TOME_HOME)
        config  ~/.config/tome/config.toml (does not exist)

        daemon.idle_exit = 2m ($TOME_DAEMON_IDLE_EXIT; default: 30m)
            stop the daemon after it has been idle for this long, or once it has no work
            and holds over 40 MB

        capture.transcripts = off ($TOME_CAPTURE_TRANSCRIPTS; default: on)
            when a session ends or falls silent, read the agent's own transcript and
            store what the hooks missed

        All other settings have their defaults: `tome config --all` lists them.

        at 100, 160:
        home    ~/home ($TOME_HOME)
        config  ~/.config/tome/config.toml (does not exist)

        daemon.idle_exit = 2m ($TOME_DAEMON_IDLE_EXIT; default: 30m)
            stop the daemon after it has been idle for this long, or once it has no work and holds over 40
            MB

        capture.transcripts = off ($TOME_CAPTURE_TRANSCRIPTS; default: on)
            when a session ends or falls silent, read the agent's own transcript and store what the hooks
            missed

        All other settings have their defaults: `tome config --all` lists them.
    "#]].assert_eq(&shown.join("\n"));
}

/// Pages of what was done.
#[test]
fn sessions_days_and_reports_at_four_widths() {
    let world = filled();
    let screens = [
        &["sessions"][..],
        &["show", "419f"],
        &["read", "419f"],
        &["toc", "2026-11-15"],
        &["report", "2026-11-15"],
        &["recall", "unicode identifiers"],
    ];
    let shown =
        screens.map(|args| format!("$ tome {}\n{}", args.join(" "), at_four_widths(&world, args)));
    expect![[r#"
        $ tome sessions
        at 60:
          when    session   title                              turns
          Nov 15  419f42f0  Make the lexer accept unicode id…      1

        tome show 419f42f0 opens its page, tome read 419f42f0 the
        conversation

        at 80:
          when    session   agent        title                                     turns
          Nov 15  419f42f0  claude-code  Make the lexer accept unicode identifie…      1

        tome show 419f42f0 opens its page, tome read 419f42f0 the conversation

        at 100:
          when    session   agent        branch          title                                         turns
          Nov 15  419f42f0  claude-code  feature/unico…  Make the lexer accept unicode identifiers i…      1

        tome show 419f42f0 opens its page, tome read 419f42f0 the conversation

        at 160:
          when    session   agent        branch                       title                                                                           turns
          Nov 15  419f42f0  claude-code  feature/unicode-identifiers  Make the lexer accept unicode identifiers in every place where it reads a name      1

        tome show 419f42f0 opens its page, tome read 419f42f0 the conversation

        $ tome show 419f
        at 60:
        Make the lexer accept unicode identifiers in every place
        where it reads a name
        claude-code · Sun, Nov 15, 09:30 – 09:33 · on
        feature/unicode-identifiers
        1 turn · ~/app

          1  09:30  Please make the lexer accept unicode identifiers
                    in every place where it reads a name. Always run
                    the tests before you commit.
                  → Decided to use `unicode_ident`, because it is
                    small and has no dependencies.

        Decisions
          • Decided to use `unicode_ident`, because it is small and
            has no dependencies.

        Rules from the user
          • Always run the tests before you commit.

        Open
          • `cargo test` fails: error[E0308]: mismatched types:
            expected `char`, found `&str`

        Files
          src/lexer.rs  changed

        Read it: tome read 419f42f0
        Continue it: tome resume 419f42f0

        at 80:
        Make the lexer accept unicode identifiers in every place where it reads a name
        claude-code · Sun, Nov 15, 09:30 – 09:33 · on feature/unicode-identifiers
        1 turn · ~/app

          1  09:30  Please make the lexer accept unicode identifiers in every place
                    where it reads a name. Always run the tests before you commit.
                  → Decided to use `unicode_ident`, because it is small and has no
                    dependencies.

        Decisions
          • Decided to use `unicode_ident`, because it is small and has no dependencies.

        Rules from the user
          • Always run the tests before you commit.

        Open
          • `cargo test` fails: error[E0308]: mismatched types: expected `char`, found
            `&str`

        Files
          src/lexer.rs  changed

        Read it: tome read 419f42f0
        Continue it: tome resume 419f42f0

        at 100, 160:
        Make the lexer accept unicode identifiers in every place where it reads a name
        claude-code · Sun, Nov 15, 09:30 – 09:33 · on feature/unicode-identifiers
        1 turn · ~/app

          1  09:30  Please make the lexer accept unicode identifiers in every place where it reads a name.
                    Always run the tests before you commit.
                  → Decided to use `unicode_ident`, because it is small and has no dependencies.

        Decisions
          • Decided to use `unicode_ident`, because it is small and has no dependencies.

        Rules from the user
          • Always run the tests before you commit.

        Open
          • `cargo test` fails: error[E0308]: mismatched types: expected `char`, found `&str`

        Files
          src/lexer.rs  changed

        Read it: tome read 419f42f0
        Continue it: tome resume 419f42f0

        $ tome read 419f
        at 60:
        ── Make the lexer accept unicode identifiers in every place
           where it reads a name
        claude-code · Sun, Nov 15, 09:30 – 09:33 · on
        feature/unicode-identifiers
        1 turn · ~/app

        ── 1 · Sun, Nov 15, 09:30 ──────────────────────────────────
        │ Please make the lexer accept unicode identifiers in every
        │ place where it reads a name. Always run the tests before
        │ you commit.

          ✗ cargo test --workspace --all-features -- --no…  exit 101
              error[E0308]: mismatched types: expected `char`, found
              `&str`
          ✎ src/lexer.rs  +1 −1
            - is_ascii
            + is_xid

        Decided to use `unicode_ident`, because it is small and has
        no dependencies. Identifiers in src/lexer.rs follow the XID
        rules now:

                fn reads_identifier_start(character: char, options:
                  &LexerOptions, position: usize) -> Result<bool,
                  LexerError> {

        at 80:
        ── Make the lexer accept unicode identifiers in every place where it reads a
           name
        claude-code · Sun, Nov 15, 09:30 – 09:33 · on feature/unicode-identifiers
        1 turn · ~/app

        ── 1 · Sun, Nov 15, 09:30 ──────────────────────────────────────────────────────
        │ Please make the lexer accept unicode identifiers in every place where it reads
        │ a name. Always run the tests before you commit.

          ✗ cargo test --workspace --all-features -- --nocapture lexer::ident…  exit 101
              error[E0308]: mismatched types: expected `char`, found `&str`
          ✎ src/lexer.rs  +1 −1
            - is_ascii
            + is_xid

        Decided to use `unicode_ident`, because it is small and has no dependencies.
        Identifiers in src/lexer.rs follow the XID rules now:

                fn reads_identifier_start(character: char, options: &LexerOptions,
                  position: usize) -> Result<bool, LexerError> {

        at 100, 160:
        ── Make the lexer accept unicode identifiers in every place where it reads a name
        claude-code · Sun, Nov 15, 09:30 – 09:33 · on feature/unicode-identifiers
        1 turn · ~/app

        ── 1 · Sun, Nov 15, 09:30 ──────────────────────────────────────────────────────────────────────────
        │ Please make the lexer accept unicode identifiers in every place where it reads a name. Always run
        │ the tests before you commit.

          ✗ cargo test --workspace --all-features -- --nocapture lexer::identifiers  exit 101
              error[E0308]: mismatched types: expected `char`, found `&str`
          ✎ src/lexer.rs  +1 −1
            - is_ascii
            + is_xid

        Decided to use `unicode_ident`, because it is small and has no dependencies. Identifiers in
        src/lexer.rs follow the XID rules now:

                fn reads_identifier_start(character: char, options: &LexerOptions, position: usize) ->

        $ tome toc 2026-11-15
        at 60:
        Make the lexer accept unicode identifiers in every place
        where it reads a name
        Sunday, November 15, 2026  app

          09:30  Rule of the user: Always run the tests before you
                 commit. #1
          09:33  Make the lexer accept unicode identifiers in every
                 place where it reads a name → Decided to use
                 `unicode_ident`, because it is small and has no
                 dependencies. #1 #4
          09:31  Open: `cargo test` fails: error[E0308]: mismatched
                 types: expected `char`, found `&str` #2

        keywords  lexer.rs, unicode_ident, E0308, identifiers,
                  accept
        when      Sun, Nov 15, 09:30 – 09:33
        agents    claude-code
        sessions  1 (419f42f0), 4 events

          09:30 – 09:33           Make the lexer acce…  01M7F8NJE04Z

        Read it: tome read 419f42f0 · Open a number: tome show 1

        at 80:
        Make the lexer accept unicode identifiers in every place where it reads a name
        Sunday, November 15, 2026  app

          09:30  Rule of the user: Always run the tests before you commit. #1
          09:33  Make the lexer accept unicode identifiers in every place where it reads
                 a name → Decided to use `unicode_ident`, because it is small and has no
                 dependencies. #1 #4
          09:31  Open: `cargo test` fails: error[E0308]: mismatched types: expected
                 `char`, found `&str` #2

        keywords  lexer.rs, unicode_ident, E0308, identifiers, accept
        when      Sun, Nov 15, 09:30 – 09:33
        agents    claude-code
        sessions  1 (419f42f0), 4 events

          09:30 – 09:33                     Make the lexer accept unicode…  01M7F8NJE04Z

        Read it: tome read 419f42f0 · Open a number: tome show 1

        at 100:
        Make the lexer accept unicode identifiers in every place where it reads a name
        Sunday, November 15, 2026  app

          09:30  Rule of the user: Always run the tests before you commit. #1
          09:33  Make the lexer accept unicode identifiers in every place where it reads a name → Decided to
                 use `unicode_ident`, because it is small and has no dependencies. #1 #4
          09:31  Open: `cargo test` fails: error[E0308]: mismatched types: expected `char`, found `&str` #2

        keywords  lexer.rs, unicode_ident, E0308, identifiers, accept
        when      Sun, Nov 15, 09:30 – 09:33
        agents    claude-code
        sessions  1 (419f42f0), 4 events

          09:30 – 09:33                     Make the lexer accept unicode identi…  claude-code  01M7F8NJE04Z

        Read it: tome read 419f42f0 · Open a number: tome show 1

        at 160:
        Make the lexer accept unicode identifiers in every place where it reads a name
        Sunday, November 15, 2026  app

          09:30  Rule of the user: Always run the tests before you commit. #1
          09:33  Make the lexer accept unicode identifiers in every place where it reads a name → Decided to
                 use `unicode_ident`, because it is small and has no dependencies. #1 #4
          09:31  Open: `cargo test` fails: error[E0308]: mismatched types: expected `char`, found `&str` #2

        keywords  lexer.rs, unicode_ident, E0308, identifiers, accept
        when      Sun, Nov 15, 09:30 – 09:33
        agents    claude-code
        sessions  1 (419f42f0), 4 events

          09:30 – 09:33                     Make the lexer accept unicode identifiers in every place where it reads a name                     claude-code  01M7F8NJE04Z

        Read it: tome read 419f42f0 · Open a number: tome show 1

        $ tome report 2026-11-15
        at 60, 80, 100, 160:
        # Report: Nov 15

        1 session, 1 decision.

        ## app

        ### feature/unicode-identifiers

        - **Make the lexer accept unicode identifiers in every place where it reads a name**

        **Decisions**

        - Decided to use `unicode_ident`, because it is small and has no dependencies.

        **Open**

        - `cargo test` fails: error[E0308]: mismatched types: expected `char`, found `&str`

        $ tome recall unicode identifiers
        at 60:
        1 hit for unicode identifiers

         1  #1  Nov 15, 09:30  user  feature/unicode…
            Please make the lexer accept unicode identifiers in
            every place where it reads a name. Always run the tests
            before you commit.
            #4 claude-code: Decided to use `unicode_ident`, because
            it is small and has no dependencies. Identifiers in
            src/lexer.rs follow the XID rules now:
            ```rust
            fn reads_identifier_start(character: char, options:
            &LexerOptions, position: usize) -> Result<bool,
            LexerError> {
            ```
            #2 tool: $ cargo test --workspace --all-features --
            --nocapture lexer::identifiers (exit 101)
            Exit code 101
            error[E0308]: mismatched types: expected `char`, found
            `&str`
            #3 tool: Edit src/lexer.rs
            is_ascii
            is_xid
            The file src/lexer.rs has been updated.

        Standing instruction #1 (Nov 15): Always run the tests
            before you commit.
        tome show 1 'unicode identifiers' opens #1 with the turn
        around it

        at 80:
        1 hit for unicode identifiers

         1  #1  Nov 15, 09:30  user  feature/unicode-identi…
            Please make the lexer accept unicode identifiers in every place where it
            reads a name. Always run the tests before you commit.
            #4 claude-code: Decided to use `unicode_ident`, because it is small and has
            no dependencies. Identifiers in src/lexer.rs follow the XID rules now:
            ```rust
            fn reads_identifier_start(character: char, options: &LexerOptions, position:
            usize) -> Result<bool, LexerError> {
            ```
            #2 tool: $ cargo test --workspace --all-features -- --nocapture
            lexer::identifiers (exit 101)
            Exit code 101
            error[E0308]: mismatched types: expected `char`, found `&str`
            #3 tool: Edit src/lexer.rs
            is_ascii
            is_xid
            The file src/lexer.rs has been updated.

        Standing instruction #1 (Nov 15): Always run the tests before you commit.
        tome show 1 'unicode identifiers' opens #1 with the turn around it

        at 100:
        1 hit for unicode identifiers

         1  #1  Nov 15, 09:30  user  feature/unicode-identifiers
            Please make the lexer accept unicode identifiers in every place where it reads a name. Always
            run the tests before you commit.
            #4 claude-code: Decided to use `unicode_ident`, because it is small and has no dependencies.
            Identifiers in src/lexer.rs follow the XID rules now:
            ```rust
            fn reads_identifier_start(character: char, options: &LexerOptions, position: usize) ->
            Result<bool, LexerError> {
            ```
            #2 tool: $ cargo test --workspace --all-features -- --nocapture lexer::identifiers (exit 101)
            Exit code 101
            error[E0308]: mismatched types: expected `char`, found `&str`
            #3 tool: Edit src/lexer.rs
            is_ascii
            is_xid
            The file src/lexer.rs has been updated.

        Standing instruction #1 (Nov 15): Always run the tests before you commit.
        tome show 1 'unicode identifiers' opens #1 with the turn around it

        at 160:
        1 hit for unicode identifiers

         1  #1  Nov 15, 09:30  user  feature/unicode-identifiers
            Please make the lexer accept unicode identifiers in every place where it reads a name. Always run
            the tests before you commit.
            #4 claude-code: Decided to use `unicode_ident`, because it is small and has no dependencies.
            Identifiers in src/lexer.rs follow the XID rules now:
            ```rust
            fn reads_identifier_start(character: char, options: &LexerOptions, position: usize) -> Result<bool,
            LexerError> {
            ```
            #2 tool: $ cargo test --workspace --all-features -- --nocapture lexer::identifiers (exit 101)
            Exit code 101
            error[E0308]: mismatched types: expected `char`, found `&str`
            #3 tool: Edit src/lexer.rs
            is_ascii
            is_xid
            The file src/lexer.rs has been updated.

        Standing instruction #1 (Nov 15): Always run the tests before you commit.
        tome show 1 'unicode identifiers' opens #1 with the turn around it
    "#]].assert_eq(&shown.join("\n"));
}

#[test]
fn the_state_and_the_demo_at_four_widths() {
    let world = filled();
    let shown = [&["status"][..], &["doctor"], &["demo"]]
        .map(|args| format!("$ tome {}\n{}", args.join(" "), at_four_widths(&world, args)));
    expect![[r#"
        $ tome status
        at 60:
        daemon   running (<pid>
        captured 4 events since start (0 duplicates, 0 rejected, 0
                 from the spool)
        last     event Nov 15
        indexes<state>
        stores   1 with 4 events
        disk     <size>
        home     ~/home
        spool    empty

        at 80, 100, 160:
        daemon   running (<pid>
        captured 4 events since start (0 duplicates, 0 rejected, 0 from the spool)
        last     event Nov 15
        indexes<state>
        stores   1 with 4 events
        disk     <size>
        home     ~/home
        spool    empty

        $ tome doctor
        at 60, 80, 100, 160:
        ok    config       no config file; using defaults
        ok    home         ~/home
        ok    permissions  accessible to the owner only
        ok    notes        1 note in<folder>
        ok    daemon       running (<pid>
        ok    stores       1 project, <size>
        ok    indexes<state>
        ok    spool        empty
        ok    agent        no coding agent found

        $ tome demo
        at 60:
        1  A session is recorded  Claude Code, 6 hooks
           you: The lexer splits identifiers at é. Find out why and
           fix it. …
           claude-code: Identifiers were scanned byte by byte with
           is_ascii_alphanumeric. I switched the loop to characters
           and XID_Continue; all 41 lexer tests pass.

        2  The next session starts with it  Codex reads this first
           Last request: The lexer splits identifiers at é. Find out
           why and fix it. The staging key is [redacted:aws] if you
           need it.
           Agent's final message: Identifiers were scanned byte by
           byte with is_ascii_alphanumeric. I switched the loop to
           characters and XID_Continue; all 41 lexer tests pass.

        3  Recall answers, with evidence
           $ tome recall 'why were identifiers split?'
           #2 The lexer splits identifiers at é. Find out why and
           fix it. The staging key is [redacted:aws] if you need it.
           → #5 Identifiers were scanned byte by byte with
           is_ascii_alphanumeric.

        Next  tome import   the sessions you already had
              tome setup    record new ones, and tell your agents
              tome recall   ask about them; `tome show` opens a hit
                            by its number
        The demo ran in a temporary home, which is deleted now. The
        key in the prompt was redacted before it was stored.

        at 80:
        1  A session is recorded  Claude Code, 6 hooks
           you: The lexer splits identifiers at é. Find out why and fix it. …
           claude-code: Identifiers were scanned byte by byte with
           is_ascii_alphanumeric. I switched the loop to characters and XID_Continue;
           all 41 lexer tests pass.

        2  The next session starts with it  Codex reads this first
           Last request: The lexer splits identifiers at é. Find out why and fix it. The
           staging key is [redacted:aws] if you need it.
           Agent's final message: Identifiers were scanned byte by byte with
           is_ascii_alphanumeric. I switched the loop to characters and XID_Continue;
           all 41 lexer tests pass.

        3  Recall answers, with evidence  $ tome recall 'why were identifiers split?'
           #2 The lexer splits identifiers at é. Find out why and fix it. The staging
           key is [redacted:aws] if you need it.
           → #5 Identifiers were scanned byte by byte with is_ascii_alphanumeric.

        Next  tome import   the sessions you already had
              tome setup    record new ones, and tell your agents
              tome recall   ask about them; `tome show` opens a hit by its number
        The demo ran in a temporary home, which is deleted now. The key in the prompt
        was redacted before it was stored.

        at 100, 160:
        1  A session is recorded  Claude Code, 6 hooks
           you: The lexer splits identifiers at é. Find out why and fix it. …
           claude-code: Identifiers were scanned byte by byte with is_ascii_alphanumeric. I switched the
           loop to characters and XID_Continue; all 41 lexer tests pass.

        2  The next session starts with it  Codex reads this first
           Last request: The lexer splits identifiers at é. Find out why and fix it. The staging key is
           [redacted:aws] if you need it.
           Agent's final message: Identifiers were scanned byte by byte with is_ascii_alphanumeric. I
           switched the loop to characters and XID_Continue; all 41 lexer tests pass.

        3  Recall answers, with evidence  $ tome recall 'why were identifiers split?'
           #2 The lexer splits identifiers at é. Find out why and fix it. The staging key is [redacted:aws]
           if you need it.
           → #5 Identifiers were scanned byte by byte with is_ascii_alphanumeric.

        Next  tome import   the sessions you already had
              tome setup    record new ones, and tell your agents
              tome recall   ask about them; `tome show` opens a hit by its number
        The demo ran in a temporary home, which is deleted now. The key in the prompt was redacted before it
        was stored.
    "#]].assert_eq(&shown.join("\n"));
}

#[test]
fn no_color_turns_every_style_off() {
    let world = filled();
    for args in [&["status"][..], &["sessions"], &["show", "2"], &["read", "419f"], &["toc"], &[]] {
        let has_styles = |no_color: bool| {
            let mut command = world.command(args);
            command.env("CLICOLOR_FORCE", "1").current_dir(world.folder("person/app"));
            if no_color {
                command.env("NO_COLOR", "1");
            }
            World::run(&mut command, b"").stdout.contains('\u{1b}')
        };
        assert_eq!((has_styles(false), has_styles(true)), (true, false), "{args:?}");
    }
}
