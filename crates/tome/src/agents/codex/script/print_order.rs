//! Finds out in which order a script prints the results of its calls.
//!
//! Printed texts do not name their call. They belong to the calls in order only if the script
//! prints the results in the order of the calls. Where that is not certain, the answer is no.

use std::collections::HashMap;

use super::lexer::{ScriptToken, ScriptTokenKind};

/// Words that change an order, or that make code run later than where it is written.
const REORDERING_WORDS: [&str; 11] = [
    "then",
    "function",
    "reverse",
    "toReversed",
    "sort",
    "toSorted",
    "unshift",
    "reduceRight",
    "race",
    "any",
    "splice",
];

/// The results that a variable holds.
enum VariableResults {
    One(usize),
    /// The results of `Promise.all([…])`.
    List(Vec<usize>),
}

/// An open bracket.
#[derive(Default, Clone, Copy)]
struct PrintBracket {
    /// Index of its token.
    open: usize,
    commas: usize,
    /// Results that are named here are printed in this order.
    is_print: bool,
    /// The arguments of `list.forEach(…)`.
    is_loop: bool,
    /// The code may run later, or several times.
    is_in_function: bool,
}

/// Returns the indexes of the calls whose results are printed, in the order of the prints; `None`
/// if the order is not certain. `calls` has the index of the first token of each call.
pub(super) fn find_printed_calls(
    tokens: &[ScriptToken<'_>],
    calls: &[usize],
) -> Option<Vec<usize>> {
    let mut reader = PrintReader {
        tokens,
        brackets: vec![PrintBracket::default()],
        names: HashMap::new(),
        printed: Vec::new(),
    };
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            ScriptTokenKind::Symbol => reader.read_symbol(token.text, at),
            ScriptTokenKind::Word => match calls.binary_search(&at) {
                Ok(call) => reader.read_call(call, at)?,
                Err(_) => reader.read_word(token.text, at)?,
            },
            _ => {}
        }
    }
    Some(reader.printed)
}

struct PrintReader<'r, 's> {
    tokens: &'r [ScriptToken<'s>],
    brackets: Vec<PrintBracket>,
    names: HashMap<&'s str, VariableResults>,
    printed: Vec<usize>,
}

