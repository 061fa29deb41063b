//! Prints one node, or one source with the events around it.

use std::io::Write;

use tome_model::Event;
use tome_proto::v1;
use tome_terminal::{
    BOLD, DIM, GREEN, RESET, YELLOW, format_counted, one_line, print_hanging, print_styled,
    replace_control_chars, truncate_end, wrap_code,
};

use super::tree::{self, shorten_node_id};
use crate::command::screen::Screen;
use crate::command::session_lookup::shorten_session;

/// The name of the summarizer that needs no model.
const BUILT_IN_SUMMARIZER: &str = "extractive";

/// Sessions listed; if there are more, the latest.
const SESSIONS_SHOWN: usize = 5;

/// Characters shown of an event before or after the source.
const NEIGHBOR_CHARS: usize = 160;

/// Characters shown of the source's own event, on each side of the excerpt.
const CONTEXT_CHARS: usize = 600;

/// Marks of an excerpt in a text that is still to be wrapped: private characters of no font.
const EXCERPT_START: char = '\u{e000}';
const EXCERPT_END: char = '\u{e001}';

/// Columns before the text of an event, and of its lines at least.
const TEXT_INDENT: usize = 4;
const EXCERPT_COLUMNS_MIN: usize = 20;

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

/// A source with the events around it.
pub struct ShownSource<'a> {
    pub grip: &'a v1::Grip,
    pub project: &'a str,
    pub before: &'a [Event],
    /// The events of the source itself.
    pub from: &'a [Event],
    pub after: &'a [Event],
}

/// Prints a source: its excerpt highlighted in its event, with the events before and after. Ids are
/// whole if `is_verbose`.
pub fn print_grip(
    out: &mut dyn Write,
    screen: &Screen,
    source: &ShownSource<'_>,
    is_verbose: bool,
) -> std::io::Result<()> {
    let ShownSource { grip, project, before, from, after } = source;
    let labels = &screen.labels;
    print_styled(out, BOLD, 0, &grip.excerpt, screen.line_width())?;
    writeln!(out)?;
    let mut field = |name: &str, value: &str| writeln!(out, "{DIM}{name:<9}{RESET} {value}");
    if is_verbose {
        field("source", &grip.id)?;
        field("at", &format!("{} ({})", labels.format_second(grip.at_ms), grip.kind))?;
        field("in", &grip.node_id)?;
        field("project", project)?;
    } else {
        let at = labels.format_date_hour(screen.now, grip.at_ms);
        field("at", &format!("{at} ({})", grip.kind))?;
        field("in", &shorten_node_id(&grip.node_id))?;
        field("project", &screen.projects.name(project))?;
    }
    writeln!(out)?;
    before.iter().try_for_each(|event| print_neighbor(out, screen, event))?;
    for event in *from {
        print_heading(out, screen, event, "→")?;
        print_excerpt(out, screen, event, &grip.excerpt)?;
    }
    after.iter().try_for_each(|event| print_neighbor(out, screen, event))
}

/// Prints the text of an event with the excerpt highlighted, in lines that fit.
fn print_excerpt(
    out: &mut dyn Write,
    screen: &Screen,
    event: &Event,
    excerpt: &str,
) -> std::io::Result<()> {
    let room = screen.line_width().saturating_sub(TEXT_INDENT).max(EXCERPT_COLUMNS_MIN);
    let marked = mark_excerpt(event, excerpt);
    let mut is_inside = false;
    for line in marked.lines().flat_map(|line| wrap_code(line, room)) {
        let mut styled = String::from(if is_inside { GREEN } else { "" });
        for c in line.chars() {
            match c {
                EXCERPT_START => styled.push_str(GREEN),
                EXCERPT_END => styled.push_str(RESET),
                c => styled.push(c),
            }
            is_inside = (is_inside || c == EXCERPT_START) && c != EXCERPT_END;
        }
        let end = if is_inside { RESET } else { "" };
        writeln!(out, "{:TEXT_INDENT$}{styled}{end}", "")?;
    }
    Ok(())
}

fn print_heading(
    out: &mut dyn Write,
    screen: &Screen,
    event: &Event,
    mark: &str,
) -> std::io::Result<()> {
    let at = screen.labels.format_date_hour(screen.now, event.at.0);
    writeln!(out, "{mark} {DIM}{at}  {}  {}{RESET}", event.agent, event.kind)
}

fn print_neighbor(out: &mut dyn Write, screen: &Screen, event: &Event) -> std::io::Result<()> {
    print_heading(out, screen, event, " ")?;
    let room = screen.line_width().saturating_sub(TEXT_INDENT).clamp(20, NEIGHBOR_CHARS);
    let gist = one_line(&tome_terminal::summarize_event(event), NEIGHBOR_CHARS);
    writeln!(out, "{:TEXT_INDENT$}{DIM}{}{RESET}", "", truncate_end(&gist, room))
}

/// Returns the event's text with the excerpt between marks, cut to `CONTEXT_CHARS` on each side.
fn mark_excerpt(event: &Event, excerpt: &str) -> String {
    let clean = |text: &str| {
        let text = replace_control_chars(text);
        text.replace([EXCERPT_START, EXCERPT_END], " ")
    };
    let texts: Vec<_> = tome_contents::event_texts(event).collect();
    let found = texts.iter().find_map(|text| text.split_once(excerpt));
    let Some((before, after)) = found else {
        return clean(&tome_terminal::summarize_event(event));
    };
    let kept_before = before.chars().count().saturating_sub(CONTEXT_CHARS);
    let open = if kept_before > 0 { "…" } else { "" };
    let close = if after.chars().count() > CONTEXT_CHARS { "…" } else { "" };
    let before: String = before.chars().skip(kept_before).collect();
    let after: String = after.chars().take(CONTEXT_CHARS).collect();
    let (before, words, after) = (clean(&before), clean(excerpt), clean(&after));
    format!("{open}{before}{EXCERPT_START}{words}{EXCERPT_END}{after}{close}")
}
