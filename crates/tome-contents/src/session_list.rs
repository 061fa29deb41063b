//! Sessions as lines of a list, read from their stored segments.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tome_ledger::{EventRange, Ledger, OrderKey, ScanDirection};
use tome_model::{Agent, EventId, Fact, FactKind, Grip, Millis, SessionId, SessionStats, Work};

use crate::extract::{FactPlace, PullState, find_undone_facts, stands_alone};
use tome_home::HomeError;

/// Characters of an id that a list shows at least.
const SHORT_ID_CHARS: usize = 8;

/// Selects sessions.
#[derive(Debug, Clone, Default)]
pub struct SessionQuery {
    /// Only this project; all if `None`.
    pub project: Option<String>,
    /// Only sessions of projects outside this folder.
    pub outside: Option<PathBuf>,
    /// Only sessions with events at or after this time.
    pub from: Option<Millis>,
    /// Only sessions with events before this time.
    pub to: Option<Millis>,
    /// Only sessions of these agents; all when empty.
    pub agents: Vec<Agent>,
    /// Only sessions on a branch whose name contains this.
    pub branch: Option<String>,
    /// Only sessions whose title, branch or facts have words that begin with all of these, whatever
    /// their case; the best match first.
    pub words: Vec<String>,
    /// Only these sessions; all when empty.
    pub ids: Vec<SessionId>,
    /// Limit of sessions to return.
    pub sessions_max: usize,
    /// Whether to return facts, of the time range only.
    pub with_facts: bool,
}

/// The latest sessions that a query selects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionList {
    /// The latest first.
    pub sessions: Vec<SessionListing>,
    /// Number of sessions that match, listed or not.
    pub total: u64,
    /// Stores that could not be read, with the reason.
    pub skipped: Vec<String>,
}

/// One row of a [`SessionList`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionListing {
    /// The session's id.
    pub id: SessionId,
    /// The shortest prefix of the id that no other session of the list's projects has.
    pub short_id: String,
    /// The agent that ran it.
    pub agent: Agent,
    /// The root of its project.
    pub project: String,
    /// The folder in which it began.
    pub cwd: String,
    /// One line that says what it was about.
    pub title: String,
    /// The branch that it was last on, if known.
    pub branch: Option<String>,
    /// The linked worktree that it was last in; `None` if it was in the main one, or if unknown.
    pub worktree: Option<String>,
    /// Time of the first event.
    pub first_at: Millis,
    /// Time of the last event.
    pub last_at: Millis,
    /// Number of events.
    pub events: u64,
    /// Number of prompts.
    pub prompts: u64,
    /// Number of commits.
    pub commits: u64,
    /// The weightiest outcome, if one is known.
    pub conclusion: Option<String>,
    /// Facts, in order; only if they were requested.
    pub facts: Vec<SessionFact>,
}

/// A fact of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFact {
    /// The kind of fact.
    pub kind: FactKind,
    /// One line.
    pub text: String,
    /// The event that shows it.
    pub event: EventId,
    /// The number of that event in its project.
    pub number: u64,
    /// The time of that event.
    pub at: Millis,
    /// The branch, unless it is unknown or the main one.
    pub branch: Option<String>,
}

impl SessionListing {
    /// The command that continues the session in its agent. `None` if the agent cannot, or if the id
    /// would not be a single word in a shell.
    pub fn resume_command(&self) -> Option<String> {
        let id = self.id.as_str();
        let is_plain = !id.starts_with('-')
            && id.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        if !is_plain {
            return None;
        }
        match self.agent.as_str() {
            "claude-code" => Some(format!("claude --resume {id}")),
            "codex" => Some(format!("codex resume {id}")),
            "gemini" => Some(format!("gemini --resume {id}")),
            "copilot" => Some(format!("copilot --resume {id}")),
            "opencode" => Some(format!("opencode --session {id}")),
            _ => None,
        }
    }
}

