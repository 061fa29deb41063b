//! Finds the literals at which a secret could begin, in one pass over the text.
//!
//! The pass keeps the last three bytes in lower case and looks them up in a bit table. Hardly any
//! position of ordinary text hits, so the pass costs about a nanosecond per byte; literals are
//! compared only on a hit.

use super::cut::{RedactionCut, find_mark_end};
use super::haystack::Haystack;
use super::mnemonic;
use super::name::STEMS;
use super::token::{self, SHAPES};
use super::token_rules::RULES;
use super::{
    assignment, command, cookie, credential_file, env, header, manifest, pem, url, wallet,
};

/// The matcher to run at a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Anchor {
    /// The prefix of the rule with this index.
    Rule(usize),
    /// The literal of the shape with this index.
    Shape(usize),
    Jwt,
    Discord,
    Pem,
    PemBody,
    EncodedPem,
    HexPem,
    Putty,
    Jwk,
    WalletKey,
    Url,
    Dsn,
    Identified,
    Authorization,
    Scheme,
    Cookie,
    CookieJar,
    Command,
    NetRc,
    PgPass,
    PasswordHash,
    Manifest,
    Stem,
    Equals,
}

const LITERALS: &[(&str, Anchor)] = &[
    ("eyJ", Anchor::Jwt),
    ("-----BEGIN", Anchor::Pem),
    ("---- BEGIN SSH2", Anchor::Pem),
    ("IBAAKC", Anchor::PemBody),
    ("IBAAKB", Anchor::PemBody),
    ("IBAAJB", Anchor::PemBody),
    ("IBADANBgkqhkiG9w0BAQ", Anchor::PemBody),
    ("BgkqhkiG9w0BBQ0w", Anchor::PemBody),
    ("IBAzCC", Anchor::PemBody),
    ("MHcCAQEE", Anchor::PemBody),
    ("MIGkAgEBBD", Anchor::PemBody),
    ("MIHcAgEBBE", Anchor::PemBody),
    ("AgEAMBMGByqGSM49", Anchor::PemBody),
    ("AgEAMBAGByqGSM49", Anchor::PemBody),
    ("MC4CAQAwBQYDK2V", Anchor::PemBody),
    ("MFECAQEwBQYDK2V", Anchor::PemBody),
    ("b3BlbnNzaC1rZXktdjE", Anchor::PemBody),
    ("LS0tLS1CRUdJTi", Anchor::EncodedPem),
    ("2d2d2d2d2d424547494e", Anchor::HexPem),
    ("Private-Lines:", Anchor::Putty),
    ("\"d\"", Anchor::Jwk),
    ("\"d\\", Anchor::Jwk),
    ("\"p\"", Anchor::Jwk),
    ("\"p\\", Anchor::Jwk),
    ("\"q\"", Anchor::Jwk),
    ("\"q\\", Anchor::Jwk),
    ("\"dp", Anchor::Jwk),
    ("\"dq", Anchor::Jwk),
    ("\"qi", Anchor::Jwk),
    ("\"k\"", Anchor::Jwk),
    ("\"k\\", Anchor::Jwk),
    ("://", Anchor::Url),
    (":\\/\\/", Anchor::Url),
    ("@tcp(", Anchor::Dsn),
    ("@unix(", Anchor::Dsn),
    ("identified ", Anchor::Identified),
    ("authorization", Anchor::Authorization),
    ("bearer", Anchor::Scheme),
    ("basic", Anchor::Scheme),
    ("ssws", Anchor::Scheme),
    ("apikey ", Anchor::Scheme),
    ("cookie", Anchor::Cookie),
    ("\tTRUE\t/", Anchor::CookieJar),
    ("\tFALSE\t/", Anchor::CookieJar),
    ("\\tTRUE\\t/", Anchor::CookieJar),
    ("\\tFALSE\\t/", Anchor::CookieJar),
    ("machine ", Anchor::NetRc),
    ("default login ", Anchor::NetRc),
    (":5432:", Anchor::PgPass),
    (":5433:", Anchor::PgPass),
    (":6432:", Anchor::PgPass),
    (":*:", Anchor::PgPass),
    ("$2a$", Anchor::PasswordHash),
    ("$2b$", Anchor::PasswordHash),
    ("$2y$", Anchor::PasswordHash),
    ("$argon2", Anchor::PasswordHash),
    ("$6$", Anchor::PasswordHash),
    ("$5$", Anchor::PasswordHash),
    ("$1$", Anchor::PasswordHash),
    ("$y$", Anchor::PasswordHash),
    ("$8$", Anchor::PasswordHash),
    ("$9$", Anchor::PasswordHash),
    ("$apr1$", Anchor::PasswordHash),
    ("$scrypt$", Anchor::PasswordHash),
    ("$pbkdf2", Anchor::PasswordHash),
    ("pbkdf2_sha", Anchor::PasswordHash),
    ("pbkdf2:sha", Anchor::PasswordHash),
    ("scrypt:", Anchor::PasswordHash),
    ("SCRAM-SHA-256$", Anchor::PasswordHash),
    ("{SSHA", Anchor::PasswordHash),
    ("{SHA}", Anchor::PasswordHash),
    ("kind", Anchor::Manifest),
];

