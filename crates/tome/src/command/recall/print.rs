//! Prints hits for people and agents:
//!
//! ```text
//! 2 hits for unicode identifiers
//!
//!  1  #12  Nov 15, 09:31  user
//!     Please make it accept unicode identifiers.
//!     answered #17: Identifiers now follow the XID rules.
//!     newer #40 (Nov 18): Accept emoji in identifiers, too.
//!
//!  2  memory/lexer.md#L3  Nov 16, 10:00
//!     Identifiers follow the XID rules.
//!
//! tome show 12 opens #12 with the turn around it
//! ```
//!
//! Hits of one turn are listed below the first of them.

use std::collections::BTreeSet;
use std::io::Write;

use tome_model::Millis;
use tome_proto::v1;
use tome_terminal::{
    BOLD, DIM, GREEN, Highlighter, RESET, YELLOW, display_width, format_count, format_counted,
    name_side, one_line, print_hanging, print_styled, replace_control_chars, truncate_end,
    truncate_start, wrap_lines,
};

use super::{QUERY_CHARS_MAX, explain, render_command};
use crate::command::project_name::ProjectNames;
use crate::command::shell_word::quote_shell;
use crate::command::time_labels::TimeLabels;
use crate::command::toc::{GRIP_PREFIX, NODE_PREFIX, typed_period};

const INDENT: &str = "    ";

/// Characters of a hit in a timeline.
const TIMELINE_CHARS_MAX: usize = 220;
/// Characters of a standing instruction below the hits.
const INSTRUCTION_CHARS_MAX: usize = 200;
/// Characters of a topic's label.
const TOPIC_CHARS_MAX: usize = 80;

/// Line length limits for snippets, whatever the width of the terminal.
const LINE_CHARS_MAX: usize = 100;
const LINE_CHARS_MIN: usize = 30;

const TITLE_CHARS_MAX: usize = 60;
const TITLE_CHARS_MIN: usize = 20;
/// The branch of a hit.
const BRANCH_CHARS_MAX: usize = 30;
/// The project of a hit elsewhere.
const PROJECT_CHARS_MAX: usize = 60;
const PROJECT_CHARS_MIN: usize = 24;

/// Everything that rendering a response needs.
pub struct ResponsePrinter<'a> {
    pub request: &'a v1::RecallRequest,
    pub labels: &'a TimeLabels,
    pub now: Millis,
    pub projects: &'a ProjectNames,
    /// The `--project` argument for the suggested `tome show` command.
    pub show_project: Option<String>,
    /// Flags of the command that a repetition needs.
    pub repeat: Vec<String>,
    /// The flags that leave out hits, as typed.
    pub filters: Vec<(&'static str, String)>,
    /// Hits without those flags, if there are none with them.
    pub unfiltered: Option<u64>,
    /// Terminal width in characters.
    pub width: usize,
    pub explain: bool,
}

