//! Names that announce a secret: `password`, `api_key`, `clientSecret`, `GITHUB_TOKEN`.

use super::haystack::{Haystack, is_name_byte, is_word_byte};

/// Longer runs are not names.
const NAME_BYTES_MAX: usize = 96;

/// How strongly a name announces a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NameStrength {
    /// The value is a secret unless it is clearly something else.
    Certain,
    /// Abbreviates a secret and other things (`pass`, `pw`): the value must not look like a word.
    Likely,
    /// Also a name of many other things (`token`, `session_key`): the value has to look like a
    /// secret.
    Ambiguous,
    /// Rarely names a secret (`write_key`, `seed`): the value has to look random.
    Rare,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct SecretName<'t> {
    pub start: usize,
    pub end: usize,
    pub text: &'t str,
    stem: usize,
}

impl<'t> SecretName<'t> {
    /// The name around a stem found in the text.
    pub fn find_around(hay: Haystack<'t>, stem: usize) -> Option<Self> {
        let start = hay.skip_back_while(stem, NAME_BYTES_MAX, is_name_byte);
        let start = if start == stem { find_owner_word(hay, stem) } else { start };
        let end = hay.skip_while_within(stem, NAME_BYTES_MAX, is_word_byte);
        if end - stem >= NAME_BYTES_MAX {
            return None;
        }
        Some(Self { start, end, text: hay.slice(start, end), stem: stem - start })
    }

    /// Its strength; `None` if the stem is part of an unrelated word.
    pub fn rate(&self) -> Option<NameStrength> {
        rate_stem(self.text, self.stem)
    }

    /// `--password`, `-password`: the value follows after a blank.
    pub fn is_flag(&self) -> bool {
        self.text.starts_with('-') || UNSIGNED_NAMES.contains(&self.text)
    }

    /// `DB_PASSWORD`: upper case, as in settings; never prose and rarely a variable in code.
    pub fn is_upper_case(&self) -> bool {
        self.text.len() > 1 && !self.text.bytes().any(|b| b.is_ascii_lowercase())
    }

    /// The kind of a secret with this name.
    pub fn secret_kind(&self) -> &'static str {
        let plain = normalize_name(self.text);
        if plain.contains("aws") || plain.contains("secretaccesskey") { "aws" } else { "password" }
    }
}

/// `api key: …` in prose: the start of the word before `key`.
fn find_owner_word(hay: Haystack<'_>, stem: usize) -> usize {
    const OWNERS: &[&str] = &[
        "api",
        "access",
        "secret",
        "private",
        "encryption",
        "signing",
        "unseal",
        "recovery",
        "master",
    ];
    if hay.byte_before(stem) != b' ' || !hay.starts_with_ignore_case(stem, "key") {
        return stem;
    }
    let word = hay.skip_back_while(stem - 1, 16, |b| b.is_ascii_alphabetic());
    let is_owner =
        |owner: &&str| owner.len() == stem - 1 - word && hay.starts_with_ignore_case(word, owner);
    if OWNERS.iter().any(is_owner) { word } else { stem }
}

