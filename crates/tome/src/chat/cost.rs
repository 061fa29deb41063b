//! What a chat has cost: tokens, money where prices are configured, and what is left of the day.

use tome_llm::{Prices, Usage};

use crate::command::Context;
use crate::reach::Start;
use crate::render::count;

/// Tokens in one line.
pub fn tokens(usage: &Usage) -> String {
    let cached = match usage.cache_read {
        0 => String::new(),
        read => format!(" ({} from the cache)", count(read)),
    };
    format!("{} tokens read{cached}, {} said", count(usage.read()), count(usage.output))
}

/// All that is known, a line each.
pub fn lines(context: &Context, model: &str, usage: &Usage, prices: &Prices) -> Vec<String> {
    let mut lines = vec![format!("{model}: {} since this chat was opened", tokens(usage))];
    if model == "offline" {
        lines.push("a script costs nothing".to_owned());
        return lines;
    }
    lines.push(match prices.cost(usage) {
        Some(cost) => format!("{cost:.4} at the prices of chat.price_*"),
        None => "what that costs is not known: `tome config set chat.price_input 3`, and price_output, for a million tokens".to_owned(),
    });
    let today = context.block_on(async {
        let asked = context.reach.ask(Start::IfAway, async |client| client.tokens_used().await);
        Ok(asked.await?)
    });
    lines.push(match today {
        Ok(today) => {
            let used = today.input_tokens.saturating_add(today.output_tokens);
            format!(
                "today {} of {} tokens are used, by all of Tome (summarizer.daily_tokens)",
                count(used),
                count(today.daily_tokens)
            )
        }
        Err(error) => format!("what is left of the day is not known: {error}"),
    });
    lines
}
