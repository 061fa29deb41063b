//! Drops results that the agent itself takes back in a later answer of the segment.

use tome_model::{Event, FactKind};

use crate::extract::facts::draft_fact::DraftFact;
use crate::extract::language::text::to_lower;
use crate::extract::turns::turn::Turn;

/// Sentences after an admission that say what it is about.
const EXPLAINED_BY: usize = 3;
/// A shorter name is in many statements.
const NAME_CHARS_MIN: usize = 3;

/// Drops the results that share a name in code with a later admission of a mistake.
pub(crate) fn drop_corrected(turns: &[Turn<'_>], events: &[Event], facts: &mut Vec<DraftFact>) {
    for turn in turns {
        let Some((at, _)) = turn.final_answer(events) else { continue };
        let sentences = &turn.answer_parts.sentences;
        let Some(first) = sentences.iter().position(|one| admits_mistake(&one.plain)) else {
            continue;
        };
        let about = sentences.iter().skip(first).take(EXPLAINED_BY);
        let names: Vec<&str> =
            about.flat_map(|one| code_names(&one.plain).chain(quotations(&one.plain))).collect();
        let is_corrected = |fact: &DraftFact| {
            fact.kind == FactKind::Outcome
                && turns.iter().any(|own| {
                    own.events.contains(&fact.event) && own.events.end <= turn.events.start
                })
                && (code_names(&fact.text).any(|name| names.contains(&name))
                    || names
                        .iter()
                        .any(|name| name.contains([' ', '-']) && fact.text.contains(name)))
        };
        if !names.is_empty() && at >= turn.events.start {
            facts.retain(|fact| !is_corrected(fact));
        }
    }
}

/// Whether the agent admits that it said something wrong.
pub(crate) fn admits_mistake(text: &str) -> bool {
    #[rustfmt::skip]
    const MARKS: [&str; 16] = [
        "i owe you a correction", "i need to correct", "i have to correct", "i must correct", "correct myself",
        "i was wrong", "i was mistaken", "i told you wrong", "my earlier claim", "my earlier diagnosis", "my earlier answer",
        "what i said earlier", "flips the answer", "flips my answer", "reverses my", "i misread",
    ];
    let lower = to_lower(text);
    MARKS.iter().any(|mark| lower.contains(mark))
}

/// The names that a text writes in backquotes.
fn code_names(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).filter(|name| name.len() >= NAME_CHARS_MIN)
}

/// The words that a text quotes: the earlier statement.
fn quotations(text: &str) -> impl Iterator<Item = &str> {
    const WORDS_MIN: usize = 2;
    let quoted = text.split(['"', '“', '”']).skip(1).step_by(2);
    quoted.filter(|quoted| tome_text::count_words(quoted) >= WORDS_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_admission_is_told_by_its_words() {
        assert!(admits_mistake("I owe you a correction on the `cache` flag."));
        assert!(admits_mistake("My earlier diagnosis was wrong."));
        assert!(!admits_mistake("The old answer of the server was wrong."));
        assert_eq!(
            code_names("Set `cache` to `x` in `app.toml`").collect::<Vec<_>>(),
            ["cache", "app.toml"]
        );
    }
}
