//! Collects candidates from every usable tier, one index set at a time.
//!
//! An index is used if it is intact and nearly up to date. Records that it has not read yet are
//! scanned directly; without an index, all records are.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tome_finder::{
    Bm25Index, ByteRange, EntryFilter, EntryKey, EntrySource, FinderError, IndexHit, QueryVector,
    VectorIndex,
};
use tome_ledger::Ledger;
use tome_model::{EventId, SessionId};

use super::candidate::RecallCandidate;
use super::index_query::{self, IndexQuery, IndexReply, PairReplies};
use super::indexer::{IndexOwner, IndexPair, IndexSet, Indexer, load_known_files, parse_cursor};
use super::literal::{self, Scan, ScanMatch, ScanQuery, TranscriptOwner};
use super::plan::RecallPlan;
use super::proactive::select_rarest_words;
use super::searched_set::{OpenIndexSet, SearchedSet, TermStats};
use super::weights::{
    BM25_DEPTH, PAGES_DEPTH, PROACTIVE_DEPTH, PROACTIVE_PAGES_MAX, VECTORS_DEPTH,
};
use super::{Across, SearchStage, Tier};
use crate::RecallError;

/// Maximum lag, in events, of an index that is still used: the missing events have to be scanned
/// one by one.
const BEHIND_MAX: u64 = 2_000;
/// Time limit and maximum number of hits of a scan without an index.
pub(super) const SCAN_TIME_MAX: Duration = Duration::from_secs(5);
const SCAN_MATCHES_MAX: usize = 200;
/// The same for a proactive query. The agent does not wait that long: late results go into the next
/// step.
const PROACTIVE_SCAN_TIME_MAX: Duration = Duration::from_secs(1);
/// Longer transcripts are not scanned for foreign lines.
const FOREIGN_BYTES_MAX: u64 = 4 << 20;

/// The open indexes of a pair.
type OpenIndexes = (Option<Arc<Bm25Index>>, Option<Arc<VectorIndex>>);

/// All candidates of a query, with statistics about the search.
#[derive(Default)]
pub(super) struct CandidatePool {
    pub searched: Vec<SearchedSet>,
    /// Whether the query covers more index sets than may stay open.
    pub is_wide: bool,
    pub stats: TermStats,
    pub candidates: Vec<RecallCandidate>,
    /// Candidates not worth reading, with their index scores.
    pub unread_candidates: HashMap<(usize, EntryKey, ByteRange), RecallCandidate>,
    positions: HashMap<(usize, EntryKey, ByteRange), usize>,
    /// Lowest tier used for any index set; `None` before the first.
    pub tier: Option<Tier>,
    pub behind: u64,
    /// Number of stores whose events were searched by vectors, and of those without vectors yet.
    pub with_vectors: usize,
    pub without_vectors: usize,
    pub unread: Vec<String>,
    pub stages: Vec<SearchStage>,
}

impl CandidatePool {
    /// Creates an empty pool. `is_wide`: the query covers more index sets than may stay open.
    pub(super) fn new(is_wide: bool) -> Self {
        Self { is_wide, ..Self::default() }
    }

    pub(super) fn find_candidate(&self, id: &(usize, EntryKey, ByteRange)) -> Option<usize> {
        self.positions.get(id).copied()
    }

    /// Returns the candidate with this identity, adding it if it is new.
    pub(super) fn add_candidate(
        &mut self,
        candidate: RecallCandidate,
    ) -> Option<&mut RecallCandidate> {
        let candidates = &mut self.candidates;
        let number = *self.positions.entry(candidate.id()).or_insert_with(|| {
            candidates.push(candidate);
            candidates.len() - 1
        });
        self.candidates.get_mut(number)
    }

    /// Recomputes the positions of the candidates after some were removed.
    pub(super) fn rebuild_positions(&mut self) {
        self.positions = self.candidates.iter().enumerate().map(|(n, one)| (one.id(), n)).collect();
    }

