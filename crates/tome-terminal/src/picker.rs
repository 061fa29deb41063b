//! A list at the terminal from which the user picks one entry: typed letters filter it.
//!
//! It is drawn on standard error, so that standard output can be captured by a shell.

use std::io::{self, IsTerminal, Write};

use console::{Key, Term};

use crate::layout::truncate_end;
use crate::output::{stderr, terminal_width};
use crate::render::{BOLD, DIM, GREEN, RESET, one_line};

/// Entries shown at once, if the terminal has room for them.
const ROWS_MAX: usize = 12;
/// Letters between those of a word that is typed in part, for each letter of it.
const GAPS_PER_LETTER_MAX: usize = 2;
/// Lines around the entries: what is typed, and the keys.
const FRAME_ROWS: usize = 2;

/// Whether there is a terminal to draw on and a keyboard to read.
pub fn can_pick() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Lets the user pick an entry; `None` if the user leaves without picking.
pub fn pick(title: &str, entries: &[String]) -> io::Result<Option<usize>> {
    let term = Term::stderr();
    let mut state = PickerState::new(entries);
    let mut drawn = 0;
    loop {
        let rows = usize::from(term.size().0).saturating_sub(FRAME_ROWS + 1).clamp(1, ROWS_MAX);
        let lines = state.render(title, rows, terminal_width());
        term.clear_last_lines(drawn)?;
        let mut out = stderr().lock();
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        out.flush()?;
        drawn = lines.len();
        if let Some(done) = state.press(&term.read_key_raw()?) {
            term.clear_last_lines(drawn)?;
            return Ok(done);
        }
    }
}

/// The text typed so far, and the entries that match it.
struct PickerState<'a> {
    entries: &'a [String],
    typed: String,
    matches: Vec<usize>,
    /// Place of the chosen entry among the matches.
    chosen: usize,
}

impl<'a> PickerState<'a> {
    fn new(entries: &'a [String]) -> Self {
        Self { entries, typed: String::new(), matches: (0..entries.len()).collect(), chosen: 0 }
    }

    /// Handles a key. Returns the picked entry, or `None` inside if the user leaves.
    fn press(&mut self, key: &Key) -> Option<Option<usize>> {
        match key {
            Key::Enter => match self.matches.get(self.chosen) {
                Some(entry) => return Some(Some(*entry)),
                None => return None,
            },
            Key::Escape | Key::CtrlC | Key::Char('\u{3}' | '\u{4}') | Key::Unknown => {
                return Some(None);
            }
            Key::ArrowUp | Key::BackTab | Key::Char('\u{10}') => {
                self.chosen = self.chosen.saturating_sub(1);
            }
            Key::ArrowDown | Key::Tab | Key::Char('\u{e}') => {
                self.chosen = (self.chosen + 1).min(self.matches.len().saturating_sub(1));
            }
            Key::Backspace => {
                self.typed.pop();
                self.filter();
            }
            // Ctrl-U clears the line.
            Key::Char('\u{15}') => {
                self.typed.clear();
                self.filter();
            }
            Key::Char(c) if !c.is_control() => {
                self.typed.push(*c);
                self.filter();
            }
            _ => {}
        }
        None
    }

    /// Keeps the entries that match every typed word, the best first, else in their order.
    fn filter(&mut self) {
        let words: Vec<String> = self.typed.split_whitespace().map(str::to_lowercase).collect();
        let mut scored: Vec<(u32, usize)> = Vec::new();
        for (index, entry) in self.entries.iter().enumerate() {
            let entry = entry.to_lowercase();
            let scores: Option<Vec<u32>> =
                words.iter().map(|word| match_score(&entry, word)).collect();
            scored.extend(scores.map(|scores| (scores.iter().sum(), index)));
        }
        scored.sort_by_key(|(score, index)| (*score, *index));
        self.matches = scored.into_iter().map(|(_, index)| index).collect();
        self.chosen = 0;
    }

