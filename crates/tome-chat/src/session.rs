//! Chooses the session of a chat: a new one, the latest, or one that is named or selected.

use std::io::{BufRead, IsTerminal, Write};

use anyhow::{Context as _, Result};
use tome_agent::SessionInfo;
use tome_client::DaemonConnector;
use tome_home::Projects;
use tome_model::{Clock, Event, EventKind, Millis, to_hex};
use tome_proto::EventListQuery;
use tome_terminal::{BOLD, CommandError, DIM, RESET, format_ago, format_counted, one_line};

use crate::args::ChatArgs;
use crate::setup::ChatSetup;

/// Prompts scanned for the list of sessions, and sessions listed.
const PROMPTS_SCANNED_MAX: usize = 5_000;
const PAGE_PROMPTS: u32 = 1_000;
const LISTED_MAX: usize = 12;
/// Maximum length of a session's first prompt in the list.
const SUMMARY_CHARS_MAX: usize = 60;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierChat {
    pub id: String,
    pub latest: Millis,
    pub prompts: u64,
    pub first: String,
}

/// Returns the session that the command line selects.
pub fn choose_session(setup: &ChatSetup<'_>, args: &ChatArgs) -> Result<SessionInfo> {
    let clock = setup.connector.settings().clock.as_ref();
    let earlier = || find_earlier_chats(setup, args.offline);
    let id = match (&args.session, &args.resume, args.go_on) {
        (Some(named), _, _) => named.clone(),
        (None, Some(Some(part)), _) => find_by_id(&earlier()?, part)?,
        (None, Some(None), _) => select_session(clock, &earlier()?)?,
        (None, None, true) => {
            let all = earlier()?;
            all.into_iter().next().ok_or_else(nothing_to_resume)?.id
        }
        (None, None, false) => generate_id(clock)?,
    };
    Ok(SessionInfo::new(&id, &setup.cwd)?)
}

/// Returns the project in which the offline chats of a folder are stored.
pub fn offline_project(setup: &ChatSetup<'_>) -> String {
    let home = &setup.connector.settings().home;
    home.offline_project(&Projects::load(home).resolve_project_or_guess(&setup.cwd, None))
}

/// Finds the chats of this project, latest first; includes offline chats if requested.
fn find_earlier_chats(setup: &ChatSetup<'_>, is_offline: bool) -> Result<Vec<EarlierChat>> {
    let projects = Projects::load(&setup.connector.settings().home);
    let offline = is_offline.then(|| offline_project(setup));
    let roots = projects.find_known_project(&setup.cwd).into_iter().chain(offline);
    let mut all = Vec::new();
    for root in roots.filter(|root| projects.find_folder(root).is_some()) {
        all.extend(load_chats_of_project(&setup.connector, &root)?);
    }
    all.sort_by_key(|one| std::cmp::Reverse(one.latest));
    Ok(all)
}

fn load_chats_of_project(connector: &DaemonConnector, root: &str) -> Result<Vec<EarlierChat>> {
    let mut sessions: Vec<EarlierChat> = Vec::new();
    let (mut continuation, mut seen) = (String::new(), 0);
    loop {
        let query = EventListQuery {
            project: Some(root.to_owned()),
            agents: vec![SessionInfo::DEFAULT_AGENT.to_owned()],
            kinds: vec![EventKind::UserMessage],
            limit: PAGE_PROMPTS,
            newest_first: true,
            continuation: std::mem::take(&mut continuation),
            ..EventListQuery::default()
        };
        let page =
            connector.call_blocking(async |client| client.list_events(query.clone()).await)?;
        seen += page.events.len();
        page.events.iter().for_each(|event| count_prompt(&mut sessions, event));
        match page.continuation {
            Some(more) if seen < PROMPTS_SCANNED_MAX => continuation = more,
            _ => return Ok(sessions),
        }
    }
}

/// Counts a prompt for its session. Prompts arrive newest first.
fn count_prompt(sessions: &mut Vec<EarlierChat>, event: &Event) {
    let id = event.session.as_str();
    match sessions.iter_mut().find(|one| one.id == id) {
        Some(known) => {
            known.prompts += 1;
            known.first.clone_from(&event.text);
        }
        None => sessions.push(EarlierChat {
            id: id.to_owned(),
            latest: event.at,
            prompts: 1,
            first: event.text.clone(),
        }),
    }
}

/// Finds a session by its id or a unique prefix.
fn find_by_id(all: &[EarlierChat], part: &str) -> Result<String> {
    if let Some(exact) = all.iter().find(|chat| chat.id == part) {
        return Ok(exact.id.clone());
    }
    let matches: Vec<&EarlierChat> = all.iter().filter(|chat| chat.id.starts_with(part)).collect();
    match matches.as_slice() {
        [chat] => Ok(chat.id.clone()),
        [] => {
            let refusal = CommandError::not_found(format!("no chat {part:?} in this project"));
            Err(refusal.with_hint("`tome chat --resume` lists the chats").into())
        }
        several => {
            let ids: Vec<&str> = several.iter().map(|chat| chat.id.as_str()).collect();
            let message = format!("{part:?} is ambiguous: {}", ids.join(", "));
            Err(CommandError::bad_input(message).with_hint("give more of the id").into())
        }
    }
}

/// Returns the only session, or asks the user to select one.
fn select_session(clock: &dyn Clock, all: &[EarlierChat]) -> Result<String> {
    let listed = all.get(..all.len().min(LISTED_MAX)).unwrap_or_default();
    match listed {
        [] => return Err(nothing_to_resume()),
        [chat] => return Ok(chat.id.clone()),
        _ => {}
    }
    let mut err = tome_terminal::stderr();
    writeln!(err, "{BOLD}Chats in this project{RESET}")?;
    let now = clock.now();
    for (n, chat) in listed.iter().enumerate() {
        let short: String = chat.id.chars().take(8).collect();
        let (when, summary) =
            (format_ago(now, chat.latest), one_line(&chat.first, SUMMARY_CHARS_MAX));
        let prompts = format_counted(chat.prompts, "prompt", "prompts");
        writeln!(err, "  {:>2}  {short}  {DIM}{when:>10}  {prompts:>10}{RESET}  {summary}", n + 1)?;
    }
    if !std::io::stdin().is_terminal() {
        let refusal = CommandError::bad_input("several chats can be resumed");
        return Err(refusal
            .with_hint("choose one with `tome chat --resume ID`, or the latest with `--continue`")
            .into());
    }
    write!(err, "Which one? [1] ")?;
    err.flush()?;
    let mut typed = String::new();
    std::io::stdin().lock().read_line(&mut typed)?;
    let index = match typed.trim() {
        "" => Some(0),
        typed => typed.parse::<usize>().ok().and_then(|number| number.checked_sub(1)),
    };
    let chosen = index.and_then(|index| listed.get(index));
    let chosen =
        chosen.map_or_else(|| find_by_id(all, typed.trim()), |chat| Ok(chat.id.clone()))?;
    Ok(chosen)
}

fn nothing_to_resume() -> anyhow::Error {
    let refusal = CommandError::not_found("no chat to resume in this project");
    refusal.with_hint("start one with `tome chat`").into()
}

/// Generates an id that starts with random digits, so that short prefixes are unique.
fn generate_id(clock: &dyn Clock) -> Result<String> {
    let mut bytes = [0_u8; 8];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("{error}"))?;
    let chance = to_hex(&bytes);
    let chance = chance.split_at_checked(8).context("an id is made of 16 digits")?;
    let day: String = clock.now().to_string().chars().take(10).collect();
    Ok(format!("{}-{}-{day}", chance.0, chance.1))
}
