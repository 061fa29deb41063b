//! Values in a statement: amounts with their unit, times and dates, each with the words that it is said of.
//! Two statements give different values of one thing if these words agree.

use std::collections::BTreeSet;

use super::clause_subject::{Subject, is_telling};

/// Words after a number among which the thing is that it counts: "12 lexer tests".
const COUNTED_WORDS: usize = 3;

/// What a value measures. Only values of one kind are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ValueKind {
    /// A number with its unit, which may be empty.
    Amount(String),
    /// A time of the day.
    Time,
    /// A day, month or year.
    Date,
}

/// A value and the words of its clause.
#[derive(Debug, Clone)]
pub(super) struct StatedValue {
    kind: ValueKind,
    value: String,
    subject: Subject,
}

impl StatedValue {
    /// Reads the subject of a clause and the values that it gives.
    pub(super) fn read_all(clause: &str) -> (Subject, Vec<Self>) {
        let raw: Vec<&str> = clause.split_whitespace().map(trim_token).collect();
        let lower: Vec<String> = raw.iter().map(|token| token.to_lowercase()).collect();
        let tokens: Vec<&str> = lower.iter().map(String::as_str).collect();
        let mut found = Vec::new();
        let mut is_value = vec![false; tokens.len()];
        for (at, token) in tokens.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|before| tokens.get(before)).copied();
            let after = tokens.get(at + 1..).unwrap_or_default();
            let Some((kind, value, has_unit_word)) = parse_value(before, token, after) else {
                continue;
            };
            if let Some(own) = is_value.get_mut(at) {
                *own = true;
            }
            if let Some(unit) = is_value.get_mut(at + 1).filter(|_| has_unit_word) {
                *unit = true;
            }
            found.push((kind, value));
        }
        let subject = Subject::read(&raw, &is_value);
        let with_subject = |(kind, value)| Self { kind, value, subject: subject.clone() };
        let values = found.into_iter().map(with_subject).collect();
        (subject, values)
    }

    /// Whether another statement has this value, too.
    pub(super) fn agrees_with(&self, other: &Self) -> bool {
        self.kind == other.kind && self.value == other.value
    }

    /// Whether another value of the same thing differs from this one.
    pub(super) fn differs_from(&self, other: &Self, query: &BTreeSet<String>) -> bool {
        let is_comparable = match (&self.kind, &other.kind) {
            (ValueKind::Amount(one), ValueKind::Amount(other)) => {
                one == other || one.is_empty() || other.is_empty()
            }
            (one, other) => one == other,
        };
        is_comparable && self.value != other.value && self.subject.is_same(&other.subject, query)
    }
}

fn trim_token(token: &str) -> &str {
    token.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '$' | '€' | '%' | '#'))
}

/// Parses the value that a word is, and whether the next word is its unit.
fn parse_value(
    before: Option<&str>,
    token: &str,
    after: &[&str],
) -> Option<(ValueKind, String, bool)> {
    let next = after.first().copied().unwrap_or_default();
    if let Some(month) = find_month(token) {
        let day = |word: &str| parse_day(word).map(|day| format!("{month} {day}"));
        let date = before.and_then(day).or_else(|| day(next)).unwrap_or_else(|| month.to_owned());
        return Some((ValueKind::Date, date, parse_day(next).is_some()));
    }
    let is_version = before == Some("version") && next != "of";
    if token.starts_with('#') || !is_version && before.is_some_and(is_label) {
        return None;
    }
    let bare = token.trim_start_matches(['$', '€']);
    let has_currency = bare.len() < token.len();
    let bare = bare.strip_prefix('v').unwrap_or(bare);
    let end = bare.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',' | ':' | '-'));
    let (number, suffix) = bare.split_at(end.unwrap_or(bare.len()));
    if !number.starts_with(|c: char| c.is_ascii_digit()) || number.len() > 12 {
        return None;
    }
    let is_day_of_month = find_month(next).is_some() || before.and_then(find_month).is_some();
    if is_day_of_month && parse_day(token).is_some() {
        return None;
    }
    if number.matches('-').count() == 2 && number.len() == 10 {
        return Some((ValueKind::Date, number.to_owned(), false));
    }
    if number.contains('-') {
        return None;
    }
    let half = |word: &str| matches!(word, "am" | "pm" | "a.m" | "p.m" | "uhr");
    if half(suffix) || half(next) || number.contains(':') && suffix.is_empty() {
        let half_of_day = if half(suffix) {
            suffix
        } else if half(next) {
            next
        } else {
            ""
        };
        return Some((ValueKind::Time, format!("{number}{half_of_day}"), half(next)));
    }
    let number = number.replace(',', "");
    let number = number.trim_end_matches(['.', ':']).to_owned();
    if has_currency {
        return Some((ValueKind::Amount("money".to_owned()), number, false));
    }
    if !suffix.is_empty() {
        return Some((ValueKind::Amount(find_unit(suffix)?.to_owned()), number, false));
    }
    match find_unit(next) {
        Some(unit) => Some((ValueKind::Amount(unit.to_owned()), number, true)),
        None if after.iter().take(COUNTED_WORDS).any(|word| is_counted(word)) => None,
        None if before.is_some_and(is_telling) && is_predicate(next) => None,
        None => Some((ValueKind::Amount(String::new()), number, false)),
    }
}

