//! Prints hits for people:
//!
//! ```text
//! 2 hits for unicode identifiers
//!
//!  1  messages  Sun 2026-11-15 09:31, 3 d ago · codex · user_message
//!     Please make it accept unicode identifiers.
//!     sessions/s1/messages.jsonl#L2
//!     1 more in this session: sessions/s1/messages.jsonl#L4
//!
//!  2  notes  Lexer  Mon 2026-11-16 10:00, 2 d ago
//!     Identifiers follow the XID rules.
//!     memory/lexer.md#L3
//!
//! Matched by keywords and meaning
//! Open the first: tome show sessions/s1/messages.jsonl#L2
//! ```

use std::io::Write;

use tome_model::Millis;
use tome_proto::limits::RECALL_HITS_MAX;
use tome_proto::v1;
use tome_terminal::{
    BOLD, DIM, GREEN, RESET, YELLOW, format_ago, format_count, format_counted, one_line,
    replace_control_chars, wrap_lines,
};

use super::highlight::Highlighter;
use super::{QUERY_CHARS_MAX, explain, render_command};
use crate::command::notebook_client::quote_shell;
use crate::command::toc::TimeLabels;

const INDENT: &str = "    ";

/// Line length limits for snippets, whatever the width of the terminal.
const LINE_CHARS_MAX: usize = 100;
const LINE_CHARS_MIN: usize = 30;

const TITLE_CHARS_MAX: usize = 60;
const SESSION_CHARS_MAX: usize = 12;

/// Prefixes of citations that are relative to the current session.
const RELATIVE_CITATIONS: [&str; 3] = ["messages.jsonl", "detail/", "overview.md"];

/// Further hits of the same session or file that are listed by citation.
const ALSO_MAX: usize = 3;

/// Everything that rendering a response needs.
pub struct ResponsePrinter<'a> {
    pub request: &'a v1::RecallRequest,
    pub labels: &'a TimeLabels,
    pub now: Millis,
    /// The `--project` argument for the suggested `tome show` command.
    pub show_project: Option<String>,
    /// Terminal width in characters.
    pub width: usize,
    pub explain: bool,
}