    fn render(&self, title: &str, rows: usize, width: usize) -> Vec<String> {
        let room = width.saturating_sub(1);
        let first = (self.chosen + 1).saturating_sub(rows);
        let head = truncate_end(&format!("{title} {}", one_line(&self.typed, 200)), room);
        let mut lines = vec![format!("{BOLD}{head}{RESET}")];
        for (index, entry) in self.matches.iter().enumerate().skip(first).take(rows) {
            // The columns of an entry stay apart, so only control characters are replaced.
            let text = self.entries.get(*entry).map(String::as_str).unwrap_or_default();
            let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            let text = truncate_end(&text, room.saturating_sub(2));
            lines.push(if index == self.chosen {
                format!("{GREEN}❯ {text}{RESET}")
            } else {
                format!("  {text}")
            });
        }
        let hidden = self.matches.len().saturating_sub(first + rows);
        let keys = match (self.matches.is_empty(), hidden) {
            (true, _) => "nothing matches · Esc quit".to_owned(),
            (false, 0) => "type to filter · ↑↓ · Enter pick · Esc quit".to_owned(),
            (false, hidden) => format!("{hidden} more · type to filter · ↑↓ · Enter · Esc"),
        };
        lines.push(format!("{DIM}{}{RESET}", truncate_end(&keys, room)));
        lines
    }
}

/// How well a word matches a text; lower is better. `None` if its letters are not there in order, or
/// stand so far apart that they are a coincidence.
fn match_score(text: &str, word: &str) -> Option<u32> {
    if text.contains(word) {
        return Some(0);
    }
    let mut letters = word.chars();
    let first = letters.next()?;
    let letters: Vec<char> = letters.collect();
    let gaps_max = (letters.len() + 1) * GAPS_PER_LETTER_MAX;
    let starts = text.char_indices().filter(|(_, c)| *c == first);
    let gaps = starts.filter_map(|(at, c)| {
        let mut rest = text.get(at + c.len_utf8()..)?.chars();
        letters.iter().try_fold(0, |gaps, wanted| {
            let skipped = rest.position(|c| c == *wanted)?;
            Some(gaps + skipped).filter(|gaps| *gaps <= gaps_max)
        })
    });
    gaps.min().and_then(|gaps| u32::try_from(gaps + 1).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<String> {
        ["Fix the lexer", "Accept unicode identifiers", "Release 1.2 \u{1b}[2J"]
            .map(str::to_owned)
            .to_vec()
    }

    fn type_text(state: &mut PickerState<'_>, text: &str) {
        text.chars().for_each(|c| assert_eq!(state.press(&Key::Char(c)), None));
    }

    #[test]
    fn typing_filters_the_list() {
        let entries = entries();
        let mut state = PickerState::new(&entries);
        type_text(&mut state, "uni");
        assert_eq!(state.matches, [1]);
        assert_eq!(state.press(&Key::Enter), Some(Some(1)));
        type_text(&mut state, "zzz");
        assert_eq!(state.press(&Key::Enter), None, "nothing to pick");
        assert_eq!(state.press(&Key::Escape), Some(None));
    }

    #[test]
    fn letters_match_in_order_and_the_best_comes_first() {
        let entries = entries();
        let mut state = PickerState::new(&entries);
        type_text(&mut state, "fxl");
        assert_eq!(state.matches, [0]);
        state.press(&Key::Char('\u{15}'));
        assert_eq!(state.matches, [0, 1, 2]);
        type_text(&mut state, "re");
        assert_eq!(state.matches.first(), Some(&2), "whole words before scattered letters");
    }

    #[test]
    fn letters_far_apart_do_not_match() {
        let entries = ["Feb 13  claude-code  Fix the agent", "Feb 12  codex  A debugger"]
            .map(str::to_owned)
            .to_vec();
        let mut state = PickerState::new(&entries);
        type_text(&mut state, "bug");
        assert_eq!(state.matches, [1]);
    }

    #[test]
    fn arrows_move_and_lines_are_cut() {
        let entries = entries();
        let mut state = PickerState::new(&entries);
        state.press(&Key::ArrowDown);
        state.press(&Key::ArrowDown);
        state.press(&Key::ArrowDown);
        let lines = state.render("session:", 2, 20);
        let plain: Vec<String> = lines
            .iter()
            .map(|line| {
                [BOLD, DIM, GREEN, RESET].iter().fold(line.clone(), |l, s| l.replace(s, ""))
            })
            .collect();
        assert_eq!(plain[..3], ["session: ", "  Accept unicode i…", "❯ Release 1.2  [2J"]);
    }
}
