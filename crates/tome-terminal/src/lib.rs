//! Output of the commands, for a person at a terminal or for a program.
//!
//! | item | purpose |
//! | --- | --- |
//! | [`stdout`], [`stderr`] | writers that let no recorded text control the terminal |
//! | [`write_json`], [`write_raw`] | output for programs |
//! | [`format_count`], [`format_ago`], [`one_line`], [`print_table`] … | numbers, times and texts as people read them |
//! | [`wrap_lines`], [`wrap_code`], [`print_hanging`], [`truncate_end`] … | texts that fit the width of the terminal |
//! | [`Column`], [`drop_columns`], [`print_columns`] | tables that leave out columns where it is narrow |
//! | [`WrappedWriter`] | lines that hang below their label where they are too long |
//! | [`Highlighter`] | the terms of a query, marked in a text |
//! | [`pick`] | a choice from a list that is filtered while the user types |
//! | [`progress_bar`] | the progress of a long command |
//! | [`Outcome`], [`CommandError`] | how a command ends: exit code, message and hint |

mod columns;
mod highlight;
mod layout;
mod outcome;
mod output;
mod picker;
mod progress;
mod render;
mod wrapped;

pub use columns::{Column, drop_columns, print_columns, table_width};
pub use highlight::Highlighter;
pub use layout::{
    display_width, print_hanging, print_styled, print_table, print_table_within, truncate_end,
    truncate_start, wrap_code, wrap_lines,
};
pub use outcome::{CommandError, Outcome};
pub use output::{
    SafeWriter, has_styles, is_stderr_terminal, is_stdout_terminal, known_width,
    neutralize_controls, render_json, set_width, stderr, stdout, style_for_stdout, terminal_width,
    write_json, write_raw,
};
pub use picker::{can_pick, pick};
pub use progress::progress_bar;
pub use render::{
    BOLD, DIM, GREEN, RED, RESET, YELLOW, format_ago, format_bytes, format_count, format_counted,
    format_span, format_tokens, json_to_text, name_side, one_line, replace_control_chars,
    summarize_event,
};
pub use wrapped::WrappedWriter;
