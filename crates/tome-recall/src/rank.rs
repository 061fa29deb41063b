//! Reads the candidates' texts, scores them per tier, and fuses the scores.

use std::collections::HashMap;
use std::time::Instant;

use tome_contents::is_service_error_text;
use tome_finder::{ByteRange, EntryKey, QueryTerms, QueryVector, RecordKind, VectorIndex};
use tome_ledger::Ledger;
use tome_model::EventKind;

use super::candidate::{NeighborEvents, RecallCandidate, SourceKind, load_neighbors, source_kind};
use super::candidate_pool::CandidatePool;
use super::confidence::{Confidence, ConfidenceFeatures};
use super::fuse::{TierScores, relative_to_best, round_score};
use super::indexer::Indexer;
use super::literal::event_meta;
use super::neighbors::{
    add_neighbor_similarity, is_between_people, is_in_dialogue, score_words, turn_factor,
};
use super::plan::RecallPlan;
use super::score_table::{RankedTier, ScoreTable};
use super::term_scores::{TermMatch, TermScorer};
use super::turn_traits::TurnTraits;
use super::weights::{
    CODE_SIMILARITY_WEIGHT, CONTENTS_WEIGHT, DEEP_CHUNKS_MAX, DOCUMENT_SIMILARITY_WEIGHT,
    DOCUMENTS_SHARE, LOW_SIMILARITY_WEIGHT, MANY_CHUNKS_VECTORS_PENALTY, NARRATION_WEIGHT,
    NEIGHBOR_BYTES_MAX, NEIGHBORS_READ_MAX, SIMILARITY_WEIGHT, STATIC_SHARE, TASK_LIST_WEIGHT,
    TIME_SPAN_BOOST, TOOL_CALL_WEIGHT, TURN_WITH_NEIGHBORS_BYTES_MAX, USER_MESSAGE_WEIGHT,
};
use super::{Tier, parallel};
use crate::RecallError;

/// Assumed number of words per chunk where no index knows it.
const AVERAGE_WORDS: f32 = 60.0;

/// Minimum number of turns with their neighbors per thread.
const TURNS_PER_THREAD: usize = 4;

/// The vector indexes of a candidate, each with the query embedded for it.
#[derive(Clone, Copy)]
pub(super) struct CandidateVectors<'a> {
    pub vectors: Option<(&'a VectorIndex, &'a QueryVector)>,
    pub deep: Option<(&'a VectorIndex, &'a QueryVector)>,
}

/// A candidate with its scores.
pub(super) struct RankedCandidate {
    pub candidate: RecallCandidate,
    pub score: f64,
    /// Share of the query that its text covers, weighted by IDF.
    pub coverage: f32,
    /// Highest cosine similarity, if known.
    pub similarity: Option<f32>,
    /// Share of the highest possible BM25 score, including what its neighbors contribute.
    pub bm25_share: f32,
    pub confidence: Confidence,
    pub best_range: ByteRange,
    pub ranks: Vec<(Tier, usize, f32)>,
}

/// Beginning of the notice that Claude Code records in the user's name.
const INTERRUPTION: &str = "[Request interrupted by user";

impl RankedCandidate {
    /// Whether it only records that the user interrupted the agent, or that its service failed.
    pub(super) fn is_notice(&self) -> bool {
        self.candidate.body.as_ref().is_some_and(|body| {
            let is_message = body.tool.is_none() && body.order_key().is_some();
            body.text.trim_start().starts_with(INTERRUPTION)
                || is_message && is_service_error_text(&body.text)
        })
    }

    /// Whether it is the page of a month or a year. They only repeat what the pages below them say.
    pub(super) fn is_long_period(&self) -> bool {
        let kind = self.candidate.body.as_ref().map(|body| body.kind.as_str());
        self.candidate.source == RecordKind::Node && matches!(kind, Some("month" | "year"))
    }

    /// Returns whether it belongs to the current session.
    pub(super) fn is_in_current_session(&self, plan: &RecallPlan) -> bool {
        let current = plan.session.as_ref().map(|session| session.id.as_str());
        let session = self.candidate.body.as_ref().and_then(|body| body.session.as_deref());
        current.is_some() && session == current
    }
}

/// Boosts hits within the time span that the query names, and sorts again.
pub(super) fn boost_time_span(ranked: &mut [RankedCandidate], plan: &RecallPlan) {
    if let Some((from, to)) = plan.span {
        for one in ranked.iter_mut().filter(|one| (from..to).contains(&one.candidate.at)) {
            one.score *= TIME_SPAN_BOOST;
        }
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
    }
}

