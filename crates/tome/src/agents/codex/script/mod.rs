//! Reads the tool calls of a script that Codex ran with its tool `exec`:
//!
//! ```text
//! const r = await tools.exec_command({"cmd": "cargo test"}); text(r.output);
//! ```
//!
//! Nothing is executed. A call counts if the script certainly makes it and its argument is a
//! literal, or made of literals and constants. Every other mention of `tools` is counted, so that a
//! script with such calls is not mistaken for one that is understood.

mod lexer;
mod literal;
mod print_order;
#[cfg(test)]
mod tests;

use serde_json::Value;

use lexer::{ScriptToken, ScriptTokenKind, split_tokens};
use literal::{Literals, decode_escapes};
use print_order::find_printed_calls;

/// Calls that are read; real scripts make at most a dozen.
const CALLS_MAX: usize = 64;
/// Brackets within each other.
const DEPTH_MAX: usize = 64;
/// Shorter texts stay in the outline of a script.
const OUTLINED_BYTES_MIN: usize = 40;

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScriptCall {
    pub(super) name: String,
    pub(super) input: Value,
}

/// The calls of a script, in the order in which it makes them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct CodexScript {
    pub(super) calls: Vec<ScriptCall>,
    /// Calls that depend on a condition, on a loop or on other results.
    pub(super) unread_calls: usize,
    /// Such calls that read more output of a command that still runs.
    pub(super) unread_polls: usize,
    /// The number of calls before each `text(…)`; `None` if one of them is uncertain.
    pub(super) prints: Option<Vec<usize>>,
    /// Whether the script prints the results of its calls in the order of the calls.
    pub(super) prints_in_order: bool,
    /// Whether the script goes on after a failed call.
    pub(super) catches_errors: bool,
}

impl CodexScript {
    /// Whether each call is followed by one print.
    pub(super) fn is_alternating(&self) -> bool {
        let prints = self.prints.as_deref();
        prints.is_some_and(|prints| prints.iter().copied().eq(1..=self.calls.len()))
    }
}

/// Reads a script; `None` if it is not one or makes no call that can be read.
pub(super) fn parse_script(source: &str) -> Option<CodexScript> {
    if !source.contains("tools") {
        return None;
    }
    let tokens = split_tokens(source)?;
    let mut reader = ScriptReader {
        tokens: &tokens,
        literals: Literals::new(),
        brackets: vec![OpenBracket::default()],
        may_have_ended: false,
        call_starts: Vec::new(),
        script: CodexScript { prints: Some(Vec::new()), ..CodexScript::default() },
    };
    reader.run()?;
    let printed = find_printed_calls(&tokens, &reader.call_starts);
    reader.script.prints_in_order = printed.is_some_and(|printed| {
        let mut calls = 0..reader.script.calls.len();
        let is_complete = reader.script.is_alternating() || calls.all(|at| printed.contains(&at));
        printed.is_sorted() && is_complete
    });
    // Calls that are not awaited are discarded when the script ends.
    let is_awaited = tokens.iter().any(|token| token.is_word("await"));
    (is_awaited && !reader.script.calls.is_empty()).then_some(reader.script)
}

/// Returns the script without the long texts that are in these values already.
pub(super) fn outline_script(source: &str, known: &[&Value]) -> String {
    let mut texts = Vec::new();
    known.iter().for_each(|value| collect_texts(value, &mut texts));
    let tokens = split_tokens(source).unwrap_or_default();
    let mut outline = String::new();
    let mut copied = 0;
    for (index, token) in tokens.iter().enumerate() {
        let is_literal = match token.kind {
            ScriptTokenKind::Text => true,
            ScriptTokenKind::TemplateText => {
                let around = [index.checked_sub(1), Some(index + 1)];
                around.iter().all(|at| {
                    let token = at.and_then(|at| tokens.get(at));
                    token.is_some_and(|token| token.kind != ScriptTokenKind::Symbol)
                })
            }
            _ => false,
        };
        if !is_literal || token.text.len() < OUTLINED_BYTES_MIN {
            continue;
        }
        if decode_escapes(token.text).is_some_and(|text| texts.contains(&text.as_str())) {
            outline.push_str(source.get(copied..token.start).unwrap_or_default());
            outline.push('…');
            copied = token.end;
        }
    }
    outline.push_str(source.get(copied..).unwrap_or_default());
    outline
}