impl SessionQuery {
    /// Whether a session may match, as far as its statistics say.
    pub(super) fn matches_stats(&self, stats: &SessionStats) -> bool {
        let is_outside = |folder: &Path| !Path::new(&stats.project).starts_with(folder);
        self.outside.as_deref().is_none_or(is_outside)
            && self.from.is_none_or(|from| stats.last_at >= from)
            && self.to.is_none_or(|to| stats.first_at < to)
            && (self.agents.is_empty() || self.agents.contains(&stats.agent))
            && (self.ids.is_empty() || self.ids.contains(&stats.session))
    }

    /// Whether a session has to be read to know whether it matches.
    pub(super) fn needs_reading(&self) -> bool {
        self.from.is_some() || self.to.is_some() || self.branch.is_some() || !self.words.is_empty()
    }

    /// Reads a session from its stored segments, without its events. `None` if it does not match.
    pub(super) fn read_listing(
        &self,
        ledger: &Ledger,
        stats: &SessionStats,
    ) -> Result<Option<(SessionListing, u32)>, HomeError> {
        let mut listing = begin_listing(stats);
        let (mut prompts, mut outcomes, mut titles) = (0, Vec::new(), Vec::new());
        // A session that is wholly in the range need not be summarized yet.
        let mut is_in_range = self.from.is_none_or(|from| stats.first_at >= from)
            && self.to.is_none_or(|to| stats.last_at < to);
        let mut branches = Vec::new();
        let mut text = String::new();
        let first = OrderKey { at: Millis(0), seq: 0 };
        let mut nodes = Vec::new();
        for segment in ledger.segments(&stats.project, &stats.session, first) {
            let segment = segment?;
            is_in_range |= self.overlaps(segment.first.at, segment.last.at);
            nodes.extend(ledger.node(&stats.project, &segment.id, None)?);
        }
        let all: Vec<&Work> = nodes.iter().flat_map(|node| &node.work).collect();
        let undone = find_undone_facts(&all);
        let pulls = SessionPulls::read(ledger, &stats.project, &all)?;
        for (at, work) in all.iter().enumerate() {
            let facts = work.facts.iter().enumerate();
            let facts: Vec<(usize, &Fact)> =
                facts.filter(|(place, _)| !undone.contains(&(at, *place))).collect();
            let of_kind = |kind: FactKind| {
                facts.iter().map(|(_, fact)| *fact).filter(move |fact| fact.kind == kind)
            };
            prompts += work.turns;
            let commits =
                work.facts_of(FactKind::Commit).count() - of_kind(FactKind::Commit).count();
            listing.commits += work.commits.saturating_sub(commits as u64);
            branches.extend(work.branch.clone());
            listing.branch = work.branch.clone().or(listing.branch);
            titles.extend(of_kind(FactKind::Title).map(|title| (title.weight, title.text.clone())));
            let own = of_kind(FactKind::Outcome);
            let own = own.filter(|fact| stands_alone(fact) && self.overlaps(fact.at, fact.at));
            outcomes.extend(own.map(|fact| (fact.weight, fact.text.clone())));
            for (place, fact) in &facts {
                let text = match fact.kind {
                    FactKind::PullRequest => pulls.text_at((at, *place)),
                    _ => Some(fact.text.clone()),
                };
                let Some(text) = text else { continue };
                self.add_fact(ledger, (&stats.project, work), fact, text, &mut listing)?;
            }
            if !self.words.is_empty() {
                work.facts.iter().for_each(|fact| add_words(&mut text, &fact.text));
            }
        }
        let is_gone = |title: &str| {
            undone.iter().any(|(at, place)| {
                let fact = all.get(*at).and_then(|work| work.facts.get(*place));
                fact.is_some_and(|fact| fact.kind == FactKind::Title && fact.text == title)
            })
        };
        let named = nodes.iter().map(|node| &node.title).find(|title| !is_gone(title.as_str()));
        listing.title = named.cloned().unwrap_or_default();
        listing.conclusion = choose_conclusion(outcomes);
        // Of equals, the first.
        let best = titles.into_iter().rev().max_by_key(|(weight, _)| *weight);
        let best = best.map(|(_, title)| pulls.current_title(&title).unwrap_or(title));
        if let Some(title) = best.or_else(|| listing.conclusion.clone().filter(|_| named.is_none()))
        {
            listing.title = title;
        }
        if self.branch.is_some() && branches.is_empty() && is_in_range {
            // Work on the main branch is not named by it.
            branches.extend(find_last_location(ledger, &stats.project, &stats.session)?.branch);
        }
        let is_on_branch = |wanted: &str| {
            branches.iter().any(|branch| branch.to_lowercase().contains(&wanted.to_lowercase()))
        };
        branches.iter().for_each(|branch| add_words(&mut text, branch));
        let ranks = self.words.iter().map(|word| rank_word(word, &listing.title, &text));
        let rank = ranks.sum::<Option<u32>>();
        let (Some(rank), true) =
            (rank, is_in_range && self.branch.as_deref().is_none_or(is_on_branch))
        else {
            return Ok(None);
        };
        if prompts > 0 {
            listing.prompts = prompts;
        }
        Ok(Some((listing, rank)))
    }

