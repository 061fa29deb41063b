//! The format of a rule for tokens with the prefix of their issuer.

/// One issuer's token format.
#[derive(Clone, Copy)]
pub(crate) struct TokenRule {
    pub prefix: &'static str,
    pub kind: &'static str,
    pub alphabet: Alphabet,
    /// Fewest bytes after the prefix.
    pub bytes_min: usize,
    /// Most bytes after the prefix.
    pub bytes_max: usize,
    pub check: TokenCheck,
    pub position: PrefixPosition,
    /// Whether the prefix is kept, such as the host of a webhook.
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

/// A condition on the text after the prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenCheck {
    /// None: the prefix is distinctive enough.
    None,
    /// Some part looks generated; ordinary names begin with the prefix too.
    Random,
    /// Contains upper-case and lower-case letters and digits.
    Mixed,
    /// Contains a digit.
    Digit,
}

/// Where a prefix may occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PrefixPosition {
    /// Even inside a word.
    Anywhere,
    WordStart,
}

/// A rule for at least `min` bytes after the prefix.
pub(crate) const fn rule(
    prefix: &'static str,
    kind: &'static str,
    alphabet: Alphabet,
    min: usize,
) -> TokenRule {
    TokenRule {
        prefix,
        kind,
        alphabet,
        bytes_min: min,
        bytes_max: usize::MAX,
        check: TokenCheck::None,
        position: PrefixPosition::WordStart,
        keeps_prefix: false,
    }
}

/// A rule for `min` to `max` bytes after the prefix.
pub(crate) const fn sized(
    prefix: &'static str,
    kind: &'static str,
    alphabet: Alphabet,
    min: usize,
    max: usize,
) -> TokenRule {
    TokenRule { bytes_max: max, ..rule(prefix, kind, alphabet, min) }
}

/// A rule for at least `min` bytes that look generated.
pub(crate) const fn random(
    prefix: &'static str,
    kind: &'static str,
    alphabet: Alphabet,
    min: usize,
) -> TokenRule {
    TokenRule { check: TokenCheck::Random, ..rule(prefix, kind, alphabet, min) }
}

/// A rule whose prefix is distinctive even inside a word.
pub(crate) const fn anywhere(
    prefix: &'static str,
    kind: &'static str,
    alphabet: Alphabet,
    min: usize,
) -> TokenRule {
    TokenRule { position: PrefixPosition::Anywhere, ..rule(prefix, kind, alphabet, min) }
}

/// A rule for a URL whose path is the secret.
pub(crate) const fn webhook(prefix: &'static str, kind: &'static str, min: usize) -> TokenRule {
    TokenRule { keeps_prefix: true, ..anywhere(prefix, kind, Alphabet::Path, min) }
}

pub(crate) const fn mixed(rule: TokenRule) -> TokenRule {
    TokenRule { check: TokenCheck::Mixed, ..rule }
}

pub(crate) const fn with_digit(rule: TokenRule) -> TokenRule {
    TokenRule { check: TokenCheck::Digit, ..rule }
}
