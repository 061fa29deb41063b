//! Matches tokens by their issuer's prefix, or by a known shape around another literal.

use super::cut::{CutCertainty, RedactionCut};
use super::haystack::{Haystack, is_base64_byte, is_word_byte};
use super::randomness::is_random;
use super::token_rule::{Alphabet, PrefixPosition, TokenCheck, TokenRule};

/// Bytes of a token that are examined; a match is cut to its real end. Without the limit, a text
/// full of prefixes that match no rule would be examined to its end for each of them.
const TOKEN_EXAMINED_BYTES_MAX: usize = 1024;

/// Matches a rule whose prefix was found here.
pub(crate) fn match_rule(
    hay: Haystack<'_>,
    at: usize,
    rule: &TokenRule,
) -> Option<RedactionCut<'static>> {
    let misplaced = rule.position == PrefixPosition::WordStart && !hay.is_word_start(at);
    if misplaced || !hay.starts_with(at, rule.prefix) {
        return None;
    }
    // Inside a hyphenated word, which would otherwise be examined from each of its hyphens.
    if rule.check != TokenCheck::None && is_inside_word(hay, at) {
        return None;
    }
    let from = at + rule.prefix.len();
    let end = rule.alphabet.skip_run(
        hay,
        from,
        TOKEN_EXAMINED_BYTES_MAX.min(rule.bytes_max.saturating_add(1)),
    );
    let rest = hay.slice(from, end);
    let fits = (rule.bytes_min..=rule.bytes_max).contains(&rest.len());
    // A token of fixed length must end with the word.
    let ends = rule.bytes_max == usize::MAX || !is_word_byte(hay.byte_at(end));
    if !fits || !ends || is_placeholder(rest) || !rule.check.accepts(rest) {
        return None;
    }
    let end = match rule.kind {
        "aws" => find_aws_pair_end(hay, end),
        _ if rest.len() + 4 >= TOKEN_EXAMINED_BYTES_MAX => {
            rule.alphabet.skip_run(hay, from, usize::MAX)
        }
        _ => end,
    };
    let start = if rule.keeps_prefix { from } else { at };
    Some(RedactionCut::secret(start, end, rule.kind, CutCertainty::KnownPrefix))
}

impl Alphabet {
    pub fn contains(self, b: u8) -> bool {
        match self {
            Self::Hex => b.is_ascii_hexdigit(),
            Self::Alnum => b.is_ascii_alphanumeric(),
            Self::Capitals => b.is_ascii_uppercase() || b.is_ascii_digit(),
            Self::Word => b.is_ascii_alphanumeric() || b == b'_',
            Self::Dollar => b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$'),
            Self::Dashed => is_word_byte(b),
            Self::Dotted => is_word_byte(b) || b == b'.',
            Self::Base64 => is_base64_byte(b) || matches!(b, b'.' | b'~' | b'%'),
            Self::Path => is_word_byte(b) || matches!(b, b'/' | b'@' | b'.'),
            Self::Base58 => is_base58_byte(b),
        }
    }

    /// The end of the run of this alphabet, without a trailing full stop.
    fn skip_run(self, hay: Haystack<'_>, from: usize, bytes_max: usize) -> usize {
        let mut end = hay.skip_while_within(from, bytes_max, |b| self.contains(b));
        if self == Self::Hex && hay.byte_at(end) == b'-' && hay.byte_at(end + 1).is_ascii_digit() {
            let number = hay.skip_while_within(end + 1, 2, |b| b.is_ascii_digit());
            end = if is_word_byte(hay.byte_at(number)) { end } else { number };
        }
        hay.skip_back_while(end, end - from, |b| b == b'.')
    }
}

impl TokenCheck {
    fn accepts(self, rest: &str) -> bool {
        let has = |class: fn(&u8) -> bool| rest.bytes().any(|b| class(&b));
        match self {
            Self::None => true,
            Self::Random => has_generated_part(rest),
            Self::Mixed => {
                has(u8::is_ascii_uppercase)
                    && has(u8::is_ascii_lowercase)
                    && has(u8::is_ascii_digit)
            }
            Self::Digit => has(u8::is_ascii_digit),
        }
    }
}