    fn overlaps(&self, first: Millis, last: Millis) -> bool {
        self.from.is_none_or(|from| last >= from) && self.to.is_none_or(|to| first < to)
    }

    /// Adds a fact of the time range that a list shows, in these words.
    fn add_fact(
        &self,
        ledger: &Ledger,
        (project, work): (&str, &Work),
        fact: &Fact,
        text: String,
        listing: &mut SessionListing,
    ) -> Result<(), HomeError> {
        let mut shown = listing.facts.iter();
        let is_shown = self.with_facts
            && is_listed(fact.kind)
            && self.overlaps(fact.at, fact.at)
            // Several segments may name one issue.
            && (fact.kind != FactKind::Issue || shown.all(|known| known.text != text));
        if is_shown && let Some(grip) = find_evidence(ledger, project, fact)? {
            listing.facts.push(SessionFact {
                kind: fact.kind,
                text,
                number: find_number(ledger, &grip.first)?,
                event: grip.first,
                at: fact.at,
                branch: work.branch.clone(),
            });
        }
        Ok(())
    }
}

fn begin_listing(stats: &SessionStats) -> SessionListing {
    SessionListing {
        id: stats.session.clone(),
        short_id: String::new(),
        agent: stats.agent.clone(),
        project: stats.project.clone(),
        cwd: String::new(),
        title: String::new(),
        branch: None,
        worktree: None,
        first_at: stats.first_at,
        last_at: stats.last_at,
        events: stats.events,
        prompts: stats.user_messages,
        commits: 0,
        conclusion: None,
        facts: Vec::new(),
    }
}

/// The outcome that says what the session came to: the weightiest, where later ones weigh a little more.
fn choose_conclusion(outcomes: Vec<(u32, String)>) -> Option<String> {
    const LAST_WEIGHT: u64 = 15;
    let count = outcomes.len() as u64;
    let ranked = outcomes.into_iter().zip(1..);
    let best = ranked
        .max_by_key(|((weight, _), position)| u64::from(*weight) * count + LAST_WEIGHT * position);
    best.map(|((_, text), _)| text)
}

fn add_words(text: &mut String, more: &str) {
    text.push_str(more);
    text.push('\n');
}

/// How well a word matches: the title counts more than other texts, and a whole word more than the
/// beginning of one. `None` if no word begins with it.
fn rank_word(word: &str, title: &str, text: &str) -> Option<u32> {
    let ranked = |found: Option<bool>, weight: u32| {
        found.map(|is_whole| if is_whole { weight * 2 } else { weight })
    };
    ranked(find_word(title, word), 4).or_else(|| ranked(find_word(text, word), 1))
}

