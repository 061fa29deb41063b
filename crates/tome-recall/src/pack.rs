//! Packs ranked candidates into a short, varied list of hits.
//!
//! Hits of one session or file are grouped, so that they do not fill the list; the first hit of a
//! group names the others. Every kind of source with a good hit is represented. Redundant hits are
//! dropped: a source excerpt, or the node of a segment whose events are listed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use tome_finder::RecordKind;
use tome_model::{Event, EventKind, Millis};
use tome_text::{LineBreaks, estimate_tokens, excerpt_around};

use super::call_text::render_call_text;
use super::candidate::{CandidateRecord, SourceKind, source_kind};
use super::cite::CitationContext;
use super::confidence::Confidence;
use super::indexer::PageKey;
use super::other_statements::{ComparedStatement, StatementRelation, find_others, query_words};
use super::plan::RecallPlan;
use super::rank::RankedCandidate;
use super::{Across, HitTurn, RecallHit, RecallLimits, RecallScope, literal};

const SNIPPET_CHARS: usize = 400;
/// The same for long texts of agents and tools, which repeat much.
const AGENT_SNIPPET_CHARS: usize = 280;
/// Statements that are compared with the hits.
const STATEMENTS_MAX: usize = 60;
/// Kind of the events that people wrote.
const USER_MESSAGE: &str = EventKind::UserMessage.as_str();
/// Kinds of the messages of agents.
const AGENT_MESSAGES: [&str; 2] =
    [EventKind::AssistantMessage.as_str(), EventKind::AssistantStop.as_str()];
/// Maximum number of further citations in a hit.
const ALSO_MAX: usize = 5;
/// Approximate tokens of a hit besides its text.
const TOKENS_PER_HIT: u64 = 40;

/// The list of hits, and the number of relevant ones left out.
pub(super) struct PackedHits {
    pub hits: Vec<RecallHit>,
    pub more: usize,
    /// The `skip` that continues the list.
    pub next: usize,
}

/// Hits that belong together.
#[derive(PartialEq, Eq, Hash, Clone)]
enum HitGroup {
    Session(usize, String),
    File(usize, String),
    /// Days, weeks, months and years, each of which repeats the level below.
    Periods(usize, String),
    Single(usize),
}

/// Builds the hits within the token budget, best first.
pub(super) fn pack_hits(
    ranked: &[RankedCandidate],
    page: &HitPage,
    plan: &RecallPlan,
    cite: &CitationContext,
    limits: RecallLimits,
) -> PackedHits {
    let mut hits = Vec::new();
    let (mut tokens, mut next) = (0, limits.skip);
    for ChosenHit { candidate_index, also, position } in &page.chosen {
        let Some(one) = ranked.get(*candidate_index) else { continue };
        let mut hit = RecallHit { position: *position, ..build_hit(one, plan, cite) };
        hit.also = also
            .iter()
            .filter_map(|other| Some(cite.cite(&ranked.get(*other)?.candidate)))
            .take(ALSO_MAX)
            .collect();
        tokens += estimate_tokens(&hit.text) + TOKENS_PER_HIT;
        // Always return the first hit: an empty answer would be worse.
        if limits.tokens.is_some_and(|most| tokens > most as u64) && !hits.is_empty() {
            break;
        }
        next = position + 1;
        hits.push(hit);
    }
    let end = page.chosen.last().map_or(next, |last| last.position + 1);
    PackedHits { hits, more: page.more + (end - next), next }
}

/// Drops further hits of a turn that show the same passage: an agent often edits the same lines again.
pub(super) fn drop_repeated_passages(hits: &mut Vec<RecallHit>) {
    let mut shown = HashSet::new();
    hits.retain(|hit| shown.insert((hit.position, hit.text.clone())));
}

/// A page of the list.
pub(super) struct HitPage {
    pub chosen: Vec<ChosenHit>,
    /// Number of hits or turns after it.
    pub more: usize,
}

/// A listed hit, and further hits that it names.
pub(super) struct ChosenHit {
    candidate_index: usize,
    also: Vec<usize>,
    /// Its place, or that of its turn, in the list of all pages.
    pub position: usize,
}

impl ChosenHit {
    fn new(candidate_index: usize) -> Self {
        Self { candidate_index, also: Vec::new(), position: 0 }
    }

    /// Index of the listed candidate.
    pub(super) fn candidate_index(&self) -> usize {
        self.candidate_index
    }

