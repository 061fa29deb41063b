//! Redaction: every secret and private part of a text replaced by its mark.
//!
//! Nothing outside a cut is changed, text without a cut is returned as it came, and redacting what
//! is redacted changes nothing: cutting goes on until another look finds nothing more.

use std::borrow::Cow;

use regex::{Regex, RegexBuilder};

use super::anchor::Anchors;
use super::cut::{self, Cut, KIND_BYTES_MAX, Mark, Sure, is_kind};
use super::error::CaptureError;
use super::private::Edges;
use super::scan::Scan;

/// A pattern of the user's own, from the config.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnPattern {
    /// What the mark says: 1 to 32 of `a-z`, `0-9` and `-`.
    pub name: String,
    /// A regular expression. A group named `secret` narrows what is cut, else the whole match is.
    pub pattern: String,
}

/// The hook compiles them all before it may write.
const OWN_PATTERNS_MAX: usize = 64;
const PATTERN_BYTES_MAX: usize = 4096;
/// What one compiled pattern may take, and again what it may take while it runs.
const COMPILED_BYTES_MAX: usize = 1024 * 1024;
/// A cut can bare something that was hidden by what stood around it; never so often in a row.
const PASSES_MAX: usize = 16;

/// Cuts secrets and private parts out of texts.
pub struct Redactor {
    anchors: Anchors,
    own: Vec<(String, Regex)>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("own", &self.own).finish_non_exhaustive()
    }
}

impl Redactor {
    /// A redactor for the built-in kinds and the user's own.
    pub fn new(own: &[OwnPattern]) -> Result<Self, CaptureError> {
        if own.len() > OWN_PATTERNS_MAX {
            return Err(CaptureError::TooMany { count: own.len(), count_max: OWN_PATTERNS_MAX });
        }
        Ok(Self {
            anchors: Anchors::new(),
            own: own.iter().map(compile).collect::<Result<_, _>>()?,
        })
    }

    /// The text with its secrets and private parts replaced by marks.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let cuts = self.cuts(text, Edges::Whole);
        if cuts.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(cut::render(text, &cuts)) }
    }

    /// The cuts to make in a text: in order, disjoint.
    pub(super) fn cuts<'s>(&'s self, text: &str, edges: Edges) -> Vec<Cut<'s>> {
        let mut cuts = self.one_pass(text, edges);
        for _ in 1..PASSES_MAX {
            if cuts.is_empty() {
                break;
            }
            let found = self.one_pass(&cut::render(text, &cuts), edges);
            if found.is_empty() {
                break;
            }
            cut::add_rendered(&mut cuts, found);
        }
        cuts
    }

    fn one_pass<'s>(&'s self, text: &str, edges: Edges) -> Vec<Cut<'s>> {
        let mut cuts: Vec<Cut<'s>> = self.anchors.find(text, edges);
        for (name, pattern) in &self.own {
            cuts.extend(own_cuts(name, pattern, text));
        }
        cut::settle(&mut cuts, Scan(text));
        cuts
    }
}

fn own_cuts<'s>(name: &'s str, pattern: &'s Regex, text: &str) -> impl Iterator<Item = Cut<'s>> {
    pattern.captures_iter(text).filter_map(move |found| {
        let secret = found.name("secret").or_else(|| found.get(0))?;
        Some(Cut {
            start: secret.start(),
            end: secret.end(),
            mark: Mark::Secret(name),
            sure: Sure::Said,
        })
    })
}

fn compile(own: &OwnPattern) -> Result<(String, Regex), CaptureError> {
    let name = own.name.clone();
    let fits = (1..=KIND_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_kind);
    if !fits {
        return Err(CaptureError::Name { name: tome_model::truncate_to(&name, 80).to_owned() });
    }
    if own.pattern.len() > PATTERN_BYTES_MAX {
        return Err(CaptureError::TooLong {
            name,
            bytes: own.pattern.len(),
            bytes_max: PATTERN_BYTES_MAX,
        });
    }
    match RegexBuilder::new(&own.pattern)
        .size_limit(COMPILED_BYTES_MAX)
        .dfa_size_limit(COMPILED_BYTES_MAX)
        .build()
    {
        Ok(pattern) => Ok((name, pattern)),
        Err(source) => Err(CaptureError::Pattern { name, source: Box::new(source) }),
    }
}