impl ResponsePrinter<'_> {
    pub fn print(&self, out: &mut dyn Write, answer: &v1::RecallResponse) -> std::io::Result<()> {
        let turns = group_by_turn(&answer.hits);
        let count = turns.len() as u64;
        let hits = match self.request.skip {
            0 => format_counted(count, "hit", "hits"),
            _ => format_counted(count, "more hit", "more hits"),
        };
        let weak = match (answer.confidence.as_str(), count) {
            ("weak", 1) => ", a weak match,",
            ("weak", _) => ", none of which stands out,",
            _ => "",
        };
        writeln!(out, "{BOLD}{hits}{RESET}{weak} for {}", self.shown_query())?;
        let marks = if self.request.regex {
            Highlighter::disabled()
        } else {
            Highlighter::from_query(&self.request.query)
        };
        for (number, turn) in (1..).zip(turns) {
            if self.request.sort != "time" {
                writeln!(out)?;
            }
            self.print_turn(out, number, &turn, &marks)?;
        }
        writeln!(out)?;
        self.print_footer(out, answer)
    }

    /// Prints that there are no hits, and which other projects have some.
    pub fn print_no_hits(
        &self,
        out: &mut dyn Write,
        answer: &v1::RecallResponse,
    ) -> std::io::Result<()> {
        if self.request.limit == Some(0) {
            return writeln!(out, "No results: --limit is 0");
        }
        if self.request.skip > 0 {
            return writeln!(out, "No more hits for {}", self.shown_query());
        }
        let project = &self.request.project;
        let scope = match self.request.across.as_str() {
            "session" => format!(" in session {}", self.request.session_id),
            "all" => String::new(),
            _ if project.is_empty() => String::new(),
            _ => format!(" in {}", self.projects.name(project)),
        };
        let filters = self.describe_filters();
        writeln!(out, "No results: nothing relevant to {}{scope}{filters}", self.shown_query())?;
        let without = if self.filters.len() == 1 { "it" } else { "them" };
        match self.unfiltered {
            Some(0) => writeln!(out, "and nothing without {without}")?,
            Some(hits) => {
                let hits = format_counted(hits, "hit", "hits");
                let again = self.render_unfiltered();
                writeln!(out, "{hits} without {without}: {again}")?;
            }
            None => {}
        }
        for other in &answer.elsewhere {
            let hits = format_counted(other.hits, "hit", "hits");
            let flags = format!("--project {}", self.projects.argument(&other.project));
            let again = render_command(&self.request.query, &flags);
            writeln!(out, "project {} has {hits}: {again}", self.projects.name(&other.project))?;
        }
        if answer.elsewhere.is_empty() && !scope.is_empty() {
            writeln!(out, "--all-projects searches all projects")?;
        }
        self.print_search_info(out, answer)
    }

    /// Such as ` with --since 'last week' (Nov 9, 2026) --agent codex`; empty without filters.
    fn describe_filters(&self) -> String {
        let moment = |flag: &str| match flag {
            "--since" => self.request.from_ms,
            "--until" => self.request.to_ms,
            _ => None,
        };
        let each = self.filters.iter().map(|(flag, value)| {
            let day = moment(flag).map(|at| self.labels.format_iso_date(at));
            let day = day.filter(|day| day != value).map(|day| format!(" ({day})"));
            format!("{flag} {}{}", quote_shell(value), day.unwrap_or_default())
        });
        let each: Vec<String> = each.collect();
        if each.is_empty() { String::new() } else { format!(" with {}", each.join(" ")) }
    }

    /// The same command without the filters.
    fn render_unfiltered(&self) -> String {
        let is_filter = |flag: &str| self.filters.iter().any(|(name, _)| *name == flag);
        let mut kept = Vec::new();
        let mut flags = self.repeat.iter();
        while let Some(flag) = flags.next() {
            if is_filter(flag) {
                flags.next();
            } else {
                kept.push(quote_shell(flag));
            }
        }
        render_command(&self.request.query, &kept.join(" "))
    }

    fn shown_query(&self) -> String {
        one_line(&self.request.query, QUERY_CHARS_MAX)
    }

    /// Prints a hit and the further hits of its turn.
    fn print_turn(
        &self,
        out: &mut dyn Write,
        number: usize,
        turn: &[&v1::RecallHit],
        marks: &Highlighter,
    ) -> std::io::Result<()> {
        let Some((first, rest)) = turn.split_first() else { return Ok(()) };
        let id = shorten_hit_id(split_project(&first.id).1);
        let room = self.width.saturating_sub(8 + display_width(&id));
        let kept = TITLE_CHARS_MIN.min(display_width(&first.title));
        let about = self.render_details(first, room.saturating_sub(kept));
        let room = room.saturating_sub(display_width(&about)).max(TITLE_CHARS_MIN);
        let title = match first.title.as_str() {
            "" => String::new(),
            title => {
                let title = truncate_end(&one_line(title, TITLE_CHARS_MAX), room);
                format!("  {BOLD}{title}{RESET}")
            }
        };
        writeln!(out, "{BOLD}{number:>2}{RESET}  {GREEN}{id}{RESET}{title}  {DIM}{about}{RESET}")?;
        let is_shown = |part: &v1::TurnPart| {
            let id = format!("#{}", part.number);
            turn.iter().any(|hit| split_project(&hit.id).1 == id)
        };
        if self.request.sort == "time" {
            // A timeline is read for its order: one short text each.
            for (i, hit) in turn.iter().enumerate() {
                let text = tome_text::truncate_words(&hit.text, TIMELINE_CHARS_MAX);
                let label = match i {
                    0 => String::new(),
                    _ => format!(
                        "{} {}: ",
                        split_project(&hit.id).1,
                        name_side(&hit.kind, &hit.agent)
                    ),
                };
                self.print_text(out, &label, &text, marks)?;
            }
            let answer = turn.iter().find_map(|hit| hit.answer.as_ref());
            return match answer.filter(|part| !is_shown(part)) {
                Some(answer) => {
                    let text = tome_text::truncate_words(&answer.text, TIMELINE_CHARS_MAX);
                    self.print_text(out, &format!("answered #{}: ", answer.number), &text, marks)
                }
                None => Ok(()),
            };
        }
        self.print_text(out, "", &first.text, marks)?;
        if let Some(prompt) = first.prompt.as_ref().filter(|prompt| !is_shown(prompt)) {
            self.print_text(out, &format!("asked #{}: ", prompt.number), &prompt.text, marks)?;
        }
        for hit in rest {
            let side = name_side(&hit.kind, &hit.agent);
            let id = split_project(&hit.id).1;
            self.print_text(out, &format!("{id} {side}: "), &hit.text, marks)?;
        }
        let last = rest.last().unwrap_or(first);
        if let Some(answer) = last.answer.as_ref().filter(|part| !is_shown(part)) {
            let label = format!("answered #{}: ", answer.number);
            self.print_text(out, &label, &answer.text, marks)?;
        }
        let mut listed = BTreeSet::new();
        let others = turn.iter().flat_map(|hit| &hit.others);
        for other in others.filter(|other| listed.insert((&other.relation, other.number))) {
            let day = self.labels.format_day(self.now, other.at_ms);
            let label = format!("{} #{} ({day}): ", other.relation, other.number);
            self.print_text(out, &label, &other.text, marks)?;
        }
        if self.explain {
            for hit in turn {
                writeln!(out, "{INDENT}{DIM}{}{RESET}", explain::render_ranks(hit))?;
            }
        }
        Ok(())
    }

    /// Prints a text in lines, after a label.
    fn print_text(
        &self,
        out: &mut dyn Write,
        label: &str,
        text: &str,
        marks: &Highlighter,
    ) -> std::io::Result<()> {
        let room = self.width.saturating_sub(INDENT.len()).clamp(LINE_CHARS_MIN, LINE_CHARS_MAX);
        let labelled = format!("{label}{text}");
        let lines = labelled.lines().flat_map(|line| wrap_item(&replace_control_chars(line), room));
        for (i, line) in lines.enumerate() {
            let text = line.strip_prefix(label).filter(|_| i == 0 && !label.is_empty());
            match text {
                Some(text) => {
                    writeln!(out, "{INDENT}{DIM}{label}{RESET}{}", marks.highlight(text))?;
                }
                None => writeln!(out, "{INDENT}{}", marks.highlight(&line))?,
            }
        }
        Ok(())
    }

    /// Renders time, speaker and, if it is another one, the end of the project's path that fits.
    fn render_details(&self, hit: &v1::RecallHit, width: usize) -> String {
        // The id of a period is its time.
        let is_period = matches!(hit.kind.as_str(), "day" | "week" | "month" | "year");
        let when = hit.at_ms.filter(|_| !is_period);
        let when = when.map(|ms| self.labels.format_date_hour(self.now, ms));
        let non_empty = |text: String| Some(text).filter(|text| !text.is_empty());
        let project =
            non_empty(hit.project.clone()).filter(|project| *project != self.request.project);
        let project = project.map(|project| self.projects.name(&project));
        // Most hits are strong; only weaker ones are labelled.
        let sure = non_empty(hit.confidence.clone()).filter(|word| word != "strong");
        let branch = non_empty(truncate_end(&one_line(&hit.branch, BRANCH_CHARS_MAX), width / 3));
        let details: Vec<String> =
            [when, non_empty(name_side(&hit.kind, &hit.agent)), sure, branch]
                .into_iter()
                .flatten()
                .map(|one| replace_control_chars(&one))
                .collect();
        let details = details.join("  ");
        let room = width.saturating_sub(display_width(&details) + 2).max(PROJECT_CHARS_MIN);
        match project.map(|project| truncate_start(&project, room.min(PROJECT_CHARS_MAX))) {
            Some(project) => format!("{details}  {project}"),
            None => details,
        }
    }

    fn print_footer(
        &self,
        out: &mut dyn Write,
        answer: &v1::RecallResponse,
    ) -> std::io::Result<()> {
        for instruction in &answer.instructions {
            let day = self.labels.format_day(self.now, instruction.at_ms);
            let text = one_line(&instruction.text, INSTRUCTION_CHARS_MAX);
            writeln!(
                out,
                "{YELLOW}Standing instruction{RESET} #{} ({day}): {text}",
                instruction.number
            )?;
        }
        if !answer.topic_id.is_empty() {
            let (label, id) = (one_line(&answer.topic_label, TOPIC_CHARS_MAX), &answer.topic_id);
            writeln!(out, "Also in topic {label}: tome topics show {}", one_line(id, 40))?;
        }
        if answer.more > 0 {
            let more =
                format!("{} more: {}", format_count(answer.more), self.hint_for_more(answer));
            print_hanging(out, "", 0, &more, self.width)?;
        }
        self.print_search_info(out, answer)?;
        if let Some(first) = answer.hits.first() {
            let (is_elsewhere, id) = split_project(&first.id);
            let number = id.strip_prefix('#');
            let flags = match &self.show_project {
                Some(typed) => format!(" --project {}", quote_shell(typed)),
                None if is_elsewhere => {
                    format!(" --project {}", self.projects.argument(&first.project))
                }
                None => String::new(),
            };
            let opens = match number {
                Some(number) => {
                    let words = self.words_to_mark();
                    format!("tome show {number}{words}{flags} opens {id} with the turn around it")
                }
                None if id.starts_with(NODE_PREFIX) => {
                    let period = typed_period(id);
                    format!("tome toc {period}{flags} opens the first")
                }
                None => format!("tome show {}{flags} opens the first", quote_citation(id)),
            };
            print_styled(out, DIM, 0, &opens, self.width)?;
        }
        Ok(())
    }

    /// The query as an argument of `tome show`, which marks it in the text. A long one is left out, and so is a
    /// regular expression.
    fn words_to_mark(&self) -> String {
        const WORDS_CHARS_MAX: usize = 60;
        let query = self.request.query.trim();
        let is_short = query.chars().count() <= WORDS_CHARS_MAX && !query.contains('\n');
        match is_short && !self.request.regex && self.request.sort != "time" {
            true => format!(" {}", quote_shell(&replace_control_chars(query))),
            false => String::new(),
        }
    }

    fn hint_for_more(&self, answer: &v1::RecallResponse) -> String {
        let next = answer.next;
        let flags = self.repeat.iter().map(|flag| quote_shell(flag)).collect::<Vec<_>>().join(" ");
        let skip = format!("--skip {next} {flags}");
        render_command(&self.request.query, skip.trim_end())
    }

    /// Prints the preferred time range, the state of the index and the tier.
    fn print_search_info(
        &self,
        out: &mut dyn Write,
        answer: &v1::RecallResponse,
    ) -> std::io::Result<()> {
        if !answer.time.is_empty() {
            writeln!(
                out,
                "{DIM}Time in the query: {}{RESET}",
                one_line(&answer.time, QUERY_CHARS_MAX)
            )?;
        }
        if answer.behind > 0 && (self.explain || !answer.unread.is_empty()) {
            let behind = format_counted(answer.behind, "event", "events");
            let looked =
                if answer.unread.is_empty() { "; those events were scanned directly" } else { "" };
            writeln!(out, "{YELLOW}The index is {behind} behind{looked}{RESET}")?;
        }
        if self.explain {
            let matched = match answer.tier.as_str() {
                "fused" => "keywords and meaning",
                "bm25" => "keywords",
                "vectors" => "meaning",
                "literal" => "a text scan",
                other => other,
            };
            writeln!(out, "{DIM}Matched by {matched}{RESET}")?;
        }
        Ok(())
    }
}

