//! Chooses keywords: the most frequent terms of a segment, identifiers and file names before plain
//! words.
//!
//! Uses ordered maps only, so that the same text always gives the same keywords.

use std::collections::BTreeMap;

use tome_text::{Script, is_han_or_kana, stem};

use crate::extract::language::terms::{TermKind, cjk_runs, extract_terms, is_cjk_term};

pub(crate) const KEYWORDS_MAX: usize = 7;
/// Distinct terms per segment that are counted; requests are counted first.
const TERMS_MAX: usize = 4_000;
/// Occurrences of a term per text that count: a loop in a log is not the subject of a session.
const PER_TEXT_MAX: u32 = 3;

#[derive(Debug, Clone)]
struct KeywordCount {
    shown: String,
    sort: TermKind,
    score: u32,
    first: usize,
    texts: u32,
}

/// Terms with their scores.
#[derive(Debug, Default)]
pub(crate) struct KeywordCounter {
    counts: BTreeMap<String, KeywordCount>,
    cjk: BTreeMap<String, u32>,
    seen: usize,
}

impl KeywordCounter {
    /// Counts the terms of a text with the given weight.
    pub(crate) fn count_text(&mut self, text: &str, worth: u32) {
        let mut here: BTreeMap<String, u32> = BTreeMap::new();
        for term in extract_terms(text) {
            let times = here.entry(term.text.to_lowercase()).or_insert(0);
            *times += 1;
            if *times <= PER_TEXT_MAX {
                self.add_term(term.text, term.kind, worth, *times == 1);
            }
        }
        if text.chars().any(is_han_or_kana) {
            self.count_cjk(text, worth);
        }
    }

    /// Adds a term of a known kind; `is_first` marks its first occurrence in a text.
    pub(crate) fn add_term(&mut self, shown: &str, sort: TermKind, worth: u32, is_first: bool) {
        let key = shown.to_lowercase();
        if !self.counts.contains_key(&key) && self.counts.len() >= TERMS_MAX {
            return;
        }
        self.seen += 1;
        let first = self.seen;
        let count = self.counts.entry(key).or_insert_with(|| KeywordCount {
            shown: shown.to_owned(),
            sort,
            score: 0,
            first,
            texts: 0,
        });
        count.score += worth * kind_weight(count.sort);
        count.texts += u32::from(is_first);
    }

    /// Runs of katakana are words; in runs of Han every 2 to 4 characters may be one.
    fn count_cjk(&mut self, text: &str, worth: u32) {
        for run in cjk_runs(text).into_iter().take(200) {
            let chars: Vec<char> = run.chars().take(60).collect();
            let kana = chars.first().is_some_and(|c| Script::from_char(*c) == Script::Katakana);
            if kana || chars.len() <= 2 {
                let whole: String = chars.iter().collect();
                self.add_cjk(whole, worth);
                continue;
            }
            for size in 2..=4 {
                for part in chars.windows(size) {
                    self.add_cjk(part.iter().collect(), worth);
                }
            }
        }
    }

    fn add_cjk(&mut self, term: String, worth: u32) {
        if is_cjk_term(&term) && (self.cjk.len() < TERMS_MAX || self.cjk.contains_key(&term)) {
            *self.cjk.entry(term).or_insert(0) += worth;
        }
    }

    /// Returns the keywords, best first.
    pub(crate) fn into_keywords(mut self) -> Vec<String> {
        self.merge_cjk();
        let mut ranked: Vec<KeywordCount> = self.counts.into_values().collect();
        ranked.sort_by(|a, b| b.score.cmp(&a.score).then(a.first.cmp(&b.first)));
        let mut kept: Vec<KeywordCount> = Vec::new();
        for keyword in ranked {
            let tiny = keyword.shown.chars().count() < 4
                && keyword.texts < 3
                && keyword.shown.chars().any(char::is_lowercase);
            let lonely =
                keyword.sort == TermKind::Word && (tiny || keyword.texts < 2 && kept.len() >= 3);
            if kept.len() < KEYWORDS_MAX
                && !lonely
                && !kept.iter().any(|other| covers_keyword(&other.shown, &keyword.shown))
            {
                kept.push(keyword);
            }
        }
        // Next to names, a few plain words are enough.
        let names = kept.iter().filter(|keyword| keyword.sort != TermKind::Word).count();
        let mut words_left =
            KEYWORDS_MAX.saturating_sub(names).min(if names >= 3 { 2 } else { KEYWORDS_MAX });
        kept.retain(|keyword| {
            let word = keyword.sort == TermKind::Word;
            let stays = !word || words_left > 0;
            words_left -= usize::from(word && stays);
            stays
        });
        kept.into_iter().map(|keyword| keyword.shown).collect()
    }

    /// Keeps the highest-scoring CJK terms that do not overlap, preferring longer ones.
    fn merge_cjk(&mut self) {
        let wide = std::mem::take(&mut self.cjk);
        let mut ranked: Vec<(String, u32)> =
            wide.into_iter().filter(|(_, score)| *score >= 4).collect();
        ranked.sort_by(|a, b| {
            let weight = |(term, score): &(String, u32)| {
                *score * (u32::try_from(term.chars().count()).unwrap_or(4) + 1)
            };
            weight(b).cmp(&weight(a)).then_with(|| a.0.cmp(&b.0))
        });
        let mut kept: Vec<(String, u32)> = Vec::new();
        for (term, score) in ranked {
            let overlaps = kept.iter().any(|(other, _)| {
                other.contains(&term)
                    || term.contains(other.as_str())
                    || terms_overlap(other, &term)
            });
            if kept.len() < KEYWORDS_MAX && !overlaps {
                kept.push((term, score));
            }
        }
        for (term, score) in kept {
            self.add_term(&term, TermKind::Cjk, score, true);
        }
    }
}

/// Whether two terms are windows on one longer word: they share two adjacent characters, or one
/// begins with the character that the other ends with.
fn terms_overlap(a: &str, b: &str) -> bool {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    a.windows(2).any(|pair| b.windows(2).any(|other| pair == other))
        || a.last() == b.first()
        || b.last() == a.first()
}

fn kind_weight(sort: TermKind) -> u32 {
    match sort {
        TermKind::File | TermKind::ErrorCode => 3,
        TermKind::Identifier | TermKind::Cjk => 2,
        TermKind::Word => 1,
    }
}

/// Whether a keyword makes another redundant: `lexer.rs` covers `lexer`, `tests` covers `test`.
fn covers_keyword(there: &str, other: &str) -> bool {
    let there = there.to_lowercase();
    let other = other.to_lowercase();
    let base = |word: &str| stem(word.split('.').next().unwrap_or(word)).into_owned();
    base(&there) == base(&other)
        || there.strip_suffix(&other).is_some_and(|before| before.ends_with(':'))
        || other.strip_suffix(&there).is_some_and(|before| before.ends_with(':'))
}
