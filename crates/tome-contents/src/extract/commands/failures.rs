//! Recognizes lines of tool output, logs and traces that report failure or success.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use crate::extract::commands::cause::names_cause;
use crate::extract::commands::location::split_location;
use crate::extract::language::terms::base_name;
use crate::extract::language::text::{head_and_tail, plain_text};

/// Bytes read from the head and the tail of an output; compilers and test runners print their
/// summary at the end.
const HEAD_BYTES_MAX: usize = 6 * 1024;
const TAIL_BYTES_MAX: usize = 10 * 1024;
/// A longer line is minified code or a row of data.
const LINE_BYTES_MAX: usize = 600;

/// The highest score of a line that reports a failure without its cause.
pub(crate) const NO_CAUSE: u32 = 3;

/// (substring of a line, how well such a line explains a failure).
#[rustfmt::skip]
const FAILURES: &[(&str, u32)] = &[
    ("error[E", 12), ("error TS", 12), ("Caused by:", 10), ("panicked at", 10), ("CONFLICT (", 10),
    ("SQLSTATE", 10), ("--- FAIL", 9), ("fatal:", 9), ("FATAL:", 9), ("error:", 8), ("ERROR:", 8),
    ("Error:", 9), ("Exception:", 10), ("Exception in", 8), ("AssertionError", 10),
    ("undefined:", 8), ("undefined reference", 8), ("CrashLoopBackOff", 8), ("ImagePullBackOff", 8),
    ("ErrImagePull", 7), ("OOMKilled", 9), ("Error from server", 9), ("cannot find", 6),
    ("Cannot find", 8), ("command not found", 8), ("No such file", 7), ("ermission denied", 7),
    ("ECONNREFUSED", 8), ("timed out", 7), ("deadline exceeded", 8), ("DATA RACE", 7), ("FAIL:", 7),
    ("FAILED", 6), ("... FAILED", 8), ("FAIL\t", 6), ("FAIL ", 6), ("✗", 4), ("✕", 6), ("×", 4),
    ("npm ERR!", 5), ("ERR_", 7), ("npm error", 5), (" ERROR ", 6), ("[ERROR]", 6),
    ("level=error", 7), ("\"level\":\"error\"", 7), (" failed", 5), ("Failed", 5), ("expected", 4), ("  error  ", 8),
    ("Segmentation fault", 10), ("Killed", 5), ("错误", 6), ("失败", 6), ("エラー", 6), ("失敗", 6),
    ("ошибка", 6), ("Ошибка", 6), ("no required module provides", 10), ("could not import", 9),
    ("cannot load", 7), ("not a type", 8),
];

/// Substrings of lines that explain nothing despite such words.
#[rustfmt::skip]
const UNINFORMATIVE: &[&str] = &[
    "could not compile", "aborting due to", "test failed, to rerun", "To rerun", "Traceback (most",
    "error: test failed", "For more information", "A complete log", "exit code", "Exit code",
    "Process completed", "FAILED (failures", "ELIFECYCLE", "Test Suites:", "0 failed", "0 errors",
    "no errors", "No errors", "0 failures", "error handling", "task failed", "(none)",
    "previous error", "[setup failed]", "[build failed]", "failed to write commit object",
];

/// (substring of a line, how surely it reports success).
#[rustfmt::skip]
const SUCCESSES: &[(&str, u32)] = &[
    ("test result: ok", 9), (" passed", 8), ("BUILD SUCCESS", 8), ("All checks passed", 8),
    ("0 issues", 8), ("0 errors", 6), ("no issues found", 7), ("Compiled successfully", 8),
    ("successfully rolled out", 9), ("Successfully", 6), ("successfully", 5), ("PASS", 6),
    ("ok  \t", 5), ("OK (", 7), ("Finished", 3), ("All matched files", 6), ("built in", 6),
    ("No vulnerabilities", 6), ("up to date", 3), ("OK", 2), ("✓", 2), ("SUCCESS", 5),
];

/// Returns the line that best explains a failure, with its score.
pub(crate) fn find_failure_line(text: &str) -> Option<(&str, u32)> {
    let (line, score) = best_line(text, FAILURE_MARKS.as_ref(), score_failure)?;
    let panic = best_line(text, FAILURE_MARKS.as_ref(), score_panic);
    Some(match panic.and_then(|(panic, of_panic)| Some((add_next_line(text, panic)?, of_panic))) {
        Some(panic) if panic.1 > score => panic,
        _ => (line, score),
    })
}

