//! Finds work that a session left open: unfinished steps of its latest plan, open items in its
//! final message, and pending issues in its overview.

use serde_json::Value;
use tome_model::{Event, Tool};

/// Limit of open items.
const ITEMS_MAX: usize = 5;

/// Tools that write a whole plan, lowercase and without a server prefix.
const PLAN_TOOLS: [&str; 5] =
    ["todowrite", "todo_write", "write_todos", "update_plan", "update_todo"];
const LIST_FIELDS: [&str; 4] = ["todos", "plan", "steps", "items"];
const STEP_FIELDS: [&str; 6] = ["content", "step", "title", "subject", "description", "text"];
const DONE_STATUSES: [&str; 5] = ["completed", "cancelled", "done", "deleted", "closed"];

/// Prefixes of headings under which agents list open items.
const OPEN_HEADINGS: [&str; 12] = [
    "next step",
    "next up",
    "remaining",
    "still open",
    "still to do",
    "open question",
    "open item",
    "not done",
    "not yet",
    "todo",
    "to do",
    "follow-up",
];

/// Collects the open work of a session. `tail` is its events, the latest first.
pub(super) fn collect_open_work(tail: &[Event], closing: Option<&Event>) -> Vec<String> {
    let plan = tail.iter().find_map(|event| event.tool.as_ref().and_then(parse_open_steps));
    let mut open = plan.unwrap_or_default();
    open.extend(closing.map(|event| parse_open_items(&event.text)).unwrap_or_default());
    open.truncate(ITEMS_MAX);
    open
}

/// Returns the open steps of a plan; `None` if the tool is not a plan tool.
fn parse_open_steps(tool: &Tool) -> Option<Vec<String>> {
    let name = tool.name.to_lowercase();
    let name = name.rsplit("__").next().unwrap_or_default();
    if !PLAN_TOOLS.contains(&name) {
        return None;
    }
    let listed = LIST_FIELDS.iter().find_map(|list| tool.input.get(list)).unwrap_or(&tool.input);
    let field = |item: &Value, names: &[&str]| {
        names.iter().find_map(|name| item.get(name)?.as_str().map(str::to_owned))
    };
    let is_open = |item: &&Value| {
        field(item, &["status"]).is_none_or(|status| !DONE_STATUSES.contains(&status.as_str()))
    };
    let steps = listed.as_array()?.iter().filter(is_open);
    Some(steps.filter_map(|item| field(item, &STEP_FIELDS)).take(ITEMS_MAX).collect())
}

/// Returns the items under a heading such as "Next steps", and unticked boxes.
fn parse_open_items(text: &str) -> Vec<String> {
    let (mut open, mut is_under) = (Vec::new(), false);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (item, is_item) = strip_bullet(line);
        let is_box = line.contains("[ ]");
        let plain = line.trim_matches(['#', '*', '_', ' ', ':']).to_lowercase();
        let is_heading = !is_item && OPEN_HEADINGS.iter().any(|heading| plain.starts_with(heading));
        if is_heading {
            is_under = true;
            // "Next step: wire it up" has the item on the same line.
            let rest = line.split_once(':').map(|(_, rest)| rest.trim_matches(['*', '_', ' ']));
            open.extend(rest.filter(|rest| !rest.is_empty()).map(str::to_owned));
        } else if is_box || (is_under && is_item) {
            open.push(item.trim_start_matches("[ ]").trim().to_owned());
        } else {
            is_under = false;
        }
    }
    open
}

/// Returns the lines of the "Pending Issues" section of an overview.
pub(super) fn parse_pending_issues(overview: &str) -> Vec<String> {
    let below = overview.lines().skip_while(|line| !line.contains("Pending Issues")).skip(1);
    let section = below.take_while(|line| !line.starts_with('#')).map(str::trim);
    let section = section.filter(|line| !line.is_empty() && !line.starts_with("<!--"));
    section.map(|line| strip_bullet(line).0.to_owned()).take(ITEMS_MAX).collect()
}

/// Strips a bullet or number from a line; also returns whether there was one.
fn strip_bullet(line: &str) -> (&str, bool) {
    let after = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
    let number = || {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let rest = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))?;
        (rest.len() < line.len() - 1).then_some(rest)
    };
    match after.or_else(number) {
        Some(item) => (item.trim(), true),
        None => (line, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_under_a_heading_and_unticked_boxes_are_open() {
        let text = "All 212 tests pass.\n\n**Next steps:**\n1. Wire up the lexer\n2. Delete the shim\n\nDone otherwise.\n- not open\n- [ ] write docs";
        assert_eq!(parse_open_items(text), ["Wire up the lexer", "Delete the shim", "write docs"]);
        assert_eq!(parse_open_items("Remaining: the Windows build."), ["the Windows build."]);
        assert_eq!(parse_open_items("It works. What remains is fine."), Vec::<String>::new());
    }

    #[test]
    fn pending_issues_are_those_of_the_section() {
        let text = "# Working Memory\n## Pending Issues\n<!-- hint -->\n- the parser is slow\n## Recent\n- x";
        assert_eq!(parse_pending_issues(text), ["the parser is slow"]);
    }
}
