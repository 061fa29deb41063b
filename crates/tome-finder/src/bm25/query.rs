//! Turns a query into weighted clauses: one term in one field each.

use std::collections::HashSet;

use tantivy::Term;
use tantivy::schema::Field;
use tome_text::{StopClass, TokenKind, is_stop_word, stem, tokenize};

use super::schema::IndexFields;
use super::snapshot::IndexSnapshot;

/// Maximum number of terms to examine.
const TERMS_EXAMINED_MAX: usize = 1_024;

/// Maximum number of terms to search for: the rarest ones.
const TERMS_MAX: usize = 256;

/// A single character of a script without spaces is less specific than a pair.
const CHARACTER_WEIGHT: f32 = 0.5;

/// Weights of a match per field, relative to the text field.
const IDENTIFIER_BOOST: f32 = 1.0;
const PATH_BOOST: f32 = 1.0;
const TITLE_BOOST: f32 = 1.5;
const KEYWORD_BOOST: f32 = 1.0;

/// Shorter words are not searched for among identifiers.
const IDENTIFIER_BYTES_MIN: usize = 3;

/// The fields in which a term is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TermFields {
    /// Text, titles and keywords.
    Text,
    Identifiers,
    Paths,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SearchTerm {
    pub(crate) fields: TermFields,
    /// As stored in those fields.
    pub(crate) term: String,
    weight: f32,
}

impl SearchTerm {
    fn new(fields: TermFields, term: String, weight: f32) -> Self {
        Self { fields, term, weight }
    }
}

/// A term in one field.
pub(crate) struct TermClause {
    pub(crate) term: Term,
    /// Contribution of a match; in the text field, before frequency and length are applied.
    pub(crate) weight: f32,
    /// Whether the field is the text, where frequency and length count.
    pub(crate) in_text: bool,
}

/// Parses a query. Keeps stop words only if there is nothing else.
pub(crate) fn parse_query(text: &str) -> Vec<SearchTerm> {
    let mut pieces = QueryParser::default();
    tokenize(text, &mut |kind, term| pieces.push_token(kind, term));
    pieces.into_terms()
}

#[derive(Default)]
struct QueryParser {
    words: Vec<String>,
    stop: Vec<String>,
    others: Vec<SearchTerm>,
    seen: HashSet<(TokenKind, String)>,
}

impl QueryParser {
    fn push_token(&mut self, kind: TokenKind, term: &str) {
        if self.seen.len() >= TERMS_EXAMINED_MAX || !self.seen.insert((kind, term.to_owned())) {
            return;
        }
        let term = term.to_owned();
        match kind {
            TokenKind::Word if is_stop_word(&term, StopClass::FUNCTION) => self.stop.push(term),
            TokenKind::Word => self.words.push(term),
            TokenKind::Character => self.push_other(TermFields::Text, term, CHARACTER_WEIGHT),
            TokenKind::Identifier => self.push_other(TermFields::Identifiers, term, 1.0),
            TokenKind::Path => self.push_other(TermFields::Paths, term, 1.0),
        }
    }

    fn push_other(&mut self, fields: TermFields, term: String, weight: f32) {
        self.others.push(SearchTerm::new(fields, term, weight));
    }

    fn into_terms(self) -> Vec<SearchTerm> {
        let words =
            if self.words.is_empty() && self.others.is_empty() { self.stop } else { self.words };
        let mut wanted: Vec<SearchTerm> = words.iter().map(|word| stemmed_term(word)).collect();
        // Finds `e-mail` for `email`, and `set_up` for `setup`.
        let as_identifiers =
            words.into_iter().filter(|word| word.len() >= IDENTIFIER_BYTES_MIN && word.is_ascii());
        let identifiers =
            as_identifiers.map(|term| SearchTerm::new(TermFields::Identifiers, term, 1.0));
        let plain = stem_identifiers(&self.others);
        wanted.extend(identifiers.chain(self.others).chain(plain));
        let mut seen = HashSet::new();
        wanted.retain(|wanted| seen.insert((wanted.fields, wanted.term.clone())));
        wanted
    }
}

