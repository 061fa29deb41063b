//! `tome chat`: starts the chat in `crate::chat`.

use anyhow::Result;

use super::{CommandContext, Outcome};
use crate::cli::chat::ChatArgs;

pub fn run(context: &CommandContext, asked: &ChatArgs) -> Result<Outcome> {
    crate::chat::run(context, asked)
}
