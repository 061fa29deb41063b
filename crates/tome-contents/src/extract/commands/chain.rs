//! Splits a shell command line into its parts: `a && b; c | d`. Quotes and here-documents are
//! opaque. No full shell grammar: unknown syntax stays in its part.

use std::sync::LazyLock;

use regex::Regex;

/// Bytes of a command line that are parsed.
const LINE_BYTES_MAX: usize = 32 * 1024;
/// Maximum number of parts of a command line.
const PARTS_MAX: usize = 24;

/// How a part is joined to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChainJoint {
    /// The first part.
    First,
    /// `&&`: runs only if the part before it succeeded.
    And,
    /// `||`: runs only if the part before it failed.
    Or,
    /// `;`, `&` or a new line: runs in any case.
    Then,
}

/// A pipeline of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChainPart<'a> {
    pub(crate) joint: ChainJoint,
    /// The commands of the pipeline; the last one decides the exit code.
    pub(crate) stages: Vec<&'a str>,
}

/// Splits a command line. Comments and empty parts are left out.
pub(crate) fn split_chain(line: &str) -> Vec<ChainPart<'_>> {
    let line = tome_model::truncate_to(line, LINE_BYTES_MAX);
    let mut splitter =
        ChainSplitter { line, parts: Vec::new(), start: 0, joint: ChainJoint::First };
    splitter.split();
    splitter.parts
}

struct ChainSplitter<'a> {
    line: &'a str,
    parts: Vec<ChainPart<'a>>,
    start: usize,
    /// How the next part is joined.
    joint: ChainJoint,
}

impl<'a> ChainSplitter<'a> {
    fn split(&mut self) {
        let bytes = self.line.as_bytes();
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
        let mut quote = 0;
        let mut depth = 0_usize;
        let mut stage = false;
        let mut at = 0;
        while at < bytes.len() {
            let c = byte(at);
            if let Some(end) = self.here_document_end(at, quote) {
                at = end;
                continue;
            }
            match c {
                b'\\' if quote != b'\'' => at += 1,
                b'\'' | b'"' if quote == 0 => quote = c,
                _ if quote != 0 => quote = if c == quote { 0 } else { quote },
                b'#' if at == 0 || matches!(byte(at - 1), b' ' | b'\n' | b'\t') => {
                    let end = self.line.get(at..).and_then(|rest| rest.find('\n'));
                    self.push(at, stage);
                    at = end.map_or(bytes.len(), |end| at + end);
                    self.start = at;
                    continue;
                }
                b'(' | b'{' => depth += 1,
                b')' | b'}' => depth = depth.saturating_sub(1),
                _ if depth > 0 => {}
                b'&' | b'|' if byte(at + 1) == c => {
                    self.push(at, stage);
                    stage = false;
                    self.joint = if c == b'&' { ChainJoint::And } else { ChainJoint::Or };
                    at += 1;
                    self.start = at + 1;
                }
                b'|' => {
                    self.push(at, stage);
                    stage = true;
                    at += usize::from(byte(at + 1) == b'&');
                    self.start = at + 1;
                }
                // `2>&1` and `&>file` are redirections.
                b'&' if byte(at + 1) == b'>' || at > 0 && byte(at - 1) == b'>' => {}
                b';' | b'\n' | b'&' => {
                    let continues = c == b'\n' && stage && self.is_blank(at);
                    if !continues {
                        self.push(at, stage);
                        stage = false;
                        // A line that ends with `&&` continues in the next one.
                        if !(c == b'\n' && self.joint != ChainJoint::Then && self.is_blank(at)) {
                            self.joint = ChainJoint::Then;
                        }
                    }
                    self.start = at + 1;
                }
                _ => {}
            }
            at += 1;
        }
        self.push(bytes.len(), stage);
    }

    fn is_blank(&self, end: usize) -> bool {
        self.line.get(self.start..end).unwrap_or_default().trim().is_empty()
    }

