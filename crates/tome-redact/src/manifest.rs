//! Kubernetes secrets: the values under `data` and `stringData` of a document with `kind: Secret`,
//! in YAML and JSON.

use super::cut::{CutCertainty, RedactionCut};
use super::haystack::{Haystack, is_name_byte, is_quote};
use super::value;
use super::value_span::find_value;

/// Whether `: Secret` follows the word `kind`, which ends here.
pub(crate) fn is_secret_kind(hay: Haystack<'_>, kind_end: usize) -> bool {
    let quote = |at| hay.skip_while_within(at, 4, |b| is_quote(b) || b == b'\\');
    let colon = hay.skip_blanks(quote(kind_end));
    if hay.byte_at(colon) != b':' {
        return false;
    }
    let word = quote(hay.skip_blanks(colon + 1));
    hay.starts_with(word, "Secret") && !is_name_byte(hay.byte_at(word + "Secret".len()))
}

/// Finds the values of all secrets, given the positions of `kind: Secret` in order.
pub(crate) fn find_secret_values(
    hay: Haystack<'_>,
    kinds: &[usize],
    cuts: &mut Vec<RedactionCut<'static>>,
) {
    let mut from = 0;
    for (number, kind) in kinds.iter().enumerate() {
        let next = kinds.get(number + 1).copied().unwrap_or(hay.len());
        // The values may precede or follow the kind, but only within the same document.
        let before = hay.slice(from, *kind);
        let start = from + before.rfind("\n---").or(before.rfind("\\n---")).unwrap_or(0);
        let start = start + find_last_kind_end(hay.slice(start, *kind));
        let found = find_data_maps(hay, start, *kind, cuts);
        let mut end = next;
        if !found {
            let after = hay.slice(*kind, next);
            end = kind + after.find("\n---").or(after.find("\\n---")).unwrap_or(after.len());
            let other = hay.slice(kind + 4, end).find("\"kind\"").map_or(end, |at| kind + 4 + at);
            find_data_maps(hay, *kind, other, cuts);
        }
        from = if found { *kind } else { end.min(next) };
    }
}

/// The end of the last `"kind"` of another JSON object.
fn find_last_kind_end(text: &str) -> usize {
    text.rfind("\"kind\"").map_or(0, |at| at + 6)
}

/// Finds the maps named `data` and `stringData` in a range. Returns whether there are any.
fn find_data_maps(
    hay: Haystack<'_>,
    from: usize,
    to: usize,
    cuts: &mut Vec<RedactionCut<'static>>,
) -> bool {
    let mut found = false;
    let mut at = from;
    while let Some(offset) = find_data_key(hay.slice(at, to)) {
        let name = at + offset;
        at = name + "data".len();
        let string = hay.slice(name.saturating_sub(6), name) == "string";
        let start = if string { name - 6 } else { name };
        if is_name_byte(hay.byte_before(start)) && !hay.is_after_escape(start) {
            continue;
        }
        let quote = hay.skip_while_within(at, 4, |b| is_quote(b) || b == b'\\');
        let colon = hay.skip_blanks(quote);
        if hay.byte_at(colon) != b':' {
            continue;
        }
        let value = hay.skip_while(colon + 1, |b| b.is_ascii_whitespace());
        at = if hay.byte_at(value) == b'{' {
            find_json_values(hay, value + 1, to, cuts)
        } else {
            find_yaml_values(hay, start, colon + 1, to, cuts)
        };
        found = true;
    }
    found
}

/// The next `data` or `Data`.
fn find_data_key(text: &str) -> Option<usize> {
    memchr::memmem::find_iter(text.as_bytes(), "ata")
        .filter_map(|at| at.checked_sub(1))
        .find(|at| matches!(text.as_bytes().get(*at), Some(b'd' | b'D')))
}

/// Finds the values of a flat JSON object. Returns its end.
fn find_json_values(
    hay: Haystack<'_>,
    from: usize,
    to: usize,
    cuts: &mut Vec<RedactionCut<'static>>,
) -> usize {
    let mut at = from;
    loop {
        let key = hay.skip_while(at, |b| b != b'"' && b != b'\'' && b != b'}' && b != b':');
        if key >= to || matches!(hay.byte_at(key), b'}' | 0) {
            return key.min(to).max(from);
        }
        let colon = hay.skip_while(key, |b| b != b':' && b != b'}' && b != b'\n');
        if hay.byte_at(colon) != b':' {
            return colon.min(to).max(from);
        }
        let value = hay.skip_while(colon + 1, |b| b.is_ascii_whitespace());
        at = push_value(hay, value, cuts).max(value + 1);
        let comma = hay.skip_while_within(at, 16, |b| b != b',' && b != b'}' && b != b'\n');
        at = if hay.byte_at(comma) == b',' { comma + 1 } else { comma.max(at) };
        if hay.byte_at(at) == b'}' {
            return at;
        }
    }
}

/// Finds the values of the lines indented deeper than the map's name. Returns the end of the last
/// one.
fn find_yaml_values(
    hay: Haystack<'_>,
    name: usize,
    from: usize,
    to: usize,
    cuts: &mut Vec<RedactionCut<'static>>,
) -> usize {
    let indent = name - hay.skip_back_while(name, 64, |b| b == b' ');
    let mut at = hay.find_line_end(from);
    // Indentation of the key whose block scalar is being read.
    let mut block_indent: Option<usize> = None;
    while at < to {
        let line = skip_line_break(hay, at);
        let word = hay.skip_while(line, |b| b == b' ');
        let end = hay.find_line_end(word);
        let deeper = word - line > indent;
        if word < end && !deeper || line >= to {
            break;
        }
        at = end.max(line + 1);
        if word == end {
            continue;
        }
        match block_indent {
            // A line of a block scalar.
            Some(key_indent) if word - line > key_indent => {
                cuts.push(RedactionCut::secret(
                    word,
                    end,
                    "kubernetes",
                    CutCertainty::SecretPosition,
                ));
                continue;
            }
            _ => block_indent = None,
        }
        if hay.byte_at(word) == b'#' {
            continue;
        }
        let colon = hay.skip_while_within(word, 256, |b| b != b':' && b != b'\n');
        if hay.byte_at(colon) != b':' {
            continue;
        }
        let value = hay.skip_blanks(colon + 1);
        if matches!(hay.byte_at(value), b'|' | b'>') {
            block_indent = Some(word - line);
        } else if value < end {
            push_value(hay, value, cuts);
        }
    }
    at
}

fn skip_line_break(hay: Haystack<'_>, at: usize) -> usize {
    // An escaped line break: `\\n`.
    let after_backslash = hay.skip_while_within(at, 1, |b| b == b'\\');
    if after_backslash > at { after_backslash + 1 } else { at + 1 }
}

/// Adds a cut for the value that starts here. Returns the value's end.
fn push_value(hay: Haystack<'_>, start: usize, cuts: &mut Vec<RedactionCut<'static>>) -> usize {
    let Some(value) = find_value(hay, start) else { return start };
    let end = value.find_real_end(hay);
    let text = hay.slice(value.start, end);
    if !value::is_placeholder(text) {
        cuts.push(RedactionCut::secret(
            value.start,
            end,
            "kubernetes",
            CutCertainty::SecretPosition,
        ));
    }
    end
}
