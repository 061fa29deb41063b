//! Packs ranked candidates into a short, varied list of hits.
//!
//! Hits of one session or file are grouped, so that they do not fill the list; the first hit of a
//! group names the others. Every kind of source with a good hit is represented. Redundant hits are
//! dropped: a source excerpt, or the node of a segment whose events are listed.

use std::collections::HashMap;
use std::ops::Range;

use tome_finder::Source;
use tome_model::Millis;
use tome_text::estimate_tokens;

use super::candidate::What;
use super::cite::Cite;
use super::keeper::Page;
use super::plan::Plan;
use super::rank::Ranked;
use super::{RecallHit, Within, literal};

const SNIPPET_CHARS: usize = 300;
/// Maximum number of further citations in a hit.
const ALSO_MAX: usize = 5;
/// Approximate tokens of a hit besides its text.
const TOKENS_AROUND: u64 = 40;

/// The list of hits, and the number of relevant ones left out.
pub(super) struct Packed {
    pub hits: Vec<RecallHit>,
    pub more: usize,
}

/// Hits that belong together.
#[derive(PartialEq, Eq, Hash, Clone)]
enum Group {
    Session(usize, String),
    File(usize, String),
    /// Days, weeks, months and years, each of which repeats the level below.
    Periods(usize, String),
    Alone(usize),
}

/// Kinds of sources that are ranked separately.
#[derive(PartialEq, Eq, Hash, Clone, Copy, Debug)]
pub(super) enum Kind {
    Events,
    Files,
    Contents,
}

impl Kind {
    pub(super) const ALL: [Self; 3] = [Self::Events, Self::Files, Self::Contents];
}

pub(super) fn kind_of(source: Source) -> Kind {
    match source {
        Source::Event => Kind::Events,
        Source::Node | Source::Grip => Kind::Contents,
        Source::Note | Source::Detail | Source::Insight => Kind::Files,
    }
}

/// Builds the hits within the token budget, best first.
pub(super) fn pack(
    ranked: &[Ranked],
    chosen: &[Chosen],
    plan: &Plan,
    cite: &Cite,
    tokens_max: usize,
) -> Packed {
    let mut hits = Vec::new();
    let (mut tokens, mut left) = (0, ranked.len());
    for Chosen { at, also } in chosen {
        let Some(one) = ranked.get(*at) else { continue };
        let mut hit = hit_of(one, plan, cite);
        hit.also = also
            .iter()
            .filter_map(|other| Some(cite.of(&ranked.get(*other)?.candidate)))
            .take(ALSO_MAX)
            .collect();
        tokens += estimate_tokens(&hit.text) + TOKENS_AROUND;
        // Always return the first hit: an empty answer would be worse.
        if tokens_max > 0 && tokens > tokens_max as u64 && !hits.is_empty() {
            break;
        }
        left = left.saturating_sub(1 + also.len());
        hits.push(hit);
    }
    Packed { hits, more: left }
}

/// A listed hit, and further hits that it names.
pub(super) struct Chosen {
    at: usize,
    also: Vec<usize>,
}

impl Chosen {
    pub(super) fn cited(&self) -> impl Iterator<Item = usize> {
        std::iter::once(self.at).chain(self.also.iter().copied().take(ALSO_MAX))
    }
}

/// Chooses the hits to list, in order.
pub(super) fn choose(ranked: &[Ranked], plan: &Plan) -> Vec<Chosen> {
    let in_one_session = plan.session.as_ref().is_some_and(|session| session.only);
    let of_contents = plan.within == Within::Contents;
    let a_session_max =
        if in_one_session { plan.limit } else { (plan.limit - plan.limit / 4).max(2) };
    let mut chosen: Vec<Chosen> = Vec::new();
    let mut groups: HashMap<Group, (usize, usize)> = HashMap::new();
    let mut surplus = Vec::new();
    for (at, one) in ranked.iter().enumerate() {
        let group = if of_contents { Group::Alone(at) } else { group_of(at, one) };
        let kind = kind_of(one.candidate.source);
        let max = match (&group, kind) {
            (Group::Session(..), Kind::Events) => a_session_max,
            // Redundant if events of the same segment are listed.
            (Group::Session(..), _) => 1,
            (Group::File(..) | Group::Periods(..), _) => 1,
            (Group::Alone(_), _) => usize::MAX,
        };
        match groups.get_mut(&group) {
            Some((leader, count)) if *count >= max => {
                if kind == Kind::Events {
                    surplus.push(at);
                }
                if let Some(leader) = chosen.get_mut(*leader) {
                    leader.also.push(at);
                }
            }
            _ if chosen.len() >= plan.limit => {}
            Some((_, count)) => {
                *count += 1;
                chosen.push(Chosen { at, also: Vec::new() });
            }
            None => {
                groups.insert(group, (chosen.len(), 1));
                chosen.push(Chosen { at, also: Vec::new() });
            }
        }
    }
    // Fill a short list with the rest of a session.
    for at in surplus {
        if chosen.len() >= plan.limit {
            break;
        }
        chosen.iter_mut().for_each(|one| one.also.retain(|also| *also != at));
        chosen.push(Chosen { at, also: Vec::new() });
    }
    give_places(ranked, plan, &mut chosen);
    chosen.sort_by_key(|one| one.at);
    chosen
}