impl ResponsePrinter<'_> {
    pub fn print(&self, out: &mut dyn Write, answer: &v1::RecallResponse) -> std::io::Result<()> {
        let hits = format_counted(answer.hits.len() as u64, "hit", "hits");
        writeln!(out, "{BOLD}{hits}{RESET} for {}", self.shown_query())?;
        let marks = match self.request.regex {
            true => Highlighter::disabled(),
            false => Highlighter::from_query(&self.request.query),
        };
        for (number, hit) in (1..).zip(&answer.hits) {
            writeln!(out)?;
            self.print_hit(out, number, hit, &marks)?;
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
        let project = &self.request.project;
        let place = match self.request.across.as_str() {
            "session" => format!(" in session {}", self.request.session_id),
            "all" => String::new(),
            _ if project.is_empty() => String::new(),
            _ => format!(" in {project}"),
        };
        writeln!(out, "No results: nothing relevant to {}{place}", self.shown_query())?;
        for other in &answer.elsewhere {
            let hits = format_counted(other.hits, "hit", "hits");
            let flags = format!("--project {}", quote_shell(&other.project));
            let again = render_command(&self.request.query, &flags);
            writeln!(out, "project {} has {hits}: {again}", other.project)?;
        }
        if answer.elsewhere.is_empty() && !place.is_empty() {
            writeln!(out, "--all-projects searches all projects")?;
        }
        self.print_search_info(out, answer)
    }

    fn shown_query(&self) -> String {
        one_line(&self.request.query, QUERY_CHARS_MAX)
    }

    fn print_hit(
        &self,
        out: &mut dyn Write,
        number: usize,
        hit: &v1::RecallHit,
        marks: &Highlighter,
    ) -> std::io::Result<()> {
        let title = match hit.title.as_str() {
            "" => String::new(),
            title => format!("  {BOLD}{}{RESET}", one_line(title, TITLE_CHARS_MAX)),
        };
        let (source, about) = (&hit.source, self.render_details(hit));
        writeln!(
            out,
            "{BOLD}{number:>2}{RESET}  {GREEN}{source}{RESET}{title}  {DIM}{about}{RESET}"
        )?;
        let room = self.width.saturating_sub(INDENT.len()).clamp(LINE_CHARS_MIN, LINE_CHARS_MAX);
        for line in wrap_lines(&replace_control_chars(&hit.text), room) {
            writeln!(out, "{INDENT}{}", marks.highlight(&line))?;
        }
        writeln!(out, "{INDENT}{GREEN}{}{RESET}", quote_citation(&hit.citation))?;
        if !hit.also.is_empty() {
            writeln!(out, "{INDENT}{DIM}{}{RESET}", render_also(hit))?;
        }
        if self.explain {
            writeln!(out, "{INDENT}{DIM}{}{RESET}", explain::render_ranks(hit))?;
        }
        Ok(())
    }

    /// Renders time, agent, kind, session and project, leaving out what the request already fixes.
    fn render_details(&self, hit: &v1::RecallHit) -> String {
        let when = hit.at_ms.map(|ms| {
            format!("{}, {}", self.labels.format_minute(ms), format_ago(self.now, Millis(ms)))
        });
        let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let is_here = hit.session_id == self.request.session_id;
        let session = given(&hit.session_id).filter(|_| !is_here);
        let session = session.map(|id| format!("session {}", one_line(&id, SESSION_CHARS_MAX)));
        let project = given(&hit.project).filter(|project| *project != self.request.project);
        let all = [when, given(&hit.agent), given(&hit.kind), session, project];
        all.into_iter()
            .flatten()
            .map(|one| replace_control_chars(&one))
            .collect::<Vec<_>>()
            .join(" · ")
    }

    fn print_footer(
        &self,
        out: &mut dyn Write,
        answer: &v1::RecallResponse,
    ) -> std::io::Result<()> {
        if answer.more > 0 {
            writeln!(out, "{} more: {}", format_count(answer.more), self.hint_for_more(answer))?;
        }
        self.print_search_info(out, answer)?;
        if let Some(first) = answer.hits.first() {
            let citation = quote_citation(&first.citation);
            let flags = self.render_show_flags(&first.citation);
            writeln!(out, "{DIM}Open the first: tome show {citation}{flags}{RESET}")?;
        }
        Ok(())
    }

    /// The flags `tome show` needs to open a citation. Only relative citations need a session.
    fn render_show_flags(&self, citation: &str) -> String {
        let is_short = RELATIVE_CITATIONS.iter().any(|file| citation.starts_with(file));
        let session = Some(&self.request.session_id).filter(|id| is_short && !id.is_empty());
        let flag = |name: &str, value: Option<&String>| {
            value.map(|value| format!(" {name} {}", quote_shell(value))).unwrap_or_default()
        };
        flag("--session", session) + &flag("--project", self.show_project.as_ref())
    }

    fn hint_for_more(&self, answer: &v1::RecallResponse) -> String {
        let (hits, hits_max) = (answer.hits.len() as u64, u64::from(RECALL_HITS_MAX));
        let limit = u64::from(self.request.limit.unwrap_or_default());
        if self.request.tokens_max > 0 && hits < limit {
            return "drop --tokens to see them".to_owned();
        }
        if limit >= hits_max {
            return "narrow the search with --since, --until, --agent or --scope".to_owned();
        }
        let limit = (limit + answer.more).min(hits_max);
        render_command(&self.request.query, &format!("--limit {limit}"))
    }

    /// Prints the preferred time range, the state of the index and the tier.
    fn print_search_info(
        &self,
        out: &mut dyn Write,
        answer: &v1::RecallResponse,
    ) -> std::io::Result<()> {
        if !answer.time.is_empty() {
            writeln!(out, "{DIM}Preferred: {}{RESET}", one_line(&answer.time, QUERY_CHARS_MAX))?;
        }
        if answer.behind > 0 {
            let behind = format_counted(answer.behind, "event", "events");
            let looked = match answer.unread.is_empty() {
                true => "; those events were scanned directly",
                false => "",
            };
            writeln!(out, "{YELLOW}The index is {behind} behind{looked}{RESET}")?;
        }
        if !answer.hits.is_empty() || self.explain {
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

/// Quotes a citation for a shell. A `#` inside a word needs no quotes.
fn quote_citation(citation: &str) -> String {
    let citation = replace_control_chars(citation);
    let is_plain = citation.split('#').all(|part| quote_shell(part) == part);
    if is_plain { citation } else { quote_shell(&citation) }
}

/// Lists further hits of the same session or file.
fn render_also(hit: &v1::RecallHit) -> String {
    let place = match hit.source.as_str() {
        "messages" | "grips" => "session",
        "contents" => "part of the contents",
        _ => "file",
    };
    let named: Vec<String> =
        hit.also.iter().take(ALSO_MAX).map(|one| quote_citation(one)).collect();
    let rest = if hit.also.len() > ALSO_MAX { ", …" } else { "" };
    format!("{} more in this {place}: {}{rest}", hit.also.len(), named.join(", "))
}
