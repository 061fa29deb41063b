//! Synthetic input: text like that of coding sessions, identical in every run.
//!
//! Lines of prose, code, compiler messages and paths, built from a few hundred words with uneven
//! frequencies, plus numbers and hashes. No line is repeated on purpose.

use std::fmt::Write;

use tome_model::EventId;
use tome_proto::v1;

/// Time of the first event; events are one second apart.
const FIRST_MS: u64 = 1_780_000_000_000;
const SESSION_EVENTS: u64 = 200;

#[rustfmt::skip]
const PROSE: &[&str] = &[
    "the", "a", "to", "of", "in", "is", "it", "and", "that", "test", "this", "for", "when",
    "error", "file", "with", "not", "on", "should", "function", "we", "but", "from",
    "returns", "line", "value", "because", "after", "parser", "which", "fails", "before",
    "call", "cache", "change", "only", "still", "there", "branch", "request", "where",
    "first", "token", "window", "instead", "build", "does", "column", "again", "config",
    "path", "twice", "server", "module", "missing", "wrong", "probably", "deadline",
    "migration", "looks", "thread", "closed", "connection", "unicode", "handler", "retry",
    "release", "boundary", "already", "expected", "lexer", "schema", "timeout",
];
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "self", "result", "index", "value", "path", "name", "state", "buffer", "line", "config",
    "client", "request", "response", "token", "span", "key", "entry", "count", "offset",
    "parse_line", "read_to_end", "open_store", "next_token", "write_batch", "is_empty",
    "from_utf8", "max_bytes", "retry_after", "session_id", "user_id", "created_at", "row",
    "cursor", "page", "limit", "deadline", "backoff", "decode", "encode", "digest", "lookup",
];
#[rustfmt::skip]
const FILES: &[&str] = &[
    "src/main.rs", "src/lexer/mod.rs", "tests/parser.rs", "app/models/user.py",
    "web/src/index.tsx", "Makefile", "internal/queue/queue.go", "README.md",
    "migrations/0042_orders.sql", "src/net/retry.rs", "lib/cache.ts",
];

/// A deterministic pseudo-random generator (splitmix64).
pub struct SampleRng(u64);

impl SampleRng {
    pub fn from(seed: u64) -> Self {
        // Mixed once; otherwise neighboring seeds would produce the same stream one step apart.
        Self(Self(seed ^ 0x5EED).next())
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap_or(0)
    }