    fn add_bm25_hits(&mut self, desk: usize, found: &[IndexHit]) {
        for found in found {
            let Some(candidate) = self.add_candidate(RecallCandidate::from_hit(desk, found)) else {
                continue;
            };
            candidate.chunks.push(found.range);
            if candidate.bm25_score.is_none_or(|best| found.score > best) {
                candidate.bm25_score = Some(found.score);
                candidate.range = found.range;
            }
        }
    }

    fn add_vector_hits(&mut self, desk: usize, found: &[IndexHit]) {
        for found in found {
            if let Some(candidate) = self.add_candidate(RecallCandidate::from_hit(desk, found)) {
                candidate.cosines.push(found.score);
                candidate.chunks.push(found.range);
            }
        }
    }

    fn add_matches(&mut self, desk: usize, seen: &[ScanMatch]) {
        for seen in seen {
            if let Some(candidate) = self.add_candidate(RecallCandidate::from_match(desk, seen)) {
                let score = seen.text_match.score();
                candidate.literal_score =
                    Some(candidate.literal_score.map_or(score, |best| best.max(score)));
            }
        }
    }

    fn add_scan(&mut self, desk: usize, scan: Scan, what: &str) {
        if scan.was_stopped {
            let problem =
                format!("some {what}: the scan timed out; try again once the index is built");
            self.unread.push(problem);
        }
        self.unread.extend(scan.unread);
        self.add_matches(desk, &scan.matches);
    }

    pub(super) fn record_stage(&mut self, name: &str, since: Instant, found: String) {
        self.record_stage_duration(name, since.elapsed(), found);
    }

    fn record_stage_duration(&mut self, name: &str, took: Duration, found: String) {
        self.stages.push(SearchStage { name: name.to_owned(), found, took });
    }

    fn lower_tier(&mut self, tier: Tier) {
        self.tier = Some(self.tier.map_or(tier, |lowest| lowest.min(tier)));
    }
}

fn scan_time_max(plan: &RecallPlan) -> Duration {
    if plan.proactive { PROACTIVE_SCAN_TIME_MAX } else { SCAN_TIME_MAX }
}

/// Parameters for searching one index set.
pub(super) struct SetSearch<'a> {
    pub indexer: &'a Indexer,
    pub plan: &'a RecallPlan,
    pub set_index: usize,
    pub filter: EntryFilter,
}

/// Search over events. The cursors are read before the search, because events indexed meanwhile are
/// not in its results.
struct EventSearch<'a> {
    ledger: &'a Ledger,
    last: u64,
    bm25_cursor: u64,
    vectors_cursor: u64,
    query: IndexQuery,
}

impl<'a> EventSearch<'a> {
    fn prepare(visit: &SetSearch<'_>, ledger: &'a Ledger, (words, meanings): OpenIndexes) -> Self {
        let last = ledger.last_seq();
        let at_words = words.as_ref().map_or(0, |words| parse_cursor(&words.cursor()));
        let at_meanings = meanings.as_ref().map_or(0, |meanings| parse_cursor(&meanings.cursor()));
        let near = |at: u64| is_nearly_complete(at, last);
        let inquiry = IndexQuery {
            bm25: words.filter(|_| near(at_words) && visit.plan.wants_tier(Tier::Bm25)),
            vectors: meanings.filter(|_| near(at_meanings) && visit.plan.wants_tier(Tier::Vectors)),
            filter: EntryFilter { sources: Vec::new(), ..visit.filter.clone() },
            // Proactive queries look up the similarity of BM25 hits instead of scanning vectors.
            depths: match visit.plan.proactive {
                true => (PROACTIVE_DEPTH, 0),
                false => (BM25_DEPTH, VECTORS_DEPTH),
            },
        };
        Self { ledger, last, bm25_cursor: at_words, vectors_cursor: at_meanings, query: inquiry }
    }
}

