//! Lays out the texts below the options of a help for the width of the terminal. clap would wrap lines
//! that are wrapped in the source already, and without an indent.

use tome_terminal::{display_width, known_width, wrap_lines};

/// Columns of a help that goes elsewhere, and at most.
const WIDTH_MAX: usize = 100;
/// Columns before the rest of an example that is too long.
const EXAMPLE_INDENT: usize = 6;

/// Lays out the texts of a command and of all its subcommands.
pub fn lay_out(command: clap::Command) -> clap::Command {
    let width = known_width().unwrap_or(WIDTH_MAX).min(WIDTH_MAX);
    lay_out_within(command, width)
}

fn lay_out_within(command: clap::Command, width: usize) -> clap::Command {
    let help = command.get_after_help().map(|help| wrap_help(&help.to_string(), width));
    let command = match help {
        Some(help) => command.after_help(help),
        None => command,
    };
    command.mut_subcommands(|found| lay_out_within(found, width))
}

/// Joins the lines of each paragraph and wraps it. Indented lines are examples or lists and stay.
fn wrap_help(help: &str, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut paragraph: Vec<&str> = Vec::new();
    for line in help.lines() {
        let is_prose = !line.starts_with(' ') && !line.is_empty();
        if is_prose {
            paragraph.push(line);
            continue;
        }
        lines.extend(wrap_lines(&std::mem::take(&mut paragraph).join(" "), width));
        match line.is_empty() {
            true => lines.push(String::new()),
            false => lines.extend(wrap_example(line, width)),
        }
    }
    lines.extend(wrap_lines(&paragraph.join(" "), width));
    lines.join("\n")
}

/// Wraps an example: what explains it hangs below itself, or below the example where that is narrow.
fn wrap_example(line: &str, width: usize) -> Vec<String> {
    if display_width(line) <= width {
        return vec![line.to_owned()];
    }
    let start = line.len() - line.trim_start().len();
    let gap = line.get(start..).and_then(|text| text.find("  ")).map(|at| at + start);
    let Some(gap) = gap else { return hang(line.trim(), start, EXAMPLE_INDENT, width) };
    let (example, rest) = line.split_at(gap);
    let text = rest.trim();
    let column = gap + rest.len() - rest.trim_start().len();
    if column * 2 <= width {
        let mut lines = hang(text, column, column, width);
        if let Some(first) = lines.first_mut() {
            *first = format!("{example:<column$}{text}", text = first.trim_start());
        }
        return lines;
    }
    let mut lines = hang(example.trim(), start, EXAMPLE_INDENT, width);
    lines.extend(hang(text, EXAMPLE_INDENT, EXAMPLE_INDENT, width));
    lines
}

/// Wraps a text with an indent for its first line and one for the others.
fn hang(text: &str, first: usize, rest: usize, width: usize) -> Vec<String> {
    let lines = wrap_lines(text, width.saturating_sub(first.max(rest)));
    let indent = |i: usize| " ".repeat(if i == 0 { first } else { rest });
    lines.iter().enumerate().map(|(i, line)| format!("{}{line}", indent(i))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: &str = "\
Examples:
  tome sessions last week        or today, yesterday, in March, since monday
  tome export --project . --out app.jsonl     `tome ingest` takes these lines

A path is relative to the folder of the notes, such as facts/project.md, or a name such as auth.md for
a typed note.";

    #[test]
    fn texts_are_wrapped_once() {
        expect_test::expect![[r#"
            Examples:
              tome sessions last week
                  or today, yesterday, in March, since monday
              tome export --project . --out app.jsonl
                  `tome ingest` takes these lines

            A path is relative to the folder of the notes, such as
            facts/project.md, or a name such as auth.md for a typed note."#]]
        .assert_eq(&wrap_help(HELP, 64));
        assert!(wrap_help(HELP, 100).contains("since monday\n"));
    }
}
