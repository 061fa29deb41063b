//! Markdown as lines for the terminal: headings bold, lists with hanging indents, code as it is.

use tome_terminal::{
    BOLD, DIM, RESET, display_width, replace_control_chars, wrap_code, wrap_lines,
};

/// Before a line of code.
const CODE_INDENT: &str = "    ";

/// Renders a text in lines of at most `width` columns.
pub fn render_markdown(text: &str, width: usize) -> Vec<String> {
    let (mut lines, mut fence): (Vec<String>, Option<&str>) = (Vec::new(), None);
    let clean = replace_control_chars(text);
    let mut paragraph = String::new();
    for line in clean.lines() {
        let trimmed = line.trim();
        if let Some(mark) = fence {
            if trimmed.starts_with(mark) {
                fence = None;
            } else {
                let parts = wrap_code(line.trim_end(), width.saturating_sub(CODE_INDENT.len()));
                let indented = parts.iter().map(|part| format!("{CODE_INDENT}{part}"));
                lines.extend(indented.map(|part| part.trim_end().to_owned()));
            }
            continue;
        }
        let opened = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        let is_text = opened.is_none() && !trimmed.is_empty() && begins_paragraph(line).is_none();
        if is_text && !is_verbatim(line) {
            paragraph.push_str(trimmed);
            paragraph.push(' ');
            continue;
        }
        flush_paragraph(&mut paragraph, &mut lines, width);
        if opened.is_some() {
            fence = opened;
        } else if trimmed.is_empty() {
            push_blank(&mut lines);
        } else if is_verbatim(line) {
            // A row of a table that is too wide goes on below, indented.
            if display_width(line.trim_end()) <= width {
                lines.push(line.trim_end().to_owned());
            } else {
                lines.extend(wrap_row(line, width));
            }
        } else {
            paragraph.push_str(line);
            paragraph.push(' ');
            if trimmed.starts_with('#') {
                flush_paragraph(&mut paragraph, &mut lines, width);
            }
        }
    }
    flush_paragraph(&mut paragraph, &mut lines, width);
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

fn push_blank(lines: &mut Vec<String>) {
    if lines.last().is_some_and(|last| !last.is_empty()) {
        lines.push(String::new());
    }
}

/// The mark of a heading, list item or quotation at the beginning of a line, with its indent.
fn begins_paragraph(line: &str) -> Option<usize> {
    let indent = line.len() - line.trim_start().len();
    let rest = line.trim_start();
    let hashes = rest.chars().take_while(|c| *c == '#').count();
    if (1..=6).contains(&hashes) && rest.chars().nth(hashes) == Some(' ') {
        return Some(0);
    }
    if ["- ", "* ", "+ ", "> "].iter().any(|mark| rest.starts_with(mark)) {
        return Some(indent + 2);
    }
    let digits = rest.chars().take_while(char::is_ascii_digit).count();
    let after: String = rest.chars().skip(digits).take(2).collect();
    ((1..=3).contains(&digits) && (after == ". " || after == ") ")).then_some(indent + digits + 2)
}

/// Lines of tables and rules are kept as they are.
fn is_verbatim(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('|') || (line.len() >= 3 && line.chars().all(|c| "-=*_".contains(c)))
}

fn wrap_row(line: &str, width: usize) -> Vec<String> {
    let parts = wrap_lines(line, width.saturating_sub(2)).into_iter().enumerate();
    parts.map(|(i, part)| if i == 0 { part } else { format!("  {part}") }).collect()
}

/// Renders a paragraph, heading or list item.
fn flush_paragraph(paragraph: &mut String, lines: &mut Vec<String>, width: usize) {
    let text = std::mem::take(paragraph);
    let text = text.trim_end();
    if text.is_empty() {
        return;
    }
    if let Some(heading) = text.trim_start().strip_prefix('#')
        && begins_paragraph(text) == Some(0)
    {
        push_blank(lines);
        let heading = heading.trim_start_matches('#').trim().replace("**", "");
        let wrapped = wrap_lines(&heading, width).into_iter();
        lines.extend(wrapped.map(|line| format!("{BOLD}{line}{RESET}")));
        return;
    }
    let hang = begins_paragraph(text).unwrap_or(0).min(width / 2);
    let indent = (text.len() - text.trim_start().len()).min(hang);
    let wrapped = wrap_lines(text.trim_start(), width.saturating_sub(hang).max(10));
    let mut is_bold = false;
    for (i, line) in wrapped.iter().enumerate() {
        // The mark of a list item is part of the first line, which may thus be longer by its width.
        let pad = if i == 0 { indent } else { hang };
        lines.push(format!("{}{}", " ".repeat(pad), style_bold(line, &mut is_bold)));
    }
}

/// Turns `**bold**` into a style, which may go on in the next line.
fn style_bold(line: &str, is_bold: &mut bool) -> String {
    let mut styled = String::new();
    if *is_bold {
        styled.push_str(BOLD);
    }
    for (i, part) in line.split("**").enumerate() {
        if i > 0 {
            *is_bold = !*is_bold;
            styled.push_str(if *is_bold { BOLD } else { RESET });
        }
        styled.push_str(part);
    }
    if *is_bold {
        styled.push_str(RESET);
    }
    styled
}

/// Cuts a line of code to the width, for a line that must not wrap.
pub fn fit_code(line: &str, width: usize) -> String {
    let line = replace_control_chars(&line.replace('\t', "    "));
    if display_width(&line) > width { tome_terminal::truncate_end(&line, width) } else { line }
}

/// A dim line.
pub fn dim(text: &str) -> String {
    format!("{DIM}{text}{RESET}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_is_readable_as_text() {
        let text = "# The plan\nFirst **fix** the lexer, then\nthe parser.\n\n- one item that is longer than a line\n- two\n\n```rust\nfn main() {}\n  let name = read(source, at);\n```\n| a | b |\n1. number";
        let shown =
            render_markdown(text, 24).join("\n").replace(BOLD, "<b>").replace(RESET, "</b>");
        expect_test::expect![[r#"
            <b>The plan</b>
            First <b>fix</b> the lexer,
            then the parser.

            - one item that is
              longer than a line
            - two

                fn main() {}
                  let name = read(
                    source, at);
            | a | b |
            1. number"#]]
        .assert_eq(&shown);
    }
}