/// Rust writes the message of a panic on the line after its location.
fn score_panic(line: &str) -> u32 {
    if line.contains("panicked at ") && line.trim_end().ends_with(':') { 10 } else { 0 }
}

fn add_next_line<'a>(text: &'a str, line: &str) -> Option<&'a str> {
    let from = text.find(line)?;
    let start = from + line.len();
    let rest = text.get(start..)?.strip_prefix('\n')?;
    let next = rest.lines().next().filter(|next| names_cause(next))?;
    let is_message = next.len() <= LINE_BYTES_MAX && !next.starts_with("note: ");
    text.get(from..start + 1 + next.len()).filter(|_| is_message)
}

/// Returns the line that most surely reports success, with its score.
pub(crate) fn find_success_line(text: &str) -> Option<(&str, u32)> {
    best_line(text, SUCCESS_MARKS.as_ref(), score_success)
}

/// Matches all marks in one pass, so that only lines with a mark are scored. If the pattern failed
/// to compile, every line would be.
fn compile_marks(marks: &[(&str, u32)]) -> Option<Regex> {
    let escaped: Vec<String> = marks.iter().map(|(mark, _)| regex::escape(mark)).collect();
    Regex::new(&escaped.join("|")).ok()
}

/// Matches the marks one by one, all in one pass over a line.
fn compile_mark_set(marks: &[(&str, u32)]) -> Option<RegexSet> {
    RegexSet::new(marks.iter().map(|(mark, _)| regex::escape(mark))).ok()
}

/// The highest score of the marks in a line; 0 if it has none.
fn best_mark(line: &str, marks: &[(&str, u32)], set: Option<&RegexSet>) -> u32 {
    let score_at = |at: usize| marks.get(at).map(|(_, score)| *score);
    set.and_then(|set| set.matches(line).iter().filter_map(score_at).max()).unwrap_or(0)
}

static FAILURE_MARKS: LazyLock<Option<Regex>> = LazyLock::new(|| compile_marks(FAILURES));
static FAILURE_SET: LazyLock<Option<RegexSet>> = LazyLock::new(|| compile_mark_set(FAILURES));
static SUCCESS_SET: LazyLock<Option<RegexSet>> = LazyLock::new(|| compile_mark_set(SUCCESSES));
static SUCCESS_MARKS: LazyLock<Option<Regex>> = LazyLock::new(|| compile_marks(SUCCESSES));

