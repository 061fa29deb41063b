//! Recall: a query in, cited hits out.
//!
//! Steps: parse the query, collect candidates from every available tier, read and score them,
//! fuse the scores, rate the confidence, cite, and pack. Every index may be missing or behind; recall then scans the texts
//! themselves.

mod answer;
mod call_text;
mod candidate;
mod candidate_pool;
mod citation;
mod cite;
mod clause_subject;
mod collect;
mod confidence;
mod corrections;
mod deep_queue;
mod effort;
mod endpoint;
mod error;
mod event_search;
mod excluded_prompt;
mod fuse;
mod hit_turn;
mod index_query;
mod indexer;
pub(crate) mod literal;
mod neighbors;
mod other_projects;
mod other_statements;
mod pack;
mod page_search;
mod parallel;
mod plan;
mod proactive;
mod projection;
mod query;
mod rank;
mod read_candidates;
mod repeated_prompts;
mod replaced_name;
mod retraction;
mod score_table;
mod search_report;
mod searched_index_set;
mod stated_value;
mod term_scores;
mod threshold;
mod time_query;
mod transcript;
mod turn_pages;
mod turn_traits;
mod unanswered_questions;
mod unindexed;
mod unique_candidates;
mod upkeep;
mod weights;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tome_finder::{Embedder, RecordKind};
use tome_ledger::EventRange;
use tome_model::{Clock, EventKind};

use tome_contents::Contents;
use tome_home::{Home, Notebooks, Projection, Stores};

use candidate::{CandidateBody, RecallCandidate, SourceKind, source_kind};
use candidate_pool::CandidatePool;
use cite::CitationContext;
use collect::{CompleteIndexSet, IndexSetHits, search_index_set};
use effort::SearchEffort;
use hit_turn::{LoadedTurn, TurnReader};
use indexer::{
    ActiveQueries, DeepIndexEmbedder, EarlierEmbedders, IndexSet, Indexer, SessionFiles,
};
use pack::ChosenHit;
use plan::RecallPlan;
use rank::RankedCandidate;
use searched_index_set::{OPEN_SETS_MAX, SharedQuery};
use threshold::RelevanceEvidence;
use turn_pages::KnownTurns;

pub use answer::{OtherProjectHits, RecallAnswer, RecallHit, SearchStage, source_name};
pub use citation::{Citation, CitationTarget, Citations, CitedContent, OpenedCitation, Viewpoint};
pub use confidence::Confidence;
pub use deep_queue::DeepQueue;
pub use endpoint::{EmbedderStatus, EndpointEmbedder};
pub use error::RecallError;
pub use hit_turn::{HitTurn, TurnOutline, TurnPart};
pub use indexer::{IndexReport, IndexUpdate};
pub use other_statements::{Claim, OtherStatement, StatementRelation};
pub use proactive::is_worth_searching;
pub use query::{
    Across, ExcludedPrompt, HitOrder, HitUnit, QueryOrigin, QuerySyntax, RecallFilter,
    RecallLimits, RecallQuery, RecallScope, ThresholdPolicy, Tier,
};
pub use transcript::{
    SessionTranscriptLine, TRANSCRIPT_PROJECTION, TranscriptUpdate, Transcripts, TranscriptsRebuilt,
};

/// Maximum lag, in events, up to which contents are updated before a query.
const CATCH_UP_MAX: u64 = 50;

/// Minimum number of index sets per thread.
const SETS_PER_THREAD: usize = 4;

/// An index set to search, with the project to filter by.
type TargetIndexSet = (Arc<IndexSet>, Option<String>);

/// Recall over one home.
pub struct Recall {
    indexer: Indexer,
    contents: Arc<Contents>,
    clock: Arc<dyn Clock>,
}

