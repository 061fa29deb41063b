//! `tome toc`: shows the contents, one node, or the nodes of a time given in words.

mod json;
mod node;
mod tree;

use std::io::Write;

use anyhow::Result;
use tome_model::{Agent, Clock, InvalidInput, Level, Millis, NodeId, SystemClock, parse_ulid_time};
use tome_proto::{Client, ClientError, v1};
use tome_terminal::{
    BOLD, DIM, RESET, format_count, one_line, print_hanging, print_styled, print_table,
};

use super::last_activity::describe_last_activity;
use super::project_scope::resolve_project;
use super::screen::Screen;
use super::{CommandContext, CommandError, Outcome, time};
use crate::cli::contents::TocArgs;
use crate::connect::ConnectError;

pub use node::{ShownSource, print_grip, print_summary};
pub use tree::{entry_title, typed_period};

/// Prefix of node ids.
pub const NODE_PREFIX: &str = "toc:";

/// Prefix of source ids.
pub const GRIP_PREFIX: &str = "grip:";

/// Children are shown only for up to this many periods; more would clutter the output.
const EXPANDED_PERIODS_MAX: usize = 7;

/// Projects whose pages are shown together.
const MERGED_PROJECTS_MAX: usize = 8;

/// Characters of what may be the beginning of a session's id.
const SESSION_CHARS_MIN: usize = 4;

/// Characters of the beginning of a segment's id, and of the time in it.
const SEGMENT_ID_CHARS: std::ops::RangeInclusive<usize> = 6..=26;
const SEGMENT_TIME_CHARS: usize = 10;
/// Levels from a week to its segments.
const SEGMENT_DEPTH: u32 = 3;

const YEAR_MS: u64 = 366 * 86_400_000;

/// The limit for `-n 0`; the daemon applies its own cap.
const NO_LIMIT: u32 = u32::MAX;

pub fn run(context: &CommandContext, args: &TocArgs) -> Result<Outcome> {
    for agent in &args.agent {
        Agent::parse(agent)?;
    }
    let what = args.what.join(" ");
    let what = what.trim();
    if what.starts_with(GRIP_PREFIX) {
        let hint = format!("use `tome show {what}`");
        return Err(CommandError::bad_input("this is the id of a source, not of a node")
            .with_hint(hint)
            .into());
    }
    let toc = TocCommand::new(context, args)?;
    match what {
        "" if args.versions || args.number.is_some() => {
            let refusal = CommandError::bad_input("--versions and --version need the id of a node");
            Err(refusal.with_hint("`tome toc` lists nodes with their ids").into())
        }
        "" => toc.show_root(),
        id if is_node_id(id) => {
            let id = complete_segment_id(context, id, &toc.project)?;
            if args.versions { toc.show_versions(&id) } else { toc.show_node(&id) }
        }
        _ if args.versions || args.number.is_some() => {
            let refusal = CommandError::bad_input(format!("{what:?} is not the id of a node"));
            Err(refusal.with_hint("node ids look like toc:day:2026-11-14").into())
        }
        time => {
            // The page of a month is of all agents; the list of its days is not.
            let is_page = args.agent.is_empty() && args.depth.is_none();
            let shown = match parse_year_or_month(time) {
                Some(id) if id.level() == Level::Year || is_page => {
                    toc.show_period(time, id.as_str())
                }
                _ => toc.show_time(time),
            };
            shown.map_err(|error| hint_at_session(error, time))
        }
    }
}

/// Whether a text is the id of a node: a whole one, or the beginning of a segment's.
pub fn is_node_id(text: &str) -> bool {
    let is_short = SEGMENT_ID_CHARS.contains(&text.len())
        && text.starts_with("01")
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        // A number is an event.
        && (text.len() >= SEGMENT_TIME_CHARS || text.bytes().any(|byte| byte.is_ascii_uppercase()));
    text.starts_with(NODE_PREFIX) || is_short
}

