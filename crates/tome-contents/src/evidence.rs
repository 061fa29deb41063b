//! Validates a summarizer's output: a grip is kept only if its excerpt is verbatim text of its
//! event.

use tome_model::{Bullet, Event, Fact, Grip, GripId, Node, NodeId, Work};
use tome_text::first_chars;

use super::event_text::event_texts;
use super::limits::{
    BULLETS_MAX, EXCERPT_CHARS_MAX, GRIPS_PER_BULLET_MAX, KEYWORDS_MAX, TEXT_CHARS_MAX,
};
use super::rejection::authored_kind;
use super::{Evidence, Summary, SummaryWork, Support};

/// Name of the built-in summarizer.
pub const EXTRACTIVE: &str = "extractive";

/// A summary with validated grips, within the limits.
pub(super) struct CheckedSummary {
    pub(super) title: String,
    pub(super) bullets: Vec<Bullet>,
    pub(super) keywords: Vec<String>,
    pub(super) work: Vec<Work>,
    pub(super) grips: Vec<Grip>,
}

/// Checks the summary of a segment against its events.
pub(super) fn check_segment_summary(
    summary: Summary,
    by: &str,
    node: &NodeId,
    events: &[Event],
) -> CheckedSummary {
    let mut grips: Vec<Grip> = Vec::new();
    let checked = check_summary(summary, by, |support| {
        let Support::Excerpts(evidence) = support else {
            return Vec::new();
        };
        let found = evidence.iter().filter_map(|one| build_grip(one, node, events));
        let mut ids = Vec::new();
        for grip in found.take(GRIPS_PER_BULLET_MAX) {
            if !ids.contains(&grip.id) {
                ids.push(grip.id.clone());
            }
            if !grips.iter().any(|known| known.id == grip.id) {
                grips.push(grip);
            }
        }
        ids
    });
    CheckedSummary { grips, ..checked }
}

/// Checks the summary of a period; its grips are those of the cited bullets of its children.
pub(super) fn check_period_summary(
    summary: Summary,
    by: &str,
    children: &[Node],
) -> CheckedSummary {
    let bullet = |(child, bullet): (usize, usize)| children.get(child)?.bullets.get(bullet);
    check_summary(summary, by, |support| match support {
        Support::Excerpts(_) => Vec::new(),
        Support::Bullets(indexes) => {
            let bullets = indexes.into_iter().filter_map(bullet);
            limit_grips(bullets.flat_map(|bullet| bullet.grips.iter().cloned()))
        }
        Support::Grips(grips) => limit_grips(grips.into_iter()),
    })
}

/// The first grips, each once.
fn limit_grips(grips: impl Iterator<Item = GripId>) -> Vec<GripId> {
    let mut ids: Vec<GripId> = Vec::new();
    for id in grips {
        if ids.len() < GRIPS_PER_BULLET_MAX && !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

pub(super) fn hash_excerpt(excerpt: &str) -> String {
    blake3::hash(excerpt.as_bytes()).to_hex().as_str().to_owned()
}

/// Fields of a payload that a fact may quote: the branch, and the agent's own title of the session.
const QUOTED_FIELDS: [&str; 2] = ["branch", "session_title"];

/// Whether an excerpt is verbatim text of an event.
pub(super) fn contains_excerpt(event: &Event, excerpt: &str) -> bool {
    let mut fields = QUOTED_FIELDS.iter().filter_map(|name| event.meta.get(*name)?.as_str());
    !excerpt.trim().is_empty()
        && (event_texts(event).any(|text| text.contains(excerpt))
            || fields.any(|field| field == excerpt))
}

pub(super) fn is_excerpt_short(excerpt: &str) -> bool {
    excerpt.chars().nth(EXCERPT_CHARS_MAX).is_none()
}

fn check_summary(
    summary: Summary,
    by: &str,
    mut grips_of: impl FnMut(Support) -> Vec<GripId>,
) -> CheckedSummary {
    let bullets = summary.bullets.into_iter().take(BULLETS_MAX).map(|bullet| {
        let grips = grips_of(bullet.support);
        // The built-in summarizer only reports what it read; its counts have no excerpt.
        let unsupported = grips.is_empty() && by != EXTRACTIVE;
        Bullet { text: truncate_text(bullet.text), grips, unsupported }
    });
    let bullets: Vec<Bullet> = bullets.collect();
    let keywords = summary.keywords.into_iter().take(KEYWORDS_MAX).map(truncate_text).collect();
    let title = truncate_text(summary.title);
    let work = summary.work.into_iter().map(|work| check_work(work, &mut grips_of)).collect();
    CheckedSummary { title, bullets, keywords, work, grips: Vec::new() }
}

/// Keeps the facts that have evidence.
fn check_work(work: SummaryWork, grips_of: &mut impl FnMut(Support) -> Vec<GripId>) -> Work {
    let SummaryWork { branch, sessions, turns, commits, weight, facts } = work;
    let facts = facts.into_iter().filter_map(|fact| {
        let grips = grips_of(fact.support);
        Fact::new(fact.kind, truncate_text(fact.text), fact.at, fact.weight, grips)
    });
    Work { branch, sessions, turns, commits, weight, facts: facts.collect() }
}

fn build_grip(evidence: &Evidence, node: &NodeId, events: &[Event]) -> Option<Grip> {
    let event = events.get(evidence.event)?;
    if !is_excerpt_short(&evidence.excerpt) || !contains_excerpt(event, &evidence.excerpt) {
        return None;
    }
    Some(Grip {
        id: GripId::from_excerpt(event.at, &event.id, &evidence.excerpt),
        node: node.clone(),
        excerpt: evidence.excerpt.clone(),
        hash: hash_excerpt(&evidence.excerpt),
        first: event.id.clone(),
        last: event.id.clone(),
        at: event.at,
        kind: authored_kind(event),
    })
}

fn truncate_text(mut text: String) -> String {
    text.truncate(first_chars(&text, TEXT_CHARS_MAX).len());
    text
}