impl CandidatePool {
    /// Reads, ranks and fuses the candidates, best first.
    pub(super) fn rank(
        mut self,
        indexer: &Indexer,
        plan: &RecallPlan,
    ) -> Result<(Vec<RankedCandidate>, Self), RecallError> {
        let since = Instant::now();
        self.select_for_reading(plan);
        let terms = self.build_term_scorer(plan);
        let score_text = |candidate: &mut RecallCandidate,
                          vectors: Option<CandidateVectors<'_>>| {
            if let Some(vectors) = vectors {
                fill_similarity(candidate, vectors);
            }
            score_candidate_terms(candidate, &terms)
        };
        let mut matches = self.read_candidates(0, indexer, score_text)?;
        let read = matches.len();
        let script_weight = self.script_weight(indexer, plan);
        let weights = SimilarityWeights::choose(script_weight, &terms, &matches);
        let turns = self.select_turns(plan, &matches, |candidate, term_match| {
            let bm25 = term_match.map(|term_match| term_match.score / terms.full_score());
            let similarity = event_similarity(candidate, term_match, weights.static_share);
            TierScores { bm25, similarity, literal: None }.fuse(weights.similarity)
        });
        let neighbors = self.add_neighbors(indexer, plan, &turns)?;
        matches.extend(self.read_candidates(read, indexer, score_text)?);
        let found = format!("{read} texts, {} neighbors", matches.len() - read);
        self.report.record_stage("read", since, found);
        let since = Instant::now();
        let neighbor_at = |index: usize, distance| neighbors.get(&(index, distance)).copied();
        // Records that merely follow each other do not help: only turns of a dialogue do.
        let in_dialogue: Vec<bool> =
            (0..matches.len()).map(|index| is_in_dialogue(&matches, index, neighbor_at)).collect();
        let turn_at = |index: usize, distance: isize| {
            let is_turn = in_dialogue.get(index).copied().unwrap_or(false);
            is_turn.then(|| neighbor_at(index, distance)).flatten()
        };
        // Decided for all together, because the neighbors of only the best turns are known.
        let chats =
            turns.iter().filter(|turn| is_between_people(&matches, **turn, turn_at)).count();
        let similarity_weight = if 2 * chats > turns.len() {
            script_weight * LOW_SIMILARITY_WEIGHT
        } else {
            weights.similarity
        };
        let without_scores = || vec![None; matches.len()];
        let bm25 = match plan.tier {
            Some(Tier::Vectors) => without_scores(),
            _ => score_words(&matches, turn_at, &terms),
        };
        let similarities = if self.vectors.is_uniform() {
            self.event_similarities(&matches, weights.static_share)
        } else {
            without_scores()
        };
        // With a BM25 index, the text scan is redundant: BM25 also has IDF.
        let is_indexed = self.sets.stats.indexes > 0;
        let literal = match plan.tier {
            Some(Tier::Bm25 | Tier::Vectors) => without_scores(),
            None | Some(Tier::Fused) if is_indexed => without_scores(),
            _ => relative_to_best(self.score_literally(plan)),
        };
        let kinds: Vec<SourceKind> =
            self.candidates.list.iter().map(|candidate| source_kind(candidate.source)).collect();
        let scores = ScoreTable {
            bm25: RankedTier::new(Tier::Bm25, bm25, &kinds),
            vectors: RankedTier::new(
                Tier::Vectors,
                add_neighbor_similarity(&similarities, &matches, turn_at),
                &kinds,
            ),
            literal: RankedTier::new(Tier::Literal, literal, &kinds),
        };
        let fuse = |index: usize| {
            scores.tier_scores(index).fuse(similarity_weight)
                * turn_factor(&matches, index, turn_at)
        };
        let ranked = self.build_ranked(&matches, &scores, fuse);
        self.report.record_stage("rank", since, format!("{} candidates", ranked.len()));
        Ok((ranked, self))
    }

    /// Takes the candidates whose texts were read and that scored, best first.
    fn build_ranked(
        &mut self,
        matches: &[Option<TermMatch>],
        scores: &ScoreTable,
        fuse: impl Fn(usize) -> f32,
    ) -> Vec<RankedCandidate> {
        let candidates = std::mem::take(&mut self.candidates.list);
        let mut ranked: Vec<RankedCandidate> = candidates
            .into_iter()
            .enumerate()
            .filter(|(_, candidate)| candidate.body.is_some())
            .map(|(index, candidate)| {
                let term_match = matches.get(index).and_then(Option::as_ref);
                RankedCandidate {
                    score: f64::from(fuse(index) * kind_weight(&candidate)),
                    bm25_share: scores.bm25.score(index).unwrap_or(0.0),
                    confidence: Confidence::Weak,
                    coverage: term_match.map_or(0.0, |term_match| term_match.coverage),
                    similarity: candidate.similarities.first().copied(),
                    best_range: term_match.map_or(ByteRange::default(), |it| it.best_chunk),
                    ranks: scores.ranks(index),
                    candidate,
                }
            })
            .filter(|ranked| ranked.score > 0.0)
            .collect();
        ranked.sort_by(|a, b| {
            b.score
                .total_cmp(&a.score)
                .then_with(|| tie_break_key(&a.candidate).cmp(&tie_break_key(&b.candidate)))
        });
        ranked
    }

    /// The similarity of each candidate by itself, without its neighbors.
    fn event_similarities(
        &self,
        matches: &[Option<TermMatch>],
        static_share: f32,
    ) -> Vec<Option<f32>> {
        let pairs = self.candidates.list.iter().zip(matches);
        pairs
            .map(|(candidate, term_match)| {
                event_similarity(candidate, term_match.as_ref(), static_share)
            })
            .collect()
    }

    /// Selects the best events by their own text, whose neighbors are read too; best first.
    fn select_turns(
        &self,
        plan: &RecallPlan,
        matches: &[Option<TermMatch>],
        score: impl Fn(&RecallCandidate, Option<&TermMatch>) -> f32,
    ) -> Vec<usize> {
        // A hint is shown without its surroundings.
        if plan.tier == Some(Tier::Vectors)
            || !plan.filter.kinds.is_empty()
            || !plan.effort.is_full()
        {
            return Vec::new();
        }
        let all = self.candidates.list.iter().zip(matches).enumerate();
        let mut order: Vec<(usize, f32)> = all
            .filter(|(_, (candidate, _))| candidate.source == RecordKind::Event)
            .map(|(index, (candidate, term_match))| (index, score(candidate, term_match.as_ref())))
            .filter(|(_, score)| *score > 0.0)
            .collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1));
        order.truncate(NEIGHBORS_READ_MAX);
        order.into_iter().map(|(index, _)| index).collect()
    }

    /// Adds the turns around the best ones. Returns the neighbors by candidate and distance.
    fn add_neighbors(
        &mut self,
        indexer: &Indexer,
        plan: &RecallPlan,
        turns: &[usize],
    ) -> Result<HashMap<(usize, isize), usize>, RecallError> {
        let all: Vec<&RecallCandidate> =
            turns.iter().filter_map(|turn| self.candidates.list.get(*turn)).collect();
        let sides = parallel::map(all, TURNS_PER_THREAD, |turn: &RecallCandidate| {
            let Some(searched_set) = self.sets.get(turn.set_index) else { return Ok(None) };
            let ledger = searched_set.open(indexer)?.ledger;
            ledger.map_or(Ok(None), |ledger| load_sides(turn, &ledger))
        });
        let mut neighbors = HashMap::new();
        for (index, sides) in turns.iter().copied().zip(sides) {
            let Some((before, after)) = sides? else { continue };
            let Some((set_index, bytes)) =
                self.candidates.list.get(index).map(|it| (it.set_index, it.text_bytes()))
            else {
                continue;
            };
            let is_long = bytes > NEIGHBOR_BYTES_MAX;
            let mut indexes: Vec<(isize, usize)> = vec![(0, index)];
            let sides = (1..).map(|n: isize| -n).zip(before).chain((1..).zip(after));
            for (distance, (order_key, event)) in sides {
                if !plan.entry_filter.admits(&event_meta(&event)) {
                    continue;
                }
                let id = (set_index, EntryKey::Event(order_key.seq), ByteRange::default());
                let neighbor_index = match self.candidates.position(&id) {
                    Some(neighbor_index) => neighbor_index,
                    None => {
                        let mut neighbor =
                            RecallCandidate::from_event(set_index, order_key, &event);
                        // Two long turns do not need each other's terms.
                        if is_long && neighbor.text_bytes() > NEIGHBOR_BYTES_MAX {
                            continue;
                        }
                        if let Some(found) = self.candidates.take_skipped(&id) {
                            neighbor = RecallCandidate { body: neighbor.body, ..found };
                        }
                        self.candidates.add(neighbor);
                        self.candidates.list.len() - 1
                    }
                };
                indexes.push((distance, neighbor_index));
            }
            for (a, one) in &indexes {
                for (b, other) in &indexes {
                    if a != b && (a - b).abs() <= 2 {
                        neighbors.insert((*one, b - a), *other);
                    }
                }
            }
        }
        Ok(neighbors)
    }

    /// Scores each text with the query matcher, weighted by IDF.
    fn score_literally(&self, plan: &RecallPlan) -> Vec<Option<f32>> {
        let mut matcher = plan.matcher.clone();
        if self.sets.stats.indexes > 0 {
            matcher.set_weights(|term| {
                let stems = tome_text::stemmed_terms(term);
                stems.iter().map(|stem| self.sets.stats.idf(stem)).fold(0.1, f32::max)
            });
        }
        let literal_score = |candidate: &RecallCandidate| {
            let body = candidate.body.as_ref()?;
            matcher.match_with_title(&body.title, &body.text).map(|found| found.score())
        };
        self.candidates.list.iter().map(literal_score).collect()
    }

    /// Builds the scorer for the query's terms, weighted by IDF.
    pub(super) fn build_term_scorer(&self, plan: &RecallPlan) -> TermScorer {
        let query_terms = QueryTerms::new(&plan.text);
        let weights = query_terms.term_weights(|stem| self.sets.stats.idf(stem));
        let is_known = |letters: &str| self.sets.stats.has_character_pair(letters);
        let average_words = self.sets.stats.average_length().unwrap_or(AVERAGE_WORDS);
        TermScorer::new(query_terms, weights, average_words, plan.doubtful_time_phrase(), is_known)
    }
}

