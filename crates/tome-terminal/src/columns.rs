//! Tables that leave out columns where the terminal is narrow.

use std::io::Write;

use crate::layout::{display_width, print_table_within};

/// Between the columns of a table.
const GAP: usize = 2;

/// A column of a table.
#[derive(Debug, Clone)]
pub struct Column {
    /// The header; one that starts with `>` is right-aligned.
    pub head: &'static str,
    /// One cell per row.
    pub cells: Vec<String>,
}

impl Column {
    /// A column with one cell for each item.
    pub fn new<T>(head: &'static str, items: &[T], cell: impl Fn(&T) -> String) -> Self {
        Self { head, cells: items.iter().map(cell).collect() }
    }

    /// Columns of the terminal that it takes, with the gap beside it.
    pub fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| display_width(cell));
        let head = display_width(self.head.trim_start_matches('>'));
        cells.chain([head]).max().unwrap_or(0) + GAP
    }

    /// Whether any row has something in it.
    pub fn is_used(&self) -> bool {
        self.cells.iter().any(|cell| !cell.is_empty())
    }
}

/// Width of all columns together.
pub fn table_width(columns: &[Column]) -> usize {
    columns.iter().map(Column::width).sum()
}

/// Leaves out columns, in the order of `droppable`, until the column `main` has its width or at least
/// `main_min` columns of the terminal.
pub fn drop_columns(
    mut columns: Vec<Column>,
    (main, main_min): (&str, usize),
    droppable: &[&str],
    width: usize,
) -> Vec<Column> {
    for head in droppable {
        let is_main = |column: &&Column| column.head == main;
        let rest: usize = columns.iter().filter(|it| !is_main(it)).map(Column::width).sum();
        let needed = columns.iter().find(is_main).map_or(0, Column::width).min(main_min + GAP);
        if rest + needed <= width {
            break;
        }
        columns.retain(|column| column.head != *head);
    }
    columns
}

/// Prints a table in at most `width` columns if that is known.
pub fn print_columns(
    out: &mut dyn Write,
    columns: &[Column],
    width: Option<usize>,
) -> std::io::Result<()> {
    let heads: Vec<&str> = columns.iter().map(|column| column.head).collect();
    let rows = columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
    let row = |row: usize| {
        let cells = columns.iter().map(|column| column.cells.get(row).cloned());
        cells.map(Option::unwrap_or_default).collect::<Vec<String>>()
    };
    let rows: Vec<Vec<String>> = (0..rows).map(row).collect();
    print_table_within(out, &heads, &rows, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_go_until_the_main_one_has_space() {
        let column = |head, cell: &str| Column { head, cells: vec![cell.to_owned()] };
        let columns = || {
            vec![
                column("when", "Nov 15"),
                column("agent", "claude-code"),
                column("branch", "main"),
                column("title", "Accept unicode identifiers in the lexer"),
            ]
        };
        let kept = |width| {
            let kept = drop_columns(columns(), ("title", 30), &["branch", "agent"], width);
            kept.iter().map(|column| column.head).collect::<Vec<_>>()
        };
        assert_eq!(kept(80), ["when", "agent", "branch", "title"]);
        assert_eq!(kept(55), ["when", "agent", "title"]);
        assert_eq!(kept(40), ["when", "title"]);
        assert_eq!(table_width(&columns()), 8 + 13 + 8 + 41);
    }
}