/// Makes room for a kind of source whose best hit is as good as the last ones of the list.
fn give_places(ranked: &[Ranked], plan: &Plan, chosen: &mut Vec<Chosen>) {
    if chosen.len() < plan.limit || plan.limit < 3 {
        return;
    }
    let kind_at = |at: usize| ranked.get(at).map(|one| kind_of(one.candidate.source));
    for kind in [Kind::Files, Kind::Contents, Kind::Events] {
        if chosen.iter().any(|one| kind_at(one.at) == Some(kind)) {
            continue;
        }
        let listed = chosen.iter().filter_map(|one| ranked.get(one.at));
        let weakest = listed.map(|one| one.coverage).fold(f32::INFINITY, f32::min);
        let is_good = |one: &Ranked| {
            kind_of(one.candidate.source) == kind && one.coverage >= weakest.max(0.5)
        };
        let Some(best) = ranked.iter().position(is_good) else { continue };
        if said_already(ranked, chosen, best) {
            continue;
        }
        // Replace the last hit of the most frequent kind.
        let most = [Kind::Events, Kind::Files, Kind::Contents]
            .into_iter()
            .max_by_key(|kind| chosen.iter().filter(|one| kind_at(one.at) == Some(*kind)).count());
        let last = chosen.iter().rposition(|one| kind_at(one.at) == most);
        if let Some(last) = last {
            chosen.remove(last);
            chosen.push(Chosen { at: best, also: Vec::new() });
        }
    }
}

/// Returns whether the session of a hit in the contents is already listed.
fn said_already(ranked: &[Ranked], chosen: &[Chosen], at: usize) -> bool {
    let Some(one) = ranked.get(at) else { return true };
    let group = group_of(at, one);
    matches!(group, Group::Session(..))
        && chosen.iter().any(|listed| {
            ranked.get(listed.at).is_some_and(|other| group_of(listed.at, other) == group)
        })
}

fn group_of(at: usize, one: &Ranked) -> Group {
    let Some(body) = &one.candidate.body else { return Group::Alone(at) };
    match (&body.what, &body.session) {
        (What::File { page }, _) => Group::File(one.candidate.desk, page.name()),
        (_, Some(session)) => Group::Session(one.candidate.desk, session.clone()),
        (What::Node { .. }, None) => Group::Periods(one.candidate.desk, body.project.clone()),
        (_, None) => Group::Alone(at),
    }
}

fn hit_of(one: &Ranked, plan: &Plan, cite: &Cite) -> RecallHit {
    let candidate = &one.candidate;
    let mut hit = RecallHit {
        source: candidate.source,
        citation: cite.of(candidate),
        file: None,
        line: (candidate.line > 0).then_some(candidate.line),
        text: String::new(),
        title: String::new(),
        at: Some(candidate.at).filter(|at| *at > Millis(0)),
        project: String::new(),
        session: None,
        agent: None,
        kind: String::new(),
        tool: None,
        score: one.score,
        ranks: one.ranks.clone(),
        also: Vec::new(),
    };
    let Some(body) = &candidate.body else { return hit };
    let place = place_in(one, &body.text, plan);
    hit.text = tome_text::excerpt_around(&body.text, &place, SNIPPET_CHARS);
    hit.title.clone_from(&body.title);
    hit.project.clone_from(&body.project);
    hit.session.clone_from(&body.session);
    hit.agent.clone_from(&body.agent);
    hit.kind.clone_from(&body.kind);
    hit.tool.clone_from(&body.tool);
    if let What::File { page } = &body.what {
        // Line of the snippet; the text starts at the candidate's line.
        let line = candidate.line.max(1) + literal::line_of(&body.text, place.start) - 1;
        hit.line = Some(line);
        hit.file = Some(cite.file(page));
        hit.citation = format!("{}#L{line}", cite.file(page));
        if let Page::Detail { .. } = page {
            hit.session.clone_from(&body.session);
        }
    }
    hit
}

/// Range to show: around the query's words, or else the best chunk. Starts at a word.
fn place_in(one: &Ranked, text: &str, plan: &Plan) -> Range<usize> {
    let from = one.best.from as usize;
    let piece = super::keeper::cut(text, one.best);
    let place = match plan.needle.look(piece) {
        Some(look) => from + look.range.start..from + look.range.end,
        None => plan.needle.look(text).map_or(from..from, |look| look.range),
    };
    let rest = text.get(place.start..).unwrap_or_default();
    let start = place.start + (rest.len() - rest.trim_start().len());
    start..place.end.max(start)
}
