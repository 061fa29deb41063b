//! The command line of the chat, as typed.

use clap::Args;

pub const HELP: &str = "\
Examples:
  tome chat                                  talk; Ctrl-D or /exit leaves
  tome chat --continue                       go on with the latest chat of this project
  tome chat -p 'which tests cover the lexer?'    one answer on standard output
  git diff | tome chat -p                    the prompt from standard input
  tome chat --offline                        a built-in script instead of a model; nothing leaves
In a chat: /memory, /recall, /toc, /overview, /reflect, /cost, /help, /exit. A line that ends in a
backslash goes on. Ctrl-C stops a reply. Where standard input is no terminal, each line is a prompt.
The model may look at the files of this project and at memory; it changes no file and runs nothing.
Everything said is recorded as agent `tome`. At the end, and when turns leave the context, the model
is asked what of it is worth keeping (not with -p; --no-reflect leaves it out).";

/// `tome chat`
#[derive(Debug, Args)]
pub struct Chat {
    /// The first prompt
    #[arg(value_name = "PROMPT")]
    pub prompt: Vec<String>,
    /// Print one answer and leave; without PROMPT, all of standard input is the prompt
    #[arg(long, short = 'p')]
    pub print: bool,
    /// Go on with the latest chat of this project
    #[arg(long = "continue", short = 'c', conflicts_with_all = ["resume", "session"])]
    pub go_on: bool,
    /// Go on with an earlier chat: by its id or the beginning of it, or chosen from a list
    #[arg(long, short = 'r', value_name = "ID", num_args = 0..=1, conflicts_with = "session")]
    pub resume: Option<Option<String>>,
    /// Use this id for the chat; one that exists goes on
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Talk to a built-in script that shows how memory works; needs no model and no network
    #[arg(long, conflicts_with = "model")]
    pub offline: bool,
    /// Use this model instead of the configured one
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Leave out what the model would write down at the end
    #[arg(long)]
    pub no_reflect: bool,
    /// Rounds of tool calls for one prompt, at most
    #[arg(
        long,
        value_name = "N",
        default_value_t = 50,
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    pub rounds: u32,
}