fn collect_texts<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) if text.len() >= OUTLINED_BYTES_MIN => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Value::Object(fields) => fields.values().for_each(|field| collect_texts(field, texts)),
        _ => {}
    }
}

#[derive(Default, Clone, Copy)]
struct OpenBracket {
    /// The code at this place may run more than once, or not at all.
    is_uncertain: bool,
    /// Statements in braces.
    is_block: bool,
    /// The arguments of `text(…)`.
    is_print: bool,
}

struct ScriptReader<'r, 's> {
    tokens: &'r [ScriptToken<'s>],
    literals: Literals<'s>,
    brackets: Vec<OpenBracket>,
    /// Whether an earlier statement may have ended the script.
    may_have_ended: bool,
    /// The index of the first token of each call.
    call_starts: Vec<usize>,
    script: CodexScript,
}

impl<'s> ScriptReader<'_, 's> {
    fn run(&mut self) -> Option<()> {
        let mut at = 0;
        while let Some(token) = self.tokens.get(at).copied() {
            at += 1;
            match token.kind {
                ScriptTokenKind::Symbol => self.read_symbol(token.text, at)?,
                ScriptTokenKind::Word => at = self.read_word(token.text, at),
                _ => {}
            }
        }
        Some(())
    }

    fn token(&self, at: usize) -> Option<&ScriptToken<'s>> {
        self.tokens.get(at)
    }

    fn is_symbol_at(&self, at: usize, text: &str) -> bool {
        self.token(at).is_some_and(|token| token.is_symbol(text))
    }

    fn is_certain(&self) -> bool {
        !self.may_have_ended && self.brackets.last().is_some_and(|bracket| !bracket.is_uncertain)
    }

    fn set_uncertain(&mut self, is_uncertain: bool) {
        let depth = self.brackets.len();
        let above = depth.checked_sub(2).and_then(|above| self.brackets.get(above)).copied();
        let outer = above.is_some_and(|bracket| bracket.is_uncertain);
        if let Some(bracket) = self.brackets.last_mut() {
            bracket.is_uncertain = is_uncertain || outer || bracket.is_block;
        }
    }

    /// Handles a symbol; `after` is the index of the next token.
    fn read_symbol(&mut self, text: &str, after: usize) -> Option<()> {
        match text {
            "(" | "[" | "{" | "${" => {
                if self.brackets.len() >= DEPTH_MAX {
                    return None;
                }
                let before = after.checked_sub(2).and_then(|at| self.token(at));
                let is_block = text == "{" && before.is_none_or(begins_block);
                let is_print = text == "(" && before.is_some_and(|token| token.is_word("text"));
                let is_uncertain = is_block || self.brackets.last().is_some_and(|l| l.is_uncertain);
                self.brackets.push(OpenBracket { is_uncertain, is_block, is_print });
            }
            ")" | "]" | "}" => {
                let closed = self.brackets.pop().filter(|_| !self.brackets.is_empty())?;
                if closed.is_print {
                    let calls = self.script.calls.len();
                    let is_certain = self.is_certain();
                    let prints = self.script.prints.take().filter(|_| is_certain);
                    self.script.prints = prints.map(|mut prints| {
                        prints.push(calls);
                        prints
                    });
                }
                if closed.is_block {
                    self.set_uncertain(false);
                }
            }
            ";" => self.set_uncertain(false),
            "=>" | "?" | "&&" | "||" | "??" | "&&=" | "||=" | "??=" => self.set_uncertain(true),
            _ => {}
        }
        Some(())
    }

    /// Handles a word; returns the index of the token to read next.
    fn read_word(&mut self, word: &'s str, after: usize) -> usize {
        let is_member = after
            .checked_sub(2)
            .is_some_and(|at| self.is_symbol_at(at, ".") || self.is_symbol_at(at, "?."));
        match word {
            // The second argument of `then` handles errors.
            "catch" | "then" | "allSettled" | "try" => self.script.catches_errors = true,
            _ if is_member => {}
            "if" | "else" | "for" | "while" | "do" | "switch" | "function" | "class" => {
                self.set_uncertain(true);
            }
            "return" | "exit" | "throw" | "break" | "continue" => self.may_have_ended = true,
            "const" | "let" | "var" => return self.read_constants(after),
            "tools" => return self.read_call(after),
            name => self.note_change(name, after),
        }
        after
    }

    /// Reads `name = literal`, and more of them after commas.
    fn read_constants(&mut self, mut at: usize) -> usize {
        loop {
            let named = self.token(at).filter(|token| token.kind == ScriptTokenKind::Word).copied();
            let Some(name) = named.filter(|_| self.is_symbol_at(at + 1, "=")) else { return at };
            self.literals.forget(name.text);
            let is_outermost = self.brackets.len() == 1;
            let Some((value, end)) = self.literals.read_value(self.tokens, at + 2) else {
                return at + 2;
            };
            let next = self.token(end);
            let is_list = next.is_some_and(|token| token.is_symbol(","));
            let is_complete = next.is_none_or(|token| {
                token.is_symbol(";")
                    || token.is_on_new_line && matches!(token.kind, ScriptTokenKind::Word)
            });
            if !is_outermost || !(is_list || is_complete) {
                return at + 2;
            }
            self.literals.define(name.text, value);
            if !is_list {
                return end;
            }
            at = end + 1;
        }
    }

    /// Forgets a constant that gets another value, or may get another member.
    fn note_change(&mut self, name: &str, after: usize) {
        let Some(next) = self.token(after).filter(|token| token.kind == ScriptTokenKind::Symbol)
        else {
            return;
        };
        let is_assigned = next.text == "++"
            || next.text == "--"
            || next.text.ends_with('=')
                && !matches!(next.text, "==" | "===" | "!=" | "!==" | "<=" | ">=");
        let is_reached = matches!(next.text, "." | "[" | "?.") && self.literals.has_members(name);
        if is_assigned || is_reached {
            self.literals.forget(name);
        }
    }

    /// Reads what follows `tools`: `.name(argument)` or `["name"](argument)`.
    fn read_call(&mut self, after: usize) -> usize {
        let Some((name, open)) = self.read_call_name(after) else {
            self.script.unread_calls += 1;
            return after;
        };
        let argument = if self.is_symbol_at(open + 1, ")") {
            Some((Value::Object(serde_json::Map::new()), open + 1))
        } else {
            self.literals.read_value(self.tokens, open + 1)
        };
        let is_room = self.script.calls.len() < CALLS_MAX;
        match argument {
            Some((input, end)) if self.is_symbol_at(end, ")") && self.is_certain() && is_room => {
                self.script.calls.push(ScriptCall { name, input });
                self.call_starts.extend(after.checked_sub(1));
                end + 1
            }
            _ if name == "write_stdin" => {
                self.script.unread_polls += 1;
                after
            }
            _ => {
                self.script.unread_calls += 1;
                after
            }
        }
    }

    /// The name of the called tool, and the index of its opening parenthesis.
    fn read_call_name(&self, after: usize) -> Option<(String, usize)> {
        let name = self.token(after + 1)?;
        let (name, open) = if self.is_symbol_at(after, ".") && name.kind == ScriptTokenKind::Word {
            (name.text.to_owned(), after + 2)
        } else if self.is_symbol_at(after, "[")
            && name.kind == ScriptTokenKind::Text
            && self.is_symbol_at(after + 2, "]")
        {
            (decode_escapes(name.text)?, after + 3)
        } else {
            return None;
        };
        self.is_symbol_at(open, "(").then_some((name, open))
    }
}

/// Whether a brace after this token begins statements rather than an object.
fn begins_block(before: &ScriptToken<'_>) -> bool {
    match before.kind {
        ScriptTokenKind::Symbol => matches!(before.text, ")" | "=>" | ";" | "{" | "}"),
        ScriptTokenKind::Word => matches!(before.text, "else" | "try" | "catch" | "finally" | "do"),
        _ => false,
    }
}
