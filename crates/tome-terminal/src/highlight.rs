//! Highlights the terms of a query in a text. Cosmetic only: matching and ranking happen in the engine.

use tome_text::{StopClass, fold_char, is_stop_word, is_unspaced, stem};

use crate::render::{BOLD, RESET};

/// Words of at least this length are also highlighted inside longer words.
const SUBSTRING_CHARS_MIN: usize = 4;

/// The terms of a query to highlight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Highlighter {
    /// Case-folded words with their stems.
    words: Vec<(Vec<char>, String)>,
    /// Adjacent characters of scripts without spaces, such as Chinese.
    pairs: Vec<(char, char)>,
}

impl Highlighter {
    /// Takes the terms of a query; stop words only if there is nothing else.
    pub fn from_query(query: &str) -> Self {
        let low: Vec<char> = query.chars().map(fold_char).collect();
        let mut words: Vec<Vec<char>> = low
            .split(|c| !is_word_char(*c) || is_unspaced(*c))
            .filter(|word| !word.is_empty())
            .map(<[char]>::to_vec)
            .collect();
        let is_small =
            |word: &Vec<char>| is_stop_word(&String::from_iter(word), StopClass::FUNCTION);
        if !words.iter().all(is_small) {
            words.retain(|word| !is_small(word));
        }
        let words = words.into_iter().map(|word| {
            let stem = stem_of(&word);
            (word, stem)
        });
        let neighbors = low.iter().zip(low.iter().skip(1));
        let pairs = neighbors.map(|(a, b)| (*a, *b));
        let pairs = pairs.filter(|(a, b)| is_unspaced(*a) && is_unspaced(*b));
        Self { words: words.collect(), pairs: pairs.collect() }
    }

    /// Highlights nothing.
    pub fn disabled() -> Self {
        Self { words: Vec::new(), pairs: Vec::new() }
    }

    /// Returns the text with the query terms in bold.
    pub fn highlight(&self, text: &str) -> String {
        let chars: Vec<char> = text.chars().collect();
        let mut styled = String::with_capacity(text.len());
        let mut is_bold = false;
        for (c, marked) in chars.iter().zip(self.find_marked(&chars)) {
            if marked != is_bold {
                styled.push_str(if marked { BOLD } else { RESET });
                is_bold = marked;
            }
            styled.push(*c);
        }
        if is_bold {
            styled.push_str(RESET);
        }
        styled
    }

    /// Says for each character whether it belongs to a term.
    pub fn find_marked(&self, chars: &[char]) -> Vec<bool> {
        let low: Vec<char> = chars.iter().map(|c| fold_char(*c)).collect();
        let mut marked = vec![false; chars.len()];
        let mut mark = |from: usize, count: usize| {
            marked.iter_mut().skip(from).take(count).for_each(|mark| *mark = true);
        };
        for (at, pair) in low.windows(2).enumerate() {
            if let [a, b] = pair
                && self.pairs.contains(&(*a, *b))
            {
                mark(at, 2);
            }
        }
        let mut at = 0;
        for run in low.split(|c| !is_word_char(*c)) {
            let run_stem = stem_of(run);
            for (word, stem) in &self.words {
                if run == word || run_stem == *stem {
                    mark(at, run.len());
                } else if word.len() >= SUBSTRING_CHARS_MIN {
                    let windows = run.windows(word.len()).enumerate();
                    windows.filter(|(_, part)| part == word).for_each(|(from, _)| {
                        mark(at + from, word.len());
                    });
                }
            }
            at += run.len() + 1;
        }
        marked
    }
}

fn stem_of(word: &[char]) -> String {
    stem(&String::from_iter(word)).into_owned()
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str, text: &str, marked: &str) {
        let bold = Highlighter::from_query(query).highlight(text);
        assert_eq!(bold.replace(BOLD, "[").replace(RESET, "]"), marked, "{query}");
    }

    #[test]
    fn query_terms_are_bold() {
        check("JWT refresh", "refresh the jwt, JWTs too", "[refresh] the [jwt], [JWTs] too");
        check("what about the lexer", "the src/lexer.rs", "the src/[lexer].rs");
        check("identifier", "unicode Identifiers", "unicode [Identifiers]");
        check("parser", "fn newParserState()", "fn new[Parser]State()");
        check("to be or not to be", "to be sure", "[to] [be] sure");
        check("E0502", "error[E0502]: cannot", "error[[E0502]]: cannot");
        check("数据库连接", "关于数据库的连接池", "关于[数据库]的[连接]池");
        check("İstanbul", "nach ISTANBUL", "nach [ISTANBUL]");
        check("!?", "what?!", "what?!");
        check("x", "", "");
    }
}