/// Verbs after a number that names something: "widget 5 has three cases".
fn is_predicate(word: &str) -> bool {
    #[rustfmt::skip]
    const VERBS: &[&str] = &[
        "is", "are", "was", "were", "has", "have", "had", "does", "runs", "ran", "takes", "took", "uses", "needs", "fails",
        "failed", "passes", "passed", "should", "must", "can", "will", "returns", "says",
    ];
    VERBS.contains(&word)
}

/// Words before a number that names something instead of measuring it.
fn is_label(word: &str) -> bool {
    #[rustfmt::skip]
    const LABELS: &[&str] = &[
        "line", "lines", "step", "phase", "issue", "issues", "pr", "pull", "part", "section", "chapter", "task", "page",
        "number", "no", "option", "item", "turn", "commit", "test", "tests", "round", "figure", "point", "exit", "code",
        "status", "error", "ticket", "story", "epic", "sprint", "todo", "attempt", "batch", "and", "through", "fix", "bug",
        "finding", "question", "case", "stage", "version", "round", "wave", "layer",
    ];
    LABELS.contains(&word) || word.starts_with('#')
}

/// Things that are counted as work goes on: their number is no value that somebody set.
fn is_counted(word: &str) -> bool {
    #[rustfmt::skip]
    const COUNTED: &[&str] = &[
        "test", "tests", "file", "files", "line", "lines", "error", "errors", "warning", "warnings", "commit", "commits",
        "failure", "failures", "passed", "failed", "passing", "failing", "issue", "issues", "comment", "comments", "point",
        "points", "finding", "findings", "step", "steps", "time", "times", "function", "functions", "change", "changes",
        "thing", "things", "option", "options", "place", "places", "of", "more", "other", "others", "new", "different",
    ];
    COUNTED.contains(&word)
}

/// The one name of a unit.
fn find_unit(word: &str) -> Option<&'static str> {
    #[rustfmt::skip]
    const UNITS: &[(&str, &[&str])] = &[
        ("ms", &["ms", "millisecond", "milliseconds"]),
        ("second", &["s", "sec", "secs", "second", "seconds"]),
        ("minute", &["min", "mins", "minute", "minutes"]),
        ("hour", &["h", "hr", "hrs", "hour", "hours"]),
        ("day", &["d", "day", "days"]),
        ("week", &["week", "weeks"]),
        ("month", &["month", "months"]),
        ("year", &["year", "years"]),
        ("byte", &["b", "byte", "bytes"]),
        ("kilobyte", &["k", "kb", "kib"]),
        ("megabyte", &["m", "mb", "mib"]),
        ("gigabyte", &["g", "gb", "gib"]),
        ("terabyte", &["tb", "tib"]),
        ("percent", &["%", "percent"]),
        ("money", &["dollar", "dollars", "usd", "euro", "euros", "eur"]),
        ("pixel", &["px", "pixel", "pixels"]),
        ("request", &["request", "requests", "rpm", "rps", "qps"]),
        ("user", &["user", "users"]),
        ("retry", &["retry", "retries", "attempts"]),
        ("thread", &["thread", "threads", "worker", "workers"]),
        ("connection", &["connection", "connections"]),
        ("row", &["row", "rows", "item", "items", "record", "records", "entries"]),
        ("character", &["character", "characters", "chars", "tokens", "words"]),
        ("column", &["column", "columns"]),
    ];
    UNITS.iter().find(|(_, names)| names.contains(&word)).map(|(unit, _)| *unit)
}

