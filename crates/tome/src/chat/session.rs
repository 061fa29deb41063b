//! Chooses the session of a chat: a new one, the latest, or one that is named or selected.

use std::io::{BufRead, IsTerminal, Write};

use anyhow::{Context as _, Result};
use tome_agent::Who;
use tome_home::Projects;
use tome_model::{Clock, Event, EventKind, Millis, SystemClock};
use tome_proto::Query;

use crate::cli::chat::Chat;
use crate::command::{Context, Refusal};
use crate::reach::Start;
use crate::render::{BOLD, DIM, PLAIN, ago, counted, one_line};

/// Prompts scanned for the list of sessions, and sessions listed.
const LOOKED_AT_MAX: usize = 5_000;
const PAGE_PROMPTS: u32 = 1_000;
const LISTED_MAX: usize = 12;
/// Maximum length of a session's first prompt in the list.
const GIST_CHARS_MAX: usize = 60;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earlier {
    pub id: String,
    pub latest: Millis,
    pub prompts: u64,
    pub first: String,
}

/// Returns the session that the command line selects.
pub fn choose(context: &Context, asked: &Chat, cwd: &str) -> Result<Who> {
    let earlier = || earlier(context, asked.offline, cwd);
    let id = match (&asked.session, &asked.resume, asked.go_on) {
        (Some(named), _, _) => named.clone(),
        (None, Some(Some(part)), _) => by_id(&earlier()?, part)?,
        (None, Some(None), _) => by_choice(&earlier()?)?,
        (None, None, true) => {
            let all = earlier()?;
            all.into_iter().next().ok_or_else(nothing_to_resume)?.id
        }
        (None, None, false) => new_id()?,
    };
    Ok(Who::new(&id, cwd)?)
}

/// Returns the project in which the offline chats of a folder are stored.
pub fn offline_project(context: &Context, cwd: &str) -> String {
    let home = &context.settings.home;
    home.offline_chats(&Projects::load(home).root_of(cwd, None))
}

/// Finds the chats of this project, latest first; includes offline chats if requested.
fn earlier(context: &Context, is_offline: bool, cwd: &str) -> Result<Vec<Earlier>> {
    let projects = Projects::load(&context.settings.home);
    let offline = is_offline.then(|| offline_project(context, cwd));
    let roots = projects.known_root_of(cwd).into_iter().chain(offline);
    let mut all = Vec::new();
    for root in roots.filter(|root| projects.known_folder(root).is_some()) {
        all.extend(earlier_in(context, &root)?);
    }
    all.sort_by_key(|one| std::cmp::Reverse(one.latest));
    Ok(all)
}

fn earlier_in(context: &Context, root: &str) -> Result<Vec<Earlier>> {
    let mut sessions: Vec<Earlier> = Vec::new();
    let (mut continuation, mut seen) = (String::new(), 0);
    loop {
        let query = Query {
            project: Some(root.to_owned()),
            agents: vec![Who::AGENT.to_owned()],
            kinds: vec![EventKind::UserMessage],
            limit: PAGE_PROMPTS,
            newest_first: true,
            continuation: std::mem::take(&mut continuation),
            ..Query::default()
        };
        let page = context.block_on(async {
            let asked =
                context.reach.ask(Start::IfAway, async |client| client.events(query.clone()).await);
            Ok(asked.await?)
        })?;
        seen += page.events.len();
        page.events.iter().for_each(|event| count(&mut sessions, event));
        match page.continuation {
            Some(more) if seen < LOOKED_AT_MAX => continuation = more,
            _ => return Ok(sessions),
        }
    }
}

/// Counts a prompt for its session. Prompts arrive newest first.
fn count(sessions: &mut Vec<Earlier>, event: &Event) {
    let id = event.session.as_str();
    match sessions.iter_mut().find(|one| one.id == id) {
        Some(known) => {
            known.prompts += 1;
            known.first.clone_from(&event.text);
        }
        None => sessions.push(Earlier {
            id: id.to_owned(),
            latest: event.at,
            prompts: 1,
            first: event.text.clone(),
        }),
    }
}

/// Finds a session by its id or a unique prefix.
fn by_id(all: &[Earlier], part: &str) -> Result<String> {
    if let Some(whole) = all.iter().find(|one| one.id == part) {
        return Ok(whole.id.clone());
    }
    let found: Vec<&Earlier> = all.iter().filter(|one| one.id.starts_with(part)).collect();
    match found.as_slice() {
        [one] => Ok(one.id.clone()),
        [] => {
            let refusal = Refusal::not_found(format!("no chat {part:?} in this project"));
            Err(refusal.hint("`tome chat --resume` lists the chats").into())
        }
        several => {
            let ids: Vec<&str> = several.iter().map(|one| one.id.as_str()).collect();
            let said = format!("{part:?} is ambiguous: {}", ids.join(", "));
            Err(Refusal::bad_input(said).hint("give more of the id").into())
        }
    }
}

/// Returns the only session, or asks the user to select one.
fn by_choice(all: &[Earlier]) -> Result<String> {
    let listed = all.get(..all.len().min(LISTED_MAX)).unwrap_or_default();
    match listed {
        [] => return Err(nothing_to_resume()),
        [one] => return Ok(one.id.clone()),
        _ => {}
    }
    let mut err = crate::terminal::stderr();
    writeln!(err, "{BOLD}Chats in this project{PLAIN}")?;
    let now = SystemClock.now();
    for (n, one) in listed.iter().enumerate() {
        let short: String = one.id.chars().take(8).collect();
        let (when, said) = (ago(now, one.latest), one_line(&one.first, GIST_CHARS_MAX));
        let prompts = counted(one.prompts, "prompt", "prompts");
        writeln!(err, "  {:>2}  {short}  {DIM}{when:>10}  {prompts:>10}{PLAIN}  {said}", n + 1)?;
    }
    if !std::io::stdin().is_terminal() {
        let refusal = Refusal::bad_input("several chats can be resumed");
        return Err(refusal
            .hint("choose one with `tome chat --resume ID`, or the latest with `--continue`")
            .into());
    }
    write!(err, "Which one? [1] ")?;
    err.flush()?;
    let mut typed = String::new();
    std::io::stdin().lock().read_line(&mut typed)?;
    let place = match typed.trim() {
        "" => Some(0),
        typed => typed.parse::<usize>().ok().and_then(|number| number.checked_sub(1)),
    };
    let chosen = place.and_then(|place| listed.get(place));
    let chosen = chosen.map_or_else(|| by_id(all, typed.trim()), |one| Ok(one.id.clone()))?;
    Ok(chosen)
}

fn nothing_to_resume() -> anyhow::Error {
    let refusal = Refusal::not_found("no chat to resume in this project");
    refusal.hint("start one with `tome chat`").into()
}

/// Generates an id that starts with random digits, so that short prefixes are unique.
fn new_id() -> Result<String> {
    let mut bytes = [0_u8; 8];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("{error}"))?;
    let chance: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let chance = chance.split_at_checked(8).context("an id is made of 16 digits")?;
    let day: String = SystemClock.now().to_string().chars().take(10).collect();
    Ok(format!("{}-{}-{day}", chance.0, chance.1))
}
