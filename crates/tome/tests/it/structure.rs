//! The structure of the workspace: which crate may depend on which, and which modules depend on each
//! other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Every crate and the crates of the workspace that it may depend on. `ARCHITECTURE.md` gives the
/// reasons. A crate that is not listed here fails the test, so that a new one is a decision.
const MAY_DEPEND_ON: [(&str, &[&str]); 22] = [
    ("tome-model", &[]),
    ("tome-text", &[]),
    ("tome-redact", &[]),
    ("tome-ledger", &["model"]),
    ("tome-notebook", &["model", "text"]),
    ("tome-finder", &["model", "text"]),
    ("tome-llm", &["model", "text"]),
    ("tome-topics", &["model", "text"]),
    ("tome-proto", &["model"]),
    ("tome-home", &["model", "ledger", "notebook"]),
    ("tome-contents", &["model", "text", "ledger", "llm", "home"]),
    (
        "tome-recall",
        &["model", "text", "redact", "ledger", "notebook", "finder", "llm", "home", "contents"],
    ),
    (
        "tome-engine",
        &[
            "model", "text", "redact", "ledger", "notebook", "finder", "home", "contents",
            "recall", "topics",
        ],
    ),
    ("tome-memory", &["model", "text", "redact", "notebook", "home", "engine"]),
    ("tome-client", &["model", "proto", "home", "engine", "memory"]),
    ("tome-agent", &["model", "text", "llm", "contents", "engine", "memory", "client"]),
    ("tome-terminal", &["model", "text"]),
    ("tome-browse", &["terminal"]),
    (
        "tome-chat",
        &[
            "model", "text", "redact", "llm", "home", "engine", "proto", "client", "agent",
            "terminal",
        ],
    ),
    ("tome-bench", &["model", "text", "home", "contents", "recall", "proto", "client", "terminal"]),
    (
        "tome",
        &[
            "model", "text", "redact", "ledger", "notebook", "finder", "llm", "home", "contents",
            "recall", "topics", "engine", "agent", "proto", "client", "terminal", "browse", "chat",
            "bench",
        ],
    ),
    ("tome-testkit", &["model", "proto"]),
];

fn crates() -> PathBuf {
    std::path::absolute("..").unwrap()
}

/// The crates of the workspace, by name.
fn members() -> BTreeMap<String, PathBuf> {
    let folders = std::fs::read_dir(crates()).unwrap().map(|entry| entry.unwrap().path());
    let members = folders.filter(|folder| folder.join("Cargo.toml").is_file());
    members
        .map(|folder| (folder.file_name().unwrap().to_str().unwrap().to_owned(), folder))
        .collect()
}

/// The crates of the workspace that a crate depends on, tests and benches aside.
fn dependencies(folder: &Path) -> BTreeSet<String> {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let mut section = "";
    let mut found = BTreeSet::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        } else if section.ends_with("dependencies]") && !section.contains("dev-") {
            let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
            found.extend(name.strip_prefix("tome-").map(str::to_owned));
        }
    }
    found
}

#[test]
fn a_crate_depends_only_on_crates_below_it() {
    let members = members();
    let listed: BTreeSet<&str> = MAY_DEPEND_ON.iter().map(|(name, _)| *name).collect();
    let present: BTreeSet<&str> = members.keys().map(String::as_str).collect();
    assert_eq!(present, listed, "crates of the workspace");
    for (name, allowed) in MAY_DEPEND_ON {
        let allowed: BTreeSet<String> = allowed.iter().map(|name| (*name).to_owned()).collect();
        let found = dependencies(&members[name]);
        let extra: Vec<&String> = found.difference(&allowed).collect();
        assert!(extra.is_empty(), "{name} must not depend on {extra:?}");
        let unused: Vec<&String> = allowed.difference(&found).collect();
        assert!(unused.is_empty(), "{name} no longer depends on {unused:?}: remove them here");
    }
}

/// The order in which `MAY_DEPEND_ON` lists the crates is one in which they can be built.
#[test]
fn crate_dependencies_have_no_cycle() {
    let mut below = BTreeSet::new();
    for (name, allowed) in MAY_DEPEND_ON {
        for other in allowed {
            assert!(below.contains(other), "{name} is listed before {other}");
        }
        below.insert(name.strip_prefix("tome-").unwrap_or(name));
    }
}

/// Source text without comments and without the tests at its end.
fn code_of(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// The items of a `use` group, split at its top-level commas.
fn split_group(group: &str) -> Vec<String> {
    let (mut depth, mut items) = (0, vec![String::new()]);
    for c in group.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(String::new());
                continue;
            }
            _ => {}
        }
        items.last_mut().unwrap().push(c);
    }
    items.into_iter().map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect()
}

