//! The command line of `tome chat`.

use clap::Args;

/// The end of the help text.
pub const CHAT_HELP: &str = "\
Examples:
  tome chat                                  start a chat; leave with Ctrl-D or /exit
  tome chat --continue                       continue the latest chat of this project
  tome chat -p 'which tests cover the lexer?'    print one answer
  git diff | tome chat -p                    read the prompt from standard input
  tome chat --offline                        use a built-in script instead of a model; works offline
Commands in a chat: /memory, /recall, /toc, /overview, /reflect, /cost, /help, /exit. End a line with a
backslash to continue it. Ctrl-C interrupts a reply. If standard input is not a terminal, each line is a
prompt. The model can read this project's files and the memory; it cannot change files or run commands.
Chats are recorded as agent `tome`. At the end of a chat, and when turns drop out of the context, the
model writes down what is worth keeping (not with -p; disable with --no-reflect).";

/// `tome chat`
#[derive(Debug, Args)]
pub struct ChatArgs {
    /// The first prompt
    #[arg(value_name = "PROMPT")]
    pub prompt: Vec<String>,
    /// Print one answer and exit; without PROMPT, read the prompt from standard input
    #[arg(long, short = 'p')]
    pub print: bool,
    /// Continue the latest chat of this project
    #[arg(long = "continue", short = 'c', conflicts_with_all = ["resume", "session"])]
    pub go_on: bool,
    /// Resume an earlier chat by its id or a prefix of it, or choose from a list
    #[arg(long, short = 'r', value_name = "ID", num_args = 0..=1, conflicts_with = "session")]
    pub resume: Option<Option<String>>,
    /// Use this session id; an existing chat with this id is continued
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Use a built-in script that shows how memory works; needs no model and no network
    #[arg(long, conflicts_with = "model")]
    pub offline: bool,
    /// Use this model instead of the configured one
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Do not have the model write notes at the end
    #[arg(long)]
    pub no_reflect: bool,
    /// Maximum rounds of tool calls per prompt
    #[arg(
        long,
        value_name = "N",
        default_value_t = 50,
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    pub rounds: u32,
}