/// Returns whether an index at cursor `at` is worth searching. A newly created one is empty, and
/// its statistics would mislead the ranking.
fn is_nearly_complete(at: u64, last: u64) -> bool {
    at > 0 && last.saturating_sub(at) <= BEHIND_MAX
}

fn is_bm25_nearly_complete(words: &Bm25Index, last: u64) -> bool {
    is_nearly_complete(parse_cursor(&words.cursor()), last)
}

/// Search over pages. Cursor and known files are read before the search.
struct PageSearch {
    cursor: Option<u64>,
    known: Option<Arc<HashSet<String>>>,
    /// Files that the vector index covers, if it is updated together with the BM25 index.
    known_in_vectors: Option<Arc<HashSet<String>>>,
    query: IndexQuery,
}

impl PageSearch {
    fn prepare(
        visit: &SetSearch<'_>,
        desk: &IndexSet,
        ledger: Option<&Ledger>,
        sources: Vec<EntrySource>,
        (words, meanings): OpenIndexes,
    ) -> Self {
        let mut filter = EntryFilter { sources, ..visit.filter.clone() };
        if let Some(session) = visit.plan.session.as_ref().filter(|session| session.only) {
            filter.session = Some(session.id.clone());
        }
        // A newly created index of pages has no cursor yet and is empty.
        let has_begun = |cursor: String| ledger.is_none() || !cursor.is_empty();
        let words = words.filter(|it| visit.plan.wants_tier(Tier::Bm25) && has_begun(it.cursor()));
        let meanings =
            meanings.filter(|it| visit.plan.wants_tier(Tier::Vectors) && has_begun(it.cursor()));
        let cursor = words.as_ref().map(|words| {
            // A remote embedder's vectors may lag far behind; BM25 covers those nodes.
            let together = meanings.iter().filter(|_| !visit.indexer.embedder.is_remote());
            let cursors = together.map(|meanings| parse_cursor(&meanings.cursor()));
            cursors.fold(parse_cursor(&words.cursor()), u64::min)
        });
        let is_asked = !visit.plan.proactive;
        let known = words.as_ref().filter(|_| is_asked);
        let known = known.map(|words| load_known_files(&desk.known_in_bm25, words));
        let known_meanings =
            meanings.as_ref().filter(|_| is_asked && !visit.indexer.embedder.is_remote());
        let known_meanings =
            known_meanings.map(|meanings| load_known_files(&desk.known_in_vectors, meanings));
        let depths = match visit.plan.proactive {
            true => (2 * PROACTIVE_PAGES_MAX, PROACTIVE_PAGES_MAX),
            false => (PAGES_DEPTH, PAGES_DEPTH),
        };
        Self {
            cursor,
            known,
            known_in_vectors: known_meanings,
            query: IndexQuery { bm25: words, vectors: meanings, filter, depths },
        }
    }
}

