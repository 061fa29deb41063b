//! Tests of the lessons through the module's interface: trees in, trees out.

mod layout;
mod properties;
mod storing;
mod tidying;

use super::*;

fn draft(kind: LessonKind, title: &str, content: &str, tags: &[&str]) -> LessonDraft {
    LessonDraft {
        kind,
        title: title.to_owned(),
        description: format!("What to know about {title}."),
        content: content.to_owned(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        topic: None,
    }
}

/// Stores drafts and applies the changes; panics if they are rejected.
fn put(tree: &mut LessonTree, drafts: &[LessonDraft]) -> Vec<StoredLesson> {
    let (changes, stored) = store_lessons(tree, drafts, "2026-11-15").unwrap();
    apply(tree, changes);
    stored
}

fn apply(tree: &mut LessonTree, changes: Vec<LessonFileChange>) {
    for LessonFileChange { path, text } in changes {
        match text {
            Some(text) => drop(tree.insert(path, text)),
            None => drop(tree.remove(&path)),
        }
    }
}

/// The READMEs that a rebuild gives.
fn right_readmes(tree: &LessonTree) -> BTreeMap<String, String> {
    render_readmes(&tree.iter().map(|(path, text)| (path.clone(), extract_head(text))).collect())
}

fn all_entries(tree: &LessonTree) -> Vec<placement::LocatedEntry> {
    LessonKind::ALL.into_iter().flat_map(|kind| placement::collect_entries(tree, kind)).collect()
}

fn tree_of(files: &[(&str, &str)]) -> LessonTree {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}
