//! Output of `tome recall --explain`: the stages of a search with their timings.

use std::io::Write;
use std::time::Duration;

use tome_proto::v1;
use tome_terminal::print_table;

/// Prints the stages, and the total time as measured by the client.
pub fn print_stages(
    out: &mut dyn Write,
    stages: &[v1::RecallStage],
    took: Duration,
) -> std::io::Result<()> {
    let row = |name: &str, found: &str, took_us: u64| {
        vec![name.to_owned(), format_micros(took_us), found.to_owned()]
    };
    let mut rows: Vec<Vec<String>> =
        stages.iter().map(|stage| row(&stage.name, &stage.found, stage.took_us)).collect();
    let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    rows.push(row("total", "including the round trip to the daemon", took_us));
    writeln!(out)?;
    print_table(out, &["stage", ">time", "found"], &rows)
}

/// Renders a hit's rank and score in each tier.
pub fn render_ranks(hit: &v1::RecallHit) -> String {
    let each = hit.ranks.iter().map(|one| format!("{} #{} ({:.3})", one.tier, one.rank, one.score));
    let each: Vec<String> = each.chain([format!("score {:.4}", hit.score)]).collect();
    each.join(" · ")
}

fn format_micros(took_us: u64) -> String {
    match took_us {
        0..1_000 => format!("{took_us} µs"),
        1_000..1_000_000 => format!("{:.1} ms", took_us as f64 / 1_000.0),
        _ => format!("{:.1} s", took_us as f64 / 1_000_000.0),
    }
}
