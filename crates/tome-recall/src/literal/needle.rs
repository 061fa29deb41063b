//! Matches texts against a query in words or a regular expression.

use regex::{Regex, RegexBuilder};
use tome_model::{ModelError, truncate_to};

use super::limits::{QUERY_BYTES_MAX, REGEX_BYTES_MAX};
use super::look::{Exact, Look, Sighting};
use super::searched::Searched;

#[derive(Debug, Clone)]
pub(crate) struct Needle {
    how: How,
}

#[derive(Debug, Clone)]
enum How {
    /// An empty query, which matches nothing.
    Nothing,
    Words(Box<Searched>),
    Regex(Regex),
}

impl Needle {
    /// Creates a matcher for a plain text query, whatever it looks like.
    pub fn new(query: &str) -> Self {
        Self { how: Searched::new(query).map_or(How::Nothing, |words| How::Words(Box::new(words))) }
    }

    /// Creates a matcher for a case-insensitive regular expression, applied line by line.
    pub fn regex(pattern: &str) -> Result<Self, ModelError> {
        let invalid = |why: &str| ModelError::invalid("query", why.to_owned());
        if pattern.is_empty() {
            return Ok(Self { how: How::Nothing });
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
            let said = error.to_string();
            let last = said.trim().lines().last().unwrap_or_default().trim();
            let last = truncate_to(last.strip_prefix("error: ").unwrap_or(last), 200);
            invalid(&format!("is not a regular expression: {last}; omit the regex option to search for the text itself"))
        })?;
        Ok(Self { how: How::Regex(regex) })
    }

    pub fn is_empty(&self) -> bool {
        matches!(self.how, How::Nothing)
    }

    /// The terms and their parts, lower case.
    #[cfg(test)]
    pub fn terms(&self) -> impl Iterator<Item = &str> {
        let words = match &self.how {
            How::Words(words) => Some(words),
            How::Nothing | How::Regex(_) => None,
        };
        words.into_iter().flat_map(|words| words.terms())
    }

    /// Sets the weight of each term and part. All weights are 1 before.
    pub fn weigh(&mut self, weight: impl Fn(&str) -> f32) {
        if let How::Words(words) = &mut self.how {
            words.weigh(weight);
        }
    }

    /// Returns whether a text contains any term: a cheap check before a full match.
    pub fn touches(&self, text: &str) -> bool {
        match &self.how {
            How::Nothing => false,
            How::Words(words) => words.touches(text),
            How::Regex(regex) => regex.is_match(text),
        }
    }

    /// Returns whether a JSON text, compact and escaped as Tome stores it, may contain any term in
    /// its strings. No false negatives.
    pub fn may_touch_json(&self, json: &str) -> bool {
        match &self.how {
            How::Nothing => false,
            How::Words(words) => !words.is_unescaped() || words.touches(json),
            How::Regex(_) => true,
        }
    }

    /// Returns whether no term needs escaping in JSON, other than `\u`.
    pub(super) fn is_plain(&self) -> bool {
        match &self.how {
            How::Nothing => true,
            How::Words(words) => !words.terms().any(|term| term.contains(['"', '\\', '/'])),
            How::Regex(_) => false,
        }
    }

    pub fn look(&self, text: &str) -> Option<Look> {
        self.look_under("", text)
    }

    /// Matches a text, but skips the details if its score is certain to be below `least`.
    pub fn look_above(&self, text: &str, least: f32) -> Sighting {
        match &self.how {
            How::Words(words) => words.look_above(text, least),
            How::Nothing | How::Regex(_) => {
                self.look(text).map_or(Sighting::Nothing, Sighting::Look)
            }
        }
    }

    /// Matches a text with a title. Matches in the title count slightly less; if only the title
    /// matches, the range is empty at the start.
    pub fn look_under(&self, title: &str, text: &str) -> Option<Look> {
        match &self.how {
            How::Nothing => None,
            How::Words(words) => words.look(title, text),
            How::Regex(regex) => match look_by(regex, text) {
                None if !title.is_empty() => look_by(regex, title).map(Look::by_title),
                found => found,
            },
        }
    }
}

/// Matches line by line, so that `.` and `[^x]` do not cross line ends.
fn look_by(regex: &Regex, text: &str) -> Option<Look> {
    let mut at = 0;
    let bytes = text.len();
    let mut found: Option<Look> = None;
    for raw in text.split_inclusive('\n') {
        let line = raw.trim_end_matches(['\n', '\r']);
        if let Some(hit) = regex.find_iter(line).find(|hit| !hit.is_empty()) {
            let range = at + hit.start()..at + hit.end();
            match &mut found {
                Some(look) => look.times += 1,
                None => {
                    let exact = Exact::at(text, &range);
                    found =
                        Some(Look { exact, coverage: 1.0, closeness: 1.0, times: 1, bytes, range });
                }
            }
        }
        at += raw.len();
    }
    found
}
