//! Tests of the literal tier through its API.

// A range that splits a character has to fail a test.
#![allow(clippy::string_slice)]

mod contents;
mod events;
mod messages;
mod needle;
mod page;

use tome_finder::EntryFilter;
use tome_model::{Clock, Millis};

use super::{Matcher, Scan, ScanQuery};

struct Still;

impl Clock for Still {
    fn now(&self) -> Millis {
        Millis(1_794_666_600_000)
    }
}

fn hunted(query: &str, limit: usize, scan: impl FnOnce(ScanQuery<'_>) -> Scan) -> Scan {
    filtered(query, limit, &EntryFilter::default(), scan)
}

fn filtered(
    query: &str,
    limit: usize,
    filter: &EntryFilter,
    scan: impl FnOnce(ScanQuery<'_>) -> Scan,
) -> Scan {
    let needle = Matcher::new(query);
    scan(ScanQuery { matcher: &needle, filter, limit, stop: &|| false })
}

fn shown(scan: &Scan) -> Vec<(u32, &str)> {
    scan.matches.iter().map(|seen| (seen.line, seen.snippet.as_str())).collect()
}
