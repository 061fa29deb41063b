//! Finds statements that say something else about the same subject at another time: a newer value, an
//! earlier one, or the opposite. Needs no model: the same words with other numbers, dates or
//! versions, or with and without a negation.

use std::collections::BTreeSet;

use tome_model::Millis;
use tome_text::{StopClass, is_stop_word, stem};

use super::clause_subject::Subject;
use super::replaced_name::NamingClause;
use super::stated_value::StatedValue;

/// Statements of other times that a hit names.
const OTHERS_MAX: usize = 2;
/// Words that two statements must share besides those of the query, or in all.
const SHARED_MIN: usize = 3;
/// Words that a clause with a negation and one without must share to be about the same.
const NEGATED_MIN: usize = 2;
const TEXT_CHARS_MAX: usize = 160;

/// How another statement relates to a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementRelation {
    /// Said later, with another value.
    Newer,
    /// Said before, with another value.
    Earlier,
    /// States the opposite.
    Opposite,
}

impl StatementRelation {
    /// The word in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Newer => "newer",
            Self::Earlier => "earlier",
            Self::Opposite => "contradicted by",
        }
    }
}

/// A statement about the same subject at another time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherStatement {
    /// How it relates to the hit.
    pub relation: StatementRelation,
    /// The passage, on one line.
    pub text: String,
    /// When it was said.
    pub at: Millis,
    /// Number of its event.
    pub number: u64,
}

impl OtherStatement {
    pub(super) fn new(relation: StatementRelation, number: u64, at: Millis, passage: &str) -> Self {
        Self { relation, text: shorten(passage), at, number }
    }
}

/// On one line, cut after a word.
fn shorten(passage: &str) -> String {
    tome_text::truncate_words(&tome_text::collapse_whitespace(passage), TEXT_CHARS_MAX)
}

/// Adds statements to those of a hit, unless it names one of that relation already.
pub(super) fn add_others(known: &mut Vec<OtherStatement>, found: Vec<OtherStatement>) {
    for other in found {
        let is_known =
            known.iter().any(|one| one.relation == other.relation || one.number == other.number);
        if !is_known && known.len() < OTHERS_MAX {
            known.push(other);
        }
    }
}

/// A statement in the form that is compared.
#[derive(Debug)]
pub(super) struct ComparedStatement {
    number: u64,
    at: Millis,
    text: String,
    words: BTreeSet<String>,
    values: Vec<StatedValue>,
    names: Vec<NamingClause>,
    /// The clauses that have a negation, and those that have none.
    negated: Vec<ComparedClause>,
    affirmed: Vec<ComparedClause>,
    /// Whether a person said it.
    is_by_person: bool,
    /// Whether it tells that something was changed.
    reports_change: bool,
    /// Whether it only asks.
    is_question: bool,
    /// Whether it only says what to do.
    is_request: bool,
}

/// A clause in the form that is compared.
#[derive(Debug)]
struct ComparedClause {
    words: BTreeSet<String>,
    subject: Subject,
}

impl ComparedStatement {
    pub(super) fn new(number: u64, at: Millis, passage: &str) -> Self {
        let mut words = BTreeSet::new();
        let (mut values, mut names) = (Vec::new(), Vec::new());
        let (mut negated, mut affirmed) = (Vec::new(), Vec::new());
        let mut is_question = true;
        let lower = passage.to_lowercase();
        for (clause, asks) in split_clauses(passage) {
            let (mut clause_words, mut is_negated) = (BTreeSet::new(), false);
            for raw in clause.split_whitespace() {
                let word = raw.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
                is_negated |= is_negation(&word);
                let is_word = !word.chars().any(|c| c.is_ascii_digit()) && !is_filler(&word);
                if word.chars().count() >= 3 && is_word {
                    clause_words.insert(stem(&word).into_owned());
                }
            }
            if !asks {
                let (subject, own_values) = StatedValue::read_all(clause);
                values.extend(own_values);
                names.push(NamingClause::read(clause));
                let clauses = if is_negated { &mut negated } else { &mut affirmed };
                clauses.push(ComparedClause { words: clause_words.clone(), subject });
                is_question &= clause_words.is_empty();
            }
            words.extend(clause_words);
        }
        Self {
            number,
            at,
            text: shorten(passage),
            words,
            values,
            names,
            negated,
            affirmed,
            is_by_person: true,
            reports_change: CHANGES.iter().any(|verb| lower.contains(verb)),
            is_question,
            is_request: is_request(passage),
        }
    }

