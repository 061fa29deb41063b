//! Where a frontmatter is and which lines of it belong together, without understanding its values.
//!
//! A block opens with `---` on the first line, closes with the next `---` at the beginning of a line,
//! and has at least one key; otherwise two rules around some prose would be taken for one. Every byte
//! of it belongs to exactly one unit, so that what Tome does not know can be put back as it was.

use crate::line::without_ending;

/// A frontmatter.
pub(super) struct Block<'a> {
    /// The opening fence, with the byte order mark before it.
    pub open: &'a str,
    /// Everything between the fences.
    pub units: Vec<Unit<'a>>,
    /// The closing fence.
    pub close: &'a str,
    /// Everything behind it.
    pub after: &'a str,
}

/// Lines that belong together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit<'a> {
    /// With their endings.
    pub text: &'a str,
    /// What they are.
    pub kind: Kind<'a>,
}

/// What a unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    /// A key with its value, which may go on over several lines.
    Key {
        /// Without quotes.
        key: &'a str,
        /// What follows the colon, with all further lines.
        value: &'a str,
    },
    /// One blank line, or a comment.
    Space,
    /// What has no place in a frontmatter: a line, and indented ones below it.
    Stray,
}

/// The keys that Tome reads, and writes itself.
const KNOWN: [&str; 5] = ["name", "description", "type", "memory_type", "updated"];

impl<'a> Unit<'a> {
    /// The key, if it has one.
    pub fn key(&self) -> Option<&'a str> {
        if let Kind::Key { key, .. } = self.kind { Some(key) } else { None }
    }

    /// Whether Tome writes this one itself.
    pub fn is_known(&self) -> bool {
        self.key().is_some_and(|key| KNOWN.contains(&key))
    }

    /// Whether it would be read as a part of the key that comes before it.
    pub fn is_loose(&self) -> bool {
        self.kind == Kind::Stray && self.text.starts_with([' ', '\t'])
    }
}

impl Block<'_> {
    /// Whether somebody meant it as a frontmatter. Prose between two rules can have a line with a
    /// colon, but then other lines have none, or what stands before the colon is no key's name.
    pub fn is_meant(&self) -> bool {
        let is_named = |unit: &Unit<'_>| match unit.kind {
            Kind::Key { key, .. } => !key.contains(char::is_whitespace),
            Kind::Space => true,
            Kind::Stray => false,
        };
        !self.units.iter().any(Unit::is_loose)
            && (self.units.iter().any(Unit::is_known) || self.units.iter().all(is_named))
    }
}

/// The frontmatter of a text.
pub(super) fn find(text: &str) -> Option<Block<'_>> {
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
    let units = units(inner);
    units.iter().any(|unit| unit.key().is_some()).then_some(())?;
    Some(Block { open, units, close, after: rest.get(close.len()..)? })
}

fn is_fence(line: &str) -> bool {
    without_ending(line).trim_end_matches([' ', '\t']) == "---"
}

/// A unit while its end is still being looked for.
struct Open<'a> {
    start: usize,
    end: usize,
    line: &'a str,
    key: Option<(&'a str, &'a str)>,
    /// The first character of the value: to look for it again for each line would take for ever.
    value_start: Option<char>,
    is_space: bool,
}

fn units(inner: &str) -> Vec<Unit<'_>> {
    let mut found: Vec<Open<'_>> = Vec::new();
    // The last unit that says something, as long as only blank lines and comments followed it.
    let mut owner: Option<usize> = None;
    let mut start = 0;
    for raw in inner.split_inclusive('\n') {
        let end = start + raw.len();
        let line = without_ending(raw);
        let is_space = line.trim().is_empty() || line.starts_with('#');
        let owned = owner
            .filter(|_| !is_space)
            .filter(|at| found.get(*at).is_some_and(|unit| unit.goes_on_with(line)));
        if let Some(at) = owned {
            found.truncate(at + 1);
            if let Some(unit) = found.last_mut() {
                unit.end = end;
            }
        } else {
            let key = if is_space { None } else { key_of(line) };
            owner = if is_space { owner } else { Some(found.len()) };
            let value_start = key.and_then(|(_, value)| value.trim_start().chars().next());
            found.push(Open { start, end, line, key, value_start, is_space });
        }
        start = end;
    }
    found.iter().map(|unit| unit.closed(inner)).collect()
}

impl<'a> Open<'a> {
    /// Whether a line continues it. Lists may stand at the beginning of a line below their key, and
    /// the brackets of a list over several lines are often closed there.
    fn goes_on_with(&self, line: &str) -> bool {
        match line.chars().next() {
            Some(' ' | '\t') => true,
            _ if self.key.is_none() => false,
            Some('-') => matches!(self.value_start, None | Some('#')) && is_item(line),
            Some(']') => self.value_start == Some('['),
            Some('}') => self.value_start == Some('{'),
            _ => false,
        }
    }

    fn closed(&self, inner: &'a str) -> Unit<'a> {
        let text = inner.get(self.start..self.end).unwrap_or_default();
        let kind = match self.key {
            Some((key, first)) => {
                let value_at = self.line.len() - first.len();
                Kind::Key { key, value: text.get(value_at..).unwrap_or_default() }
            }
            None if self.is_space => Kind::Space,
            None => Kind::Stray,
        };
        Unit { text, kind }
    }
}

fn is_item(line: &str) -> bool {
    line == "-" || line.starts_with("- ")
}

/// The key of a line, and what follows its colon.
pub(super) fn key_of(line: &str) -> Option<(&str, &str)> {
    if let Some(quote) = line.chars().next().filter(|quote| matches!(quote, '"' | '\'')) {
        let (key, rest) = line.strip_prefix(quote)?.split_once(quote)?;
        let value = rest.trim_start_matches([' ', '\t']).strip_prefix(':')?;
        return (value.is_empty() || value.starts_with([' ', '\t'])).then_some((key, value));
    }
    let is_bad_start = line.starts_with(|first: char| "#[]{},&*!|>%@` \t:".contains(first));
    if is_bad_start || is_item(line) || line.starts_with("? ") {
        return None;
    }
    // A forgotten space behind the colon is forgiven where the key leaves no doubt.
    if let Some((key, value)) = line.split_once(':')
        && KNOWN.contains(&key)
    {
        return Some((key, value));
    }
    let (at, _) = line.match_indices(':').find(|(at, _)| {
        line.get(at + 1..).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
    })?;
    let (key, value) = (line.get(..at)?.trim_end(), line.get(at + 1..)?);
    (!key.contains(" #")).then_some((key, value))
}
