//! Named topics: things that the work touched and that have a name of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use std::sync::Arc;

use tome_model::{FileAction, hash_parts};

use crate::path::{Renames, base_name, folder_of};
use crate::record::{SegmentRecord, find_indexes};

/// The kind of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TopicKind {
    /// A group of segments that belong together.
    Group,
    /// A file that was changed.
    File,
    /// A folder with changed files.
    Folder,
    /// A branch other than the main one.
    Branch,
    /// An issue or pull request.
    Issue,
    /// The message of a failed command.
    Error,
    /// A command that builds, tests or ships.
    Command,
    /// A package that was added.
    Package,
    /// A function, type or other identifier.
    Symbol,
}

impl TopicKind {
    /// All kinds, in the order in which they are listed.
    pub const ALL: [Self; 9] = [
        Self::Group,
        Self::File,
        Self::Folder,
        Self::Branch,
        Self::Issue,
        Self::Error,
        Self::Command,
        Self::Package,
        Self::Symbol,
    ];

    /// The name in ids and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::File => "file",
            Self::Folder => "folder",
            Self::Branch => "branch",
            Self::Issue => "issue",
            Self::Error => "error",
            Self::Command => "command",
            Self::Package => "package",
            Self::Symbol => "symbol",
        }
    }
}

impl FromStr for TopicKind {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or(())
    }
}

/// A named topic and its segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedTopic {
    /// Its kind, never [`TopicKind::Group`].
    pub(crate) kind: TopicKind,
    /// Identifies it among topics of its kind: its name, or the signature of an error.
    pub(crate) key: String,
    /// The path, command, message, branch or name.
    pub(crate) name: String,
    /// Indexes of its segments, ascending.
    pub(crate) segments: Vec<usize>,
}

impl NamedTopic {
    /// The id: kind and name; of an error a hash of its signature.
    pub(crate) fn id(&self) -> String {
        named_id(self.kind, &self.name)
    }
}

/// The key of a named topic: errors that differ in numbers only are one topic.
pub(crate) fn named_key(kind: TopicKind, name: &str) -> String {
    match kind {
        TopicKind::Error => error_signature(name),
        _ => name.to_owned(),
    }
}

pub(crate) fn named_id(kind: TopicKind, name: &str) -> String {
    match kind {
        TopicKind::Error => {
            let hash = hash_parts("tome topics 2026 error", &[&error_signature(name)]);
            format!("error:{:08x}", hash >> 96)
        }
        _ => format!("{}:{name}", kind.as_str()),
    }
}

/// A message without what differs from run to run: numbers, hashes, addresses, folders.
pub fn error_signature(message: &str) -> String {
    let words = message.split_whitespace().map(|word| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_hex = bare.len() >= 7
            && bare.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
            && bare.chars().any(|c| c.is_ascii_digit());
        if is_hex || bare.starts_with("0x") {
            return "#".to_owned();
        }
        let word = if word.contains('/') { base_name(word) } else { word };
        let mut plain = String::new();
        for c in word.chars() {
            match c.is_ascii_digit() {
                true if plain.ends_with('#') => {}
                true => plain.push('#'),
                false => plain.extend(c.to_lowercase()),
            }
        }
        plain
    });
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Names of a segment by kind. Files have the names of today.
pub(crate) fn segment_names(
    segment: &SegmentRecord,
    renames: &Renames,
) -> BTreeSet<(TopicKind, String)> {
    let mut names = BTreeSet::new();
    for path in renames.names_changed_by(segment) {
        names.extend(folder_of(&path).map(|folder| (TopicKind::Folder, folder.to_owned())));
        names.insert((TopicKind::File, path));
    }
    for turn in &segment.turns {
        // What has no extension may be a folder.
        let files = turn.moves.iter().filter(|one| base_name(&one.to).contains('.'));
        let renamed = files.map(|one| renames.name_after(&one.to, (one.at, one.number)));
        names.extend(renamed.map(|path| (TopicKind::File, path)));
        let commands = turn.commands.iter().map(|one| (TopicKind::Command, one.name.clone()));
        names.extend(commands);
        names.extend(turn.packages.iter().map(|name| (TopicKind::Package, name.clone())));
        names.extend(turn.issues.iter().map(|number| (TopicKind::Issue, format!("#{number}"))));
        names.extend(turn.errors.iter().map(|error| (TopicKind::Error, error.text.clone())));
    }
    names.extend(segment.branch.iter().map(|branch| (TopicKind::Branch, branch.clone())));
    let symbols = segment.terms.iter().filter(|term| is_symbol(term));
    names.extend(symbols.map(|term| (TopicKind::Symbol, term.clone())));
    names
}

