//! Hits for a person:
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
//! found by fused · one of them whole: tome show sessions/s1/messages.jsonl#L2
//! ```

use std::io::Write;

use tome_model::Millis;
use tome_proto::limits::RECALL_HITS_MAX;
use tome_proto::v1;

use super::marks::Marks;
use super::{QUERY_CHARS_MAX, again, explain};
use crate::command::notes::quoted;
use crate::command::toc::Labels;
use crate::render::{BOLD, DIM, GREEN, PLAIN, YELLOW, ago, count, counted, one_line, safe};

/// What stands before each line of a hit.
const INDENT: &str = "    ";

/// Lines of text are not longer, however wide the screen is.
const LINE_CHARS_MAX: usize = 100;
const LINE_CHARS_MIN: usize = 30;

/// What is shown of a title and of a session's id.
const TITLE_CHARS_MAX: usize = 60;
const SESSION_CHARS_MAX: usize = 12;

/// What citations of the session at hand begin with.
const SHORT: [&str; 3] = ["messages.jsonl", "detail/", "overview.md"];

/// Further hits of a session that are named.
const ALSO_MAX: usize = 3;

/// What is shown, and to whom.
pub struct Shown<'a> {
    pub request: &'a v1::RecallRequest,
    pub labels: &'a Labels,
    pub now: Millis,
    /// The project that `tome show` has to be told beside a citation.
    pub show_project: Option<String>,
    /// How many characters fit on a line.
    pub width: usize,
    pub explain: bool,
}