impl CandidatePool {
    /// Collects candidates from one index set.
    pub(super) fn search_set(
        &mut self,
        keeper: &Indexer,
        plan: &RecallPlan,
        desk: &Arc<IndexSet>,
        project: Option<&str>,
    ) -> Result<(), RecallError> {
        let ledger = desk.ledger.as_ref().map(|path| keeper.stores.open(path)).transpose()?;
        let number = self.searched.len();
        let mut filter = plan.filter.clone();
        if desk.owner == IndexOwner::Unified && plan.across != Across::All {
            filter.project = project.map(str::to_owned);
        }
        let embedder = &keeper.embedder;
        let ((words, meanings), (pages_words, pages_meanings)) = keeper
            .with_open_set(desk, |desk| {
                (desk.events.open_existing(embedder), desk.pages.open_existing(embedder))
            });
        let last = ledger.as_ref().map_or(0, |ledger| ledger.last_seq());
        let complete = words.clone().filter(|words| is_bm25_nearly_complete(words, last));
        if let Some(words) = &complete {
            self.stats.add_index(plan, words);
        }
        let held = OpenIndexSet { ledger: ledger.clone(), vectors: meanings.clone() };
        self.searched.push(SearchedSet {
            set: Arc::clone(desk),
            kept_open: Some(held).filter(|_| !self.is_wide),
            query_vector: None,
        });
        let visit = SetSearch { indexer: keeper, plan, set_index: number, filter };
        let events =
            ledger.as_ref().filter(|ledger| plan.includes_events() && ledger.last_seq() > 0);
        let events = events.map(|ledger| EventSearch::prepare(&visit, ledger, (words, meanings)));
        let pages = Some(plan.page_sources()).filter(|sources| !sources.is_empty());
        let pages = pages.map(|of| {
            PageSearch::prepare(&visit, desk, ledger.as_deref(), of, (pages_words, pages_meanings))
        });
        let inquiries =
            [events.as_ref().map(|events| &events.query), pages.as_ref().map(|pages| &pages.query)];
        let rarest = complete
            .filter(|_| plan.proactive)
            .map(|words| select_rarest_words(&plan.text, &words));
        let words = rarest.as_deref().unwrap_or(&plan.text);
        let [of_events, of_pages] = index_query::search_pairs(&plan.text, words, inquiries);
        if let Some(events) = events {
            self.collect_events(&visit, desk, events, of_events)?;
        }
        let looks_around = plan.includes_events() && !plan.proactive;
        if let (Some(ledger), Some(project), true) = (&ledger, project, looks_around) {
            self.scan_foreign_lines(&visit, ledger, project)?;
        }
        if let Some(pages) = pages {
            self.collect_pages(visit, desk, ledger.as_deref(), pages, of_pages)?;
        }
        self.release_unused_ledger(number);
        Ok(())
    }

    /// Releases a store without candidates: of hundreds searched, few have any.
    fn release_unused_ledger(&mut self, number: usize) {
        let is_needed = self.candidates.iter().rev().any(|candidate| candidate.set_index == number);
        let held = self.searched.get_mut(number).and_then(|asked| asked.kept_open.as_mut());
        if let Some(held) = held.filter(|_| !is_needed) {
            held.ledger = None;
        }
    }

    fn collect_events(
        &mut self,
        visit: &SetSearch<'_>,
        desk: &IndexSet,
        events: EventSearch<'_>,
        replies: PairReplies,
    ) -> Result<(), RecallError> {
        let EventSearch {
            ledger,
            last,
            bm25_cursor: at_words,
            vectors_cursor: at_meanings,
            query: inquiry,
        } = events;
        let filter = inquiry.filter;
        let (has_words, question) = self.collect_replies(visit.set_index, &desk.events, replies);
        let has_meanings = question.is_some();
        if let Some(asked) = self.searched.get_mut(visit.set_index) {
            asked.query_vector = question;
        }
        self.record_tier(has_words, has_meanings);
        if visit.plan.wants_tier(Tier::Vectors) {
            match has_meanings {
                true => self.with_vectors += 1,
                false => self.without_vectors += 1,
            }
        }
        // Scan what the index has not read, or everything.
        let from = if has_words {
            at_words
        } else if has_meanings {
            at_meanings
        } else {
            0
        };
        let alone = matches!(visit.plan.tier, Some(Tier::Bm25 | Tier::Vectors)) && from > 0;
        let slowest = if has_words && has_meanings { at_words.min(at_meanings) } else { from };
        self.behind = self.behind.max(if from > 0 { last.saturating_sub(slowest) } else { 0 });
        if visit.plan.wants_tier(Tier::Vectors) {
            self.report_missing_vectors(visit.indexer, desk, last.saturating_sub(at_meanings));
        }
        if from == 0 || (last > from && !alone) {
            self.behind = self.behind.max(last - at_words.max(at_meanings).min(last));
            let since = Instant::now();
            let stop = || since.elapsed() > scan_time_max(visit.plan);
            let hunt = ScanQuery {
                matcher: &visit.plan.matcher,
                filter: &filter,
                limit: SCAN_MATCHES_MAX,
                stop: &stop,
            };
            let scan = literal::scan_events(ledger, from, hunt)?;
            let what = format!("{} events scanned", scan.scanned);
            self.add_scan(visit.set_index, scan, "events");
            self.record_stage("literal: events", since, what);
        }
        Ok(())
    }

