//! Fields of requests. Protocol Buffers have no missing string: an empty one stands for it.

/// The string, unless it is empty.
pub fn non_empty(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

/// Like [`non_empty`], for an owned string.
pub fn non_empty_owned(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}
