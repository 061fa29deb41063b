//! Finds where a text may contain a query term, by prefix, in one pass over the bytes. Most of the
//! text needs no further processing.

/// Prefixes of the query terms.
#[derive(Debug, Clone)]
pub(super) struct TermPrefixes {
    /// First two characters of all terms: per first character, a bit set of second characters.
    pairs: [u64; CODE_COUNT],
    /// Prefixes of words, lower case.
    words: Vec<String>,
    /// First two characters of identifiers.
    identifiers: [u64; CODE_COUNT],
}

/// A run of word characters and connectors.
pub(super) struct TextRun {
    pub(super) from: usize,
    pub(super) end: usize,
    /// Whether something in it starts like a term.
    pub(super) may_match: bool,
    /// Whether it has non-ASCII characters, which this pass does not examine.
    pub(super) is_non_ascii: bool,
    /// Number of words, if the run is ASCII.
    pub(super) words: usize,
}

impl Default for TermPrefixes {
    fn default() -> Self {
        Self { pairs: [0; CODE_COUNT], words: Vec::new(), identifiers: [0; CODE_COUNT] }
    }
}

impl TermPrefixes {
    pub(super) fn add_word(&mut self, word: &str, stem: &str) {
        let prefix = common_prefix(word, stem);
        match *prefix.as_bytes() {
            // Any character may follow a word of one letter.
            [first] => add_char_pair(&mut self.pairs, first, u64::MAX),
            [first, second, ..] => add_char_pair(&mut self.pairs, first, 1 << char_code(second)),
            [] => {}
        }
        self.words.push(prefix.to_owned());
    }

    /// An identifier may start with its first two characters, or with the first and a connector.
    pub(super) fn add_identifier(&mut self, name: &str) {
        if let [first, rest @ ..] = name.as_bytes() {
            let second = rest.first().map_or(GAP, |second| char_code(*second));
            add_char_pair(&mut self.pairs, *first, CONNECTORS | 1 << second);
            add_char_pair(&mut self.identifiers, *first, CONNECTORS | 1 << second);
        }
    }

    pub(super) fn matches_word(&self, text: &[u8]) -> bool {
        let begins_with = |word: &String| {
            let begin = text.get(..word.len()).unwrap_or_default();
            begin.eq_ignore_ascii_case(word.as_bytes())
        };
        self.words.iter().any(begins_with)
    }

    /// Returns whether a text, given with its first two character codes, starts like any term.
    fn matches_any(&self, first: u8, second: u8, text: &[u8]) -> bool {
        has_char_pair(&self.pairs, first, second)
            && (has_char_pair(&self.identifiers, first, second) || self.matches_word(text))
    }

    /// Returns the next run at or after `from`.
    pub(super) fn next_run(&self, bytes: &[u8], from: usize) -> Option<TextRun> {
        let gap = bytes.get(from..)?.iter().position(|byte| char_code(*byte) != GAP)?;
        let from = from + gap;
        let mut run = TextRun { from, end: from, may_match: false, is_non_ascii: false, words: 0 };
        let code_at = |at: usize| bytes.get(at).map_or(GAP, |byte| char_code(*byte));
        let (mut previous, mut current, mut was_lowercase) = (GAP, code_at(from), false);
        while current != GAP {
            let next = code_at(run.end + 1);
            match current {
                1..=DIGITS_TO => {
                    let is_capital = bytes.get(run.end).is_some_and(u8::is_ascii_uppercase);
                    let is_first = previous == GAP || previous > DIGITS_TO;
                    // Words start after a connector, at a capital, and where digits begin or end.
                    let is_other = (current >= DIGITS_FROM) != (previous >= DIGITS_FROM);
                    if is_first || is_other || is_capital {
                        let here = bytes.get(run.end..).unwrap_or_default();
                        run.may_match |= self.matches_any(current, next, here);
                        run.words += usize::from(is_first || (is_capital && was_lowercase));
                    }
                    was_lowercase = current < DIGITS_FROM && !is_capital;
                }
                // `o'clock` does not share a prefix with `oclock`.
                APOSTROPHE => run.may_match = true,
                NON_ASCII => run.is_non_ascii = true,
                _ => {}
            }
            (previous, current) = (current, next);
            run.end += 1;
        }
        Some(run)
    }
}

fn add_char_pair(pairs: &mut [u64; CODE_COUNT], first: u8, seconds: u64) {
    if let Some(bits) = pairs.get_mut(usize::from(char_code(first))) {
        *bits |= seconds;
    }
}

fn has_char_pair(pairs: &[u64; CODE_COUNT], first: u8, second: u8) -> bool {
    pairs.get(usize::from(first)).is_some_and(|bits| bits >> second & 1 == 1)
}

/// Prefix shared by all words with this stem.
fn common_prefix<'w>(word: &'w str, stem: &str) -> &'w str {
    let shared = word.bytes().zip(stem.bytes()).take_while(|(a, b)| a == b).count();
    // A stem may end differently from its words: `skies`, `hoping`.
    let end = shared.min(stem.len().saturating_sub(1)).max(2).min(word.len());
    word.get(..word.floor_char_boundary(end)).unwrap_or(word)
}

/// Character codes: case-insensitive letters, digits, connectors, apostrophe, non-ASCII, and a gap
/// for everything else.
const CODE_COUNT: usize = 64;
const GAP: u8 = 0;
const DIGITS_FROM: u8 = 27;
const DIGITS_TO: u8 = 36;
const CONNECTORS: u64 = 0b11_1111 << (DIGITS_TO + 1);
const APOSTROPHE: u8 = 43;
const NON_ASCII: u8 = 63;

const CODE_TABLE: [u8; 256] = build_code_table();

#[expect(clippy::indexing_slicing, reason = "a byte is always in range")]
const fn build_code_table() -> [u8; 256] {
    let mut table = [GAP; 256];
    let mut byte = u8::MAX;
    while byte > 0 {
        table[byte as usize] = match byte {
            b'a'..=b'z' => byte - b'a' + 1,
            b'A'..=b'Z' => byte - b'A' + 1,
            b'0'..=b'9' => byte - b'0' + DIGITS_FROM,
            b'_' => DIGITS_TO + 1,
            b'.' => DIGITS_TO + 2,
            b'/' => DIGITS_TO + 3,
            b'\\' => DIGITS_TO + 4,
            b':' => DIGITS_TO + 5,
            b'-' => DIGITS_TO + 6,
            b'\'' => APOSTROPHE,
            128.. => NON_ASCII,
            _ => GAP,
        };
        byte -= 1;
    }
    table
}

fn char_code(byte: u8) -> u8 {
    CODE_TABLE.get(usize::from(byte)).copied().unwrap_or(GAP)
}
