//! Decides whether a value is a secret, from its context and its characters.

use super::base64::is_encoded_login;
use super::name::NameStrength;
use super::randomness::{is_random, is_uuid};
use super::word_lists::{is_harmless_word, is_jargon, is_secret_noun, is_sentence_word};

/// Where a value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueContext {
    /// In quotes: a literal.
    Quoted,
    /// Unquoted, in settings: `NAME=value`, `--flag value`.
    Bare,
    /// Unquoted, where code and prose occur too.
    Loose,
}

/// Whether a value bound to a name of this strength is a secret.
pub(crate) fn is_secret(value: &str, context: ValueContext, strength: NameStrength) -> bool {
    let value = value.trim();
    if is_placeholder(value)
        || is_placeholder_word(value)
        || is_location(value)
        || is_reference(value)
    {
        return false;
    }
    match (strength, context) {
        (NameStrength::Ambiguous | NameStrength::Rare, ValueContext::Quoted) if is_salt(value) => {
            true
        }
        (NameStrength::Rare, _) => {
            !is_code(value) && !is_member_path(value) && !is_uuid(value) && is_random(value)
        }
        (NameStrength::Ambiguous, ValueContext::Quoted) => !is_code(value) && is_token(value),
        (NameStrength::Ambiguous, _) => {
            !is_code(value) && !is_member_path(value) && is_token(value)
        }
        (NameStrength::Likely, ValueContext::Quoted) => {
            value.len() >= 6
                && is_mixed(value)
                && !is_made_of_words(value)
                && is_quoted_secret(value)
        }
        (NameStrength::Certain, ValueContext::Quoted) => is_quoted_secret(value),
        (NameStrength::Certain, ValueContext::Bare) => !is_code(value) && is_bare_secret(value),
        (NameStrength::Certain, ValueContext::Loose) | (NameStrength::Likely, _) => {
            !is_code(value) && !is_member_path(value) && is_loose_secret(value)
        }
    }
}

/// Placeholders: empty, `***`, `<password>`, `$NAME`, `{{ name }}`, `%s`.
pub(crate) fn is_placeholder(value: &str) -> bool {
    let sign = |c| matches!(c, '*' | '•' | '●' | '.' | '…' | '-' | '_' | '#' | '?' | '█' | ':');
    let masked = value.chars().all(|c| sign(c) || value.len() >= 3 && matches!(c, 'x' | 'X'));
    let wrapped =
        [('<', '>'), ('{', '}'), ('[', ']'), ('%', '%'), ('(', ')'), ('`', '`')].iter().any(
            |(open, close)| value.len() > 1 && value.starts_with(*open) && value.ends_with(*close),
        );
    let template = ["${", "{{", "#{", "$(", "<%", "@{", "%(", "%s", "%d"]
        .iter()
        .any(|sign| value.contains(sign));
    let format =
        matches!(value, "%s" | "%d" | "%v" | "%q" | "%@" | "{}" | "{:?}" | "?" | "|" | ">");
    let sign = value.len() <= 4 && !value.bytes().any(|b| b.is_ascii_alphanumeric() || b >= 0x80);
    let flag = value
        .strip_prefix('-')
        .is_some_and(|name| name.len() == 1 || name.starts_with('-') && is_plain_word(name));
    sign || flag || masked || wrapped || template || format || is_variable(value)
}

/// References that are filled in elsewhere: `$NAME`, `$1`, `$env:NAME`, `@name`, `:name`.
fn is_variable(value: &str) -> bool {
    let Some(name) = value.strip_prefix(['$', '@', ':']) else {
        return false;
    };
    let name = name.strip_prefix("env:").unwrap_or(name);
    let all = |class: fn(&u8) -> bool| !name.is_empty() && name.bytes().all(|b| class(&b));
    let shouted = all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_');
    let number = name.len() <= 2 && all(u8::is_ascii_digit);
    shouted || number || all(|b| b.is_ascii_alphabetic() || *b == b'_')
}

/// A word in place of the value: a type, a state, `changeme`, `your-password-here`.
pub(crate) fn is_placeholder_word(value: &str) -> bool {
    let first = value.split(['|', ',', ' ']).next().unwrap_or_default();
    if is_harmless_word(value) || is_harmless_word(first) && value.contains(['|', ',']) {
        return true;
    }
    let lower = value.to_ascii_lowercase();
    let asks =
        ["your", "my-", "my_", "change", "replace", "insert", "enter", "example", "some-", "some_"]
            .iter()
            .any(|word| lower.starts_with(word));
    asks && is_made_of_words(value)
        && (value.contains(['-', '_', ' ']) || lower.starts_with("your"))
        && !value.bytes().any(|b| b.is_ascii_digit())
}

