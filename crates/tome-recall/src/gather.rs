//! Collects candidates from every usable tier, one index set at a time.
//!
//! An index is used if it is intact and nearly up to date. Records that it has not read yet are
//! scanned directly; without an index, all records are.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tome_finder::{Bearing, Filter, FinderError, Found, Key, Meanings, Part, Source, Words};
use tome_ledger::Ledger;
use tome_model::{EventId, SessionId};

use super::asked::{Asked, OpenDesk, TermStats};
use super::candidate::Candidate;
use super::inquiry::{self, Inquiry, Replies, Reply};
use super::keeper::{Desk, DeskOf, Keeper, Pair, known_files, number};
use super::literal::{self, Hunt, Owner, Scan, Seen};
use super::plan::Plan;
use super::proactive::rarest_words;
use super::weights::{
    MEANINGS_DEPTH, PAGES_DEPTH, PROACTIVE_DEPTH, PROACTIVE_PAGES_MAX, WORDS_DEPTH,
};
use super::{Across, Stage, Tier};
use crate::RecallError;

/// Maximum lag, in events, of an index that is still used: the missing events have to be scanned
/// one by one.
const BEHIND_MAX: u64 = 2_000;
/// Time limit and maximum number of hits of a scan without an index.
pub(super) const LOOK_TIME: Duration = Duration::from_secs(5);
const SEEN_MAX: usize = 200;
/// The same for a proactive query. The agent does not wait that long: late results go into the next
/// step.
const PROACTIVE_LOOK_TIME: Duration = Duration::from_secs(1);
/// Longer transcripts are not scanned for foreign lines.
const FOREIGN_BYTES_MAX: u64 = 4 << 20;

/// The open indexes of a pair.
type Open = (Option<Arc<Words>>, Option<Arc<Meanings>>);

/// All candidates of a query, with statistics about the search.
#[derive(Default)]
pub(super) struct Gathered {
    pub asked: Vec<Asked>,
    /// Whether the query covers more index sets than may stay open.
    pub is_wide: bool,
    pub stats: TermStats,
    pub candidates: Vec<Candidate>,
    /// Candidates not worth reading, with their index scores.
    pub passed: HashMap<(usize, Key, Part), Candidate>,
    numbers: HashMap<(usize, Key, Part), usize>,
    /// Lowest tier used for any index set; `None` before the first.
    pub tier: Option<Tier>,
    pub behind: u64,
    /// Number of stores whose events were searched by vectors, and of those without vectors yet.
    pub with_vectors: usize,
    pub without_vectors: usize,
    pub unread: Vec<String>,
    pub stages: Vec<Stage>,
}

impl Gathered {
    /// Creates an empty pool. `is_wide`: the query covers more index sets than may stay open.
    pub(super) fn new(is_wide: bool) -> Self {
        Self { is_wide, ..Self::default() }
    }

    pub(super) fn number_of(&self, id: &(usize, Key, Part)) -> Option<usize> {
        self.numbers.get(id).copied()
    }

    /// Returns the candidate with this identity, adding it if it is new.
    pub(super) fn add(&mut self, candidate: Candidate) -> Option<&mut Candidate> {
        let candidates = &mut self.candidates;
        let number = *self.numbers.entry(candidate.id()).or_insert_with(|| {
            candidates.push(candidate);
            candidates.len() - 1
        });
        self.candidates.get_mut(number)
    }

    /// Recomputes the positions of the candidates after some were removed.
    pub(super) fn renumber(&mut self) {
        self.numbers = self.candidates.iter().enumerate().map(|(n, one)| (one.id(), n)).collect();
    }

    fn add_words(&mut self, desk: usize, found: &[Found]) {
        for found in found {
            let Some(candidate) = self.add(Candidate::of(desk, found)) else { continue };
            candidate.pieces.push(found.part);
            if candidate.words.is_none_or(|best| found.score > best) {
                candidate.words = Some(found.score);
                candidate.part = found.part;
            }
        }
    }

    fn add_meanings(&mut self, desk: usize, found: &[Found]) {
        for found in found {
            if let Some(candidate) = self.add(Candidate::of(desk, found)) {
                candidate.cosines.push(found.score);
                candidate.pieces.push(found.part);
            }
        }
    }