/// The id of a node as people type it: `2026-W46`, `2026-11-14`, a month, or an id. A year is a number.
pub fn parse_typed_node(text: &str) -> Option<String> {
    if is_node_id(text) {
        return Some(text.to_owned());
    }
    let ids = ["month", "week", "day"].map(|level| format!("{NODE_PREFIX}{level}:{text}"));
    ids.into_iter().filter(|_| text.contains('-')).find(|id| NodeId::parse(id).is_ok())
}

/// Finds the node of each project that has it.
pub fn find_nodes(context: &CommandContext, typed: &str, project: String) -> Result<Vec<v1::Node>> {
    let id = complete_segment_id(context, typed, &project)?;
    let request = v1::GetNodeRequest { project, id, version: 0 };
    let get = async |client: &Client| client.get_node(request.clone()).await;
    Ok(context.connector.call_blocking(get)?.nodes)
}

/// Completes the beginning of a segment's id that ends within its time. The daemon completes longer ones.
fn complete_segment_id(context: &CommandContext, typed: &str, project: &str) -> Result<String> {
    if typed.starts_with(NODE_PREFIX) || typed.len() >= SEGMENT_TIME_CHARS || !is_node_id(typed) {
        return Ok(typed.to_owned());
    }
    let request = v1::BrowseTocRequest {
        project: project.to_owned(),
        time: segment_days(context, typed).unwrap_or_default(),
        depth: SEGMENT_DEPTH,
        limit: NO_LIMIT,
        ..v1::BrowseTocRequest::default()
    };
    let browse = async |client: &Client| client.browse_toc(request.clone()).await;
    let mut ids = Vec::new();
    collect_segments(&context.connector.call_blocking(browse)?.entries, typed, &mut ids);
    ids.sort();
    ids.dedup();
    match ids.as_slice() {
        [] => {
            let refusal = CommandError::not_found(format!("no segment begins with {typed}"));
            Err(refusal.with_hint("`tome toc` lists days, and a day its segments").into())
        }
        [only] => Ok(only.clone()),
        several => {
            let shown: Vec<String> = several.iter().take(4).map(|id| typed_period(id)).collect();
            let count = format_count(several.len() as u64);
            let refusal = CommandError::bad_input(format!("{count} segments begin with {typed}"));
            Err(refusal.with_hint(format!("type more of the id: {}", shown.join(", "))).into())
        }
    }
}

/// The segments below some entries whose ids begin like this.
fn collect_segments(entries: &[v1::TocEntry], typed: &str, ids: &mut Vec<String>) {
    for entry in entries {
        let ulid = entry.id.strip_prefix("toc:segment:").and_then(|rest| rest.split_once(':'));
        if ulid.is_some_and(|(_, ulid)| ulid.starts_with(typed)) {
            ids.push(entry.id.clone());
        }
        collect_segments(&entry.entries, typed, ids);
    }
}

/// The days in which a segment can have begun whose id begins like this, as a time phrase.
fn segment_days(context: &CommandContext, typed: &str) -> Option<String> {
    let zone = &context.settings.contents.zone;
    let missing = SEGMENT_TIME_CHARS - typed.len();
    let day = |filler: &str| {
        let at = parse_ulid_time(&format!("{typed}{}", filler.repeat(missing)))?;
        Some(zone.date_of(at))
    };
    Some(format!("between {} and {}", day("0")?, day("Z")?))
}

fn is_not_found(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(ConnectError::Client(ClientError::NotFound(_))))
}

/// Adds a hint to the refusal of a time that looks like the id of a session.
fn hint_at_session(error: anyhow::Error, time: &str) -> anyhow::Error {
    let is_invalid = error.downcast_ref::<InvalidInput>().is_some();
    let is_id_like = time.len() >= SESSION_CHARS_MIN
        && time.contains(|c: char| c.is_ascii_digit())
        && time.contains(|c: char| c.is_ascii_alphabetic())
        && time.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    if !is_invalid || !is_id_like {
        return error;
    }
    let hint = format!("to open the page of a session: `tome show {time}`");
    CommandError::bad_input(error.to_string()).with_hint(hint).into()
}

