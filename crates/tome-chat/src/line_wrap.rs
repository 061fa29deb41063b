//! Wraps a streamed text between words, with a hanging indent for lists.

use tome_terminal::display_width;

/// A text that arrives in parts. A word is held back until it is complete.
#[derive(Debug, Default)]
pub struct LineWrap {
    /// Columns of a line; `None` leaves the text as it is.
    width: Option<usize>,
    column: usize,
    /// Columns before the lines that continue the current one.
    indent: usize,
    word: String,
    /// Spaces before the word.
    gap: usize,
}

impl LineWrap {
    pub fn new(width: Option<usize>) -> Self {
        Self { width, ..Self::default() }
    }

    /// Adds a part and returns what can be shown.
    pub fn push(&mut self, text: &str) -> String {
        let Some(width) = self.width else { return text.to_owned() };
        let mut shown = String::new();
        for c in text.chars() {
            match c {
                '\n' => {
                    self.end_word(width, &mut shown);
                    shown.push('\n');
                    (self.column, self.indent, self.gap) = (0, 0, 0);
                }
                ' ' => {
                    self.end_word(width, &mut shown);
                    self.gap += 1;
                }
                c => self.word.push(c),
            }
        }
        shown
    }

    /// Returns the rest.
    pub fn finish(&mut self) -> String {
        let mut shown = String::new();
        if let Some(width) = self.width {
            self.end_word(width, &mut shown);
        }
        (self.column, self.indent, self.gap) = (0, 0, 0);
        shown
    }

    fn end_word(&mut self, width: usize, shown: &mut String) {
        let word = std::mem::take(&mut self.word);
        if word.is_empty() {
            return;
        }
        let columns = display_width(&word);
        if self.column == 0 {
            let is_mark = matches!(word.as_str(), "-" | "*" | "•" | ">");
            self.indent = (self.gap + if is_mark { 2 } else { 0 }).min(width / 2);
        } else if self.column + self.gap + columns > width {
            shown.push('\n');
            (self.column, self.gap) = (0, self.indent);
        }
        shown.push_str(&" ".repeat(self.gap));
        shown.push_str(&word);
        self.column += self.gap + columns;
        self.gap = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "From memory:\n- Decided to use unicode tables, because they are small.\n\n  fn main() {}\nNo more.";

    #[test]
    fn a_streamed_text_is_wrapped_between_words() {
        let expected = "From memory:\n- Decided to use\n  unicode tables,\n  because they are\n  small.\n\n  fn main() {}\nNo more.";
        for size in [1, 3, 7, TEXT.len()] {
            let mut wrap = LineWrap::new(Some(18));
            let parts: Vec<char> = TEXT.chars().collect();
            let mut shown: String = parts
                .chunks(size)
                .map(|part| wrap.push(&part.iter().collect::<String>()))
                .collect();
            shown.push_str(&wrap.finish());
            assert_eq!(shown, expected, "in parts of {size}");
        }
    }

    #[test]
    fn without_a_width_nothing_changes() {
        let mut wrap = LineWrap::new(None);
        assert_eq!(wrap.push(TEXT) + &wrap.finish(), TEXT);
    }
}
