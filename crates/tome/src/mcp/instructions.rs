//! The server's instructions. A client whose hooks inject the rules for using memory is not told them
//! a second time; any other client learns them here.

use tome_engine::memory_rules;

/// The instructions, for a server that offers these tools.
pub fn instructions(offered: &[&str], hooks_state_rules: bool) -> String {
    let mut lines = vec![
        "Tome is the memory of this project: notes, and a record of what was said and done in earlier sessions."
            .to_owned(),
    ];
    if !hooks_state_rules {
        lines.extend(memory_rules(offered));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use tome_engine::{CORE_TOOLS, Tools};
    use tome_text::estimate_tokens;

    use super::*;

    #[test]
    fn rules_are_stated_where_no_hook_states_them() {
        let all: Vec<&str> = Tools::list().iter().map(|tool| tool.name).collect();
        let whole = instructions(&all, false);
        assert!(estimate_tokens(&whole) < 300, "{whole}");
        let less = instructions(&["recall_memory"], false);
        assert!(!less.contains("memory_write"), "{less}");
        let hooked = instructions(&CORE_TOOLS, true);
        assert_eq!(hooked.lines().count(), 1);
        assert!(memory_rules(&CORE_TOOLS).iter().all(|rule| !hooked.contains(rule.as_str())));
    }
}