/// The id of a year or a month that was typed as such: `2026`, `2026-11`.
fn parse_year_or_month(text: &str) -> Option<NodeId> {
    let level = if text.contains('-') { "month" } else { "year" };
    NodeId::parse(&format!("{NODE_PREFIX}{level}:{text}")).ok()
}

/// One run of `tome toc`: the options and the resolved project.
struct TocCommand<'a> {
    context: &'a CommandContext,
    args: &'a TocArgs,
    project: String,
    screen: Screen,
}

impl<'a> TocCommand<'a> {
    fn new(context: &'a CommandContext, args: &'a TocArgs) -> Result<Self> {
        let project = if args.all_projects {
            String::new()
        } else {
            resolve_project(context, args.project.as_deref())?.unwrap_or_default()
        };
        Ok(Self { context, args, project, screen: Screen::new(context) })
    }

    fn call_daemon<T>(&self, call: impl AsyncFn(&Client) -> Result<T, ClientError>) -> Result<T> {
        Ok(self.context.connector.call_blocking(call)?)
    }

    fn limit(&self) -> u32 {
        if self.args.limit == 0 { NO_LIMIT } else { self.args.limit }
    }

    fn show_root(&self) -> Result<Outcome> {
        let request = v1::GetTocRootRequest {
            project: self.project.clone(),
            agents: self.args.agent.clone(),
            depth: self.args.depth.unwrap_or_default(),
            limit: self.limit(),
        };
        let root = self.call_daemon(async |client| client.get_toc_root(request.clone()).await)?;
        warn_skipped(&root.skipped)?;
        if self.context.json {
            return self.print_entries_json(&root.entries);
        }
        if root.entries.is_empty() {
            return self.print_nothing("no contents yet");
        }
        let mut out = tome_terminal::stdout().lock();
        tree::print_tree(&mut out, &self.screen, &root.entries)?;
        if let Some(latest) = tree::find_latest(&root.entries) {
            let example = typed_period(&latest.id);
            let flag = self.screen.projects.flag(&self.project);
            writeln!(out, "\n{DIM}Open one: tome toc {example}{flag}{RESET}")?;
        }
        Ok(Outcome::Done)
    }

    /// Shows the page of a year or month, which a list of its days would hide.
    fn show_period(&self, time: &str, id: &str) -> Result<Outcome> {
        match self.show_node(id) {
            // Says what there is instead.
            Err(error) if is_not_found(&error) => self.show_time(time),
            shown => shown,
        }
    }

    /// Shows a time given in words: a single period in full, several periods as a list.
    fn show_time(&self, time: &str) -> Result<Outcome> {
        let zone = &self.context.settings.contents.zone;
        let span = time::parse_period("time", time, SystemClock.now(), zone)?;
        let request = v1::BrowseTocRequest {
            project: self.project.clone(),
            agents: self.args.agent.clone(),
            time: span.phrase,
            depth: self.args.depth.unwrap_or(2),
            limit: self.limit(),
            ..v1::BrowseTocRequest::default()
        };
        let mut listing =
            self.call_daemon(async |client| client.browse_toc(request.clone()).await)?;
        warn_skipped(&listing.skipped)?;
        if self.args.depth.is_none() && listing.entries.len() > EXPANDED_PERIODS_MAX {
            listing.entries.iter_mut().for_each(|entry| entry.entries.clear());
        }
        if let ([only], None) = (listing.entries.as_slice(), self.args.depth)
            && (only.shares.len() == 1 || !self.context.json)
        {
            return self.show_node(&only.id);
        }
        if self.context.json {
            return self.print_entries_json(&listing.entries);
        }
        if listing.entries.is_empty() {
            return self.print_empty_time(&listing.interpreted_as);
        }
        let mut out = tome_terminal::stdout().lock();
        writeln!(out, "{BOLD}{}{RESET}\n", self.name_time(&listing))?;
        tree::print_tree(&mut out, &self.screen, &listing.entries)?;
        if !listing.continuation.is_empty() {
            writeln!(out, "\n{DIM}More available: -n 0 shows all{RESET}")?;
        }
        Ok(Outcome::Done)
    }

