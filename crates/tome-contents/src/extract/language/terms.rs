//! Extracts terms: file names, identifiers, error codes and content words.

use crate::extract::language::text::to_lower;
use tome_text::{Script, StopClass, is_han_or_kana, is_han_particle, is_stop_word};

/// Kinds of terms, most specific first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TermKind {
    File,
    ErrorCode,
    Identifier,
    Cjk,
    Word,
}

/// Whether a lowercase word carries no meaning by itself.
pub(crate) fn is_stop(lower: &str) -> bool {
    is_stop_word(lower, StopClass::FUNCTION | StopClass::FOREIGN | StopClass::COMMON)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextTerm<'a> {
    pub(crate) text: &'a str,
    pub(crate) kind: TermKind,
}

/// Returns the terms of a text in order, with repetitions.
pub(crate) fn extract_terms(text: &str) -> Vec<TextTerm<'_>> {
    let mut found = Vec::new();
    for token in text.split(|c: char| !is_token_char(c)) {
        push_terms(token, &mut found);
    }
    found
}

fn is_token_char(c: char) -> bool {
    if c.is_ascii_alphanumeric() || c == ' ' {
        return c != ' ';
    }
    c.is_alphanumeric() && !is_han_or_kana(c)
        || matches!(c, '_' | '-' | '.' | '/' | '\\' | ':' | '\'' | '’' | '@')
}

fn push_terms<'a>(token: &'a str, found: &mut Vec<TextTerm<'a>>) {
    let token = token.trim_matches(|c: char| !c.is_alphanumeric() && c != '_' && c != '@');
    let token = token.trim_start_matches('@').trim_end_matches("'s").trim_end_matches("’s");
    if token.is_empty() || token.contains("://") || token.len() > 120 {
        return;
    }
    let token = base_name(strip_line_number(token));
    if let Some(sort) = classify_token(token) {
        found.push(TextTerm { text: token, kind: sort });
    } else if !token.contains(['\'', '’']) {
        for part in token.split([':', '.', '/', '-', '\\']) {
            if let Some(sort) = classify_token(part) {
                found.push(TextTerm { text: part, kind: sort });
            }
        }
    }
}

/// Removes the line numbers of `lexer.rs:41:9`.
fn strip_line_number(token: &str) -> &str {
    token.split_once(':').map_or(token, |(path, rest)| {
        if rest.starts_with(|c: char| c.is_ascii_digit()) && path.contains('.') {
            path
        } else {
            token
        }
    })
}

pub(crate) fn base_name(path: &str) -> &str {
    let trimmed = path.trim_end_matches(['/', '\\']);
    trimmed.rsplit(['/', '\\']).next().unwrap_or(trimmed)
}

/// Classifies a token; `None` if it is no candidate for a keyword.
fn classify_token(token: &str) -> Option<TermKind> {
    if is_lowercase_word(token) {
        return ((3..=48).contains(&token.len()) && !is_stop(token)).then_some(TermKind::Word);
    }
    let length = token.chars().count();
    if !(2..=48).contains(&length) || is_number(token) || is_hash(token) {
        return None;
    }
    if is_file_name(token) {
        return Some(TermKind::File);
    }
    if token.contains(['/', '\\', '.', '@']) {
        return None;
    }
    if is_error_code(token) {
        return Some(TermKind::ErrorCode);
    }
    if is_identifier(token) {
        return Some(TermKind::Identifier);
    }
    if is_kebab(token) {
        return Some(TermKind::Word);
    }
    let worded = token.chars().all(char::is_alphabetic) && length >= 3;
    (worded && !is_stop(&to_lower(token))).then_some(TermKind::Word)
}