/// A location: a path, a URL, the name of a vault entry.
fn is_location(value: &str) -> bool {
    let lower = value.get(..24.min(value.len())).unwrap_or(value).to_ascii_lowercase();
    let pointer = [
        "env:",
        "env.",
        "vault:",
        "arn:",
        "file:",
        "ssm:",
        "op:",
        "enc[",
        "secretsmanager:",
        "process.env",
        "data:",
        "sops:",
        "projects/",
    ];
    let rooted = ["/", "./", "../", "~/", "c:\\", "@/"].iter().any(|root| lower.starts_with(root));
    value.contains("://")
        || pointer.iter().any(|sign| lower.starts_with(sign))
        || rooted && !is_random(value) && !value.contains(['+', '='])
        || value.contains('/') && value.split('/').all(is_plain_word)
}

fn is_plain_word(part: &str) -> bool {
    part.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'-' | b'_' | b'.'))
}

/// The name of a secret: `DB_PASSWORD`, `my-app-secret`, `#password`, `auth.token`, `newPassword`.
fn is_reference(value: &str) -> bool {
    if is_snake_name(value) || is_type_name(value) {
        return true;
    }
    let spelt = value.bytes().all(|b| b.is_ascii_alphabetic() || b"-_.:#/[]=".contains(&b));
    if !spelt || !value.is_ascii() {
        return false;
    }
    let shouted = value.contains('_') && !value.bytes().any(|b| b.is_ascii_lowercase());
    let separated = value.bytes().any(|b| !b.is_ascii_alphabetic());
    let camel = value.starts_with(|c: char| c.is_ascii_lowercase())
        && value.bytes().any(|b| b.is_ascii_uppercase())
        && !is_random(value);
    shouted
        || separated && value.split(|c: char| !c.is_ascii_alphabetic()).any(contains_secret_noun)
        || camel && split_camel_case(value).any(is_secret_noun)
}

/// `session_token2`, `imdsv2_key`: words joined by `_`, possibly ending with a digit.
fn is_snake_name(value: &str) -> bool {
    let word = |part: &str| {
        let stem = part.trim_end_matches(|c: char| c.is_ascii_digit());
        !stem.is_empty()
            && part.len() - stem.len() <= 1
            && stem.bytes().all(|b| b.is_ascii_lowercase())
    };
    value.contains('_') && value.split('_').all(word) && value.split('_').any(is_secret_noun)
}

/// A type name: `PKCS7PrivateKeyTypes`, `V1SecretSource`, `list[V1Secret]`.
fn is_type_name(value: &str) -> bool {
    let inner = value.split_once('[').map_or(value, |(_, inner)| inner.trim_end_matches(']'));
    let digits = inner.bytes().filter(u8::is_ascii_digit).count();
    let capitals = inner.bytes().filter(u8::is_ascii_uppercase).count();
    inner.starts_with(|c: char| c.is_ascii_uppercase())
        && inner.bytes().all(|b| b.is_ascii_alphanumeric())
        && digits == 1
        && capitals >= 3
        && inner.ends_with(|c: char| c.is_ascii_lowercase())
        && split_camel_case(inner).any(|word| {
            is_secret_noun(word) || matches!(word, "Reference" | "Array" | "String" | "Schema")
        })
}

/// `secretName` in `auth.secretName` names a secret too.
fn contains_secret_noun(part: &str) -> bool {
    is_secret_noun(part) || split_camel_case(part).any(is_secret_noun)
}

fn split_camel_case(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest
            .char_indices()
            .skip(1)
            .find(|(_, c)| c.is_ascii_uppercase())
            .map_or(rest.len(), |(at, _)| at);
        let (word, tail) = rest.split_at_checked(end)?;
        rest = tail;
        Some(word)
    })
}

/// An expression in source code: a call, an index, a path, a reference.
fn is_code(value: &str) -> bool {
    let opens = value.starts_with(['(', '[', '{', '<', '|', '&', '\\', '=']);
    let unpadded = value.trim_end_matches('=');
    let joins = ["::", "->", "=>", "?.", "()", "+=", "!=", "==", "&&", "||"]
        .iter()
        .any(|sign| unpadded.contains(sign));
    let callee = |at: usize| {
        value.get(..at).is_some_and(|name| {
            !name.is_empty()
                && !name.starts_with(|c: char| c.is_ascii_digit())
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.:!*$".contains(&b))
        })
    };
    let called = value.find(['(', '[', '{', '<']).is_some_and(callee);
    let chained = value.contains(").") || value.contains("})");
    opens || joins || called || chained
}

/// Names joined by dots: `self.token2`, `args.password`, `user.p1`.
fn is_member_path(value: &str) -> bool {
    let value = value.trim_end_matches(['!', '?', ';']);
    // `token2`, `sha256`, `Ed25519Key`: a name has one number in it, not several.
    let numbers = |part: &str| {
        let digit = |c: char| c.is_ascii_digit();
        part.split(|c| !digit(c)).filter(|run| !run.is_empty()).count()
    };
    let names = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && (part.len() <= 4 || numbers(part) <= 1 || is_camel_case_type(part))
    };
    value.contains('.') && value.split('.').all(names)
}

