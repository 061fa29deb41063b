//! Tests of the literal tier through its API.

// A range that splits a character has to fail a test.
#![allow(clippy::string_slice)]

mod contents;
mod events;
mod matcher;
mod messages;
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

fn scan_with_limit(query: &str, limit: usize, scan: impl FnOnce(ScanQuery<'_>) -> Scan) -> Scan {
    scan_with_filter(query, limit, &EntryFilter::default(), scan)
}

fn scan_with_filter(
    query: &str,
    limit: usize,
    filter: &EntryFilter,
    scan: impl FnOnce(ScanQuery<'_>) -> Scan,
) -> Scan {
    let matcher = Matcher::new(query);
    scan(ScanQuery { matcher: &matcher, filter, limit, stop: &|| false })
}

fn shown(scan: &Scan) -> Vec<(u32, &str)> {
    scan.matches.iter().map(|matched| (matched.line, matched.snippet.as_str())).collect()
}