/// Whether a token consists of small letters: it may be a word, but no name of any kind.
fn is_lowercase_word(token: &str) -> bool {
    token.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Whether a text names anything more specific than a word.
pub(crate) fn has_name(text: &str) -> bool {
    let tokens = text.split(|c: char| !is_token_char(c)).filter(|token| !is_lowercase_word(token));
    let mut found = Vec::new();
    tokens.into_iter().any(|token| {
        push_terms(token, &mut found);
        found.drain(..).any(|term| term.kind != TermKind::Word)
    })
}

const EXTENSIONS: &str = " rs go py ts tsx js jsx mjs cjs java kt kts scala rb php c h cc cpp hpp cs swift m mm sh bash zsh fish ps1 sql md mdx rst txt toml yaml yml json jsonl xml html css scss vue svelte lock proto tf hcl ini cfg conf env gradle cmake mk ex exs erl hs ml clj lua pl r jl dart zig nix csv tsv log service dockerfile ipynb graphql prisma j2 tmpl properties ";

/// Whether a token is a file name with an extension common in code bases.
pub(crate) fn is_file_name(token: &str) -> bool {
    if matches!(
        token,
        "Dockerfile"
            | "Makefile"
            | "Justfile"
            | "Cargo.lock"
            | "go.mod"
            | "go.sum"
            | ".gitignore"
            | ".env"
            | "Jenkinsfile"
    ) {
        return true;
    }
    token.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && stem.chars().any(char::is_alphabetic)
            && stem.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+'))
            && !extension.is_empty()
            && is_extension(extension)
            && !matches!(token, "e.g" | "i.e")
    })
}

/// Whether a code base has files with this extension, in letters of either case.
fn is_extension(extension: &str) -> bool {
    EXTENSIONS.split(' ').any(|known| known.eq_ignore_ascii_case(extension))
}

fn is_number(token: &str) -> bool {
    let letters = token.chars().filter(|c| c.is_alphabetic()).count();
    let digits = token.chars().filter(char::is_ascii_digit).count();
    // `12ms`, `3.2s`, `v1`, `0x7f`, `10k` are measures and versions, not names.
    letters == 0
        || (digits > 0 && token.starts_with(|c: char| c.is_ascii_digit()))
        || (letters == 1 && digits > 0 && token.starts_with('v'))
}

/// Commit hashes, UUIDs, digests.
fn is_hash(token: &str) -> bool {
    let hex = token.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    let digits = token.chars().filter(char::is_ascii_digit).count();
    (hex && token.len() >= 7 && digits > 0)
        || (token.len() >= 20 && digits * 5 > token.len() && !token.contains(['_', '-']))
}

/// `E0308`, `TS2345`, `HTTP502`: capital letters, then at least three digits.
fn is_error_code(token: &str) -> bool {
    let letters = token.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = token.len() - letters.len();
    (1..=8).contains(&letters.len())
        && digits >= 3
        && letters.chars().all(|c| c.is_ascii_uppercase() || c == '-')
        && letters.starts_with(|c: char| c.is_ascii_uppercase())
}

/// `snake_case`, `camelCase`, `PascalCase`, `SCREAMING_CASE`.
fn is_identifier(token: &str) -> bool {
    let plain = token.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ':');
    let inner_underscore = token.trim_matches('_').contains('_');
    let mut chars = token.chars();
    let humped = chars.any(char::is_lowercase) && chars.any(char::is_uppercase);
    let qualified = token.contains("::") && !token.ends_with(':');
    plain && token.is_ascii() && (inner_underscore || humped || qualified)
}

/// `search-api`: every part is a content word.
fn is_kebab(token: &str) -> bool {
    const PREFIXES: &[&str] = &["non", "pre", "sub", "multi", "self", "co", "re", "anti", "semi"];
    token.contains('-')
        && token.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        && token.split('-').all(|part| {
            part.len() >= 2 && !is_stop(part) && !PREFIXES.contains(&part) && !is_number(part)
        })
}

/// Returns the runs of Han or of katakana in a text.
pub(crate) fn cjk_runs(text: &str) -> Vec<&str> {
    let is_kept = |script: Script| matches!(script, Script::Han | Script::Katakana);
    let mut runs = Vec::new();
    let mut start = 0;
    let mut last = Script::Other;
    for (at, c) in text.char_indices() {
        let script = Script::from_char(c);
        if script != last {
            if is_kept(last) {
                runs.extend(text.get(start..at));
            }
            start = at;
            last = script;
        }
    }
    if is_kept(last) {
        runs.extend(text.get(start..));
    }
    runs
}

/// Whether a CJK term is worth keeping as a keyword.
pub(crate) fn is_cjk_term(term: &str) -> bool {
    let edge = |c: Option<char>| c.is_none_or(is_han_particle);
    let count = term.chars().count();
    (2..=8).contains(&count)
        && !edge(term.chars().next())
        && !edge(term.chars().next_back())
        && !term.chars().skip(1).any(|c| {
            matches!(c, '的' | '了' | '是' | '和' | '与' | '也' | '在' | '就' | '把' | '被' | '都')
        })
        && !is_stop_word(term, StopClass::COMMON)
}