/// Stems of purely alphabetic identifiers: finds `javascript` for `JavaScript`.
fn stem_identifiers(others: &[SearchTerm]) -> Vec<SearchTerm> {
    others
        .iter()
        .filter(|other| other.fields == TermFields::Identifiers)
        .map(|other| other.term.as_str())
        .filter(|term| term.bytes().all(|byte| byte.is_ascii_alphabetic()))
        .map(stemmed_term)
        .collect()
}

fn stemmed_term(word: &str) -> SearchTerm {
    SearchTerm::new(TermFields::Text, stem(word).into_owned(), 1.0)
}

/// Builds the clauses for the terms that occur in the index, rarest first, up to the limit.
pub(crate) fn build_clauses(
    wanted: Vec<SearchTerm>,
    fields: &IndexFields,
    snapshot: &IndexSnapshot,
) -> tantivy::Result<Vec<TermClause>> {
    let mut rated = Vec::new();
    for wanted in wanted {
        let (frequency, has) = find_fields(wanted.fields, &wanted.term, fields, snapshot)?;
        if !has.is_empty() {
            rated.push((snapshot.idf(frequency) * wanted.weight, wanted.term, has));
        }
    }
    rated.sort_by(|one, other| other.0.total_cmp(&one.0));
    rated.truncate(TERMS_MAX);
    let clauses = rated.into_iter().flat_map(|(weight, term, has)| {
        has.into_iter().map(move |(field, boost, in_text)| TermClause {
            term: Term::from_field_text(field, &term),
            weight: weight * boost,
            in_text,
        })
    });
    Ok(clauses.collect())
}

/// A field that contains a term, its boost, and whether it is the text field.
type FieldMatch = (Field, f32, bool);

fn find_fields(
    wanted: TermFields,
    term: &str,
    fields: &IndexFields,
    snapshot: &IndexSnapshot,
) -> tantivy::Result<(u64, Vec<FieldMatch>)> {
    let candidates: &[FieldMatch] = match wanted {
        TermFields::Text => &[
            (fields.text, 1.0, true),
            (fields.title, TITLE_BOOST, false),
            (fields.keywords, KEYWORD_BOOST, false),
        ],
        TermFields::Identifiers => &[(fields.identifiers, IDENTIFIER_BOOST, false)],
        TermFields::Paths => &[(fields.paths, PATH_BOOST, false)],
    };
    // A word that is common in texts is common, even if few titles contain it.
    let mut most = 0;
    let mut has = Vec::new();
    for field in candidates {
        let frequency = snapshot.doc_frequency(field.0, term)?;
        if frequency > 0 {
            has.push(*field);
        }
        most = most.max(frequency);
    }
    Ok((most, has))
}

/// Inverse document frequency of a stem.
pub(crate) fn idf(
    term: &str,
    fields: &IndexFields,
    snapshot: &IndexSnapshot,
) -> tantivy::Result<f32> {
    Ok(snapshot.idf(doc_frequency(term, fields, snapshot)?))
}

/// Number of entries with a stem, in the field where it is most frequent.
pub(crate) fn doc_frequency(
    term: &str,
    fields: &IndexFields,
    snapshot: &IndexSnapshot,
) -> tantivy::Result<u64> {
    Ok(find_fields(TermFields::Text, term, fields, snapshot)?.0)
}

/// Sum of the weights of all words, including those that occur nowhere.
pub(crate) fn full_score(
    wanted: &[SearchTerm],
    fields: &IndexFields,
    snapshot: &IndexSnapshot,
) -> tantivy::Result<f32> {
    let mut sum = f32::EPSILON;
    for wanted in wanted.iter().filter(|wanted| wanted.fields == TermFields::Text) {
        sum += wanted.weight * idf(&wanted.term, fields, snapshot)?;
    }
    Ok(sum)
}
