//! The documentation: named files exist, and lists are complete.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::json;
use tome_testkit::World;

use crate::support::{daemon_up, world};

/// Top-level pages and their maximum number of lines.
const PAGES: [(&str, usize); 6] = [
    ("README.md", 140),
    ("ARCHITECTURE.md", 199),
    ("CONTRIBUTING.md", 80),
    ("AGENTS.md", 60),
    ("SECURITY.md", 100),
    ("CHANGELOG.md", 1_000),
];

/// Folders of a home or notebook that pages about the code also mention.
const NOT_IN_THE_REPOSITORY: [&str; 4] = [".memory/", "detail/", "facts/", "run/"];

/// The folder that the tests run for: a shared target folder may hold executables that were built in
/// another clone.
fn repository() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR");
    let package = package.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&package).join("../..").canonicalize().unwrap()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(repository().join(path))
        .unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// All pages, top-level and in `docs/`.
fn pages() -> Vec<String> {
    let mut pages: Vec<String> = PAGES.iter().map(|(name, _)| (*name).to_owned()).collect();
    let docs = std::fs::read_dir(repository().join("docs")).unwrap();
    let mut docs: Vec<String> =
        docs.map(|page| format!("docs/{}", page.unwrap().file_name().to_str().unwrap())).collect();
    docs.sort();
    assert!(docs.len() >= 6, "{docs:?}");
    pages.extend(docs);
    pages
}

/// Files and folders (with a trailing slash) relative to the repository.
fn tree() -> BTreeSet<String> {
    fn walk(folder: &Path, root: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let name = entry.file_name();
            if name == "target" || name == ".git" {
                continue;
            }
            let path = entry.path();
            let relative = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if entry.file_type().unwrap().is_dir() {
                found.insert(format!("{relative}/"));
                walk(&path, root, found);
            } else {
                found.insert(relative);
            }
        }
    }
    let root = repository();
    let mut found = BTreeSet::new();
    for part in ["crates", "docs", "plugins", "scripts", ".ci", ".cargo"] {
        found.insert(format!("{part}/"));
        walk(&root.join(part), &root, &mut found);
    }
    let top = std::fs::read_dir(&root).unwrap().flatten();
    let files = top.filter(|entry| entry.file_type().unwrap().is_file());
    found.extend(files.map(|entry| entry.file_name().to_str().unwrap().to_owned()));
    found
}

/// The text of a page without fenced blocks.
fn prose(page: &str) -> String {
    let mut is_code = false;
    let outside = |line: &&str| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    };
    page.lines().filter(outside).collect::<Vec<_>>().join("\n")
}

/// Text between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Whether a quoted text names a file or folder of the repository.
fn looks_like_a_path(quoted: &str, page: &str) -> bool {
    let is_plain = quoted.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
    // `.rs` alone is a file extension.
    let is_ending = quoted.starts_with('.') && !quoted.contains('/');
    if !is_plain || is_ending || NOT_IN_THE_REPOSITORY.contains(&quoted) {
        return false;
    }
    let starts =
        ["crates/", "docs/", "scripts/", "plugins/", ".ci/", ".cargo/", "tome/src", "tome-"];
    let is_about_code = ["ARCHITECTURE.md", "AGENTS.md", "CONTRIBUTING.md"].contains(&page);
    quoted.ends_with(".rs")
        || quoted.ends_with(".proto")
        || quoted.contains('/') && starts.iter().any(|start| quoted.starts_with(start))
        || is_about_code && quoted.ends_with('/')
}

/// Paths may be abbreviated: `tome-redact/src/token_rules.rs`, `token_rules.rs`, `extract/`.
fn exists(path: &str, tree: &BTreeSet<String>) -> bool {
    let path = path.trim_end_matches('/');
    tree.iter().map(|entry| entry.trim_end_matches('/')).any(|entry| {
        entry.strip_suffix(path).is_some_and(|above| above.is_empty() || above.ends_with('/'))
    })
}

#[test]
fn paths_named_in_the_docs_exist() {
    let tree = tree();
    let (mut checked, mut missing) = (0, Vec::new());
    for page in pages() {
        for path in quoted(&prose(&read(&page))).filter(|path| looks_like_a_path(path, &page)) {
            checked += 1;
            if !exists(path, &tree) {
                missing.push(format!("{page}: `{path}`"));
            }
        }
    }
    assert!(missing.is_empty(), "these do not exist: {missing:#?}");
    assert!(checked > 60, "only {checked} paths were recognized");
    assert!(!exists("tome/src/no_such.rs", &tree) && !exists("ibrary.rs", &tree));
}