/// How much the similarity counts for a query.
struct SimilarityWeights {
    /// Weight of the similarity relative to the BM25 share.
    similarity: f32,
    /// Share of static vectors in the similarity of a text that has deep ones, too.
    static_share: f32,
}

impl SimilarityWeights {
    fn choose(script_weight: f32, terms: &TermScorer, matches: &[Option<TermMatch>]) -> Self {
        let is_one_question = terms.query_terms.sub_questions().is_empty();
        let are_documents = are_documents(matches);
        let similarity = match (is_one_question, are_documents) {
            (false, _) => LOW_SIMILARITY_WEIGHT,
            (true, true) => DOCUMENT_SIMILARITY_WEIGHT,
            (true, false) if are_code(matches) => CODE_SIMILARITY_WEIGHT,
            (true, false) => SIMILARITY_WEIGHT,
        };
        let static_share = if are_documents { 1.0 } else { STATIC_SHARE };
        Self { similarity: script_weight * similarity, static_share }
    }
}

/// Looks up the similarity of an event that the vector search did not return: the depth of that
/// search must not decide what is known about BM25 hits. Errors leave it unknown.
fn fill_similarity(candidate: &mut RecallCandidate, indexes: CandidateVectors<'_>) {
    let EntryKey::Event(seq) = candidate.key else { return };
    let deep = indexes.deep.filter(|(deep, _)| deep.contains(&candidate.key));
    let chunks = &candidate.chunks;
    let similarities = |(index, query_vector): (&VectorIndex, &QueryVector)| -> Vec<f32> {
        let found = index.event_similarity(query_vector, seq, chunks).unwrap_or_default();
        found.into_iter().map(|found| found.score).collect()
    };
    if deep.is_some() && candidate.static_similarity.is_none() {
        let found = indexes.vectors.map(similarities).unwrap_or_default();
        candidate.static_similarity = found.into_iter().reduce(f32::max);
    }
    if candidate.similarities.is_empty() {
        candidate.similarities = deep.or(indexes.vectors).map(similarities).unwrap_or_default();
    }
}

