//! Recall: a query in, cited hits out.
//!
//! Steps: parse the query, collect candidates from every available tier, read and rank them, fuse
//! the ranks, cite, and pack. Every index may be missing or behind; recall then scans the texts
//! themselves.

mod abreast;
mod asked;
mod candidate;
mod citation;
mod cite;
mod copies;
mod elsewhere;
mod endpoint;
mod error;
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
mod transcript;
mod unindexed;
mod weights;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tome_finder::{Embedder, Source};
use tome_ledger::EventRange;
use tome_model::Clock;

use tome_contents::Calendar;
use tome_home::{Home, HomeError, Notebooks, Projection, ProjectionReport, Store, Stores};

use asked::HELD_MAX;
use cite::Cite;
use floor::Evidence;
use gather::Gathered;
use keeper::{Desk, Keeper, Sessions};
use pack::Chosen;
use plan::Plan;
use rank::Ranked;

pub use citation::{Citation, Citations, CitedPlace, Opened, OpenedPlace, Viewpoint};
pub use endpoint::{EmbedderReading, EndpointEmbedder};
pub use error::RecallError;
pub use keeper::{DeskReport, Followed};
pub use own::OwnPrompt;
pub use proactive::is_worth_searching;
pub use question::{
    Across, Elsewhere, RecallAnswer, RecallHit, RecallQuestion, Stage, Tier, Within, source_name,
};
pub use transcript::{COPY, Copied, CopiedLine, CopiesRebuilt, SessionCopies};

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

    /// Answers a question.
    pub fn ask(&self, question: &RecallQuestion) -> Result<RecallAnswer, RecallError> {
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

    /// Whether anything was recorded in the time that the question names, if it names one. Where many
    /// stores would have to be opened for that, it is taken for granted.
    fn has_events_then(&self, plan: &Plan, desks: &[DeskAsked]) -> Result<bool, RecallError> {
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
    ) -> Result<(), RecallError> {
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
    ) -> Result<RecallAnswer, RecallError> {
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
    ) -> Result<(Vec<Ranked>, Gathered), RecallError> {
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

    /// Contents that are only a little behind are made first: what was just said is in the answer.
    /// Says how far behind they are then.
    fn catch_up(&self, plan: &Plan, desk: &Desk) -> Result<u64, RecallError> {
        let Some(path) = desk.ledger.as_ref().filter(|_| plan.pages().contains(&Source::Node))
        else {
            return Ok(0);
        };
        let store = self.keeper.stores.open(path)?;
        let behind = || -> Result<u64, RecallError> {
            Ok(store.last_seq().saturating_sub(store.cursor(tome_contents::CONTENTS)?))
        };
        if (1..=CATCH_UP_MAX).contains(&behind()?) {
            self.calendar.catch_up(&store, &|| false)?;
        }
        behind()
    }

    /// Looks up the transcript lines of cited events that no index provided.
    fn number_lines(
        &self,
        ranked: &mut [Ranked],
        chosen: &[Chosen],
        gathered: &Gathered,
    ) -> Result<(), RecallError> {
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
            self.keeper.copies.write_new(ledger)?;
            if let Some(event) = ledger.event_of(mark)? {
                let lines = self.keeper.copies.lines(ledger, &[&event])?;
                candidate.line = lines.first().copied().unwrap_or(0);
            }
        }
        Ok(())
    }

    /// The desks that a question is about, each with the project that is meant.
    fn desks(&self, plan: &Plan, question: &RecallQuestion) -> Result<Vec<DeskAsked>, RecallError> {
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

    /// Brings the indexes over a store up to date, if they are behind.
    pub fn keep_up(&self, store: &Store, stop: &dyn Fn() -> bool) -> Result<Followed, RecallError> {
        let Some(desk) = self.keeper.of_ledger(store.path()) else {
            return Ok(Followed::default());
        };
        match self.keeper.is_behind(&desk, Some(store)) {
            true => self.keeper.keep_up(&desk, stop),
            false => Ok(Followed::default()),
        }
    }

    /// Brings the indexes over the coder's notebook, and those of projects that have only notes, up to
    /// date where a question has seen that they are behind.
    pub fn keep_up_notes(&self, stop: &dyn Fn() -> bool) -> Result<Followed, RecallError> {
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
    ) -> Result<Followed, RecallError> {
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
    ) -> Result<Followed, RecallError> {
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

    /// How the indexes over a store are, read from their files; nothing is opened or made.
    pub fn index_report(&self, store: &Store) -> Result<Option<DeskReport>, RecallError> {
        let desk = self.keeper.of_ledger(store.path());
        desk.map(|desk| self.keeper.report(&desk, Some(store))).transpose()
    }

    /// How the indexes over the coder's notebook are.
    pub fn report_of_coder(&self) -> Result<DeskReport, RecallError> {
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

/// BM25 and, unless a remote endpoint makes them, vectors: one pass reads each text once for both.
impl Projection for Recall {
    fn name(&self) -> &'static str {
        "indexes"
    }

    fn cursor(&self, store: &Store) -> Result<u64, HomeError> {
        let reports = Projection::report(self, store)?;
        let events = reports.iter().filter(|index| index.name.ends_with("/events"));
        Ok(events.map(|index| index.cursor).min().unwrap_or(0))
    }

    fn is_behind(&self, store: &Store) -> Result<bool, HomeError> {
        let desk = self.keeper.of_ledger(store.path());
        Ok(desk.is_some_and(|desk| self.keeper.is_behind(&desk, Some(store))))
    }

    fn catch_up(&self, store: &Store, stop: &dyn Fn() -> bool) -> Result<(), HomeError> {
        self.keep_up(store, stop)?;
        Ok(())
    }

    /// Deletes the indexes and builds them again; queries are answered from the texts meanwhile.
    fn rebuild(&self, store: &Store) -> Result<(), HomeError> {
        if let Some(desk) = self.keeper.of_ledger(store.path()) {
            desk.close();
            let folder = tome_home::layout::indexes_beside(store.path());
            match std::fs::remove_dir_all(&folder) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(HomeError::file("delete", &folder)(error));
                }
                _ => {}
            }
        }
        Projection::catch_up(self, store, &|| false)
    }

    fn report(&self, store: &Store) -> Result<Vec<ProjectionReport>, HomeError> {
        Ok(self.index_report(store)?.map(|report| report.indexes).unwrap_or_default())
    }
}

/// Vectors made by a remote endpoint: a slow one, or one that is away, delays nothing else.
pub struct RemoteVectors(pub Arc<Recall>);

impl Projection for RemoteVectors {
    fn name(&self) -> &'static str {
        "vectors"
    }

    fn cursor(&self, store: &Store) -> Result<u64, HomeError> {
        let vectors = self.report(store)?.into_iter().find(|index| index.name == "vectors/events");
        Ok(vectors.map_or(0, |index| index.cursor))
    }

    fn is_behind(&self, store: &Store) -> Result<bool, HomeError> {
        let keeper = &self.0.keeper;
        let desk = keeper.of_ledger(store.path());
        Ok(desk.is_some_and(|desk| keeper.are_meanings_behind(&desk, Some(store))))
    }

    fn catch_up(&self, store: &Store, stop: &dyn Fn() -> bool) -> Result<(), HomeError> {
        self.0.keep_up_meanings(store, stop)?;
        Ok(())
    }

    fn rebuild(&self, store: &Store) -> Result<(), HomeError> {
        Projection::rebuild(&*self.0, store)
    }

    fn report(&self, store: &Store) -> Result<Vec<ProjectionReport>, HomeError> {
        let mut indexes = Projection::report(&*self.0, store)?;
        indexes.retain(|index| index.name.starts_with("vectors/"));
        Ok(indexes)
    }
}

/// What nobody asked for waits for no copy of a session to be written: events are cited by their ids.
fn without_lines(ranked: &mut [Ranked]) {
    let events = ranked.iter_mut().filter(|one| one.candidate.source == Source::Event);
    events.for_each(|one| one.candidate.line = 0);
}