/// The rows of the code map: a crate, and the paths that its row names.
fn code_map() -> Vec<(String, Vec<String>)> {
    let page = read("ARCHITECTURE.md");
    let map = page.split("## Code map").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = map.split("\n- `").skip(1).map(|row| row.split_once('`').unwrap());
    let paths = |row: &str| {
        let is_path = |path: &&str| looks_like_a_path(path, "ARCHITECTURE.md");
        quoted(row).filter(is_path).map(str::to_owned).collect()
    };
    rows.map(|(name, row)| (name.to_owned(), paths(row))).collect()
}

/// Whether a path of a row exists: in `src` or the crate's folder, in a folder that the row names, or in
/// each folder directly below such a one (`hook.rs`: a file per coding agent). A path that begins with
/// the name of a crate is one of that crate.
fn is_in_crate(path: &str, name: &str, row: &[String], tree: &BTreeSet<String>) -> bool {
    let is_there = |path: &str| tree.contains(path) || tree.contains(&format!("{path}/"));
    let path = path.trim_end_matches('/');
    if path.starts_with("tome-") {
        return is_there(&format!("crates/{path}"));
    }
    let src = format!("crates/{name}/src");
    let named = row.iter().filter(|folder| folder.ends_with('/'));
    let mut folders = vec![format!("crates/{name}"), src.clone()];
    folders.extend(named.map(|folder| format!("{src}/{}", folder.trim_end_matches('/'))));
    folders.iter().any(|folder| {
        let mut below = tree.iter().filter_map(|entry| entry.strip_suffix(&format!("/{path}")));
        is_there(&format!("{folder}/{path}"))
            || below.any(|above| above.rsplit_once('/').is_some_and(|(above, _)| above == folder))
    })
}

#[test]
fn the_code_map_names_each_path_in_its_crate() {
    let tree = tree();
    let map = code_map();
    let mut missing = Vec::new();
    for (name, row) in &map {
        assert!(tree.contains(&format!("crates/{name}/")), "{name} is no crate");
        let wrong = row.iter().filter(|path| !is_in_crate(path, name, row, &tree));
        missing.extend(wrong.map(|path| format!("{name}: `{path}`")));
    }
    assert!(missing.is_empty(), "not in the crate of their row: {missing:#?}");
    let crates = tree.iter().filter(|path| path.matches('/').count() == 2);
    let crates = crates.filter(|path| path.starts_with("crates/") && path.ends_with('/'));
    assert_eq!(map.len(), crates.count(), "each crate has a row");
    let paths: usize = map.iter().map(|(_, row)| row.len()).sum();
    assert!(paths > 80, "only {paths} paths were recognized");
    assert!(!is_in_crate("token_rules.rs", "tome-text", &[], &tree));
}

#[test]
fn links_in_the_docs_lead_somewhere() {
    let mut checked = 0;
    for page in pages() {
        let folder = repository().join(&page).parent().unwrap().to_path_buf();
        for link in prose(&read(&page)).split("](").skip(1) {
            let target = link.split_once(')').unwrap_or_else(|| panic!("{page}: ]({link}")).0;
            if target.contains("://") {
                continue;
            }
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let linked = if path.is_empty() { repository().join(&page) } else { folder.join(path) };
            assert!(linked.exists(), "{page} links to {target}, which does not exist");
            if !anchor.is_empty() {
                let headings = std::fs::read_to_string(&linked).unwrap();
                let found = headings.lines().filter(|line| line.starts_with('#')).any(|line| {
                    let title = line.trim_start_matches('#').trim().to_lowercase();
                    title.replace(' ', "-").replace(['`', ':', ',', '.'], "") == anchor
                });
                assert!(found, "{page} links to {target}, which is no heading");
            }
            checked += 1;
        }
    }
    assert!(checked > 15, "only {checked} links were recognized");
}

#[test]
fn pages_keep_to_their_length() {
    for (page, lines_max) in PAGES {
        let lines = read(page).lines().count();
        assert!(lines <= lines_max, "{page} has {lines} lines; {lines_max} are its limit");
    }
}

/// Every source file of the crates, with its text.
fn sources() -> Vec<(String, String)> {
    let is_source = |path: &String| path.ends_with(".rs") && path.contains("/src/");
    tree().into_iter().filter(is_source).map(|path| (path.clone(), read(&path))).collect()
}

/// Variables of settings are derived from their names and listed in the reference. These are the
/// others.
#[test]
fn every_environment_variable_is_in_the_reference() {
    let reference = read("docs/configuration.md");
    let mut found = BTreeSet::new();
    for (path, text) in sources().iter().filter(|(path, _)| path.starts_with("crates/tome/src/")) {
        for literal in text.split('"').filter(|literal| literal.starts_with("TOME_")) {
            if literal.chars().all(|c| c.is_ascii_uppercase() || c == '_') && literal.len() > 5 {
                assert!(reference.contains(&format!("`{literal}`")), "{literal}, read in {path}");
                found.insert(literal.to_owned());
            }
        }
    }
    assert!(found.len() >= 5, "{found:?}");
}

