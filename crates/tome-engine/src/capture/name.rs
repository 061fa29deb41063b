//! Names that say a secret follows: `password`, `api_key`, `clientSecret`, `GITHUB_TOKEN`.

use super::scan::{Scan, is_name, is_wordlike};

/// A name longer than this is no name.
const NAME_BYTES_MAX: usize = 96;

/// How much a name alone says about what follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// Whatever stands here is a secret unless it shows that it is none.
    Firm,
    /// Short for a secret and for other things (`pass`, `pw`): it may look like a word with a
    /// number, but not like a word.
    Fair,
    /// Much else has this name (`token`, `session_key`): it has to look like a secret as well.
    Faint,
}

/// A name in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name<'t> {
    pub start: usize,
    pub end: usize,
    pub text: &'t str,
    stem: usize,
}

impl<'t> Name<'t> {
    /// The name around a stem that was found in the text.
    pub fn around(scan: Scan<'t>, stem: usize) -> Option<Self> {
        let start = scan.run_back(stem, NAME_BYTES_MAX, is_name);
        let start = if start == stem { spoken_owner(scan, stem) } else { start };
        let end = scan.run_within(stem, NAME_BYTES_MAX, is_wordlike);
        if end - stem >= NAME_BYTES_MAX {
            return None;
        }
        Some(Self { start, end, text: scan.part(start, end), stem: stem - start })
    }

    /// How much it says; `None` if the stem is only a part of another word.
    pub fn weigh(&self) -> Option<Weight> {
        weigh(self.text, self.stem)
    }

    /// `--password`, `-password`: what follows a blank is its value.
    pub fn is_flag(&self) -> bool {
        self.text.starts_with('-') || self.text == "requirepass"
    }

    /// `DB_PASSWORD`: a setting, never a word of prose and rarely a variable.
    pub fn is_shouted(&self) -> bool {
        self.text.len() > 1 && !self.text.bytes().any(|b| b.is_ascii_lowercase())
    }

    /// The kind that a secret of this name has.
    pub fn kind(&self) -> &'static str {
        let plain = plain(self.text);
        if plain.contains("aws") || plain.contains("secretaccesskey") { "aws" } else { "password" }
    }
}

/// `api key: …` in prose: where the word before `key` starts.
fn spoken_owner(scan: Scan<'_>, stem: usize) -> usize {
    const OWNERS: &[&str] = &["api", "access", "secret", "private", "encryption", "signing"];
    if scan.before(stem) != b' ' || !scan.starts_caseless(stem, "key") {
        return stem;
    }
    let word = scan.run_back(stem - 1, 16, |b| b.is_ascii_alphabetic());
    let is_owner =
        |owner: &&str| owner.len() == stem - 1 - word && scan.starts_caseless(word, owner);
    if OWNERS.iter().any(is_owner) { word } else { stem }
}

/// How much a whole name says, for the keys of JSON objects.
pub(super) fn weigh_whole(name: &str) -> Option<Weight> {
    if name.len() > NAME_BYTES_MAX {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    STEMS
        .iter()
        .flat_map(|stem| lower.rmatch_indices(stem).take(1))
        .filter_map(|(at, _)| weigh(name, at))
        .min_by_key(|weight| *weight != Weight::Firm)
}

/// What the anchors look for; a name is judged from the stem on.
#[rustfmt::skip]
pub(super) const STEMS: &[&str] = &[
    "pass", "pwd", "secret", "token", "key", "credential", "_auth", "auth=", "sig=", "pw=",
    "pw:", "pw\"",
];

fn weigh(name: &str, stem: usize) -> Option<Weight> {
    let (before, rest) = (name.get(..stem)?, name.get(stem..)?);
    // The most frequent of all, and nothing by itself.
    if before.is_empty() && rest.eq_ignore_ascii_case("key") {
        return None;
    }
    let rest = plain(rest);
    let tail = |stem: &str| {
        rest.strip_prefix(stem)
            .is_some_and(|suffix| is_suffix(suffix.trim_end_matches(|c: char| c.is_ascii_digit())))
    };
    if ["password", "passwd", "passphrase", "passwort", "passcode", "pwd", "secret", "credential"]
        .iter()
        .any(|stem| tail(stem))
    {
        return Some(Weight::Firm);
    }
    if tail("token") {
        return Some(if ends_with_any(&plain(before), TOKEN_OWNERS) {
            Weight::Firm
        } else {
            Weight::Faint
        });
    }
    // The attribute of HTML that names a key of the keyboard.
    if name.eq_ignore_ascii_case("accesskey") {
        return Some(Weight::Faint);
    }
    if tail("key") {
        return weigh_key(&plain(before));
    }
    if SPOKEN.contains(&name) {
        return Some(Weight::Firm);
    }
    // A lone `PASS` is what tests print.
    if before.is_empty() && matches!(name, "pass" | "pw" | "PW") {
        return Some(Weight::Fair);
    }
    if tail("pass") && is_joined(before, name.get(stem..)?) {
        return Some(if ends_with_any(&plain(before), PASS_OWNERS) {
            Weight::Firm
        } else {
            Weight::Faint
        });
    }
    let short = ["_auth", "auth", "sig"].contains(&name.get(stem..)?);
    short.then_some(Weight::Faint)
}

/// Commands and settings that take a password with no sign between.
const SPOKEN: &[&str] = &["sshpass", "requirepass"];

fn weigh_key(owner: &str) -> Option<Weight> {
    if ends_with_any(owner, &["api", "secret", "access", "account", "private"]) {
        Some(Weight::Firm)
    } else if ends_with_any(owner, KEY_OWNERS) {
        Some(Weight::Faint)
    } else {
        None
    }
}

/// `db_pass`, `--pass`, `dbPass`: a part of its own and not the whole, for tests pass too.
fn is_joined(before: &str, rest: &str) -> bool {
    let camel = rest.starts_with('P') && before.ends_with(|c: char| c.is_ascii_lowercase());
    before.ends_with(['_', '-', '.']) || camel
}

/// The name without what separates its parts, in small letters.
fn plain(name: &str) -> String {
    name.bytes()
        .filter(u8::is_ascii_alphanumeric)
        .map(|b| char::from(b.to_ascii_lowercase()))
        .collect()
}

fn ends_with_any(text: &str, ends: &[&str]) -> bool {
    ends.iter().any(|end| text.ends_with(end))
}

fn is_suffix(suffix: &str) -> bool {
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

/// Compilers and renderers have passes too.
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
