//! The tokens of a script. Strings and templates keep their escapes until they are evaluated.
//!
//! One pass over the source, without recursion: nested templates are tracked on a stack.

/// Scripts are at most as long as the input of a tool; more is not read.
const SOURCE_BYTES_MAX: usize = 512 * 1024;
/// Tokens of a script. Real ones have some hundreds.
const TOKENS_MAX: usize = 50_000;
/// Maximum length of a regular expression, in bytes. A slash that nothing closes within it is a division.
const REGEX_BYTES_MAX: usize = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScriptTokenKind {
    Word,
    Number,
    /// A quoted string; the text excludes the quotes.
    Text,
    TemplateOpen,
    /// The text of a template between its expressions.
    TemplateText,
    TemplateClose,
    Regex,
    Symbol,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ScriptToken<'s> {
    pub(super) kind: ScriptTokenKind,
    pub(super) text: &'s str,
    /// Byte offset of the token, with its quotes.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether it begins a line.
    pub(super) is_on_new_line: bool,
}

impl ScriptToken<'_> {
    pub(super) fn is_symbol(&self, text: &str) -> bool {
        self.kind == ScriptTokenKind::Symbol && self.text == text
    }

    pub(super) fn is_word(&self, text: &str) -> bool {
        self.kind == ScriptTokenKind::Word && self.text == text
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenBrace {
    Braces,
    Template,
}

/// Symbols of more than one character, longest first where one begins with another.
const SYMBOLS: [&str; 30] = [
    ">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=", "=>", "==", "!=",
    "<=", ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=",
];

/// Splits a script into tokens; `None` if it is too long or not complete.
pub(super) fn split_tokens(source: &str) -> Option<Vec<ScriptToken<'_>>> {
    if source.len() > SOURCE_BYTES_MAX {
        return None;
    }
    let mut lexer = Lexer { source, at: 0, line_started: true, tokens: Vec::new() };
    lexer.run()?;
    Some(lexer.tokens)
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    line_started: bool,
    tokens: Vec<ScriptToken<'s>>,
}

impl<'s> Lexer<'s> {
    fn run(&mut self) -> Option<()> {
        let mut open: Vec<OpenBrace> = Vec::new();
        loop {
            self.skip_blanks()?;
            let Some(next) = self.rest().chars().next() else { break };
            match next {
                '"' | '\'' => self.read_string(next)?,
                '`' => {
                    self.push(ScriptTokenKind::TemplateOpen, 1)?;
                    self.read_template_text(&mut open)?;
                }
                '{' => {
                    open.push(OpenBrace::Braces);
                    self.push(ScriptTokenKind::Symbol, 1)?;
                }
                '}' => {
                    self.push(ScriptTokenKind::Symbol, 1)?;
                    if open.pop()? == OpenBrace::Template {
                        self.read_template_text(&mut open)?;
                    }
                }
                '/' if self.expects_value() => match self.regex_bytes() {
                    Some(bytes) => self.push(ScriptTokenKind::Regex, bytes)?,
                    None => self.push(ScriptTokenKind::Symbol, 1)?,
                },
                next if next.is_ascii_digit() => {
                    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
                    self.push_while(ScriptTokenKind::Number, is_part)?;
                }
                next if is_word_char(next) => {
                    self.push_while(ScriptTokenKind::Word, is_word_char)?;
                }
                next => {
                    let symbol = SYMBOLS.iter().find(|symbol| self.rest().starts_with(*symbol));
                    // `a?.5:b` is a condition.
                    let is_condition = self.rest().starts_with("?.")
                        && self.rest().chars().nth(2).is_some_and(|c| c.is_ascii_digit());
                    let symbol = symbol.filter(|_| !is_condition);
                    let bytes = symbol.map_or(next.len_utf8(), |symbol| symbol.len());
                    self.push(ScriptTokenKind::Symbol, bytes)?;
                }
            }
        }
        open.is_empty().then_some(())
    }

    fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn push(&mut self, kind: ScriptTokenKind, bytes: usize) -> Option<()> {
        let end = self.at + bytes;
        self.push_span(kind, self.at, end, self.at, end)
    }

    fn push_span(
        &mut self,
        kind: ScriptTokenKind,
        start: usize,
        end: usize,
        text_start: usize,
        text_end: usize,
    ) -> Option<()> {
        if self.tokens.len() >= TOKENS_MAX {
            return None;
        }
        let text = self.source.get(text_start..text_end)?;
        let is_on_new_line = std::mem::replace(&mut self.line_started, false);
        self.tokens.push(ScriptToken { kind, text, start, end, is_on_new_line });
        self.at = end;
        Some(())
    }

    fn push_while(&mut self, kind: ScriptTokenKind, is_part: impl Fn(char) -> bool) -> Option<()> {
        let rest = self.rest();
        let bytes = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.push(kind, bytes)
    }

    /// Skips whitespace and comments.
    fn skip_blanks(&mut self) -> Option<()> {
        loop {
            let rest = self.rest();
            let bytes = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let bytes = comment.find("*/")?;
                self.line_started |= comment.get(..bytes)?.contains('\n');
                bytes + 4
            } else {
                let bytes = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
                self.line_started |= rest.get(..bytes)?.contains('\n');
                bytes
            };
            if bytes == 0 {
                return Some(());
            }
            self.at += bytes;
        }
    }

    fn read_string(&mut self, quote: char) -> Option<()> {
        let start = self.at;
        let end = find_unescaped(self.source, start + 1, |c| c == quote || c == '\n')?;
        self.source.get(end..)?.starts_with(quote).then_some(())?;
        self.push_span(ScriptTokenKind::Text, start, end + 1, start + 1, end)
    }

    /// Reads the text of a template up to its next expression or its end.
    fn read_template_text(&mut self, open: &mut Vec<OpenBrace>) -> Option<()> {
        let start = self.at;
        let mut end = start;
        loop {
            end = find_unescaped(self.source, end, |c| c == '`' || c == '$')?;
            let rest = self.source.get(end..)?;
            if rest.starts_with('`') {
                self.push_span(ScriptTokenKind::TemplateText, start, end, start, end)?;
                return self.push(ScriptTokenKind::TemplateClose, 1);
            }
            if rest.starts_with("${") {
                self.push_span(ScriptTokenKind::TemplateText, start, end, start, end)?;
                open.push(OpenBrace::Template);
                return self.push(ScriptTokenKind::Symbol, 2);
            }
            end += 1;
        }
    }

    /// Whether a slash here begins a regular expression rather than dividing.
    fn expects_value(&self) -> bool {
        let Some(before) = self.tokens.last() else { return true };
        match before.kind {
            ScriptTokenKind::Symbol => !matches!(before.text, ")" | "]" | "}"),
            ScriptTokenKind::Word => {
                matches!(before.text, "return" | "typeof" | "case" | "in" | "of")
            }
            _ => false,
        }
    }

    fn regex_bytes(&self) -> Option<usize> {
        let rest = self.rest();
        let (mut is_class, mut is_escaped) = (false, false);
        for (at, c) in rest.char_indices().skip(1) {
            match c {
                '\n' => return None,
                _ if at > REGEX_BYTES_MAX => return None,
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '[' => is_class = true,
                ']' => is_class = false,
                '/' if !is_class => return Some(at + 1),
                _ => {}
            }
        }
        None
    }
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '#' | '@')
}

/// The offset of the next character that ends a text and has no backslash before it.
fn find_unescaped(source: &str, from: usize, is_end: impl Fn(char) -> bool) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in source.get(from..)?.char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if c == '\\' {
            is_escaped = true;
        } else if is_end(c) {
            return Some(from + at);
        }
    }
    None
}
