//! The title of a note: its first heading, or one derived from its path.

use crate::markdown_line::split_lines;

/// The text of the first heading of any level.
pub(crate) fn find_first_heading(text: &str) -> Option<String> {
    split_lines(text)
        .filter_map(|line| line.parse_heading())
        .find(|(_, title)| !title.is_empty())
        .map(|(_, title)| title.to_owned())
}

/// `User prefs` for `facts/user-prefs.md`; dates such as `2026-02` keep their dashes.
pub(crate) fn from_path(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.strip_suffix(".md").unwrap_or(name);
    let mut out = String::with_capacity(stem.len());
    let mut parts = stem.chars().peekable();
    let mut was_digit = false;
    while let Some(part) = parts.next() {
        let is_date = was_digit && parts.peek().is_some_and(char::is_ascii_digit);
        match part {
            // A heading cannot consist of `#` alone.
            '#' => out.push(' '),
            '-' | '_' if !is_date => out.push(' '),
            part if part.is_control() => out.push(' '),
            part if out.is_empty() => out.extend(part.to_uppercase()),
            part => out.push(part),
        }
        was_digit = part.is_ascii_digit();
    }
    let title = tome_text::collapse_whitespace(&out);
    if title.is_empty() { "Notes".to_owned() } else { title }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_derived_from_the_path() {
        for (path, title) in [
            ("facts/user.md", "User"),
            ("episodes/2026-02.md", "2026-02"),
            ("detail/auth_design-v2.md", "Auth design v2"),
            ("détail/élan.md", "Élan"),
            ("a\nb.md", "A b"),
            ("-.md", "Notes"),
            ("#.md", "Notes"),
            ("", "Notes"),
        ] {
            assert_eq!(from_path(path), title);
        }
    }

    #[test]
    fn the_first_heading_is_the_title() {
        let text = "---\n# note\nname: x\n---\n```\n# code\n```\n<!--\n# hint\n-->\n#\n## Real `one` ##\n# Later\n";
        assert_eq!(find_first_heading(text).as_deref(), Some("Real `one`"));
        assert_eq!(find_first_heading("no heading\n#tag\n"), None);
    }
}