    pub(super) fn cited_indexes(&self) -> impl Iterator<Item = usize> {
        std::iter::once(self.candidate_index).chain(self.also.iter().copied().take(ALSO_MAX))
    }
}

/// Chooses the hits to list, in order, after the first `skip` ones. A list is continued by choosing
/// again from what it left, so that no hit is listed twice and none is left out.
pub(super) fn choose_hits(ranked: &[RankedCandidate], plan: &RecallPlan, skip: usize) -> HitPage {
    let mut listed = HashSet::new();
    loop {
        let mut page = choose_page(ranked, plan, &listed);
        let skipped = skip - listed.len();
        if page.is_empty() || skipped < page.len() {
            page.drain(..skipped.min(page.len()));
            (skip..).zip(&mut page).for_each(|(position, one)| one.position = position);
            let more = ranked.len().saturating_sub(skip + page.len());
            return HitPage { chosen: page, more };
        }
        listed.extend(page.iter().map(ChosenHit::candidate_index));
    }
}

/// Chooses a page of hits from those that are not listed yet.
pub(super) fn choose_page(
    ranked: &[RankedCandidate],
    plan: &RecallPlan,
    listed: &HashSet<usize>,
) -> Vec<ChosenHit> {
    let in_one_session = plan.filter.across == Across::Session;
    let of_contents = plan.filter.scope == RecallScope::Contents || plan.is_time_only();
    let a_session_max =
        if in_one_session { plan.hits_max } else { (plan.hits_max - plan.hits_max / 4).max(2) };
    let mut chosen: Vec<ChosenHit> = Vec::new();
    let mut groups: HashMap<HitGroup, (usize, usize)> = HashMap::new();
    let mut surplus = Vec::new();
    for (at, entry) in ranked.iter().enumerate().filter(|(at, _)| !listed.contains(at)) {
        let group = if of_contents { HitGroup::Single(at) } else { hit_group(at, entry) };
        let kind = source_kind(entry.candidate.source);
        let max = match (&group, kind) {
            (HitGroup::Session(..), SourceKind::Events) => a_session_max,
            // Redundant if events of the same segment are listed.
            (HitGroup::Session(..), _) => 1,
            (HitGroup::File(..) | HitGroup::Periods(..), _) => 1,
            (HitGroup::Single(_), _) => usize::MAX,
        };
        match groups.get_mut(&group) {
            Some((leader, count)) if *count >= max => {
                if kind == SourceKind::Events {
                    surplus.push(at);
                }
                if let Some(leader) = chosen.get_mut(*leader) {
                    leader.also.push(at);
                }
            }
            _ if chosen.len() >= plan.hits_max => {}
            Some((_, count)) => {
                *count += 1;
                chosen.push(ChosenHit::new(at));
            }
            None => {
                groups.insert(group, (chosen.len(), 1));
                chosen.push(ChosenHit::new(at));
            }
        }
    }
    // Fill a short list with the rest of a session.
    for at in surplus {
        if chosen.len() >= plan.hits_max {
            break;
        }
        chosen.iter_mut().for_each(|one| one.also.retain(|also| *also != at));
        chosen.push(ChosenHit::new(at));
    }
    if listed.is_empty() {
        ensure_source_variety(ranked, plan, &mut chosen);
    }
    chosen.sort_by_key(|one| one.candidate_index);
    chosen
}

/// Makes room for a kind of source whose best hit is as good as the last ones of the list.
fn ensure_source_variety(
    ranked: &[RankedCandidate],
    plan: &RecallPlan,
    chosen: &mut Vec<ChosenHit>,
) {
    if chosen.len() < plan.hits_max || plan.hits_max < 3 {
        return;
    }
    let kind_at = |at: usize| ranked.get(at).map(|one| source_kind(one.candidate.source));
    for kind in [SourceKind::Files, SourceKind::Contents, SourceKind::Events] {
        if chosen.iter().any(|one| kind_at(one.candidate_index) == Some(kind)) {
            continue;
        }
        let listed = chosen.iter().filter_map(|one| ranked.get(one.candidate_index));
        let weakest = listed.map(|one| one.coverage).fold(f32::INFINITY, f32::min);
        let is_good = |one: &RankedCandidate| {
            source_kind(one.candidate.source) == kind && one.coverage >= weakest.max(0.5)
        };
        let Some(best) = ranked.iter().position(is_good) else { continue };
        if is_session_listed(ranked, chosen, best) {
            continue;
        }
        // Replace the last hit of the most frequent kind.
        let most = [SourceKind::Events, SourceKind::Files, SourceKind::Contents]
            .into_iter()
            .max_by_key(|kind| {
                chosen.iter().filter(|one| kind_at(one.candidate_index) == Some(*kind)).count()
            });
        let last = chosen.iter().rposition(|one| kind_at(one.candidate_index) == most);
        if let Some(last) = last {
            chosen.remove(last);
            chosen.push(ChosenHit::new(best));
        }
    }
}

