//! Locates a frontmatter and groups its lines into units, without interpreting the values.
//!
//! A block opens with `---` on the first line, closes with the next `---` line, and has at least
//! one key; otherwise two rules around prose would count as one. Every byte belongs to exactly one
//! unit, so that unknown content can be put back unchanged.

use crate::lines::strip_line_ending;

pub(super) struct FrontmatterBlock<'a> {
    /// The opening fence, including a byte order mark.
    pub open: &'a str,
    /// All lines between the fences.
    pub units: Vec<FrontmatterUnit<'a>>,
    pub close: &'a str,
    /// The text after the closing fence.
    pub after: &'a str,
}

/// Consecutive lines that belong together.
#[derive(Debug, Clone, Copy)]
pub(super) struct FrontmatterUnit<'a> {
    /// The lines with their endings.
    pub text: &'a str,
    pub kind: UnitKind<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnitKind<'a> {
    /// A key with its value, which may span several lines.
    Key {
        /// The key without quotes.
        key: &'a str,
        /// The text after the colon, including continuation lines.
        value: &'a str,
    },
    /// One blank line or comment.
    Trivia,
    /// A line that is not valid in a frontmatter, with the indented lines below it.
    Stray,
}

/// The keys that Tome reads and writes.
const KNOWN_KEYS: [&str; 5] = ["name", "description", "type", "memory_type", "updated"];

impl<'a> FrontmatterUnit<'a> {
    pub fn key(&self) -> Option<&'a str> {
        if let UnitKind::Key { key, .. } = self.kind { Some(key) } else { None }
    }

    /// Whether Tome writes this key itself.
    pub fn is_known(&self) -> bool {
        self.key().is_some_and(|key| KNOWN_KEYS.contains(&key))
    }

    /// Whether it would parse as a continuation of the preceding key.
    pub fn is_loose(&self) -> bool {
        self.kind == UnitKind::Stray && self.text.starts_with([' ', '\t'])
    }
}

impl FrontmatterBlock<'_> {
    /// Whether this is really a frontmatter. Prose between two rules can contain a line with a
    /// colon, but then other lines have none, or the text before the colon is not a plausible key.
    pub fn is_deliberate(&self) -> bool {
        let is_named = |unit: &FrontmatterUnit<'_>| match unit.kind {
            UnitKind::Key { key, .. } => !key.contains(char::is_whitespace),
            UnitKind::Trivia => true,
            UnitKind::Stray => false,
        };
        !self.units.iter().any(FrontmatterUnit::is_loose)
            && (self.units.iter().any(FrontmatterUnit::is_known) || self.units.iter().all(is_named))
    }
}

/// Finds the frontmatter at the beginning of a text.
pub(super) fn find_block(text: &str) -> Option<FrontmatterBlock<'_>> {
    let mut lines = text.split_inclusive('\n');
    let open = lines.next()?;
    if !is_fence(open.strip_prefix('\u{feff}').unwrap_or(open)) {
        return None;
    }
    let mut inner_len = 0;
    let close = lines.find(|line| {
        let closes = is_fence(line);
        inner_len += if closes { 0 } else { line.len() };
        closes
    })?;
    let (inner, rest) = text.get(open.len()..)?.split_at_checked(inner_len)?;
    let units = split_units(inner);
    units.iter().any(|unit| unit.key().is_some()).then_some(())?;
    Some(FrontmatterBlock { open, units, close, after: rest.get(close.len()..)? })
}

fn is_fence(line: &str) -> bool {
    strip_line_ending(line).trim_end_matches([' ', '\t']) == "---"
}

/// A unit whose end is not known yet.
struct OpenUnit<'a> {
    start: usize,
    end: usize,
    line: &'a str,
    key: Option<(&'a str, &'a str)>,
    /// The first character of the value; searching for it again on each line would be quadratic.
    value_start: Option<char>,
    is_space: bool,
}

fn split_units(inner: &str) -> Vec<FrontmatterUnit<'_>> {
    let mut units: Vec<OpenUnit<'_>> = Vec::new();
    // The last key or stray line, which further lines may continue across blanks and comments.
    let mut owner: Option<usize> = None;
    let mut start = 0;
    for raw in inner.split_inclusive('\n') {
        let end = start + raw.len();
        let line = strip_line_ending(raw);
        let is_space = line.trim().is_empty() || line.starts_with('#');
        let owned = owner
            .filter(|_| !is_space)
            .filter(|at| units.get(*at).is_some_and(|unit| unit.is_continued_by(line)));
        if let Some(at) = owned {
            units.truncate(at + 1);
            if let Some(unit) = units.last_mut() {
                unit.end = end;
            }
        } else {
            let key = if is_space { None } else { split_key(line) };
            owner = if is_space { owner } else { Some(units.len()) };
            let value_start = key.and_then(|(_, value)| value.trim_start().chars().next());
            units.push(OpenUnit { start, end, line, key, value_start, is_space });
        }
        start = end;
    }
    units.iter().map(|unit| unit.to_unit(inner)).collect()
}

impl<'a> OpenUnit<'a> {
    /// Whether a line continues this unit. List items, and the closing bracket of a multi-line
    /// list, may start at column 0.
    fn is_continued_by(&self, line: &str) -> bool {
        match line.chars().next() {
            Some(' ' | '\t') => true,
            _ if self.key.is_none() => false,
            Some('-') => matches!(self.value_start, None | Some('#')) && is_list_item(line),
            Some(']') => self.value_start == Some('['),
            Some('}') => self.value_start == Some('{'),
            _ => false,
        }
    }

    fn to_unit(&self, inner: &'a str) -> FrontmatterUnit<'a> {
        let text = inner.get(self.start..self.end).unwrap_or_default();
        let kind = match self.key {
            Some((key, first)) => {
                let value_at = self.line.len() - first.len();
                UnitKind::Key { key, value: text.get(value_at..).unwrap_or_default() }
            }
            None if self.is_space => UnitKind::Trivia,
            None => UnitKind::Stray,
        };
        FrontmatterUnit { text, kind }
    }
}

fn is_list_item(line: &str) -> bool {
    line == "-" || line.starts_with("- ")
}

/// Splits a line into its key and the text after the colon.
pub(super) fn split_key(line: &str) -> Option<(&str, &str)> {
    if let Some(quote) = line.chars().next().filter(|quote| matches!(quote, '"' | '\'')) {
        let (key, rest) = line.strip_prefix(quote)?.split_once(quote)?;
        let value = rest.trim_start_matches([' ', '\t']).strip_prefix(':')?;
        return (value.is_empty() || value.starts_with([' ', '\t'])).then_some((key, value));
    }
    let is_bad_start = line.starts_with(|first: char| "#[]{},&*!|>%@` \t:".contains(first));
    if is_bad_start || is_list_item(line) || line.starts_with("? ") {
        return None;
    }
    // Accept a missing space after the colon if the key is a known one.
    if let Some((key, value)) = line.split_once(':')
        && KNOWN_KEYS.contains(&key)
    {
        return Some((key, value));
    }
    let (at, _) = line.match_indices(':').find(|(at, _)| {
        line.get(at + 1..).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
    })?;
    let (key, value) = (line.get(..at)?.trim_end(), line.get(at + 1..)?);
    (!key.contains(" #")).then_some((key, value))
}
