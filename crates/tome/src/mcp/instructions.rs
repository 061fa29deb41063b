//! The server's instructions. They contain the rules for using the memory unless the client's hooks
//! already inject them.

use tome_engine::memory_rules;

pub fn render_instructions(offered: &[&str], hooks_state_rules: bool) -> String {
    let mut lines = vec![
        "Tome is the memory of this project: notes, and a record of earlier sessions.".to_owned(),
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
    fn rules_are_included_unless_hooks_inject_them() {
        let all: Vec<&str> = Tools::specs().iter().map(|tool| tool.name).collect();
        let whole = render_instructions(&all, false);
        assert!(estimate_tokens(&whole) < 300, "{whole}");
        let less = render_instructions(&["recall_memory"], false);
        assert!(!less.contains("memory_write"), "{less}");
        let hooked = render_instructions(&CORE_TOOLS, true);
        assert_eq!(hooked.lines().count(), 1);
        assert!(memory_rules(&CORE_TOOLS).iter().all(|rule| !hooked.contains(rule.as_str())));
    }
}
