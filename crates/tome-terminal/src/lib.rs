//! What the commands of Tome share to talk to a person at a terminal, or to a program.
//!
//! | item | purpose |
//! | --- | --- |
//! | [`stdout`], [`stderr`] | writers that let no recorded text control the terminal |
//! | [`write_json`], [`write_raw`] | output for programs |
//! | [`format_count`], [`format_ago`], [`one_line`], [`print_table`] … | numbers, times and texts as people read them |
//! | [`progress_bar`] | the progress of a long command |
//! | [`Outcome`], [`CommandError`] | how a command ends: exit code, message and hint |

mod outcome;
mod output;
mod progress;
mod render;

pub use outcome::{CommandError, Outcome};
pub use output::{
    SafeWriter, is_stderr_terminal, is_stdout_terminal, neutralize, render_json, stderr, stdout,
    terminal_width, write_json, write_raw,
};
pub use progress::progress_bar;
pub use render::{
    BOLD, DIM, GREEN, RED, RESET, YELLOW, format_ago, format_bytes, format_count, format_counted,
    format_span, format_tokens, json_to_text, name_side, one_line, print_table,
    replace_control_chars, summarize_event, wrap_lines,
};
