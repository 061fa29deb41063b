//! Edits TOML text while preserving everything else: Tome's MCP server table, and Codex's trust records
//! of Tome's hooks.
//!
//! Parses the text for positions and splices text in or out. A new server becomes a table at the
//! end of the file, which is valid after any content; inside an inline table it becomes a member.
//! The result is parsed again and rejected if it differs from the intended value.

use std::ops::Range;

use toml::{Table, Value};
use toml_edit::{Document, Item, TableLike};

use super::EditError;
use super::json_text::detect_newline;

/// Table of MCP servers, and Tome's key in it.
const SERVERS: &str = "mcp_servers";
const SERVER_NAME: &str = "tome";
/// Table of hooks, and Codex's trust records in it.
const HOOKS: &str = "hooks";
const TRUST_STATE: &str = "state";

pub fn parse(text: &str) -> Result<Table, EditError> {
    text.parse().map_err(|error: toml::de::Error| parse_error(text, error.message(), error.span()))
}

pub fn find_server(table: &Table) -> Option<&Table> {
    table.get(SERVERS)?.as_table()?.get(SERVER_NAME)?.as_table()
}

/// Sets command and arguments of Tome's server, keeping its other settings.
pub fn set_server(text: &str, program: &str, args: &[String]) -> Result<String, EditError> {
    let current = parse(text)?;
    let args = Value::Array(args.iter().cloned().map(Value::String).collect());
    let wanted = [("command", Value::String(program.to_owned())), ("args", args)];
    let mut expected = current.clone();
    let servers = expected.entry(SERVERS).or_insert_with(|| Value::Table(Table::new()));
    let servers = servers.as_table_mut().ok_or_else(not_a_table)?;
    let ours = servers.entry(SERVER_NAME).or_insert_with(|| Value::Table(Table::new()));
    let ours = ours.as_table_mut().ok_or_else(not_a_table)?;
    for (key, value) in &wanted {
        ours.insert((*key).to_owned(), value.clone());
    }
    if expected == current {
        return Ok(text.to_owned());
    }
    let after = if find_server(&current).is_some() {
        update_server(text, &wanted)?
    } else {
        add_server(text, &wanted)?
    };
    verify_table(after, &expected)
}

pub fn remove_server(text: &str) -> Result<String, EditError> {
    let mut expected = parse(text)?;
    if find_server(&expected).is_none() {
        return Ok(text.to_owned());
    }
    if let Some(servers) = expected.get_mut(SERVERS).and_then(Value::as_table_mut) {
        servers.remove(SERVER_NAME);
    }
    let document = parse_document(text)?;
    let servers = document.get(SERVERS).and_then(Item::as_table_like).ok_or_else(not_a_table)?;
    let mut cuts = Vec::new();
    collect_ranges(text, servers, SERVER_NAME, &mut cuts);
    let after = cut_ranges(text, cuts);
    // A table of servers that existed only implicitly disappears with its last member.
    if parse(&after)?.get(SERVERS).is_none() {
        expected.remove(SERVERS);
    }
    verify_table(after, &expected)
}

