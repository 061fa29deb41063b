//! The decisions, corrections and rules in the user's own words.

use tome_model::FactKind;
use tome_text::count_words;

use crate::extract::facts::draft_fact::{DraftFact, build_evidence};
use crate::extract::facts::overturned::skip_second_thought;
use crate::extract::language::clause::capitalize;
use crate::extract::language::courtesy::is_polite;
use crate::extract::language::cues::{Cue, find_cue};
use crate::extract::language::prose::prompt_text;
use crate::extract::language::terms::{TermKind, extract_terms};
use crate::extract::language::text::{begins_with_any, plain_text, to_lower};
use crate::extract::turns::reaction::{Reaction, is_negation, skip_confirmation};
use crate::extract::turns::reference::refers_without_naming;
use crate::extract::turns::rule::is_convention;
use crate::extract::turns::turn::Turn;

/// Adds the decisions, corrections and rules in a prompt.
pub(crate) fn add_prompt_facts(
    turn: &Turn<'_>,
    before: Option<&Turn<'_>>,
    (at, prompt): (usize, &str),
    facts: &mut Vec<DraftFact>,
) {
    let is_plan = turn.plan.is_some_and(|plan| plan.event == at);
    if is_plan || turn.prompt_parts.is_pasted() {
        return;
    }
    // Rules in a long text are those of a document that was pasted.
    const SENTENCES_MAX: usize = 30;
    // "That is not an option" means nothing by itself.
    const CORRECTION_TERMS_MIN: usize = 2;
    let is_document = turn.prompt_parts.sentences.len() > SENTENCES_MAX;
    let read = if is_document { 3 } else { 20 };
    let own_text = prompt_text(prompt);
    let corrects = turn.reaction == Reaction::Correction
        && !(is_negation(&own_text) && before.is_some_and(ends_with_question));
    for (index, sentence) in turn.prompt_parts.sentences.iter().take(read).enumerate() {
        if !is_typed(sentence.raw, &own_text) {
            continue;
        }
        let text = &sentence.plain;
        let words = count_words(text);
        let corrects = index == 0 && corrects && (4..=40).contains(&words);
        let kind = if corrects && extract_terms(text).len() >= CORRECTION_TERMS_MIN {
            FactKind::Correction
        } else if is_convention(text) {
            FactKind::Convention
        } else if (5..=40).contains(&words)
            && !text.ends_with('?')
            && !is_unsure(text)
            && is_choice(text, turn.reaction)
            && names_something(text)
        {
            FactKind::Decision
        } else {
            continue;
        };
        let evidence = vec![build_evidence(at, sentence.raw)];
        let is_decision = kind == FactKind::Decision;
        let text = if is_decision { skip_second_thought(skip_confirmation(text)) } else { text };
        facts.extend(DraftFact::new(kind, &capitalize(text), 8, evidence));
    }
}

/// Whether the agent's last answer ends with a question, which a "no" may answer.
fn ends_with_question(turn: &Turn<'_>) -> bool {
    const LAST: usize = 3;
    let last = turn.answer_parts.sentences.iter().rev().take(LAST);
    turn.is_answered && last.into_iter().any(|sentence| sentence.plain.ends_with(['?', '？']))
}

/// A text up to its first heading, rule, quotation or code block.
fn cut_document(text: &str) -> &str {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        let is_rule = bare.len() >= 3 && bare.chars().all(|c| matches!(c, '-' | '*' | '_' | '='));
        let begins = ["# ", "## ", "### ", "#### ", "> ", "```"];
        if is_rule || begins.iter().any(|mark| bare.starts_with(mark)) {
            return text.get(..end).unwrap_or(text);
        }
        end += line.len();
    }
    text
}

/// Whether the user typed a sentence of a prompt, rather than pasting it with a document. Bold type beside
/// a document belongs to it.
fn is_typed(raw: &str, prompt: &str) -> bool {
    let typed = cut_document(prompt);
    typed.contains(raw) && (typed.len() == prompt.len() || !raw.contains("**"))
}

/// Words of a correction.
const REJECTION_WORDS_MAX: usize = 40;

/// The correction in the words of a rejection.
pub(crate) fn read_rejection(at: usize, words: &str) -> Option<DraftFact> {
    let text = capitalize(&plain_text(words));
    // "do we know how it looks?" asks, "can we read it instead?" corrects.
    let corrects = to_lower(&text).contains(" instead");
    let proposes = corrects || is_polite(&text);
    let evidence = vec![build_evidence(at, words)];
    let fact = DraftFact::new(FactKind::Correction, &text, 8, evidence);
    // A long text is mostly quoted from the plan that was rejected.
    let is_short = count_words(&text) <= REJECTION_WORDS_MAX;
    let asks = text.ends_with(['?', '？']) || text.contains("? ");
    fact.filter(|_| is_short && (corrects || proposes && !text.contains("? ") || !asks))
}

/// Whether the user only supposes or wonders, or speaks of how to talk.
pub(crate) fn is_unsure(text: &str) -> bool {
    const STARTS: &[&str] = &[
        "maybe",
        "what about",
        "how about",
        "perhaps",
        "i thought",
        "hold on",
        "wait",
        "since",
        "i wonder",
        "i was going to",
        "等我",
        "等一下",
        "稍等",
    ];
    let lower = to_lower(text);
    begins_with_any(text, STARTS) || lower.contains(" i think") || lower.contains("one at a time")
}

/// Whether a sentence of the user chooses: "let's go with …", or "agreed, …".
fn is_choice(text: &str, reaction: Reaction) -> bool {
    let least = if reaction == Reaction::Confirmation { 3 } else { 4 };
    matches!(find_cue(text), Some((Cue::Decision, sure)) if sure >= least)
}

/// Whether a text names its subject: an identifier, a file, or several content words.
fn names_something(text: &str) -> bool {
    let terms = extract_terms(text);
    terms.iter().any(|term| term.kind != TermKind::Word)
        || terms.len() >= 3 && !refers_without_naming(text)
}