/// The text of a group that begins behind its opening brace.
fn group_text(rest: &str) -> &str {
    let mut depth = 1;
    for (at, c) in rest.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &rest[..at];
        }
    }
    rest
}

fn first_word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The first segments of all paths in `code` that begin with `prefix`.
fn names_behind(code: &str, prefix: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices(prefix) {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        let rest = &code[at + prefix.len()..];
        match rest.strip_prefix('{') {
            Some(rest) => {
                names.extend(split_group(group_text(rest)).iter().map(|item| first_word(item)));
            }
            None => drop(names.insert(first_word(rest))),
        }
    }
    names
}

/// Names that the root of a crate re-exports, and the modules that they come from.
fn re_exports(root: &str, modules: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for module in modules {
        for (at, _) in root.match_indices(&format!("use {module}::")) {
            let rest = &root[at + "use ".len() + module.len() + "::".len()..];
            let items = match rest.strip_prefix('{') {
                Some(rest) => split_group(group_text(rest)),
                None => vec![rest.split(';').next().unwrap_or_default().to_owned()],
            };
            for item in items {
                let name = item.rsplit(" as ").next().unwrap_or_default();
                let name = name.rsplit("::").next().unwrap_or_default().trim();
                found.insert(name.to_owned(), module.clone());
            }
        }
    }
    found
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
        if path.is_dir() && !is_test {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test {
            found.push(path);
        }
    }
}

/// Which top-level modules of a crate use which others.
fn module_graph(folder: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let src = folder.join("src");
    let root = [src.join("lib.rs"), src.join("main.rs")].into_iter().find(|path| path.is_file());
    let root = root.unwrap_or_else(|| panic!("{} has no root", src.display()));
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    let module_of = |path: &Path| {
        let inside = path.strip_prefix(&src).unwrap();
        let first = inside.components().next().unwrap().as_os_str().to_str().unwrap();
        first.trim_end_matches(".rs").to_owned()
    };
    let modules: BTreeSet<String> =
        files.iter().filter(|path| **path != root).map(|path| module_of(path)).collect();
    let exported = re_exports(&code_of(&root), &modules);
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in files.iter().filter(|path| **path != root) {
        let code = code_of(path);
        let inside = path.strip_prefix(&src).unwrap();
        let is_folder = path.file_name().is_some_and(|name| name == "mod.rs");
        let depth = inside.components().count() - usize::from(is_folder);
        let mut names = names_behind(&code, "crate::");
        names.extend(names_behind(&code, &"super::".repeat(depth)));
        let module = module_of(path);
        for name in names {
            let target = modules.get(&name).or_else(|| exported.get(&name));
            if let Some(target) = target.filter(|target| **target != module) {
                graph.entry(module.clone()).or_default().insert(target.clone());
            }
        }
    }
    graph
}

/// The modules that can be reached from a module, itself included only if it is in a circle.
fn reachable(graph: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from.to_owned()]);
    while let Some(module) = open.pop() {
        for next in graph.get(&module).into_iter().flatten() {
            if seen.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    seen
}

#[test]
fn no_cycle_between_modules() {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, folder) in members() {
        let graph = module_graph(&folder);
        let in_cycle: BTreeSet<String> = graph
            .keys()
            .filter(|module| reachable(&graph, module).contains(*module))
            .cloned()
            .collect();
        if !in_cycle.is_empty() {
            found.insert(name, in_cycle);
        }
    }
    assert!(found.is_empty(), "modules depend on each other in a circle: {found:?}");
}

/// The steps of the built-in summarizer; each uses only those before it.
const SUMMARIZER_STEPS: [&str; 9] =
    ["language", "commands", "files", "git", "calls", "answers", "turns", "facts", "pages"];

#[test]
fn the_steps_of_the_summarizer_use_only_earlier_ones() {
    let extract = members()["tome-contents"].join("src/extract");
    for (index, step) in SUMMARIZER_STEPS.iter().enumerate() {
        let files: Vec<PathBuf> = std::fs::read_dir(extract.join(step))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        assert!(files.len() > 1, "{step} has files");
        for file in files {
            let code = code_of(&file);
            for later in SUMMARIZER_STEPS.iter().skip(index + 1) {
                let path = format!("crate::extract::{later}::");
                assert!(!code.contains(&path), "{} uses {later}", file.display());
            }
        }
    }
}