    fn add_seen(&mut self, desk: usize, seen: &[Seen]) {
        for seen in seen {
            if let Some(candidate) = self.add(Candidate::of_seen(desk, seen)) {
                let score = seen.look.score();
                candidate.looked = Some(candidate.looked.map_or(score, |best| best.max(score)));
            }
        }
    }

    fn add_scan(&mut self, desk: usize, scan: Scan, what: &str) {
        if scan.cut {
            let problem =
                format!("some {what}: the scan timed out; try again once the index is built");
            self.unread.push(problem);
        }
        self.unread.extend(scan.unread);
        self.add_seen(desk, &scan.seen);
    }

    pub(super) fn stage(&mut self, name: &str, since: Instant, found: String) {
        self.stage_took(name, since.elapsed(), found);
    }

    fn stage_took(&mut self, name: &str, took: Duration, found: String) {
        self.stages.push(Stage { name: name.to_owned(), found, took });
    }

    fn lower(&mut self, tier: Tier) {
        self.tier = Some(self.tier.map_or(tier, |lowest| lowest.min(tier)));
    }
}

fn look_time(plan: &Plan) -> Duration {
    if plan.proactive { PROACTIVE_LOOK_TIME } else { LOOK_TIME }
}

/// Parameters for searching one index set.
pub(super) struct Visit<'a> {
    pub keeper: &'a Keeper,
    pub plan: &'a Plan,
    pub number: usize,
    pub filter: Filter,
}

/// Search over events. The cursors are read before the search, because events indexed meanwhile are
/// not in its results.
struct Events<'a> {
    ledger: &'a Ledger,
    last: u64,
    at_words: u64,
    at_meanings: u64,
    inquiry: Inquiry,
}

impl<'a> Events<'a> {
    fn of(visit: &Visit<'_>, ledger: &'a Ledger, (words, meanings): Open) -> Self {
        let last = ledger.last_seq();
        let at_words = words.as_ref().map_or(0, |words| number(&words.cursor()));
        let at_meanings = meanings.as_ref().map_or(0, |meanings| number(&meanings.cursor()));
        let near = |at: u64| is_nearly_complete(at, last);
        let inquiry = Inquiry {
            words: words.filter(|_| near(at_words) && visit.plan.wants(Tier::Words)),
            meanings: meanings.filter(|_| near(at_meanings) && visit.plan.wants(Tier::Meanings)),
            filter: Filter { sources: Vec::new(), ..visit.filter.clone() },
            // Proactive queries look up the similarity of BM25 hits instead of scanning vectors.
            depths: match visit.plan.proactive {
                true => (PROACTIVE_DEPTH, 0),
                false => (WORDS_DEPTH, MEANINGS_DEPTH),
            },
        };
        Self { ledger, last, at_words, at_meanings, inquiry }
    }
}

/// Returns whether an index at cursor `at` is worth searching. A newly created one is empty, and
/// its statistics would mislead the ranking.
fn is_nearly_complete(at: u64, last: u64) -> bool {
    at > 0 && last.saturating_sub(at) <= BEHIND_MAX
}

fn has_read_enough(words: &Words, last: u64) -> bool {
    is_nearly_complete(number(&words.cursor()), last)
}

/// Search over pages. Cursor and known files are read before the search.
struct Pages {
    cursor: Option<u64>,
    known: Option<Arc<HashSet<String>>>,
    /// Files that the vector index covers, if it is updated together with the BM25 index.
    known_meanings: Option<Arc<HashSet<String>>>,
    inquiry: Inquiry,
}

