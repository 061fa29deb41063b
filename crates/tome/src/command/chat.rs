//! `tome chat`: starts the chat in `crate::chat`.

use anyhow::Result;

use super::{Context, Outcome};
use crate::cli::chat::Chat;

pub fn run(context: &Context, asked: &Chat) -> Result<Outcome> {
    crate::chat::run(context, asked)
}
