//! The corpus for recall: synthetic coding sessions with realistic words, names and paths.
//!
//! About 20,000 words follow a Zipf distribution; each session has topics of its own; names, paths,
//! error codes and hashes are mixed in. Identical in every run.

use std::fmt::Write;

use tome_model::EventId;
use tome_proto::v1;

use crate::sample::SampleRng;

const FIRST_MS: u64 = 1_750_000_000_000;
const SESSION_EVENTS: u64 = 200;
/// Approximate length of a text.
const TEXT_BYTES: usize = 1_000;
/// Number of distinct function and type names.
const NAMES_MAX: usize = 20_000;
/// Recurring words of a session.
const TOPICS: usize = 24;
/// Shortest word used in a query.
const QUERY_WORD_BYTES_MIN: usize = 4;

#[rustfmt::skip]
const COMMON: &[&str] = &[
    "the", "to", "a", "of", "and", "in", "is", "that", "it", "for", "this", "with", "on", "not", "be", "we",
    "as", "are", "when", "from", "if", "an", "by", "but", "so", "or", "was", "at", "which", "can", "has",
    "there", "should", "then", "what", "only", "after", "before", "now", "because", "into", "still", "all",
    "one", "you", "they", "have", "will", "would", "where", "how", "no", "does", "did", "more", "than",
];
#[rustfmt::skip]
const STEMS: &[&str] = &[
    "account", "anchor", "archive", "batch", "beacon", "border", "bottle", "branch", "bridge", "bucket",
    "buffer", "build", "cable", "cache", "canvas", "cargo", "chain", "channel", "chart", "check", "client",
    "clock", "cloud", "cluster", "collect", "color", "column", "compile", "connect", "copy", "count", "cover",
    "crash", "cursor", "deploy", "design", "digest", "docker", "draft", "drain", "driver", "edit", "encode",
    "engine", "event", "export", "factor", "feature", "field", "filter", "finger", "fixture", "flag", "flush",
    "folder", "form", "frame", "garden", "gate", "glance", "graph", "guard", "handle", "harbor", "hash",
    "header", "history", "hook", "host", "image", "import", "index", "insert", "island", "issue", "join",
    "journal", "kernel", "label", "lane", "launch", "layer", "ledger", "letter", "level", "limit", "link",
    "list", "load", "lock", "loop", "map", "mark", "market", "match", "memory", "merge", "metric", "migrate",
    "mirror", "model", "module", "monitor", "mount", "network", "node", "notice", "number", "object", "offset",
    "order", "outline", "owner", "packet", "page", "panel", "parse", "patch", "path", "pattern", "payload",
    "permit", "pilot", "pipe", "place", "planet", "plugin", "point", "policy", "pool", "port", "print",
    "process", "profile", "project", "prompt", "proof", "queue", "quota", "range", "reason", "record",
    "region", "release", "render", "repeat", "report", "request", "resolve", "retry", "river", "role", "route",
    "sample", "scale", "schema", "scope", "screen", "script", "search", "season", "segment", "select",
    "server", "session", "shadow", "shard", "signal", "silver", "snapshot", "socket", "source", "spool",
    "stage", "state", "storage", "stream", "string", "switch", "symbol", "table", "target", "template",
    "thread", "ticket", "token", "trace", "track", "traffic", "trigger", "tunnel", "update", "upload",
    "valley", "vector", "vendor", "version", "view", "volume", "wallet", "watch", "window", "worker",
];
#[rustfmt::skip]
const PREFIXES: &[&str] = &["", "re", "un", "pre", "de", "over", "sub", "inter"];
#[rustfmt::skip]
const SUFFIXES: &[&str] = &["", "s", "ed", "ing", "er", "ers", "able", "ly", "ness", "ful", "less", "ment"];
#[rustfmt::skip]
const VERBS: &[&str] = &[
    "read", "write", "open", "close", "parse", "load", "store", "find", "make", "drop", "send", "wait",
    "check", "count", "merge", "split", "encode", "decode", "apply", "reset",
];

/// Words with their frequencies.
pub struct Corpus {
    words: Vec<String>,
    /// Cumulative weights of the words.
    sums: Vec<f64>,
}

/// A text, with the words and names that queries may use.
#[derive(Default)]
struct CorpusText {
    text: String,
    words: Vec<String>,
    names: Vec<String>,
}

impl Corpus {
    pub fn new() -> Self {
        let mut rest: Vec<String> =
            Vec::with_capacity(STEMS.len() * PREFIXES.len() * SUFFIXES.len());
        for stem in STEMS {
            for prefix in PREFIXES {
                rest.extend(SUFFIXES.iter().map(|suffix| format!("{prefix}{stem}{suffix}")));
            }
        }
        let mut numbers = SampleRng::from(7);
        for i in (1..rest.len()).rev() {
            rest.swap(i, numbers.below(i + 1));
        }
        let words: Vec<String> = COMMON.iter().map(|word| (*word).to_owned()).chain(rest).collect();
        let mut sum = 0.0;
        let sums = (0..words.len()).map(|index| {
            #[expect(clippy::cast_precision_loss, reason = "a few thousand words")]
            let rank = (index + 1) as f64;
            sum += 1.0 / rank;
            sum
        });
        let sums: Vec<f64> = sums.collect();
        Self { words, sums }
    }