fn find_month(word: &str) -> Option<&'static str> {
    #[rustfmt::skip]
    const MONTHS: [(&str, &str); 11] = [
        ("january", "jan"), ("february", "feb"), ("march", "march"), ("april", "apr"), ("june", "june"), ("july", "july"),
        ("august", "aug"), ("september", "sept"), ("october", "oct"), ("november", "nov"), ("december", "dec"),
    ];
    let found = MONTHS.iter().find(|(name, short)| word == *name || word == *short);
    found.map(|(name, _)| *name)
}

/// A day of a month: `15`, `3rd`.
fn parse_day(word: &str) -> Option<u32> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let ending = word.get(digits.len()..)?;
    let is_day = matches!(ending, "" | "st" | "nd" | "rd" | "th");
    digits.parse().ok().filter(|day| is_day && (1..=31).contains(day))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differ(query: &str, one: &str, other: &str) -> bool {
        let query = query.split(' ').map(|word| tome_text::stem(word).into_owned()).collect();
        let ((_, one), (_, other)) = (StatedValue::read_all(one), StatedValue::read_all(other));
        one.iter().any(|one| other.iter().any(|other| one.differs_from(other, &query)))
    }

    #[test]
    fn two_values_of_one_thing_differ() {
        for (query, one, other) in [
            (
                "deploy timeout",
                "the deploy timeout is 30 seconds",
                "we raised the deploy timeout to 90s",
            ),
            (
                "nightly mirror",
                "the nightly mirror job starts at 2 am",
                "move the mirror job to 4 am",
            ),
            (
                "release deadline",
                "the release deadline is 15 march",
                "moved: the release deadline is now april 3",
            ),
            (
                "postgres",
                "production runs postgres 14.9",
                "production is on postgres 16.2 since monday",
            ),
            ("upload limit", "the upload limit is 20 mb", "the upload limit must be 50 mb"),
            (
                "redis version",
                "The cache runs Redis version 6.2.",
                "we are on Redis version 7.4 now",
            ),
            ("gauge port", "the gauge listens on port 7070", "the gauge listens on port 7171"),
            (
                "budget for travel",
                "the budget for travel is $4,000",
                "the budget for travel was raised to $5,500",
            ),
            (
                "hosting budget",
                "the hosting budget is $1,200",
                "we set the hosting budget to $1,500",
            ),
        ] {
            assert!(differ(query, one, other), "{one} / {other}");
        }
    }

    #[test]
    fn values_of_other_things_do_not_differ() {
        for (query, one, other) in [
            (
                "deploy timeout",
                "the staging deploy timeout is 30 seconds",
                "the production deploy timeout is 90 seconds",
            ),
            (
                "tenant limit",
                "the limit of tenant kestrel is 110",
                "the limit of tenant lagoon is 111",
            ),
            (
                "monthly budget for books and magazines",
                "the monthly budget for books and magazines is $40",
                "the monthly budget for rent is $900",
            ),
            ("deploy timeout", "the deploy timeout is 30 seconds", "the deploy timeout is 30s"),
            ("bench run A", "Bench run A took 30 seconds.", "Bench run B took 45 seconds."),
            ("bench run b", "bench run b took 30 seconds", "bench run c took 45 seconds"),
            (
                "height of the footer",
                "The height of the footer is 40 pixels.",
                "The height of the toolbar is 60 pixels.",
            ),
            ("db timeout", "the db timeout is 30 seconds", "the ui timeout is 60 seconds"),
            ("gadget cases", "gadget 5 has 3 rows", "gadget 55 has 8 rows"),
            ("worker 5", "worker 5 is idle", "worker 55 is idle"),
            ("deploy timeout", "the deploy timeout is 30 seconds", "the deploy log is 90 mb"),
            ("lexer tests", "12 lexer tests pass", "15 lexer tests pass"),
            ("lexer bug", "the lexer bug is in line 12", "the lexer bug is in line 40"),
            ("lexer bug", "the lexer bug is issue #12", "the lexer bug is issue #40"),
        ] {
            assert!(!differ(query, one, other), "{one} / {other}");
        }
    }
}
