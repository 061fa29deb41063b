//! Word lists that distinguish ordinary words from secrets. Each list is sorted.

/// Whether a sorted list contains a word, ignoring case.
fn contains_word(list: &[&str], word: &str) -> bool {
    let lower = || word.bytes().map(|byte| byte.to_ascii_lowercase());
    list.binary_search_by(|entry| entry.bytes().cmp(lower())).is_ok()
}

/// Whether a value is a type, a state or a description instead of a secret.
pub(crate) fn is_harmless_word(word: &str) -> bool {
    contains_word(HARMLESS, word) || is_jargon(word)
}

/// Whether a word names a secret without being one.
pub(crate) fn is_secret_noun(word: &str) -> bool {
    contains_word(SECRET_NOUNS, word)
}

/// Whether a word occurs in sentences but not in passphrases.
pub(crate) fn is_sentence_word(word: &str) -> bool {
    contains_word(SENTENCE_WORDS, word)
}

/// Whether a word is a technical term of letters and digits: `sha256`, `u32`, `base64`, `v1`.
pub(crate) fn is_jargon(word: &str) -> bool {
    let stem = word.trim_end_matches(|c: char| c.is_ascii_digit());
    stem.len() < word.len() && word.len() - stem.len() <= 4 && contains_word(JARGON_STEMS, stem)
}

#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "absent", "active", "and", "any", "arg", "args", "argument", "arguments", "array", "as",
    "asterisk", "async", "auto", "await", "bad", "basic", "bearer", "blank", "blob", "bool",
    "boolean", "buffer", "bytearray", "bytes", "cancelled", "changed", "changeit", "changeme",
    "char", "checked", "click", "compat", "compromised", "config", "confirmed", "const",
    "correct", "created", "credential", "credentials", "data", "def", "default", "defined",
    "deleted", "denied", "deprecated", "disabled", "dummy", "dynamic", "eh", "email", "empty",
    "enabled", "encoded", "encrypted", "enter", "env", "environment", "error", "example",
    "exists", "expired", "export", "external", "failed", "false", "field", "fields", "file",
    "files", "fixme", "flag", "flags", "float", "fn", "foo", "for", "forgotten", "found",
    "from", "func", "function", "generated", "given", "global", "good", "hash", "hashed",
    "header", "hidden", "id", "if", "ignored", "import", "in", "include", "incorrect",
    "inherit", "input", "insecure", "int", "integer", "interface", "internal", "invalid", "is",
    "it", "json", "jwt", "key", "keychain", "keyring", "keys", "lambda", "leaked", "leave",
    "length", "let", "list", "literal", "local", "long", "lost", "manual", "map", "masked",
    "match", "matched", "matches", "mismatch", "missing", "mixed", "name", "never", "new",
    "nil", "no", "none", "not", "null", "number", "oauth", "object", "off", "ok", "omit", "on",
    "opaque", "option", "optional", "options", "or", "other", "output", "param", "parameter",
    "parameters", "passed", "passphrase", "passwd", "password", "passwords", "pending",
    "placeholder", "plain", "plaintext", "present", "private", "prompt", "prompts", "protected",
    "provided", "public", "pw", "pwd", "random", "raw", "read", "readonly", "redacted", "ref", "refresh",
    "regexp", "rejected", "removed", "required", "reset", "return", "revoked", "rotated",
    "safe", "salt", "same-origin", "saved", "secret", "secrets", "see", "self", "sensitive",
    "session", "set", "short", "static", "stdin", "stored", "str", "string", "strong", "struct",
    "success", "super", "symbol", "tbd", "test", "text", "this", "to", "todo", "token",
    "tokens", "too", "true", "type", "undefined", "unique", "unknown", "unset", "unused",
    "update", "updated", "use", "user", "username", "uuid", "valid", "value", "values", "var",
    "varchar", "vault", "void", "weak", "whatever", "when", "with", "write", "wrong", "xxx",
    "yes", "yield", "your",
];

#[rustfmt::skip]
const SECRET_NOUNS: &[&str] = &[
    "access", "api", "apikey", "auth", "cred", "credential", "credentials", "creds", "key",
    "pass", "passphrase", "passwd", "password", "passwords", "pw", "pwd", "secret", "secrets",
    "token", "tokens",
];

#[rustfmt::skip]
const SENTENCE_WORDS: &[&str] = &[
    "a", "again", "an", "and", "are", "at", "be", "by", "can", "cannot", "characters", "de",
    "did", "do", "does", "dont", "el", "enter", "field", "for", "forgot", "from", "has", "have",
    "here", "if", "in", "incorrect", "invalid", "is", "it", "la", "least", "match", "minimum",
    "missing", "must", "new", "no", "not", "of", "on", "or", "please", "required", "should",
    "that", "the", "this", "to", "too", "used", "was", "when", "will", "with", "wrong", "you",
    "your",
];

#[rustfmt::skip]
const JARGON_STEMS: &[&str] = &[
    "aes", "arg", "argon", "b", "base", "bits", "blake", "byte", "bytes", "char", "col",
    "complex", "ctx", "curve", "des", "ecdsa", "ed", "es", "field", "file", "float", "foo", "h",
    "hmac", "hs", "http", "i", "id", "idx", "int", "ip", "k", "key", "line", "md", "node", "np",
    "num", "oauth", "option", "p", "page", "param", "part", "pass", "password", "pbkdf", "ps",
    "pw", "pwd", "r", "res", "ripemd", "rs", "rsa", "s", "secp", "secret", "sha", "step", "str",
    "string", "t", "test", "tls", "tmp", "tok", "token", "u", "uint", "user", "utf", "uuid",
    "uuidv", "v", "val", "value", "var", "varchar", "ver", "version", "x",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        for list in [HARMLESS, SECRET_NOUNS, SENTENCE_WORDS, JARGON_STEMS] {
            assert!(list.is_sorted(), "{:?}", list.windows(2).find(|w| w[0] > w[1]));
        }
    }
}
