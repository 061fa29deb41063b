//! Recall: a query in, cited hits out.
//!
//! Steps: parse the query, collect candidates from every available tier, read and rank them, fuse
//! the ranks, cite, and pack. Every index may be missing or behind; recall then scans the texts
//! themselves.

mod abreast;
mod asked;
mod candidate;
mod cite;
mod copies;
mod elsewhere;
mod endpoint;
mod floor;
mod fuse;
mod gather;
mod inquiry;
mod keeper;
pub(crate) mod literal;
mod own;
mod pack;
mod plan;
mod proactive;
mod question;
mod rank;
mod spread;
mod terms;
mod then;
mod unindexed;
mod weights;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tome_finder::{Embedder, Source};
use tome_ledger::EventRange;
use tome_model::Clock;

use crate::{Calendar, Citations, EngineError, Home, Notebooks, SessionCopies, Store, Stores};

use asked::HELD_MAX;
use cite::Cite;
use floor::Evidence;
use gather::Gathered;
use keeper::{Desk, Keeper, Sessions};
use pack::Chosen;
use plan::Plan;
use rank::Ranked;

pub use endpoint::{EmbedderReading, EndpointEmbedder};
pub use keeper::{DeskReport, Followed, WorkerReport};
pub use own::OwnPrompt;
pub use proactive::is_worth_searching;
pub use question::{
    Across, Elsewhere, RecallAnswer, RecallHit, RecallQuestion, Stage, Tier, Within, source_name,
};

/// Maximum lag, in events, up to which contents are updated before a query.
const CATCH_UP_MAX: u64 = 50;

/// An index set to search, with the project to filter by.
type DeskAsked = (Arc<Desk>, Option<String>);

/// Recall over one home.
pub struct Recall {
    keeper: Keeper,
    calendar: Arc<Calendar>,
    clock: Arc<dyn Clock>,
}

impl Recall {
    /// Creates recall over these stores and notebooks.
    pub fn new(
        home: Home,
        stores: Arc<Stores>,
        notebooks: Arc<Notebooks>,
        calendar: Arc<Calendar>,
        copies: Arc<SessionCopies>,
        embedder: Arc<dyn Embedder>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let desks = Mutex::new(HashMap::new());
        let keeper = Keeper {
            home,
            stores,
            notebooks,
            copies,
            embedder,
            desks,
            uses: AtomicU64::new(0),
            portions: Mutex::new(()),
            sessions: Sessions::default(),
        };
        Self { keeper, calendar, clock }
    }

    /// Answers a query.
    pub fn ask(&self, question: &RecallQuestion) -> Result<RecallAnswer, EngineError> {
        let began = Instant::now();
        let mut plan = Plan::of(question, &*self.clock, self.calendar.zone())?;
        let desks = self.desks(&plan, question)?;
        if !plan.asks_what_happened() && !self.has_events_then(&plan, &desks)? {
            plan.take_time_as_words();
        }
        let is_wide = desks.len() > HELD_MAX;
        // One wide query at a time, because each opens stores that others do not need.
        let wide = &self.keeper.stores.wide;
        let _few_at_a_time = is_wide.then(|| wide.lock().unwrap_or_else(PoisonError::into_inner));
        let mut gathered = Gathered::new(is_wide);
        gathered.stage("understand", began, plan.explained());
        for (desk, project) in desks {
            let unasked = question.unasked;
            if let Err(error) =
                self.ask_desk(&mut gathered, &plan, &desk, project.as_deref(), unasked)
            {
                if question.across != Across::All {
                    return Err(error);
                }
                gathered.unread.push(error.explained());
            }
        }
        let mut answer = self.answer(question, &plan, gathered)?;
        let is_asked = plan.limit > 0 && !question.unasked;
        if answer.hits.is_empty() && is_asked && question.across == Across::Project {
            self.look_elsewhere(question, &mut answer);
        }
        Ok(answer)
    }