    fn show_node(&self, id: &str) -> Result<Outcome> {
        if let Some(depth) = self.args.depth {
            return self.show_children(id, depth);
        }
        let request = v1::GetNodeRequest {
            project: self.project.clone(),
            id: id.to_owned(),
            version: self.args.number.unwrap_or_default(),
        };
        let response = self.call_daemon(async |client| client.get_node(request.clone()).await)?;
        let wanted = |node: &v1::Node| {
            let agents = &self.args.agent;
            agents.is_empty() || node.agents.iter().any(|agent| agents.contains(agent))
        };
        let nodes: Vec<v1::Node> = response.nodes.into_iter().filter(wanted).collect();
        if nodes.is_empty() {
            let whom = self.args.agent.join(" or ");
            return Err(
                CommandError::not_found(format!("{whom} did not contribute to {id}")).into()
            );
        }
        let is_latest = self.args.number.is_none() && !self.context.json;
        if is_latest && nodes.len() > 1 {
            return self.show_merged(nodes);
        }
        print_nodes(self.context, &self.screen, &nodes, self.args.limit)
    }

    /// Shows a period of several projects: what each of them says of it, the busiest first.
    fn show_merged(&self, mut nodes: Vec<v1::Node>) -> Result<Outcome> {
        nodes.sort_by_key(|node| std::cmp::Reverse(node.session_count));
        let mut out = tome_terminal::stdout().lock();
        let Some(first) = nodes.first() else { return Ok(Outcome::Done) };
        writeln!(out, "{BOLD}{}{RESET}", first.period)?;
        for node in nodes.iter().take(MERGED_PROJECTS_MAX) {
            writeln!(out)?;
            node::print_brief(&mut out, &self.screen, node)?;
        }
        let flag = self.screen.projects.flag(&first.project);
        let number = first.bullets.iter().find_map(|bullet| bullet.numbers.first());
        let number = number.map(|number| format!(" · Open a number: tome show {number}{flag}"));
        let page = format!("One project: tome toc {}{flag}", typed_period(&first.id));
        let mut hint = page + &number.unwrap_or_default();
        if let hidden @ 1.. = nodes.len().saturating_sub(MERGED_PROJECTS_MAX) {
            hint = format!("{hidden} more projects. {hint}");
        }
        writeln!(out)?;
        print_styled(&mut out, DIM, 0, &hint, self.screen.prose_width())?;
        Ok(Outcome::Done)
    }

    /// Names the time that was typed in words.
    fn name_time(&self, listing: &v1::BrowseTocResponse) -> String {
        let time = one_line(&listing.interpreted_as, 80);
        let (Some(from), Some(to)) = (listing.from_ms, listing.to_ms) else { return time };
        // An open-ended range is clearer in words.
        if from == 0 || to > self.screen.now.0.saturating_add(YEAR_MS) {
            return time;
        }
        let range = self.screen.labels.format_range(from, to);
        let is_named = time.starts_with(|c: char| c.is_ascii_digit())
            || range.to_lowercase().contains(time.trim_start_matches("in "));
        if is_named { range } else { format!("{time}: {range}") }
    }

