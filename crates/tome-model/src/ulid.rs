//! Deterministic ULIDs, which sort by time: 26 characters of Crockford's base 32, from 48 bits of
//! milliseconds and 80 bits of a hash.

use crate::{Millis, hash_parts};

/// Base 32 without ambiguous letters.
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// 128 bits at five bits per digit.
const LEN: usize = 26;

/// Of these, the digits of the time.
const TIME_LEN: usize = 10;

/// Builds the ULID of something with a time and identifying parts; see [`hash_parts`].
pub(crate) fn derive_ulid(at: Millis, context: &str, parts: &[&str]) -> String {
    let time = u128::from(at.0.min((1 << 48) - 1)) << 80;
    encode(time | (hash_parts(context, parts) >> 48))
}

/// Returns the text in uppercase if it is a ULID.
pub(crate) fn parse(text: &str) -> Option<String> {
    let text = text.to_ascii_uppercase();
    is_ulid(&text).then_some(text)
}

/// Whether a text is an uppercase ULID.
pub(crate) fn is_ulid(text: &str) -> bool {
    // 26 digits can hold 130 bits, so the first is at most 7.
    let fits = text.len() == LEN && text.bytes().next().is_some_and(|first| first <= b'7');
    // Without an early exit, because nearly all are.
    fits && text.bytes().fold(true, |all, byte| all & is_digit(byte))
}

fn is_digit(byte: u8) -> bool {
    let letter = byte.is_ascii_uppercase() & !matches!(byte, b'I' | b'L' | b'O' | b'U');
    byte.is_ascii_digit() | letter
}

/// Decodes an uppercase ULID.
pub(crate) fn decode(text: &str) -> Option<u128> {
    text.bytes().try_fold(0, |bits: u128, byte| {
        let five = DIGITS.iter().position(|digit| *digit == byte)?;
        Some(bits << 5 | u128::try_from(five).ok()?)
    })
}

/// The time of a ULID, or of a prefix of one that holds the whole time. `None` for other texts, and for
/// times so late that they are no times of events.
pub fn parse_ulid_time(text: &str) -> Option<Millis> {
    let text = text.to_ascii_uppercase();
    let time = text.get(..TIME_LEN).filter(|_| text.len() <= LEN && text.starts_with('0'))?;
    decode(&text)?;
    u64::try_from(decode(time)?).ok().map(Millis)
}

pub(crate) fn encode(bits: u128) -> String {
    let digit = |index: usize| {
        let five = usize::try_from((bits >> (5 * index)) & 31).unwrap_or(0);
        DIGITS.get(five).map_or('0', |byte| char::from(*byte))
    };
    (0..LEN).rev().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_the_bits_are_written() {
        assert_eq!(encode(0), "00000000000000000000000000");
        assert_eq!(encode(u128::MAX), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
        // The example of the ULID specification: this time has these ten digits.
        assert!(derive_ulid(Millis(1_469_918_176_385), "test", &[]).starts_with("01ARYZ6S41"));
    }

    #[test]
    fn a_digit_is_one_that_is_written() {
        assert!((0..=u8::MAX).all(|byte| is_digit(byte) == DIGITS.contains(&byte)));
    }

    #[test]
    fn the_time_of_a_ulid_is_read() {
        assert_eq!(parse_ulid_time("01KGR6Z9GP"), Some(Millis(1_770_339_149_334)));
        assert_eq!(parse_ulid_time("01kgr6z9gpks"), Some(Millis(1_770_339_149_334)));
        for other in ["01KGR6Z9G", "toc:day:2026-11-14", "419f42f0-2fa1", "zzzzzzzzzzzz"] {
            assert_eq!(parse_ulid_time(other), None, "{other}");
        }
    }

    #[test]
    fn only_ulids_are_read() {
        let one = derive_ulid(Millis(1), "test", &["a"]);
        assert_eq!(parse(&one.to_lowercase()), Some(one.clone()));
        assert_ne!(one, derive_ulid(Millis(1), "test", &["b"]));
        assert_ne!(
            derive_ulid(Millis(1), "test", &["ab", "c"]),
            derive_ulid(Millis(1), "test", &["a", "bc"])
        );
        for bad in [
            "",
            "0",
            "80000000000000000000000000",
            "0000000000000000000000000U",
            "0000000000000000000000000é",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
