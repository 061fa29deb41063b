//! Tokens that carry their issuer's prefix, and JSON web tokens.
//!
//! A row of the table is a prefix, the kind it names, what may follow and how much of it there has
//! to be at least. Prefixes are compared in their own case, except that the anchors ignore case.

use super::cut::{Cut, Sure};
use super::randomness::is_random;
use super::scan::{Scan, is_base64, is_wordlike};

/// One issuer's prefix.
pub(super) struct Prefix {
    pub text: &'static str,
    kind: &'static str,
    body: Body,
    bytes_min: usize,
    side: Side,
}

/// What a token is made of after its prefix.
#[derive(Clone, Copy)]
enum Body {
    /// Letters, digits and `_`.
    Word,
    /// Letters, digits, `_` and `-`.
    Dashed,
    /// The same and `.`.
    Dotted,
    /// Exactly this many capitals and digits.
    Capitals(usize),
    /// Base64, padding included.
    Base64,
    /// Letters, digits, `_`, `-` and `/`: the secret part of a webhook's path.
    Path,
    /// Like `Dashed`, but some part of it has to look made by a generator, because ordinary names
    /// begin with the same letters.
    Generated,
}

/// Whether the prefix is telling enough to be one in the middle of a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Anywhere,
    WordStart,
}

use Body::{Base64, Capitals, Dashed, Dotted, Generated, Path, Word};
use Side::{Anywhere, WordStart};

const fn row(
    text: &'static str,
    kind: &'static str,
    body: Body,
    bytes_min: usize,
    side: Side,
) -> Prefix {
    Prefix { text, kind, body, bytes_min, side }
}