impl Recall {
    /// Creates recall over these stores and notebooks.
    pub fn new(
        home: Home,
        stores: Arc<Stores>,
        notebooks: Arc<Notebooks>,
        contents: Arc<Contents>,
        transcripts: Arc<Transcripts>,
        embedder: Arc<dyn Embedder>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let index_sets = Mutex::new(HashMap::new());
        let queries = Arc::new(ActiveQueries::default());
        let deep = embedder.deep_embedder();
        let deep = deep.map(|deep| Arc::new(DeepIndexEmbedder::new(deep, Arc::clone(&queries))));
        let indexer = Indexer {
            deep,
            queries,
            earlier: EarlierEmbedders::default(),
            home,
            stores,
            notebooks,
            transcripts,
            embedder,
            sets: index_sets,
            uses: AtomicU64::new(0),
            batch_lock: Mutex::new(()),
            session_files: SessionFiles::default(),
        };
        Self { indexer, contents, clock }
    }

    /// Searches, ranks and packs the hits for a query.
    pub fn search(&self, query: &RecallQuery) -> Result<RecallAnswer, RecallError> {
        let began = Instant::now();
        let _active = self.indexer.queries.begin();
        let mut plan = RecallPlan::from_query(query, &*self.clock, self.contents.zone())?;
        if plan.filter.scope == RecallScope::Coder && plan.effort.is_full() {
            self.index_new_lessons();
        }
        let index_sets = self.target_sets(&plan.filter)?;
        if !plan.is_time_only() && !self.has_events_in_span(&plan, &index_sets)? {
            plan.treat_time_as_words();
        }
        let is_wide = index_sets.len() > OPEN_SETS_MAX;
        let _wide_scan = is_wide.then(|| self.indexer.stores.lock_wide_scan());
        let mut pool = CandidatePool::new(is_wide, &plan);
        pool.report.record_stage("understand", began, plan.explain());
        let shared = SharedQuery::from_plan(&plan);
        for (target, indexed) in self.search_complete_sets(&plan, &shared, index_sets, is_wide) {
            let collected = match indexed {
                Some(replies) => replies
                    .and_then(|replies| pool.collect_set(&self.indexer, &plan, &target, replies)),
                None => self.collect_from_set(&mut pool, &plan, &shared, &target),
            };
            if let Err(error) = collected {
                if plan.filter.across != Across::All {
                    return Err(error);
                }
                pool.report.unread.push(error.explained());
            }
        }
        let mut answer = self.build_answer(query, &plan, pool)?;
        let is_full_search = plan.hits_max > 0 && plan.effort.is_full() && query.limits.skip == 0;
        let is_in_project =
            plan.filter.across == Across::Project && plan.filter.scope != RecallScope::Coder;
        if answer.hits.is_empty() && is_full_search && is_in_project {
            self.count_other_projects(query, &mut answer);
        }
        Ok(answer)
    }

