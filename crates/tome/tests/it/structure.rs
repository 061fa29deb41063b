//! The structure of the workspace: which crate may depend on which, what each refuses from outside, which
//! modules use each other, and that a type name means one thing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use self::cycles::cycles;
use self::source::{code_of, first_word, imports, modules_of};

mod cycles;
mod source;

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

/// What a crate depends on, tests and benches aside.
fn dependencies(folder: &Path) -> BTreeSet<String> {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let mut section = "";
    let mut found = BTreeSet::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        } else if section.ends_with("dependencies]") && !section.contains("dev-") {
            let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
            if !name.is_empty() && !name.starts_with('#') {
                found.insert(name.to_owned());
            }
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
        let found = found.iter().filter_map(|name| name.strip_prefix("tome-"));
        let found: BTreeSet<String> = found.map(str::to_owned).collect();
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

/// Crates from outside, and the crates of the workspace that may name them.
const ONLY_IN: [(&[&str], &[&str]); 14] = [
    (&["fjall", "lsm-tree", "rocksdb"], &["tome-ledger"]),
    (&["tantivy", "fearless_simd"], &["tome-finder"]),
    (&["frostem"], &["tome-text"]),
    (&["cap-std"], &["tome-notebook"]),
    (&["ureq"], &["tome-llm"]),
    (&["ratatui"], &["tome-browse"]),
    (&["prost", "tonic-prost", "hyper-util", "tower"], &["tome-proto"]),
    (&["tonic"], &["tome-proto", "tome"]),
    (&["tonic-health", "tonic-reflection", "rmcp", "toml_edit", "jsonc-parser"], &["tome"]),
    (
        &["tokio", "tokio-stream"],
        &["tome-proto", "tome-client", "tome-chat", "tome-bench", "tome", "tome-testkit"],
    ),
    (&["clap"], &["tome-chat", "tome-bench", "tome"]),
    (&["rusqlite"], &["tome-bench", "tome"]),
    (&["console", "unicode-width", "terminal_size"], &["tome-terminal"]),
    (&["anstream"], &["tome-terminal", "tome-chat", "tome"]),
];

#[test]
fn crates_from_outside_are_named_only_where_they_belong() {
    for (name, folder) in members() {
        let found = dependencies(&folder);
        for (outside, users) in ONLY_IN {
            let named: Vec<&&str> =
                outside.iter().filter(|crate_| found.contains(**crate_)).collect();
            assert!(named.is_empty() || users.contains(&name.as_str()), "{name} names {named:?}");
        }
    }
}

/// What a crate must not link, not even through others.
const LINKS_NONE_OF: [(&[&str], &[&str]); 3] = [
    (
        &["tome-model", "tome-text", "tome-redact", "tome-topics"],
        &["rustix", "tempfile", "fjall", "tantivy", "ureq", "rustls", "tokio", "clap"],
    ),
    (
        &[
            "tome-ledger",
            "tome-notebook",
            "tome-finder",
            "tome-home",
            "tome-llm",
            "tome-contents",
            "tome-recall",
            "tome-engine",
            "tome-memory",
        ],
        &["tokio", "tonic", "hyper", "axum", "tower", "prost", "clap", "anstream", "crossterm"],
    ),
    (&["tome-client", "tome-agent"], &["clap", "anstream", "crossterm", "console", "rmcp"]),
];

/// What each package of `Cargo.lock` depends on, features and systems aside.
fn locked_dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let lock = std::fs::read_to_string(crates().join("../Cargo.lock")).unwrap();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in lock.split("[[package]]").skip(1) {
        let quoted: Vec<&str> = package.split('"').skip(1).step_by(2).collect();
        let list = package.split_once("dependencies = [").map_or("", |(_, list)| list);
        let names = list.split('"').skip(1).step_by(2);
        let names = names.map(|name| name.split(' ').next().unwrap_or_default().to_owned());
        found.entry(quoted[0].to_owned()).or_default().extend(names);
    }
    found
}

#[test]
fn a_crate_links_nothing_that_it_refuses() {
    let mut below = locked_dependencies();
    for (name, folder) in members() {
        below.insert(name, dependencies(&folder));
    }
    for (names, refused) in LINKS_NONE_OF {
        for name in names {
            let (mut seen, mut open) = (BTreeMap::new(), vec![(*name).to_owned()]);
            while let Some(user) = open.pop() {
                for next in below.get(&user).into_iter().flatten() {
                    if !seen.contains_key(next) {
                        seen.insert(next.clone(), user.clone());
                        open.push(next.clone());
                    }
                }
            }
            for refused in refused {
                assert_eq!(seen.get(*refused), None, "{name} links {refused}, through this crate");
            }
        }
    }
}

/// Words of the standard library that crates must not use, `*` being all but those of tests; and the files
/// and folders that may.
struct Refusal {
    words: &'static [&'static str],
    crates: &'static [&'static str],
    except: &'static [&'static str],
}