    /// A statement of an agent, whose negations are mostly about details.
    pub(super) fn of_agent(number: u64, at: Millis, passage: &str) -> Self {
        Self { is_by_person: false, ..Self::new(number, at, passage) }
    }

    /// Whether it denies in a clause what the other one says, and the other one nowhere denies the same.
    fn denies(&self, other: &Self) -> bool {
        let is_close = |one: &ComparedClause, other: &ComparedClause| {
            let shared = one.words.intersection(&other.words).count();
            shared >= NEGATED_MIN
                && shared * 3 >= one.words.len().min(other.words.len())
                && !one.subject.differs_from(&other.subject)
        };
        self.negated.iter().any(|denied| {
            let is_about = |clause: &ComparedClause| is_close(denied, clause);
            other.affirmed.iter().any(is_about) && !other.negated.iter().any(is_about)
        })
    }

    /// How another statement relates to this one; `None` if it is about something else, or agrees.
    fn compare(&self, other: &Self, query: &BTreeSet<String>) -> Option<StatementRelation> {
        let is_of_requests = self.is_request && other.is_request;
        if self.number == other.number || self.is_question || other.is_question || is_of_requests {
            return None;
        }
        let differs = |one: &StatedValue| {
            other.values.iter().any(|other| one.differs_from(other, query))
                && !other.values.iter().any(|other| other.agrees_with(one))
        };
        let is_newer = other.at > self.at;
        let (before, after) = if is_newer { (self, other) } else { (other, self) };
        let replaces_name = |later: &NamingClause| {
            before.names.iter().any(|earlier| later.replaces_name_of(earlier, query))
        };
        if self.values.iter().any(differs) || after.names.iter().any(replaces_name) {
            // An agent's values are mostly those of one piece of work, or suggestions. A change that it reports
            // replaces a value.
            if !after.is_by_person && !after.reports_change {
                return None;
            }
            return Some(if is_newer {
                StatementRelation::Newer
            } else {
                StatementRelation::Earlier
            });
        }
        let shared: BTreeSet<&String> = self.words.intersection(&other.words).collect();
        let shared_with_query = shared.iter().filter(|word| query.contains(**word)).count();
        let smaller = self.words.len().min(other.words.len()).max(1);
        let is_same_subject = shared_with_query * 3 >= query.len() * 2
            && shared.len() >= SHARED_MIN
            && shared.len() * 2 >= smaller;
        let is_opposite = is_same_subject
            && self.is_by_person
            && other.is_by_person
            && (self.denies(other) || other.denies(self));
        is_opposite.then_some(StatementRelation::Opposite)
    }
}

/// A statement that a later one may take back.
#[derive(Debug)]
pub struct Claim(ComparedStatement);

impl Claim {
    /// Reads a sentence; `None` if it has too few telling words to be recognized again.
    pub fn read(sentence: &str) -> Option<Self> {
        let statement = ComparedStatement::new(0, Millis(0), sentence);
        (statement.words.len() >= SHARED_MIN && !sentence.contains('?')).then_some(Self(statement))
    }

    /// Whether a later sentence on the same subject calls this one wrong, or states the opposite.
    pub fn is_retracted_by(&self, later: &str) -> bool {
        let lower = later.to_lowercase();
        let other = ComparedStatement::new(1, Millis(1), &lower);
        if other.is_question {
            return false;
        }
        let shared: BTreeSet<&String> = self.0.words.intersection(&other.words).collect();
        let smaller = self.0.words.len().min(other.words.len());
        let says_wrong = split_clauses(&lower)
            .any(|(clause, asks)| !asks && RETRACTIONS.iter().any(|it| clause.contains(it)));
        shared.len() >= SHARED_MIN
            && shared.len() * 2 >= smaller
            && (says_wrong || self.0.denies(&other) || other.denies(&self.0))
    }
}

/// Phrases with which an agent reports a change.
const CHANGES: [&str; 14] = [
    "i set ",
    "i've set ",
    "is now ",
    "are now ",
    "now uses ",
    "changed ",
    "updated ",
    "raised ",
    "lowered ",
    "increased to ",
    "reduced to ",
    "switched ",
    "moved to ",
    "bumped ",
];