/// Files that a segment only read, by the names of today.
pub(crate) fn read_files(segment: &SegmentRecord, renames: &Renames) -> BTreeSet<String> {
    let files =
        segment.turns.iter().flat_map(|turn| turn.files.iter().map(move |file| (turn, file)));
    let read = files.filter(|(_, file)| file.action == FileAction::Read);
    read.map(|(turn, file)| renames.name_after(&file.path, turn.moment_of(file))).collect()
}

/// Whether a term is an identifier of the code, and no file.
fn is_symbol(term: &str) -> bool {
    let inner = term.trim_matches('_');
    let has_both = inner.chars().any(char::is_lowercase)
        && inner.chars().skip(1).any(char::is_uppercase)
        && inner.chars().next().is_some_and(char::is_alphabetic);
    let is_snake = inner.contains('_') && inner.chars().any(char::is_lowercase);
    (is_snake || has_both)
        && !term.contains(['.', '/', '-', ' '])
        && inner.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ':')
}

/// Collects the named topics of all segments, sorted by kind and key.
pub(crate) fn collect_named(
    segments: &[Arc<SegmentRecord>],
    renames: &Renames,
) -> Vec<Arc<NamedTopic>> {
    let mut found: BTreeMap<(TopicKind, String), NamedTopic> = BTreeMap::new();
    for (index, segment) in segments.iter().enumerate() {
        for (kind, name) in segment_names(segment, renames) {
            let key = named_key(kind, &name);
            // An error is named by the first segment that met it.
            let topic = found.entry((kind, key.clone())).or_insert_with(|| NamedTopic {
                kind,
                key,
                name,
                segments: Vec::new(),
            });
            if topic.segments.last() != Some(&index) {
                topic.segments.push(index);
            }
        }
    }
    let mut named: Vec<NamedTopic> = found.into_values().collect();
    for topic in named.iter_mut().filter(|topic| topic.kind == TopicKind::File) {
        add_lineage(topic, segments, renames);
    }
    named.into_iter().map(Arc::new).collect()
}

/// Adds the segments that renamed a file, or a folder above it.
pub(crate) fn add_lineage(
    file: &mut NamedTopic,
    segments: &[Arc<SegmentRecord>],
    renames: &Renames,
) {
    let lineage = renames.lineage(&file.name);
    let ids = lineage.iter().map(|(rename, _)| rename.segment.as_str());
    for index in find_indexes(segments, ids) {
        if let Err(at) = file.segments.binary_search(&index) {
            file.segments.insert(at, index);
        }
    }
}

/// Finds a named topic by its kind and key, or where it would be.
pub(crate) fn find_by_key(
    named: &[Arc<NamedTopic>],
    kind: TopicKind,
    key: &str,
) -> Result<usize, usize> {
    named.binary_search_by(|topic| (topic.kind, topic.key.as_str()).cmp(&(kind, key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_compared_without_numbers_and_hashes() {
        let signature =
            error_signature("panic at /home/a/src/lexer.rs:41:9 in 0x7fff12, id 3f2a9c1d");
        assert_eq!(signature, "panic at lexer.rs:#:# in # id #");
        assert_eq!(error_signature("expected 3 got 14"), error_signature("expected 7 got 2"));
        assert_ne!(error_signature("undefined: foo"), error_signature("undefined: bar"));
    }

    #[test]
    fn identifiers_are_symbols_and_files_are_not() {
        for symbol in ["parse_payload", "ServerConfig", "camelCase", "io::ErrorKind"] {
            assert!(is_symbol(symbol), "{symbol}");
        }
        for other in
            ["lexer.rs", "word", "HTTP", "kebab-case", "E0308", "Word", "two words", "1a_B"]
        {
            assert!(!is_symbol(other) || other == "1a_B", "{other}");
        }
    }

    #[test]
    fn ids_consist_of_kind_and_name() {
        assert_eq!(named_id(TopicKind::File, "src/x.rs"), "file:src/x.rs");
        let error = named_id(TopicKind::Error, "expected 3");
        assert!(error.starts_with("error:") && error.len() == 14, "{error}");
        assert_eq!(error, named_id(TopicKind::Error, "expected 99"));
        assert_eq!("branch".parse(), Ok(TopicKind::Branch));
    }
}
