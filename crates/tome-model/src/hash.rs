//! Hashes of identifying parts.

/// Hashes parts of text to 128 bits. `context` separates kinds of hashes; parts are length-prefixed,
/// so `["ab", "c"]` and `["a", "bc"]` differ. Ids are made of these hashes, so they never change.
pub fn hash_parts(context: &str, parts: &[&str]) -> u128 {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    for part in parts {
        hasher.update(&(part.len() as u64).to_be_bytes()).update(part.as_bytes());
    }
    let mut hash = [0; 16];
    hasher.finalize_xof().fill(&mut hash);
    u128::from_be_bytes(hash)
}