/// The prefixes. A longer one comes before a shorter one that it begins with.
pub(super) const PREFIXES: &[Prefix] = &[
    row("AKIA", "aws", Capitals(16), 16, WordStart),
    row("ASIA", "aws", Capitals(16), 16, WordStart),
    row("ABIA", "aws", Capitals(16), 16, WordStart),
    row("ACCA", "aws", Capitals(16), 16, WordStart),
    row("ghp_", "github", Word, 20, Anywhere),
    row("gho_", "github", Word, 20, Anywhere),
    row("ghu_", "github", Word, 20, Anywhere),
    row("ghs_", "github", Word, 20, Anywhere),
    row("ghr_", "github", Word, 20, Anywhere),
    row("github_pat_", "github", Word, 20, Anywhere),
    row("glpat-", "gitlab", Dotted, 16, Anywhere),
    row("gldt-", "gitlab", Dotted, 16, WordStart),
    row("glrt-", "gitlab", Dotted, 16, WordStart),
    row("glptt-", "gitlab", Dotted, 16, WordStart),
    row("glcbt-", "gitlab", Dotted, 16, WordStart),
    row("glsoat-", "gitlab", Dotted, 16, WordStart),
    row("glagent-", "gitlab", Dotted, 16, WordStart),
    row("glimt-", "gitlab", Dotted, 16, WordStart),
    row("glft-", "gitlab", Dotted, 16, WordStart),
    row("glffct-", "gitlab", Dotted, 16, WordStart),
    row("gloas-", "gitlab", Dotted, 16, WordStart),
    row("GR1348941", "gitlab", Dashed, 16, Anywhere),
    row("xoxa-", "slack", Dotted, 10, WordStart),
    row("xoxb-", "slack", Dotted, 10, WordStart),
    row("xoxc-", "slack", Dotted, 10, WordStart),
    row("xoxd-", "slack", Dotted, 10, WordStart),
    row("xoxe-", "slack", Dotted, 10, WordStart),
    row("xoxe.", "slack", Dotted, 10, WordStart),
    row("xoxo-", "slack", Dotted, 10, WordStart),
    row("xoxp-", "slack", Dotted, 10, WordStart),
    row("xoxr-", "slack", Dotted, 10, WordStart),
    row("xoxs-", "slack", Dotted, 10, WordStart),
    row("xapp-", "slack", Generated, 16, WordStart),
    row("hooks.slack.com/services/", "slack", Path, 16, Anywhere),
    row("hooks.slack.com/workflows/", "slack", Path, 16, Anywhere),
    row("hooks.slack.com/triggers/", "slack", Path, 16, Anywhere),
    row("AIza", "google", Dashed, 30, WordStart),
    row("ya29.", "google", Dotted, 16, WordStart),
    row("GOCSPX-", "google", Dashed, 16, WordStart),
    row("1//0", "google", Generated, 30, WordStart),
    row("sk_live_", "stripe", Word, 10, WordStart),
    row("sk_test_", "stripe", Word, 10, WordStart),
    row("rk_live_", "stripe", Word, 10, WordStart),
    row("rk_test_", "stripe", Word, 10, WordStart),
    row("whsec_", "stripe", Base64, 16, WordStart),
    row("sk-ant-", "anthropic", Dashed, 12, WordStart),
    row("sk-proj-", "openai", Dashed, 16, WordStart),
    row("sk-svcacct-", "openai", Dashed, 16, WordStart),
    row("sk-admin-", "openai", Generated, 16, WordStart),
    row("sk-or-v1-", "openrouter", Dashed, 16, WordStart),
    row("sk-", "openai", Generated, 16, WordStart),
    row("npm_", "npm", Generated, 30, WordStart),
    row("pypi-", "pypi", Generated, 40, WordStart),
    row("hf_", "huggingface", Generated, 30, WordStart),
    row("SG.", "sendgrid", Dotted, 40, WordStart),
    row("dop_v1_", "digitalocean", Word, 32, WordStart),
    row("doo_v1_", "digitalocean", Word, 32, WordStart),
    row("dor_v1_", "digitalocean", Word, 32, WordStart),
    row("shpat_", "shopify", Word, 24, WordStart),
    row("shpss_", "shopify", Word, 24, WordStart),
    row("shpca_", "shopify", Word, 24, WordStart),
    row("shppa_", "shopify", Word, 24, WordStart),
    row("dckr_pat_", "docker", Dashed, 20, WordStart),
    row("lin_api_", "linear", Word, 30, WordStart),
    row("tskey-", "tailscale", Generated, 16, WordStart),
    row("hvs.", "vault", Dashed, 24, WordStart),
    row("hvb.", "vault", Dashed, 24, WordStart),
    row("gsk_", "groq", Word, 40, WordStart),
    row("xai-", "xai", Word, 40, WordStart),
    row("pplx-", "perplexity", Word, 32, WordStart),
    row("nvapi-", "nvidia", Dashed, 32, WordStart),
    row("ATATT3", "atlassian", Base64, 40, WordStart),
    row("AGE-SECRET-KEY-1", "age", Word, 40, WordStart),
    row("sntrys_", "sentry", Base64, 40, WordStart),
    row("discord.com/api/webhooks/", "discord", Path, 40, Anywhere),
    row("discordapp.com/api/webhooks/", "discord", Path, 40, Anywhere),
];