/// Whether some word of a text begins with `word`, and whether one is equal to it. Words begin after
/// anything but letters and digits, and at capitals inside of names.
fn find_word(text: &str, word: &str) -> Option<bool> {
    let lower = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<Vec<char>>();
    let wanted = lower(word);
    let chars: Vec<char> = text.chars().collect();
    let mut found = None;
    for at in 0..chars.len() {
        let here = chars.get(at..).unwrap_or_default();
        let begins = here.iter().flat_map(|c| c.to_lowercase()).take(wanted.len());
        if !begins.eq(wanted.iter().copied()) {
            continue;
        }
        let before = at.checked_sub(1).and_then(|before| chars.get(before));
        let is_capital = here.first().is_some_and(|c| c.is_uppercase());
        let is_start = before.is_none_or(|c| {
            !c.is_alphanumeric() || !c.is_ascii() || c.is_lowercase() && is_capital
        });
        let is_end = here.get(wanted.len()).is_none_or(|c| !c.is_alphanumeric());
        if is_start {
            found = Some(is_end || found == Some(true));
        }
    }
    found
}

pub(super) const fn is_listed(kind: FactKind) -> bool {
    let is_hidden = matches!(
        kind,
        FactKind::Title | FactKind::Request | FactKind::Change | FactKind::UndoneCommit
    );
    !is_hidden
}

/// The first excerpt that shows a fact, if it is still there.
fn find_evidence(ledger: &Ledger, project: &str, fact: &Fact) -> Result<Option<Grip>, HomeError> {
    let Some(grip) = fact.grips().first() else { return Ok(None) };
    Ok(ledger.grip(project, grip)?)
}

/// The pull requests of a session, each once, with the place of the fact that tells it.
struct SessionPulls(Vec<(FactPlace, PullState)>);

impl SessionPulls {
    fn read(ledger: &Ledger, project: &str, work: &[&Work]) -> Result<Self, HomeError> {
        let mut pulls = Self(Vec::new());
        for (at, work) in work.iter().enumerate() {
            for (place, fact) in work.facts.iter().enumerate() {
                if fact.kind != FactKind::PullRequest {
                    continue;
                }
                let grip = find_evidence(ledger, project, fact)?;
                let excerpt = grip.map(|grip| grip.excerpt).unwrap_or_default();
                let Some(pull) = PullState::parse(&fact.text, &excerpt) else { continue };
                match pulls.0.iter_mut().find(|(_, known)| known.is_same(&pull)) {
                    Some((_, known)) => known.add(pull),
                    None => pulls.0.push(((at, place), pull)),
                }
            }
        }
        Ok(pulls)
    }

    /// The statement of a pull request at the place of its first one; `None` at the others.
    fn text_at(&self, place: FactPlace) -> Option<String> {
        self.0.iter().find(|(own, _)| *own == place).map(|(_, pull)| pull.render())
    }

    /// The title of a session that is the earlier title of a pull request, as that is called now.
    fn current_title(&self, title: &str) -> Option<String> {
        let named = PullState::parse(title, "")?;
        let mut own = self.0.iter().map(|(_, pull)| pull).filter(|pull| pull.is_same(&named));
        let pull = own.next().filter(|_| own.next().is_none())?;
        Some(format!("PR #{}: {}", pull.number, pull.title.as_ref()?))
    }
}

/// The number of an event in its project; 0 if it is not stored.
pub(super) fn find_number(ledger: &Ledger, event: &EventId) -> Result<u64, HomeError> {
    Ok(ledger.position(event)?.map_or(0, |position| position.order_key().seq))
}

/// The folder in which a session began; empty if it has no events.
pub(super) fn find_first_folder(
    ledger: &Ledger,
    project: &str,
    session: &SessionId,
) -> Result<String, HomeError> {
    let range = EventRange {
        session: Some(session.clone()),
        direction: ScanDirection::Forward,
        ..EventRange::default()
    };
    for event in ledger.events(&range) {
        let (_, event) = event?;
        if event.project == project {
            return Ok(event.cwd);
        }
    }
    Ok(String::new())
}

/// Events that are read to find where a session was last; the latest few have a location.
const LOCATED_EVENTS_MAX: usize = 500;