/// The turns on both sides of one, unless it is too long to have any.
fn load_sides(
    candidate: &RecallCandidate,
    ledger: &Ledger,
) -> Result<Option<(NeighborEvents, NeighborEvents)>, RecallError> {
    let Some(body) = candidate.body.as_ref() else { return Ok(None) };
    match body.order_key().filter(|_| body.text.len() <= TURN_WITH_NEIGHBORS_BYTES_MAX) {
        Some(order_key) => load_neighbors(ledger, body, order_key, 2).map(Some),
        None => Ok(None),
    }
}

/// Weight of a kind of source: a note counts as much as an equally relevant event, contents less
/// than the events that they summarize.
fn kind_weight(candidate: &RecallCandidate) -> f32 {
    let tool = candidate.body.as_ref().and_then(|body| body.tool.as_deref());
    match (source_kind(candidate.source), tool) {
        (SourceKind::Contents, _) => CONTENTS_WEIGHT,
        (_, Some(name)) if tome_contents::is_task_list_tool(name) => TASK_LIST_WEIGHT,
        (_, Some(_)) => TOOL_CALL_WEIGHT,
        (SourceKind::Events, None) if is_narration(candidate) => NARRATION_WEIGHT,
        (SourceKind::Events | SourceKind::Files, None) => 1.0,
    }
}