/// Removes Codex's trust records of the hooks that `is_ours` selects by key and hash. The table is
/// removed with its last record, unless it was in `text_before_setup`.
pub fn remove_trust_records(
    text: &str,
    text_before_setup: Option<&str>,
    is_ours: &dyn Fn(&str, Option<&str>) -> bool,
) -> Result<String, EditError> {
    let parsed = parse(text)?;
    let Some(state) = trust_records(&parsed) else { return Ok(text.to_owned()) };
    let removed_keys: Vec<&String> = state
        .iter()
        .filter(|(key, record)| is_ours(key, record.get("trusted_hash").and_then(Value::as_str)))
        .map(|(key, _)| key)
        .collect();
    if removed_keys.is_empty() {
        return Ok(text.to_owned());
    }
    let had_table = text_before_setup
        .and_then(|before| parse(before).ok())
        .is_some_and(|table| trust_records(&table).is_some());
    let removes_table = removed_keys.len() == state.len() && !had_table;
    let document = parse_document(text)?;
    let hooks = document.get(HOOKS).and_then(Item::as_table_like).ok_or_else(not_editable)?;
    let mut cuts = Vec::new();
    if removes_table {
        collect_ranges(text, hooks, TRUST_STATE, &mut cuts);
    } else {
        let state =
            hooks.get(TRUST_STATE).and_then(Item::as_table_like).ok_or_else(not_editable)?;
        for key in &removed_keys {
            collect_ranges(text, state, key, &mut cuts);
        }
    }
    let after = cut_ranges(text, cuts);
    let mut expected = parsed.clone();
    if let Some(hooks) = expected.get_mut(HOOKS).and_then(Value::as_table_mut) {
        if let Some(state) = hooks.get_mut(TRUST_STATE).and_then(Value::as_table_mut) {
            for key in &removed_keys {
                state.remove(*key);
            }
        }
        if trust_records(&parse(&after)?).is_none() {
            hooks.remove(TRUST_STATE);
        }
    }
    if parse(&after)?.get(HOOKS).is_none() {
        expected.remove(HOOKS);
    }
    verify_table(after, &expected)
}

fn trust_records(table: &Table) -> Option<&Table> {
    table.get(HOOKS)?.get(TRUST_STATE)?.as_table()
}

fn cut_ranges(text: &str, mut cuts: Vec<Range<usize>>) -> String {
    cuts.sort_by_key(|cut| cut.start);
    let mut after = text.to_owned();
    for cut in cuts.into_iter().rev() {
        after.replace_range(cut, "");
    }
    after
}

fn add_server(text: &str, wanted: &[(&str, Value)]) -> Result<String, EditError> {
    let document = parse_document(text)?;
    let inline = document.get(SERVERS).and_then(Item::as_inline_table);
    if let Some(span) = inline.and_then(toml_edit::InlineTable::span) {
        let close = span.end.saturating_sub(1);
        let inside = slice_text(text, span.start + 1..close).trim_end();
        let lead = if inside.trim().is_empty() || inside.ends_with(',') { " " } else { ", " };
        let members: Vec<String> =
            wanted.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        let tail = span.start + 1 + inside.len();
        let member = format!("{lead}{SERVER_NAME} = {{ {} }} ", members.join(", "));
        let (head, rest) = (slice_text(text, 0..tail), slice_text(text, close..text.len()));
        return Ok([head, &member, rest].concat());
    }
    let newline = detect_newline(text);
    let mut after = text.to_owned();
    if !after.is_empty() {
        if !after.ends_with('\n') {
            after.push_str(newline);
        }
        after.push_str(newline);
    }
    after += &format!("[{SERVERS}.{SERVER_NAME}]{newline}");
    for (key, value) in wanted {
        after += &format!("{key} = {value}{newline}");
    }
    Ok(after)
}

/// Updates the values of an existing server.
fn update_server(text: &str, wanted: &[(&str, Value)]) -> Result<String, EditError> {
    let mut text = text.to_owned();
    for (key, value) in wanted {
        let document = parse_document(&text)?;
        let servers = document.get(SERVERS).and_then(Item::as_table_like);
        let item = servers.and_then(|servers| servers.get(SERVER_NAME)).ok_or_else(not_a_table)?;
        let ours = item.as_table_like().ok_or_else(not_a_table)?;
        let edit = match ours.get(key).and_then(Item::span) {
            Some(span) => Some((span, value.to_string())),
            None => find_insert_position(&text, item).map(|at| {
                let newline = detect_newline(&text);
                match item.as_inline_table() {
                    Some(_) => (at..at, format!(" {key} = {value},")),
                    None => (at..at, format!("{key} = {value}{newline}")),
                }
            }),
        };
        let (span, replacement) = edit.ok_or_else(not_editable)?;
        let (head, tail) =
            (slice_text(&text, 0..span.start), slice_text(&text, span.end..text.len()));
        text = [head, &replacement, tail].concat();
    }
    Ok(text)
}