/// Phrases that take back what was said before.
const RETRACTIONS: [&str; 16] = [
    "i was wrong",
    "my mistake",
    "that is not true",
    "was incorrect",
    "was wrong",
    "were wrong",
    "is wrong",
    "not the cause",
    "not the problem",
    "turned out",
    "turns out",
    "ruled out",
    "was mistaken",
    "false alarm",
    "no longer true",
    "i misread",
];

/// The words of a query as [`ComparedStatement`] reads them, for `find_others`. Unlike
/// [`tome_text::content_stems`] they leave out values and small talk.
pub(super) fn query_words(query: &str) -> BTreeSet<String> {
    ComparedStatement::new(0, Millis(0), query).words
}

/// Finds the statements that differ from one of them: the newest one, and one that states the
/// opposite.
pub(super) fn find_others(
    statement: &ComparedStatement,
    all: &[&ComparedStatement],
    query: &BTreeSet<String>,
) -> Vec<OtherStatement> {
    if query.len() < 2 {
        return Vec::new();
    }
    let mut related: Vec<(StatementRelation, &ComparedStatement)> =
        all.iter().filter_map(|other| Some((statement.compare(other, query)?, *other))).collect();
    // The newest first: it is what holds now.
    related.sort_by_key(|(_, other)| std::cmp::Reverse(other.at));
    let mut chosen: Vec<OtherStatement> = Vec::new();
    for (relation, other) in related {
        let is_listed = chosen.iter().any(|one| one.relation == relation);
        if !is_listed && chosen.len() < OTHERS_MAX {
            let ComparedStatement { at, number, text, .. } = other;
            chosen.push(OtherStatement { relation, text: text.clone(), at: *at, number: *number });
        }
    }
    chosen
}

/// Splits a text where a sentence or a clause ends, so that a negation concerns its own words only. Says of each
/// whether its sentence is a question.
fn split_clauses(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let ends = |c: char| matches!(c, '!' | '?' | ';' | '\n' | '。' | '！' | '？' | '；');
    text.split_inclusive(ends).flat_map(move |part| {
        let asks = part.ends_with(['?', '？']);
        let sentences = part.trim_end_matches(ends).split(". ").flat_map(|one| one.split(", "));
        // Of "We use tabs. Or do we?", only the last sentence asks.
        let last = sentences.clone().count().saturating_sub(1);
        sentences
            .enumerate()
            .map(move |(at, clause)| (clause, asks && (at == last || begins_question(clause))))
    })
}

/// Whether every sentence of a text is an order or a question.
fn is_request(text: &str) -> bool {
    const LEAD_INS: [&str; 6] = ["please ", "now ", "then ", "also ", "and ", "next, "];
    const WISHES: [&str; 4] = ["let's ", "i want you to ", "i'd like you to ", "go ahead"];
    let asks_for_work = |sentence: &str| {
        let lower = sentence.trim().to_lowercase();
        let bare = LEAD_INS
            .iter()
            .fold(lower.as_str(), |rest, lead_in| rest.strip_prefix(lead_in).unwrap_or(rest));
        lower.ends_with(['?', '？'])
            || tome_contents::is_order(bare)
            || WISHES.iter().any(|wish| bare.starts_with(wish))
    };
    text.lines().flat_map(tome_text::split_sentences).all(asks_for_work)
}

fn begins_question(clause: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: [&str; 17] = [
        "why", "how", "what", "where", "when", "which", "who", "is", "are", "was", "do", "does", "did", "has", "can",
        "could", "should",
    ];
    let first = clause.split_whitespace().next().unwrap_or_default().to_lowercase();
    WORDS.contains(&first.as_str())
}

/// Whether a word carries no information about the subject.
fn is_filler(word: &str) -> bool {
    #[rustfmt::skip]
    const FILLER_WORDS: [&str; 16] = [
        "help", "kinda", "curious", "wondering", "worried", "stressed", "want", "need", "like", "think",
        "know", "trying", "sure", "still", "now", "currently",
    ];
    is_stop_word(word, StopClass::FUNCTION)
        || is_stop_word(word, StopClass::SMALL_TALK)
        || FILLER_WORDS.contains(&word)
}