    pub fn event(&self, n: u64, cwd: &str) -> v1::Draft {
        let (kind, role) = match n % 4 {
            0 => ("user_message", "user"),
            1 => ("assistant_message", "assistant"),
            _ => ("tool_result", "tool"),
        };
        let text = self.build_text(n).text;
        let mut draft = v1::Draft {
            id: EventId::derive(&["corpus", &n.to_string()]).into(),
            at_ms: FIRST_MS + n * 10_000,
            session_id: format!("session-{:06}", n / SESSION_EVENTS),
            agent: "claude-code".into(),
            cwd: cwd.into(),
            project: cwd.into(),
            kind: kind.into(),
            role: role.into(),
            ..v1::Draft::default()
        };
        match kind {
            "tool_result" => {
                let input = serde_json::json!({ "command": "cargo test" }).to_string();
                let output_json = serde_json::Value::String(text).to_string();
                draft.tool = Some(v1::Tool { name: "Bash".into(), input_json: input, output_json });
            }
            _ => draft.text = text,
        }
        draft
    }

    pub fn event_text(&self, n: u64) -> String {
        self.build_text(n).text
    }

    /// Returns the `n`th query: three to six words of some text, with a name in every other query.
    pub fn query(&self, n: u64, events: u64) -> String {
        let mut numbers = SampleRng::from(n ^ (11 << 40));
        let text = self.build_text(numbers.next() % events.max(1));
        let pick = |from: &[String], numbers: &mut SampleRng| {
            from.get(numbers.below(from.len())).cloned().unwrap_or_default()
        };
        let mut query: Vec<String> = Vec::new();
        if n.is_multiple_of(2) {
            query.push(pick(&text.names, &mut numbers));
        }
        for _ in query.len()..3 + numbers.below(4) {
            query.push(pick(&text.words, &mut numbers));
        }
        query.retain(|word| !word.is_empty());
        query.join(" ")
    }

    fn build_text(&self, n: u64) -> CorpusText {
        let mut numbers = SampleRng::from(n ^ (5 << 40));
        let mut session = SampleRng::from((n / SESSION_EVENTS) ^ (6 << 40));
        let topics: Vec<&str> = (0..TOPICS).map(|_| self.pick_word(&mut session)).collect();
        let mut text =
            CorpusText { text: String::with_capacity(TEXT_BYTES + 200), ..CorpusText::default() };
        while text.text.len() < TEXT_BYTES {
            // Writing to a string cannot fail.
            let _ = self.write_line(&mut text, &mut numbers, &topics);
        }
        text
    }

    fn write_line(
        &self,
        out: &mut CorpusText,
        n: &mut SampleRng,
        topics: &[&str],
    ) -> std::fmt::Result {
        match n.below(10) {
            0..=5 => {
                for _ in 0..8 + n.below(12) {
                    let topic = topics.get(n.below(4 * topics.len())).copied();
                    let word = topic.unwrap_or_else(|| self.pick_word(n));
                    write!(out.text, "{word} ")?;
                    if word.len() >= QUERY_WORD_BYTES_MIN {
                        out.words.push(word.to_owned());
                    }
                }
                let name = out.pick_name(n);
                writeln!(out.text, "`{name}`.")
            }
            6 => {
                let (name, of, to) = (out.pick_name(n), n.choose(STEMS), n.choose(STEMS));
                writeln!(out.text, "    let {to} = {of}.{name}({});", n.below(4096))
            }
            7 => {
                let (name, code) = (out.pick_name(n), n.below(1_000));
                writeln!(
                    out.text,
                    "error[E{code:04}]: {} {name} at {}",
                    self.pick_word(n),
                    source_location(n)
                )
            }
            8 => writeln!(
                out.text,
                "{} {} {:>7} bytes",
                source_location(n),
                self.pick_word(n),
                n.below(900_000)
            ),
            _ => writeln!(
                out.text,
                "commit {:07x} {} {}",
                n.next() >> 36,
                self.pick_word(n),
                self.pick_word(n)
            ),
        }
    }

    /// Picks a word by its frequency.
    fn pick_word(&self, n: &mut SampleRng) -> &str {
        #[expect(clippy::cast_precision_loss, reason = "a rank need not be exact")]
        let at = (n.next() >> 11) as f64 / (1u64 << 53) as f64 * self.sums.last().unwrap_or(&1.0);
        let index = self.sums.partition_point(|sum| *sum < at);
        self.words.get(index).map_or("the", String::as_str)
    }
}

impl CorpusText {
    /// Picks a name and remembers it for queries.
    fn pick_name(&mut self, n: &mut SampleRng) -> String {
        // Low numbers are more frequent.
        let number = n.below(NAMES_MAX).min(n.below(NAMES_MAX)).min(n.below(NAMES_MAX));
        let mut of = SampleRng::from(number as u64);
        let (verb, first, second) = (of.choose(VERBS), of.choose(STEMS), of.choose(STEMS));
        let name = match number % 3 {
            0 => format!("{}{}", capitalize(first), capitalize(second)),
            1 => format!("{verb}{}", capitalize(first)),
            _ => format!("{verb}_{first}_{second}"),
        };
        self.names.push(name.clone());
        name
    }
}

fn source_location(n: &mut SampleRng) -> String {
    let ending = n.choose(&["rs", "py", "ts", "go", "sql", "md"]);
    format!(
        "{}/src/{}_{}.{ending}:{}",
        n.choose(STEMS),
        n.choose(VERBS),
        n.choose(STEMS),
        n.below(900)
    )
}

fn capitalize(word: &str) -> String {
    let mut chars = word.chars();
    chars
        .next()
        .map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + chars.as_str())
}
