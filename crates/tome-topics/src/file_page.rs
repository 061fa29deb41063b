//! Finds the file that a person means, and its page.

use std::collections::BTreeSet;

use crate::builder::TopicMap;
use crate::named::{NamedTopic, TopicKind, read_files};
use crate::page::TopicPage;
use crate::path::base_name;

/// Paths that are offered when none matches.
const ALIKE_MAX: usize = 6;

/// The result of looking for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileLookup {
    /// Its page.
    Found(Box<TopicPage>),
    /// A folder, and the changed files in it.
    Folder {
        /// The id of its topic, if files directly in it were changed.
        id: Option<String>,
        /// Some of the changed files.
        files: Vec<String>,
        /// Number of all of them.
        files_total: u64,
    },
    /// It was read in this many segments; no edit of it is recorded.
    OnlyRead(u64),
    /// Several files have this name.
    Several(Vec<String>),
    /// No file of this name was touched; similar ones.
    Unknown(Vec<String>),
}

impl TopicMap {
    /// The page of a file, given a path relative to the repository, its end, or a former name.
    pub fn file_page(&self, path: &str) -> FileLookup {
        let path = path.trim().trim_start_matches("./");
        // Outside of the project.
        if path.starts_with(['/', '~']) || path.split('/').any(|part| part == "..") {
            return FileLookup::Unknown(Vec::new());
        }
        if let Some(page) = self.page(&format!("file:{path}")) {
            let forwarded_from = page.forwarded_from.map(|_| path.to_owned());
            return FileLookup::Found(Box::new(TopicPage { forwarded_from, ..page }));
        }
        let files = || self.named_of(TopicKind::File).iter();
        let ends = |name: &str| name.strip_suffix(path).is_some_and(|rest| rest.ends_with('/'));
        let matching: Vec<&str> =
            files().map(|topic| topic.name.as_str()).filter(|name| ends(name)).collect();
        match matching.as_slice() {
            [only] => {
                return self
                    .page(&format!("file:{only}"))
                    .map_or(FileLookup::Unknown(Vec::new()), |page| {
                        FileLookup::Found(Box::new(page))
                    });
            }
            [] => {}
            [..] => {
                let some = matching.iter().take(ALIKE_MAX).map(|name| (*name).to_owned());
                return FileLookup::Several(some.collect());
            }
        }
        if let Some(folder) = self.find_folder(path) {
            return folder;
        }
        let reads = self.segments.iter().filter(|segment| {
            read_files(segment, &self.renames).iter().any(|name| name == path || ends(name))
        });
        match reads.count() as u64 {
            0 => FileLookup::Unknown(self.alike_files(path)),
            reads => FileLookup::OnlyRead(reads),
        }
    }

    /// A folder with changed files; `.` is the root of the project.
    fn find_folder(&self, path: &str) -> Option<FileLookup> {
        let path = path.trim_end_matches('/');
        let path = if path == "." { "" } else { path.strip_suffix("/.").unwrap_or(path) };
        let is_inside = |name: &str| {
            path.is_empty() || name.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
        };
        let files = self.named_of(TopicKind::File).iter().map(|topic| topic.name.as_str());
        let files: Vec<&str> = files.filter(|name| is_inside(name)).collect();
        let id = self.find_named(&format!("folder:{path}")).map(NamedTopic::id);
        (!files.is_empty()).then(|| FileLookup::Folder {
            id,
            files_total: files.len() as u64,
            files: files.into_iter().take(ALIKE_MAX).map(str::to_owned).collect(),
        })
    }

    /// Changed files whose names share a part with the name.
    fn alike_files(&self, path: &str) -> Vec<String> {
        let parts = |name: &str| -> BTreeSet<String> {
            let parts = base_name(name).split(|c: char| !c.is_alphanumeric());
            parts.filter(|part| part.chars().count() > 3).map(str::to_lowercase).collect()
        };
        let wanted = parts(path);
        let files = self.named_of(TopicKind::File).iter();
        let alike = files.filter(|topic| !parts(&topic.name).is_disjoint(&wanted));
        alike.take(ALIKE_MAX).map(|topic| topic.name.clone()).collect()
    }
}