impl<'s> PrintReader<'_, 's> {
    fn bracket(&self) -> PrintBracket {
        self.brackets.last().copied().unwrap_or_default()
    }

    /// The token this far before another one.
    fn before(&self, at: usize, distance: usize) -> Option<&ScriptToken<'s>> {
        self.tokens.get(at.checked_sub(distance)?)
    }

    fn is_symbol_at(&self, at: usize, text: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is_symbol(text))
    }

    fn is_member(&self, at: usize) -> bool {
        self.before(at, 1).is_some_and(|token| token.is_symbol(".") || token.is_symbol("?."))
    }

    fn read_symbol(&mut self, text: &str, at: usize) {
        match text {
            "(" | "[" | "{" | "${" => {
                let outer = self.bracket();
                let follows = |word| self.before(at, 1).is_some_and(|token| token.is_word(word));
                let is_print = text == "(" && follows("text") || text == "[" && follows("of");
                let is_list = self.before(at, 3).is_some_and(|token| {
                    matches!(self.names.get(token.text), Some(VariableResults::List(_)))
                });
                self.brackets.push(PrintBracket {
                    open: at,
                    commas: 0,
                    is_print: is_print || outer.is_print,
                    is_loop: text == "(" && follows("forEach") && is_list,
                    is_in_function: outer.is_in_function,
                });
            }
            ")" | "]" | "}" => {
                self.brackets.pop();
            }
            "," | ";" | "=>" => {
                let above = self.brackets.len().checked_sub(2);
                let outer = above.and_then(|above| self.brackets.get(above)).copied();
                if let Some(bracket) = self.brackets.last_mut() {
                    bracket.commas += usize::from(text == ",");
                    bracket.is_in_function = outer.unwrap_or_default().is_in_function
                        || text == "=>" && !bracket.is_loop;
                }
            }
            _ => {}
        }
    }

    /// Notes which variable gets the result of a call, unless it is printed at once.
    fn read_call(&mut self, call: usize, at: usize) -> Option<()> {
        let bracket = self.bracket();
        if bracket.is_print {
            self.printed.push(call);
            return Some(());
        }
        if let Some(name) = self.assigned_name(at) {
            self.names.insert(name, VariableResults::One(call));
            return Some(());
        }
        let begins_list = ["(", "all", ".", "Promise"].iter().enumerate().all(|(index, text)| {
            self.before(bracket.open, index + 1).is_some_and(|token| token.text == *text)
        });
        if !begins_list || !self.is_symbol_at(bracket.open, "[") {
            return Some(());
        }
        let start = bracket.open.checked_sub(4)?;
        if let Some(name) = self.assigned_name(start) {
            if bracket.commas == 0 {
                self.names.insert(name, VariableResults::List(Vec::new()));
            }
            let Some(VariableResults::List(list)) = self.names.get_mut(name) else { return None };
            list.push(call);
            return (list.len() == bracket.commas + 1).then_some(());
        }
        if let Some(name) = self.destructured_name(start, bracket.commas) {
            self.names.insert(name, VariableResults::One(call));
        }
        Some(())
    }

    /// The end of the target of `target = await …`, where the value begins at this token.
    fn target_end(&self, value: usize) -> Option<usize> {
        let is_awaited = self.before(value, 1).is_some_and(|token| token.is_word("await"));
        let equals = value.checked_sub(if is_awaited { 2 } else { 1 })?;
        equals.checked_sub(1).filter(|_| self.is_symbol_at(equals, "="))
    }

    fn assigned_name(&self, value: usize) -> Option<&'s str> {
        let at = self.target_end(value)?;
        let name = self.tokens.get(at).filter(|token| token.kind == ScriptTokenKind::Word)?;
        (!self.is_member(at)).then_some(name.text)
    }

    /// The name at this position of `[a, b] = await …`.
    fn destructured_name(&self, value: usize, position: usize) -> Option<&'s str> {
        let close = self.target_end(value).filter(|at| self.is_symbol_at(*at, "]"))?;
        let open = (0..close).rev().find(|at| self.is_symbol_at(*at, "["))?;
        let name = open + 1 + 2 * position;
        let is_plain = (open + 1..=name).all(|at| {
            self.tokens.get(at).is_some_and(|token| match (at - open) % 2 {
                1 => token.kind == ScriptTokenKind::Word,
                _ => token.is_symbol(","),
            })
        });
        let name = self.tokens.get(name).filter(|_| is_plain && name < close)?;
        Some(name.text)
    }

    /// Notes the results that are printed where a variable is named; `None` if the order is not
    /// certain any longer.
    fn read_word(&mut self, word: &str, at: usize) -> Option<()> {
        if REORDERING_WORDS.contains(&word) {
            return None;
        }
        let is_key_or_target = self.is_symbol_at(at + 1, ":") || self.is_symbol_at(at + 1, "=");
        if self.is_member(at) || is_key_or_target {
            return Some(());
        }
        let bracket = self.bracket();
        if word == "text" {
            let is_called = self.is_symbol_at(at + 1, "(") || bracket.is_loop;
            return (is_called && !bracket.is_in_function).then_some(());
        }
        let is_of = self.before(at, 1).is_some_and(|token| token.is_word("of"));
        let is_each = self.tokens.get(at + 2).is_some_and(|token| token.is_word("forEach"));
        match self.names.get(word) {
            Some(VariableResults::One(call)) if bracket.is_print => self.printed.push(*call),
            Some(VariableResults::List(list)) if self.is_symbol_at(at + 1, "[") => {
                let index = self.tokens.get(at + 2).and_then(|token| token.text.parse().ok());
                let index: Option<usize> = index.filter(|_| self.is_symbol_at(at + 3, "]"));
                let call = *list.get(index?)?;
                self.printed.extend(bracket.is_print.then_some(call));
            }
            Some(VariableResults::List(list)) if bracket.is_print || is_of || is_each => {
                self.printed.extend(list);
            }
            _ => {}
        }
        Some(())
    }
}