pub(crate) struct LiteralScanner {
    /// One bit per hash of a literal's first three bytes, in lower case.
    table: Box<[u64; TABLE_WORDS]>,
    /// Literals that match case-insensitively.
    any_case: LiteralIndex,
    /// Literals that match exactly.
    exact: LiteralIndex,
}

/// 64 Ki bits fit into the L1 cache and keep false positives rare.
const TABLE_WORDS: usize = 1024;

impl LiteralScanner {
    pub fn new() -> Self {
        let rules = RULES.iter().enumerate().map(|(at, rule)| (rule.prefix, Anchor::Rule(at)));
        let shapes = SHAPES.iter().enumerate().map(|(at, one)| (one.literal, Anchor::Shape(at)));
        let stems = STEMS.iter().map(|stem| (*stem, Anchor::Stem));
        let commands = command::command_names().map(|name| (name, Anchor::Command));
        let keys = wallet::KEY_PREFIXES.iter().map(|start| (*start, Anchor::WalletKey));
        let mut any_case = Vec::with_capacity(256);
        let mut exact = Vec::with_capacity(1024);
        for (text, anchor) in rules.chain(shapes).chain(commands).chain(keys) {
            push_literal(&mut exact, text, anchor, push_byte);
        }
        for (text, anchor) in stems.chain(LITERALS.iter().copied()) {
            push_literal(&mut any_case, text, anchor, push_lower);
        }
        let mut table = Box::new([0u64; TABLE_WORDS]);
        for (start, _, _) in any_case.iter().chain(&exact) {
            let (word, bit) = table_slot(start | LOWER_BITS);
            if let Some(word) = table.get_mut(word) {
                *word |= bit;
            }
        }
        Self { table, any_case: LiteralIndex::new(any_case), exact: LiteralIndex::new(exact) }
    }

    /// Finds all cuts of the built-in matchers, in no particular order.
    pub fn find_secrets(&self, text: &str) -> Vec<RedactionCut<'static>> {
        let mut search = SecretSearch::new(Haystack(text));
        let bytes = text.as_bytes();
        let mut last = 0u32;
        for (at, b) in bytes.iter().copied().enumerate() {
            last = push_byte(last, b);
            let (word, bit) = table_slot(last | LOWER_BITS);
            if b == b'=' {
                search.examine_literal(Anchor::Equals, at, at + 1);
            } else if b == b'.' && bytes.get(at + 7) == Some(&b'.') {
                search.examine_literal(Anchor::Discord, at, at + 1);
            }
            if self.table.get(word).copied().unwrap_or(0) & bit != 0 {
                // Literals are indexed by three bytes, so a hit begins two bytes earlier.
                let start = at.saturating_sub(2);
                for (text, anchor) in self.exact.find_by_prefix(last) {
                    if search.hay.starts_with(start, text) {
                        search.examine_literal(anchor, start, start + text.len());
                    }
                }
                for (text, anchor) in self.any_case.find_by_prefix(last | LOWER_BITS) {
                    if search.hay.starts_with_ignore_case(start, text) {
                        search.examine_literal(anchor, start, start + text.len());
                    }
                }
            }
        }
        search.into_cuts()
    }
}