fn is_negation(word: &str) -> bool {
    matches!(
        word,
        "never"
            | "not"
            | "no"
            | "none"
            | "without"
            | "cannot"
            | "nothing"
            | "neither"
            | "haven"
            | "没有"
            | "不"
    ) || word.ends_with("n't")
        || word.ends_with("n’t")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relation(query: &str, own: (&str, u64), other: (&str, u64)) -> Option<StatementRelation> {
        let own = ComparedStatement::new(1, Millis(own.1), own.0);
        let other = ComparedStatement::new(2, Millis(other.1), other.0);
        own.compare(&other, &query_words(query))
    }

    #[test]
    fn a_different_value_is_newer_or_earlier() {
        let first = ("the deploy timeout of the search service is 30 seconds", 1);
        let second = ("we raised the deploy timeout of the search service to 90 seconds", 2);
        let query = "deploy timeout search service";
        assert_eq!(relation(query, first, second), Some(StatementRelation::Newer));
        assert_eq!(relation(query, second, first), Some(StatementRelation::Earlier));
        assert_eq!(relation(query, first, (first.0, 2)), None, "the same value");
    }

    #[test]
    fn requests_are_not_related() {
        let first = ("Add a smoke test for gadget 4", 1);
        let second = ("Please add a smoke test for gadget 55", 2);
        assert_eq!(relation("smoke test gadget", first, second), None);
        let stated = ("The mirror job starts at 2 am.", 1);
        let moved = ("Move the mirror job to 4 am.", 2);
        assert_eq!(relation("mirror job", stated, moved), Some(StatementRelation::Newer));
    }

    #[test]
    fn a_name_that_changed_is_newer() {
        let first = ("Payroll is owned by the Osprey team.", 1);
        let second = ("Payroll is owned by the Falcon team since today.", 2);
        assert_eq!(relation("who owns payroll", first, second), Some(StatementRelation::Newer));
        assert_eq!(relation("who owns payroll", second, first), Some(StatementRelation::Earlier));
    }

    #[test]
    fn a_suggestion_of_the_agent_changes_nothing_that_a_person_said() {
        let query = query_words("weekly word target");
        let said = ComparedStatement::new(1, Millis(1), "my weekly word target is 1,800");
        let agent = |text| ComparedStatement::of_agent(2, Millis(2), text);
        let suggested = agent("a weekly word target of 1,500 is realistic");
        assert_eq!(said.compare(&suggested, &query), None);
        let done = agent("I set the weekly word target to 1,500");
        assert_eq!(said.compare(&done, &query), Some(StatementRelation::Newer));
    }

    #[test]
    fn a_negated_statement_is_the_opposite() {
        let has = ("I obtained the key of the weather service on March 10", 1);
        let lacks = ("I have never obtained a key of the weather service", 2);
        let query = "did I obtain the key of the weather service";
        assert_eq!(relation(query, has, lacks), Some(StatementRelation::Opposite));
        // A negation about something else.
        let other = ("I obtained the key of the weather service. It does not rain here.", 2);
        assert_eq!(relation(query, has, other), None);
        // Its words are there, but not in one clause.
        let other =
            ("I obtained the key on March 10. Its rain radar does not show the weather yet.", 2);
        assert_eq!(relation(query, has, other), None);
        // The same of another thing.
        let first = ("The harbor cluster does not have disk nodes.", 1);
        let second = ("The island cluster has disk nodes.", 2);
        assert_eq!(relation("disk nodes cluster", first, second), None);
        // Both deny it.
        assert_eq!(relation(query, lacks, ("I still have no key of the weather service", 3)), None);
    }

    #[test]
    fn a_later_sentence_takes_back_a_claim() {
        let claim = Claim::read("The flaky lexer test fails because of the shared cache folder.")
            .expect("a claim");
        for later in [
            "The shared cache folder is not why the lexer test fails.",
            "Turns out the lexer test fails on a clock, the shared cache folder was a coincidence.",
            "The shared cache folder is not why the lexer test fails, so what is it?",
        ] {
            assert!(claim.is_retracted_by(later), "{later}");
        }
        for later in [
            "The lexer test fails because of the shared cache folder, as expected.",
            "Is the shared cache folder not why the lexer test fails?",
            "The parser does not read comments.",
            "Why does the lexer test not fail, with the shared cache folder?",
        ] {
            assert!(!claim.is_retracted_by(later), "{later}");
        }
        assert!(Claim::read("ok then").is_none());
    }

    #[test]
    fn a_statement_on_another_subject_is_unrelated() {
        let one = ("the deploy timeout is 30 seconds", 1);
        let other = ("the lexer test takes 90 seconds on the slow machine", 2);
        assert_eq!(relation("deploy timeout seconds", one, other), None);
    }
}