/// Splits a citation into whether it names another project, and the rest, which is relative to that
/// project.
pub fn split_project(citation: &str) -> (bool, &str) {
    let rest = citation.strip_prefix("projects/").and_then(|rest| rest.split_once('/'));
    rest.map_or((false, citation), |(_, rest)| (true, rest))
}

/// Wraps a line; the item of a list hangs below its text.
fn wrap_item(line: &str, width: usize) -> Vec<String> {
    const MARK: &str = "- ";
    match line.strip_prefix(MARK) {
        Some(item) => wrap_lines(item, width.saturating_sub(MARK.len()))
            .into_iter()
            .enumerate()
            .map(|(at, part)| format!("{}{part}", if at == 0 { MARK } else { "  " }))
            .collect(),
        None => wrap_lines(line, width),
    }
}

/// The id of a hit as it is shown: what people type for a period or a segment, and the beginning of
/// the id of a source, which is enough to open it.
fn shorten_hit_id(id: &str) -> String {
    let shown = if id.starts_with(NODE_PREFIX) {
        typed_period(id)
    } else if let Some(rest) = id.strip_prefix(GRIP_PREFIX) {
        let number = rest.split(':').next().unwrap_or(rest);
        format!("{GRIP_PREFIX}{number}")
    } else {
        id.to_owned()
    };
    replace_control_chars(&shown)
}

/// Quotes a citation for a shell. A `#` inside a word needs no quotes.
fn quote_citation(citation: &str) -> String {
    let citation = replace_control_chars(citation);
    let is_plain = citation.split('#').all(|part| quote_shell(part) == part);
    if is_plain { citation } else { quote_shell(&citation) }
}

/// Groups hits by their turn, in the order of the first of each.
fn group_by_turn(hits: &[v1::RecallHit]) -> Vec<Vec<&v1::RecallHit>> {
    let mut turns: Vec<Vec<&v1::RecallHit>> = Vec::new();
    for hit in hits {
        let same = |turn: &&mut Vec<&v1::RecallHit>| {
            turn.first().is_some_and(|first| {
                hit.turn > 0
                    && first.turn == hit.turn
                    && first.project == hit.project
                    && first.session_id == hit.session_id
            })
        };
        match turns.iter_mut().find(same) {
            Some(turn) => turn.push(hit),
            None => turns.push(vec![hit]),
        }
    }
    turns
}
