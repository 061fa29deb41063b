//! Prints one node, or one source with the events around it.

use std::io::Write;

use tome_model::Event;
use tome_proto::v1;
use tome_terminal::{
    BOLD, DIM, GREEN, RESET, YELLOW, format_counted, one_line, print_hanging, print_styled,
    replace_control_chars,
};

use super::tree::{self, shorten_node_id};
use crate::command::screen::Screen;
use crate::command::time_labels::TimeLabels;

/// The name of the summarizer that needs no model.
const BUILT_IN_SUMMARIZER: &str = "extractive";

/// Characters of a session's id.
const SESSION_CHARS: usize = 8;

/// Sessions listed; if there are more, the latest.
const SESSIONS_SHOWN: usize = 5;

/// Characters shown of an event before or after the source.
const NEIGHBOR_CHARS: usize = 160;

/// Characters shown of the source's own event, on each side of the excerpt.
const CONTEXT_CHARS: usize = 600;

/// Prints a node with at most `children_max` children; 0 for all.
pub fn print_node(
    out: &mut dyn Write,
    screen: &Screen,
    node: &v1::Node,
    children_max: u32,
) -> std::io::Result<()> {
    print_summary(out, screen, node)?;
    if node.children.is_empty() {
        return print_commands(out, screen, node);
    }
    let shown = if children_max == 0 { usize::MAX } else { children_max as usize };
    let hidden = node.children.len().saturating_sub(shown);
    writeln!(out)?;
    if hidden > 0 {
        writeln!(out, "  {DIM}… {hidden} earlier; -n 0 shows all{RESET}")?;
    }
    let mut children = node.children.iter().skip(hidden);
    children.try_for_each(|below| tree::print_entry(out, screen, below, 1, true))?;
    print_commands(out, screen, node)
}

/// Prints the commands that read the session of a node, and that open a number.
fn print_commands(out: &mut dyn Write, screen: &Screen, node: &v1::Node) -> std::io::Result<()> {
    let mut commands = Vec::new();
    if let [session] = node.sessions.as_slice() {
        commands.push(format!("Read it: tome read {}", shorten_session(session)));
    }
    // The last one is the answer.
    let number = node.bullets.iter().find_map(|bullet| bullet.numbers.last());
    let number = number.or_else(|| node.title_numbers.first());
    commands.extend(number.map(|number| {
        format!("Open a number: tome show {number}{}", screen.projects.flag(&node.project))
    }));
    if commands.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    print_styled(out, DIM, 0, &commands.join(" · "), screen.prose_width())
}

fn shorten_session(id: &str) -> String {
    one_line(id, 60).chars().take(SESSION_CHARS).collect()
}

/// Prints a node without its children.
pub fn print_summary(out: &mut dyn Write, screen: &Screen, node: &v1::Node) -> std::io::Result<()> {
    let width = screen.prose_width();
    print_styled(out, BOLD, 0, &node.title, width)?;
    let cited = match node.bullets.as_slice() {
        [] => render_numbers(&node.title_numbers),
        _ => String::new(),
    };
    let project = screen.projects.name(&node.project);
    let id = match node.level.as_str() {
        "segment" => format!("  {}", shorten_node_id(&node.id)),
        _ => String::new(),
    };
    writeln!(out, "{}  {DIM}{project}{id}{RESET}{cited}\n", node.period)?;
    for bullet in &node.bullets {
        print_bullet(out, screen, &node.level, bullet)?;
    }
    if !node.bullets.is_empty() {
        writeln!(out)?;
    }
    print_fields(out, screen, node, width)
}

/// Prints a node among those of other projects: its project, title and bullets.
pub fn print_brief(out: &mut dyn Write, screen: &Screen, node: &v1::Node) -> std::io::Result<()> {
    let width = screen.prose_width();
    let sessions = format_counted(node.session_count, "session", "sessions");
    let project = screen.projects.name(&node.project);
    writeln!(out, "{BOLD}{project}{RESET}  {DIM}{sessions}{RESET}")?;
    print_hanging(out, "  ", 2, &node.title, width)?;
    node.bullets.iter().try_for_each(|bullet| print_bullet(out, screen, &node.level, bullet))
}

/// Prints a bullet with its time and the numbers of the events that support it.
fn print_bullet(
    out: &mut dyn Write,
    screen: &Screen,
    level: &str,
    bullet: &v1::Bullet,
) -> std::io::Result<()> {
    let changed = match bullet.changed_by {
        0 => String::new(),
        number => format!(" (files changed again in #{number})"),
    };
    let text =
        format!("{}{}{changed}", one_line(&bullet.text, 400), render_numbers(&bullet.numbers));
    let (mark, indent) = match screen.labels.bullet_label(level, bullet.at_ms) {
        Some(label) => (format!("  {DIM}{label}{RESET}  "), label.chars().count() + 4),
        None => ("  • ".to_owned(), 4),
    };
    let width = screen.prose_width();
    print_hanging(out, &mark, indent, &text, width)?;
    if bullet.unsupported {
        writeln!(out, "{}{YELLOW}not supported by any event{RESET}", " ".repeat(indent))
    } else {
        Ok(())
    }
}