/// Literals indexed by their first three bytes.
struct LiteralIndex {
    /// Ordered by their first three bytes.
    literals: Vec<(u32, &'static str, Anchor)>,
    /// Hash table with open addressing: the first literal of each three-byte prefix.
    index: Box<[u16; INDEX_SLOTS]>,
}

/// Four slots per distinct prefix keep probing short.
const INDEX_SLOTS: usize = 4096;
const EMPTY: u16 = u16::MAX;

impl LiteralIndex {
    fn new(mut literals: Vec<(u32, &'static str, Anchor)>) -> Self {
        literals.sort_by_key(|(start, _, _)| *start);
        let mut index = Box::new([EMPTY; INDEX_SLOTS]);
        let mut before = u32::MAX;
        for (number, (start, _, _)) in literals.iter().enumerate() {
            if *start != before {
                let mut probe = index_slot(*start);
                while index.get(probe).is_some_and(|slot| *slot != EMPTY) {
                    probe = (probe + 1) % INDEX_SLOTS;
                }
                if let (Some(slot), Ok(number)) = (index.get_mut(probe), u16::try_from(number)) {
                    *slot = number;
                }
            }
            before = *start;
        }
        Self { literals, index }
    }

    /// The literals that start with these three bytes.
    fn find_by_prefix(&self, start: u32) -> impl Iterator<Item = (&'static str, Anchor)> {
        let mut probe = index_slot(start);
        let first = loop {
            let number = self.index.get(probe).copied().unwrap_or(EMPTY);
            match self.literals.get(usize::from(number)) {
                Some((found, _, _)) if *found == start => break usize::from(number),
                Some(_) => probe = (probe + 1) % INDEX_SLOTS,
                None => break self.literals.len(),
            }
        };
        self.literals
            .iter()
            .skip(first)
            .take_while(move |(found, _, _)| *found == start)
            .map(|(_, text, anchor)| (*text, *anchor))
    }
}

/// Adds a literal under its first three bytes; a two-byte literal under every possible third byte.
fn push_literal(
    literals: &mut Vec<(u32, &'static str, Anchor)>,
    text: &'static str,
    anchor: Anchor,
    push: fn(u32, u8) -> u32,
) {
    let start = text.bytes().take(3).fold(0, push);
    if text.len() >= 3 {
        literals.push((start, text, anchor));
        return;
    }
    let thirds: &[u8] = match anchor {
        Anchor::Command => b" \"',\t",
        Anchor::WalletKey => b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
        _ => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~",
    };
    let fits = |third: &u8| match anchor {
        Anchor::Rule(number) => {
            RULES.get(number).is_some_and(|rule| rule.alphabet.contains(*third))
        }
        _ => true,
    };
    let thirds = thirds.iter().filter(|third| fits(third));
    literals.extend(thirds.map(|third| (push(start, *third), text, anchor)));
}

/// The lower-case bit of three bytes. Setting it folds the case of letters; that it also conflates
/// some punctuation only costs a comparison.
const LOWER_BITS: u32 = 0x0020_2020;

/// Shifts a byte into the last three bytes.
fn push_byte(last: u32, b: u8) -> u32 {
    (last << 8 | u32::from(b)) & 0x00FF_FFFF
}

fn push_lower(last: u32, b: u8) -> u32 {
    push_byte(last, b | 0x20)
}

fn hash_prefix(last: u32) -> u32 {
    last.wrapping_mul(0x9E37_79B1) >> 16
}

/// The table position for three bytes.
fn table_slot(last: u32) -> (usize, u64) {
    let hash = hash_prefix(last);
    ((hash >> 6) as usize % TABLE_WORDS, 1 << (hash & 63))
}

fn index_slot(last: u32) -> usize {
    (hash_prefix(last) >> 4) as usize % INDEX_SLOTS
}

struct SecretSearch<'t> {
    hay: Haystack<'t>,
    cuts: Vec<RedactionCut<'static>>,
    /// End of the last secret found. Nothing inside it is examined again; otherwise a long value
    /// full of literals would be examined once per literal.
    secret_end: usize,
    /// The same for tokens, whose prefix determines the kind better than the name before them.
    token_end: usize,
    /// How far each line parser has come.
    parsed_to: ParsedTo,
    /// Positions of `kind: Secret`.
    manifests: Vec<usize>,
}

/// Positions up to which the line parsers have parsed, so that no line is parsed twice.
#[derive(Default)]
struct ParsedTo {
    command: usize,
    cookie: usize,
    netrc: usize,
    line: usize,
}

impl<'t> SecretSearch<'t> {
    fn new(hay: Haystack<'t>) -> Self {
        Self {
            hay,
            cuts: Vec::new(),
            secret_end: 0,
            token_end: 0,
            parsed_to: ParsedTo::default(),
            manifests: Vec::new(),
        }
    }