    /// Scans the session's `messages.jsonl` for lines that are not events of the ledger, because
    /// someone else wrote them.
    fn scan_foreign_lines(
        &mut self,
        visit: &SetSearch<'_>,
        ledger: &Ledger,
        project: &str,
    ) -> Result<(), RecallError> {
        let Some(session) = &visit.plan.session else { return Ok(()) };
        let path = visit.indexer.transcripts.file_path(project, &SessionId::parse(&session.id)?);
        if !std::fs::metadata(&path).is_ok_and(|meta| meta.len() <= FOREIGN_BYTES_MAX) {
            return Ok(());
        }
        let since = Instant::now();
        let stop = || since.elapsed() > SCAN_TIME_MAX;
        let filter = EntryFilter { session: None, ..visit.filter.clone() };
        let hunt = ScanQuery {
            matcher: &visit.plan.matcher,
            filter: &filter,
            limit: SCAN_MATCHES_MAX,
            stop: &stop,
        };
        let owner = TranscriptOwner { project, session: &session.id };
        for seen in literal::scan_messages(&path, owner, hunt)?.matches {
            let is_known = match &seen.key {
                EntryKey::Named(id) => {
                    EventId::parse(id).is_ok_and(|id| matches!(ledger.position(&id), Ok(Some(_))))
                }
                EntryKey::Event(_) => true,
            };
            if !is_known {
                self.add_candidate(RecallCandidate::from_foreign_line(
                    visit.set_index,
                    &seen,
                    &session.folder,
                ));
            }
        }
        Ok(())
    }

    /// Collects the results of a pair of indexes. A damaged index is closed, counts as missing, and
    /// is rebuilt later. Returns whether BM25 responded, and the embedded query if the vector index
    /// did.
    fn collect_replies(
        &mut self,
        desk: usize,
        pair: &IndexPair,
        replies: PairReplies,
    ) -> (bool, Option<QueryVector>) {
        if let Some((Err(error), _)) = &replies.bm25 {
            pair.bm25.close_failed(error);
        }
        if let Some((Err(error), _)) = &replies.vectors {
            pair.vectors.close_failed(error);
        }
        let has_words = self.collect_reply(replies.bm25, |this, found, took| {
            this.record_stage_duration("bm25", took, format!("{} chunks", found.len()));
            this.add_bm25_hits(desk, &found);
        });
        let mut understood = None;
        self.collect_reply(replies.vectors, |this, (found, question), took| {
            this.record_stage_duration("vectors", took, format!("{} chunks", found.len()));
            this.add_vector_hits(desk, &found);
            understood = Some(question);
        });
        (has_words, understood)
    }

    fn collect_reply<T>(
        &mut self,
        reply: Option<IndexReply<T>>,
        add: impl FnOnce(&mut Self, T, Duration),
    ) -> bool {
        match reply {
            Some((Ok(found), took)) => {
                add(self, found, took);
                true
            }
            // Nothing is lost: a lower tier covers it and is reported.
            Some((Err(FinderError::Missing(_) | FinderError::Damaged { .. }), _)) | None => false,
            Some((Err(error), _)) => {
                self.report_unread(error.to_string());
                false
            }
        }
    }

    /// Reports a problem once.
    pub(super) fn report_unread(&mut self, problem: String) {
        if !self.unread.contains(&problem) {
            self.unread.push(problem);
        }
    }