/// Returns whether the session of a hit in the contents is already listed.
fn is_session_listed(ranked: &[RankedCandidate], chosen: &[ChosenHit], at: usize) -> bool {
    let Some(one) = ranked.get(at) else { return true };
    let group = hit_group(at, one);
    matches!(group, HitGroup::Session(..))
        && chosen.iter().any(|listed| {
            ranked
                .get(listed.candidate_index)
                .is_some_and(|other| hit_group(listed.candidate_index, other) == group)
        })
}

fn hit_group(at: usize, one: &RankedCandidate) -> HitGroup {
    let Some(body) = &one.candidate.body else { return HitGroup::Single(at) };
    match (&body.record, &body.session) {
        // A file has many lessons, each on a subject of its own.
        (CandidateRecord::File { page: PageKey::Lesson { .. } }, _) if !body.kind.is_empty() => {
            HitGroup::Single(at)
        }
        (CandidateRecord::File { page }, _) => HitGroup::File(one.candidate.set_index, page.name()),
        (_, Some(session)) => HitGroup::Session(one.candidate.set_index, session.clone()),
        (CandidateRecord::Node { .. }, None) => {
            HitGroup::Periods(one.candidate.set_index, body.project.clone())
        }
        (_, None) => HitGroup::Single(at),
    }
}

fn build_hit(ranked: &RankedCandidate, plan: &RecallPlan, cite: &CitationContext) -> RecallHit {
    let candidate = &ranked.candidate;
    let mut hit = RecallHit {
        id: cite.short_id(candidate),
        turn: HitTurn::default(),
        others: Vec::new(),
        source: candidate.source,
        citation: cite.cite(candidate),
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
        score: ranked.score,
        confidence: ranked.confidence,
        coverage: ranked.coverage,
        position: 0,
        ranks: ranked.ranks.clone(),
        also: Vec::new(),
    };
    let Some(body) = &candidate.body else { return hit };
    let range = find_shown_range(ranked, &body.text, plan);
    let is_agents = candidate.source == RecordKind::Event && body.kind != USER_MESSAGE;
    let chars_max = if is_agents { AGENT_SNIPPET_CHARS } else { SNIPPET_CHARS };
    // Every line of a tool's input and output, and every bullet, is one of its own.
    let is_page = candidate.source == RecordKind::Node;
    let has_lines = body.tool.is_some() || is_page;
    let breaks = if has_lines { LineBreaks::Keep } else { LineBreaks::Structured };
    let marks = if is_page { body.text.lines().count() * BULLET.len() } else { 0 };
    hit.text = excerpt_around(&body.text, &range, chars_max.saturating_sub(marks), breaks);
    if is_page {
        hit.text = mark_bullets(&hit.text);
    }
    hit.title.clone_from(&body.title);
    hit.project.clone_from(&body.project);
    hit.session.clone_from(&body.session);
    hit.agent.clone_from(&body.agent);
    hit.kind.clone_from(&body.kind);
    hit.tool.clone_from(&body.tool);
    if let CandidateRecord::File { page } = &body.record {
        // Line of the snippet; the text starts at the candidate's line.
        let line = candidate.line.max(1) + literal::line_number(&body.text, range.start) - 1;
        hit.line = Some(line);
        hit.file = Some(cite.cite_file(page));
        hit.citation = format!("{}#L{line}", cite.cite_file(page));
        hit.id.clone_from(&hit.citation);
        if let PageKey::Detail { .. } = page {
            hit.session.clone_from(&body.session);
        }
    }
    hit
}

const BULLET: &str = "- ";