/// The glossary may name a code identifier only as long as the code has it.
#[test]
fn identifiers_gone_from_the_code_are_gone_from_the_glossary() {
    let glossary = read("docs/glossary.md");
    let words: Vec<&str> = glossary
        .split("(code: `")
        .skip(1)
        .map(|rest| rest.split_once('`').expect("a closing backtick").0)
        .collect();
    let sources = sources();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_used = |word: &str| {
        sources.iter().any(|(_, text)| text.split(|c| !is_word(c)).any(|found| found == word))
    };
    let gone: Vec<&str> = words.into_iter().filter(|word| !is_used(word)).collect();
    assert!(
        gone.is_empty(),
        "the code has no {gone:?} any more: take them out of docs/glossary.md"
    );
}

/// Whether a name matches a pattern in which `*` and `<…>` are wildcards.
fn fits(name: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*').flat_map(|part| {
        let ends = part.split('<').enumerate();
        ends.map(|(n, part)| if n == 0 { part } else { part.split_once('>').unwrap().1 })
    });
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut is_open = false;
    for part in parts {
        let Some(at) = rest.rfind(part) else { return false };
        rest = &rest[at + part.len()..];
        is_open = part.is_empty();
    }
    rest.is_empty() || is_open
}

/// Whether the end of a path matches a listed name: `triggers/<session>`, `STORE`, `log-<n>`.
fn is_listed(path: &Path, patterns: &BTreeSet<String>) -> bool {
    let names: Vec<&str> = path.iter().map(|name| name.to_str().unwrap()).collect();
    patterns.iter().any(|pattern| {
        let pattern: Vec<&str> = pattern.split('/').collect();
        let end = names.len().checked_sub(pattern.len()).and_then(|from| names.get(from..));
        end.is_some_and(|end| end.iter().zip(&pattern).all(|(name, pattern)| fits(name, pattern)))
    })
}

/// The files below a folder, without those of the storage engine and of tantivy.
fn files_of_home(home: &Path) -> Vec<PathBuf> {
    let mut folders = vec![home.to_path_buf()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let is_foreign =
                ["fjall", "rocksdb", "bm25"].iter().any(|name| entry.file_name() == *name);
            match entry.file_type().unwrap().is_dir() {
                true if is_foreign => {}
                true => folders.push(entry.path()),
                false => files.push(entry.path().strip_prefix(home).unwrap().to_path_buf()),
            }
        }
    }
    files
}

#[test]
fn every_file_in_a_home_is_in_the_list_of_formats() {
    let page = read("docs/formats.md");
    let is_name = |name: &&str| !name.is_empty() && !name.contains([' ', '$', '"']);
    let mut patterns: BTreeSet<String> = quoted(&page).filter(is_name).map(str::to_owned).collect();
    // A pattern that matches any name is useless.
    patterns.retain(|pattern| !fits("anything/at-all", pattern) && !fits("anything", pattern));
    let world = world();
    let app = world.folder("app").display().to_string();
    let at = |event: &str| json!({"session_id": "s1", "cwd": app, "hook_event_name": event, "prompt": "we deploy on Tuesdays"});
    world.tome(&["start"]);
    daemon_up(&world);
    world.hook(&["claude-code"], at("UserPromptSubmit").to_string());
    world.hook(&["claude-code"], at("SessionStart").to_string());
    let lesson = json!({
        "type": "procedural", "title": "Deploys need a freeze check",
        "description": "Look at the calendar before a deploy.",
        "content": "Deploys fail during a freeze. Look at the calendar first. Then start the deploy.",
        "tags": ["success", "deploy"],
    });
    for (tool, arguments) in [
        ("memory_write", json!({"path": "facts/project.md", "content": "- Database: PostgreSQL"})),
        (
            "memory_write",
            json!({"path": "detail/plan.md", "content": "# Plan", "scope": "session"}),
        ),
        ("coder_memory_store", lesson),
        ("recall_memory", json!({"query": "when do we deploy"})),
    ] {
        let arguments = arguments.to_string();
        let ran = World::run(
            world
                .command(&["tool", tool, &arguments, "--agent", "codex", "--session", "s1"])
                .current_dir(&app),
            b"",
        );
        assert_eq!(ran.code, 0, "{tool}: {}", ran.stderr);
    }
    assert_eq!(world.tome(&["stop"]).code, 0);
    let files = files_of_home(&world.home());
    let unlisted: Vec<&PathBuf> = files.iter().filter(|path| !is_listed(path, &patterns)).collect();
    assert!(unlisted.is_empty(), "docs/formats.md does not list {unlisted:#?}");
    for name in
        ["STORE", "project.toml", "history.jsonl", "sessions.jsonl", "MEMORY.md", "daemon.log"]
    {
        assert!(files.iter().any(|path| path.ends_with(name)), "no {name} in {files:#?}");
    }
    assert!(!is_listed(Path::new("run/unheard-of"), &patterns));
}
