//! Lines of a text: their endings, blank ones, and inserting whole ones.

pub(crate) fn strip_line_ending(raw: &str) -> &str {
    let text = raw.strip_suffix('\n').unwrap_or(raw);
    text.strip_suffix('\r').unwrap_or(text)
}

/// Detects a file's line ending from its first line.
pub(crate) fn detect_line_ending(text: &str) -> &'static str {
    match text.split_once('\n') {
        Some((first, _)) if first.ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Inserts a block of whole lines at an offset, with blank lines around it.
pub(crate) fn insert_block(text: &str, at: usize, block: &str) -> String {
    let bom = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let (before, after) = text.split_at_checked(at.max(bom)).unwrap_or(("", text));
    let ending = detect_line_ending(text);
    let mut out = before.to_owned();
    if at > 0 {
        out.push_str(if before.ends_with('\n') { "" } else { ending });
        out.push_str(ending);
    }
    out.push_str(block);
    if after.split('\n').next().is_some_and(|next| !next.trim().is_empty()) {
        out.push_str(ending);
    }
    out.push_str(after);
    out
}

/// Strips blank lines at the beginning.
pub(crate) fn trim_blank_start(text: &str) -> &str {
    let mut rest = text;
    while let Some((line, after)) = rest.split_once('\n') {
        if !line.trim().is_empty() {
            return rest;
        }
        rest = after;
    }
    if rest.trim().is_empty() { "" } else { rest }
}

/// Strips blank lines at the end and the last line ending.
pub(crate) fn trim_blank_end(text: &str) -> &str {
    let mut rest = text;
    while let Some((before, line)) = rest.rsplit_once('\n') {
        if !line.trim().is_empty() {
            return rest;
        }
        rest = before.strip_suffix('\r').unwrap_or(before);
    }
    if rest.trim().is_empty() { "" } else { rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_are_removed_and_spaces_kept() {
        assert_eq!(trim_blank_start(" \r\n\n  a\n"), "  a\n");
        assert_eq!(trim_blank_end("a \n \r\n\n"), "a ");
        assert_eq!(trim_blank_end("a\r\n"), "a");
        assert_eq!((trim_blank_start(" \n "), trim_blank_end(" \n ")), ("", ""));
    }
}