/// Finds the position for a new key: the line after a table's header, or after the opening brace.
fn find_insert_position(text: &str, item: &Item) -> Option<usize> {
    let span = item.span()?;
    if item.is_inline_table() {
        return Some(span.start + 1);
    }
    let rest = slice_text(text, span.end..text.len());
    rest.find('\n').map(|newline| span.end + newline + 1)
}

/// Collects the ranges in which a member is written: its own lines, or its header and everything
/// below.
fn collect_ranges(text: &str, holder: &dyn TableLike, name: &str, cuts: &mut Vec<Range<usize>>) {
    let Some((key, item)) = holder.get_key_value(name) else { return };
    match item {
        Item::Value(value) => {
            let (Some(key), Some(value)) = (key.span(), value.span()) else { return };
            cuts.push(include_comma(text, expand_to_lines(text, key.start..value.end)));
        }
        Item::Table(table) if table.is_dotted() => {
            for (inner, _) in table.iter() {
                collect_ranges(text, table, inner, cuts);
            }
        }
        Item::Table(table) => {
            if let Some(span) = table.span().filter(|span| !span.is_empty()) {
                cuts.push(include_blank_line(text, expand_to_lines(text, span)));
            }
            for (inner, _) in table.iter() {
                collect_ranges(text, table, inner, cuts);
            }
        }
        Item::ArrayOfTables(_) | Item::None => {}
    }
}

/// Expands a range to whole lines if nothing else is on them; includes trailing comments.
fn expand_to_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let head = slice_text(text, 0..range.start).trim_end_matches([' ', '\t']);
    let rest = slice_text(text, range.end..text.len());
    let line = rest.find('\n').map_or(rest.len(), |newline| newline + 1);
    let behind = slice_text(rest, 0..line).trim();
    let is_alone = head.is_empty() || head.ends_with('\n');
    if is_alone && (behind.is_empty() || behind.starts_with('#')) {
        head.len()..range.end + line
    } else {
        range
    }
}

/// Includes the empty line before a table header.
fn include_blank_line(text: &str, range: Range<usize>) -> Range<usize> {
    let head = slice_text(text, 0..range.start);
    let bare = head.strip_suffix('\n').map(|head| head.strip_suffix('\r').unwrap_or(head));
    match bare {
        Some(bare) if bare.is_empty() || bare.ends_with('\n') => bare.len()..range.end,
        _ => range,
    }
}

/// Includes the comma that separates a member of an inline table from its neighbor.
fn include_comma(text: &str, range: Range<usize>) -> Range<usize> {
    let head = slice_text(text, 0..range.start);
    if head.is_empty() || head.ends_with('\n') {
        return range;
    }
    let rest = slice_text(text, range.end..text.len());
    let behind = rest.trim_start();
    if let Some(after) = behind.strip_prefix(',') {
        return range.start..text.len() - after.trim_start_matches([' ', '\t']).len();
    }
    match head.trim_end().strip_suffix(',') {
        Some(head) => head.len()..range.end,
        None => range,
    }
}

fn parse_document(text: &str) -> Result<Document<&str>, EditError> {
    Document::parse(text).map_err(|error| parse_error(text, error.message(), error.span()))
}

/// Returns the text if it parses to exactly the intended value.
fn verify_table(after: String, expected: &Table) -> Result<String, EditError> {
    if parse(&after).is_ok_and(|parsed| parsed == *expected) {
        Ok(after)
    } else {
        Err(not_editable())
    }
}

fn not_editable() -> EditError {
    EditError::Shape("its layout cannot be edited safely".to_owned())
}

fn parse_error(text: &str, problem: &str, span: Option<Range<usize>>) -> EditError {
    let head = span.and_then(|span| text.get(..span.start)).unwrap_or_default();
    EditError::Broken { line: head.matches('\n').count() + 1, problem: problem.trim().to_owned() }
}

fn not_a_table() -> EditError {
    EditError::Shape(format!("`{SERVERS}.{SERVER_NAME}` is not a table"))
}

/// Out of range it is empty; `verify` rejects the result.
fn slice_text(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}