pub(crate) fn is_base58_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() && !matches!(b, b'0' | b'O' | b'I' | b'l')
}

/// Names such as `sk-toggleable-content` are hyphenated words; keys have a long part that is not a
/// word.
fn has_generated_part(rest: &str) -> bool {
    let is_generated = |part: &str| {
        part.len() >= 16
            && (part.bytes().any(|b| b.is_ascii_digit())
                || part.bytes().skip(1).any(|b| b.is_ascii_uppercase())
                || part.len() >= 32)
    };
    rest.split(['-', '_']).any(is_generated) || is_random(rest)
}

fn is_inside_word(hay: Haystack<'_>, at: usize) -> bool {
    !hay.is_word_start(at) || matches!(hay.byte_before(at), b'-' | b'_')
}

/// `ghp_xxxxxxxxxxxx` is a placeholder.
fn is_placeholder(rest: &str) -> bool {
    let letters = rest.trim_matches(['-', '_', '/', '.']);
    letters.bytes().all(|b| matches!(b, b'x' | b'X' | b'0' | b'.' | b'-' | b'_' | b'/'))
}

/// Includes a secret access key directly after its id, as in `id:secret` or a line of CSV.
fn find_aws_pair_end(hay: Haystack<'_>, id_end: usize) -> usize {
    let start = hay.skip_while_within(id_end, 4, |b| b" \t,:;|\"'".contains(&b));
    let end =
        hay.skip_while_within(start, 64, |b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'));
    let secret = hay.slice(start, end);
    let mixed = secret.bytes().any(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    if start > id_end && secret.len() == 40 && mixed { end } else { id_end }
}

/// The JSON Web Token that begins here with `eyJ`: a header and at least one more part.
pub(crate) fn find_jwt(hay: Haystack<'_>, at: usize) -> Option<RedactionCut<'static>> {
    const PART_BYTES_MIN: usize = 8;
    if !hay.starts_with(at, "eyJ") || is_inside_word(hay, at) {
        return None;
    }
    let header = hay.skip_while(at, is_word_byte);
    if header - at < PART_BYTES_MIN + 2 || hay.byte_at(header) != b'.' {
        return None;
    }
    let payload = hay.skip_while(header + 1, is_word_byte);
    // An encrypted token with a direct key has an empty second part.
    let direct = payload == header + 1 && hay.byte_at(payload) == b'.';
    if payload - header <= PART_BYTES_MIN && !direct {
        return None;
    }
    let all = hay.skip_while(payload, |b| is_word_byte(b) || b == b'.');
    // `header.payload` without a signature is a token only if the payload is JSON too.
    if all - payload <= PART_BYTES_MIN && !hay.starts_with(header + 1, "eyJ") {
        return None;
    }
    let end = hay.skip_back_while(all, all - at, |b| b == b'.');
    Some(RedactionCut::secret(at, end, "jwt", CutCertainty::KnownPrefix))
}

/// A literal inside or at the end of a token, and the shape around it.
pub(crate) struct TokenShape {
    pub literal: &'static str,
    kind: &'static str,
    before: ShapeRun,
    after: ShapeRun,
    /// Whether the part before the literal is kept.
    keeps_before: bool,
}

struct ShapeRun {
    alphabet: Alphabet,
    min: usize,
    max: usize,
}

const fn shape_run(alphabet: Alphabet, min: usize, max: usize) -> ShapeRun {
    ShapeRun { alphabet, min, max }
}

const EMPTY_RUN: ShapeRun = shape_run(Alphabet::Hex, 0, 0);

#[rustfmt::skip]
pub(crate) const SHAPES: &[TokenShape] = &[
    TokenShape { literal: ":AA", kind: "telegram", before: shape_run(Alphabet::Hex, 8, 12), after: shape_run(Alphabet::Dashed, 30, 38), keeps_before: true },
    TokenShape { literal: "Q~", kind: "azure", before: shape_run(Alphabet::Base64, 4, 4), after: shape_run(Alphabet::Base64, 30, 36), keeps_before: false },
    TokenShape { literal: ".atlasv1.", kind: "terraform", before: shape_run(Alphabet::Alnum, 14, 14), after: shape_run(Alphabet::Dashed, 50, 80), keeps_before: false },
    TokenShape { literal: "_mmk", kind: "maxmind", before: shape_run(Alphabet::Word, 36, 36), after: EMPTY_RUN, keeps_before: false },
    TokenShape { literal: "-us", kind: "mailchimp", before: shape_run(Alphabet::Hex, 32, 32), after: shape_run(Alphabet::Hex, 1, 2), keeps_before: false },
    TokenShape { literal: "FFFFNRAL", kind: "newrelic", before: shape_run(Alphabet::Alnum, 32, 32), after: EMPTY_RUN, keeps_before: false },
    TokenShape { literal: "-NRMA", kind: "newrelic", before: shape_run(Alphabet::Alnum, 42, 42), after: EMPTY_RUN, keeps_before: false },
    TokenShape { literal: ":APA91b", kind: "firebase", before: shape_run(Alphabet::Dashed, 8, 30), after: shape_run(Alphabet::Dashed, 100, 200), keeps_before: false },
    TokenShape { literal: "T3BlbkFJ", kind: "openai", before: shape_run(Alphabet::Dashed, 20, 160), after: shape_run(Alphabet::Dashed, 20, 160), keeps_before: false },
    TokenShape { literal: "!AQ", kind: "salesforce", before: shape_run(Alphabet::Alnum, 12, 18), after: shape_run(Alphabet::Dotted, 60, 200), keeps_before: false },
    TokenShape { literal: "_secret_", kind: "stripe", before: shape_run(Alphabet::Word, 20, 40), after: shape_run(Alphabet::Alnum, 20, 40), keeps_before: false },
];

/// Matches a shape whose literal was found here.
pub(crate) fn match_shape(
    hay: Haystack<'_>,
    at: usize,
    shape: &TokenShape,
) -> Option<RedactionCut<'static>> {
    if !hay.starts_with(at, shape.literal) {
        return None;
    }
    let TokenShape { before, after, .. } = shape;
    let start = hay.skip_back_while(at, before.max + 1, |b| before.alphabet.contains(b));
    let literal_end = at + shape.literal.len();
    let end = hay.skip_while_within(literal_end, after.max + 1, |b| after.alphabet.contains(b));
    let fits = (before.min..=before.max).contains(&(at - start))
        && (after.min..=after.max).contains(&(end - literal_end))
        && !is_word_byte(hay.byte_at(end));
    // Client secrets of Stripe begin with the payment's prefix; other names with this word are
    // settings.
    let stripe = shape.kind != "stripe"
        || ["pi_", "seti_", "cs_", "src_"].iter().any(|prefix| hay.starts_with(start, prefix));
    // A Telegram bot id is decimal.
    let telegram =
        shape.kind != "telegram" || (start..at).all(|digit| hay.byte_at(digit).is_ascii_digit());
    let literal_start = if shape.keeps_before { at + 1 } else { start };
    (fits && stripe && telegram)
        .then(|| RedactionCut::secret(literal_start, end, shape.kind, CutCertainty::KnownPrefix))
}

/// The token of a Discord bot: its id in base64, a six-character timestamp and a signature,
/// separated by dots. `dot` is the first one.
pub(crate) fn find_discord_token(hay: Haystack<'_>, dot: usize) -> Option<RedactionCut<'static>> {
    const TIME_BYTES: usize = 6;
    let time = dot + 1 + TIME_BYTES;
    let start = hay.skip_back_while(dot, 32, |b| b.is_ascii_alphanumeric());
    let shaped = (22..=28).contains(&(dot - start))
        && matches!(hay.byte_at(start), b'M' | b'N' | b'O')
        && hay.skip_while_within(dot + 1, TIME_BYTES + 1, is_word_byte) == time;
    if !shaped || is_inside_word(hay, start) {
        return None;
    }
    let end = hay.skip_while_within(time + 1, 48, is_word_byte);
    let is_token = (26..=40).contains(&(end - time - 1)) && is_random(hay.slice(start, end));
    is_token.then(|| RedactionCut::secret(start, end, "discord", CutCertainty::KnownPrefix))
}