/// `Uint8ArrayFromBase64`: capitalized words with numbers in between.
fn is_camel_case_type(part: &str) -> bool {
    let words = split_camel_case(part).filter(|word| word.len() >= 4).count();
    part.starts_with(|c: char| c.is_ascii_uppercase()) && words >= 3 && !is_random(part)
}

/// Made of words and numbers: `32-byte`, `gpt-4o`, `base64-encoded`, `user_input`.
pub(crate) fn is_made_of_words(value: &str) -> bool {
    let word = |part: &str| {
        part.len() <= 3
            || part.bytes().all(|b| b.is_ascii_alphabetic())
            || part.bytes().all(|b| b.is_ascii_digit())
            || is_jargon(part)
    };
    value.split(|c: char| "-_./:+,@$ ".contains(c)).all(|part| part.is_ascii() && word(part))
}

/// A salt of printable characters, as generated for web applications.
fn is_salt(value: &str) -> bool {
    const BYTES_MIN: usize = 40;
    let count = |class: fn(&u8) -> bool| value.bytes().filter(class).count();
    let signs = count(u8::is_ascii_punctuation);
    value.len() >= BYTES_MIN
        && value.is_ascii()
        && signs * 6 >= value.len()
        && count(u8::is_ascii_digit) >= 2
        && count(u8::is_ascii_uppercase) >= 2
        && count(u8::is_ascii_lowercase) >= 2
        && count(|b| *b == b' ') * 12 <= value.len()
}

/// Looks like a token: generated, an encoded login, or letters and digits that are not words.
fn is_token(value: &str) -> bool {
    const BYTES_MIN: usize = 8;
    if value.contains([' ', '\\']) || !value.is_ascii() || value.len() < BYTES_MIN {
        return false;
    }
    is_random(value)
        || is_encoded_login(value)
        || is_mixed(value)
            && !is_made_of_words(value)
            && !is_date(value)
            && !value.starts_with("0x")
}

fn is_mixed(value: &str) -> bool {
    value.bytes().any(|b| b.is_ascii_digit()) && value.bytes().any(|b| b.is_ascii_alphabetic())
}

fn is_date(value: &str) -> bool {
    let shape: Vec<u8> = value.bytes().take(8).collect();
    matches!(shape.as_slice(), [y, _, _, _, b'-', m, _, b'-'] if y.is_ascii_digit() && m.is_ascii_digit())
}

/// A literal bound to a firm name is a secret unless it reads like a sentence or a label.
fn is_quoted_secret(value: &str) -> bool {
    let spoken = !value.is_ascii() && !value.bytes().any(|b| b.is_ascii_digit());
    if spoken {
        return false;
    }
    let mut words = value.split_ascii_whitespace();
    if words.clone().count() < 2 {
        return !is_code_name(value);
    }
    let is_prose = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        is_sentence_word(&word.replace('\'', "")) || is_secret_noun(word)
    };
    words.clone().count() <= 12 && !words.any(is_prose)
}

/// `user.password`, `x.y.z`: words joined by dots, the name of a message or a field.
fn is_code_name(value: &str) -> bool {
    value.contains('.') && value.split('.').all(|part| !part.is_empty() && is_plain_word(part))
}

/// In settings any word is a value, except that `snake_case` is a variable.
fn is_bare_secret(value: &str) -> bool {
    let digits = value.bytes().all(|b| b.is_ascii_digit());
    let snake = value.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    if digits {
        return value.len() >= 4;
    }
    let path = is_member_path(value) && !value.bytes().any(|b| b.is_ascii_digit());
    let variable = snake && (1..=2).contains(&value.matches('_').count());
    !path && !variable
}

/// Where code and prose occur, a secret has to differ from both.
fn is_loose_secret(value: &str) -> bool {
    const WORD_BYTES_MIN: usize = 16;
    let digits = value.bytes().all(|b| b.is_ascii_digit());
    if digits {
        return value.len() >= 4;
    }
    if is_date(value) {
        return false;
    }
    let signs = value.bytes().filter(|b| b"!@#$%^&*".contains(b)).count();
    let cased = value.bytes().any(|b| b.is_ascii_uppercase())
        && value.bytes().any(|b| b.is_ascii_lowercase());
    let signed = value.len() >= 6
        && (signs >= 2 || signs == 1 && cased && !value.ends_with('!'))
        && !value.contains(['(', '.', '{']);
    let long = value.len() >= WORD_BYTES_MIN && value.bytes().all(|b| b.is_ascii_lowercase());
    let phrase = value.matches('-').count() >= 3 && is_plain_word(value);
    value.len() >= 6 && is_mixed(value) && !is_made_of_words(value)
        || signed
        || long
        || phrase
        || is_random(value)
}
