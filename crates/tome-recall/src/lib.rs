//! Recall: a query in, cited hits out.
//!
//! Steps: parse the query, collect candidates from every available tier, read and rank them, fuse
//! the ranks, cite, and pack. Every index may be missing or behind; recall then scans the texts
//! themselves.

mod candidate;
mod citation;
mod cite;
mod collect;
mod endpoint;
mod error;
mod excluded_prompt;
mod fuse;
mod index_query;
mod indexer;
pub(crate) mod literal;
mod neighbors;
mod other_projects;
mod pack;
mod parallel;
mod plan;
mod proactive;
mod projection;
mod query;
mod rank;
mod repeated_prompts;
mod searched_set;
mod term_scores;
mod threshold;
mod time_query;
mod transcript;
mod unindexed;
mod weights;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tome_finder::{Embedder, EntrySource};
use tome_ledger::EventRange;
use tome_model::Clock;

use tome_contents::Calendar;
use tome_home::{Home, Notebooks, Projection, Store, Stores};

use cite::CitationContext;
use collect::CandidatePool;
use indexer::{IndexSet, Indexer, SessionFiles};
use pack::ChosenHit;
use plan::RecallPlan;
use rank::RankedCandidate;
use searched_set::OPEN_SETS_MAX;
use threshold::RelevanceEvidence;

pub use citation::{Citation, CitationTarget, Citations, CitedContent, OpenedCitation, Viewpoint};
pub use endpoint::{EmbedderStatus, EndpointEmbedder};
pub use error::RecallError;
pub use excluded_prompt::ExcludedPrompt;
pub use indexer::{IndexReport, IndexUpdate};
pub use proactive::is_worth_searching;
pub use projection::RemoteVectors;
pub use query::{
    Across, OtherProjectHits, RecallAnswer, RecallHit, RecallQuery, RecallScope, SearchStage, Tier,
    source_name,
};
pub use transcript::{
    SessionTranscriptLine, TRANSCRIPT_WORKER, TranscriptUpdate, Transcripts, TranscriptsRebuilt,
};

/// Maximum lag, in events, up to which contents are updated before a query.
const CATCH_UP_MAX: u64 = 50;

/// An index set to search, with the project to filter by.
type TargetSet = (Arc<IndexSet>, Option<String>);

