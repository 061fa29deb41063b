//! Tests of the insights through the module's interface: trees in, trees out.

mod layout;
mod properties;
mod recalling;
mod storing;
mod tidying;

use super::*;

fn draft(kind: InsightKind, title: &str, content: &str, tags: &[&str]) -> InsightDraft {
    InsightDraft {
        kind,
        title: title.to_owned(),
        description: format!("What to know about {title}."),
        content: content.to_owned(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        topic: None,
    }
}

/// Stores drafts and applies the changes; panics if they are rejected.
fn put(tree: &mut Tree, drafts: &[InsightDraft]) -> Vec<Stored> {
    let (changes, stored) = store(tree, drafts, "2026-11-15").unwrap();
    apply(tree, changes);
    stored
}

fn apply(tree: &mut Tree, changes: Vec<Change>) {
    for Change { path, text } in changes {
        match text {
            Some(text) => drop(tree.insert(path, text)),
            None => drop(tree.remove(&path)),
        }
    }
}

/// The READMEs that a rebuild gives.
fn right_readmes(tree: &Tree) -> BTreeMap<String, String> {
    readmes(&tree.iter().map(|(path, text)| (path.clone(), head(text))).collect())
}

fn all_entries(tree: &Tree) -> Vec<place::Known> {
    InsightKind::ALL.into_iter().flat_map(|kind| place::entries(tree, kind)).collect()
}

fn tree_of(files: &[(&str, &str)]) -> Tree {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}
