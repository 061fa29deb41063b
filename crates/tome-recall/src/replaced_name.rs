//! Names and weekdays that a later statement replaces: "owned by the Heron team now".

use std::collections::BTreeSet;

use tome_text::stem;

use super::clause_subject::is_telling;

/// Words of a name that are compared.
const NAME_WORDS_MAX: usize = 2;
/// Words that two clauses must share besides the name; for a weekday one is enough.
const SHARED_MIN: usize = 2;

/// The telling words of a clause, in order.
#[derive(Debug, Clone, Default)]
pub(super) struct NamingClause {
    words: Vec<NamingWord>,
    /// Whether it says that something is so from now on.
    states_change: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct NamingWord {
    stem: String,
    kind: WordKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordKind {
    Word,
    Name,
    Weekday,
}

impl NamingClause {
    pub(super) fn read(clause: &str) -> Self {
        #[rustfmt::skip]
        const CHANGES: [&str; 14] = [
            " now ", " since today ", " as of today ", " as of now ", " from now on ", " from today ", " moved to ",
            " switched to ", " changed to ", " renamed to ", " these days ", " jetzt ", " seit heute ", " ab heute ",
        ];
        let mut plain = String::from(" ");
        let mut words = Vec::new();
        let tokens = clause.split_whitespace();
        let tokens = tokens.map(|token| token.trim_matches(|c: char| !c.is_alphanumeric()));
        for (at, token) in tokens.filter(|token| !token.is_empty()).enumerate() {
            let lower = token.to_lowercase();
            plain.push_str(&lower);
            plain.push(' ');
            if is_telling(&lower) && !matches!(lower.as_str(), "since" | "jetzt" | "heute") {
                let kind = if is_weekday(&lower) {
                    WordKind::Weekday
                } else if at > 0 && is_name(token) {
                    WordKind::Name
                } else {
                    WordKind::Word
                };
                words.push(NamingWord { stem: stem(&lower).into_owned(), kind });
            }
        }
        let states_change = CHANGES.iter().any(|mark| plain.contains(mark));
        Self { words, states_change }
    }

    /// Whether it says the same as an earlier clause, with another name. `query` has the words that were asked for.
    pub(super) fn replaces_name_of(&self, earlier: &Self, query: &BTreeSet<String>) -> bool {
        if !self.states_change {
            return false;
        }
        let (own, others) = (self.words.as_slice(), earlier.words.as_slice());
        let is_same = |pair: &(&NamingWord, &NamingWord)| pair.0.stem == pair.1.stem;
        let start = own.iter().zip(others).take_while(is_same).count();
        let rest = own.len().min(others.len()) - start;
        let end = own.iter().rev().zip(others.iter().rev()).take(rest).take_while(is_same).count();
        let shared = own.iter().take(start).chain(own.iter().rev().take(end));
        let name = own.get(start..own.len() - end).unwrap_or_default();
        let replaced = others.get(start..others.len() - end).unwrap_or_default();
        let all = |kind| name.iter().chain(replaced).all(|word| word.kind == kind);
        let is_named = all(WordKind::Weekday) || all(WordKind::Name) && start + end >= SHARED_MIN;
        name.len() == replaced.len()
            && (1..=NAME_WORDS_MAX).contains(&name.len())
            && start > 0
            && is_named
            && shared.into_iter().any(|word| query.contains(&word.stem))
    }
}

fn is_weekday(word: &str) -> bool {
    #[rustfmt::skip]
    const WEEKDAYS: [&str; 14] = [
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "montag", "dienstag", "mittwoch",
        "donnerstag", "freitag", "samstag", "sonntag",
    ];
    WEEKDAYS.contains(&word.strip_suffix('s').unwrap_or(word))
}

/// Whether a word is written like a name: `Heron`, `eu-west-1`, `mail_2020`.
fn is_name(token: &str) -> bool {
    token.starts_with(char::is_uppercase)
        || token.contains(|c: char| c.is_ascii_digit() || matches!(c, '-' | '_' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaces(query: &str, earlier: &str, later: &str) -> bool {
        let query = query.split(' ').map(|word| stem(word).into_owned()).collect();
        NamingClause::read(later).replaces_name_of(&NamingClause::read(earlier), &query)
    }

    #[test]
    fn a_later_statement_replaces_a_name() {
        for (query, earlier, later) in [
            (
                "who owns payroll",
                "Payroll is owned by the Osprey team.",
                "Payroll is owned by the Falcon team since today.",
            ),
            ("release day", "Our release day is Monday.", "Our release day is Wednesday now."),
            ("retro", "The retro is on Monday.", "The retro moved to Friday."),
            (
                "mirror region",
                "The mirror region is eu-west-1.",
                "The mirror region is now eu-north-1.",
            ),
        ] {
            assert!(replaces(query, earlier, later), "{earlier} / {later}");
        }
    }

    #[test]
    fn other_statements_replace_no_name() {
        for (query, earlier, later) in [
            // Nothing says that it changed.
            ("retro", "The retro is on Monday.", "The retro is on Friday."),
            // Another thing.
            ("release day", "Our release day is Monday.", "Our planning day is Wednesday now."),
            (
                "who owns payroll",
                "Payroll is owned by the Osprey team.",
                "Shipping is owned by the Falcon team now.",
            ),
            // Not a name.
            ("lexer tests", "The lexer tests are slow.", "The lexer tests are green now."),
            ("release day", "Our release day is Monday.", "Our release day is Monday now."),
        ] {
            assert!(!replaces(query, earlier, later), "{earlier} / {later}");
        }
    }
}
