//! The form of a rule for tokens that carry the prefix of their issuer.

/// One issuer's token format.
#[derive(Clone, Copy)]
pub(crate) struct Rule {
    pub prefix: &'static str,
    pub kind: &'static str,
    pub alphabet: Alphabet,
    /// Fewest bytes after the prefix.
    pub bytes_min: usize,
    /// Most bytes after the prefix.
    pub bytes_max: usize,
    pub check: Check,
    pub position: Position,
    /// Whether the prefix stays, as the host of a webhook does.
    pub keeps_prefix: bool,
}

/// The bytes that may follow a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alphabet {
    /// `0-9a-fA-F`
    Hex,
    /// `A-Za-z0-9`
    Alnum,
    /// `A-Z0-9`
    Capitals,
    /// Alnum and `_`
    Word,
    /// Word and `$`
    Dollar,
    /// Word and `-`
    Dashed,
    /// Dashed and `.`
    Dotted,
    /// Dotted and `+`, `/`, `=`, `~`, `%`
    Base64,
    /// Dashed and `/`, `@`, `.`
    Path,
    /// Letters and digits without `0`, `O`, `I` and `l`
    Base58,
}

/// A condition on the rest of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    /// Nothing: the prefix is telling enough.
    None,
    /// Some part of it looks generated, because ordinary names begin with the prefix too.
    Random,
    /// It holds capitals, small letters and digits.
    Mixed,
    /// It holds at least one digit.
    Digit,
}

/// Allowed position of a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// Also inside a word.
    Anywhere,
    WordStart,
}

/// At least so many bytes follow.
pub(crate) const fn rule(
    prefix: &'static str,
    kind: &'static str,
    alphabet: Alphabet,
    min: usize,
) -> Rule {
    Rule {
        prefix,
        kind,
        alphabet,
        bytes_min: min,
        bytes_max: usize::MAX,
        check: Check::None,
        position: Position::WordStart,
        keeps_prefix: false,
    }
}

/// Between `min` and `max` bytes follow.
pub(crate) const fn sized(
    prefix: &'static str,
    kind: &'static str,
    alphabet: Alphabet,
    min: usize,
    max: usize,
) -> Rule {
    Rule { bytes_max: max, ..rule(prefix, kind, alphabet, min) }
}

/// At least so many bytes follow that look generated.
pub(crate) const fn random(
    prefix: &'static str,
    kind: &'static str,
    alphabet: Alphabet,
    min: usize,
) -> Rule {
    Rule { check: Check::Random, ..rule(prefix, kind, alphabet, min) }
}

/// The prefix is telling also inside a word.
pub(crate) const fn anywhere(
    prefix: &'static str,
    kind: &'static str,
    alphabet: Alphabet,
    min: usize,
) -> Rule {
    Rule { position: Position::Anywhere, ..rule(prefix, kind, alphabet, min) }
}

/// An address whose path is the secret.
pub(crate) const fn webhook(prefix: &'static str, kind: &'static str, min: usize) -> Rule {
    Rule { keeps_prefix: true, ..anywhere(prefix, kind, Alphabet::Path, min) }
}

pub(crate) const fn mixed(rule: Rule) -> Rule {
    Rule { check: Check::Mixed, ..rule }
}

pub(crate) const fn with_digit(rule: Rule) -> Rule {
    Rule { check: Check::Digit, ..rule }
}
