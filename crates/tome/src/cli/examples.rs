//! Examples for the help and the manual page of the commands whose own help has none.

/// The first line of examples in a help text.
const TITLE: &str = "Examples:";

/// Puts the examples of a command before the rest of its help.
pub fn with_examples(command: &str, help: &str) -> String {
    let known = EXAMPLES.iter().find(|(name, _)| *name == command);
    let lines: Vec<&str> = help.lines().collect();
    let (mut examples, mut rest) = (Vec::new(), Vec::new());
    match (known, lines.iter().position(|line| *line == TITLE)) {
        (Some((_, own)), _) => {
            examples.push(*own);
            rest = lines;
        }
        (None, None) => return help.to_owned(),
        (None, Some(title)) => {
            let (before, after) = lines.split_at(title);
            let mut after = after.iter().skip(1).copied().peekable();
            while let Some(example) = after.next_if(|line| line.starts_with("  ")) {
                examples.push(example);
            }
            rest.extend(before.iter().copied().chain(after));
        }
    }
    let gap = if rest.is_empty() { "" } else { "\n\n" };
    let rest = rest.join("\n");
    format!("{TITLE}\n{}{gap}{}", examples.join("\n"), rest.trim())
}

/// Commands, named with those above them, and their examples; the program itself has no name.
const EXAMPLES: [(&str, &str); 61] = [
    (
        "show",
        "  tome show 123                  event #123 with the turn around it
  tome show 419f                 the page of a session
  tome show memory/lexer.md#L3   a note, at a line",
    ),
    (
        "instructions",
        "  tome instructions              what the user always or never wants
  tome instructions commits      only what concerns commits",
    ),
    (
        "events",
        "  tome events                    the latest events of this project
  tome events --since 2h --role user --full
  tome events --session 419f -n 0 --json",
    ),
    (
        "ingest",
        "  tome ingest events.jsonl       store the events of a file
  my-exporter | tome ingest      or of standard input",
    ),
    (
        "import",
        "  tome import --dry-run          show what would be imported
  tome import                    import the history of all agents
  tome import --agent codex --since 'last week'",
    ),
    (
        "memory",
        "  tome memory list               the notes of this project
  tome memory edit facts/project.md
  tome memory log                who changed what, and when
  tome memory restore auth.md    undo the last change",
    ),
    (
        "coder",
        "  tome coder list                the lessons for all projects
  tome coder recall 'flaky tests'",
    ),
    (
        "init",
        "  tome init                      show where the notes of this project are
  tome init --in-repo            keep them in .memory/ in the repository",
    ),
    (
        "status",
        "  tome status                    is everything recorded and up to date?
  tome status --json",
    ),
    ("unpause", "  tome unpause                   record again"),
    (
        "config",
        "  tome config                    the settings that differ from their defaults
  tome config --all              all settings, and where they come from
  tome config set daemon.idle_exit 1h",
    ),
    (
        "doctor",
        "  tome doctor                    check everything, and suggest fixes
  tome doctor --deep             also compare with the agents' transcripts",
    ),
    ("demo", "  tome demo                      see what Tome does, in a temporary home"),
    (
        "start",
        "  tome start                     start the daemon; other commands do so automatically",
    ),
    (
        "stop",
        "  tome stop                      stop the daemon
  tome stop --force              kill it if it does not stop",
    ),
    ("daemon", "  tome daemon                    run the daemon in this terminal"),
    (
        "hook",
        "  echo '{\"hook_event_name\":\"SessionEnd\",\"session_id\":\"s1\"}' | tome hook claude-code",
    ),
    (
        "mcp",
        "  claude mcp add tome -- tome mcp
  tome mcp --toolsets core,recall,read-only",
    ),
    (
        "tool",
        "  tome tool                      list the tools
  tome tool recall_memory '{\"query\": \"why fjall\"}'",
    ),
    (
        "admin",
        "  tome admin status              the projections of each store and their progress
  tome admin verify              verify every file and every node of the contents
  tome admin repair              rebuild damaged stores from their readable parts",
    ),
    (
        "bench",
        "  tome bench recall --data DIR    how often the right document is found, and how quickly
  tome bench recall --data DIR --tier fused --json",
    ),
    (
        "completions",
        "  tome completions bash > ~/.local/share/bash-completion/completions/tome
  tome completions zsh > ~/.zfunc/_tome
  tome completions fish > ~/.config/fish/completions/tome.fish",
    ),
    (
        "man",
        "  tome man | man -l -            read the manual page
  tome man --dir ~/.local/share/man/man1",
    ),
    (
        "",
        "  tome                                the last session, open work, decisions
  tome setup                          record the sessions of your agents
  tome recall 'why is the lexer slow' find what was said, done or noted
  tome resume                         continue a session in its agent",
    ),
    (
        "memory list",
        "  tome memory list
  tome memory list --scope coder     the lessons for all projects",
    ),
    (
        "memory view",
        "  tome memory view                   the index as agents see it
  tome memory view --files           the files with their types",
    ),
    ("memory read", "  tome memory read facts/project.md"),
    (
        "memory write",
        "  tome memory write lexer.md --content '# Lexer'
  tome memory write lexer.md < lexer.md",
    ),
    ("memory append", "  tome memory append facts/project.md --entry '- Database: SQLite'"),
    ("memory patch", "  tome memory patch lexer.md --old 'ASCII only' --new 'XID rules'"),
    ("memory update", "  tome memory update lexer.md --old 'ASCII only' --new 'XID rules'"),
    (
        "memory delete",
        "  tome memory delete lexer.md        `tome memory restore lexer.md` brings it back",
    ),
    ("memory edit", "  tome memory edit facts/project.md"),
    (
        "memory log",
        "  tome memory log                    every change, newest first
  tome memory log lexer.md -n 0      all of one note",
    ),
    ("memory show", "  tome memory show lexer.md 3f2a     a version from `tome memory log`"),
    (
        "memory diff",
        "  tome memory diff lexer.md          the last change
  tome memory diff lexer.md 3f2a     what has changed since",
    ),
    (
        "memory restore",
        "  tome memory restore lexer.md       undo the last change
  tome memory restore lexer.md 3f2a  or go back to a version",
    ),
    (
        "coder recall",
        "  tome coder recall 'flaky tests'
  tome coder recall --keyword tokio --keyword timeout --keyword test",
    ),
    (
        "coder store",
        "  tome coder store --file lesson.json
  my-exporter | tome coder store --file -",
    ),
    ("coder list", "  tome coder list"),
    ("coder read", "  tome coder read semantic/rust.md"),
    ("coder lint", "  tome coder lint                    exit code 1 if a file breaks a rule"),
    ("coder tidy", "  tome coder tidy"),
    ("coder guide", "  tome coder guide store             the rules for lessons"),
    ("projects rename", "  tome projects rename ~/code/api backend"),
    ("projects mv", "  tome projects mv ~/code/api ~/src/api   after you moved the folder"),
    ("projects merge", "  tome projects merge ~/tmp/api-clone backend"),
    ("projects rm", "  tome projects rm scratch           it must hold no events and no notes"),
    ("config get", "  tome config get chat.model"),
    (
        "config set",
        "  tome config set chat.model qwen3
  tome config set daemon.idle_exit 1h",
    ),
    ("config unset", "  tome config unset chat.model       back to the default"),
    ("admin flush", "  tome admin flush"),
    ("admin compact", "  tome admin compact"),
    ("admin status", "  tome admin status"),
    (
        "admin verify",
        "  tome admin verify                  every store
  tome admin verify --project .      only this project",
    ),
    (
        "admin repair",
        "  tome admin repair                  stores with detected damage
  tome admin repair --project . --force",
    ),
    (
        "admin rebuild-toc",
        "  tome admin rebuild-toc             also proves that the contents match the events",
    ),
    ("admin rebuild-messages", "  tome admin rebuild-messages --project ."),
    ("admin merge-sessions", "  tome admin merge-sessions --dry-run"),
    (
        "topics show",
        "  tome topics show t-k3m9xq          a topic; the beginning of the id is enough
  tome topics show branch:fix/x",
    ),
    (
        "bench recall",
        "  tome bench recall --data DIR
  tome bench recall --data DIR --tier fused --json",
    ),
];
