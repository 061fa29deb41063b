//! `tome completions` and `tome man`.

use std::path::Path;

use anyhow::{Context, Result};
use clap::CommandFactory;

use super::Outcome;
use crate::cli::Cli;

pub fn print_completions(shell: clap_complete::Shell) -> Result<Outcome> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "tome", &mut text);
    tome_terminal::write_raw(&text)?;
    Ok(Outcome::Done)
}

pub fn write_manual(folder: Option<&Path>) -> Result<Outcome> {
    match folder {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page)?;
            tome_terminal::write_raw(&page)?;
        }
        Some(folder) => {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot create {}", folder.display()))?;
            clap_mangen::generate_to(Cli::command(), folder)
                .with_context(|| format!("cannot write manual pages to {}", folder.display()))?;
        }
    }
    Ok(Outcome::Done)
}
