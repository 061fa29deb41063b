//! From a question's text to what is looked up: terms, each in its field, each with a weight.

use std::collections::HashSet;

use tantivy::Term;
use tantivy::schema::Field;
use tome_text::{StopClass, TokenKind, is_stop_word, stem, tokenize};

use super::schema::Fields;
use super::snapshot::Snapshot;

/// Of a longer question only so many terms are looked at at all.
const TERMS_SEEN_MAX: usize = 1_024;

/// Of those the rarest are looked for.
const TERMS_MAX: usize = 256;

/// A single character of a script without spaces says less than a pair of them.
const SINGLE_WEIGHT: f32 = 0.5;

/// How much a match counts in each field, against one in the text.
const IDENTIFIER_BOOST: f32 = 1.0;
const PATH_BOOST: f32 = 1.0;
const TITLE_BOOST: f32 = 1.5;
const KEYWORD_BOOST: f32 = 1.0;

/// A shorter word is not looked for among identifiers.
const IDENTIFIER_BYTES_MIN: usize = 3;

/// Where a term is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// In texts, titles and keywords.
    Words,
    /// Among identifiers.
    Identifiers,
    /// Among paths.
    Paths,
}

/// A term that is looked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wanted {
    /// Where.
    pub(crate) place: Place,
    /// The term, as the index has it there.
    pub(crate) term: String,
    /// How much it counts in the question.
    weight: f32,
}

impl Wanted {
    fn new(place: Place, term: String, weight: f32) -> Self {
        Self { place, term, weight }
    }
}

/// A term in a field.
pub(crate) struct Clause {
    pub(crate) term: Term,
    /// What a match is worth: for a text, before its length and the term's frequency in it are considered.
    pub(crate) worth: f32,
    /// Whether it is in the text, where frequency and length count.
    pub(crate) in_text: bool,
}

/// The terms of a question. Words that say nothing are among them only if there is nothing else.
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
        // `email` is looked for where `e-mail` is, `setup` where `set_up` is.
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

/// `JavaScript` is looked for where `javascript` is.
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

/// What is looked up for the terms of a question: those that the index has, or the rarest of them.
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

/// A field that has a term, what a match there counts, and whether it is the text.
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
    // A word that is common in texts is common, also where it is in few titles.
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

/// How much a word says: the more, the fewer entries have it.
pub(crate) fn rarity(term: &str, fields: &Fields, snapshot: &Snapshot) -> tantivy::Result<f32> {
    Ok(look_up(Place::Words, term, fields, snapshot)?.0)
}
