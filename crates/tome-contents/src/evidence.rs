//! Validates a summarizer's output: a grip is kept only if its excerpt is verbatim text of its
//! event.

use tome_model::{Bullet, Event, Grip, GripId, Node, NodeId};
use tome_text::first_chars;

use super::limits::{
    BULLETS_MAX, EXCERPT_CHARS_MAX, GRIPS_PER_BULLET_MAX, KEYWORDS_MAX, TEXT_CHARS_MAX,
};
use super::said::said;
use super::{Evidence, Summary, Support};

/// Name of the built-in summarizer.
pub const EXTRACTIVE: &str = "extractive";

/// A summary with validated grips, within the limits.
pub(super) struct Told {
    pub(super) title: String,
    pub(super) bullets: Vec<Bullet>,
    pub(super) keywords: Vec<String>,
    pub(super) grips: Vec<Grip>,
}

/// Checks the summary of a segment against its events.
pub(super) fn of_segment(summary: Summary, by: &str, node: &NodeId, events: &[Event]) -> Told {
    let mut grips: Vec<Grip> = Vec::new();
    let told = told(summary, by, |support| {
        let Support::Excerpts(evidence) = support else {
            return Vec::new();
        };
        let found = evidence.iter().filter_map(|one| grip_of(one, node, events));
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
    Told { grips, ..told }
}

/// Checks the summary of a period; its grips are those of the cited bullets of its children.
pub(super) fn of_period(summary: Summary, by: &str, children: &[Node]) -> Told {
    told(summary, by, |support| {
        let Support::Bullets(places) = support else {
            return Vec::new();
        };
        let mut ids: Vec<GripId> = Vec::new();
        let bullet = |&(child, bullet): &(usize, usize)| children.get(child)?.bullets.get(bullet);
        for id in places.iter().filter_map(bullet).flat_map(|bullet| &bullet.grips) {
            if ids.len() < GRIPS_PER_BULLET_MAX && !ids.contains(id) {
                ids.push(id.clone());
            }
        }
        ids
    })
}

pub(super) fn hash_of(excerpt: &str) -> String {
    blake3::hash(excerpt.as_bytes()).to_hex().as_str().to_owned()
}

/// Whether an excerpt is verbatim text of an event.
pub(super) fn is_said(event: &Event, excerpt: &str) -> bool {
    !excerpt.trim().is_empty() && said(event).any(|text| text.contains(excerpt))
}

pub(super) fn is_short(excerpt: &str) -> bool {
    excerpt.chars().nth(EXCERPT_CHARS_MAX).is_none()
}

fn told(summary: Summary, by: &str, mut grips_of: impl FnMut(&Support) -> Vec<GripId>) -> Told {
    let bullets = summary.bullets.into_iter().take(BULLETS_MAX).map(|bullet| {
        let grips = grips_of(&bullet.support);
        // The built-in summarizer only reports what it read; its counts have no excerpt.
        let unsupported = grips.is_empty() && by != EXTRACTIVE;
        Bullet { text: shortened(&bullet.text), grips, unsupported }
    });
    let bullets = bullets.collect();
    let keywords = summary.keywords.iter().take(KEYWORDS_MAX);
    let keywords = keywords.map(|keyword| shortened(keyword)).collect();
    Told { title: shortened(&summary.title), bullets, keywords, grips: Vec::new() }
}

fn grip_of(evidence: &Evidence, node: &NodeId, events: &[Event]) -> Option<Grip> {
    let event = events.get(evidence.event)?;
    if !is_short(&evidence.excerpt) || !is_said(event, &evidence.excerpt) {
        return None;
    }
    Some(Grip {
        id: GripId::of(event.at, &event.id, &evidence.excerpt),
        node: node.clone(),
        excerpt: evidence.excerpt.clone(),
        hash: hash_of(&evidence.excerpt),
        first: event.id.clone(),
        last: event.id.clone(),
        at: event.at,
        kind: event.kind,
    })
}

fn shortened(text: &str) -> String {
    first_chars(text, TEXT_CHARS_MAX).to_owned()
}