    pub fn choose(&mut self, words: &[&'static str]) -> &'static str {
        words.get(self.below(words.len())).copied().unwrap_or_default()
    }

    /// Chooses one, the first ones more often.
    fn choose_skewed(&mut self, words: &[&'static str]) -> &'static str {
        let at = self.below(words.len()).min(self.below(words.len()));
        words.get(at).copied().unwrap_or("the")
    }
}

/// Returns text of exactly this many bytes, all ASCII.
pub fn text(numbers: &mut SampleRng, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 128);
    while text.len() < bytes {
        // Writing to a string cannot fail.
        let _ = write_line(&mut text, numbers);
    }
    text.truncate(bytes);
    text
}

fn write_line(out: &mut String, n: &mut SampleRng) -> std::fmt::Result {
    match n.below(10) {
        0..=3 => {
            for _ in 0..6 + n.below(10) {
                write!(out, "{} ", n.choose_skewed(PROSE))?;
            }
            writeln!(out, "`{}`.", n.choose_skewed(NAMES))
        }
        4 => writeln!(
            out,
            "    let {} = {}.{}({});",
            n.choose_skewed(NAMES),
            n.choose_skewed(NAMES),
            n.choose_skewed(NAMES),
            n.below(4096)
        ),
        5 => writeln!(
            out,
            "        if {} > {} {{ return Err({}.into()); }}",
            n.choose_skewed(NAMES),
            n.choose_skewed(NAMES),
            n.choose_skewed(NAMES)
        ),
        6 => writeln!(
            out,
            "{}:{}:{}: error: {} {} {}",
            n.choose_skewed(FILES),
            n.below(900),
            n.below(80),
            n.choose_skewed(PROSE),
            n.choose_skewed(NAMES),
            n.choose_skewed(PROSE)
        ),
        7 => {
            writeln!(out, "-rw-r--r-- 1 dev dev {:>8} {}", n.below(900_000), n.choose_skewed(FILES))
        }
        8 => writeln!(
            out,
            "commit {:016x}{:016x} {} {}",
            n.next(),
            n.next(),
            n.choose_skewed(PROSE),
            n.choose_skewed(PROSE)
        ),
        _ => writeln!(
            out,
            "  \"{}\": {{ \"{}\": {}, \"{}\": \"{}\" }},",
            n.choose_skewed(NAMES),
            n.choose_skewed(NAMES),
            n.below(100_000),
            n.choose_skewed(NAMES),
            n.choose_skewed(FILES)
        ),
    }
}

/// Returns a realistic size: many small events, few large ones, from 100 bytes to 20 KB.
pub fn mixed_bytes(numbers: &mut SampleRng) -> usize {
    // Log-uniform: 100 * 200^u.
    #[expect(clippy::cast_precision_loss, reason = "a sample's size need not be exact")]
    let u = numbers.below(1_000_000) as f64 / 1e6;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 100 and 20,000"
    )]
    let bytes = (100.0 * 200f64.powf(u)) as usize;
    bytes
}

/// Returns the `n`th event of a stream: every other one a tool result, the rest prompts and
/// replies. `bytes` is the size of the text or of the tool's output.
pub fn event(stream: &str, n: u64, bytes: usize, cwd: &str) -> v1::Draft {
    let mut numbers = SampleRng::from(n ^ (hash_stream_name(stream) << 32));
    let long = text(&mut numbers, bytes);
    let (kind, role) = match n % 4 {
        0 => ("user_message", "user"),
        1 => ("assistant_message", "assistant"),
        _ => ("tool_result", "tool"),
    };
    let mut draft = v1::Draft {
        id: EventId::derive(&[stream, &n.to_string()]).into(),
        at_ms: FIRST_MS + n * 1000,
        session_id: format!("{stream}-{:08}", n / SESSION_EVENTS),
        agent: "claude-code".into(),
        cwd: cwd.into(),
        project: cwd.into(),
        kind: kind.into(),
        role: role.into(),
        ..v1::Draft::default()
    };
    if kind == "tool_result" {
        let file = numbers.choose_skewed(FILES);
        draft.tool = Some(v1::Tool {
            name: "Bash".into(),
            input_json:
                serde_json::json!({ "command": format!("grep -n {} {file}", numbers.choose_skewed(NAMES)) })
                    .to_string(),
            output_json: serde_json::Value::String(long).to_string(),
        });
    } else {
        draft.text = long;
    }
    draft
}

/// Returns the time range of `count` events from the `first`th.
pub fn span_ms(first: u64, count: u64) -> (u64, u64) {
    (FIRST_MS + first * 1000, FIRST_MS + (first + count) * 1000)
}

/// Returns the total size of a draft's fields, uncompressed.
pub fn raw_bytes(draft: &v1::Draft) -> u64 {
    let tool = draft
        .tool
        .as_ref()
        .map_or(0, |tool| tool.name.len() + tool.input_json.len() + tool.output_json.len());
    let words = [
        &draft.id,
        &draft.session_id,
        &draft.agent,
        &draft.cwd,
        &draft.project,
        &draft.kind,
        &draft.role,
        &draft.text,
    ];
    (words.iter().map(|word| word.len()).sum::<usize>() + tool + 8) as u64
}

/// A prompt payload of Claude Code.
pub fn prompt_payload(n: u64, bytes: usize, cwd: &str) -> String {
    serde_json::json!({
        "session_id": "5d0c54a1-0000-4000-8000-000000000001", "cwd": cwd,
        "transcript_path": format!("{cwd}/none.jsonl"), "permission_mode": "default",
        "hook_event_name": "UserPromptSubmit",
        "prompt": format!("{n} {}", text(&mut SampleRng::from(n), bytes)),
    })
    .to_string()
}

/// A tool payload of Claude Code.
pub fn tool_payload(n: u64, bytes: usize, cwd: &str) -> String {
    serde_json::json!({
        "session_id": "5d0c54a1-0000-4000-8000-000000000001", "cwd": cwd,
        "transcript_path": format!("{cwd}/none.jsonl"), "permission_mode": "default",
        "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": format!("toolu_{n:08}"),
        "tool_input": { "command": format!("cargo test -- {n}") },
        "tool_response": { "stdout": text(&mut SampleRng::from(n), bytes), "stderr": "", "interrupted": false },
    })
    .to_string()
}

fn hash_stream_name(word: &str) -> u64 {
    word.bytes().fold(0, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)))
}

/// Describes how well the text compresses with gzip: each kilobyte by itself, and all together.
pub fn describe_compressibility() -> String {
    let all: Vec<String> = (0..24).map(|n| text(&mut SampleRng::from(n), 1024)).collect();
    let each: Option<usize> = all.iter().map(|text| gzip_size(text)).sum();
    let whole = text(&mut SampleRng::from(1), 1024 * 1024);
    match (each, gzip_size(&whole)) {
        (Some(each), Some(together)) => {
            let percent = |small: usize, large: usize| 100 * small / large.max(1);
            format!(
                "gzip compresses a single 1 KB text to {} %, 1 MB of it to {} %",
                percent(each, all.len() * 1024),
                percent(together, whole.len())
            )
        }
        _ => "compressibility unknown: gzip is not installed".to_owned(),
    }
}

fn gzip_size(text: &str) -> Option<usize> {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut gzip =
        Command::new("gzip").arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    let mut stdin = gzip.stdin.take()?;
    let text = text.to_owned();
    let feeder = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let size = gzip.wait_with_output().ok()?.stdout.len();
    feeder.join().ok()?.ok()?;
    Some(size)
}
