//! Binary encoding: LEB128 integers and length-prefixed strings. The `take_*` functions consume
//! from the front of a slice.

pub(super) fn put_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push((number & 0x7f) as u8);
}

pub(super) fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

pub(super) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put_varint(bytes, text.len() as u64);
    bytes.extend_from_slice(text.as_bytes());
}

pub(super) fn take_text(bytes: &mut &[u8]) -> Option<String> {
    let length = usize::try_from(take_varint(bytes)?).ok()?;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    String::from_utf8(text.to_vec()).ok()
}

pub(super) fn take_array<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*taken)
}

/// Detects corrupt records. Fast rather than cryptographic, because every row has one: it guards
/// against disk faults, not tampering.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mixed =
        |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let mut sum =
        words.iter().fold(bytes.len() as u64, |sum, word| mixed(sum, u64::from_le_bytes(*word)));
    for byte in rest {
        sum = mixed(sum, u64::from(*byte));
    }
    // Every input byte affects the upper half.
    (sum.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}