impl Shown<'_> {
    pub fn print(&self, out: &mut dyn Write, answer: &v1::RecallResponse) -> std::io::Result<()> {
        let hits = counted(answer.hits.len() as u64, "hit", "hits");
        writeln!(out, "{BOLD}{hits}{PLAIN} for {}", self.query())?;
        let marks = match self.request.regex {
            true => Marks::none(),
            false => Marks::of(&self.request.query),
        };
        for (number, hit) in (1..).zip(&answer.hits) {
            writeln!(out)?;
            self.hit(out, number, hit, &marks)?;
        }
        writeln!(out)?;
        self.foot(out, answer)
    }

    /// Says that there is nothing, and where there might be something.
    pub fn nothing(&self, out: &mut dyn Write, answer: &v1::RecallResponse) -> std::io::Result<()> {
        if self.request.limit == Some(0) {
            return writeln!(out, "No results: --limit 0 asks for none");
        }
        let project = &self.request.project;
        let place = match self.request.across.as_str() {
            "session" => format!(" in session {}", self.request.session_id),
            "all" => String::new(),
            _ if project.is_empty() => String::new(),
            _ => format!(" in {project}"),
        };
        writeln!(out, "No results: nothing relevant to {}{place}", self.query())?;
        for other in &answer.elsewhere {
            let hits = counted(other.hits, "hit", "hits");
            let flags = format!("--project {}", quoted(&other.project));
            let again = again(&self.request.query, &flags);
            writeln!(out, "project {} has {hits}: {again}", other.project)?;
        }
        if answer.elsewhere.is_empty() && !place.is_empty() {
            writeln!(out, "--all-projects looks everywhere")?;
        }
        self.about(out, answer)
    }

    fn query(&self) -> String {
        one_line(&self.request.query, QUERY_CHARS_MAX)
    }

    fn hit(
        &self,
        out: &mut dyn Write,
        number: usize,
        hit: &v1::RecallHit,
        marks: &Marks,
    ) -> std::io::Result<()> {
        let title = match hit.title.as_str() {
            "" => String::new(),
            title => format!("  {BOLD}{}{PLAIN}", one_line(title, TITLE_CHARS_MAX)),
        };
        let (source, about) = (&hit.source, self.circumstances(hit));
        writeln!(
            out,
            "{BOLD}{number:>2}{PLAIN}  {GREEN}{source}{PLAIN}{title}  {DIM}{about}{PLAIN}"
        )?;
        for line in lines(&safe(&hit.text), self.width) {
            writeln!(out, "{INDENT}{}", marks.bold(&line))?;
        }
        writeln!(out, "{INDENT}{GREEN}{}{PLAIN}", pasted(&hit.citation))?;
        if !hit.also.is_empty() {
            writeln!(out, "{INDENT}{DIM}{}{PLAIN}", also(hit))?;
        }
        if self.explain {
            writeln!(out, "{INDENT}{DIM}{}{PLAIN}", explain::ranks(hit))?;
        }
        Ok(())
    }

    /// When, who and where, as far as the question does not say it.
    fn circumstances(&self, hit: &v1::RecallHit) -> String {
        let when = hit
            .at_ms
            .map(|ms| format!("{}, {}", self.labels.minute(ms), ago(self.now, Millis(ms))));
        let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let is_here = hit.session_id == self.request.session_id;
        let session = given(&hit.session_id).filter(|_| !is_here);
        let session = session.map(|id| format!("session {}", one_line(&id, SESSION_CHARS_MAX)));
        let project = given(&hit.project).filter(|project| *project != self.request.project);
        let all = [when, given(&hit.agent), given(&hit.kind), session, project];
        all.into_iter().flatten().map(|one| safe(&one)).collect::<Vec<_>>().join(" · ")
    }

    fn foot(&self, out: &mut dyn Write, answer: &v1::RecallResponse) -> std::io::Result<()> {
        if answer.more > 0 {
            writeln!(out, "{} more: {}", count(answer.more), self.how_to_get_more(answer))?;
        }
        self.about(out, answer)?;
        if let Some(first) = answer.hits.first() {
            let citation = pasted(&first.citation);
            let flags = self.show_flags(&first.citation);
            writeln!(out, "{DIM}One of them whole: tome show {citation}{flags}{PLAIN}")?;
        }
        Ok(())
    }

    /// What `tome show` needs beside a citation. Only what is short has a session at hand.
    fn show_flags(&self, citation: &str) -> String {
        let is_short = SHORT.iter().any(|file| citation.starts_with(file));
        let session = Some(&self.request.session_id).filter(|id| is_short && !id.is_empty());
        let flag = |name: &str, value: Option<&String>| {
            value.map(|value| format!(" {name} {}", quoted(value))).unwrap_or_default()
        };
        flag("--session", session) + &flag("--project", self.show_project.as_ref())
    }

    fn how_to_get_more(&self, answer: &v1::RecallResponse) -> String {
        let (hits, hits_max) = (answer.hits.len() as u64, u64::from(RECALL_HITS_MAX));
        let limit = u64::from(self.request.limit.unwrap_or_default());
        if self.request.tokens_max > 0 && hits < limit {
            return "without --tokens they are shown".to_owned();
        }
        if limit >= hits_max {
            return "--since, --until, --agent or --scope narrow it down".to_owned();
        }
        let limit = (limit + answer.more).min(hits_max);
        again(&self.request.query, &format!("--limit {limit}"))
    }

    /// How it was found, and what to know of it.
    fn about(&self, out: &mut dyn Write, answer: &v1::RecallResponse) -> std::io::Result<()> {
        if !answer.time.is_empty() {
            writeln!(out, "{DIM}Preferred: {}{PLAIN}", one_line(&answer.time, QUERY_CHARS_MAX))?;
        }
        if answer.behind > 0 {
            let behind = counted(answer.behind, "event", "events");
            let looked = match answer.unread.is_empty() {
                true => "; they were looked through directly",
                false => "",
            };
            writeln!(out, "{YELLOW}The index is {behind} behind{looked}{PLAIN}")?;
        }
        if !answer.hits.is_empty() || self.explain {
            writeln!(out, "{DIM}Found by: {}{PLAIN}", answer.tier)?;
        }
        Ok(())
    }
}

/// A citation as a shell takes it. The `#` inside it needs no quotes.
fn pasted(citation: &str) -> String {
    let citation = safe(citation);
    let is_plain = citation.split('#').all(|part| quoted(part) == part);
    if is_plain { citation } else { quoted(&citation) }
}

/// Further hits of the same session or file.
fn also(hit: &v1::RecallHit) -> String {
    let place = match hit.source.as_str() {
        "messages" | "grips" => "session",
        "contents" => "part of the contents",
        _ => "file",
    };
    let named: Vec<String> = hit.also.iter().take(ALSO_MAX).map(|one| pasted(one)).collect();
    let rest = if hit.also.len() > ALSO_MAX { ", …" } else { "" };
    format!("{} more in this {place}: {}{rest}", hit.also.len(), named.join(", "))
}

/// A text cut into lines at its spaces.
fn lines(text: &str, width: usize) -> Vec<String> {
    let room = width.saturating_sub(INDENT.len());
    let chars_max = room.clamp(LINE_CHARS_MIN, LINE_CHARS_MAX);
    let mut lines: Vec<String> = Vec::new();
    let mut used = 0;
    for word in text.split_whitespace() {
        let chars = word.chars().count();
        match lines.last_mut() {
            Some(line) if used + 1 + chars <= chars_max => {
                line.push(' ');
                line.push_str(word);
                used += 1 + chars;
            }
            _ => {
                lines.push(word.to_owned());
                used = chars;
            }
        }
    }
    lines
}
