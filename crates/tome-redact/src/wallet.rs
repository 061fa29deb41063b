//! Private keys of wallets in wallet import format: base58, 51 or 52 characters.

use super::cut::{CutCertainty, RedactionCut};
use super::haystack::{Haystack, is_word_byte};
use super::randomness::is_random;
use super::token::is_base58_byte;

/// First characters of a key: uncompressed, and compressed for the main network.
pub(crate) const KEY_PREFIXES: &[&str] =
    &["5H", "5J", "5K", "Kw", "Kx", "Ky", "Kz", "L1", "L2", "L3", "L4", "L5"];

/// The wallet key that starts here.
pub(crate) fn find_wallet_key(hay: Haystack<'_>, at: usize) -> Option<RedactionCut<'static>> {
    if is_word_byte(hay.byte_before(at)) && !hay.is_after_escape(at) {
        return None;
    }
    let end = hay.skip_while_within(at, 64, is_base58_byte);
    let length = if hay.byte_at(at) == b'5' { 51 } else { 52 };
    let key = hay.slice(at, end);
    let known = KEY_PREFIXES.iter().any(|start| key.starts_with(start));
    let fits = known && key.len() == length && !is_word_byte(hay.byte_at(end));
    (fits && is_random(key))
        .then(|| RedactionCut::secret(at, end, "wallet", CutCertainty::KnownPrefix))
}