    fn examine_literal(&mut self, anchor: Anchor, start: usize, end: usize) {
        let hay = self.hay;
        match anchor {
            Anchor::Manifest if manifest::is_secret_kind(hay, end) => self.manifests.push(start),
            Anchor::Manifest => {}
            Anchor::Command if !command::is_name_end(hay, end) => {}
            Anchor::Command if start >= self.parsed_to.command => {
                self.parsed_to.command = command::find_arguments(hay, start, &mut self.cuts);
            }
            Anchor::Cookie if start >= self.parsed_to.cookie => {
                self.parsed_to.cookie = cookie::find_cookies(hay, start, end, &mut self.cuts);
            }
            Anchor::NetRc if start >= self.parsed_to.netrc => {
                self.parsed_to.netrc = credential_file::find_netrc(hay, start, &mut self.cuts);
            }
            Anchor::PgPass | Anchor::CookieJar if start >= self.parsed_to.line => {
                let (cut, line_end) = match anchor {
                    Anchor::PgPass => credential_file::find_pgpass(hay, start),
                    _ => cookie::find_cookie_line(hay, start),
                };
                self.parsed_to.line = line_end;
                self.cuts.extend(cut);
            }
            Anchor::Command
            | Anchor::Cookie
            | Anchor::NetRc
            | Anchor::PgPass
            | Anchor::CookieJar => {}
            _ => self.match_anchor(anchor, start, end),
        }
    }

    fn match_anchor(&mut self, anchor: Anchor, start: usize, end: usize) {
        let is_token = matches!(
            anchor,
            Anchor::Rule(_)
                | Anchor::Shape(_)
                | Anchor::Jwt
                | Anchor::Discord
                | Anchor::Pem
                | Anchor::PemBody
                | Anchor::EncodedPem
                | Anchor::HexPem
        );
        if is_token && start < self.token_end || !is_token && end <= self.secret_end {
            return;
        }
        let cut = match_anchor(self.hay, anchor, start, end)
            .filter(|cut| find_mark_end(self.hay, cut.start) != Some(cut.end));
        let Some(cut) = cut else { return };
        self.secret_end = self.secret_end.max(cut.end);
        if is_token {
            self.token_end = cut.end;
        }
        self.cuts.push(cut);
        if anchor == Anchor::Stem {
            self.cuts.extend(assignment::find_replacement(self.hay, cut.end));
        }
    }

    fn into_cuts(mut self) -> Vec<RedactionCut<'static>> {
        manifest::find_secret_values(self.hay, &self.manifests, &mut self.cuts);
        mnemonic::find_mnemonics(self.hay, &mut self.cuts);
        self.cuts
    }
}

fn match_anchor(
    hay: Haystack<'_>,
    anchor: Anchor,
    start: usize,
    end: usize,
) -> Option<RedactionCut<'static>> {
    match anchor {
        Anchor::Rule(number) => token::match_rule(hay, start, RULES.get(number)?),
        Anchor::Shape(number) => token::match_shape(hay, start, SHAPES.get(number)?),
        Anchor::Jwt => token::find_jwt(hay, start),
        Anchor::Discord => token::find_discord_token(hay, start),
        Anchor::Pem => pem::find_pem_block(hay, start, end),
        Anchor::PemBody => pem::find_pem_body(hay, start),
        Anchor::EncodedPem => pem::find_encoded_pem(hay, start),
        Anchor::HexPem => pem::find_hex_pem(hay, start),
        Anchor::Putty => pem::find_putty_key(hay, start),
        Anchor::Jwk => pem::find_jwk_value(hay, start, end),
        Anchor::WalletKey => wallet::find_wallet_key(hay, start),
        Anchor::Url => url::find_url_password(hay, start, end),
        Anchor::Dsn => url::find_dsn_password(hay, start),
        Anchor::Identified => assignment::find_identified_by(hay, end),
        Anchor::Authorization => header::find_authorization(hay, end),
        Anchor::Scheme => header::find_scheme_credentials(hay, start, end),
        Anchor::PasswordHash => credential_file::find_password_hash(hay, start, end),
        Anchor::Stem => assignment::find_assignment(hay, start),
        Anchor::Equals => env::find_env_value(hay, start),
        _ => None,
    }
}
