//! Reads the candidates' texts, ranks them per tier, and fuses the ranks.

use std::collections::HashMap;
use std::time::Instant;

use tome_finder::{Bearing, Key, Meanings, Part, Question, Source};
use tome_ledger::Ledger;
use tome_model::EventKind;

use super::candidate::{Candidate, Side, around, read_together};
use super::fuse::{fuse, ranks};
use super::gather::Gathered;
use super::keeper::Keeper;
use super::pack::{Kind, kind_of};
use super::plan::Plan;
use super::spread::{spread, spread_near};
use super::terms::{Match, Terms};
use super::weights::{
    CONTENTS_WEIGHT, LITERAL_WEIGHT, MANY_NEAR_PIECES, MEANINGS_WEIGHT, NEAR_READ_MAX,
    NEAREST_PIECES, NEIGHBOURS_BYTES_MAX, NEIGHBOURS_READ_MAX, PAGES_READ_MAX, PROACTIVE_PAGES_MAX,
    PROACTIVE_READ_MAX, READ_MAX, SAID_BY_USER, TELLING_BYTES_MAX, WORDS_WEIGHT,
};
use super::{Tier, abreast};
use crate::RecallError;

/// Minimum number of texts, or of turns with their neighbors, per thread.
const TEXTS_WORTH_A_THREAD: usize = 16;
const TURNS_WORTH_A_THREAD: usize = 4;

/// The vector index of a candidate, and the query embedded for it.
type Vectors<'a> = (&'a Meanings, &'a Bearing);

/// A candidate with its scores.
pub(super) struct Ranked {
    pub candidate: Candidate,
    pub score: f64,
    /// Share of the query that its text covers, weighted by IDF.
    pub coverage: f32,
    /// Highest cosine similarity, if known.
    pub cosine: Option<f32>,
    pub best: Part,
    pub ranks: Vec<(Tier, usize, f32)>,
}

