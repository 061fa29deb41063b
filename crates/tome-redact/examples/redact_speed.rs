//! Benchmarks redaction: MB/s over ordinary and hostile texts, and the time to build a redactor.
//!
//! `cargo run --release -p tome-redact --example redact_speed [file…]` measures the given files, or
//! built-in text without arguments.

use std::hint::black_box;
use std::time::Instant;

use tome_redact::Redactor;

const CODE: &str = r#"
/// Reads the next token and keeps the parser's place.
fn next_token(&mut self) -> Option<Token<'a>> {
    let start = self.position;
    while let Some(byte) = self.bytes.get(self.position) {
        if !byte.is_ascii_alphanumeric() && *byte != b'_' { break; }
        self.position += 1;
    }
    let key = self.text.get(start..self.position)?;
    self.cache.insert(key.to_owned(), Token { kind: Kind::Name, text: key });
    Some(Token { kind: Kind::Name, text: key })
}
"#;

const PROSE: &str = "The session ended before the reply was stored, so the hook wrote it to the spool \
and the daemon read it from there when it came back: nothing was lost, and the order of the events \
stayed as it was. See https://example.com/docs/spool for how that works.\n";

const JSON: &str = r#"{"id": "a1b2c3", "type": "message", "role": "assistant", "usage": {"input_tokens": 12, "output_tokens": 34}, "content": [{"type": "text", "text": "Read src/lib.rs\\nand run the tests."}]}
"#;

#[expect(clippy::print_stdout, reason = "a benchmark prints its results")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let started = Instant::now();
    let redactor = Redactor::new(&[])?;
    println!("made in {:?}", started.elapsed());
    let started = Instant::now();
    black_box(redactor.redact("a first short text"));
    println!("first use {:?}", started.elapsed());

    let mut texts = vec![
        ("code".to_owned(), CODE.repeat(4_000)),
        ("prose".to_owned(), PROSE.repeat(8_000)),
        ("secrets".to_owned(), format!("{CODE}{PROSE}DB_PASSWORD=hunter2\n").repeat(2_000)),
        ("colored".to_owned(), format!("\u{1b}[32m{CODE}\u{1b}[0m{PROSE}").repeat(3_000)),
        ("json".to_owned(), JSON.repeat(8_000)),
        ("curl -u".to_owned(), "curl -u a ".repeat(200_000)),
        ("password=".to_owned(), "password=".repeat(200_000)),
        ("urls".to_owned(), "https://a:".repeat(200_000)),
        ("private tags".to_owned(), "<private a=\"".repeat(150_000)),
    ];
    if std::env::args().len() > 1 {
        texts.clear();
    }
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path)?;
        texts.push((path, String::from_utf8_lossy(&bytes).into_owned()));
    }
    for (name, text) in texts {
        let mut best = f64::INFINITY;
        for _ in 0..10 {
            let started = Instant::now();
            black_box(redactor.redact(black_box(&text)));
            best = best.min(started.elapsed().as_secs_f64());
        }
        #[expect(clippy::cast_precision_loss, reason = "an approximate rate is enough")]
        let rate = text.len() as f64 / best / 1e6;
        println!("{name}: {} bytes, {rate:.0} MB/s", text.len());
    }
    Ok(())
}