    /// Returns whether anything was recorded in the time span that the query names, if any. Assumes
    /// so for queries over all projects, which would have to open many stores.
    fn has_events_then(&self, plan: &Plan, desks: &[DeskAsked]) -> Result<bool, EngineError> {
        let (Some((from, to)), false) = (plan.span, plan.across == Across::All) else {
            return Ok(true);
        };
        for path in desks.iter().filter_map(|(desk, _)| desk.ledger.as_ref()) {
            let range = EventRange { from: Some(from), to: Some(to), ..EventRange::default() };
            if self.keeper.stores.open(path)?.events(&range).next().transpose()?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Collects candidates from one index set. Proactive queries skip catching up first.
    fn ask_desk(
        &self,
        gathered: &mut Gathered,
        plan: &Plan,
        desk: &Arc<Desk>,
        project: Option<&str>,
        unasked: bool,
    ) -> Result<(), EngineError> {
        if !unasked {
            gathered.behind = gathered.behind.max(self.catch_up(plan, desk)?);
        }
        match plan.asks_what_happened() {
            true => gathered.ask_then(&self.keeper, plan, desk, project),
            false => gathered.ask(&self.keeper, plan, desk, project),
        }
    }

    /// Ranks the candidates and builds the answer.
    fn answer(
        &self,
        question: &RecallQuestion,
        plan: &Plan,
        gathered: Gathered,
    ) -> Result<RecallAnswer, EngineError> {
        let (mut ranked, gathered) = match plan.asks_what_happened() {
            true => {
                let (mut ranked, gathered) = gathered.newest_first(&self.keeper, plan)?;
                self.without_own(question, &mut ranked)?;
                self.answer_copies(question, &gathered, &mut ranked)?;
                (ranked, gathered)
            }
            false => self.relevant(question, plan, gathered)?,
        };
        let session = plan.session.as_ref().map(|session| session.folder.as_str());
        let projects = self.keeper.stores.projects();
        let cite = Cite { projects, project: question.project.as_deref(), session };
        let since = Instant::now();
        let chosen = pack::choose(&ranked, plan);
        match question.unasked {
            true => without_lines(&mut ranked),
            false => self.number_lines(&mut ranked, &chosen, &gathered)?,
        }
        let mut packed = pack::pack(&ranked, &chosen, plan, &cite, question.tokens_max);
        copies::drop_bare_questions(question, &mut packed.hits);
        let mut answer = RecallAnswer {
            tier: gathered.tier.unwrap_or(Tier::Literal),
            behind: gathered.behind,
            unread: gathered.unread,
            hits: packed.hits,
            more: packed.more,
            elsewhere: Vec::new(),
            time: plan.said.clone(),
            stages: gathered.stages,
        };
        answer.stages.push(Stage {
            name: "pack".to_owned(),
            found: format!("{} hits", answer.hits.len()),
            took: since.elapsed(),
        });
        Ok(answer)
    }

    /// Returns the relevant candidates, best first.
    fn relevant(
        &self,
        question: &RecallQuestion,
        plan: &Plan,
        gathered: Gathered,
    ) -> Result<(Vec<Ranked>, Gathered), EngineError> {
        let (mut ranked, mut gathered) = gathered.rank(&self.keeper, plan)?;
        let since = Instant::now();
        if question.unasked {
            ranked.retain(|one| floor::stands_alone(one) && !plan.is_of_its_session(one));
        }
        self.without_own(question, &mut ranked)?;
        self.answer_copies(question, &gathered, &mut ranked)?;
        let evidence = Evidence::of(&ranked, plan);
        if !question.no_floor && !evidence.is_enough() {
            ranked.clear();
        }
        ranked.retain(|one| evidence.admits(one));
        gathered.stage("threshold", since, evidence.explained());
        plan.prefer_its_time(&mut ranked);
        Ok((ranked, gathered))
    }

    /// Updates contents that are slightly behind, so that recent events are included. Returns how
    /// far behind they are afterwards.
    fn catch_up(&self, plan: &Plan, desk: &Desk) -> Result<u64, EngineError> {
        let Some(path) = desk.ledger.as_ref().filter(|_| plan.pages().contains(&Source::Node))
        else {
            return Ok(0);
        };
        let store = self.keeper.stores.open(path)?;
        let behind = || -> Result<u64, EngineError> {
            Ok(store.last_seq().saturating_sub(store.cursor(crate::CONTENTS)?))
        };
        if (1..=CATCH_UP_MAX).contains(&behind()?) {
            self.calendar.catch_up(&store)?;
        }
        behind()
    }

    /// Looks up the transcript lines of cited events that no index provided.
    fn number_lines(
        &self,
        ranked: &mut [Ranked],
        chosen: &[Chosen],
        gathered: &Gathered,
    ) -> Result<(), EngineError> {
        for at in chosen.iter().flat_map(Chosen::cited) {
            let Some(one) = ranked.get_mut(at) else { continue };
            let candidate = &mut one.candidate;
            let Some(asked) = gathered.asked.get(candidate.desk) else { continue };
            let Some(mark) = candidate.body.as_ref().and_then(candidate::Body::mark) else {
                continue;
            };
            if candidate.line > 0 {
                continue;
            }
            let open = asked.open(&self.keeper)?;
            let Some(ledger) = open.ledger.as_ref() else { continue };
            // The index has the line, which avoids reading the transcript.
            let known = open.meanings.as_ref().and_then(|meanings| meanings.line(mark.seq));
            if let Some(line) = known.filter(|line| *line > 0) {
                candidate.line = line;
                continue;
            }
            if self.keeper.copies.is_behind(ledger)? {
                self.keeper.copies.catch_up(ledger)?;
            }
            if let Some(event) = ledger.event_of(mark)? {
                let lines = self.keeper.copies.lines(ledger, &[&event])?;
                candidate.line = lines.first().copied().unwrap_or(0);
            }
        }
        Ok(())
    }

    /// Index sets to search, each with the project to filter by.
    fn desks(&self, plan: &Plan, question: &RecallQuestion) -> Result<Vec<DeskAsked>, EngineError> {
        let mut desks = Vec::new();
        if question.within != Within::Coder {
            match (&question.project, question.across) {
                (_, Across::All) => {
                    desks.extend(self.keeper.all().into_iter().map(|desk| (desk, None)));
                }
                (Some(root), _) => {
                    let desk = self.keeper.of_project(root);
                    desks.extend(desk.map(|desk| (desk, Some(root.clone()))));
                }
                (None, _) => {
                    let problem = "is missing: pass a project, or search across all";
                    return Err(tome_model::ModelError::invalid("project", problem).into());
                }
            }
        }
        if plan.has_coder() {
            desks.push((self.keeper.coder(), None));
        }
        Ok(desks)
    }

    /// Updates the indexes of a store if they are behind.
    pub fn keep_up(&self, store: &Store, stop: &dyn Fn() -> bool) -> Result<Followed, EngineError> {
        let Some(desk) = self.keeper.of_ledger(store.path()) else {
            return Ok(Followed::default());
        };
        match self.keeper.is_behind(&desk, Some(store)) {
            true => self.keeper.keep_up(&desk, stop),
            false => Ok(Followed::default()),
        }
    }

    /// Updates the indexes of the coder's notebook and of projects without events, if a query has
    /// found them behind.
    pub fn keep_up_notes(&self, stop: &dyn Fn() -> bool) -> Result<Followed, EngineError> {
        let mut done = Followed::default();
        for desk in self.keeper.known_desks() {
            if desk.ledger.is_none() && desk.wanting.load(Ordering::Relaxed) {
                done.pages += self.keeper.keep_up(&desk, stop)?.pages;
            }
        }
        Ok(done)
    }

    /// Updates the vectors of a store with a remote embedder. Sends no request if they are up to
    /// date.
    pub fn keep_up_meanings(
        &self,
        store: &Store,
        stop: &dyn Fn() -> bool,
    ) -> Result<Followed, EngineError> {
        let Some(desk) = self.keeper.of_ledger(store.path()) else {
            return Ok(Followed::default());
        };
        match self.keeper.are_meanings_behind(&desk, Some(store)) {
            true => self.keeper.keep_up_meanings(&desk, stop),
            false => Ok(Followed::default()),
        }
    }

    /// Like [`catch_up_vectors`](Self::catch_up_vectors), for the coder's notebook and projects
    /// without events that were queried.
    pub fn keep_up_meanings_of_notes(
        &self,
        stop: &dyn Fn() -> bool,
    ) -> Result<Followed, EngineError> {
        let mut done = Followed::default();
        for desk in self.keeper.known_desks() {
            if desk.ledger.is_none() && self.keeper.are_meanings_behind(&desk, None) {
                done.pages += self.keeper.keep_up_meanings(&desk, stop)?.pages;
            }
        }
        Ok(done)
    }

    /// Returns an opener for the citations in its answers.
    pub fn citations(&self) -> Citations {
        let (notebooks, copies) = (&self.keeper.notebooks, &self.keeper.copies);
        Citations::new(Arc::clone(notebooks), Arc::clone(&self.calendar), Arc::clone(copies))
    }

    /// Name and version of the embedder.
    pub fn embedder(&self) -> &str {
        self.keeper.embedder.name()
    }

    /// Status of the indexes of a store, read from their files; opens and creates nothing.
    pub fn report(&self, store: &Store) -> Result<Option<DeskReport>, EngineError> {
        let desk = self.keeper.of_ledger(store.path());
        desk.map(|desk| self.keeper.report(&desk, Some(store))).transpose()
    }

    /// Status of the indexes of the coder's notebook.
    pub fn report_of_coder(&self) -> Result<DeskReport, EngineError> {
        self.keeper.report(&self.keeper.coder(), None)
    }

    /// Closes the indexes of stores that are no longer open.
    pub fn close_unused(&self) {
        for desk in self.keeper.known_desks() {
            if desk.ledger.as_deref().is_some_and(|ledger| !self.keeper.stores.is_open(ledger)) {
                desk.close();
                self.keeper.forget_sessions(&desk);
            }
        }
    }
}

/// Cites events by id: a proactive query does not wait for transcripts to be written.
fn without_lines(ranked: &mut [Ranked]) {
    let events = ranked.iter_mut().filter(|one| one.candidate.source == Source::Event);
    events.for_each(|one| one.candidate.line = 0);
}