impl Gathered {
    /// Reads, ranks and fuses the candidates, best first.
    pub(super) fn rank(
        mut self,
        keeper: &Keeper,
        plan: &Plan,
    ) -> Result<(Vec<Ranked>, Self), RecallError> {
        let since = Instant::now();
        self.keep_the_best(plan);
        let terms = self.terms(plan);
        let look = |candidate: &mut Candidate, vectors: Option<Vectors<'_>>| {
            if let Some(vectors) = vectors {
                ask_how_near(candidate, vectors);
            }
            match_of(candidate, &terms)
        };
        let mut matches = self.read_from(0, keeper, look)?;
        let read = matches.len();
        let turns = self.turns(plan, &matches);
        let near = self.add_neighbours(keeper, plan, &turns)?;
        matches.extend(self.read_from(read, keeper, look)?);
        let what = format!("{read} texts, {} neighbors", matches.len() - read);
        self.stage("read", since, what);
        let since = Instant::now();
        let near = |index: usize, distance: isize| near.get(&(index, distance)).copied();
        let wants_words = plan.tier != Some(Tier::Meanings);
        let words: Vec<Option<f32>> = match wants_words {
            true => spread(&matches, near, terms.question.parts()),
            false => vec![None; matches.len()],
        };
        let own: Vec<Option<f32>> = match self.is_fair_to_compare_vectors() {
            true => self.candidates.iter().zip(&matches).map(nearness).collect(),
            false => vec![None; matches.len()],
        };
        let meanings = spread_near(&own, &matches, near);
        // With a BM25 index, the text scan is redundant: BM25 also has IDF.
        let is_indexed = self.stats.indexes > 0;
        let looked: Vec<Option<f32>> = match plan.tier {
            Some(Tier::Words | Tier::Meanings) => vec![None; matches.len()],
            None | Some(Tier::Fused) if is_indexed => vec![None; matches.len()],
            _ => self.look(plan),
        };
        let kinds: Vec<Kind> =
            self.candidates.iter().map(|candidate| kind_of(candidate.source)).collect();
        let (words_ranks, meanings_ranks, looked_ranks) = (
            ranks_by_kind(&words, &kinds),
            ranks_by_kind(&meanings, &kinds),
            ranks_by_kind(&looked, &kinds),
        );
        let lists = [
            (WORDS_WEIGHT, words_ranks.as_slice()),
            (MEANINGS_WEIGHT, meanings_ranks.as_slice()),
            (LITERAL_WEIGHT, looked_ranks.as_slice()),
        ];
        let fused = fuse(&lists, self.candidates.len());
        let candidates = std::mem::take(&mut self.candidates);
        let mut ranked: Vec<Ranked> = candidates
            .into_iter()
            .enumerate()
            .filter(|(_, candidate)| candidate.body.is_some())
            .map(|(index, candidate)| {
                let of = |tier: Tier, ranks: &[Option<usize>], scores: &[Option<f32>]| {
                    let rank = ranks.get(index).copied().flatten()?;
                    Some((tier, rank, scores.get(index).copied().flatten().unwrap_or(0.0)))
                };
                let found = [
                    of(Tier::Words, &words_ranks, &words),
                    of(Tier::Meanings, &meanings_ranks, &meanings),
                    of(Tier::Literal, &looked_ranks, &looked),
                ];
                let own = matches.get(index).and_then(Option::as_ref);
                Ranked {
                    score: fused.get(index).copied().unwrap_or(0.0),
                    coverage: own.map_or(0.0, |own| own.coverage),
                    cosine: candidate.cosines.first().copied(),
                    best: own.map_or(Part::default(), |own| own.best),
                    ranks: found.into_iter().flatten().collect(),
                    candidate,
                }
            })
            .filter(|ranked| ranked.score > 0.0)
            .collect();
        weigh_kinds(&mut ranked);
        ranked.sort_by(|a, b| {
            b.score.total_cmp(&a.score).then_with(|| tie(&a.candidate).cmp(&tie(&b.candidate)))
        });
        self.stage("rank", since, format!("{} candidates", ranked.len()));
        Ok((ranked, self))
    }

    /// Returns whether all stores have vectors, or none. If only some have, their events would
    /// unfairly rank above better ones from the others.
    fn is_fair_to_compare_vectors(&self) -> bool {
        self.with_vectors == 0 || self.without_vectors == 0
    }

    /// Selects the candidates worth reading: the best of each tier, pages and events separately.
    fn keep_the_best(&mut self, plan: &Plan) {
        let mut keep = vec![false; self.candidates.len()];
        for is_event in [true, false] {
            for tier in [Tier::Words, Tier::Meanings, Tier::Literal] {
                let score = |candidate: &Candidate| match tier {
                    Tier::Words => candidate.words,
                    Tier::Meanings => candidate.cosines.first().copied(),
                    _ => candidate.looked,
                };
                let mut order: Vec<(usize, f32)> = self
                    .candidates
                    .iter()
                    .enumerate()
                    .filter(|(_, candidate)| (candidate.source == Source::Event) == is_event)
                    .filter_map(|(index, candidate)| Some((index, score(candidate)?)))
                    .collect();
                // Break ties deterministically, whatever order an index returned.
                let tied = |index: usize| self.candidates.get(index).map(tie);
                order.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| tied(a.0).cmp(&tied(b.0))));
                let most = match (is_event, tier) {
                    (true, _) if plan.proactive => PROACTIVE_READ_MAX,
                    (false, _) if plan.proactive => PROACTIVE_PAGES_MAX,
                    (true, Tier::Meanings) => NEAR_READ_MAX,
                    (true, _) => READ_MAX,
                    (false, _) => PAGES_READ_MAX,
                };
                for (index, _) in order.into_iter().take(most) {
                    if let Some(keep) = keep.get_mut(index) {
                        *keep = true;
                    }
                }
            }
        }
        let mut kept = keep.into_iter();
        let (best, passed): (Vec<_>, Vec<_>) = std::mem::take(&mut self.candidates)
            .into_iter()
            .partition(|_| kept.next().unwrap_or(false));
        self.candidates = best;
        // May be added again as a neighbor of another candidate.
        self.passed = passed.into_iter().map(|one| (one.id(), one)).collect();
        // Deterministic order, whichever index found them first.
        self.candidates.sort_by_cached_key(tie);
        self.renumber();
    }

    /// Reads what the candidates say.
    pub(super) fn read(&mut self, keeper: &Keeper) -> Result<(), RecallError> {
        self.read_from(0, keeper, |_, _| ()).map(drop)
    }

    /// Reads the texts of the candidates from `first` on, those of one page together, and applies
    /// `look` to each.
    fn read_from<R: Send>(
        &mut self,
        first: usize,
        keeper: &Keeper,
        look: impl Fn(&mut Candidate, Option<Vectors<'_>>) -> R + Sync,
    ) -> Result<Vec<R>, RecallError> {
        let (asked, is_wide) = (&self.asked, self.is_wide);
        let read = |page: &mut [Candidate]| -> Result<(Vec<R>, Option<RecallError>), RecallError> {
            let asked = page.first().and_then(|one| asked.get(one.desk));
            let opened = asked.map(|asked| {
                let open = asked.open(keeper)?;
                read_together(page, keeper, open.ledger.as_deref())?;
                Ok(open.meanings.zip(asked.question.as_ref()))
            });
            let (vectors, problem) = match opened.transpose() {
                Ok(vectors) => (vectors.flatten(), None),
                // In a wide query, one unreadable store must not fail the others.
                Err(error) if is_wide => (None, Some(error)),
                Err(error) => return Err(error),
            };
            let vectors = vectors.as_ref().map(|(meanings, question)| (&**meanings, *question));
            Ok((page.iter_mut().map(|candidate| look(candidate, vectors)).collect(), problem))
        };
        let candidates = self.candidates.get_mut(first..).unwrap_or_default();
        let is_same = |a: &Candidate, b: &Candidate| a.desk == b.desk && a.key == b.key;
        let mut pages: Vec<(usize, &mut [Candidate])> =
            candidates.chunk_by_mut(is_same).enumerate().collect();
        if is_wide {
            // Group pages by index set, so that each is opened once.
            pages.sort_by_key(|(_, page)| page.first().map(|one| one.desk));
        }
        let work = |(place, page)| (place, read(page));
        let mut looked = abreast::each(pages, TEXTS_WORTH_A_THREAD, work);
        looked.sort_by_key(|(place, _)| *place);
        let mut all = Vec::new();
        for (_, page) in looked {
            let (results, problem) = page?;
            all.extend(results);
            if let Some(problem) = problem {
                self.leave_out(problem.explained());
            }
        }
        Ok(all)
    }

    /// Selects the best events by their own text, whose neighbors are read too; best first.
    fn turns(&self, plan: &Plan, matches: &[Option<Match>]) -> Vec<usize> {
        // A hint is shown without its surroundings.
        if plan.tier == Some(Tier::Meanings) || !plan.filter.kinds.is_empty() || plan.proactive {
            return Vec::new();
        }
        let of_events = |score: fn((&Candidate, &Option<Match>)) -> Option<f32>| {
            let events = self.candidates.iter().zip(matches);
            let scores = events.map(|one| score(one).filter(|_| one.0.source == Source::Event));
            ranks(&scores.collect::<Vec<_>>())
        };
        let words = of_events(|(_, own)| Some(own.as_ref()?.score));
        let lists = [(WORDS_WEIGHT, words.as_slice()), (MEANINGS_WEIGHT, &of_events(nearness))];
        let fused = fuse(&lists, self.candidates.len());
        let mut order: Vec<(usize, f64)> =
            fused.into_iter().enumerate().filter(|(_, score)| *score > 0.0).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1));
        order.truncate(NEIGHBOURS_READ_MAX);
        order.into_iter().map(|(index, _)| index).collect()
    }

    /// Adds the turns around the best ones. Returns the neighbors by candidate and distance.
    fn add_neighbours(
        &mut self,
        keeper: &Keeper,
        plan: &Plan,
        turns: &[usize],
    ) -> Result<HashMap<(usize, isize), usize>, RecallError> {
        let all: Vec<&Candidate> =
            turns.iter().filter_map(|turn| self.candidates.get(*turn)).collect();
        let sides = abreast::each(all, TURNS_WORTH_A_THREAD, |turn: &Candidate| {
            let Some(asked) = self.asked.get(turn.desk) else { return Ok(None) };
            let ledger = asked.open(keeper)?.ledger;
            ledger.map_or(Ok(None), |ledger| sides(turn, &ledger))
        });
        let mut near = HashMap::new();
        for (index, sides) in turns.iter().copied().zip(sides) {
            let Some((before, after)) = sides? else { continue };
            let Some((desk, bytes)) = self.candidates.get(index).map(|it| (it.desk, it.bytes()))
            else {
                continue;
            };
            let is_long = bytes > NEIGHBOURS_BYTES_MAX;
            let mut places: Vec<(isize, usize)> = vec![(0, index)];
            let sides = (1..).map(|n: isize| -n).zip(before).chain((1..).zip(after));
            for (distance, (mark, event)) in sides {
                if !plan.admits(&event) {
                    continue;
                }
                let id = (desk, Key::Event(mark.seq), Part::default());
                let place = match self.number_of(&id) {
                    Some(place) => place,
                    None => {
                        let mut neighbour = Candidate::of_event(desk, mark, &event);
                        // Two long turns do not need each other's terms.
                        if is_long && neighbour.bytes() > NEIGHBOURS_BYTES_MAX {
                            continue;
                        }
                        if let Some(found) = self.passed.remove(&id) {
                            neighbour = Candidate { body: neighbour.body, ..found };
                        }
                        self.add(neighbour);
                        self.candidates.len() - 1
                    }
                };
                places.push((distance, place));
            }
            for (a, one) in &places {
                for (b, other) in &places {
                    if a != b && (a - b).abs() <= 2 {
                        near.insert((*one, b - a), *other);
                    }
                }
            }
        }
        Ok(near)
    }

    /// Scores each text with the query matcher, weighted by IDF.
    fn look(&self, plan: &Plan) -> Vec<Option<f32>> {
        let mut needle = plan.needle.clone();
        if self.stats.indexes > 0 {
            needle.weigh(|term| {
                let stems = tome_text::stemmed_terms(term);
                stems.iter().map(|stem| self.stats.idf(stem)).fold(0.1, f32::max)
            });
        }
        let of = |candidate: &Candidate| {
            let body = candidate.body.as_ref()?;
            needle.look_under(&body.title, &body.text).map(|look| look.score())
        };
        self.candidates.iter().map(of).collect()
    }

    /// Builds the scorer for the query's terms, weighted by IDF.
    pub(super) fn terms(&self, plan: &Plan) -> Terms {
        let usual = self.stats.usual_length;
        let question = Question::new(&plan.text);
        let weights = question.weights(|stem| self.stats.idf(stem));
        let is_known = |letters: &str| self.stats.knows(letters);
        let usual = if usual > 0.0 { usual } else { 60.0 };
        Terms::new(question, weights, usual, plan.time_as_words(), is_known)
    }
}

