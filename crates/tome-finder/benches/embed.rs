//! Speed of the built-in embedders: `cargo bench -p tome-finder`.
//!
//! Each line is the median of several runs on one core.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints, and stops when something is wrong"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use tome_finder::{DeepEmbedder, Embedder, StaticEmbedder};

const WORDS: [&str; 12] = [
    "the",
    "migration",
    "failed",
    "because",
    "a",
    "column",
    "was",
    "not",
    "nullable",
    "in",
    "test",
    "again",
];

fn main() {
    // Reads the model.
    time_embedder("first", &StaticEmbedder, 30, 1);
    for words in [30, 100, 250] {
        time_embedder("static", &StaticEmbedder, words, 200);
    }
    for words in [10, 30, 100, 250] {
        time_embedder("deep", &DeepEmbedder, words, 30);
    }
}

fn time_embedder(label: &str, embedder: &dyn Embedder, words: usize, runs: usize) {
    let text: Vec<&str> = WORDS.iter().copied().cycle().take(words).collect();
    let text = text.join(" ");
    let took = median(runs, || {
        black_box(embedder.embed(&[black_box(&text)]).unwrap());
    });
    println!("{label:<6} {words:>3} words: {took:>10.1?}");
}

fn median(runs: usize, mut run: impl FnMut()) -> Duration {
    let mut took: Vec<Duration> = (0..runs)
        .map(|_| {
            let since = Instant::now();
            run();
            since.elapsed()
        })
        .collect();
    took.sort_unstable();
    took.get(runs / 2).copied().unwrap_or_default()
}
