//! Generates secrets from specifications, deterministically.
//!
//! A specification is literal text with classes in brackets: a letter for the alphabet and a number
//! for the length. Thus no secret is stored in the repository.

/// A small deterministic generator (SplitMix64).
pub struct Random(u64);

impl Random {
    /// Creates a generator whose sequence depends only on the text.
    pub fn seeded(text: &str) -> Self {
        let seed = text.bytes().fold(0xCBF2_9CE4_8422_2325u64, |hash, b| {
            (hash ^ u64::from(b)).wrapping_mul(0x100_0000_01B3)
        });
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn pick(&mut self, alphabet: &[u8]) -> char {
        char::from(alphabet[(self.next() % alphabet.len() as u64) as usize])
    }

    fn word<'w>(&mut self, words: &[&'w str]) -> &'w str {
        words[(self.next() % words.len() as u64) as usize]
    }
}

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const DIGITS: &str = "0123456789";

fn alphabet(class: char) -> Vec<u8> {
    match class {
        // Letters and digits.
        'a' => format!("{UPPER}{LOWER}{DIGITS}"),
        // Letters, digits, `_` and `-`.
        'w' => format!("{UPPER}{LOWER}{DIGITS}{UPPER}{LOWER}{DIGITS}_-"),
        // Base64.
        'b' => format!("{UPPER}{LOWER}{DIGITS}{UPPER}{LOWER}{DIGITS}+/"),
        'h' => "0123456789abcdef".to_owned(),
        'H' => "0123456789ABCDEF".to_owned(),
        // Capitals and digits.
        'c' => format!("{UPPER}{DIGITS}"),
        // Base32.
        'C' => format!("{UPPER}234567"),
        // Small letters and digits.
        'l' => format!("{LOWER}{DIGITS}"),
        'L' => format!("{UPPER}{LOWER}"),
        'd' => DIGITS.to_owned(),
        // Base58.
        '5' => "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".to_owned(),
        // A password chosen by a person: letters, digits and characters that need no shell quoting.
        'p' => format!("{UPPER}{LOWER}{DIGITS}{LOWER}{DIGITS}!@^_+"),
        // Printable characters, as in salts.
        's' => format!("{UPPER}{LOWER}{DIGITS}{UPPER}{LOWER}{DIGITS}!@#^&*()_+-[]<>~`?|:.,/"),
        other => panic!("unknown class {other}"),
    }
    .into_bytes()
}

/// Generates the text that a specification describes.
pub fn generate(spec: &str, random: &mut Random) -> String {
    let mut out = String::new();
    let mut rest = spec;
    while let Some((literal, after)) = rest.split_once('[') {
        out.push_str(literal);
        let (class, tail) = after.split_once(']').expect("a closed class");
        rest = tail;
        if class == "uuid" {
            out.push_str(&generate("[h8]-[h4]-4[h3]-a[h3]-[h12]", random));
            continue;
        }
        if let Some(count) = class.strip_prefix("words") {
            let words: Vec<&str> =
                include_str!("../../src/bip39_english.txt").split_whitespace().collect();
            let picked: Vec<&str> =
                (0..count.parse().unwrap()).map(|_| random.word(&words)).collect();
            out.push_str(&picked.join(" "));
            continue;
        }
        let mut chars = class.chars();
        let letters = alphabet(chars.next().expect("a class"));
        let length: usize = chars.as_str().parse().expect("a length");
        let start = out.len();
        loop {
            out.truncate(start);
            (0..length).for_each(|_| out.push(random.pick(&letters)));
            // A generated secret uses all character classes of its alphabet.
            let part = &out[start..];
            let needs_digit = length >= 8 && letters.contains(&b'3');
            let needs_letter = length >= 8 && letters.iter().any(u8::is_ascii_alphabetic);
            let digit = part.bytes().any(|b| b.is_ascii_digit());
            let letter = part.bytes().any(|b| b.is_ascii_alphabetic());
            let edges = part.bytes().next().is_none_or(|b| b.is_ascii_alphanumeric())
                && part.bytes().last().is_none_or(|b| b.is_ascii_alphanumeric());
            if (digit || !needs_digit) && (letter || !needs_letter) && edges {
                break;
            }
        }
    }
    out.push_str(rest);
    out
}

pub fn encode_base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().fold(0u32, |bits, b| bits << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let sextet = (bits >> (18 - 6 * at) & 63) as usize;
            out.push(if at <= chunk.len() { char::from(LETTERS[sextet]) } else { '=' });
        }
    }
    out
}
