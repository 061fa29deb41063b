//! Turns a query into weighted clauses: one term in one field each.

use std::collections::HashSet;

use tantivy::Term;
use tantivy::schema::Field;
use tome_text::{StopClass, TokenKind, is_stop_word, stem, tokenize};

use super::schema::Fields;
use super::snapshot::Snapshot;

/// Maximum number of terms to examine.
const TERMS_SEEN_MAX: usize = 1_024;

/// Maximum number of terms to search for: the rarest ones.
const TERMS_MAX: usize = 256;

/// A single character of a script without spaces says less than a pair.
const SINGLE_WEIGHT: f32 = 0.5;

/// Weights of a match per field, relative to the text field.
const IDENTIFIER_BOOST: f32 = 1.0;
const PATH_BOOST: f32 = 1.0;
const TITLE_BOOST: f32 = 1.5;
const KEYWORD_BOOST: f32 = 1.0;

/// Shorter words are not searched for among identifiers.
const IDENTIFIER_BYTES_MIN: usize = 3;

/// The fields in which a term is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// Text, titles and keywords.
    Words,
    Identifiers,
    Paths,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wanted {
    pub(crate) place: Place,
    /// As stored in those fields.
    pub(crate) term: String,
    weight: f32,
}

impl Wanted {
    fn new(place: Place, term: String, weight: f32) -> Self {
        Self { place, term, weight }
    }
}

/// A term in one field.
pub(crate) struct Clause {
    pub(crate) term: Term,
    /// Contribution of a match; in the text field, before frequency and length are applied.
    pub(crate) worth: f32,
    /// Whether the field is the text, where frequency and length count.
    pub(crate) in_text: bool,
}

/// Parses a query. Keeps stop words only if there is nothing else.
pub(crate) fn wanted(text: &str) -> Vec<Wanted> {
    let mut pieces = Pieces::default();
    tokenize(text, &mut |kind, term| pieces.take(kind, term));
    pieces.wanted()
}

#[derive(Default)]
struct Pieces {
    words: Vec<String>,
    stop: Vec<String>,
    others: Vec<Wanted>,
    seen: HashSet<(TokenKind, String)>,
}

impl Pieces {
    fn take(&mut self, kind: TokenKind, term: &str) {
        if self.seen.len() >= TERMS_SEEN_MAX || !self.seen.insert((kind, term.to_owned())) {
            return;
        }
        let term = term.to_owned();
        match kind {
            TokenKind::Word if is_stop_word(&term, StopClass::FUNCTION) => self.stop.push(term),
            TokenKind::Word => self.words.push(term),
            TokenKind::Character => self.other(Place::Words, term, SINGLE_WEIGHT),
            TokenKind::Identifier => self.other(Place::Identifiers, term, 1.0),
            TokenKind::Path => self.other(Place::Paths, term, 1.0),
        }
    }

    fn other(&mut self, place: Place, term: String, weight: f32) {
        self.others.push(Wanted::new(place, term, weight));
    }

    fn wanted(self) -> Vec<Wanted> {
        let words =
            if self.words.is_empty() && self.others.is_empty() { self.stop } else { self.words };
        let mut wanted: Vec<Wanted> = words.iter().map(|word| stemmed(word)).collect();
        // Finds `e-mail` for `email`, and `set_up` for `setup`.
        let as_identifiers =
            words.into_iter().filter(|word| word.len() >= IDENTIFIER_BYTES_MIN && word.is_ascii());
        let identifiers = as_identifiers.map(|term| Wanted::new(Place::Identifiers, term, 1.0));
        let plain = plain_of(&self.others);
        wanted.extend(identifiers.chain(self.others).chain(plain));
        let mut seen = HashSet::new();
        wanted.retain(|wanted| seen.insert((wanted.place, wanted.term.clone())));
        wanted
    }
}

/// Stems of purely alphabetic identifiers: finds `javascript` for `JavaScript`.
fn plain_of(others: &[Wanted]) -> Vec<Wanted> {
    others
        .iter()
        .filter(|other| other.place == Place::Identifiers)
        .map(|other| other.term.as_str())
        .filter(|term| term.bytes().all(|byte| byte.is_ascii_alphabetic()))
        .map(stemmed)
        .collect()
}

fn stemmed(word: &str) -> Wanted {
    Wanted::new(Place::Words, stem(word).into_owned(), 1.0)
}

/// Builds the clauses for the terms that occur in the index, rarest first, up to the limit.
pub(crate) fn clauses(
    wanted: Vec<Wanted>,
    fields: &Fields,
    snapshot: &Snapshot,
) -> tantivy::Result<Vec<Clause>> {
    let mut found = Vec::new();
    for wanted in wanted {
        let (idf, has) = look_up(wanted.place, &wanted.term, fields, snapshot)?;
        if !has.is_empty() {
            found.push((idf * wanted.weight, wanted.term, has));
        }
    }
    found.sort_by(|one, other| other.0.total_cmp(&one.0));
    found.truncate(TERMS_MAX);
    let made = found.into_iter().flat_map(|(worth, term, has)| {
        has.into_iter().map(move |(field, boost, in_text)| Clause {
            term: Term::from_field_text(field, &term),
            worth: worth * boost,
            in_text,
        })
    });
    Ok(made.collect())
}

/// A field that contains a term, its boost, and whether it is the text field.
type Has = (Field, f32, bool);

fn look_up(
    place: Place,
    term: &str,
    fields: &Fields,
    snapshot: &Snapshot,
) -> tantivy::Result<(f32, Vec<Has>)> {
    let places: &[Has] = match place {
        Place::Words => &[
            (fields.text, 1.0, true),
            (fields.title, TITLE_BOOST, false),
            (fields.keywords, KEYWORD_BOOST, false),
        ],
        Place::Identifiers => &[(fields.identifiers, IDENTIFIER_BOOST, false)],
        Place::Paths => &[(fields.paths, PATH_BOOST, false)],
    };
    // A word that is common in texts is common, even if few titles contain it.
    let mut most = 0;
    let mut has = Vec::new();
    for place in places {
        let frequency = snapshot.frequency(place.0, term)?;
        if frequency > 0 {
            has.push(*place);
        }
        most = most.max(frequency);
    }
    Ok((snapshot.rarity(most), has))
}

/// Inverse document frequency of a stem.
pub(crate) fn rarity(term: &str, fields: &Fields, snapshot: &Snapshot) -> tantivy::Result<f32> {
    Ok(look_up(Place::Words, term, fields, snapshot)?.0)
}