/// The numbers of events, each after a space.
fn render_numbers(numbers: &[u64]) -> String {
    numbers.iter().map(|number| format!(" #{number}")).collect()
}

fn print_fields(
    out: &mut dyn Write,
    screen: &Screen,
    node: &v1::Node,
    width: usize,
) -> std::io::Result<()> {
    let mut field = |name: &str, value: &str| match value {
        "" => Ok(()),
        value => print_hanging(out, &format!("{DIM}{name:<9}{RESET} "), 10, value, width),
    };
    let hidden = node.session_count.saturating_sub(SESSIONS_SHOWN as u64);
    let latest = node.sessions.iter().rev().take(SESSIONS_SHOWN);
    let mut sessions: Vec<String> = latest.map(|id| shorten_session(id)).collect();
    sessions.reverse();
    if hidden > 0 {
        sessions.insert(0, format!("{hidden} more,"));
    }
    field("keywords", &replace_control_chars(&node.keywords.join(", ")))?;
    field("when", &screen.labels.format_period(screen.now, node.first_at_ms, node.last_at_ms))?;
    field("agents", &node.agents.join(", "))?;
    let events = format_counted(node.events, "event", "events");
    field("sessions", &format!("{} ({}), {events}", node.session_count, sessions.join(" ")))?;
    // The built-in summarizer needs no mention.
    match node.summarizer.as_str() {
        BUILT_IN_SUMMARIZER => Ok(()),
        model => field("summary", &format!("by {}", one_line(model, 80))),
    }
}

/// Prints a source: its excerpt highlighted in its event, with the events before and after.
pub fn print_grip(
    out: &mut dyn Write,
    labels: &TimeLabels,
    grip: &v1::Grip,
    project: &str,
    (before, events, after): (&[Event], &[Event], &[Event]),
) -> std::io::Result<()> {
    writeln!(out, "{BOLD}{}{RESET}\n", replace_control_chars(&grip.excerpt))?;
    for (name, value) in [
        ("source", grip.id.as_str()),
        ("at", &format!("{} ({})", labels.format_second(grip.at_ms), grip.kind)),
        ("in", &grip.node_id),
        ("project", project),
    ] {
        writeln!(out, "{DIM}{name:<9}{RESET} {value}")?;
    }
    writeln!(out)?;
    before.iter().try_for_each(|event| print_neighbor(out, labels, event))?;
    for event in events {
        print_heading(out, labels, event, "→")?;
        let text = highlight_excerpt(event, &grip.excerpt);
        text.lines().try_for_each(|line| writeln!(out, "    {line}"))?;
    }
    after.iter().try_for_each(|event| print_neighbor(out, labels, event))
}

fn print_heading(
    out: &mut dyn Write,
    labels: &TimeLabels,
    event: &Event,
    mark: &str,
) -> std::io::Result<()> {
    let id: String = event.id.as_str().chars().take(8).collect();
    let (at, agent, kind) = (labels.format_second(event.at.0), &event.agent, &event.kind);
    writeln!(out, "{mark} {DIM}{at}  {agent}  {kind}  {id}{RESET}")
}

fn print_neighbor(out: &mut dyn Write, labels: &TimeLabels, event: &Event) -> std::io::Result<()> {
    print_heading(out, labels, event, " ")?;
    writeln!(
        out,
        "    {DIM}{}{RESET}",
        one_line(&tome_terminal::summarize_event(event), NEIGHBOR_CHARS)
    )
}

/// Returns the event's text with the excerpt highlighted, cut to `CONTEXT_CHARS` on each side.
fn highlight_excerpt(event: &Event, excerpt: &str) -> String {
    let texts: Vec<_> = tome_contents::event_texts(event).collect();
    let found = texts.iter().find_map(|text| text.split_once(excerpt));
    let Some((before, after)) = found else {
        return replace_control_chars(&tome_terminal::summarize_event(event));
    };
    let kept_before = before.chars().count().saturating_sub(CONTEXT_CHARS);
    let open = if kept_before > 0 { "…" } else { "" };
    let close = if after.chars().count() > CONTEXT_CHARS { "…" } else { "" };
    let before: String = before.chars().skip(kept_before).collect();
    let after: String = after.chars().take(CONTEXT_CHARS).collect();
    let (before, words, after) = (
        replace_control_chars(&before),
        replace_control_chars(excerpt),
        replace_control_chars(&after),
    );
    format!("{open}{before}{GREEN}{words}{RESET}{after}{close}")
}