const REFUSALS: [Refusal; 4] = [
    Refusal {
        words: &["std::fs", "std::net", "std::process", "Instant::now"],
        crates: &["tome-model", "tome-text", "tome-redact", "tome-topics"],
        except: &[],
    },
    // The environment.
    Refusal { words: &["std::env", "env::var"], crates: &["*"], except: &["tome/src/"] },
    // The time zone of this machine.
    Refusal {
        words: &["TimeZone::system"],
        crates: &["*"],
        except: &[
            "tome-model/src/time.rs",
            "tome-model/src/zone.rs",
            "tome/src/command/time.rs",
            "tome/src/command/time_labels.rs",
        ],
    },
    // The operating system.
    Refusal {
        words: &["(unix", "(windows", "target_os", "target_family", "std::os::"],
        crates: &["*"],
        except: &[
            "tome-client/src/lib.rs",
            "tome-client/src/process.rs",
            "tome-client/src/socket.rs",
            "tome-finder/src/files.rs",
            "tome-home/src/durable.rs",
            "tome-home/src/folder_path.rs",
            "tome-home/src/regular_file.rs",
            "tome-home/src/repo_notebook.rs",
            "tome-ledger/src/store_file.rs",
            "tome-llm/src/key_file.rs",
            "tome-llm/src/process_group.rs",
            "tome-notebook/src/file_stamp.rs",
            "tome-notebook/src/folder.rs",
            "tome-notebook/src/history/pending_write.rs",
            "tome-notebook/src/state.rs",
            "tome-notebook/src/watch.rs",
            "tome/src/platform.rs",
        ],
    },
];

#[test]
fn what_a_crate_refuses_is_not_in_its_code() {
    let mut unused: BTreeSet<&str> =
        REFUSALS.iter().flat_map(|refusal| refusal.except).copied().collect();
    let mut found = Vec::new();
    for (name, folder) in members().into_iter().filter(|(name, _)| name != "tome-testkit") {
        for module in modules_of(&folder) {
            let file = module.file.strip_prefix(&folder).unwrap().to_str().unwrap();
            let file = format!("{name}/{file}");
            for refusal in REFUSALS {
                let applies = refusal.crates.iter().any(|other| *other == "*" || *other == name);
                let words = refusal.words.iter().filter(|word| module.code.contains(**word));
                for word in words.filter(|_| applies) {
                    match refusal.except.iter().find(|other| file.starts_with(**other)) {
                        Some(exception) => drop(unused.remove(exception)),
                        None => found.push(format!("{file}: {word}")),
                    }
                }
            }
        }
    }
    assert!(found.is_empty(), "refused by ARCHITECTURE.md:\n{}", found.join("\n"));
    assert!(unused.is_empty(), "these exceptions are needed no longer: {unused:?}");
}

/// Names of several types. A name that is defined once has to be taken out here.
const SHARED_TYPE_NAMES: [&str; 4] = [
    // The same thing, for one operating system each.
    "FolderWatch",
    "LocalStream",
    // With the error of a crate or module.
    "Result",
    // To be renamed.
    "Citations",
];

/// The types that a module defines; types within a trait or an implementation aside.
fn types_in(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in code.lines() {
        let start = line.trim_start();
        let item = start.strip_prefix("pub").map_or(start, |rest| {
            rest.strip_prefix('(')
                .map_or(rest, |scope| scope.split_once(')').map_or("", |parts| parts.1))
        });
        let Some((keyword, rest)) = item.trim_start().split_once(' ') else { continue };
        let is_alias = keyword == "type" && start.len() == line.len();
        if is_alias || ["struct", "enum", "trait", "union"].contains(&keyword) {
            found.push(first_word(rest));
        }
    }
    found
}

/// The types of the `.proto` files may have the names of what they carry: they are written `v1::Event`.
#[test]
fn a_type_name_means_one_thing() {
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut imported = Vec::new();
    for (_, folder) in members() {
        for module in modules_of(&folder) {
            let file = module.file.strip_prefix(crates()).unwrap().display().to_string();
            for name in types_in(&module.code) {
                types.entry(name).or_default().push(file.clone());
            }
            for import in imports(&module.code) {
                let is_type = import.name.starts_with(char::is_uppercase);
                if is_type && import.path.iter().nth_back(1).is_some_and(|parent| parent == "v1") {
                    imported.push((import.name, file.clone()));
                }
            }
        }
    }
    assert!(types.len() > 1_000, "only {} types were recognized", types.len());
    imported.retain(|(name, _)| types.contains_key(name));
    types.retain(|_, files| files.len() > 1);
    let listed: BTreeSet<&str> = SHARED_TYPE_NAMES.into_iter().collect();
    let unused: Vec<&&str> = listed.iter().filter(|name| !types.contains_key(**name)).collect();
    assert!(unused.is_empty(), "these names are no longer shared: {unused:?}");
    types.retain(|name, _| !listed.contains(name.as_str()));
    assert!(types.is_empty(), "these names mean several things: {types:#?}");
    assert!(imported.is_empty(), "write `v1::` before wire types: {imported:?}");
}

#[test]
fn modules_do_not_use_each_other_in_a_cycle() {
    let all = members();
    let found = all.iter().flat_map(|(name, folder)| cycles(name, folder)).map(|cycle| {
        format!("{}: {:?}\n  {}", cycle.parent, cycle.modules, cycle.uses.join("\n  "))
    });
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "modules use each other in a cycle:\n{}", found.join("\n"));
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