fn is_narration(candidate: &RecallCandidate) -> bool {
    const REPLY: &str = EventKind::AssistantMessage.as_str();
    let body = candidate.body.as_ref().filter(|body| body.kind == REPLY);
    body.is_some_and(|body| tome_contents::is_narration(&body.text))
}

/// Rates how likely each hit is relevant. They must be sorted, best first.
pub(super) fn rate_confidence(ranked: &mut [RankedCandidate], script_weight: f32) {
    let score_at = |rank: usize| ranked.get(rank).map_or(0.0, |one| round_score(one.score));
    let (best, third) = (score_at(0), score_at(2));
    for one in ranked {
        let similarity = script_weight * one.similarity.unwrap_or(0.0).max(0.0);
        let (score, coverage) = (round_score(one.score), one.coverage);
        let features = ConfidenceFeatures { score, best, third, similarity, coverage };
        one.confidence = features.confidence();
    }
}

/// Ties: notes before contents before events, then by index set, key and range.
pub(super) fn tie_break_key(
    candidate: &RecallCandidate,
) -> (std::cmp::Reverse<RecordKind>, usize, EntryKey, ByteRange) {
    (
        std::cmp::Reverse(candidate.source),
        candidate.set_index,
        candidate.key.clone(),
        candidate.range,
    )
}

fn score_candidate_terms(candidate: &RecallCandidate, terms: &TermScorer) -> Option<TermMatch> {
    let body = candidate.body.as_ref()?;
    let by_user = body.kind == EventKind::UserMessage.as_str();
    let weight = if by_user { USER_MESSAGE_WEIGHT } else { 1.0 };
    let is_event = candidate.source == RecordKind::Event;
    let matched = terms.score_text(
        &body.text,
        &format!("{} {}", body.title, body.keywords),
        weight,
        // A page's candidate covers the whole text; an event's chunks are ranges of it.
        if is_event { &candidate.chunks } else { &[] },
    );
    let traits = if is_event {
        TurnTraits::parse(&body.text, &body.kind, &terms.query_terms)
    } else {
        TurnTraits::default()
    };
    Some(TermMatch { traits, ..matched })
}

/// Similarity of an event: that of its closest chunk, wherever in the text it is, reduced for many
/// chunks.
fn event_similarity(
    candidate: &RecallCandidate,
    term_match: Option<&TermMatch>,
    static_share: f32,
) -> Option<f32> {
    let closest = candidate.similarities.iter().copied().reduce(f32::max)?.max(0.0);
    let chunks = term_match.map_or(1, |term_match| term_match.chunk_count);
    let static_share = if chunks > DEEP_CHUNKS_MAX { 1.0 } else { static_share };
    let similarity = match candidate.static_similarity {
        Some(similarity) => (1.0 - static_share) * closest + static_share * similarity.max(0.0),
        None => closest,
    };
    Some(similarity / (1.0 + MANY_CHUNKS_VECTORS_PENALTY * (1.0 - 1.0 / chunks as f32)))
}

/// Whether most of the texts are source code, whose words are names and not those of a question.
fn are_code(matches: &[Option<TermMatch>]) -> bool {
    let code = matches.iter().flatten().filter(|one| one.traits.is_code).count();
    code * 2 > matches.iter().flatten().count()
}

/// Whether many of the texts are too long for deep vectors. All are compared by static vectors then,
/// because the two kinds of similarity are not on one scale.
fn are_documents(matches: &[Option<TermMatch>]) -> bool {
    let long = matches.iter().flatten().filter(|one| one.chunk_count > DEEP_CHUNKS_MAX).count();
    long * DOCUMENTS_SHARE > matches.len()
}