/// Looks up the similarity of an event that the vector search did not return: the depth of that
/// search must not decide what is known about BM25 hits. Errors leave it unknown.
fn ask_how_near(candidate: &mut Candidate, (meanings, question): Vectors<'_>) {
    let Key::Event(seq) = candidate.key else { return };
    if candidate.cosines.is_empty() {
        let found = meanings.nearness(question, seq, &candidate.pieces);
        let found = found.unwrap_or_default().into_iter();
        candidate.cosines = found.map(|found| found.score).collect();
    }
}

/// The turns on both sides of one, unless it is too long to have any.
fn sides(candidate: &Candidate, ledger: &Ledger) -> Result<Option<(Side, Side)>, RecallError> {
    let Some(body) = candidate.body.as_ref() else { return Ok(None) };
    match body.mark().filter(|_| body.text.len() <= TELLING_BYTES_MAX) {
        Some(mark) => around(ledger, body, mark, 2).map(Some),
        None => Ok(None),
    }
}

/// Weights the kinds of sources: a note counts as much as an equally relevant event, contents less
/// than the events that they summarize.
fn weigh_kinds(ranked: &mut [Ranked]) {
    let evidence = |one: &Ranked| one.coverage + one.cosine.unwrap_or(0.0).max(0.0);
    let most = ranked.iter().map(evidence).fold(f32::EPSILON, f32::max);
    for one in ranked {
        one.score *= match kind_of(one.candidate.source) {
            Kind::Events => 1.0,
            Kind::Files => f64::from(evidence(one) / most),
            Kind::Contents => CONTENTS_WEIGHT * f64::from(evidence(one) / most),
        };
    }
}