/// Rates a whole name, for the keys of JSON objects.
pub(crate) fn rate_name(name: &str) -> Option<NameStrength> {
    if name.len() > NAME_BYTES_MAX {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    // These announce secrets in URLs and headers, but nearly anything in JSON.
    if matches!(lower.as_str(), "key" | "code" | "sid") || lower.contains("session") {
        let certain = ["token", "secret", "password", "key"].iter().any(|end| lower.ends_with(end));
        if !certain || lower == "key" {
            return None;
        }
    }
    STEMS
        .iter()
        .map(|stem| stem.trim_end_matches(['"', '=', ':', '\\']))
        .flat_map(|stem| lower.rmatch_indices(stem).take(1))
        .filter_map(|(at, _)| rate_stem(name, at))
        .min()
}

/// Literals for the scanner. A name is rated from its stem on.
#[rustfmt::skip]
pub(crate) const STEMS: &[&str] = &[
    "pass", "pwd", "pswd", "secret", "token", "key", "cred", "_auth", "auth=", "auth\"", "auth\\\"",
    "auth:", "masterauth", "sig=", "signature=", "pw=", "pw:", "pw\"", "psk", "salt", "seed", "jwt",
    "sessionid", "sessid", "connect.sid", "passphrase", "mnemonic", "pepper", "_pat", "code=",
];

fn rate_stem(name: &str, stem: usize) -> Option<NameStrength> {
    let (before, rest) = (name.get(..stem)?, name.get(stem..)?);
    // By far the most frequent, and a secret only as a URL parameter.
    if before.is_empty() && rest.eq_ignore_ascii_case("key") {
        return Some(NameStrength::Rare);
    }
    let whole = normalize_name(name);
    if whole.ends_with("clientkeydata") {
        return Some(NameStrength::Certain);
    }
    let rest = normalize_name(rest);
    let tail = |stem: &str| {
        rest.strip_prefix(stem).is_some_and(|suffix| {
            is_known_suffix(suffix.trim_end_matches(|c: char| c.is_ascii_digit()))
        })
    };
    if [
        "password",
        "passwd",
        "passphrase",
        "passwort",
        "passcode",
        "pwd",
        "pswd",
        "secret",
        "credential",
    ]
    .iter()
    .any(|stem| tail(stem))
    {
        return Some(NameStrength::Certain);
    }
    if tail("token") {
        return Some(if ends_with_any(&normalize_name(before), TOKEN_OWNERS) {
            NameStrength::Certain
        } else {
            NameStrength::Ambiguous
        });
    }
    // The HTML attribute for a keyboard shortcut.
    if name.eq_ignore_ascii_case("accesskey") {
        return Some(NameStrength::Ambiguous);
    }
    if tail("key") {
        return rate_key(&normalize_name(before));
    }
    if UNSIGNED_NAMES.contains(&name) {
        return Some(NameStrength::Certain);
    }
    // Test runners print a lone `PASS`.
    if before.is_empty() && matches!(name, "pass" | "Pass" | "pw" | "PW") {
        return Some(NameStrength::Likely);
    }
    if tail("pass") && is_separate_pass(before, name.get(stem..)?) {
        return Some(if ends_with_any(&normalize_name(before), PASS_OWNERS) {
            NameStrength::Certain
        } else {
            NameStrength::Ambiguous
        });
    }
    let part_of_name = !before.is_empty() && !is_separate_component(before, name.get(stem..)?);
    if tail("psk") && !part_of_name {
        return Some(NameStrength::Certain);
    }
    if (tail("cred") || tail("creds")) && !part_of_name {
        return Some(NameStrength::Ambiguous);
    }
    if rest == "pat" || name == "code" {
        return Some(NameStrength::Rare);
    }
    let weak = ["salt", "seed", "jwt", "pepper", "sessionid", "sessid", "sid"];
    if weak.iter().any(|stem| tail(stem)) {
        return Some(NameStrength::Rare);
    }
    let short = ["_auth", "auth", "sig", "signature", "Signature"].contains(&name.get(stem..)?);
    (short && !part_of_name || name.get(stem..)? == "_auth").then_some(NameStrength::Ambiguous)
}

/// Whether the stem is a separate component: `wifi_psk`, `wifiPsk`.
fn is_separate_component(before: &str, rest: &str) -> bool {
    let camel = rest.starts_with(|c: char| c.is_ascii_uppercase())
        && before.ends_with(|c: char| c.is_ascii_lowercase());
    before.ends_with(['_', '-', '.']) || camel
}

/// Settings that take a password without an operator.
const UNSIGNED_NAMES: &[&str] = &["requirepass", "masterauth"];

fn rate_key(owner: &str) -> Option<NameStrength> {
    let firm = ["api", "secret", "access", "account", "private", "preshared", "unseal"];
    if ends_with_any(owner, &firm) {
        Some(NameStrength::Certain)
    } else if ends_with_any(owner, KEY_OWNERS) {
        Some(NameStrength::Ambiguous)
    } else if ends_with_any(owner, PUBLIC_KEY_OWNERS) {
        None
    } else {
        Some(NameStrength::Rare)
    }
}

/// `db_pass`, `--pass`, `dbPass`: a separate component and not the whole name, since tests pass
/// too.
fn is_separate_pass(before: &str, rest: &str) -> bool {
    let camel = rest.starts_with('P') && before.ends_with(|c: char| c.is_ascii_lowercase());
    before.ends_with(['_', '-', '.']) || camel
}

/// The letters and digits of a name, in lower case.
fn normalize_name(name: &str) -> String {
    name.bytes()
        .filter(u8::is_ascii_alphanumeric)
        .map(|b| char::from(b.to_ascii_lowercase()))
        .collect()
}

fn ends_with_any(text: &str, ends: &[&str]) -> bool {
    ends.iter().any(|end| text.ends_with(end))
}

fn is_known_suffix(suffix: &str) -> bool {
    matches!(
        suffix,
        "" | "s"
            | "value"
            | "base"
            | "keybase"
            | "b64"
            | "base64"
            | "raw"
            | "plain"
            | "plaintext"
            | "text"
            | "str"
            | "string"
            | "prod"
            | "production"
            | "dev"
            | "development"
            | "test"
            | "staging"
            | "live"
            | "default"
            | "old"
            | "new"
            | "current"
            | "confirm"
            | "confirmation"
            | "again"
            | "repeat"
            | "primary"
            | "secondary"
            | "main"
            | "local"
            | "ci"
    )
}

#[rustfmt::skip]
const TOKEN_OWNERS: &[&str] = &[
    "access", "account", "admin", "api", "app", "auth", "authorization", "aws", "bearer", "bot",
    "client", "deploy", "github", "gitlab", "hf", "id", "jwt", "npm", "oauth", "personal",
    "push", "pypi", "refresh", "registry", "secret", "security", "service", "session", "slack",
    "user", "vault", "xauth",
];

/// Required because compilers and renderers have passes too.
#[rustfmt::skip]
const PASS_OWNERS: &[&str] = &[
    "admin", "auth", "database", "db", "ftp", "imap", "key", "ldap", "login", "mail", "mongo",
    "mysql", "pg", "postgres", "proxy", "redis", "root", "smtp", "sql", "ssh", "sudo", "user",
    "vnc", "wifi",
];

#[rustfmt::skip]
const KEY_OWNERS: &[&str] = &[
    "admin", "aes", "app", "application", "auth", "client", "consumer", "cookie", "crypto",
    "decryption", "deploy", "encrypt", "encryption", "hmac", "jwt", "license", "maps", "master",
    "openai", "anthropic", "pass", "root", "rsa", "sas", "service", "servicerole", "session",
    "shared", "sign", "signing", "ssh", "storage", "stripe", "subscription", "supabase",
    "webhook",
];

/// Keys of tables, caches and messages, and public keys.
#[rustfmt::skip]
const PUBLIC_KEY_OWNERS: &[&str] = &[
    "alternate", "attribute", "blob", "board", "bucket", "cache", "candidate", "child", "column",
    "composite", "config", "cursor", "data", "dedup", "dedupe", "deduplication", "dict", "doc",
    "document", "entry", "event", "field", "file", "filter", "foreign", "group", "hash", "host",
    "hot", "idempotency", "idempotent", "image", "index", "issue", "item", "known", "label",
    "locale", "lookup", "map", "message", "meta", "metric", "mon", "natural", "node", "object",
    "order", "page", "parent", "partition", "path", "pref", "primary", "product", "project", "pub",
    "public", "publishable", "query", "range", "react", "record", "registry", "request", "route",
    "routing", "row", "s3", "search", "setting", "shard", "short", "sort", "span", "state",
    "surrogate", "tag", "task", "tenant", "trace", "track", "translation", "tur", "unique",
    "verify", "verification", "whis",
];
