//! Random tool calls and manual edits: after each, the index equals a rebuild, every file is
//! complete, and every version can be restored.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tome_notebook::{NoteType, Notebook, TextPatch};

use crate::fixture::{Fixture, agent, typed};

#[derive(Debug, Clone)]
enum Step {
    Write(usize, String),
    Typed(usize, String, usize),
    Append(usize, String),
    Patch(usize, String),
    Update(usize, String),
    Delete(usize),
    Rename(usize, usize),
    Restore(usize),
    HandWrite(usize, String),
    HandReplace(usize, String),
    HandDelete(usize),
    HandRename(usize, usize),
    HandIndex(String),
    HandFolder,
    Look,
    Reopen,
    /// Continues with the other of two open notebooks, as another process would.
    Swap,
}

const PATHS: [&str; 8] = [
    "a.md",
    "b.md",
    "facts/user.md",
    "facts/b.md",
    "episodes/2026-01.md",
    "plans/x.md",
    "plans/deep/y.md",
    "z z.md",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c \\n#>-]{0,30}",
        Just("---\nname: By hand\ntype: user\ndescription: x\n---\nbody".to_owned()),
        Just("---\nname: broken".to_owned()),
        Just("# T\r\n\r\n> Summary: s\r\n- a: b\r\n".to_owned()),
        "\\PC{0,20}",
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let path = || 0..PATHS.len();
    prop_oneof![
        (path(), text()).prop_map(|(at, text)| Step::Write(at, text)),
        (path(), text(), 0..4_usize).prop_map(|(at, text, kind)| Step::Typed(at, text, kind)),
        (path(), text()).prop_map(|(at, text)| Step::Append(at, text)),
        (path(), text()).prop_map(|(at, text)| Step::Patch(at, text)),
        (path(), text()).prop_map(|(at, text)| Step::Update(at, text)),
        path().prop_map(Step::Delete),
        (path(), path()).prop_map(|(from, to)| Step::Rename(from, to)),
        path().prop_map(Step::Restore),
        (path(), text()).prop_map(|(at, text)| Step::HandWrite(at, text)),
        (path(), text()).prop_map(|(at, text)| Step::HandReplace(at, text)),
        path().prop_map(Step::HandDelete),
        (path(), path()).prop_map(|(from, to)| Step::HandRename(from, to)),
        text().prop_map(Step::HandIndex),
        Just(Step::HandFolder),
        Just(Step::Look),
        Just(Step::Reopen),
        Just(Step::Swap),
    ]
}

/// Performs a step, which a tool may reject. Returns whether a tool was called.
fn take(fixture: &Fixture, notebook: &mut Notebook, step: &Step) -> bool {
    let by = agent();
    let on_disk = |at: &usize| fixture.root().join(PATHS[*at]);
    let first_word = |at: &usize| {
        let text = notebook.read_note(PATHS[*at]).map(|note| note.text).unwrap_or_default();
        text.split_whitespace().next().unwrap_or("none").to_owned()
    };
    match step {
        Step::Write(at, text) => drop(notebook.write_note(&by, PATHS[*at], text, None, None)),
        Step::Typed(at, text, kind) => {
            let typed = typed(text, NoteType::ALL[*kind]);
            drop(notebook.write_note(&by, PATHS[*at], text, Some(&typed), None));
        }
        Step::Append(at, text) => drop(notebook.append_entry(&by, PATHS[*at], text, None, None)),
        Step::Patch(at, text) => {
            let patch = TextPatch { old: first_word(at), new: text.clone() };
            drop(notebook.patch_note(&by, PATHS[*at], &[patch], None));
        }
        Step::Update(at, text) => {
            drop(notebook.replace_first(&by, PATHS[*at], &first_word(at), text, None));
        }
        Step::Delete(at) => drop(notebook.delete_note(&by, PATHS[*at])),
        Step::Rename(from, to) => drop(notebook.rename(&by, PATHS[*from], PATHS[*to])),
        Step::Restore(at) => drop(notebook.restore_version(&by, PATHS[*at], None)),
        Step::Look => drop(notebook.render_index().expect("an index")),
        Step::Swap => return false,
        Step::Reopen => {
            *notebook = fixture.open();
            return false;
        }
        Step::HandWrite(at, text) => {
            fixture.put(PATHS[*at], text.as_bytes());
            return false;
        }
        Step::HandReplace(at, text) => {
            // As editors do that write a temporary file and rename it.
            fixture.put("plans/.swap", text.as_bytes());
            let _ = std::fs::create_dir_all(on_disk(at).parent().expect("a folder"));
            std::fs::rename(fixture.root().join("plans/.swap"), on_disk(at)).expect("renamed");
            return false;
        }
        Step::HandDelete(at) => {
            let _ = std::fs::remove_file(on_disk(at));
            return false;
        }
        Step::HandRename(from, to) => {
            let _ = std::fs::create_dir_all(on_disk(to).parent().expect("a folder"));
            let _ = std::fs::rename(on_disk(from), on_disk(to));
            return false;
        }
        Step::HandIndex(text) => {
            fixture.put("MEMORY.md", text.as_bytes());
            return false;
        }
        Step::HandFolder => {
            let _ = std::fs::remove_dir_all(fixture.root().join("plans"));
            return false;
        }
    }
    true
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    #[test]
    fn the_index_stays_correct_and_nothing_is_lost(steps in proptest::collection::vec(step(), 1..30)) {
        let fixture = Fixture::new();
        let (mut notebook, mut other) = (fixture.open(), fixture.open());
        let mut seen: BTreeMap<String, BTreeSet<Vec<u8>>> = BTreeMap::new();
        for step in &steps {
            if matches!(step, Step::Swap) {
                std::mem::swap(&mut notebook, &mut other);
            }
            // Content that a tool finds on disk must be restorable later.
            let before = fixture.files();
            let called = take(&fixture, &mut notebook, step);
            if !called || !fixture.root().exists() {
                continue;
            }
            notebook.refresh().expect("refreshed");
            let after = fixture.files();
            // Reading creates no history, so nothing is recorded before the first write.
            let kept = fixture.root().join(".history").exists();
            for (path, content) in before.into_iter().chain(after).filter(|(path, _)| kept && path != "MEMORY.md") {
                seen.entry(path).or_default().insert(content);
            }
            prop_assert_eq!(fixture.index(), fixture.rebuilt(), "after {:?}", step);
        }
        // From here on there is a history.
        let written = notebook.write_note(&agent(), "last.md", "x", None, None);
        prop_assert!(written.is_ok());
        prop_assert_eq!(fixture.index(), fixture.rebuilt());
        let again = fixture.open();
        for (path, contents) in &seen {
            let versions = again.read_history(Some(path)).unwrap_or_default();
            let mut kept = BTreeSet::new();
            for version in versions.iter().filter(|version| version.version != "-") {
                let text = again.read_version(path, &version.version);
                prop_assert!(text.is_ok(), "{path} {version:?}: {text:?}");
                kept.extend(text.map(|note| note.text.into_bytes()));
            }
            for content in contents {
                let text = String::from_utf8_lossy(content);
                prop_assert!(kept.contains(content), "{path} lost {text:?} after {steps:?}");
            }
        }
    }
}