/// Where a session was last.
#[derive(Debug, Default)]
pub(super) struct LastLocation {
    pub(super) branch: Option<String>,
    /// The linked worktree.
    pub(super) worktree: Option<String>,
}

/// Finds where a session was last.
pub(super) fn find_last_location(
    ledger: &Ledger,
    project: &str,
    session: &SessionId,
) -> Result<LastLocation, HomeError> {
    let range = EventRange {
        session: Some(session.clone()),
        direction: ScanDirection::Backward,
        ..EventRange::default()
    };
    for event in ledger.events(&range).take(LOCATED_EVENTS_MAX) {
        let (_, event) = event?;
        let field = |name: &str| event.meta.get(name).and_then(Value::as_str);
        let has_location = ["worktree", "commit", "branch"]
            .into_iter()
            .any(|name| field(name).is_some_and(|value| !value.is_empty()));
        if event.project == project && has_location {
            let own = |name: &str| field(name).map(str::to_owned);
            return Ok(LastLocation { branch: own("branch"), worktree: own("worktree") });
        }
    }
    Ok(LastLocation::default())
}

/// The shortest prefix of `id`, of at least 8 characters, that no other id has. `sorted` holds all
/// ids, in order and without duplicates.
pub(super) fn shorten_id(id: &str, sorted: &[SessionId]) -> String {
    let at = sorted.partition_point(|other| other.as_str() < id);
    let before = at.checked_sub(1).and_then(|at| sorted.get(at));
    let after = sorted.iter().skip(at).find(|other| other.as_str() != id);
    let shared =
        [before, after].into_iter().flatten().map(|other| shared_chars(id, other.as_str()));
    let chars = shared.map(|shared| shared + 1).max().unwrap_or(0).max(SHORT_ID_CHARS);
    let short: String = id.chars().take(chars).collect();
    // A hyphen at the end looks like a mistake.
    if short.ends_with('-') { id.chars().take(chars + 1).collect() } else { short }
}

fn shared_chars(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_as_short_as_they_can_be() {
        let ids = ["0198c3f2-aa01", "0198c3f2-aa02", "419f42f0-2fa1", "s1"];
        let sorted: Vec<SessionId> = ids.iter().map(|id| SessionId::parse(id).unwrap()).collect();
        let short: Vec<String> = ids.iter().map(|id| shorten_id(id, &sorted)).collect();
        assert_eq!(short, ["0198c3f2-aa01", "0198c3f2-aa02", "419f42f0", "s1"]);
    }

    #[test]
    fn words_match_from_their_beginning() {
        assert_eq!(find_word("an empty line", "pty"), None);
        assert_eq!(find_word("use creack/pty here", "PTY"), Some(true));
        assert_eq!(find_word("the pty_test", "pty"), Some(true));
        assert_eq!(find_word("ptys everywhere", "pty"), Some(false));
        assert_eq!(find_word("SkipsEmptyVersion", "empty"), Some(false));
        assert_eq!(find_word("修正する", "する"), Some(true));
        let rank = |word| rank_word(word, "Fix the lexer", "parser\nlexers");
        assert_eq!((rank("lexer"), rank("lex"), rank("lexers")), (Some(8), Some(4), Some(2)));
        assert_eq!((rank("pars"), rank("exer")), (Some(1), None));
    }

    #[test]
    fn a_session_whose_id_is_no_plain_word_has_no_resume_command() {
        let mut listing = begin_listing(&SessionStats {
            session: SessionId::parse("0198c3f2-aa01").unwrap(),
            agent: Agent::parse("codex").unwrap(),
            project: "/app".to_owned(),
            first_at: Millis(0),
            last_at: Millis(0),
            events: 0,
            user_messages: 0,
            tool_results: 0,
        });
        assert_eq!(listing.resume_command().as_deref(), Some("codex resume 0198c3f2-aa01"));
        for id in ["x; rm -rf ~", "--help", "a b", "$(id)"] {
            listing.id = SessionId::parse(id).unwrap();
            assert_eq!(listing.resume_command(), None, "{id}");
        }
    }
}