    fn push(&mut self, end: usize, is_stage: bool) {
        let text = self.line.get(self.start..end).unwrap_or_default();
        let text = text.trim().trim_start_matches(['(', '{']).trim();
        if text.is_empty() || text.starts_with('#') {
            return;
        }
        let room = self.parts.len() < PARTS_MAX;
        match self.parts.last_mut() {
            Some(last) if is_stage => last.stages.push(text),
            _ if room => {
                let joint = if self.parts.is_empty() { ChainJoint::First } else { self.joint };
                self.parts.push(ChainPart { joint, stages: vec![text] });
                self.joint = ChainJoint::Then;
            }
            _ => {}
        }
    }

    /// The end of a here-document that is opened here.
    fn here_document_end(&self, at: usize, quote: u8) -> Option<usize> {
        static OPENING: LazyLock<Option<Regex>> =
            LazyLock::new(|| Regex::new(r#"^<<-?\s*\\?['"]?([A-Za-z_][A-Za-z0-9_]*)['"]?"#).ok());
        let rest = self.line.get(at..)?;
        // Inside double quotes only a substitution opens one: "$(cat <<'EOF' …)".
        if quote == b'\'' || !rest.starts_with("<<") || rest.starts_with("<<<") {
            return None;
        }
        let found = OPENING.as_ref()?.captures(rest)?;
        let word = found.get(1)?.as_str();
        let mut end = rest.find('\n')? + 1;
        for line in rest.get(end..)?.split_inclusive('\n') {
            end += line.len();
            if line.trim() == word {
                // The line's end separates what follows.
                return Some(at + end - usize::from(line.ends_with('\n')));
            }
        }
        Some(self.line.len())
    }
}

/// Returns the words of a command. Quoted words are unquoted; escapes are kept.
pub(crate) fn split_words(command: &str) -> Vec<&str> {
    const WORDS_MAX: usize = 200;
    let mut words = Vec::new();
    let mut start = None;
    let mut quote = None;
    for (at, c) in command.char_indices() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => {
                start = start.or(Some(at));
                quote = Some(c);
            }
            (None, _) if c.is_whitespace() => {
                words.extend(start.take().and_then(|from: usize| command.get(from..at)));
            }
            (None, _) => start = start.or(Some(at)),
        }
        if words.len() >= WORDS_MAX {
            return words;
        }
    }
    words.extend(start.and_then(|from| command.get(from..)));
    words
}

/// Removes the quotes around a whole word.
pub(crate) fn unquote(word: &str) -> &str {
    ['"', '\'']
        .iter()
        .find_map(|mark| word.strip_prefix(*mark)?.strip_suffix(*mark))
        .unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> Vec<String> {
        let joint = |joint| match joint {
            ChainJoint::First => "",
            ChainJoint::And => "&& ",
            ChainJoint::Or => "|| ",
            ChainJoint::Then => "; ",
        };
        split_chain(line)
            .iter()
            .map(|part| format!("{}{}", joint(part.joint), part.stages.join(" | ")))
            .collect()
    }

    #[test]
    fn a_chain_is_split_at_its_joints() {
        assert_eq!(
            shown("cd a && go build ./... 2>&1 | tail -5 || true; echo \"x && y\" &"),
            ["cd a", "&& go build ./... 2>&1 | tail -5", "|| true", "; echo \"x && y\""]
        );
        assert_eq!(shown("# first\nmake \\\n  test # why\nls"), ["make \\\n  test", "; ls"]);
        assert_eq!(shown("a &&\n  b |\n  c"), ["a", "&& b | c"]);
    }

    #[test]
    fn a_here_document_is_opaque() {
        let line = "git commit -m \"$(cat <<'EOF'\nIt's a && b; \"c\"\nEOF\n)\" && git push";
        let parts = split_chain(line);
        assert_eq!(parts.len(), 2);
        assert_eq!(parts[1].stages, ["git push"]);
        assert_eq!(shown("cat > x <<EOF\na | b\nEOF\nmake").len(), 2);
    }

    #[test]
    fn words_keep_quoted_spaces() {
        assert_eq!(
            split_words("git -C 'my dir' commit -m \"a b\""),
            ["git", "-C", "'my dir'", "commit", "-m", "\"a b\""]
        );
        assert_eq!(unquote("\"a b\""), "a b");
    }
}
