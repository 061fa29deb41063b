//! Finds work that a session left open: unfinished steps of its latest plan, open items in its
//! final message, and pending issues in its overview.

use tome_contents::read_tool_call;
use tome_model::{Event, Tool};

use crate::triggers::plan_list::{PlanList, is_done, step_text};

const ITEMS_MAX: usize = 5;

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
    let plan = tail.iter().enumerate().find_map(|(at, event)| {
        let steps = event.tool.as_ref().and_then(parse_open_steps)?;
        let later = tail.get(..at).unwrap_or_default();
        let has_tested = later.iter().any(is_passed_test);
        Some(steps.into_iter().filter(|step| !(has_tested && asks_for_tests(step))).collect())
    });
    let mut open: Vec<String> = plan.unwrap_or_default();
    open.extend(closing.map(|event| parse_open_items(&event.text)).unwrap_or_default());
    open.truncate(ITEMS_MAX);
    open
}

fn is_passed_test(event: &Event) -> bool {
    let call = read_tool_call(event);
    call.is_some_and(|call| {
        call.outcome.has_passed() == Some(true)
            && call.command.is_some_and(|command| command.contains("test"))
    })
}

/// Whether a step of a plan only runs the tests. Agents seldom tick it off.
fn asks_for_tests(step: &str) -> bool {
    let lower = step.to_lowercase();
    ["run ", "re-run ", "rerun "].iter().any(|verb| lower.starts_with(verb))
        && lower.contains("test")
}

/// Returns the open steps of a plan; `None` if the tool is not a plan tool.
fn parse_open_steps(tool: &Tool) -> Option<Vec<String>> {
    let open = match PlanList::from_call(tool)? {
        PlanList::Items(items) => {
            let open = items.iter().filter(|item| !is_done(item)).filter_map(step_text);
            open.take(ITEMS_MAX).map(str::to_owned).collect()
        }
        PlanList::Text(text) => parse_open_items(text),
    };
    Some(open)
}

/// Returns the items under a heading such as "Next steps", and unticked boxes.
fn parse_open_items(text: &str) -> Vec<String> {
    let (mut open, mut is_under) = (Vec::new(), false);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (item, is_item) = strip_bullet(line);
        let is_box = line.contains("[ ]");
        let plain = line.trim_matches(['#', '*', '_', ' ', ':']).to_lowercase();
        let is_heading = !is_item && is_open_heading(&plain);
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

/// Whether a line without marks is a heading over open items: "Next steps", but not "Todo saved: …".
fn is_open_heading(line: &str) -> bool {
    const WORDS_AFTER_MAX: usize = 3;
    let rest = OPEN_HEADINGS.iter().find_map(|heading| line.strip_prefix(heading));
    let Some(rest) = rest else { return false };
    let rest = rest.strip_prefix('s').unwrap_or(rest);
    let heading = rest.split([':', '(']).next().unwrap_or(rest);
    let is_done = ["saved", "added", "created", "done", "updated", "removed", "moved", "closed"]
        .iter()
        .any(|word| heading.split_whitespace().any(|said| said == *word));
    rest.starts_with([' ', ':', '(', '*'])
        && !is_done
        && heading.split_whitespace().count() <= WORDS_AFTER_MAX
        || rest.is_empty()
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
    use serde_json::json;

    use super::*;

    #[test]
    fn items_under_a_heading_and_unticked_boxes_are_open() {
        let text = "All 212 tests pass.\n\n**Next steps:**\n1. Wire up the lexer\n2. Delete the shim\n\nDone otherwise.\n- not open\n- [ ] write docs";
        assert_eq!(parse_open_items(text), ["Wire up the lexer", "Delete the shim", "write docs"]);
        assert_eq!(parse_open_items("Remaining: the Windows build."), ["the Windows build."]);
        for closed in ["It works. What remains is fine.", "Todo saved: `todo/widths.md`"] {
            assert_eq!(parse_open_items(closed), Vec::<String>::new(), "{closed}");
        }
    }

    #[test]
    fn the_open_steps_of_a_plan_are_found_in_every_form() {
        let open = |name: &str, input: serde_json::Value| {
            let output = serde_json::Value::Null;
            parse_open_steps(&Tool { name: name.to_owned(), input, output })
        };
        let steps = json!([{"task": "lex", "status": "done"}, {"task": "parse"}, "print"]);
        let expected = Some(vec!["parse".to_owned(), "print".to_owned()]);
        assert_eq!(open("TodoWrite", json!({"todos": steps})), expected);
        assert_eq!(open("update_plan", json!({"plan": steps.to_string()})), expected);
        let boxes = "- [x] lex\n- [ ] parse\n- [ ] print";
        assert_eq!(open("mcp__x__update_todo", json!({"todos": boxes})), expected);
        let both = json!([{"title": "parse", "description": "with recursion"}, "print"]);
        assert_eq!(open("write_todos", both), expected);
        assert_eq!(open("Bash", json!({"todos": steps})), None);
    }

    #[test]
    fn pending_issues_are_read_from_their_section() {
        let text = "# Working Memory\n## Pending Issues\n<!-- hint -->\n- the parser is slow\n## Recent\n- x";
        assert_eq!(parse_pending_issues(text), ["the parser is slow"]);
    }
}
