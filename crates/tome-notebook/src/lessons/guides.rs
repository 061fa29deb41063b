//! The initial files of the coder's notebook: two guides and one file per lesson type.

use super::LessonKind;

/// The guides: file name and text.
pub(crate) fn guides() -> [(&'static str, &'static str); 2] {
    [
        ("memory-recall-guide.md", include_str!("guides/memory-recall-guide.md")),
        ("memory-store-guide.md", include_str!("guides/memory-store-guide.md")),
    ]
}

/// The files created by the first store: the guides, and one file per type with a heading.
pub(crate) fn initial_files() -> Vec<(&'static str, &'static str)> {
    let mut seeds = guides().to_vec();
    seeds.extend([
        ("episodic/episodic.md", EPISODIC_HEADING),
        ("procedural/procedural.md", PROCEDURAL_HEADING),
        ("semantic/semantic.md", SEMANTIC_HEADING),
    ]);
    seeds
}

const EPISODIC_HEADING: &str = "# Episodic insights\n\nConcrete events and what they taught.\n";
const PROCEDURAL_HEADING: &str =
    "# Procedural insights\n\nSteps that worked and can be repeated.\n";
const SEMANTIC_HEADING: &str = "# Semantic insights\n\nPrinciples that hold across projects.\n";

/// One-line definition of a type.
pub(super) fn describe_kind(kind: LessonKind) -> &'static str {
    match kind {
        LessonKind::Episodic => "concrete events and what they taught",
        LessonKind::Procedural => "steps that worked and can be repeated",
        LessonKind::Semantic => "principles that hold across projects",
    }
}

/// The initial text of a new file.
pub(super) fn initial_text(path: &str) -> String {
    if let Some((_, seed)) = initial_files().into_iter().find(|(known, _)| *known == path) {
        return seed.to_owned();
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    format!("# {}\n", name.strip_suffix(".md").unwrap_or(name))
}