    /// Reports how many vectors of a remote embedder are missing, and why.
    fn report_missing_vectors(&mut self, keeper: &Indexer, desk: &IndexSet, to_go: u64) {
        if to_go == 0 || !keeper.embedder.is_remote() {
            return;
        }
        self.behind = self.behind.max(to_go);
        let problem = desk.lock_problems().vectors.clone();
        let name = keeper.embedder.name();
        self.report_unread(match problem {
            Some(problem) => format!("vectors of {to_go} events: {problem}"),
            None => format!("vectors of {to_go} events: {name} is still embedding them"),
        });
    }

    fn record_tier(&mut self, has_words: bool, has_meanings: bool) {
        self.lower_tier(match (has_words, has_meanings) {
            (true, true) => Tier::Fused,
            (true, false) => Tier::Bm25,
            (false, true) => Tier::Vectors,
            (false, false) => Tier::Literal,
        });
    }

    fn collect_pages(
        &mut self,
        mut visit: SetSearch<'_>,
        desk: &IndexSet,
        ledger: Option<&Ledger>,
        pages: PageSearch,
        replies: PairReplies,
    ) -> Result<(), RecallError> {
        let PageSearch { cursor, known, known_in_vectors: known_meanings, query: inquiry } = pages;
        let filter = inquiry.filter;
        visit.filter = filter.clone();
        let (has_words, question) = self.collect_replies(visit.set_index, &desk.pages, replies);
        let has_meanings = question.is_some();
        if visit.plan.tier.is_some_and(|tier| matches!(tier, Tier::Bm25 | Tier::Vectors)) {
            return Ok(());
        }
        // Proactive queries ignore pages that the index has not read yet.
        if visit.plan.proactive && has_words {
            self.record_tier(has_words, has_meanings);
            return Ok(());
        }
        let since = Instant::now();
        let mut looked = 0;
        if let Some(ledger) = ledger
            && !has_words
            && filter.sources.contains(&EntrySource::Node)
        {
            let stop = || since.elapsed() > scan_time_max(visit.plan);
            let hunt = ScanQuery {
                matcher: &visit.plan.matcher,
                filter: &filter,
                limit: SCAN_MATCHES_MAX,
                stop: &stop,
            };
            let projects = match &filter.project {
                Some(project) => vec![project.clone()],
                None => ledger.contents_projects()?,
            };
            for project in projects {
                let scan = literal::scan_contents(ledger, &project, hunt)?;
                looked += scan.scanned;
                self.add_scan(visit.set_index, scan, "nodes of the contents");
            }
        } else if let (Some(ledger), Some(cursor)) = (ledger, cursor) {
            looked += self.scan_changed_nodes(&visit, ledger, cursor)?;
        }
        if let Some(ledger) = ledger
            && let Some(first) = ledger.damage().first()
        {
            let path = ledger.path().display();
            self.report_unread(format!("damaged parts of {path} ({first})"));
        }
        let (files, problems) = visit.indexer.list_readable_files(desk);
        problems.into_iter().for_each(|problem| self.report_unread(problem));
        let nodes = ledger.map_or(Ok(0), Ledger::last_node_change)?;
        if nodes > 0 || !files.is_empty() {
            self.record_tier(has_words, has_meanings);
        }
        let known = known.filter(|_| has_words).unwrap_or_default();
        looked += self.scan_unindexed_files(&visit, desk, &files, &known)?;
        if let Some(covered) = known_meanings.filter(|_| has_meanings) {
            let lacking = files.iter().filter(|file| !covered.contains(&file.stamp())).count();
            if lacking > 0 {
                self.behind = self.behind.max(lacking as u64);
                desk.is_outdated.store(true, Ordering::Relaxed);
            }
        }
        self.record_stage("literal: pages", since, format!("{looked} pages scanned"));
        Ok(())
    }
}