impl Pages {
    fn of(
        visit: &Visit<'_>,
        desk: &Desk,
        ledger: Option<&Ledger>,
        sources: Vec<Source>,
        (words, meanings): Open,
    ) -> Self {
        let mut filter = Filter { sources, ..visit.filter.clone() };
        if let Some(session) = visit.plan.session.as_ref().filter(|session| session.only) {
            filter.session = Some(session.id.clone());
        }
        // A newly created index of pages has no cursor yet and is empty.
        let has_begun = |cursor: String| ledger.is_none() || !cursor.is_empty();
        let words = words.filter(|it| visit.plan.wants(Tier::Words) && has_begun(it.cursor()));
        let meanings =
            meanings.filter(|it| visit.plan.wants(Tier::Meanings) && has_begun(it.cursor()));
        let cursor = words.as_ref().map(|words| {
            // A remote embedder's vectors may lag far behind; BM25 covers those nodes.
            let together = meanings.iter().filter(|_| !visit.keeper.embedder.is_far());
            let cursors = together.map(|meanings| number(&meanings.cursor()));
            cursors.fold(number(&words.cursor()), u64::min)
        });
        let is_asked = !visit.plan.proactive;
        let known = words.as_ref().filter(|_| is_asked);
        let known = known.map(|words| known_files(&desk.known, words));
        let known_meanings =
            meanings.as_ref().filter(|_| is_asked && !visit.keeper.embedder.is_far());
        let known_meanings =
            known_meanings.map(|meanings| known_files(&desk.known_meanings, meanings));
        let depths = match visit.plan.proactive {
            true => (2 * PROACTIVE_PAGES_MAX, PROACTIVE_PAGES_MAX),
            false => (PAGES_DEPTH, PAGES_DEPTH),
        };
        Self { cursor, known, known_meanings, inquiry: Inquiry { words, meanings, filter, depths } }
    }
}

impl Gathered {
    /// Collects candidates from one index set.
    pub(super) fn ask(
        &mut self,
        keeper: &Keeper,
        plan: &Plan,
        desk: &Arc<Desk>,
        project: Option<&str>,
    ) -> Result<(), RecallError> {
        let ledger = desk.ledger.as_ref().map(|path| keeper.stores.open(path)).transpose()?;
        let number = self.asked.len();
        let mut filter = plan.filter.clone();
        if desk.of == DeskOf::Unified && plan.across != Across::All {
            filter.project = project.map(str::to_owned);
        }
        let embedder = &keeper.embedder;
        let ((words, meanings), (pages_words, pages_meanings)) =
            keeper.look(desk, |desk| (desk.events.look(embedder), desk.pages.look(embedder)));
        let last = ledger.as_ref().map_or(0, |ledger| ledger.last_seq());
        let complete = words.clone().filter(|words| has_read_enough(words, last));
        if let Some(words) = &complete {
            self.stats.add(plan, words);
        }
        let held = OpenDesk { ledger: ledger.clone(), meanings: meanings.clone() };
        self.asked.push(Asked {
            desk: Arc::clone(desk),
            held: Some(held).filter(|_| !self.is_wide),
            question: None,
        });
        let visit = Visit { keeper, plan, number, filter };
        let events = ledger.as_ref().filter(|ledger| plan.has_events() && ledger.last_seq() > 0);
        let events = events.map(|ledger| Events::of(&visit, ledger, (words, meanings)));
        let pages = Some(plan.pages()).filter(|sources| !sources.is_empty());
        let pages = pages.map(|of| {
            Pages::of(&visit, desk, ledger.as_deref(), of, (pages_words, pages_meanings))
        });
        let inquiries = [
            events.as_ref().map(|events| &events.inquiry),
            pages.as_ref().map(|pages| &pages.inquiry),
        ];
        let rarest =
            complete.filter(|_| plan.proactive).map(|words| rarest_words(&plan.text, &words));
        let words = rarest.as_deref().unwrap_or(&plan.text);
        let [of_events, of_pages] = inquiry::ask(&plan.text, words, inquiries);
        if let Some(events) = events {
            self.take_events(&visit, desk, events, of_events)?;
        }
        let looks_around = plan.has_events() && !plan.proactive;
        if let (Some(ledger), Some(project), true) = (&ledger, project, looks_around) {
            self.look_at_foreign(&visit, ledger, project)?;
        }
        if let Some(pages) = pages {
            self.take_pages(visit, desk, ledger.as_deref(), pages, of_pages)?;
        }
        self.let_go(number);
        Ok(())
    }

