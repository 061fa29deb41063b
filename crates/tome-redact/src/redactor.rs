//! Redaction: replaces every secret and private part of a text with a mark.
//!
//! Nothing outside a cut changes, and redacting twice equals redacting once: the search is repeated
//! until it finds nothing more.

use std::borrow::Cow;
use std::ops::Range;

use regex::{Regex, RegexBuilder};

use super::cut::{
    self, CutCertainty, KIND_BYTES_MAX, RedactionCut, RedactionMark, apply_cuts, is_kind_byte,
};
use super::error::PatternError;
use super::haystack::Haystack;
use super::private::find_private_parts;
use super::scanner::LiteralScanner;
use super::view::TextView;

/// A user-defined pattern from the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomPattern {
    /// The kind in the mark: 1 to 32 of `a-z`, `0-9` and `-`.
    pub name: String,
    /// A regular expression. If it has a group named `secret`, only that group is cut.
    pub pattern: String,
}

/// Limited because each hook compiles all patterns before it may write.
const CUSTOM_PATTERNS_MAX: usize = 64;
const PATTERN_BYTES_MAX: usize = 4096;
/// Memory limit of a compiled pattern, and of its lazy DFA.
const COMPILED_BYTES_MAX: usize = 1024 * 1024;
/// Searches per text. Each one only finds what an earlier cut uncovered.
const PASSES_MAX: usize = 16;

/// Finds and cuts the secrets and private parts of texts.
pub struct Redactor {
    scanner: LiteralScanner,
    patterns: Vec<(String, Regex)>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("patterns", &self.patterns).finish_non_exhaustive()
    }
}

impl Redactor {
    /// Builds a redactor from the built-in rules and user-defined patterns.
    pub fn new(patterns: &[CustomPattern]) -> Result<Self, PatternError> {
        if patterns.len() > CUSTOM_PATTERNS_MAX {
            return Err(PatternError::TooMany {
                count: patterns.len(),
                count_max: CUSTOM_PATTERNS_MAX,
            });
        }
        Ok(Self {
            scanner: LiteralScanner::new(),
            patterns: patterns.iter().map(compile_pattern).collect::<Result<_, _>>()?,
        })
    }

    /// Replaces the secrets and private parts of a text with marks.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let cuts = self.find_cuts(text);
        if cuts.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(apply_cuts(text, &cuts)) }
    }

    /// Finds the cuts to make in a text, ordered and disjoint.
    pub fn find_cuts<'s>(&'s self, text: &str) -> Vec<RedactionCut<'s>> {
        self.repeat_search(text, self.find_cuts_once(text))
    }

    /// Finds the cuts to make in a window of a text, with positions relative to the window. Private
    /// parts are found in the whole text, since a tag may be outside the window.
    pub fn find_window_cuts<'s>(
        &'s self,
        text: &str,
        window: Range<usize>,
    ) -> Vec<RedactionCut<'s>> {
        let part = text.get(window.clone()).unwrap_or_default();
        let mut cuts = self.find_secrets(part, TextView::build(part).as_ref());
        for cut in find_private_cuts(text, TextView::build(text).as_ref()) {
            let (start, end) = (cut.start.max(window.start), cut.end.min(window.end));
            if start < end {
                cuts.push(RedactionCut {
                    start: start - window.start,
                    end: end - window.start,
                    ..cut
                });
            }
        }
        cut::normalize_cuts(&mut cuts, Haystack(part));
        self.repeat_search(part, cuts)
    }

    /// Repeats the search on the redacted text until it finds nothing more: a cut can uncover
    /// something that its surroundings hid.
    fn repeat_search<'s>(
        &'s self,
        text: &str,
        mut cuts: Vec<RedactionCut<'s>>,
    ) -> Vec<RedactionCut<'s>> {
        for _ in 1..PASSES_MAX {
            if cuts.is_empty() {
                break;
            }
            let found = self.find_cuts_once(&apply_cuts(text, &cuts));
            if found.is_empty() {
                break;
            }
            cut::add_rendered_cuts(&mut cuts, found);
        }
        cuts
    }

    fn find_cuts_once<'s>(&'s self, text: &str) -> Vec<RedactionCut<'s>> {
        let view = TextView::build(text);
        let mut cuts = self.find_secrets(text, view.as_ref());
        cuts.extend(find_private_cuts(text, view.as_ref()));
        cut::normalize_cuts(&mut cuts, Haystack(text));
        cuts
    }

    /// Finds secrets in the text and in its view without escape sequences. Both are needed: the
    /// view joins what a sequence separates, and the text contains what is inside a sequence.
    fn find_secrets<'s>(&'s self, text: &str, view: Option<&TextView>) -> Vec<RedactionCut<'s>> {
        let mut cuts = self.find_secrets_in(text);
        if let Some(view) = view {
            let mut found = self.find_secrets_in(&view.text);
            cut::normalize_cuts(&mut found, Haystack(&view.text));
            cuts.extend(found.into_iter().map(|cut| map_to_original(view, cut)));
        }
        cuts
    }

    fn find_secrets_in<'s>(&'s self, text: &str) -> Vec<RedactionCut<'s>> {
        let mut cuts: Vec<RedactionCut<'s>> = self.scanner.find_secrets(text);
        for (name, pattern) in &self.patterns {
            cuts.extend(find_pattern_cuts(name, pattern, text));
        }
        cuts
    }
}

fn find_private_cuts(text: &str, view: Option<&TextView>) -> Vec<RedactionCut<'static>> {
    match view {
        None => find_private_parts(Haystack(text)),
        Some(view) => find_private_parts(Haystack(&view.text))
            .into_iter()
            .map(|cut| map_to_original(view, cut))
            .collect(),
    }
}

fn map_to_original<'r>(view: &TextView, cut: RedactionCut<'r>) -> RedactionCut<'r> {
    let (start, end) = view.to_original(cut.start, cut.end);
    RedactionCut { start, end, ..cut }
}

fn find_pattern_cuts<'s>(
    name: &'s str,
    pattern: &'s Regex,
    text: &str,
) -> impl Iterator<Item = RedactionCut<'s>> {
    pattern.captures_iter(text).filter_map(move |found| {
        let secret = found.name("secret").or_else(|| found.get(0))?;
        Some(RedactionCut {
            start: secret.start(),
            end: secret.end(),
            mark: RedactionMark::Secret(name),
            certainty: CutCertainty::UserMarked,
        })
    })
}

fn compile_pattern(custom: &CustomPattern) -> Result<(String, Regex), PatternError> {
    let name = custom.name.clone();
    let fits = (1..=KIND_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_kind_byte);
    if !fits {
        return Err(PatternError::Name {
            name: name.get(..name.floor_char_boundary(80)).unwrap_or_default().to_owned(),
        });
    }
    if custom.pattern.len() > PATTERN_BYTES_MAX {
        return Err(PatternError::TooLong {
            name,
            bytes: custom.pattern.len(),
            bytes_max: PATTERN_BYTES_MAX,
        });
    }
    match RegexBuilder::new(&custom.pattern)
        .size_limit(COMPILED_BYTES_MAX)
        .dfa_size_limit(COMPILED_BYTES_MAX)
        .build()
    {
        Ok(pattern) => Ok((name, pattern)),
        Err(source) => Err(PatternError::Pattern { name, source: Box::new(source) }),
    }
}
