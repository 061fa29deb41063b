//! The page of a topic or of a file.

use std::io::Write;

use tome_proto::v1;
use tome_terminal::{
    BOLD, DIM, RESET, YELLOW, display_width, format_counted, one_line, truncate_end,
    truncate_start, wrap_lines,
};

use super::{LINES_SHOWN, format_days};
use crate::command::screen::Screen;

/// Prints the page of a topic or of a file.
pub struct PagePrinter<'a> {
    pub out: &'a mut dyn Write,
    pub screen: &'a Screen,
    /// The root of the project.
    pub project: &'a str,
    /// Entries shown.
    pub limit: usize,
}

impl PagePrinter<'_> {
    pub fn print(&mut self, page: &v1::GetTopicPageResponse) -> std::io::Result<()> {
        self.print_head(page)?;
        self.print_facts("Decided", &page.decisions)?;
        self.print_problems(&page.problems)?;
        self.print_entries(page)?;
        self.print_facts("Outcomes and corrections", &page.statements)?;
        let commits = page.commits.iter().take(LINES_SHOWN).cloned().collect::<Vec<_>>();
        let kind = page.topic.as_ref().map_or("", |topic| topic.kind.as_str());
        let heading = match kind {
            "file" => "Commits after these changes",
            _ if page.entries.is_empty() => "Commits",
            _ => "Commits in the same turns",
        };
        self.print_facts(heading, &commits)?;
        if !page.files.is_empty() {
            writeln!(self.out, "\n{BOLD}Files{RESET}")?;
        }
        for file in page.files.iter().take(LINES_SHOWN) {
            let room = self.screen.prose_width().saturating_sub(2);
            let path = truncate_start(&one_line(&file.path, 400), room);
            writeln!(self.out, "  {path}")?;
        }
        self.print_hidden(page.files_total, page.files.len().min(LINES_SHOWN))?;
        if !page.related.is_empty() {
            writeln!(self.out, "\n{BOLD}Related{RESET}")?;
        }
        for related in &page.related {
            let topic = related.topic.clone().unwrap_or_default();
            let room = self.screen.prose_width().saturating_sub(display_width(&related.reason) + 4);
            let name = match topic.kind.as_str() {
                "group" => truncate_end(&format!("{}  {}", topic.id, topic.label), room.max(20)),
                _ => truncate_start(&topic.label, room.max(20)),
            };
            writeln!(self.out, "  {name}  {DIM}{}{RESET}", related.reason)?;
        }
        let example = page.entries.first().map(|entry| entry.number);
        let example = example.or(page.sessions.first().map(|session| session.number));
        match example {
            Some(number) => {
                let flag = self.screen.projects.flag(self.project);
                writeln!(self.out, "\n{DIM}Open a number: tome show {number}{flag}{RESET}")
            }
            None => Ok(()),
        }
    }

    fn print_head(&mut self, page: &v1::GetTopicPageResponse) -> std::io::Result<()> {
        let topic = page.topic.clone().unwrap_or_default();
        let project = self.screen.projects.name(self.project);
        let width = self.screen.prose_width();
        // The end of a path says most; the project is on a line of its own where both do not fit.
        let label = match topic.kind.as_str() {
            "file" | "folder" => truncate_start(&one_line(&topic.label, 200), width),
            _ => truncate_end(&one_line(&topic.label, 200), width),
        };
        if display_width(&label) + 2 + display_width(&project) <= width {
            writeln!(self.out, "{BOLD}{label}{RESET}  {DIM}{project}{RESET}")?;
        } else {
            writeln!(self.out, "{BOLD}{label}{RESET}")?;
            writeln!(self.out, "{DIM}{}{RESET}", truncate_start(&project, width))?;
        }
        if !topic.title.is_empty() && topic.title != topic.label {
            self.print_wrapped("", &one_line(&topic.title, 200), "")?;
        }
        if !page.forwarded_from.is_empty() {
            let (from, to) = (one_line(&page.forwarded_from, 80), one_line(&topic.id, 80));
            let to = to.strip_prefix("file:").unwrap_or(&to);
            self.print_wrapped(YELLOW, &format!("{from} is {to} now"), RESET)?;
        }
        if !page.former_names.is_empty() {
            let names = page.former_names.join(", ");
            self.print_wrapped(DIM, &format!("formerly {}", one_line(&names, 200)), RESET)?;
        }
        let days = format_counted(topic.days, "day", "days");
        let sessions = format_counted(topic.sessions, "session", "sessions");
        let span = format_days(self.screen, topic.first_at_ms, topic.last_at_ms);
        let agents = topic.agents.join(", ");
        self.print_wrapped(DIM, &format!("{days}, {sessions} · {span} · {agents}"), RESET)?;
        if page.weeks.len() > 1 {
            let bars = render_sparkline(&page.weeks);
            writeln!(self.out, "{DIM}by week {bars}{RESET}")?;
        }
        Ok(())
    }

    fn print_wrapped(&mut self, style: &str, text: &str, end: &str) -> std::io::Result<()> {
        let lines = wrap_lines(text, self.screen.prose_width());
        lines.iter().try_for_each(|line| writeln!(self.out, "{style}{line}{end}"))
    }

    fn print_entries(&mut self, page: &v1::GetTopicPageResponse) -> std::io::Result<()> {
        if page.entries.is_empty() {
            writeln!(self.out, "\n{BOLD}Sessions{RESET}")?;
            for session in page.sessions.iter().take(LINES_SHOWN) {
                let id: String = session.id.chars().take(8).collect();
                let day = self.screen.labels.format_day(self.screen.now, session.last_at_ms);
                let head = format!("{day} · {} {id}", session.agent);
                self.print_cited(&head, "", &session.title, session.number)?;
            }
            return self.print_hidden(page.sessions_total, page.sessions.len().min(LINES_SHOWN));
        }
        let is_file = page.topic.as_ref().is_some_and(|topic| topic.kind == "file");
        writeln!(self.out, "\n{BOLD}{}{RESET}", if is_file { "Changes" } else { "Turns" })?;
        for entry in page.entries.iter().take(self.limit) {
            let id: String = entry.session.chars().take(8).collect();
            let day = self.screen.labels.format_day(self.screen.now, entry.at_ms);
            let head = format!("{day} · {} {id}", entry.agent);
            self.print_cited(&head, &entry.detail, &entry.why, entry.number)?;
        }
        self.print_hidden(page.entries_total, page.entries.len().min(self.limit))
    }

    fn print_hidden(&mut self, all: u64, shown: usize) -> std::io::Result<()> {
        match all.saturating_sub(shown as u64) {
            0 => Ok(()),
            hidden => writeln!(self.out, "  {DIM}… {hidden} more; --json lists them{RESET}"),
        }
    }

    /// A line of who and when and what came of it, and below it a text with its citation.
    fn print_cited(
        &mut self,
        head: &str,
        detail: &str,
        text: &str,
        number: u64,
    ) -> std::io::Result<()> {
        let room = self.screen.prose_width().saturating_sub(2);
        let head = truncate_end(&one_line(head, 200), room);
        let whole = format!("{head} · {}", one_line(detail, 200));
        if detail.is_empty() {
            writeln!(self.out, "  {DIM}{head}{RESET}")?;
        } else if display_width(&whole) <= room {
            writeln!(self.out, "  {DIM}{whole}{RESET}")?;
        } else {
            writeln!(self.out, "  {DIM}{head} ·{RESET}")?;
            for line in wrap_lines(&one_line(detail, 200), room.saturating_sub(2)) {
                writeln!(self.out, "    {DIM}{line}{RESET}")?;
            }
        }
        self.print_text("    ", text, number)
    }

    fn print_text(&mut self, indent: &str, text: &str, number: u64) -> std::io::Result<()> {
        let room = self.screen.prose_width().saturating_sub(indent.chars().count()).max(20);
        let lines = wrap_lines(&format!("{} #{number}", one_line(text, 400)), room);
        for (i, line) in lines.iter().enumerate() {
            let first = if i == 0 { indent } else { "    " };
            writeln!(self.out, "{first}{line}")?;
        }
        Ok(())
    }

    fn print_facts(&mut self, heading: &str, facts: &[v1::TopicFact]) -> std::io::Result<()> {
        if facts.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "\n{BOLD}{heading}{RESET}")?;
        facts.iter().try_for_each(|fact| self.print_text("  • ", &fact.text, fact.number))
    }

    fn print_problems(&mut self, problems: &[v1::TopicFact]) -> std::io::Result<()> {
        if problems.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "\n{BOLD}Problems{RESET}")?;
        for problem in problems {
            let text = match problem.state.as_str() {
                "fixed" => problem.text.clone(),
                "open" if !problem.text.contains(" passed ") => {
                    format!("{} — not seen to pass since", problem.text)
                }
                "open" => problem.text.clone(),
                _ if problem.text.contains(" passed ") => {
                    format!("{} (#{})", problem.text, problem.passed_number)
                }
                _ => format!(
                    "{} — another run of it passed later #{}",
                    problem.text, problem.passed_number
                ),
            };
            self.print_text("  • ", &text, problem.number)?;
        }
        Ok(())
    }
}

/// Bars for the activity of each week, from a space to a full block.
fn render_sparkline(weeks: &[v1::TopicWeek]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = weeks.iter().map(|week| week.segments).max().unwrap_or(1).max(1);
    let bar = |segments: u64| {
        let height = (segments * 8).div_ceil(most).saturating_sub(1);
        usize::try_from(height).ok().and_then(|height| BARS.get(height)).copied().unwrap_or('█')
    };
    weeks.iter().map(|week| if week.segments == 0 { '·' } else { bar(week.segments) }).collect()
}
