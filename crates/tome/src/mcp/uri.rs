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
pub enum ResourceAddress {
    Overview,
    Index,
    Node(String),
    Note(String, Scope),
}

pub const OVERVIEW_URI: &str = "tome://overview";
pub const INDEX_URI: &str = "tome://index";
pub const NODE_PREFIX: &str = "tome://node/";
pub const NOTE_PREFIX: &str = "tome://note/";

impl ResourceAddress {
    /// Parses a URI; `None` if there is no such resource.
    pub fn parse(uri: &str) -> Option<Self> {
        match uri.trim_end_matches('/') {
            OVERVIEW_URI => return Some(Self::Overview),
            INDEX_URI => return Some(Self::Index),
            _ => {}
        }
        let non_empty = |text: String| Some(text).filter(|text| !text.is_empty());
        if let Some(id) = uri.strip_prefix(NODE_PREFIX) {
            return non_empty(percent_decode(id)?).map(Self::Node);
        }
        let (path, scope) = match uri.strip_prefix(NOTE_PREFIX)?.split_once('?') {
            None => (uri.strip_prefix(NOTE_PREFIX)?, Scope::Project),
            Some((path, query)) => (path, Scope::from_name(query.strip_prefix("scope=")?)?),
        };
        non_empty(percent_decode(path)?).map(|path| Self::Note(path, scope))
    }

    pub fn to_uri(&self) -> String {
        match self {
            Self::Overview => OVERVIEW_URI.to_owned(),
            Self::Index => INDEX_URI.to_owned(),
            Self::Node(id) => format!("{NODE_PREFIX}{}", percent_encode(id)),
            Self::Note(path, Scope::Project) => format!("{NOTE_PREFIX}{}", percent_encode(path)),
            Self::Note(path, scope) => {
                format!("{NOTE_PREFIX}{}?scope={}", percent_encode(path), scope.as_str())
            }
        }
    }
}

fn percent_encode(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/:".contains(&byte);
    text.bytes()
        .map(
            |byte| {
                if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
            },
        )
        .collect()
}

/// Returns `None` if the result is not UTF-8.
fn percent_decode(text: &str) -> Option<String> {
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
        let note = |path: &str, scope| Some(ResourceAddress::Note(path.to_owned(), scope));
        for (uri, address) in [
            ("tome://overview", Some(ResourceAddress::Overview)),
            ("tome://index/", Some(ResourceAddress::Index)),
            ("tome://node/toc:year:2026", Some(ResourceAddress::Node("toc:year:2026".into()))),
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
            assert_eq!(ResourceAddress::parse(uri), address, "{uri}");
        }
    }

    proptest! {
        #[test]
        fn properties_a_uri_parses_to_its_address(path in "\\PC{1,40}", which in 0..3_usize) {
            let scope = [Scope::Project, Scope::Session, Scope::Coder][which];
            let note = ResourceAddress::Note(path.clone(), scope);
            prop_assert_eq!(ResourceAddress::parse(&note.to_uri()), Some(note));
            let node = ResourceAddress::Node(path);
            prop_assert_eq!(ResourceAddress::parse(&node.to_uri()), Some(node));
        }
    }
}
