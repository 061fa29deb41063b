//! Reports the cost of a chat: tokens, money if prices are configured, and today's token budget.

use tome_client::DaemonConnector;
use tome_llm::{Prices, Usage};
use tome_terminal::format_count;

pub fn render_tokens(usage: &Usage) -> String {
    let cached = match usage.cache_read {
        0 => String::new(),
        read => format!(" ({} cached)", format_count(read)),
    };
    format!(
        "{} tokens in{cached}, {} out",
        format_count(usage.input_total()),
        format_count(usage.output)
    )
}

pub fn render_cost(
    connector: &DaemonConnector,
    model: &str,
    usage: &Usage,
    prices: &Prices,
) -> Vec<String> {
    let mut lines = vec![format!("{model}: {} since this chat was opened", render_tokens(usage))];
    if model == "offline" {
        lines.push("the offline script costs nothing".to_owned());
        return lines;
    }
    lines.push(match prices.cost(usage) {
        Some(cost) => format!("{cost:.4} at the prices of chat.price_*"),
        None => "cost unknown: set the price per million tokens with `tome config set chat.price_input 3` and chat.price_output".to_owned(),
    });
    let today = connector.call_blocking(async |client| client.get_token_usage().await);
    lines.push(match today {
        Ok(today) => {
            let used = today.input_tokens.saturating_add(today.output_tokens);
            format!(
                "today: {} of {} tokens used by all of Tome (summarizer.daily_tokens)",
                format_count(used),
                format_count(today.daily_tokens)
            )
        }
        Err(error) => format!("today's usage is unknown: {error}"),
    });
    lines
}
