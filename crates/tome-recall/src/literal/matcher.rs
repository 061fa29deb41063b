//! Matches texts against a query in words or a regular expression.

use regex::{Regex, RegexBuilder};
use tome_model::{InvalidInput, truncate_to};

use super::limits::{QUERY_BYTES_MAX, REGEX_BYTES_MAX};
use super::text_match::{ExactMatch, MatchResult, TextMatch};
use super::word_query::WordQuery;

#[derive(Debug, Clone)]
pub(crate) struct Matcher {
    kind: MatcherKind,
}

#[derive(Debug, Clone)]
enum MatcherKind {
    /// An empty query, which matches nothing.
    Empty,
    Words(Box<WordQuery>),
    Regex(Regex),
}

impl Matcher {
    /// Creates a matcher for a plain text query, whatever it looks like.
    pub fn new(query: &str) -> Self {
        Self {
            kind: WordQuery::new(query)
                .map_or(MatcherKind::Empty, |words| MatcherKind::Words(Box::new(words))),
        }
    }

    /// Creates a matcher for a case-insensitive regular expression, applied line by line.
    pub fn from_regex(pattern: &str) -> Result<Self, InvalidInput> {
        let invalid = |why: &str| InvalidInput::invalid("query", why.to_owned());
        if pattern.is_empty() {
            return Ok(Self { kind: MatcherKind::Empty });
        }
        if pattern.len() > QUERY_BYTES_MAX {
            return Err(invalid("is too long for a regular expression: use a shorter part of it"));
        }
        let built = RegexBuilder::new(pattern)
            .case_insensitive(true)
            .size_limit(REGEX_BYTES_MAX)
            .dfa_size_limit(REGEX_BYTES_MAX)
            .build();
        let regex = built.map_err(|error| {
            let message = error.to_string();
            let last = message.trim().lines().last().unwrap_or_default().trim();
            let last = truncate_to(last.strip_prefix("error: ").unwrap_or(last), 200);
            invalid(&format!("is not a regular expression: {last}; omit the regex option to search for the text itself"))
        })?;
        Ok(Self { kind: MatcherKind::Regex(regex) })
    }

    pub fn is_empty(&self) -> bool {
        matches!(self.kind, MatcherKind::Empty)
    }

    /// The terms and their parts, lower case.
    #[cfg(test)]
    pub fn terms(&self) -> impl Iterator<Item = &str> {
        let words = match &self.kind {
            MatcherKind::Words(words) => Some(words),
            MatcherKind::Empty | MatcherKind::Regex(_) => None,
        };
        words.into_iter().flat_map(|words| words.terms())
    }

    /// Sets the weight of each term and part. All weights are 1 before.
    pub fn set_weights(&mut self, weight: impl Fn(&str) -> f32) {
        if let MatcherKind::Words(words) = &mut self.kind {
            words.set_weights(weight);
        }
    }

    /// Returns whether a text contains any term: a cheap check before a full match.
    pub fn contains_any(&self, text: &str) -> bool {
        match &self.kind {
            MatcherKind::Empty => false,
            MatcherKind::Words(words) => words.contains_any(text),
            MatcherKind::Regex(regex) => regex.is_match(text),
        }
    }

    /// Returns whether a JSON text, compact and escaped as Tome stores it, may contain any term in
    /// its strings. No false negatives.
    pub fn may_match_json(&self, json: &str) -> bool {
        match &self.kind {
            MatcherKind::Empty => false,
            MatcherKind::Words(words) => !words.is_json_safe() || words.contains_any(json),
            MatcherKind::Regex(_) => true,
        }
    }

    /// Returns whether no term needs escaping in JSON, other than `\u`.
    pub(super) fn is_plain_in_json(&self) -> bool {
        match &self.kind {
            MatcherKind::Empty => true,
            MatcherKind::Words(words) => !words.terms().any(|term| term.contains(['"', '\\', '/'])),
            MatcherKind::Regex(_) => false,
        }
    }

    pub fn match_text(&self, text: &str) -> Option<TextMatch> {
        self.match_with_title("", text)
    }

    /// Matches a text, but skips the details if its score is certain to be below `least`.
    pub fn match_above(&self, text: &str, least: f32) -> MatchResult {
        match &self.kind {
            MatcherKind::Words(words) => words.match_above(text, least),
            MatcherKind::Empty | MatcherKind::Regex(_) => {
                self.match_text(text).map_or(MatchResult::NoMatch, MatchResult::Match)
            }
        }
    }

    /// Matches a text with a title. Matches in the title count slightly less; if only the title
    /// matches, the range is empty at the start.
    pub fn match_with_title(&self, title: &str, text: &str) -> Option<TextMatch> {
        match &self.kind {
            MatcherKind::Empty => None,
            MatcherKind::Words(words) => words.match_text(title, text),
            MatcherKind::Regex(regex) => match match_regex(regex, text) {
                None if !title.is_empty() => {
                    match_regex(regex, title).map(TextMatch::into_title_match)
                }
                found => found,
            },
        }
    }
}

/// Matches line by line, so that `.` and `[^x]` do not cross line ends.
fn match_regex(regex: &Regex, text: &str) -> Option<TextMatch> {
    let mut at = 0;
    let bytes = text.len();
    let mut found: Option<TextMatch> = None;
    for raw in text.split_inclusive('\n') {
        let line = raw.trim_end_matches(['\n', '\r']);
        if let Some(hit) = regex.find_iter(line).find(|hit| !hit.is_empty()) {
            let range = at + hit.start()..at + hit.end();
            match &mut found {
                Some(text_match) => text_match.occurrences += 1,
                None => {
                    let exact = ExactMatch::classify(text, &range);
                    found = Some(TextMatch {
                        exact,
                        coverage: 1.0,
                        closeness: 1.0,
                        occurrences: 1,
                        bytes,
                        range,
                    });
                }
            }
        }
        at += raw.len();
    }
    found
}