/// Ranks each kind of source separately, so that none crowds out the others.
fn ranks_by_kind(scores: &[Option<f32>], kinds: &[Kind]) -> Vec<Option<usize>> {
    let mut all = vec![None; scores.len()];
    for kind in Kind::ALL {
        let of = |(score, own): (&Option<f32>, &Kind)| score.filter(|_| *own == kind);
        let only: Vec<Option<f32>> = scores.iter().zip(kinds).map(of).collect();
        for (place, rank) in all.iter_mut().zip(ranks(&only)) {
            *place = place.or(rank);
        }
    }
    all
}

/// Ties: notes before contents before events, then by index set, key and range.
fn tie(candidate: &Candidate) -> (std::cmp::Reverse<Source>, usize, Key, Part) {
    (std::cmp::Reverse(candidate.source), candidate.desk, candidate.key.clone(), candidate.part)
}

fn match_of(candidate: &Candidate, terms: &Terms) -> Option<Match> {
    let body = candidate.body.as_ref()?;
    let by_user = body.kind == EventKind::UserMessage.as_str();
    let worth = if by_user { SAID_BY_USER } else { 1.0 };
    Some(terms.look(
        &body.text,
        &format!("{} {}", body.title, body.keywords),
        worth,
        // A page's candidate covers the whole text; an event's chunks are ranges of it.
        if candidate.source == Source::Event { &candidate.pieces } else { &[] },
    ))
}

/// Similarity of an event: the mean over its closest chunks, reduced for many chunks.
fn nearness((candidate, own): (&Candidate, &Option<Match>)) -> Option<f32> {
    let counted = own.as_ref().map_or(1, |own| own.pieces).min(NEAREST_PIECES);
    let mut cosines = candidate.cosines.iter().take(counted).map(|cosine| cosine.max(0.0));
    let least = candidate.cosines.last().copied()?.max(0.0);
    // A chunk that was not returned is at most as similar as the last one that was.
    let sum: f32 = (0..counted).map(|_| cosines.next().unwrap_or(least)).sum();
    let pieces = own.as_ref().map_or(1, |own| own.pieces) as f32;
    Some(sum / counted as f32 / (1.0 + MANY_NEAR_PIECES * (1.0 - 1.0 / pieces)))
}
