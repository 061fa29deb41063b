//! Proactive queries: look up an agent's prompt for hints while the agent waits. They search only
//! for the rarest words of the prompt, because common words cost most and matter least.

use std::cmp::Reverse;

use tome_finder::Bm25Index;
use tome_text::{StopClass, is_stop_word, is_unspaced, plain_words};

use super::Recall;
use super::weights::PROACTIVE_WORDS_MAX;
use crate::RecallError;

/// Prompts with fewer words are too vague: "fix it".
const PROMPT_WORDS_MIN: usize = 3;

/// Returns whether a prompt is specific enough to search for hints.
pub fn is_worth_searching(prompt: &str) -> bool {
    // The template of a command asks the same in every session; its tags stand on lines of their own.
    let typed = tome_contents::prompt_text(prompt);
    if typed.lines().any(|line| line.trim_start().starts_with("</")) {
        return false;
    }
    // A few characters of an unspaced script are enough.
    if prompt.chars().filter(|c| is_unspaced(*c)).nth(3).is_some() {
        return true;
    }
    let (mut count, mut telling) = (0, 0);
    // The address of a page finds every mention of its host.
    let said = prompt.split_whitespace().filter(|word| !word.contains("://"));
    for word in said.flat_map(plain_words) {
        count += 1;
        telling += usize::from(!is_stop_word(&word, StopClass::SMALL_TALK));
    }
    count >= PROMPT_WORDS_MIN && telling >= 2
}

/// Returns the rarest words of a text that occur in an index, in text order.
pub(super) fn select_rarest_words(text: &str, index: &Bm25Index) -> String {
    let mut words: Vec<(usize, &str)> = Vec::new();
    for word in text.split_whitespace() {
        if !words.iter().any(|(_, known)| *known == word) {
            words.push((words.len(), word));
        }
    }
    if words.len() <= PROACTIVE_WORDS_MAX {
        return text.to_owned();
    }
    let rarity = |word: &str| -> Option<f32> {
        let terms = tome_text::stemmed_terms(word);
        let known = terms.iter().filter(|term| index.has_term(term).unwrap_or(false));
        known.filter_map(|term| index.idf(term).ok()).reduce(f32::max)
    };
    let mut rated: Vec<(usize, &str, f32)> =
        words.into_iter().filter_map(|(at, word)| Some((at, word, rarity(word)?))).collect();
    rated.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| Reverse(b.0).cmp(&Reverse(a.0))));
    rated.truncate(PROACTIVE_WORDS_MAX);
    rated.sort_by_key(|(at, ..)| *at);
    rated.iter().map(|(_, word, _)| *word).collect::<Vec<_>>().join(" ")
}

impl Recall {
    /// Opens the indexes of a project, so that the first prompt of a session does not wait for that.
    pub fn warm_up(&self, project: &str) -> Result<(), RecallError> {
        let index_sets =
            self.indexer.project_set(project).into_iter().chain([self.indexer.coder_set()]);
        for index_set in index_sets {
            if let Some(path) = index_set.ledger.as_ref() {
                self.indexer.stores.open(path)?;
            }
            index_set.events.open_existing(&self.indexer.embedder);
            index_set.pages.open_existing(&self.indexer.embedder);
        }
        // The embedder pages in its model with the first text.
        self.indexer.embedder.token_ids("warm");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::is_worth_searching;

    #[test]
    fn small_talk_is_not_searched_for() {
        for prompt in [
            "yes",
            "continue",
            "fix it",
            "yes, please go on with the next step",
            "ok do it",
            "pull https://example.org/shop/basket-service",
            "Follow these steps to review the lexer:\n<steps>\n1. read all of it\n</steps>",
        ] {
            assert!(!is_worth_searching(prompt), "{prompt}");
        }
        for prompt in
            ["why is the lexer slow", "\u{4fee}\u{590d}\u{7f13}\u{5b58}", "run cargo clippy now"]
        {
            assert!(is_worth_searching(prompt), "{prompt}");
        }
    }
}