/// Marks the lines of a page as bullets. The first may be the end of one.
fn mark_bullets(text: &str) -> String {
    let lines = text.lines().enumerate().map(|(at, line)| match line {
        line if at == 0 && line.starts_with('…') => line.to_owned(),
        line => format!("{BULLET}{line}"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Puts the call and its outcome before the text of a hit in a tool call.
pub(super) fn describe_call(
    hit: &mut RecallHit,
    found: &RankedCandidate,
    event: &Event,
    plan: &RecallPlan,
) {
    let body = found.candidate.body.as_ref().filter(|body| body.tool.is_some());
    let Some(body) = body else { return };
    let shown = find_shown_range(found, &body.text, plan);
    if let Some(text) = render_call_text(event, &body.text, &shown, SNIPPET_CHARS) {
        hit.text = text;
    }
}

/// Drops hits of which something newer was said. The newer one is a hint of its own if it is relevant.
pub(super) fn drop_superseded(
    ranked: &[RankedCandidate],
    plan: &RecallPlan,
    chosen: &mut Vec<ChosenHit>,
) {
    let statements = collect_statements(ranked, plan);
    let query = query_words(&plan.text);
    let is_superseded = |choice: &ChosenHit| {
        let candidate = &ranked.get(choice.candidate_index)?.candidate;
        let set = candidate.set_index;
        let own = statements.get(&(set, candidate.body.as_ref()?.order_key()?.seq))?;
        let others: Vec<&ComparedStatement> =
            statements.iter().filter(|((other, _), _)| *other == set).map(|(_, one)| one).collect();
        let mut others = find_others(own, &others, &query).into_iter();
        Some(others.any(|other| other.relation == StatementRelation::Newer))
    };
    chosen.retain(|choice| is_superseded(choice) != Some(true));
}

/// Collects the passages of the best candidates in messages, by set and number, to compare statements
/// from different times.
pub(super) fn collect_statements(
    ranked: &[RankedCandidate],
    plan: &RecallPlan,
) -> BTreeMap<(usize, u64), ComparedStatement> {
    let mut statements = BTreeMap::new();
    for entry in ranked.iter().take(STATEMENTS_MAX) {
        let Some(body) = entry.candidate.body.as_ref() else { continue };
        let is_by_person = body.kind == USER_MESSAGE;
        if !is_by_person && !AGENT_MESSAGES.contains(&body.kind.as_str()) {
            continue;
        }
        let Some(order_key) = body.order_key() else { continue };
        let range = find_shown_range(entry, &body.text, plan);
        let passage = excerpt_around(&body.text, &range, SNIPPET_CHARS / 2, LineBreaks::Join);
        if tome_contents::looks_pasted(line_at(&body.text, range.start)) {
            continue;
        }
        let (number, at) = (order_key.seq, entry.candidate.at);
        let statement = match is_by_person {
            true => ComparedStatement::new(number, at, &passage),
            false => ComparedStatement::of_agent(number, at, &passage),
        };
        statements.insert((entry.candidate.set_index, order_key.seq), statement);
    }
    statements
}

/// Rates a listed statement at least as high as the one that it contradicts or replaces. `positions` has the index
/// set and the number of each hit.
pub(super) fn raise_replacements(hits: &mut [RecallHit], positions: &[Option<(usize, u64)>]) {
    let mut least: BTreeMap<(usize, u64), Confidence> = BTreeMap::new();
    for (hit, position) in hits.iter().zip(positions) {
        let Some((set, _)) = position else { continue };
        for other in &hit.others {
            if other.relation != StatementRelation::Earlier && Some(other.at) > hit.at {
                let known = least.entry((*set, other.number)).or_insert(hit.confidence);
                *known = hit.confidence.max(*known);
            }
        }
    }
    for (hit, position) in hits.iter_mut().zip(positions) {
        let least = position.and_then(|position| least.get(&position));
        hit.confidence = hit.confidence.max(least.copied().unwrap_or(Confidence::Weak));
    }
}

/// The line around a position.
fn line_at(text: &str, at: usize) -> &str {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let end = after.find('\n').map_or(text.len(), |end| at + end);
    text.get(start..end).unwrap_or_default()
}

/// Range to show: around the query's words, or else the best chunk. Starts at a word.
fn find_shown_range(one: &RankedCandidate, text: &str, plan: &RecallPlan) -> Range<usize> {
    if plan.is_time_only() {
        return 0..0;
    }
    let from = one.best_range.from as usize;
    let best_chunk = super::indexer::slice_text(text, one.best_range);
    let range = match plan.matcher.match_text(best_chunk) {
        Some(text_match) => from + text_match.range.start..from + text_match.range.end,
        None => plan.matcher.match_text(text).map_or(from..from, |text_match| text_match.range),
    };
    let rest = text.get(range.start..).unwrap_or_default();
    let start = range.start + (rest.len() - rest.trim_start().len());
    start..range.end.max(start)
}