/// The token whose prefix stands here.
pub(super) fn at_prefix(scan: Scan<'_>, at: usize, prefix: &Prefix) -> Option<Cut<'static>> {
    if !scan.starts(at, prefix.text) || (prefix.side == WordStart && !scan.is_open(at)) {
        return None;
    }
    // In the middle of a dashed word; without this a long one would be walked from every dash.
    if matches!(prefix.body, Generated) && is_inside(scan, at) {
        return None;
    }
    let from = at + prefix.text.len();
    let end = prefix.body.end(scan, from)?;
    let body = scan.part(from, end);
    if body.len() < prefix.bytes_min || is_masked(body) {
        return None;
    }
    let end = if prefix.kind == "aws" { aws_pair_end(scan, end) } else { end };
    // A webhook's host says where it went; only its path is secret.
    let start = if matches!(prefix.body, Path) { from } else { at };
    Some(Cut::secret(start, end, prefix.kind, Sure::Prefixed))
}

impl Body {
    fn end(self, scan: Scan<'_>, from: usize) -> Option<usize> {
        let end = match self {
            Word => scan.run(from, |b| b.is_ascii_alphanumeric() || b == b'_'),
            Dashed | Generated => scan.run(from, is_wordlike),
            Dotted => scan.run(from, |b| is_wordlike(b) || b == b'.'),
            Capitals(_) => scan.run(from, |b| b.is_ascii_uppercase() || b.is_ascii_digit()),
            Base64 => scan.run(from, is_base64),
            Path => scan.run(from, |b| is_wordlike(b) || b == b'/'),
        };
        match self {
            Capitals(count) => {
                let ends = end - from == count && !is_wordlike(scan.byte(end));
                ends.then_some(end)
            }
            Dotted => Some(scan.run_back(end, end - from, |b| b == b'.')),
            Generated => has_generated_part(scan.part(from, end)).then_some(end),
            _ => Some(end),
        }
    }
}

/// Names such as `sk-toggleable-content` are words joined by dashes; keys have a long part that is
/// not one.
fn has_generated_part(body: &str) -> bool {
    let telling = |part: &str| {
        part.len() >= 16
            && (part.bytes().any(|b| b.is_ascii_digit())
                || part.bytes().skip(1).any(|b| b.is_ascii_uppercase())
                || part.len() >= 32)
    };
    body.split(['-', '_']).any(telling) || is_random(body)
}

fn is_inside(scan: Scan<'_>, at: usize) -> bool {
    !scan.is_open(at) || matches!(scan.before(at), b'-' | b'_')
}

/// `ghp_xxxxxxxxxxxx` shows where a token goes.
fn is_masked(body: &str) -> bool {
    let letters = body.trim_matches(['-', '_', '/', '.']);
    letters.bytes().all(|b| matches!(b, b'x' | b'X' | b'0'))
}

/// A secret access key right behind its id, as in `id:secret` or a line of CSV.
fn aws_pair_end(scan: Scan<'_>, id_end: usize) -> usize {
    let start = scan.run_within(id_end, 4, |b| b" \t,:;|\"'".contains(&b));
    let end = scan.run_within(start, 64, |b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'));
    let secret = scan.part(start, end);
    let mixed = secret.bytes().any(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    if start > id_end && secret.len() == 40 && mixed { end } else { id_end }
}

/// The JSON web token that begins here with `eyJ`: a header and at least one more part.
pub(super) fn at_jwt(scan: Scan<'_>, at: usize) -> Option<Cut<'static>> {
    const PART_BYTES_MIN: usize = 8;
    if !scan.starts(at, "eyJ") || is_inside(scan, at) {
        return None;
    }
    let header = scan.run(at, is_wordlike);
    if header - at < PART_BYTES_MIN + 2 || scan.byte(header) != b'.' {
        return None;
    }
    let payload = scan.run(header + 1, is_wordlike);
    if payload - header <= PART_BYTES_MIN {
        return None;
    }
    let all = scan.run(payload, |b| is_wordlike(b) || b == b'.');
    // `header.payload` with nothing behind it is a token only if the payload is JSON as well.
    if all - payload <= PART_BYTES_MIN && !scan.starts(header + 1, "eyJ") {
        return None;
    }
    let end = scan.run_back(all, all - at, |b| b == b'.');
    Some(Cut::secret(at, end, "jwt", Sure::Prefixed))
}

/// The token of a Telegram bot: its number, a colon, and 35 characters that begin with `AA`.
pub(super) fn at_telegram(scan: Scan<'_>, colon: usize) -> Option<Cut<'static>> {
    let start = scan.run_back(colon, 12, |b| b.is_ascii_digit());
    let end = scan.run(colon + 1, is_wordlike);
    let fits = colon - start >= 8 && (32..=40).contains(&(end - colon - 1));
    (fits && scan.starts(colon, ":AA")).then(|| {
        // The number names the bot and is public.
        Cut::secret(colon + 1, end, "telegram", Sure::Prefixed)
    })
}