fn best_line<'a>(
    text: &'a str,
    marks: Option<&Regex>,
    score: fn(&str) -> u32,
) -> Option<(&'a str, u32)> {
    let mut best: Option<(&'a str, u32)> = None;
    let mut last = "";
    for part in head_and_tail(text, HEAD_BYTES_MAX, TAIL_BYTES_MAX) {
        let mut rest = part;
        loop {
            let found = marks.map_or(Some(0), |marks| marks.find(rest).map(|found| found.start()));
            let Some(at) = found.filter(|_| !rest.is_empty()) else { break };
            let (before, from) = rest.split_at_checked(at).unwrap_or(("", rest));
            let end = from.find('\n').unwrap_or(from.len());
            let start = before.rfind('\n').map_or(0, |newline| newline + 1);
            let line = rest.get(start..at + end).unwrap_or_default();
            // Logs repeat themselves.
            let is_scored = line.len() <= LINE_BYTES_MAX && line != last;
            let scored = if is_scored { score(line) } else { 0 };
            last = line;
            if scored > best.map_or(0, |(_, so_far)| so_far) {
                best = Some((line.trim(), scored));
            }
            rest = from.get(end + 1..).unwrap_or_default();
        }
    }
    best
}

/// Beginnings of lines that test runners and compilers only print when they fail.
const VERDICT_STARTS: [&str; 7] =
    ["--- FAIL", "FAIL\t", "FAILED ", "npm ERR!", "error[E", "FAIL ", "error: could not compile"];
/// Parts of such lines.
const VERDICT_PARTS: [&str; 6] = [
    "test result: FAILED",
    "error TS",
    "BUILD FAIL",
    "... FAILED",
    "ERROR task failed",
    "Failed to compile",
];

/// Whether a line of an output is one that only a failing build, test or check prints.
pub(crate) fn reports_failure(texts: &[&str]) -> bool {
    let is_verdict = |line: &str| {
        let bare = line.trim_start();
        line.len() <= LINE_BYTES_MAX
            && (bare == "FAIL"
                || VERDICT_STARTS.iter().any(|start| bare.starts_with(start))
                || VERDICT_PARTS.iter().any(|part| line.contains(part)))
            && !line.contains(" 0 failed")
    };
    texts.iter().any(|text| {
        let parts = head_and_tail(text, HEAD_BYTES_MAX, TAIL_BYTES_MAX);
        parts.iter().flat_map(|part| part.lines()).any(is_verdict)
    })
}

/// Returns the message of a compiler, linter or test that best names a cause: `a.go:3:1: message`.
pub(crate) fn find_diagnostic(text: &str) -> Option<(&str, u32)> {
    let mut best: Option<(&str, u32)> = None;
    for line in
        head_and_tail(text, HEAD_BYTES_MAX, TAIL_BYTES_MAX).iter().flat_map(|part| part.lines())
    {
        let scored = if line.len() <= LINE_BYTES_MAX { score_diagnostic(line.trim()) } else { 0 };
        if scored > best.map_or(0, |(_, most)| most) {
            best = Some((line.trim(), scored));
        }
    }
    best
}

/// Scores a message with its location in a file; 0 for any other line.
fn score_diagnostic(line: &str) -> u32 {
    const WORDS: [&str; 14] = [
        "fail",
        "error",
        "expected",
        "want",
        "got ",
        "undefined",
        "cannot",
        "could not",
        "timed out",
        "panic",
        "missing",
        "no required",
        "unused",
        "not ",
    ];
    let Some((location, message)) = split_location(line) else { return 0 };
    let is_code = message.ends_with(['{', ';', '}', ',', '(']);
    let lower = message.to_lowercase();
    let tells = WORDS.iter().any(|word| lower.contains(word));
    match (location.split(':').count() > 2, tells) {
        _ if is_code || message.split_whitespace().count() < 2 => 0,
        (true, true) => 9,
        (false, true) => 8,
        // Linters name a rule in their own words; the log of a test may contain anything.
        (true, false) => 7,
        (false, false) => 0,
    }
}

/// Scores how well a line explains a failure; 0 if it reports none.
pub(crate) fn score_failure(line: &str) -> u32 {
    let score = score_failure_report(line);
    if score > NO_CAUSE && !names_cause(line) { NO_CAUSE } else { score }
}

fn score_failure_report(line: &str) -> u32 {
    let mut score = best_mark(line, FAILURES, FAILURE_SET.as_ref());
    if score == 0 {
        return 0;
    }
    if UNINFORMATIVE.iter().any(|weak| line.contains(weak)) {
        return if parse_passed_count(line).is_some() && line.contains("0 failed") { 0 } else { 2 };
    }
    // Source code in a numbered listing or a search result is not a message.
    if is_listing(line) {
        return 0;
    }
    if line.split_whitespace().any(is_exception_name) {
        score = score.max(11);
    }
    score
}

/// `KeyError:`, `java.lang.NullPointerException:`.
fn is_exception_name(word: &str) -> bool {
    let name = word.trim_end_matches(':');
    (name.ends_with("Error") || name.ends_with("Exception"))
        && name.len() > 7
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_')
}

fn is_listing(line: &str) -> bool {
    let bare = line.trim_start();
    // Compilers and test runners mark the line that they mean: `> 12 | let x = 1;`.
    let code = bare.strip_prefix('>').unwrap_or(bare).trim_start();
    let digits = code.trim_start_matches(|c: char| c.is_ascii_digit());
    let framed = digits.trim_start_matches(' ').starts_with(['→', '|']) || digits.starts_with('\t');
    let numbered = framed && (digits.len() < code.len() || code.starts_with('|'));
    let searched = bare.split_once(':').is_some_and(|(path, rest)| {
        path.contains('.')
            && !path.contains(' ')
            && rest.split_once([':', '-']).is_some_and(|(number, code)| {
                !number.is_empty()
                    && number.chars().all(|c| c.is_ascii_digit())
                    && code.starts_with(['\t', ' ', '}', '{'])
                    && code.trim_start().ends_with(['{', ';', '}', ',', '('])
            })
    });
    numbered || searched
}

fn score_success(line: &str) -> u32 {
    let score = best_mark(line, SUCCESSES, SUCCESS_SET.as_ref());
    // Among several summaries, prefer the one with the highest count.
    let counted = parse_passed_count(line).map_or(0, |count| count.min(80));
    if score == 0 || is_listing(line) || score_failure_report(line) > 3 {
        0
    } else {
        score + counted
    }
}

/// The number in `42 passed`.
pub(crate) fn parse_passed_count(line: &str) -> Option<u32> {
    let (before, _) = line.split_once(" passed")?;
    let number = before.rsplit(|c: char| !c.is_ascii_digit()).next()?;
    number.parse().ok()
}

/// Whether a test runner reports that it found no tests.
pub(crate) fn ran_no_tests(texts: &[&str]) -> bool {
    static NONE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let counts = r"(?m)(^|[^\d.])0 (tests|runs|passing|passed|examples|specs|items|pass)\b";
        Regex::new(&format!("{counts}|(?i)no tests? (ran|found|files|to run|were)")).ok()
    });
    static SOME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\b[1-9]\d* (tests?|runs|passing|passed|examples|specs|pass)\b|ok  \t").ok()
    });
    let has = |pattern: &Option<Regex>| {
        pattern.as_ref().is_some_and(|pattern| {
            let parts =
                texts.iter().flat_map(|text| head_and_tail(text, HEAD_BYTES_MAX, TAIL_BYTES_MAX));
            parts.into_iter().any(|part| pattern.is_match(part))
        })
    };
    has(&NONE) && !has(&SOME)
}

