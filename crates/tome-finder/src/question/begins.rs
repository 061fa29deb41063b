//! Where a text may have a term of a question: at what begins like one. Looking for that takes one pass
//! over the bytes, and most of a text is done with after it.

/// How something begins that is worth a look.
#[derive(Debug, Clone)]
pub(super) struct Begins {
    /// Its first two letters: a bit for each two of them.
    pairs: [u64; CODES],
    /// The words' beginnings, in small letters.
    words: Vec<String>,
    /// The first two letters of identifiers.
    identifiers: [u64; CODES],
}

/// A run of letters without a gap.
pub(super) struct Run {
    pub(super) from: usize,
    pub(super) end: usize,
    /// Whether something in it begins like a term.
    pub(super) may_have: bool,
    /// Whether it has letters beyond ASCII, which are not looked at here.
    pub(super) is_wide: bool,
    /// How many words it has, if it has no such letters.
    pub(super) words: usize,
}

impl Default for Begins {
    fn default() -> Self {
        Self { pairs: [0; CODES], words: Vec::new(), identifiers: [0; CODES] }
    }
}

impl Begins {
    pub(super) fn add_word(&mut self, word: &str, root: &str) {
        let mark = begin_of(word, root);
        match *mark.as_bytes() {
            // A word of one letter may stand before anything.
            [first] => add(&mut self.pairs, first, u64::MAX),
            [first, second, ..] => add(&mut self.pairs, first, 1 << code(second)),
            [] => {}
        }
        self.words.push(mark.to_owned());
    }

    /// An identifier may begin with its first two letters, or with the first one and a joint.
    pub(super) fn add_identifier(&mut self, name: &str) {
        if let [first, rest @ ..] = name.as_bytes() {
            let second = rest.first().map_or(GAP, |second| code(*second));
            add(&mut self.pairs, *first, JOINTS | 1 << second);
            add(&mut self.identifiers, *first, JOINTS | 1 << second);
        }
    }

    /// Whether a text begins like a word.
    pub(super) fn has_word(&self, text: &[u8]) -> bool {
        let begins_with = |word: &String| {
            let begin = text.get(..word.len()).unwrap_or_default();
            begin.eq_ignore_ascii_case(word.as_bytes())
        };
        self.words.iter().any(begins_with)
    }

    /// Whether a text begins like anything, of which the first two letters are known.
    fn has(&self, first: u8, second: u8, text: &[u8]) -> bool {
        is_in(&self.pairs, first, second)
            && (is_in(&self.identifiers, first, second) || self.has_word(text))
    }

    /// The first run from here on.
    pub(super) fn next_run(&self, bytes: &[u8], from: usize) -> Option<Run> {
        let gap = bytes.get(from..)?.iter().position(|byte| code(*byte) != GAP)?;
        let from = from + gap;
        let mut run = Run { from, end: from, may_have: false, is_wide: false, words: 0 };
        let code_at = |at: usize| bytes.get(at).map_or(GAP, |byte| code(*byte));
        let (mut before, mut now, mut was_small) = (GAP, code_at(from), false);
        while now != GAP {
            let next = code_at(run.end + 1);
            match now {
                1..=FIGURES_TO => {
                    let is_capital = bytes.get(run.end).is_some_and(u8::is_ascii_uppercase);
                    let is_first = before == GAP || before > FIGURES_TO;
                    // Words begin behind a joint, with a capital, and where figures begin or end.
                    let is_other = (now >= FIGURES_FROM) != (before >= FIGURES_FROM);
                    if is_first || is_other || is_capital {
                        let here = bytes.get(run.end..).unwrap_or_default();
                        run.may_have |= self.has(now, next, here);
                        run.words += usize::from(is_first || (is_capital && was_small));
                    }
                    was_small = now < FIGURES_FROM && !is_capital;
                }
                // `o'clock` does not begin like `oclock`.
                APOSTROPHE => run.may_have = true,
                WIDE => run.is_wide = true,
                _ => {}
            }
            (before, now) = (now, next);
            run.end += 1;
        }
        Some(run)
    }
}

fn add(pairs: &mut [u64; CODES], first: u8, seconds: u64) {
    if let Some(bits) = pairs.get_mut(usize::from(code(first))) {
        *bits |= seconds;
    }
}

fn is_in(pairs: &[u64; CODES], first: u8, second: u8) -> bool {
    pairs.get(usize::from(first)).is_some_and(|bits| bits >> second & 1 == 1)
}

/// How every word begins that has this root.
fn begin_of<'w>(word: &'w str, root: &str) -> &'w str {
    let shared = word.bytes().zip(root.bytes()).take_while(|(a, b)| a == b).count();
    // A root may end in another letter than its words: `skies`, `hoping`.
    let end = shared.min(root.len().saturating_sub(1)).max(2).min(word.len());
    word.get(..word.floor_char_boundary(end)).unwrap_or(word)
}

/// How many codes there are, and what they are: letters without their case, figures, what joins words, and
/// everything else.
const CODES: usize = 64;
const GAP: u8 = 0;
const FIGURES_FROM: u8 = 27;
const FIGURES_TO: u8 = 36;
const JOINTS: u64 = 0b11_1111 << (FIGURES_TO + 1);
const APOSTROPHE: u8 = 43;
const WIDE: u8 = 63;

const TABLE: [u8; 256] = table();

#[expect(clippy::indexing_slicing, reason = "a byte is one of 256")]
const fn table() -> [u8; 256] {
    let mut table = [GAP; 256];
    let mut byte = u8::MAX;
    while byte > 0 {
        table[byte as usize] = match byte {
            b'a'..=b'z' => byte - b'a' + 1,
            b'A'..=b'Z' => byte - b'A' + 1,
            b'0'..=b'9' => byte - b'0' + FIGURES_FROM,
            b'_' => FIGURES_TO + 1,
            b'.' => FIGURES_TO + 2,
            b'/' => FIGURES_TO + 3,
            b'\\' => FIGURES_TO + 4,
            b':' => FIGURES_TO + 5,
            b'-' => FIGURES_TO + 6,
            b'\'' => APOSTROPHE,
            128.. => WIDE,
            _ => GAP,
        };
        byte -= 1;
    }
    table
}

fn code(byte: u8) -> u8 {
    TABLE.get(usize::from(byte)).copied().unwrap_or(GAP)
}
