//! URIs of resources:
//!
//! ```text
//! tome://overview              what the memory holds, and where work stopped
//! tome://index                 the index of the project's notes
//! tome://node/toc:day:2026-11-14
//! tome://note/facts/user.md    and ?scope=coder or ?scope=session
//! ```
//!
//! Other characters are percent-encoded.

use tome_model::Scope;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    Overview,
    Index,
    Node(String),
    Note(String, Scope),
}

pub const OVERVIEW: &str = "tome://overview";
pub const INDEX: &str = "tome://index";
pub const NODE: &str = "tome://node/";
pub const NOTE: &str = "tome://note/";

impl Address {
    /// Parses a URI; `None` if there is no such resource.
    pub fn parse(uri: &str) -> Option<Self> {
        match uri.trim_end_matches('/') {
            OVERVIEW => return Some(Self::Overview),
            INDEX => return Some(Self::Index),
            _ => {}
        }
        let given = |text: String| Some(text).filter(|text| !text.is_empty());
        if let Some(id) = uri.strip_prefix(NODE) {
            return given(decoded(id)?).map(Self::Node);
        }
        let (path, scope) = match uri.strip_prefix(NOTE)?.split_once('?') {
            None => (uri.strip_prefix(NOTE)?, Scope::Project),
            Some((path, query)) => (path, Scope::named(query.strip_prefix("scope=")?)?),
        };
        given(decoded(path)?).map(|path| Self::Note(path, scope))
    }

    pub fn uri(&self) -> String {
        match self {
            Self::Overview => OVERVIEW.to_owned(),
            Self::Index => INDEX.to_owned(),
            Self::Node(id) => format!("{NODE}{}", encoded(id)),
            Self::Note(path, Scope::Project) => format!("{NOTE}{}", encoded(path)),
            Self::Note(path, scope) => format!("{NOTE}{}?scope={}", encoded(path), scope.as_str()),
        }
    }
}

fn encoded(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/:".contains(&byte);
    text.bytes()
        .map(|byte| match is_plain(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}

/// Returns `None` if the result is not UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut plain = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        plain.push(match byte {
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(plain).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn resource_uris_are_parsed() {
        let note = |path: &str, scope| Some(Address::Note(path.to_owned(), scope));
        for (uri, address) in [
            ("tome://overview", Some(Address::Overview)),
            ("tome://index/", Some(Address::Index)),
            ("tome://node/toc:year:2026", Some(Address::Node("toc:year:2026".into()))),
            ("tome://note/facts/user.md", note("facts/user.md", Scope::Project)),
            ("tome://note/a%20b.md?scope=coder", note("a b.md", Scope::Coder)),
            ("tome://note/a.md?scope=moon", None),
            ("tome://note/", None),
            ("tome://node/", None),
            ("tome://note/%zz", None),
            ("tome://note/%ff", None),
            ("tome://note/%4", None),
            ("tome://cellar", None),
            ("file:///etc/passwd", None),
            ("", None),
        ] {
            assert_eq!(Address::parse(uri), address, "{uri}");
        }
    }

    proptest! {
        #[test]
        fn properties_a_uri_parses_to_its_address(path in "\\PC{1,40}", which in 0..3_usize) {
            let scope = [Scope::Project, Scope::Session, Scope::Coder][which];
            let note = Address::Note(path.clone(), scope);
            prop_assert_eq!(Address::parse(&note.uri()), Some(note));
            let node = Address::Node(path);
            prop_assert_eq!(Address::parse(&node.uri()), Some(node));
        }
    }
}