    /// Says that nothing was recorded in a time, and where to find the last activity.
    fn print_empty_time(&self, time: &str) -> Result<Outcome> {
        let mut filters = String::new();
        if !self.args.agent.is_empty() {
            filters = format!(" with {}", self.args.agent.join(" or "));
        }
        if !self.project.is_empty() {
            filters = format!("{filters} in {}", self.screen.projects.name(&self.project));
        }
        let (context, screen) = (self.context, &self.screen);
        let last = describe_last_activity(context, screen, &self.project, "tome toc")?;
        let (time, width) = (one_line(time, 80), self.screen.prose_width());
        let text = format!("nothing recorded {time}{filters}{last}");
        print_hanging(&mut tome_terminal::stderr(), "", 0, &text, width)?;
        Ok(Outcome::Done)
    }

    fn show_children(&self, id: &str, depth: u32) -> Result<Outcome> {
        let request = v1::BrowseTocRequest {
            project: self.project.clone(),
            agents: self.args.agent.clone(),
            node_id: id.to_owned(),
            depth,
            limit: self.limit(),
            ..v1::BrowseTocRequest::default()
        };
        let listing = self.call_daemon(async |client| client.browse_toc(request.clone()).await)?;
        warn_skipped(&listing.skipped)?;
        if self.context.json {
            return self.print_entries_json(&listing.entries);
        }
        if listing.entries.is_empty() {
            return self.print_nothing(&format!("{id} has no children"));
        }
        tree::print_tree(&mut tome_terminal::stdout().lock(), &self.screen, &listing.entries)?;
        Ok(Outcome::Done)
    }

    fn show_versions(&self, id: &str) -> Result<Outcome> {
        let request = v1::GetVersionsRequest { project: self.project.clone(), id: id.to_owned() };
        let found =
            self.call_daemon(async |client| client.get_node_versions(request.clone()).await)?;
        if self.context.json {
            found.iter().try_for_each(|one| self.context.print_json(&json::version_json(one)))?;
            return Ok(Outcome::Done);
        }
        let rows = found.iter().map(|one| {
            vec![
                one.version.to_string(),
                time::format_local_time(Millis(one.made_at_ms)),
                one.summarizer.clone(),
                format_count(one.events),
                if one.open { "open" } else { "" }.to_owned(),
                one_line(&one.title, 80),
            ]
        });
        let heads = [">version", "made", "by", ">events", "", "title"];
        print_table(&mut tome_terminal::stdout().lock(), &heads, &rows.collect::<Vec<_>>())?;
        Ok(Outcome::Done)
    }

    fn print_entries_json(&self, entries: &[v1::TocEntry]) -> Result<Outcome> {
        entries.iter().try_for_each(|entry| self.context.print_json(&json::entry_json(entry)))?;
        Ok(Outcome::Done)
    }

    /// Prints a message on standard error, so that standard output stays empty for scripts.
    fn print_nothing(&self, message: &str) -> Result<Outcome> {
        let mut more = String::new();
        if !self.args.agent.is_empty() {
            more = format!(" with {}", self.args.agent.join(" or "));
        }
        if !self.project.is_empty() {
            let name = self.screen.projects.name(&self.project);
            more = format!("{more} in {name}; --all-projects searches all projects");
        }
        writeln!(tome_terminal::stderr(), "{message}{more}")?;
        Ok(Outcome::Done)
    }
}

/// Prints the node of each project that has it, with at most `below_max` children.
pub fn print_nodes(
    context: &CommandContext,
    screen: &Screen,
    nodes: &[v1::Node],
    below_max: u32,
) -> Result<Outcome> {
    if context.json {
        nodes.iter().try_for_each(|node| context.print_json(&json::node_json(node)))?;
        return Ok(Outcome::Done);
    }
    let mut out = tome_terminal::stdout().lock();
    for (i, node) in nodes.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        node::print_node(&mut out, screen, node, below_max)?;
    }
    Ok(Outcome::Done)
}

/// Warns about stores that could not be read.
pub(super) fn warn_skipped(skipped: &[String]) -> Result<()> {
    for store in skipped {
        writeln!(tome_terminal::stderr(), "skipped: {store}")?;
    }
    Ok(())
}
