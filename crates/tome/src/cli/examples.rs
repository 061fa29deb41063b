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

/// Commands and their examples.
const EXAMPLES: [(&str, &str); 23] = [
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
];