    /// Releases a store without candidates: of hundreds searched, few have any.
    fn let_go(&mut self, number: usize) {
        let is_needed = self.candidates.iter().rev().any(|candidate| candidate.desk == number);
        let held = self.asked.get_mut(number).and_then(|asked| asked.held.as_mut());
        if let Some(held) = held.filter(|_| !is_needed) {
            held.ledger = None;
        }
    }

    fn take_events(
        &mut self,
        visit: &Visit<'_>,
        desk: &Desk,
        events: Events<'_>,
        replies: Replies,
    ) -> Result<(), RecallError> {
        let Events { ledger, last, at_words, at_meanings, inquiry } = events;
        let filter = inquiry.filter;
        let (has_words, question) = self.take_replies(visit.number, &desk.events, replies);
        let has_meanings = question.is_some();
        if let Some(asked) = self.asked.get_mut(visit.number) {
            asked.question = question;
        }
        self.note_tier(has_words, has_meanings);
        if visit.plan.wants(Tier::Meanings) {
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
        let alone = matches!(visit.plan.tier, Some(Tier::Words | Tier::Meanings)) && from > 0;
        let slowest = if has_words && has_meanings { at_words.min(at_meanings) } else { from };
        self.behind = self.behind.max(if from > 0 { last.saturating_sub(slowest) } else { 0 });
        if visit.plan.wants(Tier::Meanings) {
            self.note_far(visit.keeper, desk, last.saturating_sub(at_meanings));
        }
        if from == 0 || (last > from && !alone) {
            self.behind = self.behind.max(last - at_words.max(at_meanings).min(last));
            let since = Instant::now();
            let stop = || since.elapsed() > look_time(visit.plan);
            let hunt =
                Hunt { needle: &visit.plan.needle, filter: &filter, limit: SEEN_MAX, stop: &stop };
            let scan = literal::scan_events(ledger, from, hunt)?;
            let what = format!("{} events scanned", scan.looked);
            self.add_scan(visit.number, scan, "events");
            self.stage("literal: events", since, what);
        }
        Ok(())
    }

    /// Scans the session's `messages.jsonl` for lines that are not events of the ledger, because
    /// someone else wrote them.
    fn look_at_foreign(
        &mut self,
        visit: &Visit<'_>,
        ledger: &Ledger,
        project: &str,
    ) -> Result<(), RecallError> {
        let Some(session) = &visit.plan.session else { return Ok(()) };
        let path = visit.keeper.copies.file(project, &SessionId::parse(&session.id)?);
        if !std::fs::metadata(&path).is_ok_and(|meta| meta.len() <= FOREIGN_BYTES_MAX) {
            return Ok(());
        }
        let since = Instant::now();
        let stop = || since.elapsed() > LOOK_TIME;
        let filter = Filter { session: None, ..visit.filter.clone() };
        let hunt =
            Hunt { needle: &visit.plan.needle, filter: &filter, limit: SEEN_MAX, stop: &stop };
        let owner = Owner { project, session: &session.id };
        for seen in literal::scan_messages(&path, owner, hunt)?.seen {
            let is_known = match &seen.key {
                Key::Named(id) => {
                    EventId::parse(id).is_ok_and(|id| matches!(ledger.position(&id), Ok(Some(_))))
                }
                Key::Event(_) => true,
            };
            if !is_known {
                self.add(Candidate::of_line(visit.number, &seen, &session.folder));
            }
        }
        Ok(())
    }

    /// Collects the results of a pair of indexes. A damaged index is closed, counts as missing, and
    /// is rebuilt later. Returns whether BM25 responded, and the embedded query if the vector index
    /// did.
    fn take_replies(
        &mut self,
        desk: usize,
        pair: &Pair,
        replies: Replies,
    ) -> (bool, Option<Bearing>) {
        if let Some((Err(error), _)) = &replies.words {
            pair.words.give_up(error);
        }
        if let Some((Err(error), _)) = &replies.meanings {
            pair.meanings.give_up(error);
        }
        let has_words = self.take(replies.words, |this, found, took| {
            this.stage_took("bm25", took, format!("{} chunks", found.len()));
            this.add_words(desk, &found);
        });
        let mut understood = None;
        self.take(replies.meanings, |this, (found, question), took| {
            this.stage_took("vectors", took, format!("{} chunks", found.len()));
            this.add_meanings(desk, &found);
            understood = Some(question);
        });
        (has_words, understood)
    }

    fn take<T>(
        &mut self,
        reply: Option<Reply<T>>,
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
                self.leave_out(error.to_string());
                false
            }
        }
    }

    /// Reports a problem once.
    pub(super) fn leave_out(&mut self, problem: String) {
        if !self.unread.contains(&problem) {
            self.unread.push(problem);
        }
    }

    /// Reports how many vectors of a remote embedder are missing, and why.
    fn note_far(&mut self, keeper: &Keeper, desk: &Desk, to_go: u64) {
        if to_go == 0 || !keeper.embedder.is_far() {
            return;
        }
        self.behind = self.behind.max(to_go);
        let problem = desk.problems().meanings.clone();
        let name = keeper.embedder.name();
        self.leave_out(match problem {
            Some(problem) => format!("vectors of {to_go} events: {problem}"),
            None => format!("vectors of {to_go} events: {name} is still embedding them"),
        });
    }

    fn note_tier(&mut self, has_words: bool, has_meanings: bool) {
        self.lower(match (has_words, has_meanings) {
            (true, true) => Tier::Fused,
            (true, false) => Tier::Words,
            (false, true) => Tier::Meanings,
            (false, false) => Tier::Literal,
        });
    }

    fn take_pages(
        &mut self,
        mut visit: Visit<'_>,
        desk: &Desk,
        ledger: Option<&Ledger>,
        pages: Pages,
        replies: Replies,
    ) -> Result<(), RecallError> {
        let Pages { cursor, known, known_meanings, inquiry } = pages;
        let filter = inquiry.filter;
        visit.filter = filter.clone();
        let (has_words, question) = self.take_replies(visit.number, &desk.pages, replies);
        let has_meanings = question.is_some();
        if visit.plan.tier.is_some_and(|tier| matches!(tier, Tier::Words | Tier::Meanings)) {
            return Ok(());
        }
        // Proactive queries ignore pages that the index has not read yet.
        if visit.plan.proactive && has_words {
            self.note_tier(has_words, has_meanings);
            return Ok(());
        }
        let since = Instant::now();
        let mut looked = 0;
        if let Some(ledger) = ledger
            && !has_words
            && filter.sources.contains(&Source::Node)
        {
            let stop = || since.elapsed() > look_time(visit.plan);
            let hunt =
                Hunt { needle: &visit.plan.needle, filter: &filter, limit: SEEN_MAX, stop: &stop };
            let projects = match &filter.project {
                Some(project) => vec![project.clone()],
                None => ledger.contents_projects()?,
            };
            for project in projects {
                let scan = literal::scan_contents(ledger, &project, hunt)?;
                looked += scan.looked;
                self.add_scan(visit.number, scan, "nodes of the contents");
            }
        } else if let (Some(ledger), Some(cursor)) = (ledger, cursor) {
            looked += self.look_at_changed(&visit, ledger, cursor)?;
        }
        if let Some(ledger) = ledger
            && let Some(first) = ledger.damage().first()
        {
            let path = ledger.path().display();
            self.leave_out(format!("damaged parts of {path} ({first})"));
        }
        let (files, problems) = visit.keeper.reachable_files(desk);
        problems.into_iter().for_each(|problem| self.leave_out(problem));
        let nodes = ledger.map_or(Ok(0), Ledger::last_node_change)?;
        if nodes > 0 || !files.is_empty() {
            self.note_tier(has_words, has_meanings);
        }
        let known = known.filter(|_| has_words).unwrap_or_default();
        looked += self.look_at_files(&visit, desk, &files, &known)?;
        if let Some(covered) = known_meanings.filter(|_| has_meanings) {
            let lacking = files.iter().filter(|file| !covered.contains(&file.stamp())).count();
            if lacking > 0 {
                self.behind = self.behind.max(lacking as u64);
                desk.wanting.store(true, Ordering::Relaxed);
            }
        }
        self.stage("literal: pages", since, format!("{looked} pages scanned"));
        Ok(())
    }
}
