//! Letters without their case, in any script: one character for one, so that places can be told.
//!
//! Capital and small letters are the same, and so are the two forms of a Greek sigma and all four
//! letters i of Turkish, and a typesetter's quotes and hyphens are those of a keyboard: people type
//! whichever they have. White space of any kind is a space. Accents stay.

use std::cell::RefCell;

/// A character without its case.
pub(super) fn fold(c: char) -> char {
    match c {
        c if c.is_ascii() => c.to_ascii_lowercase(),
        'İ' | 'ı' => 'i',
        'ς' => 'σ',
        'ſ' => 's',
        'µ' => 'μ',
        '‘' | '’' => '\'',
        '“' | '”' => '"',
        '‐' | '‑' => '-',
        // Scripts without case, where most characters of a text without spaces are.
        '\u{3001}'..='\u{a63f}' | '\u{ac00}'..='\u{d7ff}' => c,
        c if c.is_whitespace() => ' ',
        c => {
            let mut lower = c.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(one), None) => one,
                _ => c,
            }
        }
    }
}

/// A text without its case.
pub(super) fn folded(text: &str) -> String {
    text.chars().map(fold).collect()
}

/// Whether words of this character's script are written without spaces between them; and Korean,
/// where what belongs to the sentence is written onto the word.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3031}'..='\u{30fa}'
        | '\u{30fc}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// What a text is searched as, and where its bytes are in the text.
pub(super) struct Folded<'a> {
    /// ASCII letters still have their case: whoever searches here does not mind it.
    pub text: &'a str,
    shifts: &'a [(usize, usize)],
}

impl Folded<'_> {
    /// Where a place of the folded text is in the text.
    pub fn origin(&self, at: usize) -> usize {
        let before = self.shifts.partition_point(|(folded, _)| *folded <= at);
        match before.checked_sub(1).and_then(|last| self.shifts.get(last)) {
            Some((folded, origin)) => origin + (at - folded),
            None => at,
        }
    }
}

/// Room that is used again for every text.
#[derive(Default)]
struct Room {
    text: String,
    /// From where on (folded) which place of the text it is, after each character that has become
    /// longer or shorter.
    shifts: Vec<(usize, usize)>,
}

/// More room than this is given back after a text that needed it.
const ROOM_BYTES_MAX: usize = 1024 * 1024;

thread_local! {
    static ROOM: RefCell<Room> = RefCell::default();
}

/// Folds a text for as long as `search` takes. A text of ASCII alone is searched as it is.
pub(super) fn with_folded<T>(text: &str, search: impl FnOnce(&Folded<'_>) -> T) -> T {
    if text.is_ascii() {
        return search(&Folded { text, shifts: &[] });
    }
    // Taken out, so that a search within a search finds a room of its own.
    let mut room = ROOM.take();
    room.fill(text);
    let result = search(&Folded { text: &room.text, shifts: &room.shifts });
    if room.text.capacity() <= ROOM_BYTES_MAX {
        ROOM.set(room);
    }
    result
}

impl Room {
    fn fill(&mut self, text: &str) {
        self.text.clear();
        self.shifts.clear();
        let mut rest = text;
        while !rest.is_empty() {
            let (plain, after) = rest.split_at_checked(ascii_len(rest)).unwrap_or((rest, ""));
            self.text.push_str(plain);
            let others = after.find(|c: char| c.is_ascii()).unwrap_or(after.len());
            let (others, after) = after.split_at_checked(others).unwrap_or((after, ""));
            let at = text.len() - after.len() - others.len();
            for (index, c) in others.char_indices() {
                let folded = fold(c);
                self.text.push(folded);
                if folded.len_utf8() != c.len_utf8() {
                    self.shifts.push((self.text.len(), at + index + c.len_utf8()));
                }
            }
            rest = after;
        }
    }
}

/// How many bytes of ASCII a text begins with.
fn ascii_len(text: &str) -> usize {
    const STEP: usize = 32;
    let whole = text.as_bytes().chunks(STEP).take_while(|chunk| chunk.is_ascii()).count();
    let from = (whole * STEP).min(text.len());
    let rest = text.as_bytes().iter().skip(from).take(STEP);
    from + rest.take_while(|byte| byte.is_ascii()).count()
}
