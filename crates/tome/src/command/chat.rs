//! `tome chat`: see the room of that name.

use anyhow::Result;

use super::{Context, Outcome};
use crate::cli::chat::Chat;

pub fn run(context: &Context, asked: &Chat) -> Result<Outcome> {
    crate::chat::run(context, asked)
}
