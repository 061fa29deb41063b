//! Tests of the literal tier through its API.

// A range that splits a character has to fail a test.
#![allow(clippy::string_slice)]

mod contents;
mod events;
mod messages;
mod needle;
mod page;

use tome_finder::Filter;
use tome_model::{Clock, Millis};

use super::{Hunt, Needle, Scan};

struct Still;

impl Clock for Still {
    fn now(&self) -> Millis {
        Millis(1_794_666_600_000)
    }
}

fn hunted(query: &str, limit: usize, scan: impl FnOnce(Hunt<'_>) -> Scan) -> Scan {
    filtered(query, limit, &Filter::default(), scan)
}

fn filtered(
    query: &str,
    limit: usize,
    filter: &Filter,
    scan: impl FnOnce(Hunt<'_>) -> Scan,
) -> Scan {
    let needle = Needle::new(query);
    scan(Hunt { needle: &needle, filter, limit, stop: &|| false })
}

fn shown(scan: &Scan) -> Vec<(u32, &str)> {
    scan.seen.iter().map(|seen| (seen.line, seen.snippet.as_str())).collect()
}
