//! Copilot's todos: rows of a table that its agent writes with SQL. Parses just enough to count
//! them: `INSERT INTO todos … VALUES (…), (…)`, `UPDATE todos SET status = 'done' WHERE …`, `DELETE
//! FROM todos …`. Ignores all other statements.

use std::sync::LazyLock;

use regex::Regex;
use tome_model::truncate_to;

use super::limits::PARSED_BYTES_MAX;
use super::tasks::TaskList;

static INSERT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?xis) ^\s* (?: insert (?:\s+or\s+\w+)? | replace ) \s+ into \s+
           (?:\w+\.)? ["`\[]? todos ["`\]]? \s* (?: \( ([^()]*) \) )? \s* values \s* (.*) $"#,
    )
    .ok()
});
static END: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?xis) ^\s* (?: delete \s+ from \s+ (?:\w+\.)? ["`\[]? todos ["`\]]?
           | update \s+ (?:\w+\.)? ["`\[]? todos ["`\]]? \s+ set \b .*? \b status \s* = \s*
             '(?: done | completed | cancelled )' [^']*? )
           \s* (?: \b where \b (.*) )? $"#,
    )
    .ok()
});

/// Applies a query to the todos; returns how many it added.
pub(super) fn apply_query(query: &str, tasks: &mut TaskList) -> usize {
    let query = truncate_to(query, PARSED_BYTES_MAX);
    split_statements(query).into_iter().map(|statement| apply_statement(statement, tasks)).sum()
}

fn apply_statement(statement: &str, tasks: &mut TaskList) -> usize {
    if let Some(found) = INSERT.as_ref().and_then(|insert| insert.captures(statement)) {
        let columns = found.get(1).map_or("", |columns| columns.as_str());
        let rows = found.get(2).map_or("", |rows| rows.as_str());
        return parse_rows(rows).iter().filter(|row| add_row(columns, row, tasks)).count();
    }
    if let Some(found) = END.as_ref().and_then(|end| end.captures(statement)) {
        match found.get(1).map(|which| parse_literals(which.as_str())) {
            None => tasks.finish_all(),
            Some(ids) => ids.iter().for_each(|id| tasks.finish(id)),
        }
    }
    0
}

/// Without a column list, id and title come first, as in Copilot's table.
fn add_row(columns: &str, row: &[String], tasks: &mut TaskList) -> bool {
    let is = |column: &str, name: &str| column.trim().trim_matches(['"', '`']) == name;
    let index_of = |name: &str| columns.split(',').position(|column| is(column, name));
    let (id, title) = match columns.trim() {
        "" => (Some(0), Some(1)),
        _ => (index_of("id"), index_of("title").or_else(|| index_of("description"))),
    };
    let at = |index: Option<usize>| row.get(index?).map(String::as_str);
    tasks.add(at(id), at(title).or(at(id)).unwrap_or_default())
}

/// Splits at semicolons outside quotes.
fn split_statements(query: &str) -> Vec<&str> {
    let mut quoted = false;
    query
        .split(move |c: char| {
            quoted ^= c == '\'';
            c == ';' && !quoted
        })
        .collect()
}

/// Parses the rows of `(…), (…)` into their values, without quotes.
fn parse_rows(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut value) = (Vec::new(), Vec::new(), String::new());
    let (mut depth, mut quoted) = (0_usize, false);
    for c in text.chars() {
        match (c, quoted, depth) {
            // A doubled quote closes and reopens the string; only the quote itself is lost.
            ('\'', ..) => quoted = !quoted,
            (_, true, _) => value.push(c),
            ('(', _, 0) => depth = 1,
            ('(', ..) => depth += 1,
            (',', _, 1) => row.push(std::mem::take(&mut value)),
            (')', _, 1) => {
                row.push(std::mem::take(&mut value));
                rows.push(std::mem::take(&mut row));
                depth = 0;
            }
            (')', ..) => depth = depth.saturating_sub(1),
            // After the rows: `ON CONFLICT …`.
            (c, _, 0) if c.is_alphabetic() => break,
            (c, ..) if c.is_whitespace() => {}
            (_, _, 0) => {}
            _ => value.push(c),
        }
    }
    rows
}

/// The quoted strings.
fn parse_literals(text: &str) -> Vec<&str> {
    text.split('\'').skip(1).step_by(2).collect()
}
