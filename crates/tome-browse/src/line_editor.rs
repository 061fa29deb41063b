//! The search field: a line of text with a cursor.

use crate::text::clean_line;

const QUERY_CHARS_MAX: usize = 400;

/// A line of text with a cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LineEditor {
    before: String,
    after: String,
}

impl LineEditor {
    pub(crate) fn new(text: &str) -> Self {
        let mut line = Self::default();
        line.insert(text);
        line
    }

    pub(crate) fn text(&self) -> String {
        format!("{}{}", self.before, self.after)
    }

    /// The text before the cursor.
    pub(crate) fn before(&self) -> &str {
        &self.before
    }

    /// The text behind the cursor.
    pub(crate) fn after(&self) -> &str {
        &self.after
    }

    /// Inserts a text at the cursor, as one line.
    pub(crate) fn insert(&mut self, text: &str) {
        let used = self.before.chars().count() + self.after.chars().count();
        let text = text.replace(['\r', '\n', '\t'], " ");
        let room = QUERY_CHARS_MAX.saturating_sub(used);
        self.before.extend(clean_line(&text).chars().take(room));
    }

    pub(crate) fn delete_before(&mut self) {
        self.before.pop();
    }

    pub(crate) fn delete_after(&mut self) {
        self.after = self.after.chars().skip(1).collect();
    }

    /// Deletes the word before the cursor.
    pub(crate) fn delete_word(&mut self) {
        let kept = self.before.trim_end().trim_end_matches(|c: char| !c.is_whitespace());
        self.before.truncate(kept.len());
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn move_left(&mut self) {
        if let Some(c) = self.before.pop() {
            self.after.insert(0, c);
        }
    }

    pub(crate) fn move_right(&mut self) {
        let mut rest = self.after.chars();
        if let Some(c) = rest.next() {
            self.before.push(c);
            self.after = rest.collect();
        }
    }

    pub(crate) fn move_home(&mut self) {
        self.after = self.text();
        self.before.clear();
    }

    pub(crate) fn move_end(&mut self) {
        self.before = self.text();
        self.after.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_edited_at_its_cursor() {
        let mut line = LineEditor::new("fix the lexer");
        line.delete_word();
        assert_eq!(line.text(), "fix the ");
        line.insert("päser\n");
        (0..3).for_each(|_| line.move_left());
        line.delete_before();
        line.insert("rr");
        line.delete_after();
        assert_eq!((line.before(), line.after()), ("fix the pärr", "r "));
        line.move_home();
        line.delete_after();
        line.move_end();
        line.insert("\u{1b}[2J");
        assert_eq!(line.text(), "ix the pärrr \u{fffd}[2J");
        line.clear();
        assert_eq!(line.text(), "");
    }
}
