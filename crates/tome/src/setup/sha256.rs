//! SHA-256 (FIPS 180-4), used only to compare with a hash that Codex stores of a public text. The
//! constants are computed as the standard defines them, from the fractional parts of the roots of
//! the first primes.

/// Returns the hash in hexadecimal.
pub fn sha256(message: &[u8]) -> String {
    let mut state = initial_state();
    let rounds = round_constants();
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((message.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks_exact(64) {
        let mut words = Vec::with_capacity(64);
        for word in block.chunks_exact(4) {
            words.push(word.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)));
        }
        let at = |words: &[u32], back: usize| {
            words.len().checked_sub(back).and_then(|at| words.get(at)).copied().unwrap_or_default()
        };
        for _ in 16..64 {
            let (a, b) = (at(&words, 15), at(&words, 2));
            let low = a.rotate_right(7) ^ a.rotate_right(18) ^ a >> 3;
            let high = b.rotate_right(17) ^ b.rotate_right(19) ^ b >> 10;
            let next = at(&words, 16).wrapping_add(low).wrapping_add(at(&words, 7));
            words.push(next.wrapping_add(high));
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for (word, round) in words.iter().zip(&rounds) {
            let mix = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let choice = e & f ^ !e & g;
            let one = h.wrapping_add(mix).wrapping_add(choice);
            let one = one.wrapping_add(*round).wrapping_add(*word);
            let mix = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let two = mix.wrapping_add(a & b ^ a & c ^ b & c);
            (h, g, f, e) = (g, f, e, d.wrapping_add(one));
            (d, c, b, a) = (c, b, a, one.wrapping_add(two));
        }
        for (kept, new) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *kept = kept.wrapping_add(new);
        }
    }
    state.iter().map(|word| format!("{word:08x}")).collect()
}

/// From the square roots of the first 8 primes.
fn initial_state() -> [u32; 8] {
    let mut primes = primes();
    std::array::from_fn(|_| low_bits((primes.next().unwrap_or_default() << 64).isqrt()))
}

/// From the cube roots of the first 64 primes.
fn round_constants() -> Vec<u32> {
    primes().take(64).map(|prime| low_bits(cube_root(prime << 96))).collect()
}

fn primes() -> impl Iterator<Item = u128> {
    (2_u128..).filter(|number| (2..*number).all(|divisor| number % divisor != 0))
}

/// Returns the largest integer whose cube does not exceed `number`.
fn cube_root(number: u128) -> u128 {
    (0..36).rev().fold(0, |root, bit| {
        let tried = root | 1 << bit;
        if tried * tried * tried <= number { tried } else { root }
    })
}

fn low_bits(number: u128) -> u32 {
    u32::try_from(number & u128::from(u32::MAX)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_match_the_published_test_vectors() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(b""), empty);
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), abc);
        let long = "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";
        assert_eq!(sha256(b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), long);
    }
}