/// Removes the package of an exception: `java.sql.SQLException: …`.
fn strip_package(text: &str) -> &str {
    let word = text.split([' ', ':']).next().unwrap_or_default();
    match word.rsplit_once('.') {
        Some((package, _)) if is_exception_name(word) => {
            text.get(package.len() + 1..).unwrap_or(text)
        }
        _ => text,
    }
}

/// Reduces a line to its message: without timestamps, levels, colors and prefixes such as `npm
/// ERR!`.
pub(crate) fn render_failure_message(line: &str) -> String {
    let bare = plain_text(&line.replace('\n', " "));
    let mut rest = bare.as_str();
    let mut file = "";
    rest = rest.split_once("panicked at ").map_or(rest, |(_, panic)| panic);
    if let Some((tag, after)) = rest.strip_prefix('[').and_then(|inside| inside.split_once("] "))
        && tag.len() <= 24
        && !tag.contains("redacted")
    {
        rest = after;
    }
    for prefix in ["--- ", "npm ERR! ", "npm error ", "E ", "[ERROR] ", "! ", "✗ ", "✕ ", "× "]
    {
        rest = rest.strip_prefix(prefix).unwrap_or(rest);
    }
    // In `src/cart.ts(14,31): error …` the location precedes the message.
    let marks = ["error[", "error TS", "ERROR:", "error:", "Error:", "undefined:"];
    if let Some(at) = marks.iter().filter_map(|mark| rest.find(mark)).min() {
        let (location, message) = rest.split_at_checked(at).unwrap_or(("", rest));
        if location.contains(['/', '.'])
            && location.split_whitespace().count() <= 2
            && !location.trim_end().ends_with(|c: char| c.is_alphanumeric())
        {
            rest = message;
            file = name_file(location);
        }
    }
    if let Some(cause) = rest.strip_prefix("Caused by: ") {
        rest = cause;
    }
    rest = strip_package(rest);
    // The folders of a file are no part of the problem.
    if let Some((location, _)) = split_location(rest)
        && let Some((folders, _)) = location.rsplit_once('/')
    {
        rest = rest.get(folders.len() + 1..).unwrap_or(rest);
    }
    // A timestamp at the beginning: digits and separators only.
    while let Some((word, after)) = rest.split_once(' ') {
        let timely = word.chars().filter(char::is_ascii_digit).count() >= 4
            && word.chars().all(|c| {
                c.is_ascii_digit()
                    || matches!(c, '-' | ':' | '.' | ',' | 'T' | 'Z' | '+' | '/' | '[' | ']')
            });
        if !timely || after.is_empty() {
            break;
        }
        rest = after.trim_start();
    }
    // "no module provides it; to add it:" ends with what follows in the output.
    let open = rest.strip_suffix(':');
    let said = open.and_then(|text| text.rsplit_once("; ").or_else(|| text.rsplit_once(". ")));
    if let Some((head, _)) = said {
        rest = head;
    }
    // A test's duration at the end, such as `(0.04s)`.
    let message = match rest.rsplit_once(" (") {
        Some((message, took))
            if took.ends_with("s)") && took.starts_with(|c: char| c.is_ascii_digit()) =>
        {
            message
        }
        _ => rest,
    };
    if file.is_empty() { message.to_owned() } else { format!("{file}: {message}") }
}

/// The name of the file in `src/cart.ts(14,31): `; empty if there is none.
fn name_file(location: &str) -> &str {
    let path = location.split(['(', ':', ' ']).next().unwrap_or_default();
    let name = base_name(path);
    let has_ending = name.split_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && (1..=5).contains(&ending.len()) && !ending.contains(char::is_numeric)
    });
    if has_ending { name } else { "" }
}