    /// Whether anything was recorded in the time that the query names, if it names one. Assumes so when
    /// checking would open every store.
    fn has_events_in_span(
        &self,
        plan: &RecallPlan,
        index_sets: &[TargetIndexSet],
    ) -> Result<bool, RecallError> {
        let (Some((from, to)), false) = (plan.span, plan.filter.across == Across::All) else {
            return Ok(true);
        };
        for path in index_sets.iter().filter_map(|(index_set, _)| index_set.ledger.as_ref()) {
            let range = EventRange { from: Some(from), to: Some(to), ..EventRange::default() };
            if self.indexer.stores.open(path)?.events(&range).next().transpose()?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// If the query covers many sets, searches the completely indexed ones in parallel without opening
    /// their stores. Returns every set in order; incomplete ones without hits.
    fn search_complete_sets(
        &self,
        plan: &RecallPlan,
        shared: &SharedQuery,
        targets: Vec<TargetIndexSet>,
        is_wide: bool,
    ) -> Vec<(TargetIndexSet, Option<Result<IndexSetHits, RecallError>>)> {
        let has_descriptors = self.indexer.stores.index_sets_max() > 0;
        if !is_wide || !plan.is_answered_by_indexes() || !has_descriptors {
            return targets.into_iter().map(|target| (target, None)).collect();
        }
        parallel::map(targets, SETS_PER_THREAD, |target| {
            let replies =
                CompleteIndexSet::open(&self.indexer, &target.0, &plan.text).map(|complete| {
                    search_index_set(&self.indexer, plan, shared, &target, Some(complete))
                });
            (target, replies)
        })
    }

    /// Searches an index set and collects its candidates. Opens its store unless the query is wide and
    /// the indexes are complete. Proactive queries skip catching up first.
    fn collect_from_set(
        &self,
        pool: &mut CandidatePool,
        plan: &RecallPlan,
        shared: &SharedQuery,
        target: &TargetIndexSet,
    ) -> Result<(), RecallError> {
        let (index_set, project) = target;
        let is_wide = pool.sets.is_wide && plan.is_answered_by_indexes();
        let open = || CompleteIndexSet::open(&self.indexer, index_set, &plan.text);
        let complete = is_wide.then(open).flatten();
        if plan.effort.is_full() && complete.is_none() {
            pool.report.record_behind(self.catch_up_contents(plan, index_set)?);
        }
        if plan.is_time_only() {
            return pool.collect_pages_of_time(&self.indexer, plan, index_set, project.as_deref());
        }
        let replies = search_index_set(&self.indexer, plan, shared, target, complete)?;
        pool.collect_set(&self.indexer, plan, target, replies)
    }

    /// Ranks the candidates and builds the answer.
    fn build_answer(
        &self,
        query: &RecallQuery,
        plan: &RecallPlan,
        pool: CandidatePool,
    ) -> Result<RecallAnswer, RecallError> {
        let (mut ranked, pool) = if plan.is_time_only() {
            let (mut ranked, pool) = pool.sort_newest_first(&self.indexer, plan)?;
            self.drop_current_turn(query, &mut ranked)?;
            self.replace_repeated_prompts(query, &pool, &mut ranked)?;
            (ranked, pool)
        } else {
            self.rank_relevant(query, plan, pool)?
        };
        let session = plan.session.as_ref().map(|session| session.folder.as_str());
        let projects = self.indexer.stores.projects();
        let cite = CitationContext { projects, project: plan.filter.project.as_deref(), session };
        let mut since = Instant::now();
        let wants_contents = plan.is_time_only() || plan.filter.scope == RecallScope::Contents;
        if query.order == HitOrder::Time && !wants_contents {
            // They repeat the turns between which they would stand.
            ranked.retain(|one| source_kind(one.candidate.source) != SourceKind::Contents);
        }
        let mut known = KnownTurns::default();
        if plan.effort.is_full() && !plan.is_time_only() && plan.hits_max > 0 {
            self.rate_turns(&mut ranked, &pool, &mut known)?;
        }
        let skip = query.limits.skip;
        let mut page = match query.unit {
            HitUnit::Record => pack::choose_hits(&ranked, plan, skip),
            HitUnit::Turn => self.choose_turns(&ranked, &pool, plan, skip, &mut known)?,
        };
        let turns_took = std::mem::replace(&mut since, Instant::now()).elapsed();
        if query.origin.is_proactive() {
            pack::drop_superseded(&ranked, plan, &mut page.chosen);
            self.drop_retracted(&ranked, &mut page.chosen, &pool)?;
        }
        match plan.effort {
            SearchEffort::Proactive => clear_event_lines(&mut ranked),
            SearchEffort::Full => self.find_cited_lines(&mut ranked, &page.chosen, &pool)?,
        }
        let mut packed = pack::pack_hits(&ranked, &page, plan, &cite, query.limits);
        if plan.effort.is_full() {
            self.add_turns(&ranked, &page.chosen, &pool, plan, &mut packed.hits)?;
            let texts = page.chosen.iter().map(|choice| {
                let body = ranked.get(choice.candidate_index())?.candidate.body.as_ref()?;
                Some(body.text.clone())
            });
            let texts = texts.map(Option::unwrap_or_default).collect();
            repeated_prompts::drop_unanswered_copies(&mut packed.hits, texts);
        } else {
            self.add_answers(&ranked, &page.chosen, &pool, plan, &mut packed.hits)?;
        }
        repeated_prompts::drop_query_echoes(query, &mut packed.hits);
        pack::drop_repeated_passages(&mut packed.hits);
        if query.order == HitOrder::Time {
            packed.hits.sort_by_key(|hit| hit.at);
        }
        let mut report = pool.report;
        report.report_missing_vectors(self.embedder_name());
        let mut answer = RecallAnswer {
            tier: report.tier.unwrap_or(Tier::Literal),
            behind: report.behind,
            unread: report.unread,
            confidence: packed.hits.iter().map(|hit| hit.confidence).max(),
            hits: packed.hits,
            more: packed.more,
            next: packed.next,
            other_projects: Vec::new(),
            time: plan.time_phrase.clone(),
            stages: report.stages,
        };
        answer.stages.push(SearchStage {
            name: "turns".to_owned(),
            found: format!("{} read", known.lookups()),
            took: turns_took,
        });
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
        if query.origin.is_proactive() {
            ranked.retain(|one| !one.is_in_current_session(plan));
        }
        let of_contents = plan.filter.scope == RecallScope::Contents;
        ranked.retain(|one| {
            let is_page = one.is_long_period() && !of_contents || one.candidate.is_guide();
            !one.is_notice() && !is_page
        });
        self.drop_current_turn(query, &mut ranked)?;
        self.replace_repeated_prompts(query, &pool, &mut ranked)?;
        if plan.effort.is_full() {
            self.demote_unanswered_questions(&pool, &mut ranked)?;
        }
        // The prompt itself is not a hit and must not make the others look weak.
        let script_weight = pool.script_weight(&self.indexer, plan);
        rank::rate_confidence(&mut ranked, script_weight);
        if plan.effort.is_full() {
            threshold::raise_complete_statements(&mut ranked, &plan.text);
        }
        if plan.filter.scope == RecallScope::Coder {
            threshold::raise_relevant_lessons(&mut ranked, script_weight);
        }
        if query.origin.is_proactive() {
            ranked.retain(threshold::passes_proactive_threshold);
        }
        let evidence = RelevanceEvidence::from_ranked(&ranked, plan);
        if query.threshold == ThresholdPolicy::Enforce && !evidence.passes_threshold() {
            ranked.clear();
        }
        ranked.retain(|one| evidence.admits_hit(one));
        pool.report.record_stage("threshold", since, evidence.explain());
        rank::boost_time_span(&mut ranked, plan);
        Ok((ranked, pool))
    }

    /// Brings contents that are only a little behind up to date, so that the answer includes the
    /// latest messages. Returns how far behind they still are.
    fn catch_up_contents(
        &self,
        plan: &RecallPlan,
        index_set: &IndexSet,
    ) -> Result<u64, RecallError> {
        let Some(path) =
            index_set.ledger.as_ref().filter(|_| plan.filter.includes_pages(RecordKind::Node))
        else {
            return Ok(0);
        };
        let store = self.indexer.stores.open(path)?;
        let behind = || -> Result<u64, RecallError> {
            Ok(store.last_seq().saturating_sub(store.cursor(tome_contents::CONTENTS_PROJECTION)?))
        };
        if (1..=CATCH_UP_MAX).contains(&behind()?) {
            self.contents.catch_up(&store, &|| false)?;
        }
        behind()
    }

    /// Adds to each hit in a message the turn around it, and statements about the same subject from
    /// other times.
    fn add_turns(
        &self,
        ranked: &[RankedCandidate],
        chosen: &[ChosenHit],
        pool: &CandidatePool,
        plan: &RecallPlan,
        hits: &mut [RecallHit],
    ) -> Result<(), RecallError> {
        let statements = pack::collect_statements(ranked, plan);
        let words = other_statements::query_words(&plan.text);
        let mut turns = TurnReader::new(&plan.text);
        for (hit, choice) in hits.iter_mut().zip(chosen) {
            let Some(found) = ranked.get(choice.candidate_index()) else { continue };
            let candidate = &found.candidate;
            if let Some(loaded) = self.load_turn(candidate, pool, &mut turns)? {
                hit.turn = loaded.turn;
                hit.others.extend(loaded.correction);
                pack::describe_call(hit, found, &loaded.event, plan);
            }
            let order_key = candidate.body.as_ref().and_then(CandidateBody::order_key);
            let Some(order_key) = order_key else { continue };
            if let Some(statement) = statements.get(&(candidate.set_index, order_key.seq)) {
                let others: Vec<&other_statements::ComparedStatement> = statements
                    .iter()
                    .filter(|((set, _), _)| *set == candidate.set_index)
                    .map(|(_, statement)| statement)
                    .collect();
                let found = other_statements::find_others(statement, &others, &words);
                other_statements::add_others(&mut hit.others, found);
            }
        }
        let positions = chosen.iter().map(|choice| {
            let candidate = &ranked.get(choice.candidate_index())?.candidate;
            let order_key = candidate.body.as_ref()?.order_key()?;
            Some((candidate.set_index, order_key.seq))
        });
        pack::raise_replacements(hits, &positions.collect::<Vec<_>>());
        Ok(())
    }

    /// Adds to each hit in a prompt the turn that it began, because a hint shows the answer.
    fn add_answers(
        &self,
        ranked: &[RankedCandidate],
        chosen: &[ChosenHit],
        pool: &CandidatePool,
        plan: &RecallPlan,
        hits: &mut [RecallHit],
    ) -> Result<(), RecallError> {
        let mut turns = TurnReader::new(&plan.text);
        for (hit, choice) in hits.iter_mut().zip(chosen) {
            let Some(found) = ranked.get(choice.candidate_index()) else { continue };
            if hit.kind == EventKind::UserMessage.as_str()
                && let Some(loaded) = self.load_turn(&found.candidate, pool, &mut turns)?
            {
                hit.turn = loaded.turn;
            }
        }
        Ok(())
    }

    /// Loads the turn around a candidate in a message; `None` if it is none.
    fn load_turn(
        &self,
        candidate: &RecallCandidate,
        pool: &CandidatePool,
        turns: &mut TurnReader,
    ) -> Result<Option<LoadedTurn>, RecallError> {
        let order_key = candidate.body.as_ref().and_then(CandidateBody::order_key);
        let (Some(order_key), Some(set)) = (order_key, pool.sets.get(candidate.set_index)) else {
            return Ok(None);
        };
        match set.open(&self.indexer)?.ledger.as_ref() {
            Some(ledger) => turns.load_turn(candidate.set_index, ledger, order_key),
            None => Ok(None),
        }
    }

    /// Looks up the transcript lines of cited events that no index provided.
    fn find_cited_lines(
        &self,
        ranked: &mut [RankedCandidate],
        chosen: &[ChosenHit],
        pool: &CandidatePool,
    ) -> Result<(), RecallError> {
        for at in chosen.iter().flat_map(ChosenHit::cited_indexes) {
            let Some(RankedCandidate { candidate, .. }) = ranked.get_mut(at) else { continue };
            let Some(searched_set) = pool.sets.get(candidate.set_index) else { continue };
            let Some(order_key) = candidate.body.as_ref().and_then(CandidateBody::order_key) else {
                continue;
            };
            if candidate.line > 0 {
                continue;
            }
            let open = searched_set.open(&self.indexer)?;
            let Some(ledger) = open.ledger.as_ref() else { continue };
            // The index has the line, which avoids reading the transcript.
            let indexed_line = open
                .vectors
                .as_ref()
                .and_then(|vector_index| vector_index.event_line(order_key.seq));
            if let Some(line) = indexed_line.filter(|line| *line > 0) {
                candidate.line = line;
                continue;
            }
            self.indexer.transcripts.write_new(ledger)?;
            if let Some(event) = ledger.event_by_order(order_key)? {
                let lines = self.indexer.transcripts.find_lines(ledger, &[&event])?;
                candidate.line = lines.first().copied().unwrap_or(0);
            }
        }
        Ok(())
    }

    /// The index sets to search, each with the project to filter by.
    fn target_sets(&self, filter: &RecallFilter) -> Result<Vec<TargetIndexSet>, RecallError> {
        let mut index_sets = Vec::new();
        if filter.scope != RecallScope::Coder {
            match (&filter.project, filter.across) {
                (_, Across::All) => {
                    index_sets.extend(
                        self.indexer.all_sets().into_iter().map(|index_set| (index_set, None)),
                    );
                }
                (Some(root), _) => {
                    let index_set = self.indexer.project_set(root);
                    index_sets.extend(index_set.map(|index_set| (index_set, Some(root.clone()))));
                }
                (None, _) => {
                    let problem = "is missing: pass a project, or search across all";
                    return Err(tome_model::InvalidInput::invalid("project", problem).into());
                }
            }
        }
        if filter.includes_coder() {
            index_sets.push((self.indexer.coder_set(), None));
        }
        Ok(index_sets)
    }

    /// Returns an opener for the citations in its answers.
    pub fn citations(&self) -> Citations {
        let (notebooks, transcripts) = (&self.indexer.notebooks, &self.indexer.transcripts);
        Citations::new(Arc::clone(notebooks), Arc::clone(&self.contents), Arc::clone(transcripts))
    }

    /// Name and version of the embedder.
    pub fn embedder_name(&self) -> &str {
        self.indexer.embedder.name()
    }
}

/// Finds the part of a text that matches a query best, as a range of bytes.
pub fn find_best_match(query: &str, text: &str) -> Option<Range<usize>> {
    literal::Matcher::new(query).match_text(text).map(|found| found.range)
}

/// Selects the parts of a long text to show: a quarter of the space for each end, and the rest for the part that
/// matches a query best. Without a match, each end gets half. In order, and at the bounds of characters.
pub fn select_parts(query: &str, text: &str, bytes_max: usize) -> Vec<Range<usize>> {
    if text.len() <= bytes_max {
        return std::iter::once(0..text.len()).collect();
    }
    let found = Some(query.trim()).filter(|query| !query.is_empty());
    let found = found.and_then(|query| find_best_match(query, text));
    let end = if found.is_some() { bytes_max / 4 } else { bytes_max / 2 };
    let middle = found.map(|found| {
        let middle = found.start + found.len() / 2;
        let from = middle.saturating_sub(bytes_max / 4).min(text.len() - bytes_max / 2);
        from..from + bytes_max / 2
    });
    let mut parts: Vec<Range<usize>> = Vec::new();
    for part in [Some(0..end), middle, Some(text.len() - end..text.len())].into_iter().flatten() {
        match parts.last_mut() {
            Some(last) if part.start <= last.end => last.end = last.end.max(part.end),
            _ => parts.push(part),
        }
    }
    for part in &mut parts {
        *part = text.ceil_char_boundary(part.start)..text.floor_char_boundary(part.end);
    }
    parts
}

/// Proactive queries do not wait for transcripts to be written: events are cited by their ids.
fn clear_event_lines(ranked: &mut [RankedCandidate]) {
    let events = ranked.iter_mut().filter(|one| one.candidate.source == RecordKind::Event);
    events.for_each(|one| one.candidate.line = 0);
}
