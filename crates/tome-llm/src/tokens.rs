//! About how many tokens a text has, without a tokenizer: for bounds and budgets, not for bills.

/// About how many tokens a text has; rather more than fewer. Three ASCII characters are taken for
/// one token (prose has four and code three), any other character for one of its own.
pub fn tokens_about(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let other = text.bytes().filter(|byte| *byte >= 0xC0).count();
    u64::try_from(ascii.div_ceil(3) + other).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_counts() {
        assert_eq!(tokens_about(""), 0);
        assert_eq!(tokens_about("abcdef"), 2);
        assert_eq!(tokens_about("记忆"), 2);
        assert_eq!(tokens_about("é🦀a"), 3);
    }
}
