//! A small base64 decoder for inspecting the start of encoded values.

/// Decodes the base64 prefix of a text, in either alphabet, up to `bytes_max` bytes.
pub(crate) fn decode_prefix(text: &[u8], bytes_max: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes_max.min(text.len()));
    let (mut bits, mut count) = (0u32, 0u32);
    for b in text {
        let Some(value) = decode_sextet(*b) else { break };
        bits = (bits << 6 | u32::from(value)) & 0xFFFF;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count & 0xFF) as u8);
            if out.len() >= bytes_max {
                break;
            }
        }
    }
    out
}

fn decode_sextet(b: u8) -> Option<u8> {
    match b {
        b'A'..=b'Z' => Some(b - b'A'),
        b'a'..=b'z' => Some(b - b'a' + 26),
        b'0'..=b'9' => Some(b - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

/// Whether a text is base64 of a printable `user:password`, as in basic authentication.
pub(crate) fn is_encoded_login(text: &str) -> bool {
    const BYTES_MAX: usize = 512;
    let unpadded = text.trim_end_matches('=').as_bytes();
    if unpadded.len() < 6 || unpadded.iter().any(|b| decode_sextet(*b).is_none()) {
        return false;
    }
    let decoded = decode_prefix(unpadded, BYTES_MAX);
    let printable = decoded.iter().all(|b| (b' '..=b'~').contains(b));
    let colon = decoded.iter().position(|b| *b == b':');
    printable && colon.is_some_and(|at| at > 0 && at + 1 < decoded.len())
}