/// Recall over one home.
pub struct Recall {
    indexer: Indexer,
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
        transcripts: Arc<Transcripts>,
        embedder: Arc<dyn Embedder>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let indexer = Indexer {
            home,
            stores,
            notebooks,
            transcripts,
            embedder,
            sets: Mutex::new(HashMap::new()),
            uses: AtomicU64::new(0),
            batch_lock: Mutex::new(()),
            session_files: SessionFiles::default(),
        };
        Self { indexer, calendar, clock }
    }

    /// Answers a query.
    pub fn search(&self, query: &RecallQuery) -> Result<RecallAnswer, RecallError> {
        let began = Instant::now();
        let mut plan = RecallPlan::from_query(query, &*self.clock, self.calendar.zone())?;
        let sets = self.target_sets(&plan, query)?;
        if !plan.is_time_only() && !self.has_events_in_span(&plan, &sets)? {
            plan.treat_time_as_words();
        }
        let is_wide = sets.len() > OPEN_SETS_MAX;
        // One wide query at a time, because each opens stores that others do not need.
        let wide = &self.indexer.stores.scan_lock;
        let _few_at_a_time = is_wide.then(|| wide.lock().unwrap_or_else(PoisonError::into_inner));
        let mut pool = CandidatePool::new(is_wide);
        pool.record_stage("understand", began, plan.explain());
        for (set, project) in sets {
            if let Err(error) =
                self.collect_from_set(&mut pool, &plan, &set, project.as_deref(), query.proactive)
            {
                if query.across != Across::All {
                    return Err(error);
                }
                pool.unread.push(error.explained());
            }
        }
        let mut answer = self.build_answer(query, &plan, pool)?;
        let is_explicit = plan.limit > 0 && !query.proactive;
        if answer.hits.is_empty() && is_explicit && query.across == Across::Project {
            self.count_other_projects(query, &mut answer);
        }
        Ok(answer)
    }

    /// Whether events exist in the time span of the query, if it has one. Assumed when searching all
    /// projects, because checking would open many stores.
    fn has_events_in_span(
        &self,
        plan: &RecallPlan,
        sets: &[TargetSet],
    ) -> Result<bool, RecallError> {
        let (Some((from, to)), false) = (plan.span, plan.across == Across::All) else {
            return Ok(true);
        };
        for path in sets.iter().filter_map(|(set, _)| set.ledger.as_ref()) {
            let range = EventRange { from: Some(from), to: Some(to), ..EventRange::default() };
            if self.indexer.stores.open(path)?.events(&range).next().transpose()?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Collects candidates from one index set. Proactive queries skip catching up first.
    fn collect_from_set(
        &self,
        pool: &mut CandidatePool,
        plan: &RecallPlan,
        set: &Arc<IndexSet>,
        project: Option<&str>,
        is_proactive: bool,
    ) -> Result<(), RecallError> {
        if !is_proactive {
            pool.behind = pool.behind.max(self.catch_up_contents(plan, set)?);
        }
        match plan.is_time_only() {
            true => pool.collect_segments(&self.indexer, plan, set, project),
            false => pool.search_set(&self.indexer, plan, set, project),
        }
    }

    /// Ranks the candidates and builds the answer.
    fn build_answer(
        &self,
        query: &RecallQuery,
        plan: &RecallPlan,
        pool: CandidatePool,
    ) -> Result<RecallAnswer, RecallError> {
        let (mut ranked, pool) = match plan.is_time_only() {
            true => {
                let (mut ranked, pool) = pool.sort_newest_first(&self.indexer, plan)?;
                self.drop_current_turn(query, &mut ranked)?;
                self.replace_repeated_prompts(query, &pool, &mut ranked)?;
                (ranked, pool)
            }
            false => self.rank_relevant(query, plan, pool)?,
        };
        let session = plan.session.as_ref().map(|session| session.folder.as_str());
        let projects = self.indexer.stores.projects();
        let cite = CitationContext { projects, project: query.project.as_deref(), session };
        let since = Instant::now();
        let chosen = pack::choose_hits(&ranked, plan);
        match query.proactive {
            true => clear_event_lines(&mut ranked),
            false => self.find_cited_lines(&mut ranked, &chosen, &pool)?,
        }
        let mut packed = pack::pack_hits(&ranked, &chosen, plan, &cite, query.tokens_max);
        repeated_prompts::drop_query_echoes(query, &mut packed.hits);
        let mut answer = RecallAnswer {
            tier: pool.tier.unwrap_or(Tier::Literal),
            behind: pool.behind,
            unread: pool.unread,
            hits: packed.hits,
            more: packed.more,
            other_projects: Vec::new(),
            time: plan.time_phrase.clone(),
            stages: pool.stages,
        };
        answer.stages.push(SearchStage {
            name: "pack".to_owned(),
            found: format!("{} hits", answer.hits.len()),
            took: since.elapsed(),
        });
        Ok(answer)
    }

    /// Returns the relevant candidates, best first.
    fn rank_relevant(
        &self,
        query: &RecallQuery,
        plan: &RecallPlan,
        pool: CandidatePool,
    ) -> Result<(Vec<RankedCandidate>, CandidatePool), RecallError> {
        let (mut ranked, mut pool) = pool.rank(&self.indexer, plan)?;
        let since = Instant::now();
        if query.proactive {
            ranked.retain(|one| {
                threshold::passes_proactive_threshold(one) && !plan.is_in_current_session(one)
            });
        }
        self.drop_current_turn(query, &mut ranked)?;
        self.replace_repeated_prompts(query, &pool, &mut ranked)?;
        let evidence = RelevanceEvidence::from_ranked(&ranked, plan);
        if !query.no_threshold && !evidence.passes_threshold() {
            ranked.clear();
        }
        ranked.retain(|one| evidence.admits_hit(one));
        pool.record_stage("threshold", since, evidence.explain());
        plan.boost_time_span(&mut ranked);
        Ok((ranked, pool))
    }

    /// Updates contents that are only slightly behind, so that the newest events are found. Returns how
    /// many events they still lack.
    fn catch_up_contents(&self, plan: &RecallPlan, set: &IndexSet) -> Result<u64, RecallError> {
        let Some(path) =
            set.ledger.as_ref().filter(|_| plan.page_sources().contains(&EntrySource::Node))
        else {
            return Ok(0);
        };
        let store = self.indexer.stores.open(path)?;
        let behind = || -> Result<u64, RecallError> {
            Ok(store.last_seq().saturating_sub(store.cursor(tome_contents::CONTENTS_WORKER)?))
        };
        if (1..=CATCH_UP_MAX).contains(&behind()?) {
            self.calendar.catch_up(&store, &|| false)?;
        }
        behind()
    }

    /// Looks up the transcript lines of cited events that no index provided.
    fn find_cited_lines(
        &self,
        ranked: &mut [RankedCandidate],
        chosen: &[ChosenHit],
        pool: &CandidatePool,
    ) -> Result<(), RecallError> {
        for at in chosen.iter().flat_map(ChosenHit::cited_indexes) {
            let Some(one) = ranked.get_mut(at) else { continue };
            let candidate = &mut one.candidate;
            let Some(searched) = pool.searched.get(candidate.set_index) else { continue };
            let Some(mark) = candidate.body.as_ref().and_then(candidate::CandidateBody::mark)
            else {
                continue;
            };
            if candidate.line > 0 {
                continue;
            }
            let open = searched.open(&self.indexer)?;
            let Some(ledger) = open.ledger.as_ref() else { continue };
            // The index has the line, which avoids reading the transcript.
            let known = open.vectors.as_ref().and_then(|vectors| vectors.event_line(mark.seq));
            if let Some(line) = known.filter(|line| *line > 0) {
                candidate.line = line;
                continue;
            }
            self.indexer.transcripts.write_new(ledger)?;
            if let Some(event) = ledger.event_by_order(mark)? {
                let lines = self.indexer.transcripts.find_lines(ledger, &[&event])?;
                candidate.line = lines.first().copied().unwrap_or(0);
            }
        }
        Ok(())
    }

    /// Returns the index sets to search, each with the project to filter by.
    fn target_sets(
        &self,
        plan: &RecallPlan,
        query: &RecallQuery,
    ) -> Result<Vec<TargetSet>, RecallError> {
        let mut sets = Vec::new();
        if query.scope != RecallScope::Coder {
            match (&query.project, query.across) {
                (_, Across::All) => {
                    sets.extend(self.indexer.all_sets().into_iter().map(|set| (set, None)));
                }
                (Some(root), _) => {
                    let set = self.indexer.project_set(root);
                    sets.extend(set.map(|set| (set, Some(root.clone()))));
                }
                (None, _) => {
                    let problem = "is missing: pass a project, or search across all";
                    return Err(tome_model::ModelError::invalid("project", problem).into());
                }
            }
        }
        if plan.includes_coder() {
            sets.push((self.indexer.coder_set(), None));
        }
        Ok(sets)
    }

    /// Brings the indexes over a store up to date, if they are behind.
    pub fn catch_up_indexes(
        &self,
        store: &Store,
        stop: &dyn Fn() -> bool,
    ) -> Result<IndexUpdate, RecallError> {
        let Some(set) = self.indexer.ledger_set(store.path()) else {
            return Ok(IndexUpdate::default());
        };
        match self.indexer.is_behind(&set, Some(store)) {
            true => self.indexer.catch_up(&set, stop),
            false => Ok(IndexUpdate::default()),
        }
    }

    /// Updates the indexes of the coder's notebook and of projects without events, if a query has found
    /// them outdated.
    pub fn catch_up_note_indexes(
        &self,
        stop: &dyn Fn() -> bool,
    ) -> Result<IndexUpdate, RecallError> {
        let mut done = IndexUpdate::default();
        for set in self.indexer.used_sets() {
            if set.ledger.is_none() && set.is_outdated.load(Ordering::Relaxed) {
                done.pages += self.indexer.catch_up(&set, stop)?.pages;
            }
        }
        Ok(done)
    }

    /// Updates the vectors of a store with a remote embedder. Sends no request if they are up to
    /// date.
    pub fn catch_up_vectors(
        &self,
        store: &Store,
        stop: &dyn Fn() -> bool,
    ) -> Result<IndexUpdate, RecallError> {
        let Some(set) = self.indexer.ledger_set(store.path()) else {
            return Ok(IndexUpdate::default());
        };
        match self.indexer.are_vectors_behind(&set, Some(store)) {
            true => self.indexer.catch_up_vectors(&set, stop),
            false => Ok(IndexUpdate::default()),
        }
    }

    /// Like [`catch_up_vectors`](Self::catch_up_vectors), for the coder's notebook and projects
    /// without events that were queried.
    pub fn catch_up_note_vectors(
        &self,
        stop: &dyn Fn() -> bool,
    ) -> Result<IndexUpdate, RecallError> {
        let mut done = IndexUpdate::default();
        for set in self.indexer.used_sets() {
            if set.ledger.is_none() && self.indexer.are_vectors_behind(&set, None) {
                done.pages += self.indexer.catch_up_vectors(&set, stop)?.pages;
            }
        }
        Ok(done)
    }

    /// Releases the writers of the indexes over a store, which hold threads and memory. One that is
    /// still merging segments stays; the next visit to the store releases it.
    pub fn release_writers(&self, store: &Store) {
        if let Some(set) = self.indexer.ledger_set(store.path()) {
            self.indexer.release_writers(&set);
        }
    }

    /// Returns an opener for the citations in its answers.
    pub fn citations(&self) -> Citations {
        let (notebooks, transcripts) = (&self.indexer.notebooks, &self.indexer.transcripts);
        Citations::new(Arc::clone(notebooks), Arc::clone(&self.calendar), Arc::clone(transcripts))
    }

    /// Name and version of the embedder.
    pub fn embedder_name(&self) -> &str {
        self.indexer.embedder.name()
    }

    /// Reports on the indexes over a store from their files, without opening or creating any.
    pub fn index_report(&self, store: &Store) -> Result<Option<IndexReport>, RecallError> {
        let set = self.indexer.ledger_set(store.path());
        set.map(|set| self.indexer.report_set(&set, Some(store))).transpose()
    }

    /// Reports on the indexes over the coder's notebook.
    pub fn report_coder(&self) -> Result<IndexReport, RecallError> {
        self.indexer.report_set(&self.indexer.coder_set(), None)
    }

    /// Closes the indexes of stores that are no longer open.
    pub fn close_unused(&self) {
        for set in self.indexer.used_sets() {
            if set.ledger.as_deref().is_some_and(|ledger| !self.indexer.stores.is_open(ledger)) {
                set.close();
                self.indexer.unwatch_sessions(&set);
            }
        }
    }
}

/// Removes transcript lines, so that a proactive query does not wait for transcripts to be written:
/// its events are cited by id.
fn clear_event_lines(ranked: &mut [RankedCandidate]) {
    let events = ranked.iter_mut().filter(|one| one.candidate.source == EntrySource::Event);
    events.for_each(|one| one.candidate.line = 0);
}
