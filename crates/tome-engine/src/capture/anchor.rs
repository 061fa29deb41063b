//! The literals at which something could begin, found in one pass over the text.
//!
//! The pass keeps the last three bytes, in small letters, and asks a table of bits whether any
//! literal begins with such bytes. Hardly any place in ordinary text does, so the pass costs about
//! a nanosecond a byte; only where the table says yes are literals compared.

use super::cut::{Cut, mark_end};
use super::name::STEMS;
use super::private::{self, Edges, Tag};
use super::scan::Scan;
use super::token::{self, PREFIXES};
use super::{assign, env, header, pem, url};

/// What a literal announces.
#[derive(Debug, Clone, Copy)]
enum Anchor {
    /// A token of the issuer with this number.
    Prefix(usize),
    Jwt,
    Telegram,
    Pem,
    Putty,
    Address,
    Driver,
    Identified,
    Authorization,
    Scheme,
    UserOption,
    Stem,
    Equals,
    PrivateOpen,
    PrivateClose,
}

const LITERALS: &[(&str, Anchor)] = &[
    ("eyJ", Anchor::Jwt),
    (":AA", Anchor::Telegram),
    ("-----BEGIN", Anchor::Pem),
    ("Private-Lines:", Anchor::Putty),
    ("://", Anchor::Address),
    (":\\/\\/", Anchor::Address),
    ("@tcp(", Anchor::Driver),
    ("@unix(", Anchor::Driver),
    ("identified by '", Anchor::Identified),
    ("authorization", Anchor::Authorization),
    ("bearer", Anchor::Scheme),
    ("basic", Anchor::Scheme),
    (" -u ", Anchor::UserOption),
    (" --user", Anchor::UserOption),
    ("<private>", Anchor::PrivateOpen),
    ("</private>", Anchor::PrivateClose),
];

/// The scanner for all literals.
pub(super) struct Anchors {
    /// One bit for each hash of the first three bytes of a literal.
    table: Box<[u64; TABLE_WORDS]>,
    /// The literals, ordered by their first three bytes.
    literals: Vec<(u32, &'static str, Anchor)>,
}

/// 64 Ki bits stay in the nearest cache and leave false alarms to one place in a thousand.
const TABLE_WORDS: usize = 1024;

impl Anchors {
    pub fn new() -> Self {
        let prefixes = PREFIXES.iter().enumerate().map(|(at, one)| (one.text, Anchor::Prefix(at)));
        let stems = STEMS.iter().map(|stem| (*stem, Anchor::Stem));
        let mut literals: Vec<_> = prefixes
            .chain(stems)
            .chain(LITERALS.iter().copied())
            .map(|(text, anchor)| (text.bytes().take(3).fold(0, pushed), text, anchor))
            .collect();
        literals.sort_by_key(|(start, _, _)| *start);
        let mut table = Box::new([0u64; TABLE_WORDS]);
        for (start, _, _) in &literals {
            let (word, bit) = slot(*start);
            if let Some(word) = table.get_mut(word) {
                *word |= bit;
            }
        }
        Self { table, literals }
    }

    /// Everything that the built-in kinds cut from a text, in no order.
    pub fn find(&self, text: &str, edges: Edges) -> Vec<Cut<'static>> {
        let mut finds = Finds::new(Scan(text));
        let mut last = 0u32;
        for (at, b) in text.bytes().enumerate() {
            last = pushed(last, b);
            let (word, bit) = slot(last);
            if b == b'=' {
                finds.look(Anchor::Equals, at, at + 1);
            }
            if self.table.get(word).copied().unwrap_or(0) & bit != 0 {
                // Literals have three bytes or more, so the first hit is at the third byte.
                self.compare(last, at.saturating_sub(2), &mut finds);
            }
        }
        finds.into_cuts(edges)
    }

    /// Looks at each literal that begins with these three bytes and stands here.
    fn compare(&self, start: u32, at: usize, finds: &mut Finds<'_>) {
        let first = self.literals.partition_point(|(one, _, _)| *one < start);
        for (one, text, anchor) in self.literals.iter().skip(first) {
            if *one != start {
                return;
            }
            if finds.scan.starts_caseless(at, text) {
                finds.look(*anchor, at, at + text.len());
            }
        }
    }
}

/// The last three bytes with one more behind them. Setting the bit of small letters is enough to
/// make capitals equal to them; that it makes some signs equal too only costs a comparison.
fn pushed(last: u32, b: u8) -> u32 {
    (last << 8 | u32::from(b | 0x20)) & 0x00FF_FFFF
}

/// Which bit of the table stands for three bytes.
fn slot(last: u32) -> (usize, u64) {
    let hash = last.wrapping_mul(0x9E37_79B1) >> 16;
    ((hash >> 6) as usize % TABLE_WORDS, 1 << (hash & 63))
}

/// What was found in a text so far.
struct Finds<'t> {
    scan: Scan<'t>,
    cuts: Vec<Cut<'static>>,
    tags: Vec<Tag>,
    /// Inside a secret that is already found there is nothing left to find; without this, a long
    /// value full of anchors would be walked once for each.
    found_to: usize,
    /// The same for tokens, whose prefix names the kind better than the name before them does.
    named_to: usize,
}

impl<'t> Finds<'t> {
    fn new(scan: Scan<'t>) -> Self {
        Self { scan, cuts: Vec::new(), tags: Vec::new(), found_to: 0, named_to: 0 }
    }

    fn look(&mut self, anchor: Anchor, start: usize, end: usize) {
        let named = matches!(anchor, Anchor::Prefix(_) | Anchor::Jwt | Anchor::Pem);
        match anchor {
            Anchor::PrivateOpen => return self.tags.push(Tag::Open(start)),
            Anchor::PrivateClose => return self.tags.push(Tag::Close(end)),
            _ if named && start < self.named_to || !named && end <= self.found_to => return,
            _ => {}
        }
        if let Some(cut) = at_anchor(self.scan, anchor, start, end) {
            self.found_to = self.found_to.max(cut.end);
            if named {
                self.named_to = cut.end;
            }
            self.cuts.push(cut);
        }
    }

    fn into_cuts(mut self, edges: Edges) -> Vec<Cut<'static>> {
        private::pair(&self.tags, edges, self.scan.len(), &mut self.cuts);
        self.cuts
    }
}

fn at_anchor(scan: Scan<'_>, anchor: Anchor, start: usize, end: usize) -> Option<Cut<'static>> {
    match anchor {
        Anchor::Prefix(number) => {
            PREFIXES.get(number).and_then(|prefix| token::at_prefix(scan, start, prefix))
        }
        Anchor::Jwt => token::at_jwt(scan, start),
        Anchor::Telegram => token::at_telegram(scan, start),
        Anchor::Pem => pem::at_begin(scan, start),
        Anchor::Putty => pem::at_putty(scan, start),
        Anchor::Address => url::at_address(scan, start, end),
        Anchor::Driver => url::at_driver(scan, start),
        Anchor::Identified => assign::at_literal(scan, end - 1),
        Anchor::Authorization => header::at_authorization(scan, end),
        Anchor::Scheme => header::at_scheme(scan, start, end),
        Anchor::UserOption => header::at_user_option(scan, start, end),
        Anchor::Stem => assign::at_stem(scan, start),
        Anchor::Equals => env::at_equals(scan, start),
        Anchor::PrivateOpen | Anchor::PrivateClose => None,
    }
    .filter(|cut| mark_end(scan, cut.start) != Some(cut.end))
}
